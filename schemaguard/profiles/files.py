"""Profiles in files of their own: the format of those that ship, for whoever has other facts.

What is wrong with one is said with line and column. `extends` names a profile that ships, or
another such file, which is looked for beside the one that names it.
"""

from __future__ import annotations

import os
import stat

from schemaguard.data import rule_of
from schemaguard.document import DEFAULT_LIMITS
from schemaguard.errors import ProfileError, printable
from schemaguard.profiles import from_table, load
from schemaguard.report import ERROR, Diagnostic, escape
from schemaguard.sources.tomltext import places, read_toml

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.profiles import Profile

#: A profile is a few kilobytes.
MAX_BYTES = 1 << 18

#: So many files may extend one another.
MAX_CHAIN = 16


def load_file(path: str) -> Profile:
    """The profile in a file.

    Raises:
        ProfileError: it cannot be read, or is wrong.
    """
    chain: list[_File] = []
    base = None
    file = _File(path)
    while base is None:
        chain.append(file)
        extends = file.table.get("extends")
        if not isinstance(extends, str):
            base = file.read(None)
            chain.pop()
            continue
        try:
            if extends.endswith(".toml"):
                file = _next(chain, extends)
            else:
                base = load(extends)
        except ProfileError as error:
            raise file.wrong(str(error), ("extends",)) from error
    for file in reversed(chain):
        base = file.read(base)
    return base


def _next(chain: list[_File], extends: str) -> _File:
    """The file that the last of some extends."""
    if len(chain) == MAX_CHAIN:
        raise ProfileError(f"more than {MAX_CHAIN} profiles extend another")
    return _File(os.path.join(os.path.dirname(chain[-1].path), extends))


class _File:
    """One file, parsed."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            content = _content(path)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise ProfileError(f"{printable(path)}: {printable(reason)}") from error
        source = read_toml(path, content, DEFAULT_LIMITS)
        if source.text is None:
            raise ProfileError(f"{printable(path)}: not UTF-8")
        self.text = source.text
        for fault in source.faults:
            said = fault.detail
            if fault.name != "invalid-json":
                said = Diagnostic(rule_of(fault.name), ERROR, {"detail": said}).message
            raise ProfileError(f"{self._at(fault.offset)}: {said}")
        self.table: dict[str, Any] = source.parts[0].value

    def _at(self, offset: int) -> str:
        line = self.text.count("\n", 0, offset) + 1
        column = offset - self.text.rfind("\n", 0, offset)
        return f"{printable(self.path)}:{line}:{column}"

    def read(self, base: Profile | None) -> Profile:
        stem = os.path.basename(self.path)
        try:
            return from_table(self.table, stem, None if base is None else lambda _: base)
        except ProfileError as error:
            raise self.wrong(str(error).removeprefix(f"profile {stem}: "), error.keys) from error

    def wrong(self, what: str, keys: tuple[str, ...]) -> ProfileError:
        """The error with the place of the innermost of the keys that has one."""
        known = places(self.text)
        pointer = ""
        for key in keys:
            if f"{pointer}/{escape(key)}" not in known:
                break
            pointer += f"/{escape(key)}"
        return ProfileError(f"{self._at(known[pointer][0])}: {printable(what)}", keys)


def _content(path: str) -> bytes:
    """What is in a file: a regular one, for the others wait, or have no end."""
    if "\0" in path:
        raise OSError(None, "no name of a file")
    with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as opened:
        mode = os.fstat(opened.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(None, "Is a directory" if stat.S_ISDIR(mode) else "Is no regular file")
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(None, f"larger than {MAX_BYTES:,} bytes")
    return content
