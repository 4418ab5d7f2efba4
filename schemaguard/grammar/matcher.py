"""One output under construction: which tokens it may still take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemaguard.grammar.tokenizers import Tokenizer

# What fits the engine's counter of steps.
_MAX_STEPS = (1 << 31) - 1


class Matcher:
    """A state of the grammar, moved on by tokens. Made by `CompiledSchema.matcher`.

    Not thread-safe: one output, one matcher.

    Attributes:
        engine: the `xgrammar.GrammarMatcher` behind it, for what has no method here.
        tokenizer: whose token ids it takes.
        request: what the caller calls the output; errors name it.
    """

    __slots__ = ("_last_id", "engine", "request", "tokenizer")

    def __init__(self, engine: Any, tokenizer: Tokenizer, request: str | None = None) -> None:
        self.engine = engine
        self.tokenizer = tokenizer
        self.request = request
        self._last_id = tokenizer.vocab_size - 1

    def accept_token(self, token_id: int) -> bool:
        """Take a token; False, and no change, when it is not allowed or no id of the vocabulary."""
        # xgrammar logs a line to stderr for an id out of range and for one behind the end; a
        # caller may probe in peace.
        if not 0 <= token_id <= self._last_id or self.engine.is_terminated():
            return False
        return bool(self.engine.accept_token(token_id))

    def accept_tokens(self, token_ids: Iterable[int]) -> int:
        """Take tokens until one is not allowed.

        Returns:
            How many were taken; each is one step for `rollback`.
        """
        taken = 0
        for token_id in token_ids:
            if not self.accept_token(token_id):
                break
            taken += 1
        return taken

    def accept_string(self, text: str | bytes) -> bool:
        """Take a text as one step; False, and no change, when any of it is not allowed."""
        if isinstance(text, str):
            try:
                text = text.encode()
            except UnicodeEncodeError:
                return False  # a lone surrogate: no tokens can spell it
        return not self.engine.is_terminated() and bool(self.engine.accept_string(text))

    def rollback(self, steps: int = 1) -> None:
        """Undo the last accepted steps (tokens, or texts as a whole).

        Raises:
            ValueError: a negative number, or more steps than were accepted.
        """
        # xgrammar takes -1 for "nothing" and 2**32 for 0, which would hide a caller's mistake.
        if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps <= _MAX_STEPS:
            raise ValueError(f"steps must be an integer in 0..{_MAX_STEPS}, not {steps!r}")
        try:
            self.engine.rollback(steps)
        except RuntimeError as error:
            raise ValueError(f"cannot undo {steps} steps: fewer were accepted") from error

    def reset(self) -> None:
        """Back to the start."""
        self.engine.reset()

    def fork(self) -> Matcher:
        """An independent matcher in the same state."""
        return Matcher(self.engine.fork(), self.tokenizer, self.request)

    @property
    def is_completed(self) -> bool:
        """Whether the output so far is a whole instance; more may still be possible."""
        return bool(self.engine.is_completed())

    @property
    def is_terminated(self) -> bool:
        """Whether a stop token was accepted; nothing can follow."""
        return bool(self.engine.is_terminated())

    def forced_text(self) -> str:
        """The text that must come next; empty when there is a choice, or at the end."""
        if self.engine.is_terminated():
            return ""
        return str(self.engine.find_jump_forward_string())

    def forced_tokens(self) -> list[int]:
        """Tokens that spell what must come next, the longest ones first; none at the end.

        They may fall short of `forced_text` by a last piece, which a longer token could begin
        with, and need not be the tokens that the model's own tokenizer would choose. They are not
        accepted yet.
        """
        if self.engine.is_terminated():
            return []
        return [int(token_id) for token_id in self.engine.find_jump_forward_tokens()]
