"""A slow second opinion on the `dynamo` contract, written rule by rule from its text.

It exists to be compared with the engine, so it shares nothing with it: no table, no helper, no idea.
Where two readings are possible the shorter code wins; speed does not matter as long as hostile
documents end. Numbers in comments are the rules of the contract page.

    first_error({"type": "object"})
    -> ("#", "object schemas require additionalProperties: false")
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple, NoReturn

# Rule 12, in the order in which they are looked for.
BANNED = (
    "allOf",
    "oneOf",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "uniqueItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
)
DYNAMIC_REFERENCES = ("$dynamicRef", "$recursiveRef")

# Rule 14.
TYPE_NAMES = ("null", "boolean", "object", "array", "number", "integer", "string")

# Rules 17, 18, 19.
STRING_KEYWORDS = ("$ref", "pattern", "format")
NUMBER_KEYWORDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
COUNT_KEYWORDS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
)

# Rules 9 and 37: what makes a node with `$ref` a local object.
LOCAL_OBJECT_KEYWORDS = ("properties", "patternProperties", "required", "additionalProperties")

# Rule 7.
MAP_KEYWORDS = ("properties", "patternProperties", "$defs", "definitions")
SINGLE_KEYWORDS = (
    "additionalProperties",
    "additionalItems",
    "propertyNames",
    "unevaluatedProperties",
    "contentSchema",
)

# Rules 26, 29, 30, 44.
MAX_DEPTH = 10
MAX_PROPERTIES = 5_000
MAX_ENUM_ENTRIES = 1_000
MAX_CHARACTERS = 120_000
LONG_ENUM_ENTRIES = 250
LONG_ENUM_CHARACTERS = 15_000
MAX_NAME = 256

UNIQUE_STRINGS = "must be an array of unique strings"
OPEN_OBJECT = "object schemas require additionalProperties: false"
NOT_A_MAP = "must be a map of schemas"
NOT_AN_ARRAY_OF_SCHEMAS = "must be a nonempty array of schemas"


class Finding(NamedTuple):
    """The first error of a document.

    `words_fixed` is false where the contract fixes the verdict and the place but not the words
    (rules 15, 16, 17 and the array members of rule 24).
    """

    pointer: str
    detail: str
    rule: int
    words_fixed: bool


class _Node:
    """One schema location. Linked to its parent, because a path per node would be quadratic."""

    __slots__ = ("children", "depth", "parent", "schema", "steps", "target")

    def __init__(
        self, schema: Any, parent: _Node | None, steps: tuple[str, ...], depth: int
    ) -> None:
        self.schema = schema
        self.parent = parent
        self.steps = steps  # from the parent: one or two keys
        self.depth = depth  # rule 26
        self.children: dict[tuple[str, ...], _Node] = {}
        self.target: _Node | None = None  # rule 34

    def pointer(self, *more: str) -> str:
        """Rule 43: `#` and the escaped keys."""
        keys = list(reversed(more))
        node: _Node | None = self
        while node is not None:
            keys.extend(reversed(node.steps))
            node = node.parent
        return "#" + "".join(
            "/" + key.replace("~", "~0").replace("/", "~1") for key in reversed(keys)
        )


class _Rejected(Exception):  # noqa: N818 - a way out of nested calls, not an error
    """Carries the first finding out of the checks."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding)
        self.finding = finding


def first_error(schema: Any, *, bounded: bool = True) -> tuple[str, str] | None:
    """The pointer and detail that `dynamo` reports for a supplied strict schema.

    Args:
        schema: a parsed JSON value: no NaN, infinity or lone surrogate, and no value used twice.
        bounded: cut property names inside the detail at 256 code points (rule 44).

    Returns:
        `("#/pointer", detail)`, or None when the schema is accepted.
    """
    finding = first_finding(schema, bounded=bounded)
    return None if finding is None else (finding.pointer, finding.detail)


def first_finding(schema: Any, *, bounded: bool = True) -> Finding | None:
    """As `first_error`, with the rule that was broken and whether the contract fixes the words."""
    try:
        nodes = _walk(schema, bounded=bounded)
        # Rule 7, last paragraph: only after the whole walk, and in this order.
        _check_nested_identifiers(nodes)
        _resolve_references(nodes)
        _check_cycles(nodes)
        _check_closure(nodes)
        _check_root(nodes[0])
    except _Rejected as rejected:
        return rejected.finding
    return None


def _fail(rule: int, pointer: str, detail: str, *, words_fixed: bool = True) -> NoReturn:
    raise _Rejected(Finding(pointer, detail, rule, words_fixed))


# --------------------------------------------------------------------------------------------------
# the walk: rules 4 to 31
# --------------------------------------------------------------------------------------------------
class _Totals:
    """Rule 29: running totals over the whole document."""

    def __init__(self) -> None:
        self.properties = 0
        self.enum_entries = 0
        self.characters = 0


def _walk(schema: Any, *, bounded: bool) -> list[_Node]:
    """Visits every schema location breadth first; returns them in queue order (rule 4)."""
    totals = _Totals()
    visited: list[_Node] = []
    queue = deque([_Node(schema, None, (), 0)])
    while queue:
        node = queue.popleft()
        visited.append(node)
        # Rule 5.
        if isinstance(node.schema, bool):
            continue
        if not isinstance(node.schema, dict):
            _fail(5, node.pointer(), "schema must be an object or boolean")
        # Rule 6: a and b, d, e, f, g, h, i (c is remembered by the document itself).
        _check_banned(node)
        _check_shapes(node)
        if _is_object_schema(node.schema) and node.depth > MAX_DEPTH:
            _fail(26, node.pointer(), "exceeds 10 levels of object nesting")
        if _object_checks_apply(node.schema):
            _check_object(node, bounded=bounded)
        _count_values(node, totals)
        queue.extend(_children(node, totals))
        _check_budgets(node, totals)
    return visited


def _check_banned(node: _Node) -> None:
    """Rule 12: presence alone is fatal."""
    for keyword in BANNED:
        if keyword in node.schema:
            _fail(12, node.pointer(keyword), "keyword is not supported in strict schemas")
    for keyword in DYNAMIC_REFERENCES:
        if keyword in node.schema:
            _fail(12, node.pointer(keyword), "Dynamo does not support this reference mechanism")


def _is_unique_strings(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(member, str) for member in value)
        and len(set(value)) == len(value)
    )


def _is_number(value: Any) -> bool:
    # Rule 25: a Python bool is an int, a JSON boolean is no number.
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_shapes(node: _Node) -> None:
    """Rules 14 to 20, keyword by keyword in the order in which the rules name them."""
    schema = node.schema

    # Rule 14. The array is first looked at as an array of unique strings, then for its names.
    if "type" in schema:
        names = schema["type"]
        if isinstance(names, str):
            names = [names]
        if not _is_unique_strings(names):
            _fail(14, node.pointer("type"), UNIQUE_STRINGS)
        if not names or any(name not in TYPE_NAMES for name in names):
            detail = "must contain recognized, unique JSON Schema type names"
            _fail(14, node.pointer("type"), detail)

    # Rule 15.
    if "required" in schema and not _is_unique_strings(schema["required"]):
        _fail(15, node.pointer("required"), UNIQUE_STRINGS, words_fixed=False)

    # Rule 16.
    if "enum" in schema and not isinstance(schema["enum"], list):
        _fail(16, node.pointer("enum"), "must be an array", words_fixed=False)

    # Rule 17.
    for keyword in STRING_KEYWORDS:
        if keyword in schema and not isinstance(schema[keyword], str):
            _fail(17, node.pointer(keyword), "must be a string", words_fixed=False)

    # Rule 18.
    for keyword in NUMBER_KEYWORDS:
        if keyword in schema:
            if not _is_number(schema[keyword]):
                _fail(18, node.pointer(keyword), "must be numeric")
            if keyword == "multipleOf" and not schema[keyword] > 0:
                _fail(18, node.pointer(keyword), "must be positive")

    # Rule 19. 1.0 and 1e2 are integers, and so is -0.0, which is not below zero.
    for keyword in COUNT_KEYWORDS:
        if keyword in schema:
            count = schema[keyword]
            if not (
                _is_number(count) and count >= 0 and (isinstance(count, int) or count.is_integer())
            ):
                _fail(19, node.pointer(keyword), "must be a nonnegative integer")

    # Rule 20: nothing else has a shape here.


def _has_object_type(schema: dict[str, Any]) -> bool:
    """The string `object`, or an array that contains it (a shape error was reported before)."""
    declared = schema.get("type")
    return declared == "object" or (isinstance(declared, list) and "object" in declared)


def _is_object_schema(schema: dict[str, Any]) -> bool:
    """Rule 8."""
    return _has_object_type(schema) or "properties" in schema or "patternProperties" in schema


def _has_local_object_keyword(schema: dict[str, Any]) -> bool:
    return any(keyword in schema for keyword in LOCAL_OBJECT_KEYWORDS)


def _object_checks_apply(schema: dict[str, Any]) -> bool:
    """Rules 9 and 37."""
    if "$ref" in schema:
        return _has_local_object_keyword(schema)
    return _is_object_schema(schema)


def _check_object(node: _Node, *, bounded: bool) -> None:
    """Rules 10 and 11."""
    schema = node.schema

    # (i) Identity, because 0 == False in Python.
    if schema.get("additionalProperties") is not False:
        _fail(10, node.pointer(), OPEN_OBJECT)

    # (ii), (iii)
    for keyword in ("properties", "patternProperties"):
        if keyword in schema and not isinstance(schema[keyword], dict):
            _fail(10, node.pointer(keyword), NOT_A_MAP)

    declared = set(schema.get("properties", {}))
    required = set(schema.get("required", []))

    # (iv)
    if declared - required:
        name = _cut(min(declared - required), bounded=bounded)
        _fail(10, node.pointer("required"), f"must include property '{name}'")

    # (v) is rule 11.
    if required - declared and not schema.get("patternProperties"):
        name = _cut(min(required - declared), bounded=bounded)
        _fail(11, node.pointer("required"), f"unknown property '{name}' in a closed object")


def _cut(name: str, *, bounded: bool) -> str:
    """Rule 44."""
    return name[:MAX_NAME] + "..." if bounded and len(name) > MAX_NAME else name


def _count_values(node: _Node, totals: _Totals) -> None:
    """Rule 6g: `enum` with rule 30, then `const`."""
    schema = node.schema
    if "enum" in schema:
        entries = schema["enum"]
        strings = [entry for entry in entries if isinstance(entry, str)]
        characters = sum(len(string) for string in strings)
        if (
            len(entries) > LONG_ENUM_ENTRIES
            and len(strings) == len(entries)
            and characters > LONG_ENUM_CHARACTERS
        ):
            detail = "exceeds 15000 characters in an all-string enum with more than 250 entries"
            _fail(30, node.pointer("enum"), detail)
        totals.enum_entries += len(entries)
        totals.characters += characters
    if isinstance(schema.get("const"), str):
        totals.characters += len(schema["const"])


def _children(node: _Node, totals: _Totals) -> list[_Node]:
    """Rules 7 and 21 to 24: the children in order; their containers are checked on the way.

    Rule 13 follows from what is not here: nothing else is entered.
    """
    schema = node.schema
    depth = node.depth + (1 if _is_object_schema(schema) else 0)  # rule 27

    def child(value: Any, *steps: str) -> None:
        node.children[steps] = _Node(value, node, steps, depth)

    # Rule 21. Sorting by code point is what `sorted` does with str.
    for keyword in MAP_KEYWORDS:
        if keyword in schema:
            members = schema[keyword]
            if not isinstance(members, dict):
                _fail(21, node.pointer(keyword), NOT_A_MAP)
            if keyword == "properties":
                totals.properties += len(members)
            if keyword != "patternProperties":
                totals.characters += sum(len(name) for name in members)
            for name in sorted(members):
                child(members[name], keyword, name)

    # Rule 22.
    for keyword in ("anyOf", "prefixItems", "items"):
        if keyword in schema:
            members = schema[keyword]
            if keyword == "items" and not isinstance(members, list):
                child(members, keyword)
                continue
            if not isinstance(members, list) or not members:
                _fail(22, node.pointer(keyword), NOT_AN_ARRAY_OF_SCHEMAS)
            for index, member in enumerate(members):
                child(member, keyword, str(index))

    # Rule 23.
    for keyword in SINGLE_KEYWORDS:
        if keyword in schema:
            child(schema[keyword], keyword)

    # Rule 24.
    if "dependencies" in schema:
        members = schema["dependencies"]
        if not isinstance(members, dict):
            detail = "must be a map of schemas or property dependencies"
            _fail(24, node.pointer("dependencies"), detail)
        for name in sorted(members):
            if not isinstance(members[name], list):
                child(members[name], "dependencies", name)
            elif not _is_unique_strings(members[name]):
                pointer = node.pointer("dependencies", name)
                _fail(24, pointer, UNIQUE_STRINGS, words_fixed=False)

    return list(node.children.values())


def _check_budgets(node: _Node, totals: _Totals) -> None:
    """Rule 29."""
    if totals.properties > MAX_PROPERTIES:
        _fail(29, node.pointer(), "exceeds 5000 declared properties")
    if totals.enum_entries > MAX_ENUM_ENTRIES:
        _fail(29, node.pointer(), "exceeds 1000 enum entries")
    if totals.characters > MAX_CHARACTERS:
        _fail(29, node.pointer(), "exceeds 120000 name and value characters")


# --------------------------------------------------------------------------------------------------
# references: rules 32 to 38
# --------------------------------------------------------------------------------------------------
def _has(node: _Node, keyword: str) -> bool:
    """Whether the node is an object (not a boolean schema) with that key."""
    return isinstance(node.schema, dict) and keyword in node.schema


def _check_nested_identifiers(nodes: list[_Node]) -> None:
    """Rule 33."""
    if any(_has(node, "$ref") for node in nodes):
        for node in nodes[1:]:
            if _has(node, "$id") or _has(node, "id"):
                detail = "Dynamo does not support references with nested identifier scopes"
                _fail(33, node.pointer(), detail)


def _resolve_references(nodes: list[_Node]) -> None:
    """Rules 32 and 34: the target of every `$ref`, in queue order."""
    for node in nodes:
        if _has(node, "$ref"):
            node.target = _resolve(nodes[0], node)


def _resolve(root: _Node, node: _Node) -> _Node:
    """Rule 34, a to g."""

    def fail(detail: str) -> NoReturn:
        _fail(34, node.pointer("$ref"), detail)

    # (a)
    reference: str = node.schema["$ref"]
    if not reference.startswith("#"):
        fail("Dynamo supports only document-local references")
    fragment = reference[1:]

    # (b) every `%` of the whole fragment before anything is decoded.
    for after in fragment.split("%")[1:]:
        if len(after) < 2 or any(digit not in "0123456789abcdefABCDEF" for digit in after[:2]):
            fail("invalid URI-fragment escape")

    # (c) Bytes, because an escape stands for a byte and a raw character for its UTF-8 bytes.
    # surrogatepass: a lone surrogate is no UTF-8 either, so it must fail below and not here.
    first, *escaped = fragment.encode("utf-8", "surrogatepass").split(b"%")
    octets = first + b"".join(bytes([int(part[:2], 16)]) + part[2:] for part in escaped)
    try:
        pointer = octets.decode("utf-8")
    except UnicodeDecodeError:
        fail("reference fragment must decode to UTF-8")

    # (d)
    if pointer and not pointer.startswith("/"):
        fail("Dynamo does not support named-anchor references")

    # (e)
    for after in pointer.split("~")[1:]:
        if after[:1] not in ("0", "1"):
            fail("invalid JSON Pointer escape")

    # ~1 before ~0, so that ~01 stands for ~1.
    keys = tuple(key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:])

    # (f)
    if not _exists(root.schema, keys):
        fail("reference target does not exist")

    # (g)
    target = _location(root, keys)
    if target is None:
        fail("reference target is not a recognized schema location")
    return target


def _exists(document: Any, keys: tuple[str, ...]) -> bool:
    """Rule 34f: whether the raw document has a value there."""
    value = document
    for key in keys:
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and _is_index(key, len(value)):
            value = value[int(key)]
        else:
            return False
    return True


def _is_index(key: str, length: int) -> bool:
    """Whether the text is how an index below `length` is written: no sign, no leading zero."""
    # The length goes first: Python refuses to convert very long digit strings.
    return (
        len(key) <= len(str(length))
        and key.isascii()
        and key.isdigit()
        and str(int(key)) == key
        and int(key) < length
    )


def _location(root: _Node, keys: tuple[str, ...]) -> _Node | None:
    """Rule 34g: the walked node at a path. A step from node to node is one key or two."""
    node = root
    done = 0
    while done < len(keys):
        child = node.children.get(keys[done : done + 1]) or node.children.get(keys[done : done + 2])
        if child is None:
            return None
        done += len(child.steps)
        node = child
    return node


def _check_cycles(nodes: list[_Node]) -> None:
    """Rule 35. Nodes from which a chain was once followed to its end need no second look."""
    ends: set[_Node] = set()
    for start in nodes:
        chain: set[_Node] = set()
        node: _Node | None = start
        while node is not None and node not in ends:
            if node in chain:
                _fail(35, node.pointer(), "Dynamo does not support direct reference cycles")
            chain.add(node)
            node = node.target
        ends |= chain


def _check_closure(nodes: list[_Node]) -> None:
    """Rule 38."""
    closed: dict[_Node, bool] = {}  # is the first node of the chain with a local keyword closed?
    for start in nodes:
        if not _has(start, "$ref") or not _has_object_type(start.schema):
            continue
        if _has_local_object_keyword(start.schema):
            continue  # rule 37 checked it
        chain: list[_Node] = []
        node: _Node | None = start
        while node is not None and node not in closed and not _is_local_object(node):
            chain.append(node)
            node = node.target
        if node is None:
            verdict = False
        elif node in closed:
            verdict = closed[node]
        else:
            verdict = node.schema.get("additionalProperties") is False
        closed.update(dict.fromkeys(chain, verdict))
        if not verdict:
            detail = "reference target must close the object with additionalProperties: false"
            _fail(38, start.pointer(), detail)


def _is_local_object(node: _Node) -> bool:
    return isinstance(node.schema, dict) and _has_local_object_keyword(node.schema)


# --------------------------------------------------------------------------------------------------
# the root: rules 39 to 42
# --------------------------------------------------------------------------------------------------
def _check_root(root: _Node) -> None:
    """Rules 39, 40 and 41. The chain ends, because cycles were reported before."""
    typed = False
    node: _Node | None = root
    while node is not None:
        if _has(node, "anyOf"):
            _fail(40, node.pointer(), "root must not use anyOf")
        if _has(node, "type"):
            if node.schema["type"] not in ("object", ["object"]):
                _fail(40, node.pointer(), "root must have object-only type")
            typed = True
        node = node.target
    if not typed:
        detail = (
            "unsupported root representation: "
            "Dynamo requires an object-only type or local-reference chain"
        )
        _fail(41, root.pointer(), detail)
