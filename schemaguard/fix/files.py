"""A file as a whole: every schema in it fixed, and the text of it changed where that is needed."""

from __future__ import annotations

from schemaguard import envelopes, sources
from schemaguard.data import same
from schemaguard.document import DEFAULT_LIMITS, Limits
from schemaguard.envelopes.protobuf import translated
from schemaguard.envelopes.result import OPENAPI
from schemaguard.fix.attempt import errors_of
from schemaguard.fix.draft import History
from schemaguard.fix.engine import fixed, plans_of
from schemaguard.fix.jsonedits import JsonText, applied
from schemaguard.fix.result import Remaining
from schemaguard.lint import UNCHECKED_ROLES, check_source
from schemaguard.plan import compiled
from schemaguard.preflight import check
from schemaguard.report import ERROR, tokens_of
from schemaguard.rules import TOOL, TOOLSET
from schemaguard.sources.jsontext import blanked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from schemaguard.envelopes import ToolSchema, Unpacked
    from schemaguard.fix.engine import Fixed
    from schemaguard.fix.jsonedits import Piece
    from schemaguard.fix.result import FixResult
    from schemaguard.profiles import Profile
    from schemaguard.report import Report
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
        about: errors about its tools and not about their schemas: names, descriptions, sums over a
            request. Pointers are into the file.
        foreign: it was read, and is nothing that holds schemas.
    """

    __slots__ = ("about", "after", "before", "foreign", "path", "problems", "tools")

    def __init__(self, path: str, before: str | None) -> None:
        self.path = path
        self.before = self.after = before
        self.tools: list[ToolFix] = []
        self.problems: list[tuple[str, str]] = []
        self.about: list[Remaining] = []
        self.foreign = False

    @property
    def changed(self) -> bool:
        """Whether the text is another now."""
        return self.after != self.before

    @property
    def ok(self) -> bool:
        """Whether nothing is left to fix, as far as can be told."""
        done = all(tool.result.ok for tool in self.tools)
        return done and not self.problems and not self.about


_TO_PROFILE = "Python sources are not edited: call `schemaguard.fix.to_profile` where it is made"

#: Formats that are read only, with the reason and what to do instead.
_NOT_WRITTEN = {
    "toml": "TOML is read and not written: fix the schema by hand, or keep it as JSON or YAML",
    "python": _TO_PROFILE,
    "mcp": "it is the answer of a server: fix the server's own sources",
}
_OPENAPI = (
    "an OpenAPI document is a contract of HTTP, and its schemas are shared with what it answers: "
    "fix a copy of the schema, in a file of the tool"
)
_NOTHING = "there is no schema in it"


def fix_text(
    path: str,
    text: bytes | str,
    profile: str | Profile | Sequence[str | Profile],
    *,
    lossy: bool = False,
    library: Mapping[str, Any] | None = None,
    as_: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    prefix: str = "",
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
        prefix: what a client puts in front of the names of tools, `mcp__server__` for one.

    Raises:
        ProfileError: there is no such profile.
        MissingExtra: the file is YAML, and PyYAML is not installed.
    """
    source = sources.read(path, text, limits)
    return fix_source(
        source, profile, lossy=lossy, library=library, as_=as_, limits=limits, prefix=prefix
    )


def fix_source(
    source: Source,
    profile: str | Profile | Sequence[str | Profile],
    *,
    lossy: bool = False,
    library: Mapping[str, Any] | None = None,
    as_: str | None = None,
    limits: Limits = DEFAULT_LIMITS,
    prefix: str = "",
) -> FileFix:
    """Fix the schemas of what was read; see `fix_text`."""
    made = FileFix(source.path, source.text)
    reason = _unread(source)
    if reason is not None:
        made.problems.append(("", reason))
        made.foreign = source.refusal is not None
        return made
    made.foreign = True
    profiles = [plan.profile for plan in plans_of(profile)]
    changes: list[tuple[str, Any, Fixed]] = []
    checked = False
    for part in source.parts:
        found = envelopes.unpack(part.value, as_)
        made.foreign = made.foreign and found.kind is None
        made.problems += [(part.prefix + pointer, said) for pointer, said in _about(found)]
        for tool in found.tools:
            if tool.role in UNCHECKED_ROLES:
                continue
            checked = True
            pointer = part.prefix + tool.schema_pointer
            reason = _read_only(source, tool)
            if reason is not None:
                made.problems += _not_accepted(pointer, tool, reason, profiles)
                continue
            done = fixed(tool.schema, profiles, lossy=lossy, library=library)
            made.tools.append(ToolFix(tool.name, pointer, done.result))
            if done.root is not tool.schema:
                changes.append((pointer, tool.schema, done))
    if not checked and not made.problems:
        made.problems.append(("", _NOTHING))
    if changes:
        _rewrite(source, made, changes, limits)
    if made.changed:
        source = sources.read(source.path, made.after or "", limits)
    made.about = _about_tools(source, profiles, as_, limits, prefix)
    return made


def _unread(source: Source) -> str | None:
    """Why nothing of a source is looked at, or None."""
    if source.refusal is not None:
        return _TO_PROFILE if source.format == "python" else source.refusal
    if source.faults:
        return f"the text is at fault ({source.faults[0].name}), and is left alone"
    return None


def _about(found: Unpacked) -> Iterator[tuple[str, str]]:
    """What the check says of one value as a whole, apart from its schemas."""
    if len(found.readings) > 1:
        yield "", f"it can be read as {' or as '.join(found.readings)}: say which, with `--as`"
    yield from ((note.pointer, note.text) for note in found.problems)
    if found.kind is None and not found.problems:
        yield "", _NOTHING


def _read_only(source: Source, tool: ToolSchema) -> str | None:
    """Why a schema is not edited, or None when it is."""
    if source.format in _NOT_WRITTEN:
        return _NOT_WRITTEN[source.format]
    if tool.api == OPENAPI:
        return _OPENAPI
    if tool.encoded:
        return "the schema is text inside a string, which is not edited"
    if tool.protobuf and translated(tool.schema) is not tool.schema:
        return (
            "the schema has Gemini's type names (`STRING`) or field names (`any_of`), and is not "
            "edited: write them as JSON Schema has them (`string`, `anyOf`)"
        )
    return None


def _not_accepted(
    pointer: str, tool: ToolSchema, reason: str, profiles: list[Profile]
) -> Iterator[tuple[str, str]]:
    """What is said of a schema that is read only: nothing where every profile accepts it."""
    whole = tool.standalone()
    if whole is None:
        yield pointer, "with what it refers to, the schema is too large to be checked"
        return
    refusing = [report for report in (check(whole[0], p) for p in profiles) if not report.ok]
    if refusing:
        told = ", ".join(_first_error(report) for report in refusing)
        yield pointer, f"{reason} ({told})"


def _first_error(report: Report) -> str:
    first, count = report.errors[0], errors_of(report)
    more = f", and {count - 1:,} more" if count > 1 else ""
    return f"{report.profile}: {first.code} {first.message}{more}"


def _about_tools(
    source: Source, profiles: list[Profile], as_: str | None, limits: Limits, prefix: str
) -> list[Remaining]:
    """Errors of profiles about tools besides their schemas, as the check finds them."""
    return [
        Remaining(
            profile.id,
            found.code,
            found.pointer,
            found.message,
            f"{_OF_TOOLS}: {found.fix}".rstrip("."),
        )
        for profile in profiles
        if compiled(profile).about_tools
        for found in check_source(source, profile, as_=as_, limits=limits, prefix=prefix).findings
        if found.severity == ERROR and found.rule.on[0] in (TOOL, TOOLSET)
    ]


_OF_TOOLS = "only schemas are edited, not names, descriptions and the number of tools"


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
        from schemaguard.fix.yamlnodes import cannot_keep  # noqa: PLC0415  (an extra)

        try:
            pieces = YamlText(text).pieces(changes)
        except YamlWriteError as error:
            return str(error)
    else:
        pieces = _json_pieces(source, changes)
    after = applied(text, pieces)
    if not _says(sources.read(source.path, after, limits), source, changes):
        if source.format == "yaml":
            last = changes[-1][0]  # those before it could be written
            return f"{_CANNOT}{cannot_keep(text, source.spans([last])[last])}"
        return _CANNOT
    made.after = after
    return None


_CANNOT = "the changed text would not say what it should"


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
