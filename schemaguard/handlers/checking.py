"""`check`: one request body in, one decision out.

Two drivers, as in the walk. Most requests are in order: `_is_plain` proves it in one pass over the
tools, with one walk of each schema for all its profiles together. At the least doubt the request is
checked in full, by `schemaguard.check_request` for what is Dynamo's contract and by
`schemaguard.check` for what else the policy asks, and only that says what is wrong. `_is_plain` may
doubt wrongly; it must never pass what the full check refuses.
"""

from __future__ import annotations

import marshal

from schemaguard import data, preflight, toolsets, walk
from schemaguard.document import Document, Fault
from schemaguard.errors import printable
from schemaguard.handlers import tools as reading
from schemaguard.handlers.advice import advice
from schemaguard.handlers.edits import mend
from schemaguard.handlers.enforcement import enforced
from schemaguard.handlers.formats import read_constraints
from schemaguard.handlers.messages import ChatView
from schemaguard.handlers.policy import Policy
from schemaguard.handlers.reading import read_body
from schemaguard.handlers.results import (
    MAX_KEPT_POINTER,
    Decision,
    Finding,
    ToolVerdict,
    shown_name,
)
from schemaguard.report import ERROR, pointer_of
from schemaguard.request import MAX_TOOLS, check_request

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from schemaguard.handlers.cache import VerdictCache
    from schemaguard.handlers.formats import Constraint
    from schemaguard.handlers.tools import Tokens, Tool
    from schemaguard.report import Diagnostic, Report

DEFAULT_POLICY = Policy()

#: The version of `marshal` that writes equal values alike, however they came to be, and no others.
_INJECTIVE = 2

BAD_REQUEST = 400
TOO_LARGE = 413


def check(
    body: Any,
    api: str = reading.AUTO,
    policy: Policy = DEFAULT_POLICY,
    *,
    known: VerdictCache | None = None,
) -> Decision:
    """Decide about one request.

    Args:
        body: JSON text as `bytes` or `str`, or the parsed body (`dict`), which is never changed.
        api: "chat" (`/v1/chat/completions`), "responses" (`/v1/responses`), "messages"
            (Anthropic's `/v1/messages`), or "auto" to tell by the shape of the body.
        policy: what is checked, and what becomes of bad tools.
        known: remembers which schemas were accepted by profiles that take long to say so.

    Returns:
        The decision. Bad input of any kind is a finding in it, never an exception.

    Raises:
        ValueError: there is no such API.
    """
    decision = _decide(body, api, policy, known)
    if decision.ok or policy.on_reject == "error":
        return decision
    return mend(body, decision, policy, _decide) or decision


def _decide(body: Any, api: str, policy: Policy, known: VerdictCache | None = None) -> Decision:
    if api != reading.AUTO and api not in reading.APIS:
        raise ValueError(f"api is one of {', '.join(reading.APIS)}, auto")
    if body.__class__ is bytes:
        document = read_body(body, policy.limits)
    else:
        document = preflight.as_document(body, policy.limits)
    try:
        return _decide_document(document, api, policy, known)
    except Exception as error:
        if document.text is not None:
            raise  # a fault of ours: text is plain JSON
        # A parsed body can be of types that lie about themselves, or change meanwhile.
        detail = f"a value that fails when it is read ({type(error).__name__})"
        document = Document(None, faults=(Fault("invalid-json", 0, detail),))
        return _decide_document(document, api, policy, known)


def _decide_document(
    document: Document, api: str, policy: Policy, known: VerdictCache | None
) -> Decision:
    is_object = document.readable and document.value.__class__ is dict
    apis = reading.APIS if api == reading.AUTO else (api,)
    if api == reading.AUTO and is_object:
        api = reading.api_of(document.value)
    case = _Case(document, None if api == reading.AUTO else api, policy)
    if is_object:
        case.read(apis)
    if not (is_object and case.is_plain(known)):
        case.check()
    if is_object:
        case.advise()
    return case.decision()


class _Case:
    """A request while it is decided."""

    def __init__(self, document: Document, api: str | None, policy: Policy) -> None:
        self.document = document
        self.body: Any = document.value
        self.api = api
        self.policy = policy
        self.tools: list[Tool] = []
        self.choice = reading.Choice()
        self.profiles: list[tuple[str, ...]] = []
        self.constraints: list[Constraint] = []
        self.findings: list[Finding] = []
        self.total = 0
        self.refusal: Finding | None = None
        self.status = BAD_REQUEST
        self.faulty: set[int] = set()

    def read(self, apis: tuple[str, ...]) -> None:
        """Find the schemas, what each is checked with, and the choice among the tools.

        Args:
            apis: those that the body may be for: of a shape that looks like one API, a server that
                has several at one path may make another.
        """
        assert self.api is not None  # noqa: S101  (told, or told by the shape)
        self.tools = reading.read_tools(self.body, self.api)
        self.choice = reading.read_choice(self.body, self.api)
        profiles_for, demands = self.policy.profiles_for, self.choice.demands
        self.profiles = [
            profiles_for(tool.strict, demanded=demands(tool))
            if tool.parameters.__class__ is dict
            else ()
            for tool in self.tools
        ]
        if self.policy.profiles_for_answer:
            self.constraints = read_constraints(self.body, apis, self.policy.limits)

    def decision(self) -> Decision:
        """What was found, for the caller."""
        verdicts = enforced(self.policy, self.tools, self.choice)
        tools = tuple(
            ToolVerdict(
                tool.name,
                tool.at,
                tool.strict,
                self.profiles[index],
                index not in self.faulty,
                verdicts[index],
            )
            for index, tool in enumerate(self.tools)
        )
        return Decision(
            api=self.api,
            refusal=self.refusal,
            status=200 if self.refusal is None else self.status,
            findings=tuple(self.findings),
            total=self.total,
            tools=tools,
            changes=(),
            body=None,
        )

    # ------------------------------------------------------------------------------ in one pass

    def is_plain(self, known: VerdictCache | None) -> bool:
        """Whether there can be nothing to say but advice: a text with all in everyday form."""
        if self.document.text is None or self.document.faults or not self.choice.plain:
            return False
        tools = self.body.get("tools")
        if tools.__class__ is not list and tools is not None:
            return False
        if len(self.tools) > MAX_TOOLS or not reading.has_plain_rest(self.body, self.api):
            return False
        for tool, profiles in zip(self.tools, self.profiles, strict=True):
            if not tool.plain or (
                profiles and not self._is_clean(tool.parameters, profiles, known)
            ):
                return False
        for name in self._names():
            if next(self._about_tools(name), None) is not None:
                return False
        return all(self._is_clean_constraint(answer, known) for answer in self.constraints)

    def _is_clean_constraint(self, answer: Constraint, known: VerdictCache | None) -> bool:
        """Whether no profile has anything to say about what the answer is held to."""
        profiles = self.policy.profiles_for_answer
        if answer.schema is None:
            return all(not any(answer.faults(self.policy.profile(name))) for name in profiles)
        return answer.schema.__class__ is dict and self._is_clean(answer.schema, profiles, known)

    def _is_clean(self, schema: Any, profiles: tuple[str, ...], known: VerdictCache | None) -> bool:
        """Whether none of the profiles has anything to say about a schema."""
        plans = self.policy.plans(profiles)
        raw = None
        if known is not None and plans.work_limits:  # what an engine would do is counted: slow
            try:
                raw = marshal.dumps(schema, _INJECTIVE)
            except ValueError:  # too deep
                raw = None
            if raw is not None and known.remembers(raw, plans.profile.id):
                return True
        try:
            clean = walk.is_clean(schema, plans, self.policy.limits.max_nodes)
        except walk.TooManyNodes:
            return False
        if clean and known is not None and raw is not None:
            known.remember(raw, plans.profile.id)
        return clean

    # ---------------------------------------------------------------------------------- in full

    def check(self) -> None:
        """Check the request in full."""
        if self.document.faults and self.document.faults[0].name == "too-many-bytes":
            self.status = TOO_LARGE
        is_messages = self.api == reading.MESSAGES and self.body.__class__ is dict
        view = ChatView(self.body) if is_messages else None
        first = self.policy.profile(self.policy.profiles[0][0])
        result = check_request(
            self.document if view is None else view.document,
            reading.RESPONSES if self.api == reading.RESPONSES else reading.CHAT,
            profile=first,
            limits=self.policy.limits,
            max_diagnostics=self.policy.max_findings,
        )
        places = {pointer_of(None, tool.at): index for index, tool in enumerate(self.tools)}

        def in_body(pointer: str) -> str:
            return pointer if view is None else view.pointer_in_body(pointer)

        def add(diagnostic: Diagnostic, pointer: str) -> Finding:
            return self._add(diagnostic, pointer, _tool_at(pointer, places))

        refusal, refused_tool = result.refusal, result.refused_tool
        if refusal is not None and refused_tool is not None:
            index = places[in_body(refused_tool.pointer)]
            at = reading.schema_at(self.tools[index], self.api)
            self.refusal = self._schema_finding(refusal, at, index, first.id)
        elif refusal is not None:
            pointer = in_body(refusal.pointer_within(MAX_KEPT_POINTER))
            self.refusal = self._finding(refusal, pointer, _tool_at(pointer, places))
        if view is not None:
            for diagnostic in view.diagnostics(self.document, self._severity_of):
                add(diagnostic, diagnostic.pointer_within(MAX_KEPT_POINTER))
        for diagnostic in result.diagnostics:
            add(diagnostic, in_body(diagnostic.pointer_within(MAX_KEPT_POINTER)))
        self.total += result.total - len(result.diagnostics)
        reports = {places.get(in_body(tool.pointer)): tool.report for tool in result.tools}
        for index, tool in enumerate(self.tools):
            at = reading.schema_at(tool, self.api)
            for name in self.profiles[index]:
                known = reports.get(index) if name == first.id else None
                self._add_report(known or self._report(tool.parameters, name), at, index)
        for name in self._names()[1:]:
            for said in self._about_tools(name):
                add(said.diagnostic, said.diagnostic.pointer_within(MAX_KEPT_POINTER))
        for answer in self.constraints:
            for name in self.policy.profiles_for_answer:
                self._check_constraint(answer, name)

    def _check_constraint(self, answer: Constraint, name: str) -> None:
        """Record what a profile says about what the answer is held to."""
        if answer.schema is not None:
            self._add_report(self._report(answer.schema, name), answer.at, within=answer.within)
            return
        said = {(f.code, f.pointer) for f in self.findings}
        for diagnostic in answer.faults(self.policy.profile(name)):
            finding = self._schema_finding(diagnostic, answer.at, None, name)
            if (finding.code, finding.pointer) not in said:
                self._keep(finding, None)

    def _names(self) -> list[str]:
        """The profiles of this request: first the one that the whole of it is held to."""
        first = self.policy.profiles[0][:1]
        return list(dict.fromkeys((*first, *(name for names in self.profiles for name in names))))

    def _about_tools(self, name: str) -> Iterator[toolsets.ToolFinding]:
        """What a profile says of names and descriptions, and of all tools together."""
        plans = self.policy.plans((name,))
        if not plans.about_tools:
            return
        most = self.policy.limits.max_nodes
        tools = []
        for tool in self.tools:
            schema = tool.parameters
            values = 0 if self.document.text is not None else data.size(schema)
            if values is None or values > most:
                continue  # it is refused for that
            tools.append(
                toolsets.Tool(
                    name=tool.name,
                    prefix="",
                    description=tool.description,
                    strict=tool.strict,
                    schema=schema,
                    place=toolsets.linked(tool.inside),
                    at=toolsets.linked(tool.at),
                )
            )
        yield from toolsets.findings(tools, plans)

    def _severity_of(self, code: str, usual: str) -> str:
        profile = self.policy.profile(self.policy.profiles[0][0])
        return profile.severities.get(code, usual)

    def _report(self, schema: Any, name: str) -> Report:
        """The report of a schema, with at least one error where there are any."""
        profile, limits = self.policy.profile(name), self.policy.limits
        cap = self.policy.max_findings
        report = preflight.check(schema, profile, limits=limits, max_diagnostics=cap)
        if report.ok or report.errors:
            return report
        return preflight.check(schema, profile, limits=limits, max_diagnostics=report.total)

    def _add_report(
        self,
        report: Report,
        at: Tokens,
        index: int | None = None,
        within: Callable[[str], str] | None = None,
    ) -> None:
        """Record what a report says; the same said by another profile is said once."""
        said = {(f.code, f.pointer) for f in self.findings}
        for diagnostic in report.diagnostics:
            finding = self._schema_finding(diagnostic, at, index, report.profile, within)
            if (finding.code, finding.pointer) not in said:
                self._keep(finding, index)
        self.total += report.total - len(report.diagnostics)
        if not report.ok and index is not None:
            self.faulty.add(index)

    def _schema_finding(
        self,
        diagnostic: Diagnostic,
        at: Tokens,
        index: int | None,
        profile: str,
        within: Callable[[str], str] | None = None,
    ) -> Finding:
        place = diagnostic.pointer_within(MAX_KEPT_POINTER)
        place = place if within is None else within(place)
        return self._finding(diagnostic, pointer_of(None, at) + place, index, place, profile)

    def _finding(
        self,
        diagnostic: Diagnostic,
        pointer: str,
        index: int | None,
        within: str | None = None,
        profile: str | None = None,
    ) -> Finding:
        return Finding(
            code=diagnostic.code,
            name=diagnostic.name,
            severity=diagnostic.severity,
            message=printable(diagnostic.message),
            fix=printable(diagnostic.fix),
            pointer=pointer,
            tool=None if index is None else shown_name(self.tools[index].name),
            within=within,
            profile=profile,
        )

    def _add(self, diagnostic: Diagnostic, pointer: str, index: int | None) -> Finding:
        finding = self._finding(diagnostic, pointer, index)
        self._keep(finding, index)
        return finding

    def _keep(self, finding: Finding, index: int | None) -> None:
        """Record a finding."""
        self.total += 1
        if len(self.findings) < self.policy.max_findings:
            self.findings.append(finding)
        if finding.severity == ERROR:
            if self.refusal is None:
                self.refusal = finding
            if index is not None:
                self.faulty.add(index)

    def advise(self) -> None:
        """Record what is to be said about the request as a whole."""
        assert self.api is not None  # noqa: S101  (told, or told by the shape)
        policy = self.policy
        said = advice(
            self.body, self.api, self.tools, self.choice, policy.severities, tags=policy.tags
        )
        for diagnostic, index in said:
            self._add(diagnostic, diagnostic.pointer_within(MAX_KEPT_POINTER), index)


def _tool_at(pointer: str, places: dict[str, int]) -> int | None:
    """The index of the tool that a pointer is in."""
    while pointer:
        index = places.get(pointer)
        if index is not None:
            return index
        pointer = pointer[: pointer.rindex("/")]
    return None
