"""What a compilation makes: a grammar over the tokens of one tokenizer, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard._frozen import Frozen
from schemaguard.grammar import engine
from schemaguard.grammar.matcher import Matcher

if TYPE_CHECKING:
    from schemaguard.grammar.tags import TagPlan
    from schemaguard.grammar.tokenizers import Tokenizer
    from schemaguard.report import Accepted


class CompileStats(Frozen):
    """What one compilation cost.

    Attributes:
        seconds: wall time of making the grammar, or of finding it.
        cached: the grammar was there already.
        preflight_seconds: wall time of the check under the profile `xgrammar`, or of recalling it.
        trial_seconds: wall time of asking a worker first; None when nobody was asked, because the
            verdict was known or the compiler trusts what it is given.
        dynamic: the grammar is compiled on demand, while masks are filled.
        bytes: size of the compiled grammar in memory, as xgrammar estimates it.
    """

    __slots__ = ("bytes", "cached", "dynamic", "preflight_seconds", "seconds", "trial_seconds")

    seconds: float
    preflight_seconds: float
    trial_seconds: float | None
    bytes: int
    cached: bool
    dynamic: bool

    def __init__(
        self,
        *,
        seconds: float,
        preflight_seconds: float,
        bytes: int,  # noqa: A002 - the unit is the name
        cached: bool,
        trial_seconds: float | None = None,
        dynamic: bool = False,
    ) -> None:
        self._fill(
            seconds=seconds,
            preflight_seconds=preflight_seconds,
            trial_seconds=trial_seconds,
            bytes=bytes,
            cached=cached,
            dynamic=dynamic,
        )


class Compiled:
    """A grammar over the tokens of one tokenizer. Made by a `Compiler`.

    Attributes:
        stats: what compiling it cost.
        tokenizer: whose tokens its matchers take.
        engine: the `xgrammar.CompiledGrammar`.
    """

    __slots__ = ("_matcher_class", "engine", "stats", "tokenizer")

    def __init__(self, grammar: Any, stats: CompileStats, tokenizer: Tokenizer) -> None:
        self.engine = grammar
        self.stats = stats
        self.tokenizer = tokenizer
        self._matcher_class = engine.xgrammar().GrammarMatcher

    def matcher(self, request: str | None = None) -> Matcher:
        """A matcher at the start of an output.

        Args:
            request: what the caller calls the output; the errors of `Masks` name it.
        """
        return Matcher(self._matcher_class(self.engine), self.tokenizer, request)

    def accepts(self, text: str | bytes) -> bool:
        """Whether the engine lets a model write exactly this text.

        That is narrower than valid, and sometimes wider: xgrammar fixes the order of properties,
        bounds white space, and drops constraints that it does not know. Text that is not UTF-8
        is never accepted.
        """
        if isinstance(text, bytes):
            try:
                text = text.decode()
            except UnicodeDecodeError:
                return False  # the masks of xgrammar alone would let surrogates through
        matcher = self.matcher()
        return matcher.accept_string(text) and matcher.is_completed

    def __repr__(self) -> str:
        stats = self.stats
        return f"<{type(self).__name__} {stats.bytes} bytes in {stats.seconds:.4f} s>"


class CompiledSchema(Compiled):
    """A schema as a grammar: the output is one instance. Made by `Compiler.compile`.

    Attributes:
        accepted: the schema.
    """

    __slots__ = ("accepted",)

    def __init__(
        self, accepted: Accepted, grammar: Any, stats: CompileStats, tokenizer: Tokenizer
    ) -> None:
        super().__init__(grammar, stats, tokenizer)
        self.accepted = accepted


class CompiledTag(Compiled):
    """The tools of a request as a grammar: the output is text with calls in it.

    Made by `Compiler.compile_tag`.

    Attributes:
        plan: which tools it pins, and what stays unenforced.
    """

    __slots__ = ("plan",)

    def __init__(
        self, plan: TagPlan, grammar: Any, stats: CompileStats, tokenizer: Tokenizer
    ) -> None:
        super().__init__(grammar, stats, tokenizer)
        self.plan = plan
