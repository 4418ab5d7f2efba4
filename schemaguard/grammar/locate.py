"""Which node of a schema the engine refuses, found by asking it about parts.

xgrammar's errors carry no path. But a `$ref` beats every other keyword of a schema and its siblings
are ignored, so the document with a `$ref` put at its root asks about the node referred to alone,
while all other references still mean the same; a reference to an `anyOf` of references asks about
several nodes at once. From the root down, the first child that fails with the very same message is
looked for by halving; where no child does, the node itself is at fault. Nodes passed on the way get
a `$ref` to `true`, so that a child is not blamed for referring back to one of them.

Every answer is a node that was seen to fail. How far down it goes is bounded by the number of
questions and the time; a run that stops early answers with the deepest node that it got to.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote

from schemaguard.report import escape

if TYPE_CHECKING:
    from collections.abc import Callable

#: Most questions to the engine for one answer.
MAX_QUESTIONS = 64

#: Seconds after which no further question is asked.
MAX_SECONDS = 1.0

#: Longest document (characters) that is taken apart; a question costs a pass over all of it.
MAX_CHARS = 1_000_000

# The engine goes by the first of these that a node has and ignores the rest of the node.
_PRECEDENCE = ("$ref", "const", "enum", "anyOf", "oneOf", "allOf")

# Where it looks for subschemas in a node that has none of them.
_DESCENDS = (
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
    "prefixItems",
    "items",
    "unevaluatedItems",
)

_MAPS = frozenset({"properties", "patternProperties"})
_SINGLE = frozenset(_DESCENDS) - _MAPS - {"prefixItems"}

Pointer = tuple[str, ...]


def locate(
    text: str,
    refusal: Callable[[str], str | None],
    *,
    questions: int = MAX_QUESTIONS,
    seconds: float = MAX_SECONDS,
) -> str | None:
    """The JSON Pointer of the deepest node found that is refused as the whole schema is.

    Args:
        text: the schema, JSON.
        refusal: asks the engine about a schema: its message, or None when it takes it.
        questions: most calls of `refusal`.
        seconds: wall time after which it is not called again.

    Returns:
        None when nothing can be said: the document is no object, too long or too deep, or the
        engine takes it when asked again.
    """
    if len(text) > MAX_CHARS:
        return None
    try:
        root = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(root, dict):
        return None
    message = refusal(text)
    if message is None:
        return None
    search = _Search(root, message, refusal, questions - 1, time.monotonic() + seconds)
    here: Pointer = ()
    while True:
        below = search.first_refused(search.children(here))
        if below is None:
            return "".join("/" + escape(token) for token in here)
        here = below


class _Search:
    """The questions about one document, counted."""

    def __init__(
        self,
        root: dict[str, Any],
        message: str,
        refusal: Callable[[str], str | None],
        questions: int,
        deadline: float,
    ) -> None:
        self._root = root
        self._message = message
        self._refusal = refusal
        self._left = questions
        self._deadline = deadline
        self._seen: set[Pointer] = set()
        self._group = "group"
        while self._group in root or self._group + "-any" in root:
            self._group += "_"
        self._any = self._group + "-any"
        root[self._any] = True

    def children(self, node: Pointer) -> list[Pointer]:
        """The children of a node; from now on the node passes in every question."""
        self._seen.add(node)
        children = [child for child in _children(self._root, node) if child not in self._seen]
        value = _resolve(self._root, node)
        if isinstance(value, dict):
            value["$ref"] = f"#/{self._any}"
        return children

    def first_refused(self, nodes: list[Pointer]) -> Pointer | None:
        """The first of the nodes that fails as the whole does, or None (also when time is up)."""
        if not nodes or not self._fails(nodes):
            return None
        sure = len(nodes) == 1
        while len(nodes) > 1:
            half = len(nodes) // 2
            sure = self._fails(nodes[:half])
            nodes = nodes[:half] if sure else nodes[half:]
        # A node that was left over only because the others passed has to be seen to fail.
        return nodes[0] if sure or self._fails(nodes) else None

    def _fails(self, nodes: list[Pointer]) -> bool:
        if self._left <= 0 or time.monotonic() > self._deadline:
            return False
        self._left -= 1
        refs = [{"$ref": _fragment(node)} for node in nodes]
        question: dict[str, Any] = {**self._root, "$ref": f"#/{self._group}"}
        question[self._group] = {"anyOf": refs} if len(refs) > 1 else refs[0]
        try:
            return self._refusal(json.dumps(question)) == self._message
        except (ValueError, RecursionError):
            return False


def _children(root: Any, pointer: Pointer) -> list[Pointer]:
    """Pointers of the subschemas that the engine looks at from a node, in its order."""
    node = _resolve(root, pointer)
    if not isinstance(node, dict):
        return []
    winner = next((keyword for keyword in _PRECEDENCE if keyword in node), None)
    if winner == "$ref":
        target = _target(node["$ref"])
        return [] if target is None else [target]
    found: list[Pointer] = []
    for keyword in _DESCENDS if winner is None else (winner,):
        value = node.get(keyword)
        if keyword in _MAPS and isinstance(value, dict):
            found.extend((*pointer, keyword, name) for name in value)
        elif keyword not in _SINGLE and isinstance(value, list):
            found.extend((*pointer, keyword, str(index)) for index in range(len(value)))
        elif keyword in _SINGLE and isinstance(value, (dict, bool)):
            found.append((*pointer, keyword))
    return found


def _resolve(root: Any, pointer: Pointer) -> Any:
    node = root
    for token in pointer:
        if isinstance(node, dict):
            node = node.get(token)
        elif isinstance(node, list) and token.isdecimal() and int(token) < len(node):
            node = node[int(token)]
        else:
            return None
    return node


def _target(reference: Any) -> Pointer | None:
    """The node that a reference of the document names, or None for any other reference."""
    if reference == "#":
        return ()
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    tokens = unquote(reference[2:]).split("/")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


def _fragment(pointer: Pointer) -> str:
    return "#" + "".join("/" + quote(escape(token), safe="~") for token in pointer)
