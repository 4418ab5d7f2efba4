"""`plan`: from a request to the tag that constrains its calls, with every decision explained."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from schemaguard.errors import MAX_FUNCTION_NAME, cut, printable
from schemaguard.grammar import engine
from schemaguard.grammar.compiler import MAX_WHITESPACE
from schemaguard.grammar.tags.building import Shape, Tool, build
from schemaguard.grammar.tags.dynamo import DynamoPolicy
from schemaguard.grammar.tags.findings import DROPPED, LEAK, NARROWED, SLOW, Finding
from schemaguard.grammar.tags.fitting import Fitter, accepted, first
from schemaguard.grammar.tags.plans import ABSENT, PINNED, RELAXED, Note, TagPlan, ToolPlan
from schemaguard.grammar.tags.policy import Policy
from schemaguard.grammar.tags.reading import Asked, AskedTool, BadRequest, read
from schemaguard.grammar.tags.styles import (
    DEEP,
    GENERIC,
    KIMI_K3,
    PARSERS,
    TOKEN_STYLES,
    Style,
    style_of,
)
from schemaguard.request import APIS, check_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from schemaguard.report import Report

#: How the output of the model begins: with reasoning, without, with or without, or after the
#: reasoning (a server that starts the grammar when it has ended).
REASONING = ("off", "on", "auto", "backend")

#: So many notes on one tool are kept.
_MAX_NOTES = 50


def plan(
    request: Any,
    *,
    parser: str,
    policy: Policy | None = None,
    reasoning: str = "off",
    tools_in_prompt: bool | None = None,
    token_markers: bool = False,
    max_whitespace: int | None = MAX_WHITESPACE,
    trial: bool = True,
) -> TagPlan:
    """Plan the structural tag of a request.

    Args:
        request: a body of Chat Completions, Responses or Anthropic Messages: JSON text (`str`,
            `bytes`) or parsed. It is neither changed nor kept.
        parser: name of the server's tool parser, or of an xgrammar style; see `PARSERS`.
        policy: who decides; `DynamoPolicy()` when None.
        reasoning: one of `REASONING`.
        tools_in_prompt: whether the tools are in the prompt when `tool_choice` is none; None is
            what the policy's server does.
        token_markers: the tag names markers as tokens instead of text, for parsers that go by token
            ids (`qwen_3`, `qwen_3_5`, `qwen_3_coder`, `glm_4_7`, `inkling`). Such a tag compiles
            only with a tokenizer that has `needs_tokens`.
        max_whitespace: most white space characters in one place of JSON; None for no bound.
        trial: ask xgrammar about each schema on its own (0.3 ms for a typical one, in this
            process), so that one which it refuses spoils its own tool alone and not the tag.
            Without it that is left to whoever compiles the tag.

    Returns:
        The plan. Bad input of any kind is its `refusal`, never an exception.

    Raises:
        MissingExtra: a tag is to be built, and xgrammar is not installed.
        ValueError: an argument is out of its range, or the policy gives the end of reasoning to the
            tag where the server has it.
    """
    policy = DynamoPolicy() if policy is None else policy
    if not isinstance(policy, Policy):
        raise TypeError(f"a policy is a Policy, not {type(policy).__name__}")
    if reasoning not in REASONING:
        raise ValueError(f"reasoning is one of {', '.join(REASONING)}")
    if max_whitespace is not None and not 1 <= max_whitespace <= 1000:
        raise ValueError("max_whitespace must be in 1..1000")
    if token_markers and PARSERS.get(parser, parser) not in TOKEN_STYLES:
        raise ValueError(f"token_markers are for {', '.join(sorted(TOKEN_STYLES))}")
    boundary = policy.reasoning_boundary
    if boundary == "structural_tag" and reasoning == "backend":
        raise ValueError("reasoning_boundary is structural_tag, but the server ends the reasoning")
    if boundary == "backend" and reasoning in ("on", "auto"):
        reasoning = "backend"
    shape = Shape(
        choice="auto",
        reasoning=reasoning,
        parallel=True,
        any_order=policy.any_order,
        exclude=policy.exclude_special_tokens,
        max_whitespace=max_whitespace,
        token_markers=token_markers,
        answer=None,
    )
    made = _Plan(parser, policy, shape, trial=trial)
    try:
        asked = read(request)
    except BadRequest as error:
        made.refuse(str(error))
        return made.plan()
    in_prompt = policy.tools_stay() if tools_in_prompt is None else tools_in_prompt
    made.decide(asked, tools_in_prompt=in_prompt)
    return made.plan()


class _Draft:
    """A tool while the plan is made."""

    __slots__ = ("asked", "loosened", "report", "schema", "state", "wanted", "why")

    def __init__(self, asked: AskedTool) -> None:
        self.asked = asked
        self.state = RELAXED
        self.wanted = False
        self.why = ""
        self.schema: str | None = None
        self.report: Report | None = None
        self.loosened: tuple[str, ...] = ()

    def to(self, state: str, why: str) -> None:
        """Decide, and say why."""
        self.state = state
        self.why = why
        if state != PINNED:
            self.schema = None

    def published(self) -> ToolPlan:
        return ToolPlan(
            name=self.asked.name,
            pointer=self.asked.pointer,
            state=self.state,
            wanted=self.wanted,
            why=self.why,
            loosened=self.loosened,
            report=self.report,
        )


class _Plan:
    """A plan while it is made."""

    def __init__(self, parser: str, policy: Policy, shape: Shape, *, trial: bool) -> None:
        self.parser = parser
        self.policy = policy
        self.shape = shape
        self.trial = trial
        self.style: Style | None = style_of(parser)
        self.tools: list[_Draft] = []
        self.text: str | None = None
        self.reason = ""
        self.refusal: str | None = None
        self.tokens: tuple[str, ...] = ()
        self.unenforced: list[Note] = []
        self.warnings: list[Note] = [Note("deprecated-switch", text) for text in policy.notes]

    def plan(self) -> TagPlan:
        """The plan, for the caller."""
        return TagPlan._make(
            parser=self.parser,
            style=None if self.style is None else self.style.name,
            policy=self.policy,
            tools=tuple(tool.published() for tool in self.tools),
            text=self.text,
            reason=self.reason,
            refusal=self.refusal,
            needs_tokens=self.tokens,
            unenforced=tuple(self.unenforced),
            warnings=tuple(self.warnings),
        )

    def refuse(self, why: str) -> None:
        """The request should not be served; the first reason stays."""
        if self.refusal is None:
            self.refusal = engine.one_line(why)
            self.reason = f"refused: {self.refusal}"

    def free(self, code: str, text: str, tool: AskedTool | None = None, at: str = "") -> None:
        """Note what the tag does not enforce."""
        if tool is None:
            self.unenforced.append(Note(code, text))
        else:
            self.unenforced.append(Note(code, text, tool.name, tool.pointer + at))

    # -------------------------------------------------------------------------------- deciding

    def decide(self, asked: Asked, *, tools_in_prompt: bool) -> None:
        """Everything about a request, in order."""
        self.tools = [_Draft(tool) for tool in asked.tools]
        self._preflight(asked)
        callable_ = self._callable(asked)
        wanted, why = self._wanted(asked, tools_in_prompt=tools_in_prompt)
        style = self.style
        if self.refusal is not None or not wanted or style is None:
            self._no_tag(callable_, why, by_policy=style is not None and not wanted)
            return
        self._names(asked, callable_)
        if asked.mode == "none":
            self._none(callable_, tools_in_prompt=tools_in_prompt)
        else:
            fitter = Fitter(style, self.policy, self.shape, trial=self.trial)
            for tool in callable_:
                self._tool(fitter, tool)
            self._clashes(callable_)
        answer = self._answer(asked)
        in_tag = [tool for tool in callable_ if tool.state != ABSENT]
        if asked.mode in ("required", "named") and not in_tag:
            self.refuse(f"tool_choice {asked.mode}: no tool is left that can be called")
        if self.refusal is not None:
            self._no_tag(callable_, "")
            return
        if asked.mode == "auto" and not in_tag:
            self._no_tag(callable_, "no tool is left that can be called")
            return
        if asked.answer is not None and asked.mode == "auto" and answer is None:
            self._no_tag(callable_, "the form of the answer takes the whole output")
            return
        shape = self.shape
        shape.choice = self._choice(asked, in_tag, answered=answer is not None)
        shape.parallel = asked.parallel
        shape.answer = answer
        tools = [Tool(tool.asked.name, tool.schema) for tool in in_tag]
        try:
            built = build(style, tools, shape)
        except ValueError as error:
            self._no_tag(callable_, f"xgrammar has no such tag: {engine.explain(error)[0]}")
            return
        self.text, self.tokens, self.reason = built.text, built.tokens, why
        self._holes(style, asked, in_tag)

    def _preflight(self, asked: Asked) -> None:
        """What Dynamo refuses before it thinks of tags."""
        if not isinstance(self.policy, DynamoPolicy) or asked.api not in APIS:
            return
        result = check_request(asked.document, asked.api, profile="dynamo", max_diagnostics=1)
        refusal = result.refusal
        if refusal is None:
            return
        where = f" (at {cut(refusal.pointer, 256)})" if refusal.pointer else ""
        if result.refused_tool is not None:
            name = cut(result.refused_tool.name or "", MAX_FUNCTION_NAME)
            where = f" (tool {name!r}{where})"
        self.refuse(f"Dynamo's preflight: {refusal.code} {refusal.message}{where}")

    def _callable(self, asked: Asked) -> list[_Draft]:
        """The tools that this request may call; what is said of the others is final."""
        callable_ = []
        for tool in self.tools:
            name = tool.asked.name
            if tool.asked.hosted:
                tool.to(ABSENT, "the server calls this tool itself: there is no markup for it")
            elif asked.mode == "none":
                tool.to(ABSENT, "tool_choice none")
            elif asked.only is not None and name not in asked.only:
                tool.to(ABSENT, "tool_choice does not allow it")
            else:
                callable_.append(tool)
        return callable_ if asked.mode != "none" else self.tools

    def _wanted(self, asked: Asked, *, tools_in_prompt: bool) -> tuple[bool, str]:
        """Whether there is to be a tag, and why."""
        if not asked.tools:
            return False, "the request has no tools"
        if self.style is None:
            strict = any(tool.strict is True for tool in asked.tools)
            if self.parser == GENERIC and self.policy.name == "vllm" and strict:
                self.refuse("vLLM's generic parser refuses strict tools")
            return False, f"no tag is known for the parser '{engine.one_line(self.parser, 60)}'"
        return self.policy.tag_for(asked, self.style.name, tools_in_prompt=tools_in_prompt)

    def _no_tag(self, callable_: Sequence[_Draft], why: str, *, by_policy: bool = False) -> None:
        """Say of each tool that nothing holds it.

        Args:
            callable_: the tools that could be called.
            why: there is no tag.
            by_policy: nobody wants one.
        """
        if self.refusal is None:
            self.reason = why
        for tool in callable_:
            if tool.state == ABSENT and tool.why:
                continue
            tool.wanted = not by_policy and self.policy.pins(tool.asked.strict)[0]
            said = tool.why if self.refusal is not None and tool.why else self.reason
            tool.to(RELAXED, said)
            tool.loosened = ()
        if callable_ and self.refusal is None:
            self.free("no-tag", f"calls and their arguments: {self.reason}")

    def _names(self, asked: Asked, callable_: Sequence[_Draft]) -> None:
        """Refuse names that the markup cannot carry, and names that stand for two tools."""
        seen: set[str] = set()
        for tool in asked.tools:
            if tool.name in seen and not tool.hosted:
                name = cut(tool.name, MAX_FUNCTION_NAME)
                self.refuse(f"two tools are called {name!r}: a call could not be told apart")
            seen.add(tool.name)
        if self.style is None or asked.mode == "none":
            return
        for draft in callable_:
            fault = self.style.fault_of(draft.asked.name)
            if fault is not None:
                name = cut(draft.asked.name, MAX_FUNCTION_NAME)
                draft.to(ABSENT, f"its name cannot be written: {fault}")
                self.refuse(f"the tool {name!r} cannot be called in {self.style.name}: {fault}")

    def _none(self, tools: Sequence[_Draft], *, tools_in_prompt: bool) -> None:
        """The trade-off of a ban."""
        if not tools:
            return
        if tools_in_prompt:
            text = (
                "the model sees tools that it cannot call, and answers may suffer; without them in "
                "the prompt answers are cleaner, but the prefix changes (no reuse of the KV cache)"
            )
            self.warnings.append(Note("tools-in-prompt", text))
        else:
            text = (
                "the tools are stripped from the prompt: the prefix differs from that of requests "
                "that may call tools (no reuse of the KV cache); kept, it is the same, and answers "
                "may suffer from tools that cannot be called"
            )
            self.warnings.append(Note("tools-stripped", text))

    def _choice(
        self, asked: Asked, in_tag: Sequence[_Draft], *, answered: bool
    ) -> str | dict[str, Any]:
        if asked.mode == "named":
            return {"type": "function", "function": {"name": in_tag[0].asked.name}}
        return "required" if answered else asked.mode

    def _answer(self, asked: Asked) -> str | None:
        """The text of the schema of the answer, when it goes into the tag."""
        if asked.answer is None or asked.mode == "none":
            if asked.answer is not None:
                self.free("answer", "the form of the answer: the tag bans calls, and no more")
            return None
        if asked.mode != "auto":
            text = "the form of the answer: this request is answered by a call"
            self.warnings.append(Note("answer-unused", text))
            return None
        if not self.policy.with_structured_output:
            return None
        if self.style is None or not self.style.composes:
            return None
        report, answer = accepted(asked.answer, None)
        if answer is None:
            self.free("answer", f"the form of the answer: {first(report)}")
        return answer

    # ------------------------------------------------------------------------------- one tool

    def _tool(self, fitter: Fitter, tool: _Draft) -> None:
        """Whether a tool is pinned, and to what."""
        tool.wanted, why = self.policy.pins(tool.asked.strict)
        if tool.why:
            return
        if not tool.wanted:
            tool.to(RELAXED, why)
            self.free("relaxed-arguments", "the arguments are any object", tool.asked)
            return
        if tool.asked.parameters is None:
            tool.wanted = False
            tool.to(RELAXED, "it declares no parameters")
            return
        fitted = fitter.fit(tool.asked.parameters, self.policy.profile_for(tool.asked.strict))
        tool.report = fitted.report
        if fitted.text is None:
            self._unfit(tool, fitted.why, dear=fitted.dear)
            return
        tool.schema = fitted.text
        places = {
            f"{tool.asked.pointer}{finding.pointer}/{keyword}": None
            for finding in fitted.out
            for keyword in finding.keywords
        }
        tool.loosened = tuple(places)[:_MAX_NOTES]
        tool.to(PINNED, f"{why}; {fitted.why}" if fitted.why else why)
        self._say(tool.asked, fitted.out, fitted.findings)

    def _say(self, tool: AskedTool, out: Sequence[Finding], findings: Sequence[Finding]) -> None:
        """What a pinned tool is not held to, and what else its style makes of its schema."""
        lost = [*out, *(finding for finding in findings if finding.kind in (DROPPED, LEAK))]
        for finding in lost[:_MAX_NOTES]:
            self.free(finding.code, finding.message, tool, finding.pointer)
        other = [finding for finding in findings if finding.kind in (NARROWED, SLOW)]
        for finding in other[:_MAX_NOTES]:
            at = tool.pointer + finding.pointer
            self.warnings.append(Note(finding.code, finding.message, tool.name, at))

    def _unfit(self, tool: _Draft, why: str, *, dear: bool = False) -> None:
        """What the policy does with a tool that cannot be pinned, or is too dear to be."""
        unfit = "relax" if dear and self.policy.dear == "loosen" else self.policy.unfit
        if unfit == "refuse":
            tool.to(RELAXED, why)
            name = cut(tool.asked.name, MAX_FUNCTION_NAME)
            self.refuse(f"the tool {name!r} cannot be pinned: {why}")
        elif unfit == "absent":
            tool.to(ABSENT, why)
        else:
            tool.to(RELAXED, why)
            self.free("relaxed-arguments", f"the arguments are any object: {why}", tool.asked)

    # ----------------------------------------------------------------------------------- notes

    def _clashes(self, tools: Iterable[_Draft]) -> None:
        """Definitions of one name and two meanings, over which SGLang's builder stumbles."""
        if self.policy.name != "sglang":
            return
        known: dict[str, str] = {}
        for tool in tools:
            schema = json.loads(tool.schema) if tool.schema is not None else None
            definitions = schema.get("$defs") if schema.__class__ is dict else None
            for name, definition in (definitions or {}).items():
                text = json.dumps(definition, sort_keys=True)
                if known.setdefault(name, text) != text:
                    said = (
                        f"two tools define `{cut(printable(name), 64)}` in `$defs` differently: "
                        "this tag keeps them apart, SGLang's own builder gives up on all tools"
                    )
                    self.warnings.append(Note("clashing-defs", said, tool.asked.name))
                    return

    def _holes(self, style: Style, asked: Asked, in_tag: Sequence[_Draft]) -> None:
        """What no tag of this kind closes."""
        if asked.mode == "auto" and style.name not in ("harmony", "kimi_k3"):
            text = (
                "with tool_choice auto a call that begins in any other way than the style's is "
                "free text: validate arguments after parsing"
            )
            self.free("near-miss", text)
        kept_out = style.content == KIMI_K3 and self.policy.exclude_special_tokens is True
        if in_tag and style.content not in DEEP and not kept_out:
            text = (
                "a string in JSON can hold the markup that ends a call: the parser has to read the "
                "JSON, and not look for the end"
            )
            self.free("markup-in-strings", text)
        if self.policy.any_order and in_tag:
            text = "any order of arguments: whether required ones are there, and none comes twice"
            self.free("any-order", text)
        if asked.mode == "none" and style.name == "llama":
            text = 'an answer in JSON cannot begin with `{"name": `, which begins calls of llama'
            self.warnings.append(Note("banned-text", text))
        if style.name == "minimax" and self.shape.reasoning == "off":
            text = "the tag begins with the end of an empty block of reasoning, as the model does"
            self.warnings.append(Note("empty-reasoning", text))
        if self.tokens:
            named = " ".join(self.tokens)
            text = f"special tokens of these names have to be text in the tokenizer: {named}"
            self.warnings.append(Note("needs-tokens", text))
