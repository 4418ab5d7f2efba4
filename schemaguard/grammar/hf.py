"""Token masks inside `generate()` of transformers.

::

    from schemaguard.grammar.hf import GuardLogitsProcessor

    guard = GuardLogitsProcessor(compiled)
    model.generate(
        **inputs, logits_processor=[guard], eos_token_id=guard.stop_token_ids, do_sample=True
    )

The processor sees the sequences that `generate` has so far and follows each with a matcher. It
runs before temperature, top-k and top-p, so those choose among the tokens that are allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from schemaguard.errors import MissingExtra
from schemaguard.grammar.compiled import Compiled
from schemaguard.grammar.engine import one_line
from schemaguard.grammar.masks import Masks

try:
    import torch
    from transformers import LogitsProcessor
except ImportError as error:
    raise MissingExtra(
        f"transformers cannot be imported ({one_line(str(error))}): "
        "pip install 'schemaguard-preflight[xgrammar]'"
    ) from error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from schemaguard.grammar.matcher import Matcher

__all__ = ["GuardLogitsProcessor"]


class GuardLogitsProcessor(LogitsProcessor):
    """Lets every sequence of a batch grow only as its schema allows.

    What `generate` has when it calls the processor first is the prompt, padding included; what
    follows is matched. Sequences that `generate` has finished stay in the batch without a
    constraint. One object serves one `generate()`; call `reset` between two.

    Args:
        schemas: one compiled schema (or tag) for all prompts; or one a prompt, None for a prompt
            without a constraint. With `num_return_sequences` or beams a prompt has several
            sequences.
        branching: for beam search and assisted decoding, which take sequences back, swap them, and
            go on with some that have no chance. Otherwise a sequence that is not the last one and
            one allowed token is an error, because something has overridden the masks.

    Raises:
        TypeError: `schemas` is something else.
        ValueError: there is no schema in `schemas`, or they are for different tokenizers.
    """

    def __init__(
        self, schemas: Compiled | Sequence[Compiled | None], *, branching: bool = False
    ) -> None:
        given = [schemas] if isinstance(schemas, Compiled) else list(schemas)
        for schema in given:
            if schema is not None and not isinstance(schema, Compiled):
                raise TypeError(
                    f"a compiled schema is needed for each prompt, not {type(schema).__name__}"
                )
        tokenizers = {id(s.tokenizer): s.tokenizer for s in given if s is not None}
        if not tokenizers:
            raise ValueError("no prompt has a schema: leave the processor out")
        if len(tokenizers) > 1:
            raise ValueError("the schemas are compiled for different tokenizers")
        self._schemas = given
        self._for_all = isinstance(schemas, Compiled)
        self._tokenizer = tokenizers.popitem()[1]
        self._branching = bool(branching)
        self._masks: Masks | None = None
        self.reset()

    @property
    def stop_token_ids(self) -> list[int]:
        """The tokens that end an output: what `generate` needs as its `eos_token_id`."""
        return list(self._tokenizer.stop_token_ids)

    def reset(self) -> None:
        """Forget the sequences: the next call is the first of another `generate()`."""
        self._outputs: list[_Output] = []
        self._prompt_length = 0
        self._seen: torch.Tensor | None = None

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.Tensor:
        """The scores, with minus infinity for tokens that are not allowed, as a new tensor.

        Args:
            input_ids: the sequences so far, of shape (rows, length).
            scores: of the next tokens, of shape (rows, width). Columns beyond the vocabulary, which
                models have as padding, are no tokens and never allowed.

        Raises:
            ValueError: the rows do not go with the schemas, the sequences are not continuations
                (see `branching` and `reset`), or the scores are narrower than the vocabulary.
            DeadEnd: nothing can follow in a row.
        """
        width = self._tokenizer.vocab_size
        if scores.shape[-1] < width:
            raise ValueError(
                f"scores are {scores.shape[-1]} wide and the tokenizer has {width} tokens: "
                "give the tokenizer the model's vocab_size"
            )
        if self._seen is None:
            self._begin(input_ids)
        else:
            self._follow(input_ids, self._seen)
        self._seen = input_ids.clone()  # some strategies write into the tensor that they pass
        matchers = [output.state() for output in self._outputs]
        rows = len(matchers)
        if self._masks is None or self._masks.batch_size < rows:
            self._masks = Masks(self._tokenizer, rows)
        self._masks.fill_batch(matchers)
        masked = scores.clone(memory_format=torch.contiguous_format)
        self._masks.apply_(masked[:, :width])
        if scores.shape[-1] > width:
            bound = [row for row, matcher in enumerate(matchers) if matcher is not None]
            masked[bound, width:] = -torch.inf
        return masked

    # Inside -------------------------------------------------------------------------------------

    def _begin(self, input_ids: torch.Tensor) -> None:
        rows, length = input_ids.shape
        prompts = 1 if self._for_all else len(self._schemas)
        each, rest = divmod(rows, prompts)
        if rest or not each:
            raise ValueError(f"{rows} sequences do not go with the schemas of {prompts} prompts")
        if not self._for_all and each > 1:
            # `generate` repeats each prompt; other prompts would get their neighbour's schema.
            groups = input_ids.reshape(prompts, each, length)
            if not torch.equal(groups, groups[:, :1].expand_as(groups)):
                raise ValueError(
                    f"{rows} sequences of more than {prompts} prompts do not go with the schemas "
                    f"of {prompts}"
                )
        self._prompt_length = length
        schemas = (schema for schema in self._schemas for _ in range(each))
        self._outputs = [_Output(None if s is None else s.matcher()) for s in schemas]

    def _follow(self, input_ids: torch.Tensor, seen: torch.Tensor) -> None:
        rows, length = input_ids.shape
        grown = length - seen.shape[1]
        if rows != len(self._outputs) or length < self._prompt_length or grown > 1:
            raise ValueError(
                f"sequences of shape {(rows, length)} after {tuple(seen.shape)} belong to another "
                "generate(): call reset() in between"
            )
        if grown == 1 and torch.equal(input_ids[:, :-1], seen):
            for output, token in zip(self._outputs, input_ids[:, -1].tolist(), strict=True):
                output.extend(token)
        elif self._branching:
            for output, tokens in zip(
                self._outputs, input_ids[:, self._prompt_length :].tolist(), strict=True
            ):
                output.replace(tokens)
        else:
            raise ValueError(
                "a sequence does not continue the one before: beam search and assisted decoding "
                "need branching=True, another generate() needs reset()"
            )
        if not self._branching:
            for row, output in enumerate(self._outputs):
                self._check(row, output)

    def _check(self, row: int, output: _Output) -> None:
        """That a sequence has only what its masks allowed, or was finished by `generate`."""
        token = output.refused
        if token is None:
            return
        # A sequence that a stopping criterion ended is filled with padding, which has no text.
        if token >= self._tokenizer.vocab_size or not self._tokenizer.token_bytes(token):
            return
        raise ValueError(
            f"row {row}: the mask did not allow the token {token}, which was taken all the same: "
            "by another processor, or as padding that is an ordinary token"
        )


class _Output:
    """One sequence behind its prompt, and how far the grammar has followed it."""

    __slots__ = ("_matcher", "_taken", "_tokens")

    def __init__(self, matcher: Matcher | None) -> None:
        self._matcher = matcher
        self._tokens: list[int] = []
        self._taken = 0  # of the tokens; one that the grammar refuses stops the count

    def extend(self, token: int) -> None:
        """One token more."""
        matcher = self._matcher
        if matcher is not None and self._taken == len(self._tokens):
            self._taken += matcher.accept_token(token)
        self._tokens.append(token)

    def replace(self, tokens: list[int]) -> None:
        """Another sequence: go back to where they part, and on from there."""
        matcher, before = self._matcher, self._tokens
        self._tokens = tokens
        if matcher is None:
            return
        same = 0
        for old, new in zip(before, tokens, strict=False):
            if old != new:
                break
            same += 1
        if self._taken >= same:
            matcher.rollback(self._taken - same)
            self._taken = same + matcher.accept_tokens(tokens[same:])

    @property
    def refused(self) -> int | None:
        """The first token that was not allowed, if there is one and the output had not ended."""
        matcher = self._matcher
        if matcher is None or self._taken == len(self._tokens) or matcher.is_terminated:
            return None
        return self._tokens[self._taken]

    def state(self) -> Matcher | None:
        """What the next token has to obey: None for nothing, as behind a refused token."""
        return None if self.refused is not None else self._matcher
