"""What is lost of strings and numbers: where one keyword wins, and where a value goes too far."""

from __future__ import annotations

import math
import re
import warnings
from functools import lru_cache
from re import _constants as ops  # type: ignore[attr-defined]  # stable since 3.11, missing in stubs
from re import _parser as parser  # type: ignore[attr-defined]

from schemaguard.unenforced.choices import bounds
from schemaguard.unenforced.instances import breaks

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from schemaguard.unenforced.facts import Facts

    #: What is lost: (rule's name, keywords, what fills the message).
    Loss = tuple[str, tuple[str, ...], dict[str, Any]]

_MAX_PATTERN = 2_048

#: Format → how long its texts are; those of the others may be as long as they like.
_WIDTHS = {
    "date": (10, 10),
    "time": (9, math.inf),
    "date-time": (20, math.inf),
    "duration": (3, math.inf),
    "email": (3, math.inf),
    "hostname": (1, 253),
    "ipv4": (7, 15),
    "ipv6": (2, 45),
    "uuid": (36, 36),
    "uri": (3, math.inf),
    "uri-reference": (0, math.inf),
    "uri-template": (0, math.inf),
    "json-pointer": (0, math.inf),
    "relative-json-pointer": (1, math.inf),
}
#: Formats of the specifications: any other name restricts nothing.
STANDARD_FORMATS = frozenset(
    {*_WIDTHS, "idn-email", "idn-hostname", "iri", "iri-reference", "regex", "color"}
)


def of_string(schema: dict[str, Any], facts: Facts) -> Iterator[Loss]:
    """What is lost and what is narrowed of a schema of strings."""
    form = schema.get("format")
    pattern = schema.get("pattern")
    if isinstance(form, str) and form in facts.formats:
        if form in facts.leaky:
            yield "approximate-format", ("format",), {"format": form}
        if isinstance(pattern, str) and not _says_the_same(pattern, form):
            yield "lost-string-keyword", ("pattern",), {"winner": "format", "lost": "`pattern`"}
        yield from _lengths(schema, "format", _WIDTHS.get(form, (0, math.inf)))
        if form in NARROW_FORMATS:
            yield "narrow-format", ("format",), {"format": form, "why": NARROW_FORMATS[form]}
        return
    if isinstance(form, str) and form in STANDARD_FORMATS:
        yield "unenforced-format", ("format",), {"format": form}
    if isinstance(pattern, str):
        seen = look(pattern)
        if seen.asserts and facts.look_ahead:
            yield "dropped-pattern-part", ("pattern",), {"part": seen.asserts}
        if not seen.anchored:
            yield "unanchored-pattern", ("pattern",), {}
        elif seen.broad:
            yield "unescaped-string", ("pattern",), {"keywords": "`pattern`"}
        yield from _lengths(schema, "pattern", (seen.shortest, seen.longest))
        return
    limits = [
        keyword
        for keyword, none in (("minLength", 0), ("maxLength", None))
        if keyword in schema and schema[keyword] != none
    ]
    if limits and schema.get("maxLength") != 0:
        named = " and ".join(f"`{keyword}`" for keyword in limits)
        yield "unescaped-string", tuple(limits), {"keywords": named}


#: Format → some of its texts, unlike each other: a pattern that all of them match says the same.
_TEXTS = {
    "date": ("2024-02-29", "1999-12-31", "0001-01-01"),
    "time": ("00:00:00Z", "23:59:59+01:00", "12:30:00.5Z"),
    "date-time": ("2024-02-29T12:30:00Z", "1999-12-31T23:59:59.5+01:00"),
    "duration": ("P1D", "PT5M", "P1Y2M3DT4H5M6S", "P4W"),
    "email": ("joe@example.com", "a.b+c@sub.example.org", "X_1@example.co"),
    "hostname": ("example.com", "a-b.example", "localhost"),
    "ipv4": ("127.0.0.1", "255.255.255.255", "8.8.8.8", "10.20.30.40"),
    "ipv6": ("::1", "2001:db8::ff00:42:8329", "1:2:3:4:5:6:7:8"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF"),
    "uri": ("https://example.com/a?b=c#d", "http://localhost:80", "mailto:a@example.com"),
}


def _says_the_same(pattern: str, form: str) -> bool:
    texts = _TEXTS.get(form, ())
    return bool(texts) and not any(breaks("pattern", pattern, text) for text in texts)


#: Format → what is valid and cannot be written.
NARROW_FORMATS = {
    "uri": "schemes with digits such as `s3://`",
    "email": "one-character labels such as `a@b.c`",
    "hostname": "upper case",
    "date-time": "lower-case `t` and `z`",
    "time": "lower-case `z`",
    "uri-reference": "references that have a scheme",
    "ipv6": "upper-case `::FFFF:1.2.3.4`",
}


def _lengths(schema: dict[str, Any], winner: str, widths: tuple[float, float]) -> Iterator[Loss]:
    shortest, longest = widths
    lost = []
    if schema.get("minLength", 0) > shortest:
        lost.append("minLength")
    if schema.get("maxLength", math.inf) < longest:
        lost.append("maxLength")
    if lost:
        named = " and ".join(f"`{keyword}`" for keyword in lost)
        yield "lost-string-keyword", tuple(lost), {"winner": winner, "lost": named}


class Look:
    """What a look at a pattern tells.

    Attributes:
        known: Python's `re` knows it.
        anchored: it begins with `^` and ends with `$`, in every alternative.
        asserts: the first look-ahead or anchor inside it, as people call it; "" for none.
        broad: it takes characters that are written with an escape.
        shortest, longest: how many characters a text has that it matches as a whole.
    """

    __slots__ = ("anchored", "asserts", "broad", "known", "longest", "shortest")

    def __init__(self) -> None:
        self.known = False
        self.anchored = True
        self.asserts = ""
        self.broad = False
        self.shortest: float = 0
        self.longest: float = math.inf


@lru_cache(maxsize=1_024)
def look(pattern: str) -> Look:
    """Look at a pattern, in time that its length bounds."""
    seen = Look()
    tree = parsed(pattern)
    if tree is None:
        return seen
    seen.known = True
    seen.anchored = _is_anchored(tree)
    low, high = tree.getwidth()
    seen.shortest, seen.longest = int(low), math.inf if int(high) >= (1 << 31) else int(high)
    _inspect(tree, seen)
    return seen


@lru_cache(maxsize=1_024)
def parsed(pattern: str) -> Any:
    """The tree of a pattern, or None when Python's `re` does not know it."""
    if len(pattern) > _MAX_PATTERN:
        return None
    from schemaguard.patterns import measure  # noqa: PLC0415

    if measure(pattern).group_depth > 50:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return parser.parse(_NAMED.sub(r"(?P<", pattern))
    except (re.error, OverflowError, RecursionError, ValueError):
        return None


def shortest(pattern: str) -> str | None:
    """A shortest text that a pattern matches as a whole; None where that is not told.

    Anchors are passed over: xgrammar has a pattern match the whole text.
    """
    tree = parsed(pattern)
    if tree is None:
        return None
    text: list[str] = []
    stack = list(reversed(list(tree)))
    while stack:
        op, argument = stack.pop()
        if op is ops.LITERAL:
            text.append(chr(argument))
        elif op is ops.ANY:
            text.append("a")
        elif op is ops.NOT_LITERAL:
            text.append("a" if argument != ord("a") else "b")
        elif op is ops.IN:
            char = next((c for c in _USUAL if _is_in(argument, c)), None)
            if char is None:
                return None
            text.append(char)
        elif op in _REPEATS:
            least, _most, inner = argument
            if least * max(1, len(inner)) > _MAX_PATTERN:
                return None
            stack.extend(list(reversed(list(inner))) * least)
        elif op is ops.BRANCH:
            stack.extend(reversed(list(argument[1][0])))
        elif op is ops.SUBPATTERN:
            stack.extend(reversed(list(argument[-1])))
        elif op is not ops.AT:
            return None
        if len(text) > _MAX_PATTERN or len(stack) > 4 * _MAX_PATTERN:
            return None
    return "".join(text)


_USUAL = "abxyzABXYZ0159_- .:/@#"


def _is_in(members: Any, char: str) -> bool:
    code = ord(char)
    negated = inside = False
    for op, argument in members:
        if op is ops.NEGATE:
            negated = True
        elif op is ops.LITERAL:
            inside |= code == argument
        elif op is ops.RANGE:
            inside |= argument[0] <= code <= argument[1]
        elif op is ops.CATEGORY:
            inside |= _IS[argument](char)
    return inside != negated


_IS: dict[Any, Any] = {
    ops.CATEGORY_DIGIT: str.isdigit,
    ops.CATEGORY_NOT_DIGIT: lambda c: not c.isdigit(),
    ops.CATEGORY_SPACE: str.isspace,
    ops.CATEGORY_NOT_SPACE: lambda c: not c.isspace(),
    ops.CATEGORY_WORD: lambda c: c.isalnum() or c == "_",
    ops.CATEGORY_NOT_WORD: lambda c: not (c.isalnum() or c == "_"),
}


_NAMED = re.compile(r"\(\?<(?![=!])")


def _is_anchored(tree: Any) -> bool:
    waiting = [tree]
    while waiting:
        parts = list(waiting.pop())
        if len(parts) == 1 and parts[0][0] is ops.SUBPATTERN:
            waiting.append(parts[0][1][-1])
        elif len(parts) == 1 and parts[0][0] is ops.BRANCH:
            waiting.extend(parts[0][1][1])
        elif not (parts and _begins(parts[0]) and _ends(parts[-1])):
            return False
    return True


def _begins(part: Any) -> bool:
    return _is_everything(part) or (part[0] is ops.AT and part[1] is ops.AT_BEGINNING)


def _ends(part: Any) -> bool:
    return _is_everything(part) or (part[0] is ops.AT and part[1] is ops.AT_END)


def _is_everything(part: Any) -> bool:
    """Whether a part is `.*`."""
    op, argument = part
    if op not in (ops.MAX_REPEAT, ops.MIN_REPEAT):
        return False
    least, most, inner = argument
    return least == 0 and most is ops.MAXREPEAT and [p[0] for p in inner] == [ops.ANY]


_REPEATS = (ops.MAX_REPEAT, ops.MIN_REPEAT, ops.POSSESSIVE_REPEAT)


def _inspect(tree: Any, seen: Look) -> None:
    waiting = [(tree, True, True)]
    while waiting:
        parts, first, last = waiting.pop()
        end = len(parts) - 1
        for index, (op, argument) in enumerate(parts):
            begins, ends = first and index == 0, last and index == end
            if op in (ops.ASSERT, ops.ASSERT_NOT):
                seen.asserts = seen.asserts or ("look-ahead" if argument[0] > 0 else "look-behind")
            elif op is ops.AT:
                outside = (argument is ops.AT_BEGINNING and begins) or (
                    argument is ops.AT_END and ends
                )
                if not outside:
                    seen.asserts = seen.asserts or "anchor inside it"
            elif op in _REPEATS:
                waiting.append((argument[2], False, False))
            elif op is ops.SUBPATTERN:
                waiting.append((argument[-1], begins, ends))
            elif op is ops.ATOMIC_GROUP:
                waiting.append((argument, begins, ends))
            elif op is ops.BRANCH:
                waiting.extend((branch, begins, ends) for branch in argument[1])
            elif (
                op in (ops.ANY, ops.NOT_LITERAL)
                or (op is ops.IN and _takes_escaped(argument))
                or (op is ops.LITERAL and (argument < 32 or argument in (34, 92)))
            ):
                seen.broad = True


def _takes_escaped(members: Any) -> bool:
    """Whether a class has the quote, the backslash or a control character."""
    negated = bool(members) and members[0][0] is ops.NEGATE
    inside = {34: False, 92: False, 10: False}
    for op, argument in members:
        for code in inside:
            if op is ops.LITERAL:
                inside[code] |= argument == code
            elif op is ops.RANGE:
                inside[code] |= argument[0] <= code <= argument[1]
            elif op is ops.CATEGORY:
                inside[code] |= code in _CATEGORIES.get(argument, ())
    return any(found != negated for found in inside.values())


_CATEGORIES = {
    ops.CATEGORY_SPACE: (10,),
    ops.CATEGORY_NOT_SPACE: (34, 92),
    ops.CATEGORY_NOT_WORD: (34, 92, 10),
    ops.CATEGORY_NOT_DIGIT: (34, 92, 10),
}


def of_number(schema: dict[str, Any], kind: str, facts: Facts) -> Iterator[Loss]:
    """What is lost and what is narrowed of a schema of numbers or integers."""
    divisor = schema.get("multipleOf")
    low, high = bounds(schema)
    if divisor is not None:
        why = _undivided(divisor, kind, low, high, facts)
        if why:
            yield "unenforced-multiple-of", ("multipleOf",), {"why": why}
    if kind == "number" and (low is not None or high is not None):
        named = tuple(keyword for keyword in _BOUNDS if keyword in schema)
        text = " and ".join(f"`{keyword}`" for keyword in named)
        yield "bounded-number", named, {"keywords": text}


_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def _undivided(divisor: Any, kind: str, low: Any, high: Any, facts: Facts) -> str:
    """Why a divisor is dropped; "" when it is not, or when nothing breaks it."""
    whole = divisor % 1 == 0
    if low is not None and high is not None and low[0] >= high[0]:
        return ""
    if kind == "number":
        return "of numbers that are no integers"
    if whole and divisor == 1:
        return ""
    if not whole:
        return "" if 1 / divisor % 1 == 0 else "that is no integer"
    if divisor > facts.divisor:
        return f"above {facts.divisor:,}" if facts.divisor else "of integers"
    if (low is None) != (high is None):
        return "beside one bound"
    if low is not None and high is not None and high[0] - low[0] > facts.divided:
        return f"in a range wider than {facts.divided:,}"
    return ""
