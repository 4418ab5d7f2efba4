"""Token masks for a batch: filled on the CPU, applied to logits on the CPU or a CUDA device.

A step of decoding is one `fill_batch`, one `apply_`, one sample a row, one `accept_token` a row.
No step allocates a tensor: the masks (one bit a token) live as long as the `Masks`, on a CUDA
machine in pinned memory, with one copy a device made on its first use. Copy and kernel run on the
current stream of the device; steps of one `Masks` belong on one stream.

xgrammar's kernels write through raw pointers and believe the strides of rows only, so what they
would get wrong without a word is refused here: logits whose columns are not adjacent, whose rows
overlap, or whose width is not that of the vocabulary (the tail would stay unmasked).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schemaguard.grammar import engine
from schemaguard.grammar.dead_end import DeadEnd
from schemaguard.grammar.matcher import Matcher

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemaguard.grammar.tokenizers import Tokenizer

__all__ = ["MOST_THREADS", "THREADS_PAY", "WORD_BITS", "DeadEnd", "Masks"]

#: Bits of one word of a mask.
WORD_BITS = 32

#: Rows times token ids from which `fill_batch` uses threads. xgrammar starts them for every call,
#: which takes 40 to 70 µs: with two threads and free processors, 8 to 16 rows of 131,072 or 152,064
#: ids break even and 32 rows take four fifths of the time. With busy processors a call waits for
#: a time slice (4 ms), so the number leans towards no threads.
THREADS_PAY = 2_000_000

#: Most threads that are used unless asked for: others need the cores, too.
MOST_THREADS = 8

# Words that are looked at first to tell a dead end. The single bytes, one of which nearly every
# state allows, are among the first 2,048 ids of byte-pair vocabularies (from 0, 3 or 1,000 on).
_HEAD_WORDS = 64


class Masks:
    """The token masks of a batch. Made by `Compiler.masks`; not thread-safe.

    Every row starts without a constraint.

    Args:
        tokenizer: of the matchers and of the logits.
        batch_size: number of rows, as many as the engine ever has in one step.
        threads: most threads of one `fill_batch`; by default half of the processors, at most
            `MOST_THREADS`. They are used from `THREADS_PAY` on.

    Attributes:
        batch_size: number of rows.
        threads: most threads of one `fill_batch`.
        bitmask: the `int32` CPU tensor of shape (rows, ceil(vocabulary / 32)); bit `t % 32` of
            word `t // 32` says whether token `t` is allowed. Bits beyond the vocabulary mean
            nothing.
    """

    __slots__ = (
        "_bytes",
        "_constrained",
        "_copies",
        "_dtypes",
        "_head_bytes",
        "_in_threads",
        "_in_turn",
        "_last_word",
        "_row_bytes",
        "_stop_row",
        "_threads_from",
        "_tokenizer",
        "_torch",
        "_words",
        "_xgrammar",
        "batch_size",
        "bitmask",
        "threads",
    )

    def __init__(self, tokenizer: Tokenizer, batch_size: int, threads: int | None = None) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"batch_size must be a positive integer, not {batch_size!r}")
        processors = _processors()
        if threads is None:
            threads = max(1, min(processors // 2, MOST_THREADS))
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ValueError(f"threads must be a positive integer, not {threads!r}")
        torch = engine.torch()
        words = -(-tokenizer.vocab_size // WORD_BITS)
        self._xgrammar = engine.xgrammar()
        # xgrammar has no more threads than processors, and logs a line for each call with more.
        self.threads = min(threads, processors)
        self._in_turn = self._xgrammar.BatchGrammarMatcher(max_threads=1)
        self._in_threads = self._xgrammar.BatchGrammarMatcher(max_threads=self.threads)
        self._threads_from = -(-THREADS_PAY // tokenizer.vocab_size)
        self._torch = torch
        self._dtypes = frozenset((torch.float32, torch.float16, torch.bfloat16))
        self._tokenizer = tokenizer
        self.batch_size = batch_size
        self.bitmask = torch.full(
            (batch_size, words), -1, dtype=torch.int32, pin_memory=torch.cuda.is_available()
        )
        # The same memory as an array and as bytes: reading and copying there makes no tensors.
        self._words = self.bitmask.numpy()
        self._last_word = (1 << (tokenizer.vocab_size - 1) % WORD_BITS + 1) - 1
        self._bytes = self._words.reshape(-1).data.cast("B")
        self._row_bytes = 4 * words
        self._head_bytes = 4 * min(_HEAD_WORDS, words - 1)
        self._stop_row = self._make_stop_row()
        self._constrained: set[int] = set()
        # device → (mask on it, event that says that the copy to it is done)
        self._copies: dict[Any, tuple[Any, Any]] = {}

    def fill(self, row: int, matcher: Matcher) -> None:
        """Let a row allow exactly what can follow in the state of `matcher`.

        After a stop token the row allows the stop tokens alone, so that a finished row may stay
        in the batch.

        Raises:
            IndexError: no such row.
            TypeError: not a `Matcher`.
            ValueError: the matcher is for another tokenizer.
            DeadEnd: nothing can follow.
        """
        self._check_row(row)
        self._check_matcher(matcher)
        self._wait_for_copies()
        if not self._fill(row, matcher):
            raise DeadEnd({row: matcher.request})

    def fill_batch(self, matchers: Sequence[Matcher | None] | Mapping[int, Matcher | None]) -> None:
        """Fill many rows at once, in threads where that pays.

        Args:
            matchers: one a row from row 0 on, or row → matcher. None takes the constraint off a
                row; rows that are not mentioned keep what they have.

        Raises:
            IndexError: no such row. Nothing is changed then, as with the next two.
            TypeError: neither a `Matcher` nor None.
            ValueError: a matcher is for another tokenizer.
            DeadEnd: nothing can follow in a row; all other rows are filled.
        """
        pairs: Iterable[tuple[int, Matcher | None]]
        if isinstance(matchers, (list, tuple)) or not isinstance(matchers, Mapping):
            if matchers:
                self._check_row(len(matchers) - 1)
            pairs = enumerate(matchers)
        else:
            for row in matchers:
                self._check_row(row)
            pairs = matchers.items()
        rows: list[int] = []
        bound: list[Matcher] = []
        free: list[int] = []
        for row, matcher in pairs:
            if matcher is None:
                free.append(row)
            else:
                self._check_matcher(matcher)
                rows.append(row)
                bound.append(matcher)
        self._wait_for_copies()
        for row in free:
            self._words[row] = -1
            self._constrained.discard(row)
        if len(rows) > 1:
            dead = self._fill_together(rows, bound)
        else:
            dead = [
                row
                for row, matcher in zip(rows, bound, strict=True)
                if not self._fill(row, matcher)
            ]
        if dead:
            raise DeadEnd({row: bound[rows.index(row)].request for row in dead})

    def fill_draft(self, first_row: int, matcher: Matcher, draft_tokens: Sequence[int]) -> int:
        """Fill one row for each position of a draft, for speculative decoding.

        Row `first_row + i` allows what can follow the first `i` draft tokens, so a draft of `n`
        tokens takes `n + 1` rows. Rows behind a token that the grammar refuses get no constraint:
        the row in front of them rules that token out, so nothing is sampled from them. The matcher
        stays in its state; give `Matcher.accept_tokens` the tokens that the model has confirmed.

        Args:
            first_row: the row of the next token.
            matcher: the state in front of the draft.
            draft_tokens: what the draft model proposes.

        Returns:
            How many draft tokens the grammar lets through, from the first on.

        Raises:
            IndexError: no such rows.
            TypeError: not a `Matcher`.
            ValueError: the matcher is for another tokenizer.
            DeadEnd: nothing can follow at a position; all other rows are filled. Behind the first
                row this concerns only a model that confirms the draft up to there.
        """
        last_row = first_row + len(draft_tokens)
        self._check_row(first_row)
        self._check_row(last_row)
        self._check_matcher(matcher)
        self._wait_for_copies()
        dead: dict[int, str | None] = {}
        taken = 0
        try:
            while True:
                row = first_row + taken
                if not self._fill(row, matcher):
                    dead[row] = matcher.request
                if row == last_row or not matcher.accept_token(draft_tokens[taken]):
                    break
                taken += 1
        finally:
            matcher.rollback(taken)
        for row in range(first_row + taken + 1, last_row + 1):
            self._words[row] = -1
            self._constrained.discard(row)
        if dead:
            raise DeadEnd(dead)
        return taken

    def clear(self, row: int) -> None:
        """Take the constraint off a row: every token is allowed.

        Raises:
            IndexError: no such row.
        """
        self._check_row(row)
        self._wait_for_copies()
        self._words[row] = -1
        self._constrained.discard(row)

    def apply_(self, logits: Any) -> None:
        """Set the logits of the tokens that are not allowed to minus infinity, in place.

        Args:
            logits: a tensor of shape (rows, vocabulary), float32, float16 or bfloat16, on the CPU
                or a CUDA device. With fewer rows than the batch, row `i` is masked by row `i`.

        Raises:
            TypeError: not a tensor, or of another type.
            ValueError: a shape, a layout or a device that cannot be masked.
        """
        self._check_logits(logits)
        if not self._constrained or not logits.shape[0]:
            return
        if not logits.is_cuda:
            self._kernel(logits, self.bitmask)
            return
        with self._torch.cuda.device(logits.device):
            self._kernel(logits, self._copy_to(logits.device))

    def allowed(self, row: int) -> list[int]:
        """The token ids that a row allows, ascending; for inspection, not for decoding.

        Raises:
            IndexError: no such row.
        """
        self._check_row(row)
        bits = self._words[row].astype("<u4").tobytes()
        number = int.from_bytes(bits, "little")
        return [t for t in range(self._tokenizer.vocab_size) if number >> t & 1]

    # Inside -------------------------------------------------------------------------------------

    def _fill(self, row: int, matcher: Matcher) -> bool:
        """Fill a row; False, and the stop tokens alone, when nothing can follow."""
        self._constrained.add(row)
        try:
            matcher.engine.fill_next_token_bitmask(self.bitmask, row)
        except RuntimeError:
            if not matcher.engine.is_terminated():
                raise
            self._words[row] = self._stop_row
            return True
        if self._allows_something(row):
            return True
        self._words[row] = self._stop_row
        return False

    def _fill_together(self, rows: Sequence[int], matchers: Sequence[Matcher]) -> list[int]:
        """Fill rows in one call of the engine; returns those at a dead end."""
        self._constrained.update(rows)
        engines, live = [], []
        for row, matcher in zip(rows, matchers, strict=True):
            # The engine gives up on a whole batch over one output that has ended.
            if matcher.engine.is_terminated():
                self._words[row] = self._stop_row
            else:
                engines.append(matcher.engine)
                live.append(row)
        batch = self._in_turn
        # Two threads must not work on one state.
        if len(engines) >= self._threads_from and len(set(map(id, engines))) == len(engines):
            batch = self._in_threads
        batch.batch_fill_next_token_bitmask(engines, self.bitmask, live)
        dead = [row for row in live if not self._allows_something(row)]
        for row in dead:
            self._words[row] = self._stop_row
        return dead

    def _check_logits(self, logits: Any) -> None:
        if not isinstance(logits, self._torch.Tensor):
            raise TypeError(f"logits must be a torch tensor, not {type(logits).__name__}")
        if logits.dtype not in self._dtypes:
            raise TypeError(f"logits must be float32, float16 or bfloat16, not {logits.dtype}")
        width = self._tokenizer.vocab_size
        if logits.dim() != 2 or logits.shape[0] > self.batch_size:
            raise ValueError(
                f"logits of shape {tuple(logits.shape)} do not fit {self.batch_size} rows of masks"
            )
        if logits.shape[1] != width:
            raise ValueError(
                f"logits are {logits.shape[1]} wide and the tokenizer has {width} tokens: "
                "give the tokenizer the model's vocab_size"
            )
        if logits.device.type not in {"cpu", "cuda"}:
            raise ValueError(f"logits on {logits.device.type!r} cannot be masked: CPU or CUDA only")
        if logits.stride(1) != 1 or (logits.shape[0] > 1 and logits.stride(0) < width):
            raise ValueError(
                f"logits with strides {logits.stride()} cannot be masked in place: "
                "pass a contiguous tensor"
            )
        if logits.requires_grad:
            raise ValueError(
                "logits that require a gradient cannot be masked in place: detach them"
            )

    def _kernel(self, logits: Any, mask: Any) -> None:
        rows = logits.shape[0]
        if rows != self.batch_size:
            mask = mask[:rows]
        self._xgrammar.apply_token_bitmask_inplace(
            logits, mask, vocab_size=self._tokenizer.vocab_size
        )

    def _copy_to(self, device: Any) -> Any:
        if device not in self._copies:
            empty = self._torch.empty(self.bitmask.shape, dtype=self._torch.int32, device=device)
            self._copies[device] = (empty, self._torch.cuda.Event())
        mask, done = self._copies[device]
        mask.copy_(self.bitmask, non_blocking=True)
        done.record()
        return mask

    def _wait_for_copies(self) -> None:
        """Wait until no device reads the masks any more; their copies run by themselves."""
        for _, done in self._copies.values():
            done.synchronize()

    def _allows_something(self, row: int) -> bool:
        # Nearly always one of the first bytes says so. Reading the whole row takes as long as
        # filling many a one.
        start = row * self._row_bytes
        if any(self._bytes[start : start + self._head_bytes]):
            return True
        words = self._words[row]
        # The high bits of the last word stand for no token.
        return bool(words[:-1].any()) or bool(int(words[-1]) & self._last_word)

    def _make_stop_row(self) -> Any:
        row = self._words[0].copy()
        row[:] = 0
        bits = row.view("u4")
        for token_id in self._tokenizer.stop_token_ids:
            bits[token_id // WORD_BITS] |= 1 << token_id % WORD_BITS
        return row

    def _check_row(self, row: int) -> None:
        if isinstance(row, bool) or not isinstance(row, int):
            raise TypeError(f"a row is an integer, not {type(row).__name__}")
        if not 0 <= row < self.batch_size:
            raise IndexError(f"row {row} is not in 0..{self.batch_size - 1}")

    def _check_matcher(self, matcher: Matcher) -> None:
        if type(matcher) is not Matcher:
            raise TypeError(f"a row is filled from a Matcher, not {type(matcher).__name__}")
        if matcher.tokenizer is not self._tokenizer:
            raise ValueError("the matcher is for another tokenizer than these masks")


def _processors() -> int:
    """Processors that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
