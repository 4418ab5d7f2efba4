"""Profiles in files of their own: the format of those that ship, for whoever has other facts.

What is wrong with one is said with line and column. `extends` names a profile that ships, or
another such file, which is looked for beside the one that names it.
"""

from __future__ import annotations

import os
import tomllib

from schemaguard.errors import ProfileError, printable
from schemaguard.profiles import from_table, load
from schemaguard.report import escape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.profiles import Profile

#: A profile is a few kilobytes.
MAX_BYTES = 1 << 20

#: So many files may extend one another.
MAX_CHAIN = 16


def load_file(path: str) -> Profile:
    """The profile in a file.

    Raises:
        ProfileError: it cannot be read, or is wrong.
    """
    chain: list[_File] = []
    base = None
    while base is None:
        if len(chain) == MAX_CHAIN:
            raise ProfileError(f"{printable(path)}: more than {MAX_CHAIN} profiles extend another")
        file = _File(path)
        chain.append(file)
        extends = file.table.get("extends")
        if not isinstance(extends, str):
            base = file.read(None)
            chain.pop()
        elif extends.endswith(".toml"):
            path = os.path.join(os.path.dirname(path), extends)
        else:
            try:
                base = load(extends)
            except ProfileError as error:
                raise file.wrong(str(error), ("extends",)) from error
    for file in reversed(chain):
        base = file.read(base)
    return base


class _File:
    """One file, parsed."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            with open(path, "rb") as opened:
                content = opened.read(MAX_BYTES + 1)
            if len(content) > MAX_BYTES:
                raise ProfileError(f"{printable(path)}: larger than {MAX_BYTES:,} bytes")
            self.text = content.decode()
            self.table: dict[str, Any] = tomllib.loads(self.text)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ProfileError(f"{printable(path)}: {printable(reason)}") from error
        except UnicodeDecodeError as error:
            raise ProfileError(f"{printable(path)}: not UTF-8") from error
        except RecursionError as error:
            raise ProfileError(f"{printable(path)}: nested too deep") from error
        except ValueError as error:
            raise ProfileError(f"{printable(path)}: {printable(str(error))}") from error

    def read(self, base: Profile | None) -> Profile:
        stem = os.path.basename(self.path)
        try:
            return from_table(self.table, stem, None if base is None else lambda _: base)
        except ProfileError as error:
            raise self.wrong(str(error), error.keys) from error

    def wrong(self, what: str, keys: tuple[str, ...]) -> ProfileError:
        """The error with the place of the innermost of the keys that has one."""
        from schemaguard.sources.tomltext import places  # noqa: PLC0415  (only after a mistake)

        known = places(self.text)
        pointer = ""
        for key in keys:
            if f"{pointer}/{escape(key)}" not in known:
                break
            pointer += f"/{escape(key)}"
        start = known[pointer][0]
        line = self.text.count("\n", 0, start) + 1
        column = start - (self.text.rfind("\n", 0, start) + 1) + 1
        return ProfileError(f"{printable(self.path)}:{line}:{column}: {printable(what)}", keys)
