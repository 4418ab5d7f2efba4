"""What is said of a grammar that the answer is to follow (EBNF or Lark), without parsing it.

The rules are those for patterns, with the limits that a profile has for them: how deep groups may
nest, how often something may repeat, and what that costs. A repetition of wide classes within a
repetition takes an engine seconds to compile, and for every mask, in a grammar as in a pattern. The
text is read once from left to right; what stands in strings, character classes and comments is no
group.
"""

from __future__ import annotations

import re

from schemaguard import patterns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

#: A string of as many characters takes a second to compile over 257 tokens, and the time grows
#: with the square.
MAX_CHARACTERS = 65_536

# Each ends with its line at the latest, so that nothing is looked through twice.
_STRING = r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?'
_ebnf = re.compile(_STRING + r"|\[(?:\\.|[^\]\\\n])*\]?|#[^\n]*")
# In Lark a bracket holds an option, and a slash begins a comment or a regular expression.
_lark = re.compile(_STRING + r"|//[^\n]*|/((?:\\.|[^/\\\n])+)/?")
_RANGE = r"|(?P<range>[{~]\s*(?P<low>\d*)(?:\s*(?P<comma>,|\.\.)\s*(?P<high>\d*))?(?:\s*\})?)"
_REST = r"|(?P<name>[\w-]+)" + _RANGE + r"|(?P<space>\s+)"
_ebnf_token = re.compile(
    rf"(?P<head>^[ \t]*[\w-]+\s*::=)|(?P<text>{_STRING})"
    rf"|(?P<set>\[(?:\\.|[^\]\\\n])*\]?)|(?P<comment>#[^\n]*)" + _REST,
    re.MULTILINE,
)
_lark_token = re.compile(
    rf"(?P<head>^[ \t]*[?!]?[\w-]+[ \t]*:)|(?P<text>{_STRING})|(?P<comment>//[^\n]*)"
    rf"|(?P<set>/(?:\\.|[^/\\\n])+/?)" + _REST,
    re.MULTILINE,
)
#: A character that stands for another rule.
_RULE = "\x01"
_repeated = re.compile(r"\{(\d+),?(\d*)\}").findall
_comment = re.compile(r"(?:#|//)[^\n]*")
_structure = re.compile(r"[(\[]|[)\]]|[{~]\s*(\d*)(?:\s*(?:,|\.\.)\s*(\d*))?")


def faults(grammar: str, budgets: Mapping[str, int]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is wrong with a grammar: names of rules, and what fills their messages.

    Args:
        grammar: EBNF, or Lark when no line says `::=`, which is how vLLM tells them apart.
        budgets: of a profile; what it does not limit is not measured.
    """
    if not grammar.strip():
        yield "malformed-request", {"what": "a grammar", "expected": "a text that is not empty"}
    elif len(grammar) > MAX_CHARACTERS:
        yield "long-pattern", {"length": len(grammar), "limit": MAX_CHARACTERS}
    else:
        depth, repeats = measure(grammar)
        for name, budget, cost in (
            ("deep-pattern-groups", "pattern-group-depth", depth),
            ("large-repeat", "pattern-repeat", repeats),
            ("dear-pattern", "pattern-cost", price(grammar) if repeats > 1 else 0),
        ):
            limit = budgets.get(budget)
            if limit is not None and cost > limit:
                yield name, {"limit": limit, "cost": cost}


def measure(grammar: str) -> tuple[int, int]:
    """The deepest nesting of groups in a grammar, and the largest number of a repetition.

    Linear in the length of the grammar.
    """
    depth = deepest = most = 0
    is_lark = _is_lark(grammar)
    literals = _lark if is_lark else _ebnf
    if is_lark:
        for match in _lark.finditer(grammar):
            if match[1]:
                cost = patterns.cost(match[1])
                deepest, most = max(deepest, cost.group_depth), max(most, cost.max_bound)
    for match in _structure.finditer(literals.sub(" ", grammar)):
        if match[0] in ("(", "["):
            depth += 1
            deepest = max(deepest, depth)
        elif match[0] in (")", "]"):
            depth = max(depth - 1, 0)
        else:
            most = max(most, _number(match[1]), _number(match[2]))
    return deepest, most


def price(grammar: str) -> int:
    """What the bounded repetitions of a grammar cost, in the units of `schemaguard.patterns`.

    Each rule that has some is measured as the pattern that it would be, with one character for a
    literal or another rule. Rules add up; what repeats other rules multiplies all.
    """
    token = _lark_token if _is_lark(grammar) else _ebnf_token
    total, factor = 0, 1
    for rule in token.sub(_as_pattern, grammar).split("\n"):
        bounds = [max(_number(low), _number(high)) for low, high in _repeated(rule)]
        if bounds and max(bounds) > 1:
            total += patterns.measure(rule).repeats
            if _RULE in rule:
                factor = min(factor * max(bounds), patterns.SATURATED)
    return min(total * factor, patterns.SATURATED)


def _as_pattern(match: re.Match[str]) -> str:
    """What stands in a pattern for a part of a grammar; a line ends where a rule begins."""
    kind = match.lastgroup
    if kind == "head":
        return "\n"
    if kind == "name":
        return _RULE
    if kind == "set":
        return match[0]
    if kind == "range":
        low, high = match["low"] or "0", match["high"]
        return f"{{{low},{high or ''}}}" if match["comma"] else f"{{{low}}}"
    return "a" if kind == "text" else ""


def _is_lark(grammar: str) -> bool:
    return "::=" not in _comment.sub("", grammar)


def _number(digits: str | None) -> int:
    return int((digits or "").lstrip("0")[:9] or "0")
