"""xgrammar of any version, asked without the `Compiler`: no preflight, no trial, no worker.

Old versions lack what the `Compiler` uses. A schema may crash or hang the process, so this is for
processes that are expendable; the options are those of the `Compiler`.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from schemaguard.errors import CompileError
from schemaguard.grammar import engine
from schemaguard.grammar.audit.engines import END, bits
from schemaguard.grammar.compiler import MAX_WHITESPACE

if TYPE_CHECKING:
    from collections.abc import Callable

    from schemaguard.grammar.audit.engines import Cursor, Grammar
    from schemaguard.report import Accepted


class DirectXGrammar:
    """An `Engine`: the xgrammar that is imported, whichever that is.

    Raises:
        MissingExtra: xgrammar cannot be imported.
    """

    def __init__(self) -> None:
        self._xgrammar = engine.xgrammar()
        self.name = f"xgrammar {version('xgrammar')}"
        self._info = self._xgrammar.TokenizerInfo(
            [bytes((value,)) for value in range(END)] + [b""],
            self._xgrammar.VocabType.RAW,
            vocab_size=END + 1,
            stop_token_ids=[END],
        )

    def compile(self, accepted: Accepted) -> Grammar:
        """See `Engine`."""
        # Another one each time: it keeps what it has made.
        compiler = self._xgrammar.GrammarCompiler(self._info, max_threads=1)
        try:
            compiled = compiler.compile_json_schema(
                accepted.text, strict_mode=True, max_whitespace_cnt=MAX_WHITESPACE
            )
        except (RuntimeError, ValueError, TypeError) as error:
            raise CompileError(engine.explain(error)[0], reason="unsupported") from error
        return _DirectGrammar(self._xgrammar, compiled)


class _DirectGrammar:
    def __init__(self, xgrammar: Any, compiled: Any) -> None:
        self._matcher = partial(xgrammar.GrammarMatcher, compiled)
        self._mask = xgrammar.allocate_token_bitmask(1, END + 1)

    def accepts(self, text: str) -> bool:
        cursor = self._cursor()
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return False  # a lone surrogate
        return cursor.takes(data) and cursor.may_end()

    def start(self) -> Cursor:
        return self._cursor()

    def _cursor(self) -> _DirectCursor:
        return _DirectCursor(self._matcher, self._mask)


class _DirectCursor:
    __slots__ = ("_make", "_mask", "_matcher", "_written")

    def __init__(self, make: Callable[[], Any], mask: Any, matcher: Any = None) -> None:
        self._make = make
        self._mask = mask  # of all cursors: what it says is read at once
        self._matcher = make() if matcher is None else matcher
        self._written = bytearray()

    def takes(self, data: bytes) -> bool:
        """Write a whole text."""
        return not data or bool(self._matcher.accept_string(data))

    def may_end(self) -> bool:
        """Whether the text may end here."""
        if hasattr(self._matcher, "is_completed"):  # not in 0.1
            return bool(self._matcher.is_completed())
        return END in self.allowed()

    def allowed(self) -> list[int]:
        self._matcher.fill_next_token_bitmask(self._mask, 0)
        return bits(self._mask.numpy().tobytes())

    def push(self, byte: int) -> bool:
        taken = bool(self._matcher.accept_token(byte))
        if taken:
            self._written.append(byte)
        return taken

    def fork(self) -> Cursor:
        if hasattr(self._matcher, "fork"):  # not in 0.1
            return _DirectCursor(self._make, self._mask, self._matcher.fork())
        other = _DirectCursor(self._make, self._mask)
        for byte in self._written:
            other.push(byte)
        return other
