"""What a profile says of tools besides their schemas: names, descriptions, sums over a request.

`findings` applies the TOOL and TOOLSET rules of a profile (`schemaguard.rules.tools`) to the tools
that were found in one value: a request, a `tools/list` answer, a file with a list of tools.
"""

from __future__ import annotations

from itertools import islice

from schemaguard._frozen import Frozen
from schemaguard.envelopes.protobuf import translated
from schemaguard.envelopes.result import PARAMETERS, SCHEMA
from schemaguard.measured import Measured
from schemaguard.report import ERROR, WARNING, Diagnostic
from schemaguard.rules import TOOL
from schemaguard.rules.tools import UNSETTLED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from schemaguard.envelopes.result import Place, ToolSchema
    from schemaguard.plan import Part, Plans
    from schemaguard.profiles import Profile

#: Findings about the tools of one value that are made; a set with more is refused anyway.
MAX_FINDINGS = 1_000

#: How many of the largest a finding about a sum names.
_NAMED = 5


class Tool(Frozen):
    """A tool, without what its schema says.

    Attributes:
        name: as the provider will see it, with the client's prefix; None when it has none.
        prefix: what the client puts in front, or "".
        description: or None.
        strict: what the tool says about strict mode; None when it says nothing.
        schema: the schema of its arguments.
        place: the link to the object that has its name; None is the whole value.
        at: the link to the tool.
    """

    __slots__ = ("at", "description", "name", "place", "prefix", "schema", "strict")

    name: str | None
    prefix: str
    description: str | None
    strict: bool | None
    schema: Any
    place: Place
    at: Place

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)


class ToolFinding(Frozen):
    """A finding about tools.

    Attributes:
        diagnostic: what is said; its pointer is one into the value that holds the tools.
        tool: index of the tool that it is about; None for a finding about all of them.
    """

    __slots__ = ("diagnostic", "tool")

    diagnostic: Diagnostic
    tool: int | None

    def __init__(self, diagnostic: Diagnostic, tool: int | None) -> None:
        self._fill(diagnostic=diagnostic, tool=tool)


def gather(found: Sequence[ToolSchema], value: Any, prefix: str = "") -> list[Tool]:
    """The tools among what `envelopes.unpack` found.

    Args:
        found: what was found; answers and single parameters are no tools.
        value: what it was found in.
        prefix: what a client puts in front of names, `mcp__server__` for one.
    """
    return [_tool(schema, value, prefix) for schema in found if schema.role in (PARAMETERS, SCHEMA)]


def _tool(found: ToolSchema, value: Any, prefix: str) -> Tool:
    """A tool with the object that has its name: the one around the schema, or further out."""
    at = found.place
    place, holder = at, _resolved(at, value)
    step = found.schema_place
    while step is not None and step != at:
        step = step[0]
        around = _resolved(step, value)
        if around.__class__ is dict and around.get("name").__class__ is str:
            place, holder = step, around
            break
    description = holder.get("description") if holder.__class__ is dict else None
    if found.role == SCHEMA or holder is found.schema:
        description = None  # that of a schema is not that of a tool
    return Tool(
        name=None if found.name is None else prefix + found.name,
        prefix=prefix,
        description=description if isinstance(description, str) else None,
        strict=found.strict,
        schema=translated(found.schema) if found.protobuf else found.schema,
        place=place,
        at=at,
    )


def linked(tokens: Sequence[str | int]) -> Place:
    """The link of a path."""
    place: Place = None
    for token in tokens:
        place = (place, token)
    return place


def _resolved(place: Place, value: Any) -> Any:
    """The value of a link; None where it leads nowhere."""
    for token in _steps(place):
        try:
            value = value[token]
        except (KeyError, IndexError, TypeError):
            return None
    return value


class ToolSet:
    """The tools of one request together.

    Attributes:
        tools: all of them.
        strict: those that say so, or all where none says anything.
    """

    __slots__ = ("_measured", "_plans", "strict", "tools")

    def __init__(self, tools: Sequence[Tool], plans: Plans) -> None:
        self.tools = tools
        says = any(tool.strict is not None for tool in tools)
        self.strict = [tool for tool in tools if tool.strict or not says]
        self._plans = plans
        self._measured: list[Mapping[str, int]] | None = None

    def amounts(self, reading: str) -> list[int]:
        """What each strict tool contributes to a sum (`measured.READINGS`)."""
        if self._measured is None:
            self._measured = [Measured(tool.schema, self._plans).values for tool in self.strict]
        return [values[reading] for values in self._measured]

    def largest(self, reading: str) -> str:
        """The strict tools that contribute most to a sum: "a (12), b (9)"."""
        amounts = zip(self.strict, self.amounts(reading), strict=True)
        top = sorted(amounts, key=lambda pair: -pair[1])[:_NAMED]
        return ", ".join(f"{tool.name or 'unnamed'} ({n:,})" for tool, n in top if n)


def findings(tools: Sequence[Tool], plans: Plans) -> Iterator[ToolFinding]:
    """What a profile says of tools, each by itself and all together; at most `MAX_FINDINGS`.

    Args:
        tools: those of one request, or of what stands for one; their schemas keep to the hard
            stops.
        plans: the compiled profile.
    """
    yield from islice(_all(tools, plans), MAX_FINDINGS)


def _all(tools: Sequence[Tool], plans: Plans) -> Iterator[ToolFinding]:
    profile = plans.profile
    together = ToolSet(tools, plans)
    for part in plans.about_tools:
        rule = part.rule
        severity = profile.severities[rule.code]
        if rule.on[0] == TOOL:
            for index, tool in enumerate(tools):
                for tokens, filled in rule.check(tool, part.setting):
                    place = (*_steps(tool.place), *tokens)
                    yield _finding(part, severity, filled, profile, place, index)
            continue
        filled = rule.check(together, part.setting) if tools else None
        if filled is not None:
            if filled.get(UNSETTLED) and severity == ERROR:
                severity = WARNING
            place = _steps(_around(tools))
            yield _finding(part, severity, filled, profile, place, None)


def _finding(
    part: Part,
    severity: str,
    filled: Mapping[str, Any],
    profile: Profile,
    tokens: tuple[str | int, ...],
    tool: int | None,
) -> ToolFinding:
    filled = {**filled, "subject": profile.subject}
    said = Diagnostic(part.rule, severity, filled, None, tokens, grounds=part.grounds)
    return ToolFinding(said, tool)


def _steps(place: Place) -> tuple[str | int, ...]:
    """The path of a link."""
    steps = []
    while place is not None:
        place, token = place
        steps.append(token)
    return tuple(reversed(steps))


def _around(tools: Sequence[Tool]) -> Place:
    """What holds all of the tools: their common array, or the whole value."""
    first = tools[0].at
    holder = first[0] if first is not None else None
    for tool in tools:
        if tool.at is None or tool.at[0] != holder:
            return None
    return holder
