"""What a style makes of a schema: constraints that it drops, leaks, refuses, or makes dear.

In JSON a constraint costs what it costs anywhere. Where arguments are markup with raw text in it,
xgrammar follows the text and the end tag at once, and a length or a wide pattern multiplies the
two. Measured over 151,643 tokens with xgrammar 0.2.9 (one parameter, CPU seconds, worst mask):

| constraint | JSON | XML styles | gemma |
| --- | --- | --- | --- |
| `maxLength: 10` | 0.03 s, 0.1 ms | 0.2 s, 40 to 130 ms a token | dropped |
| `maxLength: 40` | 0.03 s, 0.1 ms | 1.1 s | dropped |
| `maxLength: 200` | 0.03 s, 0.1 ms | 5.5 to 7 s, up to 300 ms | dropped |
| `^.{1,50}$` | 0.9 s, 0.1 ms | 1.4 to 1.7 s, 25 to 120 ms | 56 s, 100 MB |
| `^.*$` | 0.02 s, 0.1 ms | 0.03 s, 10 to 70 ms once or twice a value | 1.4 s |
| `^[a-z]+$` | 0.02 s | 0.03 s, 4 to 60 ms once or twice a value | 0.03 s |

The dear ones are also the leaky ones: a text whose constraint allows `<` may contain the end tag,
which no parser can tell from the real one. A string without a constraint excludes it. So in those
styles such a constraint is better taken out than kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard._frozen import Frozen
from schemaguard.grammar.tags.markup import (
    fault_in_name,
    fault_of_names,
    fault_of_pattern,
    mark_in,
    mark_in_values,
    quoted,
)
from schemaguard.grammar.tags.nodes import (
    is_several,
    keeps_multiple,
    pointer_to,
    real_length,
    types_of,
)
from schemaguard.grammar.tags.styles import (
    COHERE,
    DEEP,
    FLAT,
    GEMMA,
    JSON,
    KIMI_K3,
    MINIMAX_M3,
    STYLES,
    Style,
)
from schemaguard.grammar.tags.texts import may_match
from schemaguard.reads import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    Pointer = tuple[str, ...]

#: Milliseconds of compile time that the tools of one tag may cost together, over 151,643 tokens.
TAG_MILLISECONDS = 1_000

#: Milliseconds that a node of a schema costs in a tag, by style of arguments, where no constraint
#: is dear by itself (a tool of the corpora has seven nodes).
NODE_MILLISECONDS = {
    JSON: 0.6,
    **dict.fromkeys(FLAT, 0.9),
    **dict.fromkeys(("deepseek_xml", "deepseek_v4_1_xml", KIMI_K3), 1.7),
    **dict.fromkeys((GEMMA, MINIMAX_M3), 1.2),
    COHERE: 1.8,
}

#: What a finding is about.
REFUSED = "refused"  # the engine does not compile it, or the parser cannot read what it allows
MARKUP = "markup"  # what it writes could be read as markup
DEAR = "dear"  # it costs more than it is worth in this style
DROPPED = "dropped"  # it is not enforced
LEAK = "leak"  # it is enforced, and can be got around
NARROWED = "narrowed"  # what is valid is refused
SLOW = "slow"  # a mask of some 10 ms once or twice a value

_TEXT = ("pattern", "minLength", "maxLength", "format")

# Formats whose expression lets `<` through: in a quoted local part, in a reference token.
_OPEN_FORMATS = frozenset({"email", "json-pointer", "relative-json-pointer"})
_FORMATS = _OPEN_FORMATS | {
    "date",
    "time",
    "date-time",
    "duration",
    "ipv4",
    "ipv6",
    "hostname",
    "uuid",
    "uri",
    "uri-reference",
    "uri-template",
}
# Of the others, those whose masks are dear all the same.
_SLOW_FORMATS = frozenset({"hostname", "uri-template", "uri-reference"})

# Keywords without any effect on a grammar, and the values for which there is nothing to lose.
_IGNORED: dict[str, tuple[object, ...]] = {
    "not": (),
    "if": (),
    "dependentRequired": ({},),
    "dependentSchemas": ({},),
    "dependencies": ({},),
    "uniqueItems": (False,),
    "contains": (True,),
}

# The engine goes by the first of these that a node has, and by nothing else of the node.
_WINNERS = ("$ref", "const", "enum", "anyOf", "oneOf", "allOf")
_CONSTRAINTS = frozenset(
    {
        *_WINNERS,
        "additionalProperties",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "required",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)

# Where a node stands: the arguments themselves, one of them, or below.
_ROOT, _PARAMETER, _NESTED = 0, 1, 2


class Finding(Frozen):
    """What a style makes of one constraint.

    Attributes:
        code: kebab-case name.
        kind: "refused", "markup", "dear", "dropped", "leak", "narrowed" or "slow".
        pointer: JSON Pointer of the node in the schema.
        keywords: the keywords of the node that it is about; taking them out ends a "dear" or
            "markup" finding, and a "refused" one that has any.
        message: one sentence.
    """

    __slots__ = ("code", "keywords", "kind", "message", "pointer")

    code: str
    kind: str
    pointer: str
    keywords: tuple[str, ...]
    message: str

    def __init__(
        self, code: str, kind: str, at: Pointer, keywords: tuple[str, ...], message: str
    ) -> None:
        self._fill(code=code, kind=kind, pointer=pointer_to(at), keywords=keywords, message=message)


def style_findings(
    style: str | Style, schema: Any, *, excludes: bool = False
) -> tuple[Finding, ...]:
    """What a style makes of the schema of a tool's arguments, in the order of the schema.

    Args:
        style: a style, or its name.
        schema: a parsed schema that the profile `xgrammar` accepts: its bounds on nesting and
            references are what bounds the time here.
        excludes: markers are kept out of strings in arguments of Kimi K3, too.

    Raises:
        KeyError: there is no such style.
    """
    known = STYLES[style] if isinstance(style, str) else style
    return survey(known, schema, excludes=excludes).findings


class Survey(Frozen):
    """What `survey` found.

    Attributes:
        findings: as `style_findings` gives them.
        patterned: the nodes with a `pattern`.
        nodes: how many nodes the engine goes to.
    """

    __slots__ = ("findings", "nodes", "patterned")

    findings: tuple[Finding, ...]
    patterned: tuple[Pointer, ...]
    nodes: int

    def __init__(
        self, findings: tuple[Finding, ...], patterned: tuple[Pointer, ...], nodes: int
    ) -> None:
        self._fill(findings=findings, patterned=patterned, nodes=nodes)


def survey(style: Style, schema: Any, *, excludes: bool = False) -> Survey:
    """`style_findings`, and what a tag as a whole has to spare."""
    search = _Search(style, schema, excludes=excludes)
    search.run()
    return Survey(tuple(search.found), tuple(search.patterned), len(search.seen))


class _Search:
    def __init__(self, style: Style, schema: Any, *, excludes: bool) -> None:
        self.style = style
        self.content = style.content
        self.excludes = excludes and style.content == KIMI_K3
        self.seen: set[tuple[int, int]] = set()
        self.schema = schema
        self.found: list[Finding] = []
        self.patterned: dict[Pointer, None] = {}

    def add(self, code: str, kind: str, at: Pointer, keywords: tuple[str, ...], text: str) -> None:
        self.found.append(Finding(code, kind, at, keywords, text))

    def run(self) -> None:
        """Look at every node that the engine goes to, once for each place that it is used in."""
        stack: list[tuple[Any, Pointer, int]] = [(self.schema, (), _ROOT)]
        while stack:
            node, at, place = stack.pop()
            if place == _ROOT and node is True:
                self._any_root(at)
            if node.__class__ is not dict or (id(node), place) in self.seen:
                continue
            self.seen.add((id(node), place))
            self._node(node, at, place)
            stack.extend(reversed(list(self._below(node, at, place))))

    def _below(self, node: dict[str, Any], at: Pointer, place: int) -> Iterator[Any]:
        winner = next((keyword for keyword in _WINNERS if keyword in node), None)
        if winner == "$ref":
            target = resolve(self.schema, node["$ref"])
            if target is not None:
                yield target[0], tuple(map(str, target[1])), place
            return
        if winner in ("anyOf", "oneOf", "allOf"):
            members = node[winner]
            if members.__class__ is list and not (winner == "allOf" and is_several(members)):
                for index, member in enumerate(members):
                    yield member, (*at, winner, str(index)), place
            return
        if winner is not None:
            return
        inner = _PARAMETER if place == _ROOT else _NESTED
        for keyword in ("properties", "patternProperties"):
            members = node.get(keyword)
            if members.__class__ is dict:
                for name, member in members.items():
                    yield member, (*at, keyword, name), inner
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if node.get(keyword).__class__ is dict:
                yield node[keyword], (*at, keyword), inner
        # Names in JSON are texts like any other; those in markup are looked at as a whole.
        if node.get("propertyNames").__class__ is dict and not self._is_marked(place):
            yield node["propertyNames"], (*at, "propertyNames"), _NESTED
        for keyword in ("items", "unevaluatedItems"):
            if node.get(keyword).__class__ is dict:
                yield node[keyword], (*at, keyword), _NESTED
        members = node.get("prefixItems")
        if members.__class__ is list:
            for index, member in enumerate(members):
                yield member, (*at, "prefixItems", str(index)), _NESTED

    # --------------------------------------------------------------------------------- one node

    def _node(self, node: dict[str, Any], at: Pointer, place: int) -> None:
        self._ignored(node, at)
        if node.get("pattern").__class__ is str:
            self.patterned[at] = None
        winner = next((keyword for keyword in _WINNERS if keyword in node), None)
        if winner in ("const", "enum"):
            self._values(node, at, winner)
        if winner is None:
            kinds = types_of(node)
            if place == _ROOT and kinds != {"object"}:
                self._any_root(at)
            if "object" in kinds:
                self._object(node, at, place)
            if "string" in kinds or not kinds:
                self._string(node, at, place)
            if self.content == MINIMAX_M3 and not kinds:
                self.add(
                    "unconstrained-value", REFUSED, at, (), "minimax_m3 has no markup for any value"
                )
        elif place == _ROOT and winner in ("const", "enum"):
            self._any_root(at)
        elif is_several(node.get("allOf")) and winner == "allOf":
            if self.content == MINIMAX_M3:
                self.add("unconstrained-value", REFUSED, at, (), "minimax_m3 cannot write `allOf`")
            elif place == _ROOT:
                self._any_root(at)

    def _values(self, node: dict[str, Any], at: Pointer, keyword: str) -> None:
        """Values that are written as they are, and could be read as markup."""
        values = node[keyword] if keyword == "enum" else [node[keyword]]
        mark = mark_in_values(self.style, values if values.__class__ is list else [values])
        if mark is None:
            return
        text = f"a value of `{keyword}` has {quoted(mark)}, which can be read as markup"
        if self.content == MINIMAX_M3 and types_of(node) != {"string"}:
            # Without it the value would be any, or an open object.
            self.add("markup-in-value", REFUSED, at, (), text)
        else:
            self.add("markup-in-value", MARKUP, at, (keyword,), text)

    def _any_root(self, at: Pointer) -> None:
        self.add(
            "not-an-object",
            REFUSED,
            at,
            (),
            "arguments that are not an object: the call could not be parsed",
        )

    def _ignored(self, node: dict[str, Any], at: Pointer) -> None:
        """What no style enforces, since xgrammar's reading of schemas does not."""
        for keyword, harmless in _IGNORED.items():
            if keyword in node and not any(node[keyword] == value for value in harmless):
                self.add("ignored-keyword", DROPPED, at, (keyword,), f"`{keyword}` is not enforced")
        winner = next((keyword for keyword in _WINNERS if keyword in node), None)
        if winner is not None:
            lost = tuple(k for k in node if k != winner and k in _CONSTRAINTS)
            if lost:
                named = ", ".join(f"`{keyword}`" for keyword in lost[:3])
                self.add(
                    "ignored-sibling", DROPPED, at, lost, f"{named} beside `{winner}`: not enforced"
                )
        if winner == "allOf" and is_several(node["allOf"]):
            self.add(
                "ignored-all-of", DROPPED, at, ("allOf",), "`allOf` of several allows any value"
            )
        multiple = node.get("multipleOf")
        if winner is None and multiple is not None and not keeps_multiple(node, multiple):
            self.add(
                "ignored-keyword", DROPPED, at, ("multipleOf",), "`multipleOf` is not enforced"
            )

    def _object(self, node: dict[str, Any], at: Pointer, place: int) -> None:
        names = node.get("properties")
        names = names if names.__class__ is dict else {}
        required = node.get("required")
        if required.__class__ is list and any(
            name.__class__ is str and name not in names for name in required
        ):
            text = "a required parameter that `properties` does not declare is not required"
            self.add("undeclared-required", DROPPED, at, ("required",), text)
        marked = self._is_marked(place)
        for name in names:
            bad = fault_in_name(self.content, name) if marked else mark_in(self.style, name)
            if bad:
                where = (*at, "properties", name)
                text = f"a parameter's name has {quoted(bad)}"
                self.add("unwritable-name", REFUSED, where, (), text)
        if not marked:
            return
        opens = tuple(
            keyword
            for keyword in ("additionalProperties", "unevaluatedProperties", "patternProperties")
            if node.get(keyword) not in (None, False)
        )
        if self.content == MINIMAX_M3:
            lost = (*opens, *(("propertyNames",) if "propertyNames" in node else ()))
            if lost:
                self.add(
                    "open-object", REFUSED, at, lost, "minimax_m3 has only declared parameters"
                )
            return
        if opens:
            self._open_names(node, at)
        if opens and self.content in FLAT and names:
            self.add(
                "redeclared-parameter",
                LEAK,
                at,
                opens,
                "a declared parameter can come a second time, as an undeclared one, with any value",
            )
        if opens and self.content != COHERE:
            self.add(
                "plain-names-only",
                NARROWED,
                at,
                opens,
                "undeclared names can only have letters, digits and `_`",
            )

    def _is_marked(self, place: int) -> bool:
        """Whether the names of an object in that place are part of the markup."""
        return self.content in DEEP or (self.content in FLAT and place == _ROOT)

    def _open_names(self, node: dict[str, Any], at: Pointer) -> None:
        """Undeclared names of which the schema says what they may be: written as they are."""
        patterns = node.get("patternProperties")
        for pattern in patterns if patterns.__class__ is dict else ():
            bad = fault_of_pattern(self.content, pattern)
            if bad is not None:
                where = (*at, "patternProperties", pattern)
                text = f"names of this pattern may have {quoted(bad)}, which is markup"
                self.add("markup-in-name", REFUSED, where, (), text)
        if "propertyNames" in node:
            bad = fault_of_names(self.schema, node["propertyNames"], self.content)
            if bad is not None:
                text = f"`propertyNames` lets {bad} into a name, which can be read as markup"
                self.add("markup-in-name", MARKUP, at, ("propertyNames",), text)

    def _string(self, node: dict[str, Any], at: Pointer, place: int) -> None:
        given = tuple(keyword for keyword in _TEXT if keyword in node)
        if "format" in given and not _is_format(node["format"]):
            given = tuple(keyword for keyword in given if keyword != "format")
            self.add("unknown-format", DROPPED, at, ("format",), "this `format` is not enforced")
        if not given or types_of(node) == set():
            return
        if len({"length" if "Length" in keyword else keyword for keyword in given}) > 1:
            lost = given[1:] if given[0] == "pattern" else given[:-1]
            self.add(
                "second-constraint",
                DROPPED,
                at,
                lost,
                "of pattern, format and length only one is enforced",
            )
        lengths = tuple(keyword for keyword in given if "Length" in keyword)
        content = self.content
        if content == JSON or (content in FLAT and place != _PARAMETER):
            if self.excludes and lengths == given:
                self._no_length(at, lengths)
            return
        if content == MINIMAX_M3:
            self.add(
                "plain-text-only", REFUSED, at, given, "minimax_m3 has only unconstrained text"
            )
            return
        if lengths == given:
            if content == GEMMA or self.excludes:
                self._no_length(at, lengths)
            elif real_length(node):
                self.add(
                    "dear-length",
                    DEAR,
                    at,
                    lengths,
                    f"a length in {content} costs 25 ms of compile time a character and 20 to "
                    "140 ms a token, and lets the end tag into the value",
                )
            return
        pattern = node.get("pattern")
        if pattern.__class__ is str:
            wide, slow = may_match(pattern, "<"), True
        else:
            wide, slow = node["format"] in _OPEN_FORMATS, node["format"] in _SLOW_FORMATS
        which = "pattern" if pattern.__class__ is str else "format"
        if wide:
            leak = "" if content == GEMMA else ", and lets the end tag into the value"
            self.add(
                "dear-pattern",
                DEAR,
                at,
                given,
                f"a `{which}` that allows `<` is dear in {content}{leak}",
            )
        elif slow:
            self.add(
                "slow-mask",
                SLOW,
                at,
                (which,),
                f"a `{which}` in {content} costs 4 to 90 ms once or twice a value",
            )

    def _no_length(self, at: Pointer, lengths: tuple[str, ...]) -> None:
        text = "gemma does not enforce lengths"
        if self.excludes:
            text = "lengths are not enforced while markers are kept out of strings"
        self.add("dropped-length", DROPPED, at, lengths, text)


def _is_format(name: Any) -> bool:
    return name.__class__ is str and name in _FORMATS
