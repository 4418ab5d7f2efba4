"""Tokenizers for token masks: raw bytes, tiktoken and tekken files, Hugging Face objects.

A `Tokenizer` knows which bytes each token id stands for. xgrammar has three traps there, closed
here once for every source:

* Control tokens (`<|im_start|>`) that are in the vocabulary as text may be produced *inside* JSON
  strings. Here a special token has no bytes, so that no mask allows it, unless it is asked for.
* Stop ids out of range are dropped without a word, and the masks then run into a dead end.
  Here they are an error, and so is a tokenizer without any stop token.
* A mask for a vocabulary smaller than the logits leaves the tail unmasked: give `vocab_size`.
"""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemaguard.grammar import engine, vocabulary
from schemaguard.grammar.vocabulary import TokenizerError

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Iterable, Mapping, Sequence

__all__ = ["Tokenizer", "TokenizerError"]


class Tokenizer:
    """The bytes of every token id. Immutable; make one with a constructor below.

    Attributes:
        kind: where the vocabulary came from: `byte-level`, `tiktoken`, `tekken`, `huggingface`.
        vocab_size: number of token ids, and so the width of the logits that masks fit.
        stop_token_ids: ids that end the output, ascending; never empty.
        special_token_ids: ids without bytes (control tokens, stop tokens, padding), ascending.
            Of these a mask allows only the stop tokens, and only at the end.
    """

    __slots__ = (
        "_add_prefix_space",
        "_fingerprint",
        "_info",
        "_tokens",
        "kind",
        "special_token_ids",
        "stop_token_ids",
        "vocab_size",
    )

    def __init__(
        self,
        tokens: Sequence[bytes],
        *,
        kind: str,
        stop_token_ids: Iterable[int],
        vocab_size: int | None = None,
        add_prefix_space: bool = False,
    ) -> None:
        size = vocabulary.check_size(vocab_size, least=len(tokens))
        stops = vocabulary.check_stop_ids(stop_token_ids, size)
        table = [*tokens, *[b""] * (size - len(tokens))]
        for stop in stops:
            table[stop] = b""  # it ends the output and is never part of it
        self.kind = kind
        self.vocab_size = size
        self.stop_token_ids = stops
        self.special_token_ids = tuple(i for i, token in enumerate(table) if not token)
        self._tokens = table
        self._add_prefix_space = add_prefix_space
        self._fingerprint: str | None = None
        self._info: Any = None

    # Constructors -------------------------------------------------------------------------------

    @classmethod
    def byte_level(cls) -> Tokenizer:
        """One token a byte, and 256 as the stop token: exact, and quick to compile for."""
        tokens = [bytes((value,)) for value in range(256)]
        return cls(tokens, kind="byte-level", stop_token_ids=[256], vocab_size=257)

    @classmethod
    def from_tiktoken(
        cls,
        path: str | os.PathLike[str],
        special_tokens: Mapping[str, int] | Sequence[str] | None = None,
        stop_tokens: int | str | Iterable[int | str] | None = None,
        vocab_size: int | None = None,
        *,
        allow_special: Collection[str] = (),
    ) -> Tokenizer:
        """Read a rank file as tiktoken publishes them: `base64-of-the-bytes rank` a line.

        Args:
            path: the file.
            special_tokens: name → id; or names alone, which get the ids after the last rank.
            stop_tokens: names of special tokens, or ids. By default the special tokens named in
                `schemaguard.grammar.vocabulary.STOP_TOKEN_NAMES`.
            vocab_size: width of the model's logits, when it is padded beyond the last id.
            allow_special: names of special tokens that may stand in the output as the text of
                their name, such as `<tool_call>`.

        Raises:
            OSError: the file cannot be read.
            TokenizerError: the file or an argument is wrong; the message names the line.
        """
        file = Path(path)
        tokens = vocabulary.read_ranks(file.read_bytes(), file.name)
        specials = vocabulary.special_ids(special_tokens, first=len(tokens))
        for name, token_id in specials.items():
            if token_id < len(tokens) and tokens[token_id]:
                raise TokenizerError(
                    f"the special token {vocabulary.quoted(name)} has the id {token_id}, "
                    "which is an ordinary token"
                )
        return cls(
            _with_specials(tokens, specials, allow_special),
            kind="tiktoken",
            stop_token_ids=vocabulary.stop_ids(stop_tokens, specials, specials),
            vocab_size=vocab_size,
        )

    @classmethod
    def from_tekken(
        cls,
        path: str | os.PathLike[str],
        stop_tokens: int | str | Iterable[int | str] | None = None,
        *,
        allow_special: Collection[str] = (),
    ) -> Tokenizer:
        """Read a Mistral `tekken.json`, whose special tokens come first in the id space.

        Older files do not list their special tokens; there the first three are `<unk>`, `<s>` and
        `</s>`.

        Args:
            path: the file.
            stop_tokens: names of special tokens, or ids; by default `</s>`.
            allow_special: names of special tokens that may stand in the output as text.

        Raises:
            OSError: the file cannot be read.
            TokenizerError: the file or an argument is wrong; the message names the entry.
        """
        file = Path(path)
        tokens, specials = vocabulary.read_tekken(file.read_bytes(), file.name)
        return cls(
            _with_specials(tokens, specials, allow_special),
            kind="tekken",
            stop_token_ids=vocabulary.stop_ids(stop_tokens, specials, specials),
        )

    @classmethod
    def from_huggingface(
        cls,
        tokenizer: Any,
        stop_tokens: int | str | Iterable[int | str] | None = None,
        vocab_size: int | None = None,
        *,
        allow_special: Collection[str] = (),
    ) -> Tokenizer:
        """Take over a `transformers` tokenizer; nothing is downloaded.

        xgrammar works out how the vocabulary spells bytes. What the tokenizer declares as special
        loses its bytes here; other added tokens stay text.

        Args:
            tokenizer: a `PreTrainedTokenizerFast`, or any tokenizer that xgrammar knows.
            stop_tokens: names of tokens, or ids; by default the tokenizer's `eos_token_id`.
            vocab_size: width of the model's logits, when it differs from the number of tokens.
                When it is smaller, the ids beyond it are left out.
            allow_special: names of special tokens that may stand in the output as text.

        Raises:
            MissingExtra: xgrammar is not installed.
            TokenizerError: the tokenizer is of an unknown kind, or an argument is wrong.
        """
        xgrammar = engine.xgrammar()
        try:
            named = dict(tokenizer.get_vocab())
            size = vocabulary.check_size(
                max(named.values(), default=-1) + 1 if vocab_size is None else vocab_size, least=1
            )
            # A placeholder for the stop token keeps xgrammar from guessing one.
            info = xgrammar.TokenizerInfo.from_huggingface(
                tokenizer, vocab_size=size, stop_token_ids=[0]
            )
            specials = _huggingface_specials(tokenizer)
            eos = getattr(tokenizer, "eos_token_id", None)
        except TokenizerError:
            raise
        except (AttributeError, TypeError, ValueError, RuntimeError) as error:
            raise TokenizerError(
                f"a {type(tokenizer).__name__} cannot be used as a tokenizer: "
                f"{engine.explain(error)[0]}"
            ) from error
        tokens = [bytes(token) for token in info.decoded_vocab]
        wanted = eos if stop_tokens is None else stop_tokens
        stops = vocabulary.stop_ids(wanted, {**named, **specials}, specials)
        return cls(
            _with_specials(tokens, specials, allow_special)[:size],
            kind="huggingface",
            stop_token_ids=stops,
            vocab_size=size,
            add_prefix_space=bool(info.add_prefix_space),
        )

    # What it knows ------------------------------------------------------------------------------

    def token_bytes(self, token_id: int) -> bytes:
        """The bytes of a token; none for a special one.

        Raises:
            IndexError: no such id.
        """
        if not 0 <= token_id < self.vocab_size:
            raise IndexError(f"token id {token_id} is not in 0..{self.vocab_size - 1}")
        return self._tokens[token_id]

    def decode(self, token_ids: Iterable[int]) -> bytes:
        """The bytes of the tokens in a row; special tokens add none.

        Raises:
            IndexError: no such id.
        """
        return b"".join(map(self.token_bytes, token_ids))

    @property
    def add_prefix_space(self) -> bool:
        """Whether the tokenizer puts a space before its input, as xgrammar asks to know."""
        return self._add_prefix_space

    def packed(self) -> tuple[list[int], bytes]:
        """The lengths of all tokens by id, and their bytes in one piece."""
        return [len(token) for token in self._tokens], b"".join(self._tokens)

    @property
    def fingerprint(self) -> str:
        """SHA-256 (hex) of all that decides a mask: the bytes, the stop and special ids, the kind.

        xgrammar compares only sizes and stop ids of vocabularies, never their content, so whatever
        is kept for a tokenizer has to be kept under this.
        """
        if self._fingerprint is None:
            head = (self.kind, self._add_prefix_space, self.stop_token_ids, self.special_token_ids)
            lengths, tokens = self.packed()
            digest = hashlib.sha256(json.dumps(head).encode())
            digest.update(struct.pack(f"<{len(lengths)}I", *lengths))
            digest.update(tokens)
            self._fingerprint = digest.hexdigest()
        return self._fingerprint

    @property
    def info(self) -> Any:
        """The `xgrammar.TokenizerInfo`, built on first use (0.15 s for 152,064 tokens).

        Raises:
            MissingExtra: xgrammar is not installed.
            TokenizerError: xgrammar does not take the vocabulary.
        """
        if self._info is None:
            xgrammar = engine.xgrammar()
            try:
                info = xgrammar.TokenizerInfo(
                    self._tokens,
                    xgrammar.VocabType.RAW,
                    vocab_size=self.vocab_size,
                    stop_token_ids=list(self.stop_token_ids),
                    add_prefix_space=self._add_prefix_space,
                )
            except (RuntimeError, TypeError, ValueError) as error:
                raise TokenizerError(engine.explain(error)[0]) from error
            kept = tuple(sorted(info.stop_token_ids))
            if kept != self.stop_token_ids:
                raise TokenizerError(f"xgrammar kept stop tokens {kept} of {self.stop_token_ids}")
            self._info = info
        return self._info

    def __repr__(self) -> str:
        stops = ", ".join(map(str, self.stop_token_ids))
        return f"<Tokenizer {self.kind}, {self.vocab_size} tokens, stop {stops}>"


def _with_specials(
    tokens: list[bytes], specials: Mapping[str, int], allow_special: Collection[str]
) -> list[bytes]:
    """The tokens, with the special ones blanked, or spelt by their names where allowed."""
    allowed = vocabulary.check_allowed(allow_special, specials)
    tokens = [*tokens, *[b""] * (max(specials.values(), default=-1) + 1 - len(tokens))]
    for name, token_id in specials.items():
        tokens[token_id] = name.encode() if name in allowed else b""
    return tokens


def _huggingface_specials(tokenizer: Any) -> dict[str, int]:
    """Name → id of what a Hugging Face tokenizer declares as special."""
    specials = dict(zip(tokenizer.all_special_tokens, tokenizer.all_special_ids, strict=True))
    for token_id, token in getattr(tokenizer, "added_tokens_decoder", {}).items():
        if token.special:
            specials[str(token.content)] = token_id
    return {name: token_id for name, token_id in specials.items() if token_id is not None}
