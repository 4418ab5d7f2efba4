"""llguidance as an engine: it refuses what it does not know, and bounds its own work."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from schemaguard.errors import CompileError, MissingExtra
from schemaguard.grammar.audit.engines import END, bits
from schemaguard.grammar.engine import one_line

if TYPE_CHECKING:
    from schemaguard.grammar.audit.engines import Cursor, Grammar
    from schemaguard.report import Accepted


class LLGuidance:
    """llguidance over bytes, with its default options and limits.

    Raises:
        MissingExtra: llguidance is not installed.
    """

    def __init__(self) -> None:
        try:
            import llguidance  # noqa: PLC0415 - optional
        except ImportError as error:
            raise MissingExtra(
                f"llguidance cannot be imported ({one_line(str(error))}): "
                "pip install 'schemaguard-preflight[llguidance]'"
            ) from error
        self.name = f"llguidance {version('llguidance')}"
        self._matcher = llguidance.LLMatcher
        self._tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()))

    def compile(self, accepted: Accepted) -> Grammar:
        """See `Engine`."""
        try:
            text = self._matcher.grammar_from_json_schema(accepted.text)
        except ValueError as error:
            raise CompileError(one_line(str(error)), reason="unsupported") from error
        matcher = self._matcher(self._tokenizer, text, log_level=0)
        if matcher.is_error():
            raise CompileError(one_line(matcher.get_error()), reason="unsupported")
        return _Grammar(matcher)


class _Bytes:
    """The vocabulary, as llguidance asks for it."""

    eos_token_id = END
    bos_token_id = None
    tokens = (*(bytes((value,)) for value in range(END)), b"<end>")
    special_token_ids = (END,)

    def __call__(self, text: bytes) -> list[int]:
        return list(text)


class _Grammar:
    def __init__(self, matcher: Any) -> None:
        self._first = matcher

    def accepts(self, text: str) -> bool:
        try:
            tokens = list(text.encode())
        except UnicodeEncodeError:
            return False  # a lone surrogate
        matcher = self._first.deep_copy()
        taken = matcher.try_consume_tokens(tokens)
        return bool(taken == len(tokens) and matcher.is_accepting())

    def start(self) -> Cursor:
        return _Cursor(self._first.deep_copy())


class _Cursor:
    __slots__ = ("_matcher",)

    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def allowed(self) -> list[int]:
        if self._matcher.is_stopped():
            # It stops of its own accord where nothing but the end can follow.
            return [END] if self._matcher.is_accepting() else []
        return bits(self._matcher.compute_bitmask())

    def push(self, byte: int) -> bool:
        return bool(self._matcher.try_consume_tokens([byte]) == 1)

    def fork(self) -> Cursor:
        return _Cursor(self._matcher.deep_copy())
