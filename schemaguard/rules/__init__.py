"""The rules: one declaration each, and everything else (pages, tests, output formats) reads it.

A rule says *what* is wrong with one place; the walk adds where the place is, the profile adds how
severe it is there. Codes are never reused:

===== ==================================================================
SG1xx the document: reading, encoding, hard stops
SG2xx keywords: which are unsupported, which values are malformed
SG3xx references
SG4xx objects and the root
SG5xx budgets
SG6xx tools and requests
SG7xx what an engine does not enforce
SG8xx what an engine pays: compile and mask cost
===== ==================================================================
"""

from __future__ import annotations

from schemaguard._frozen import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

# What makes a rule speak. The argument of each is in `Rule.on[1:]`.
READING = "reading"  # a fault that the reader found; argument: none, the rule's name is the fault's
PRESENCE = "presence"  # a keyword of a list that the profile gives; argument: the list's name
SHAPE = "shape"  # a malformed keyword value; arguments: names in keywords.SHAPES
NODE = "node"  # a subschema that is neither object nor boolean
OBJECT = "object"  # each object schema; argument: "members" for rules about its property names
VALUE = "value"  # a keyword's value; arguments: a budget, then keywords; check(value, limit)
BUDGET = "budget"  # a running total; argument: the budget's name in the profile
REFERENCE = "reference"  # a `$ref` and what it reaches
ROOT = "root"  # the root of the document
#: One schema, as a provider wants it: keywords of which one is there (all schemas, when none is
#: given) and, with a "-", keywords that are not; check(schema, setting).
PART = "part"
TOP = "top"  # the root schema; check(schema, setting)
#: The whole document, counted (`schemaguard.measured`); check(measured, setting).
MEASURE = "measure"
TOOL = "tool"  # one tool, without its schema; check(tool, setting), see `schemaguard.toolsets`
#: The tools of one request together; argument: the measure that is summed, if any.
TOOLSET = "toolset"
KEYWORD = "keyword"  # a keyword that a profile speaks of; argument: the profile's table
ENGINE = "engine"  # what an engine that is asked says
ENFORCEMENT = "enforcement"  # what an engine drops or narrows: see `schemaguard.unenforced`
AUDIT = "audit"  # what an audit of an engine's grammar found; only in `schemaguard audit`
REQUEST = "request"  # a request or one of its tools
ADVICE = "advice"  # a request as a whole, in front of a server; only in `schemaguard.handlers`


class Rule(Frozen):
    """One rule.

    Attributes:
        code: `SG` and three digits, never reused.
        name: kebab case; reads as "allow NAME", so it names the bad thing.
        message: what is said; `{…}` are filled from the finding's data.
        fix: what to do about it, in one sentence.
        bad: JSON text of a schema for which this rule speaks.
        good: the same schema repaired.
        why: why it matters, from the declaring function's docstring.
        on: what makes it speak: one of the constants of this module, then its arguments.
        check: the predicate or generator, for the kinds of rule that have one.
        settings: name → kind of the settings that a profile gives it, beside the severity; the
            kinds are those of `schemaguard.profiles.settings`.
        since: the first version of schemaguard that had the rule.
    """

    __slots__ = (
        "bad",
        "check",
        "code",
        "fix",
        "good",
        "message",
        "name",
        "on",
        "settings",
        "since",
        "why",
    )

    code: str
    name: str
    message: str
    fix: str
    bad: str
    good: str
    why: str
    on: tuple[str, ...]
    check: Callable[..., Any]
    settings: Mapping[str, str]
    since: str

    def __init__(self, **fields: object) -> None:
        self._fill(**fields)

    def __repr__(self) -> str:
        return f"<Rule {self.code} {self.name}>"

    def __hash__(self) -> int:
        return hash(self.code)


#: code → rule.
RULES: dict[str, Rule] = {}
#: name → rule.
BY_NAME: dict[str, Rule] = {}


def rule(
    code: str,
    name: str,
    *on: str,
    message: str,
    fix: str,
    bad: str,
    good: str,
    settings: Mapping[str, str] | None = None,
    since: str = "0.1.0",
) -> Callable[[Callable[..., Any]], Rule]:
    """Declare a rule: the decorated function is its check, the docstring its reason."""

    def declare(check: Callable[..., Any]) -> Rule:
        made = Rule(
            code=code,
            name=name,
            message=message,
            fix=fix,
            bad=bad,
            good=good,
            why=(check.__doc__ or "").strip(),
            on=on,
            check=check,
            settings=settings or {},
            since=since,
        )
        if code in RULES or name in BY_NAME:
            raise ValueError(f"rule {code} {name} is declared twice")
        RULES[code] = BY_NAME[name] = made
        return made

    return declare


def plain(template: str) -> str:
    """A message as people read it unfilled: braces that stand for themselves are single."""
    return template.replace("{{", "{").replace("}}", "}")


def meant(word: str) -> str:
    """What was perhaps meant by what is no rule, as the end of a message.

    Any two codes are alike, so only a slip of one character counts.
    """
    is_code = word[:2].upper() == "SG" and len(word) < 9 and word[3:].isdigit()
    if not is_code:
        from schemaguard.errors import nearest  # noqa: PLC0415  (only after a mistake)

        return nearest(word, BY_NAME)
    near = [code for code in RULES if _is_a_slip(word.upper(), code)]
    return f'; did you mean "{near[0]}"?' if len(near) == 1 else ""


def _is_a_slip(word: str, code: str) -> bool:
    """Whether one is the other with one character too many, or two of them swapped."""
    long, short = (word, code) if len(word) > len(code) else (code, word)
    if len(long) == len(short) + 1:
        return any(long[:at] + long[at + 1 :] == short for at in range(len(long)))
    swapped = (word[:at] + word[at : at + 2][::-1] + word[at + 2 :] for at in range(len(word)))
    return code in swapped


def find(code_or_name: str) -> Rule | None:
    """The rule of a code (`SG301`) or a name (`remote-ref`)."""
    return RULES.get(code_or_name.upper()) or BY_NAME.get(code_or_name)


# The families declare themselves when they are imported.
from schemaguard.rules import (  # noqa: E402  (they need what is above)
    advice,
    audited,
    budgets,
    cost,
    document,
    keywords,
    measures,
    objects,
    providers,
    references,
    requests,
    roots,
    shapes,
    tools,
    unenforced,
    values,
    work,
)

__all__ = [
    "ADVICE",
    "AUDIT",
    "BUDGET",
    "BY_NAME",
    "ENFORCEMENT",
    "ENGINE",
    "KEYWORD",
    "MEASURE",
    "NODE",
    "OBJECT",
    "PART",
    "PRESENCE",
    "READING",
    "REFERENCE",
    "REQUEST",
    "ROOT",
    "RULES",
    "SHAPE",
    "TOOL",
    "TOOLSET",
    "TOP",
    "VALUE",
    "Rule",
    "advice",
    "audited",
    "budgets",
    "cost",
    "document",
    "find",
    "keywords",
    "measures",
    "objects",
    "plain",
    "providers",
    "references",
    "requests",
    "roots",
    "rule",
    "shapes",
    "tools",
    "unenforced",
    "values",
    "work",
]
