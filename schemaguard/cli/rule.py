"""`schemaguard rule RULE`: one rule's page in the terminal."""

from __future__ import annotations

import json
import re

from schemaguard import profiles
from schemaguard.cli.output import Output
from schemaguard.config import ConfigError
from schemaguard.errors import printable
from schemaguard.render.common import unfilled, unlinked
from schemaguard.rules import ADVICE, AUDIT, find, meant, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from schemaguard.rules import Rule


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = "Explain one rule: why, a bad and a good schema, how to repair it."
    parser.add_argument("rule", metavar="RULE", help="a code (SG301) or a name (remote-ref)")
    parser.add_argument(
        "--output-format", "--output", dest="output", choices=("text", "json"), default="text"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the page."""
    rule = find(options.rule)
    if rule is None:
        where = meant(options.rule) or "; `schemaguard rules` lists them"
        raise ConfigError(f"no rule {printable(options.rule[:80])!r}{where}")
    with Output(None) as output:
        if options.output == "json":
            output.write(json.dumps(as_json(rule), indent=2) + "\n")
        else:
            output.write(_page(rule))
    return 0


#: A field that stands at the end of a word brings its own separator, and may be empty.
_tail = re.compile(r"(?<=[\w}])\{\w+\}(?!\})").sub


def sentence(rule: Rule) -> str:
    """The rule's message without what a finding may append to it; other fields stay."""
    return plain(_tail("", rule.message))


def spoken(rule: Rule) -> str:
    """The same for a terminal, with what a finding fills in named in capitals."""
    return unfilled(_tail("", rule.message))


def severities(rule: Rule) -> dict[str, str]:
    """Newest profile of each name → severity of the rule there, where it has it."""
    every = (profiles.load(name) for name in profiles.names())
    return {p.id: p.severities[rule.code] for p in every if rule.code in p.severities}


def as_json(rule: Rule) -> dict[str, Any]:
    """All that a rule's declaration says."""
    return {
        "code": rule.code,
        "name": rule.name,
        "message": plain(rule.message),
        "why": _why(rule),
        "fix": plain(rule.fix),
        "bad": _example(rule.bad),
        "good": _example(rule.good),
        "since": rule.since,
        "profiles": severities(rule),
    }


def _why(rule: Rule) -> str:
    return "\n".join(line.strip() for line in rule.why.splitlines())


def _example(text: str) -> str | None:
    """The text of an example; None for one that is made, being too large or no text."""
    return None if text.startswith("@") else text


def _shown(text: str) -> list[str]:
    return [f"  {line}" for line in (_example(text) or "(too large to show)").splitlines()]


def _page(rule: Rule) -> str:
    said = [f"  {profile}: {severity}" for profile, severity in severities(rule).items()]
    if not said and rule.code.startswith("SG1"):
        said = ["  all: error"]
    if rule.on[0] == ADVICE:
        said = ["  none: request handlers give it as advice"]
    if rule.on[0] == AUDIT:
        said = ["  none: `schemaguard audit` says it"]
    lines = [
        f"{rule.code} {rule.name}",
        "",
        f"  {spoken(rule)}",
        "",
        "Why",
        *(f"  {line}".rstrip() for line in unlinked(_why(rule)).splitlines()),
        "",
        "Bad",
        *_shown(rule.bad),
        "",
        "Good",
        *_shown(rule.good),
        "",
        "Fix",
        f"  {unfilled(rule.fix)}",
        "",
        f"Since {rule.since}",
        "",
        "Profiles",
        *(said or ["  none"]),
    ]
    return "\n".join(lines) + "\n"
