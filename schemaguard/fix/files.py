"""A file as a whole: every schema in it fixed, and the text of it changed where that is needed."""

from __future__ import annotations

from schemaguard import envelopes, sources
from schemaguard.document import DEFAULT_LIMITS, Limits
from schemaguard.fix.draft import History
from schemaguard.fix.engine import fixed
from schemaguard.fix.jsonedits import JsonText, applied
from schemaguard.fix.rewrites.merging import same
from schemaguard.lint import UNCHECKED_ROLES
from schemaguard.report import tokens_of
from schemaguard.sources.jsontext import blanked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from schemaguard.envelopes import ToolSchema
    from schemaguard.fix.engine import Fixed
    from schemaguard.fix.jsonedits import Piece
    from schemaguard.fix.result import FixResult
    from schemaguard.profiles import Profile
    from schemaguard.sources import Source


class ToolFix:
    """One schema of a file.

    Attributes:
        name: of the tool, or None.
        pointer: JSON Pointer to its schema, in the file.
        result: what was done.
    """

    __slots__ = ("name", "pointer", "result")

    def __init__(self, name: str | None, pointer: str, result: FixResult) -> None:
        self.name = name
        self.pointer = pointer
        self.result = result


class FileFix:
    """What became of a file.

    Attributes:
        path: as it was given.
        before: its text, or None when it has none.
        after: the changed text; `before` itself when there is nothing to change.
        tools: its schemas.
        problems: why schemas of it, or all of it, were left alone: (pointer, sentence).
    """

    __slots__ = ("after", "before", "path", "problems", "tools")

    def __init__(self, path: str, before: str | None) -> None:
        self.path = path
        self.before = self.after = before
        self.tools: list[ToolFix] = []
        self.problems: list[tuple[str, str]] = []

    @property
    def changed(self) -> bool:
        """Whether the text is another now."""
        return self.after != self.before

    @property
    def ok(self) -> bool:
        """Whether nothing is left to fix, as far as can be told."""
        return not self.problems and all(tool.result.ok for tool in self.tools)


_NOT_WRITTEN = {
    "toml": "TOML is read and not written; fix the schema by hand, or keep it as JSON or YAML",
    "python": "it is a Python object; use `schemaguard.fix.to_profile` where it is made",
    "mcp": "it is the answer of a server; fix the server's own sources",
}


def fix_text(
    path: str,
    text: bytes | str,
    profile: str | Profile | Sequence[str | Profile],
    *,
    lossy: bool = False,
    library: Mapping[str, Any] | None = None,
    as_: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> FileFix:
    """Fix the schemas of a file.

    Args:
        path: of the file; its end says what the file is (`sources.FORMATS`).
        text: its content.
        profile: see `to_profile`.
        lossy: see `to_profile`.
        library: see `to_profile`.
        as_: read what it holds as this one of `envelopes.KINDS`.
        limits: hard stops for the reader.

    Raises:
        ProfileError: there is no such profile.
        MissingExtra: the file is YAML, and PyYAML is not installed.
    """
    source = sources.read(path, text, limits)
    made = FileFix(path, source.text)
    if source.refusal is not None or source.text is None:
        made.problems.append(("", source.refusal or "it cannot be read"))
        return made
    if source.format in _NOT_WRITTEN:
        made.problems.append(("", _NOT_WRITTEN[source.format]))
        return made
    if source.faults:
        fault = source.faults[0]
        made.problems.append(("", f"the text is at fault ({fault.name}), and is left alone"))
        return made
    changes: list[tuple[str, Any, Fixed]] = []
    for part in source.parts:
        found = envelopes.unpack(part.value, as_)
        made.problems += [(part.prefix + n.pointer, n.text) for n in found.problems]
        for tool in found.tools:
            if tool.role in UNCHECKED_ROLES:
                continue
            pointer = part.prefix + tool.schema_pointer
            whole = tool.standalone()
            if tool.encoded or whole is None or whole[0] is not tool.schema:
                made.problems.append((pointer, _elsewhere(tool)))
                continue
            done = fixed(tool.schema, profile, lossy=lossy, library=library)
            made.tools.append(ToolFix(tool.name, pointer, done.result))
            if done.root is not tool.schema:
                changes.append((pointer, tool.schema, done))
    if not made.tools and not made.problems:
        made.problems.append(("", "there is no schema in it"))
    if changes:
        _rewrite(source, made, changes, limits)
    return made


def _elsewhere(tool: ToolSchema) -> str:
    if tool.encoded:
        return "the schema is text inside a string, which is not edited"
    if tool.protobuf:
        return "the schema is in the spelling of Protocol Buffers, which is not edited"
    return "the schema refers to other parts of the document, which are not edited"


def _rewrite(
    source: Source, made: FileFix, changes: list[tuple[str, Any, Fixed]], limits: Limits
) -> None:
    """Change the text, and read it again to see that it says what it should.

    Where it does not, each schema is tried by itself.
    """
    reason = _written(source, made, changes, limits)
    if reason is None:
        return
    done: list[tuple[str, Any, Fixed]] = []
    reasons = {}
    for count, change in enumerate(changes):
        said = reason if count >= _MAX_TRIED else _written(source, made, [*done, change], limits)
        if said is None:
            done.append(change)
        else:
            reasons[change[0]] = said
    made.tools = [tool for tool in made.tools if tool.pointer not in reasons]
    made.problems += sorted(reasons.items())


_MAX_TRIED = 100


def _written(
    source: Source, made: FileFix, changes: list[tuple[str, Any, Fixed]], limits: Limits
) -> str | None:
    """Write the changes into the text; the reason why they cannot be, or None."""
    text = source.text or ""
    if source.format == "yaml":
        from schemaguard.fix.yamledits import YamlText, YamlWriteError  # noqa: PLC0415  (an extra)

        try:
            pieces = YamlText(text).pieces(changes)
        except YamlWriteError as error:
            return str(error)
    else:
        pieces = _json_pieces(source, changes)
    after = applied(text, pieces)
    if not _says(sources.read(source.path, after, limits), source, changes):
        return _CANNOT.get(source.format, "the changed text would not say what it should")
    made.after = after
    return None


_CANNOT = {
    "yaml": "it shares parts with others by anchors, or is written in a way that no edit keeps"
}


def _json_pieces(source: Source, changes: list[tuple[str, Any, Fixed]]) -> list[Piece]:
    text = source.text or ""
    editor = JsonText(text, blanked(text) if source.format == "jsonc" else None)
    spans = source.spans([pointer for pointer, _, _ in changes])
    pieces: list[Piece] = []
    for pointer, schema, done in changes:
        span = spans[pointer]
        if span is not None:
            pieces += editor.edits(span[0], schema, done.root, done.history)
    return pieces


def _says(again: Source, source: Source, changes: list[tuple[str, Any, Fixed]]) -> bool:
    """Whether a changed text says what the old one did, but for the changes."""
    if not again.readable or again.faults or len(again.parts) != len(source.parts):
        return False
    history = History()
    for old, new in zip(source.parts, again.parts, strict=True):
        expected = old.value
        for pointer, _, done in changes:
            if pointer == old.prefix or pointer.startswith(old.prefix + "/"):
                expected = history.at(
                    expected, _steps(expected, pointer[len(old.prefix) :]), done.root
                )
        if not same(expected, new.value):
            return False
    return True


def _steps(value: Any, pointer: str) -> tuple[str | int, ...]:
    steps: list[str | int] = []
    for token in tokens_of(pointer):
        step: str | int = int(token) if value.__class__ is list else token
        steps.append(step)
        value = value[step]
    return tuple(steps)
