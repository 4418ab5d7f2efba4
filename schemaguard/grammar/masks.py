"""Token masks for a batch: filled on the CPU, applied to logits on the CPU or a CUDA device.

A step of decoding is one `fill` a row, one `apply_`, one sample a row, one `accept_token` a row.
No step allocates a tensor: the masks (one bit a token) live as long as the `Masks`, on a CUDA
machine in pinned memory, with one copy a device made on its first use. Copy and kernel run on the
current stream of the device; steps of one `Masks` belong on one stream.

xgrammar's kernels write through raw pointers and believe the strides of rows only, so what they
would get wrong without a word is refused here: logits whose columns are not adjacent, whose rows
overlap, or whose width is not that of the vocabulary (the tail would stay unmasked).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from schemaguard.errors import SchemaguardError
from schemaguard.grammar import engine
from schemaguard.grammar.matcher import Matcher

if TYPE_CHECKING:
    from schemaguard.grammar.tokenizers import Tokenizer

#: Bits of one word of a mask.
WORD_BITS = 32


class DeadEnd(SchemaguardError):  # noqa: N818 - it names a state, not a mistake of the caller
    """No token can follow: neither part of an instance nor a stop token.

    A mask without any bit would turn a row of logits into minus infinity and the sample into NaN.

    Attributes:
        row: the row of the batch; it now allows the stop tokens alone.
    """

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row}: no token can follow, the grammar is at a dead end")
        self.row = row


class Masks:
    """The token masks of a batch. Made by `Compiler.masks`; not thread-safe.

    Every row starts without a constraint.

    Attributes:
        batch_size: number of rows.
        bitmask: the `int32` CPU tensor of shape (rows, ceil(vocabulary / 32)); bit `t % 32` of
            word `t // 32` says whether token `t` is allowed. Bits beyond the vocabulary mean
            nothing.
    """

    __slots__ = (
        "_constrained",
        "_copies",
        "_count_nonzero",
        "_dtypes",
        "_last_word",
        "_stop_row",
        "_tokenizer",
        "_torch",
        "_words",
        "_xgrammar",
        "batch_size",
        "bitmask",
    )

    def __init__(self, tokenizer: Tokenizer, batch_size: int) -> None:
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise ValueError(f"batch_size must be a positive integer, not {batch_size!r}")
        torch = engine.torch()
        import numpy as np  # noqa: PLC0415 - comes with torch

        words = -(-tokenizer.vocab_size // WORD_BITS)
        self._xgrammar = engine.xgrammar()
        self._torch = torch
        self._count_nonzero = np.count_nonzero
        self._dtypes = frozenset((torch.float32, torch.float16, torch.bfloat16))
        self._tokenizer = tokenizer
        self.batch_size = batch_size
        self.bitmask = torch.full(
            (batch_size, words), -1, dtype=torch.int32, pin_memory=torch.cuda.is_available()
        )
        # The same memory as an array: counting and copying rows there makes no tensors.
        self._words = self.bitmask.numpy()
        self._last_word = (1 << (tokenizer.vocab_size - 1) % WORD_BITS + 1) - 1
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
        if type(matcher) is not Matcher:
            raise TypeError(f"a row is filled from a Matcher, not {type(matcher).__name__}")
        if matcher.tokenizer is not self._tokenizer:
            raise ValueError("the matcher is for another tokenizer than these masks")
        self._wait_for_copies()
        self._constrained.add(row)
        try:
            matcher.engine.fill_next_token_bitmask(self.bitmask, row)
        except RuntimeError:
            if not matcher.engine.is_terminated():
                raise
            self._words[row] = self._stop_row
            return
        if not self._allows_something(row):
            self._words[row] = self._stop_row
            raise DeadEnd(row)

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
        words = self._words[row]
        count = int(self._count_nonzero(words))
        if count != 1:
            return count > 0
        # The only word with bits may be the last one, whose high bits stand for no token.
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
