"""`schemaguard tag REQUEST --parser NAME`: the structural tag of a request, and why it is so."""

from __future__ import annotations

import os
import sys

from schemaguard.cli.options import add_output
from schemaguard.cli.output import Output
from schemaguard.config import ConfigError
from schemaguard.document import DEFAULT_LIMITS
from schemaguard.errors import MAX_FUNCTION_NAME, cut, nearest, printable
from schemaguard.render.common import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable
    from typing import Any

    from schemaguard.grammar.tags import Note, TagPlan, ToolPlan

_REASONING = ("off", "on", "auto", "backend")


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = (
        "Print the structural tag that constrains the tool calls of a request, what becomes of "
        "each tool and why, and what stays unenforced. Needs the extra `xgrammar`. Status 1 is for "
        "a request that is refused, and for a tool that is not pinned though the policy wants it."
    )
    parser.add_argument(
        "request",
        metavar="REQUEST",
        help="a body of Chat Completions, Responses or Anthropic Messages; - is stdin",
    )
    parser.add_argument(
        "--parser", required=True, metavar="NAME", help="the server's tool parser, such as hermes"
    )
    parser.add_argument(
        "--policy",
        default="dynamo",
        metavar="NAME[:SETTING]",
        help='dynamo, dynamo:{"scope": "auto"}, vllm:parameter, or sglang:2',
    )
    parser.add_argument(
        "--from-env", action="store_true", help="settings of the policy from the environment"
    )
    group = parser.add_argument_group("output of the model")
    group.add_argument(
        "--reasoning",
        choices=_REASONING,
        default="off",
        help="how it begins; backend: the server starts the tag behind the reasoning",
    )
    group.add_argument(
        "--tools-in-prompt",
        choices=("yes", "no"),
        help="with tool_choice none; default: as the server does",
    )
    group.add_argument(
        "--token-markers", action="store_true", help="name markers as tokens, not as text"
    )
    group = parser.add_argument_group("output")
    group.add_argument("--output-format", choices=("text", "json"), default="text")
    add_output(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print plan and tag."""
    from schemaguard.grammar import tags  # noqa: PLC0415  (no other command needs it)

    if options.parser not in tags.PARSERS:
        near = nearest(options.parser, tuple(tags.PARSERS))
        what = f"no tag is known for the parser {printable(cut(options.parser, 80))!r}{near}"
        raise ConfigError(f"{what}; there are: {', '.join(sorted(tags.PARSERS))}")
    policy = tags.policy_of(options.policy, os.environ if options.from_env else None)
    in_prompt = None if options.tools_in_prompt is None else options.tools_in_prompt == "yes"
    body = _read(options.request)
    try:
        made = tags.plan(
            body,
            parser=options.parser,
            policy=policy,
            reasoning=options.reasoning,
            tools_in_prompt=in_prompt,
            token_markers=options.token_markers,
        )
    except ValueError as error:  # an argument that does not go with another
        raise ConfigError(str(error)) from error
    with Output(options.output_file) as output:
        if options.output_format == "json":
            output.write(dumps(_as_json(made)), utf_8=True)
        else:
            output.write(_as_text(made))
    return 0 if made.ok else 1


def _read(path: str) -> bytes:
    """The bytes of a file, or one more than the reader takes."""
    most = DEFAULT_LIMITS.max_bytes + 1
    if path == "-":
        return sys.stdin.buffer.read(most)
    with open(path, "rb") as file:
        return file.read(most)


def _as_json(made: TagPlan) -> dict[str, Any]:
    return {
        "version": 1,
        "parser": made.parser,
        "style": made.style,
        "policy": made.policy.name,
        "ok": made.ok,
        "refusal": made.refusal,
        "reason": made.reason,
        "tools": [_tool(tool) for tool in made.tools],
        "unenforced": [_note(note) for note in made.unenforced],
        "warnings": [_note(note) for note in made.warnings],
        "needs_tokens": list(made.needs_tokens),
        "tag": made.tag,
    }


def _tool(tool: ToolPlan) -> dict[str, Any]:
    report = tool.report
    return {
        "name": tool.name,
        "pointer": tool.pointer,
        "state": tool.state,
        "wanted": tool.wanted,
        "why": tool.why,
        "loosened": list(tool.loosened),
        "accepted": None if report is None else report.ok,
        "profile": None if report is None else report.profile,
        "codes": [] if report is None else [error.code for error in report.errors],
    }


def _note(note: Note) -> dict[str, Any]:
    return {
        "code": note.code,
        "message": note.message,
        "tool": note.tool,
        "pointer": note.pointer,
    }


def _as_text(made: TagPlan) -> str:
    kind = "refused" if made.refusal is not None else "no tag" if made.text is None else "tag"
    # Of a refusal, the reason is its own message.
    why = printable(made.refusal or made.reason)
    lines = [f"{kind}: {why}", f"  {made.policy.name}, {made.parser} ({made.style})", ""]
    for tool in made.tools:
        name = printable(cut(tool.name, MAX_FUNCTION_NAME))
        mark = " " if tool.as_wanted else "!"
        lines.append(f"{mark} {tool.state:8}{name}: {printable(tool.why)}")
        lines += [f"           without {printable(cut(at, 256))}" for at in tool.loosened]
    lines += _section("not enforced", made.unenforced)
    lines += _section("note", made.warnings)
    if made.text is not None:
        lines += ["", made.text]
    return "\n".join(lines) + "\n"


def _section(title: str, notes: Iterable[Note]) -> list[str]:
    said = []
    for note in notes:
        whose = "" if note.tool is None else f"{printable(cut(note.tool, MAX_FUNCTION_NAME))}: "
        said.append(f"  {note.code}: {whose}{printable(str(note))}")
    return ["", title, *said] if said else []
