"""The steps of a check: one method each, in whichever order an API takes them."""

from __future__ import annotations

import re

from schemaguard.document import Document, Limits
from schemaguard.errors import MAX_FUNCTION_NAME, cut
from schemaguard.preflight import check
from schemaguard.report import ERROR, WARNING, Report
from schemaguard.request.reading import (
    HARD_STOP,
    NO_PARAMETERS,
    NOT_AN_OBJECT,
    NOT_STRICT,
    Reading,
    says,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.plan import Plans
    from schemaguard.report import Diagnostic
    from schemaguard.request.reading import Named, Tokens, Tool

CHAT = "chat"
RESPONSES = "responses"

MAX_TOOLS = 1_536
MAX_NAME_BYTES = 128

_is_name = re.compile(r"[A-Za-z0-9_-]+").fullmatch
_MODES = ("none", "auto", "required")


class Checking(Reading):
    """A request while it is checked."""

    def __init__(
        self, document: Document, api: str, plans: Plans, limits: Limits, cap: int
    ) -> None:
        super().__init__(document, api, plans, limits, cap)
        self._shared: Limits | None = None

    def check_count(self, count: int) -> None:
        """Whether there are too many tools; a profile may have numbers of its own."""
        if count > MAX_TOOLS and not self.plans.about_tools:
            self.add("too-many-tools", ("tools",), count=count, limit=MAX_TOOLS)

    def check_name(self, tool: Tool) -> None:
        """Whether the name can be used; only the first of its faults is worth saying."""
        name = tool.name
        if name is None or (len(name) <= MAX_NAME_BYTES and _is_name(name)):
            return
        if self.plans.about_tools and name.strip():
            return
        tokens = (*tool.inside, "name")
        shown = cut(name, MAX_FUNCTION_NAME)
        if len(name) > MAX_NAME_BYTES or len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES:
            self.add("long-tool-name", tokens, name=shown, limit=MAX_NAME_BYTES)
        elif not name.strip():
            self.add("blank-tool-name", tokens)
        else:
            self.add("illegal-tool-name", tokens, name=shown)

    def check_parameters(self, tool: Tool) -> None:
        """Whether the parameters are an object, if there are any."""
        if tool.parameters is None or tool.parameters.__class__ is dict:
            return
        self.wrong(tool.parameters, (*tool.inside, "parameters"), "non-object-parameters")
        if tool.report is None and tool.reason is None:
            tool.reason = NOT_AN_OBJECT

    def check_schema(self, tool: Tool) -> None:
        """Check the schema of a tool, if it is to be checked."""
        if tool.reason is not None:
            return
        tool.report = self._report(tool)
        if tool.report is None:
            tool.reason = HARD_STOP
        elif not tool.report.ok and self.refusal is None:
            self.refusal = self._first_error(tool.report)
            self.refused = tool

    def _report(self, tool: Tool) -> Report | None:
        """The report of a tool's schema; None when the hard stop forbids to look at it.

        To count values takes as long as to check them, so a schema that needs no more than an equal
        share of the limit is not counted.
        """
        schema = tool.parameters
        # A string is data here, not JSON text.
        source = schema if schema.__class__ is dict else Document(schema)
        if not self.parsed:
            return self._check(source, self.limits)
        if self.room >= 0:
            report = self._check(source, self._share)
            if report.complete:
                found = (report.diagnostics, report.total, report.ok, report.complete)
                return Report(source, self.profile, self.limits, *found)
        if not self.enter(_count(schema, self.room), (*tool.inside, "parameters")):
            return None
        return self._check(source, self.limits)

    @property
    def _share(self) -> Limits:
        """The limits for one of the tools when they share alike."""
        if self._shared is None:
            whole = self.limits
            self._shared = Limits(
                max_bytes=whole.max_bytes,
                max_depth=whole.max_depth,
                max_nodes=max(1, whole.max_nodes // len(self.tools)),
            )
        return self._shared

    def _check(self, source: Any, limits: Limits, cap: int | None = None) -> Report:
        kept = self.cap if cap is None else cap
        return check(source, self.profile, limits=limits, max_diagnostics=kept)

    def _first_error(self, report: Report) -> Diagnostic:
        errors = report.errors
        if not errors:  # the first is beyond the cap
            errors = self._check(report.document, self.limits, report.total).errors
        return errors[0]

    def check_together(self) -> None:
        """What the profile says of names, descriptions, and of all tools together."""
        if not self.plans.about_tools:
            return
        from schemaguard import toolsets  # noqa: PLC0415  (only profiles that want something)

        tools = []
        for tool in self.tools:
            sound = tool.report is None or tool.report.complete
            if tool.reason in (None, NOT_STRICT, NO_PARAMETERS) and sound:
                tools.append(
                    toolsets.Tool(
                        name=tool.name,
                        prefix="",
                        description=self._description(tool.inside),
                        strict=tool.strict,
                        schema=tool.parameters,
                        place=toolsets.linked(tool.inside),
                        at=toolsets.linked(tool.at),
                    )
                )
        for finding in toolsets.findings(tools, self.plans):
            self.keep(finding.diagnostic)

    def _description(self, tokens: Tokens) -> str | None:
        value = self.body
        for token in tokens:
            value = value[token]
        description = value.get("description") if value.__class__ is dict else None
        return description if isinstance(description, str) else None

    def check_choice(self) -> set[Named] | None:
        """Whether `tool_choice` is understood and names declared tools.

        Returns:
            What it allows; None when it allows every tool.
        """
        choice = self.body.get("tool_choice")
        if choice is None or (choice.__class__ is str and choice in _MODES):
            return None
        found = self._choice_entries(choice)
        if found is None:
            self._bad_choice(("tool_choice",))
            return None
        is_list, entries = found
        declared: set[Named] = set().union(*(tool.names for tool in self.tools))
        named: set[Named] = set()
        for tokens, entry in entries:
            kind, name = self._named(entry)
            if name is None:
                self._bad_choice(tokens)
            elif (kind, name) in declared:
                named.add((kind, name))
            else:
                shown = cut(name, MAX_FUNCTION_NAME)
                self.add(
                    "undeclared-tool-choice", tokens, otherwise=self._choice_severity, name=shown
                )
        return named if is_list else None

    def _choice_entries(self, choice: Any) -> tuple[bool, list[tuple[Tokens, Any]]] | None:
        """Whether a choice is a list of allowed tools, and each tool that it names."""
        at: Tokens = ("tool_choice",)
        if choice.__class__ is not dict:
            return None
        if not says(choice, "type", "allowed_tools"):
            return False, [(at, choice)]
        if self.api == CHAT:  # OpenAI's Chat has them one object further in
            at = (*at, "allowed_tools")
            choice = choice.get("allowed_tools")
        members = choice.get("tools") if choice.__class__ is dict else None
        if members.__class__ is not list:
            return None
        return True, [((*at, "tools", index), member) for index, member in enumerate(members)]

    def _named(self, entry: Any) -> tuple[str, str | None]:
        """Kind and name of the tool that a choice names; no name when it is malformed."""
        if entry.__class__ is not dict:
            return "", None
        kind = entry.get("type", "function")
        if kind.__class__ is not str:
            return "", None
        if kind not in ("function", "namespace"):
            return kind, kind  # a hosted tool, called by its type
        holder = entry.get("function") if self.api == CHAT else entry
        name = holder.get("name") if holder.__class__ is dict else None
        return kind, name if name.__class__ is str else None

    @property
    def _choice_severity(self) -> str:
        return WARNING if self.api == CHAT else ERROR

    def _bad_choice(self, tokens: Tokens) -> None:
        self.add("malformed-tool-choice", tokens, otherwise=self._choice_severity)

    def check_format(self, wanted: Any, tokens: Tokens) -> None:
        """Name and schema of a response format; the schema itself is not checked (rule 48)."""
        if not self.is_object(wanted, tokens, "a response format"):
            return
        name = wanted.get("name")
        if name.__class__ is not str:
            self.not_a_string(name, (*tokens, "name"), "the name of a response format")
        elif not name:
            self.add("unnamed-format", (*tokens, "name"))
        schema = wanted.get("schema")
        if schema is not None and schema.__class__ is not dict:
            self.wrong(schema, (*tokens, "schema"), "non-object-format")


def _count(value: object, room: int) -> int:
    """How many values a value is; counts no further than just beyond `room`."""
    count = 1
    stack: list[Any] = [value]
    while stack:
        item = stack.pop()
        if item.__class__ is not dict and item.__class__ is not list:
            continue
        count += len(item)
        if count > room:
            break
        stack.extend(item.values() if item.__class__ is dict else item)
    return count
