"""YAML, from the events of libyaml: values and places in one pass, without recursion.

PyYAML's own composer recurses in C, and its values do not say where they were, so both are made
here. Scalars mean what PyYAML's safe loader takes them for (YAML 1.1), but for dates, which stay
text: JSON has none. Tags that stand for no JSON type are faults.

An alias is the value of its anchor, and its place is the anchor's. Shared values are counted on
every path, as the text that a server would get has them on every path.
"""

from __future__ import annotations

from array import array
from json.encoder import encode_basestring_ascii

from schemaguard import data as values
from schemaguard.errors import MissingExtra, cut
from schemaguard.reader import MAX_FAULTS, MAX_INTEGER_DIGITS, Fault, Limits
from schemaguard.report import tokens_of
from schemaguard.sources.base import Part, Source
from schemaguard.sources.jsontext import decoded

try:
    import yaml
except ImportError as error:
    raise MissingExtra(
        "reading YAML needs PyYAML: pip install 'schemaguard-preflight[yaml]'"
    ) from error
try:
    from yaml import CSafeLoader
except ImportError as error:
    raise MissingExtra(
        "this PyYAML was built without libyaml; its other loader takes 20 times as long, so it is "
        "not used: install a wheel of pyyaml"
    ) from error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from schemaguard.sources.base import Span

#: Collections open at once, whatever the limits say: libyaml's time for each token grows with it.
MAX_DEPTH = 256

_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"
_STR = _TAG + "str"
#: Text, for whoever wants JSON.
_TEXT_TAGS = frozenset({_STR, _TAG + "timestamp", _TAG + "value"})
_INFINITY = float("inf")
_SHOWN = 60  # characters of the text that a fault's detail quotes
_KEYS = (str, int, float, bool, type(None))


class _Loader(CSafeLoader):  # type: ignore[misc]  # PyYAML has no types
    """Gives events and knows what plain scalars mean."""


class _Stop(Exception):  # noqa: N818  (not an error of the program)
    """Reading ends here; the fault is noted."""


class _Members:
    """Which value each member of a container is, by number."""

    __slots__ = ("moved", "numbers")

    def __init__(self, numbers: array[int]) -> None:
        self.numbers = numbers  # in the order of the container
        self.moved: dict[Any, int] | None = None  # of keys that were given again


class _Frame:
    """A container that is still open."""

    __slots__ = ("block", "container", "key", "key_start", "members", "merges", "number")

    def __init__(self, container: Any, number: int, *, block: bool) -> None:
        self.container = container
        self.number = number
        self.block = block
        self.members = _Members(array("I"))
        self.key: Any = _NO_KEY
        self.key_start = 0
        self.merges: list[tuple[Any, int]] = []


_NO_KEY: Any = object()
_MERGE_KEY: Any = object()


class YamlSource(Source):
    """A YAML file."""

    __slots__ = ("_cache", "_reader")

    def __init__(self, path: str, text: str, reader: _Reader) -> None:
        several = len(reader.documents) > 1
        parts = [
            Part(f"/{index}" if several else "", value, readable=reader.readable)
            for index, (value, _) in enumerate(reader.documents)
            if value is not None
        ]
        super().__init__(path, "yaml", text, parts, tuple(reader.faults), reader.fault_count)
        self._reader = reader
        self._cache: dict[int, dict[str, tuple[Any, int]]] = {}

    def spans(self, pointers: Iterable[str]) -> dict[str, Span | None]:
        """See `Source.spans`."""
        return {pointer: self._span(pointer) for pointer in pointers}

    def tokens_of_faults(self) -> dict[int, tuple[str | int, ...]]:
        """See `Source.tokens_of_faults`."""
        several = len(self._reader.documents) > 1
        return {
            offset: (document, *tokens) if several else tokens
            for offset, (document, tokens) in self._reader.places.items()
        }

    def _span(self, pointer: str) -> Span | None:
        tokens = list(tokens_of(pointer))
        documents = self._reader.documents
        which = 0
        if len(documents) > 1:
            token = tokens.pop(0) if tokens else ""
            if not token.isdecimal():
                return None
            which = int(token)
        if which >= len(documents):
            return None
        value, number = documents[which]
        for token in tokens:
            found = self._members(value).get(token)
            if found is None:
                return None
            value, number = found
        return self._reader.starts[number], self._reader.ends[number]

    def _members(self, container: Any) -> dict[str, tuple[Any, int]]:
        """Members of a container by reference token, each with its number."""
        members = self._reader.members.get(id(container))
        if members is None:
            return {}
        found = self._cache.get(id(container))
        if found is None:
            pairs = container.items() if container.__class__ is dict else enumerate(container)
            found = {
                str(key): (value, number)
                for (key, value), number in zip(pairs, members.numbers, strict=True)
            }
            for key, number in (members.moved or {}).items():
                found[str(key)] = (container[key], number)
            self._cache[id(container)] = found
        return found


def read_yaml(path: str, data: bytes | str, limits: Limits) -> Source:
    """Read a stream of YAML documents."""
    text = decoded(data, limits)
    if isinstance(text, Fault):
        return Source(path, "yaml", None, (), (text,))
    text = text.removeprefix("\ufeff")  # which YAML allows, and editors do not count
    reader = _Reader(text, limits)
    reader.run()
    return YamlSource(path, text, reader)


class _Reader:
    """One reading.

    Attributes:
        documents: value and number of each document.
        starts, ends: offsets of the values, by number, in code points.
        members: the members of containers, by the container's `id`.
        faults, fault_count, readable: as in `Document`.
        places: offset of a fault → the number of its document, and the steps from there.
    """

    def __init__(self, text: str, limits: Limits) -> None:
        self.documents: list[tuple[Any, int]] = []
        self.starts = array("q")
        self.ends = array("q")
        self.members: dict[int, _Members] = {}
        self.faults: list[Fault] = []
        self.fault_count = 0
        self.readable = True
        self.places: dict[int, tuple[int, tuple[str | int, ...]]] = {}
        self._text = text
        self._limits = limits
        self._max_depth = min(limits.max_depth, MAX_DEPTH)
        self._stack: list[_Frame] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._merged = 0
        self._shared = False
        self._last_end = 0
        self._names: set[str] = set()  # of faults

    def run(self) -> None:
        """Read all documents, or as far as the text has a meaning."""
        try:
            loader = _Loader(self._text)
        except UnicodeEncodeError as error:
            self._fault("lone-surrogate", error.start, "in the text")
            return
        try:
            self._read(loader)
        except _Stop:
            pass
        except yaml.reader.ReaderError as error:
            # libyaml counts the bytes here.
            head = self._text.encode()[: error.position]
            offset = len(head.decode("utf-8", "ignore"))
            self._fault("invalid-json", offset, "a character that YAML does not allow")
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            offset = mark.index if mark else 0
            if "maximum nesting depth" in str(error.problem):  # libyaml looks ahead
                self._fault("text-too-deep", offset, str(self._max_depth))
            else:
                said = " ".join(filter(None, (error.context, error.problem)))
                self._fault("invalid-json", offset, f"the YAML cannot be read: {said}")
        finally:
            loader.dispose()

    def _read(self, loader: Any) -> None:
        next_event = loader.get_event
        handlers: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._mapping,
            yaml.SequenceStartEvent: self._sequence,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
            yaml.DocumentStartEvent: self._begin,
        }
        while (event := next_event()).__class__ is not yaml.StreamEndEvent:
            handler = handlers.get(event.__class__)
            if handler is not None:
                handler(event)

    def _begin(self, _: Any) -> None:
        self._anchors = {}

    # Values

    def _number(self, start: int, end: int) -> int:
        number = len(self.starts)
        if number + self._merged >= self._limits.max_nodes:
            self._fatal("too-many-nodes", start, str(self._limits.max_nodes))
        self.starts.append(start)
        self.ends.append(end)
        self._last_end = end
        return number

    def _scalar(self, event: Any) -> None:
        start = event.start_mark.index
        end = event.end_mark.index
        frame = self._stack[-1] if self._stack else None
        is_key = frame is not None and frame.container.__class__ is dict and frame.key is _NO_KEY
        if event.style in ("|", ">"):  # it ends where the next token starts
            end = start + len(self._text[start:end].rstrip())
        value = self._value_of(event, start)
        if is_key and frame is not None:
            if event.anchor is not None:
                self._anchors[event.anchor] = (value, self._number(start, end))
            self._set_key(frame, value, start)
            return
        if value is _MERGE_KEY:
            value = "<<"
        number = self._number(start, end)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, number)
        self._place(value, number)

    def _value_of(self, event: Any, start: int) -> Any:
        text = event.value
        tag = event.tag
        if tag is None or tag == "!":
            if not event.implicit[0]:
                return text
            tag = _meaning(text)
        if tag in _TEXT_TAGS:
            return text
        if tag == _MERGE:
            return _MERGE_KEY
        if tag not in _CONSTRUCT:
            self._fault_here(
                "invalid-json", start, f"the YAML tag {_quoted(tag)} stands for no JSON type"
            )
            return None
        if len(text) > MAX_INTEGER_DIGITS and tag in (_TAG + "int", _TAG + "float"):
            # Numbers to the base of 60 take quadratic time.
            self._fault_here("overlong-integer", start, f"{len(text):,}")
            return None
        try:
            value = _construct(tag, text)
        except (ValueError, OverflowError, KeyError, IndexError, yaml.YAMLError):
            self._fault_here(
                "invalid-json", start, f"{_quoted(text)} is no {tag.removeprefix(_TAG)}"
            )
            return None
        if value.__class__ is float and (value != value or abs(value) == _INFINITY):  # noqa: PLR0124  (NaN)
            is_literal = "." in text and any(c in text for c in "nN")
            name = "non-finite-number" if is_literal else "overflowing-number"
            self._fault_here(name, start, cut(text, _SHOWN))
        return value

    def _sequence(self, event: Any) -> None:
        self._open([], event, _TAG + "seq")

    def _mapping(self, event: Any) -> None:
        self._open({}, event, _TAG + "map")

    def _open(self, container: Any, event: Any, plain: str) -> None:
        start = event.start_mark.index
        tag = event.tag
        if tag not in (None, "!", plain):
            self._fault_here(
                "invalid-json", start, f"the YAML tag {_quoted(tag)} stands for no JSON type"
            )
        if self._stack:
            frame = self._stack[-1]
            if frame.container.__class__ is dict and frame.key is _NO_KEY:
                kind = "list" if container.__class__ is list else "dict"
                self._fatal("non-string-key", start, kind)
        if len(self._stack) >= self._max_depth:
            self._fatal("text-too-deep", start, str(self._max_depth))
        number = self._number(start, start)
        if event.anchor is not None:
            self._anchors[event.anchor] = (container, number)
        self._stack.append(_Frame(container, number, block=not event.flow_style))

    def _close(self, event: Any) -> None:
        frame = self._stack.pop()
        # A block ends where something else starts, blanks and comments later.
        end = self._last_end if frame.block else event.end_mark.index
        end = max(end, self.starts[frame.number])
        self.ends[frame.number] = self._last_end = end
        if frame.merges:
            self._merge(frame)
        self.members[id(frame.container)] = frame.members
        self._place(frame.container, frame.number)

    def _alias(self, event: Any) -> None:
        start = event.start_mark.index
        found = self._anchors.get(event.anchor)
        if found is None:
            self._fatal(
                "invalid-json", start, f"the YAML cannot be read: no anchor {_quoted(event.anchor)}"
            )
            return
        value, number = found
        if value is _MERGE_KEY:
            value = "<<"
        self._shared = True
        self._number(start, event.end_mark.index)
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.container.__class__ is dict and frame.key is _NO_KEY:
            if value.__class__ not in _KEYS:
                self._fatal("non-string-key", start, type(value).__name__)
            self._set_key(frame, value, start)
            return
        self._place(value, number)

    # Members

    def _set_key(self, frame: _Frame, key: Any, start: int) -> None:
        if key.__class__ is bytes:
            self._fatal("non-string-key", start, "bytes")
        frame.key = key
        frame.key_start = start
        self._last_end = max(self._last_end, start)

    def _place(self, value: Any, number: int) -> None:
        if not self._stack:
            self._end_document(value, number)
            return
        frame = self._stack[-1]
        container = frame.container
        if container.__class__ is list:
            container.append(value)
            frame.members.numbers.append(number)
            return
        key, frame.key = frame.key, _NO_KEY
        if key is _MERGE_KEY:
            frame.merges.append((value, number))
            return
        if key in container:
            self._fault_here("duplicate-key", frame.key_start, _quoted(str(key)), str(key))
            if frame.members.moved is None:
                frame.members.moved = {}
            frame.members.moved[key] = number
        else:
            frame.members.numbers.append(number)
        container[key] = value

    def _merge(self, frame: _Frame) -> None:
        """Put what `<<` brings in before the mapping's own members, as PyYAML does."""
        container = frame.container
        own = self._numbered(container, frame.members)
        merged: dict[Any, tuple[Any, int]] = {}
        for value, number in frame.merges:
            sources = value[::-1] if value.__class__ is list else [value]
            for source in sources:
                members = self.members.get(id(source))
                if source.__class__ is not dict or members is None:
                    self._fatal(
                        "invalid-json",
                        self.starts[number],
                        "the YAML cannot be read: `<<` takes a mapping or a list of mappings",
                    )
                    return
                self._merged += len(source)
                if self._merged + len(self.starts) > self._limits.max_nodes:
                    limit = str(self._limits.max_nodes)
                    self._fatal("too-many-nodes", self.starts[number], limit)
                merged.update(self._numbered(source, members))
        merged.update(own)
        container.clear()
        container.update((key, value) for key, (value, _) in merged.items())
        frame.members = _Members(array("I", (number for _, number in merged.values())))

    @staticmethod
    def _numbered(container: dict[Any, Any], members: _Members) -> dict[Any, tuple[Any, int]]:
        numbered = {
            key: (value, number)
            for (key, value), number in zip(container.items(), members.numbers, strict=True)
        }
        for key, number in (members.moved or {}).items():
            numbered[key] = (container[key], number)
        return numbered

    def _end_document(self, value: Any, number: int) -> None:
        if self._shared:
            size = values.size(value)
            if size is None:
                self._fatal("cyclic-value", self.starts[number], "")
            elif size > self._limits.max_nodes:
                self._fatal("too-many-nodes", self.starts[number], str(self._limits.max_nodes))
        self._shared = False
        self.documents.append((value, number))

    # Faults

    def _fault(self, name: str, offset: int, detail: str) -> bool:
        """Note a fault; False when there are too many of its name to keep it."""
        self.fault_count += 1
        if name != "duplicate-key":
            self.readable = False
        if len(self.faults) >= MAX_FAULTS and name in self._names:
            return False
        self._names.add(name)
        self.faults.append(Fault(name, offset, detail))
        return True

    def _fault_here(self, name: str, offset: int, detail: str, *step: str) -> None:
        """Note a fault of the value that is being read, or of a name in it; the reading goes on."""
        if self._fault(name, offset, detail):
            self.places[offset] = len(self.documents), (*self._steps(), *step)

    def _steps(self) -> Iterator[str | int]:
        for frame in self._stack:
            if frame.container.__class__ is list:
                yield len(frame.container)
            elif frame.key.__class__ in _KEYS:
                yield str(frame.key)

    def _fatal(self, name: str, offset: int, detail: str) -> None:
        self._fault(name, offset, detail)
        raise _Stop


def _quoted(text: str) -> str:
    return encode_basestring_ascii(cut(text, _SHOWN))


# What the safe loader makes of scalars; its methods look at nothing but the node.
_maker = yaml.constructor.SafeConstructor()
_CONSTRUCT: dict[str, Callable[[Any], Any]] = {
    _TAG + "null": lambda _: None,
    _TAG + "bool": _maker.construct_yaml_bool,
    _TAG + "int": _maker.construct_yaml_int,
    _TAG + "float": _maker.construct_yaml_float,
    _TAG + "binary": _maker.construct_yaml_binary,
}
_RESOLVERS: dict[str, list[tuple[str, Callable[[str], Any]]]] = {
    first: [(tag, pattern.match) for tag, pattern in resolvers]
    for first, resolvers in _Loader.yaml_implicit_resolvers.items()
}


def _meaning(text: str) -> str:
    """The tag of a plain scalar."""
    for tag, matches in _RESOLVERS.get(text[:1], ()):
        if matches(text):
            return tag
    return _STR


def _construct(tag: str, text: str) -> Any:
    return _CONSTRUCT[tag](yaml.ScalarNode(tag, text))
