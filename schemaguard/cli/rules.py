"""`schemaguard rules`: all rules, a line each."""

from __future__ import annotations

import json

from schemaguard.cli.output import Output
from schemaguard.cli.rule import as_json, spoken
from schemaguard.rules import RULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's options."""
    parser.description = "List the rules by code."
    parser.add_argument(
        "--output-format", "--output", dest="output", choices=("text", "json"), default="text"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the list."""
    rules = [rule for _, rule in sorted(RULES.items())]
    with Output(None) as output:
        if options.output == "json":
            output.write(json.dumps([as_json(rule) for rule in rules], indent=2) + "\n")
        else:
            width = max(len(rule.name) for rule in rules)
            for rule in rules:
                output.write(f"{rule.code}  {rule.name:<{width}}  {spoken(rule)}\n")
    return 0
