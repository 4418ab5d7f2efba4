"""Vocabulary files and arguments → bytes by token id; no xgrammar here.

Files are read whole and strictly: what is wrong is named with its line or entry, and no number in
a file decides how much memory is taken beyond `MAX_VOCAB_SIZE` ids.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any

from schemaguard.errors import SchemaguardError
from schemaguard.grammar.engine import one_line
from schemaguard.keywords import is_encodable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

#: Most token ids of a vocabulary; the largest published ones have about 262,000.
MAX_VOCAB_SIZE = 1 << 22

#: Names under which models end a turn, looked for when nobody says which tokens stop.
STOP_TOKEN_NAMES = (
    "<|endoftext|>",
    "<|im_end|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|eot|>",
    "<|eom|>",
    "<|return|>",
    "<|call|>",
    "<|end|>",
    "<|EOT|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",  # noqa: RUF001 - DeepSeek spells it with these characters
    "[EOS]",
    "<eos>",
    "</s>",
)

# Special tokens of tekken files that do not list theirs; the other ids are unnamed.
_OLD_TEKKEN_SPECIALS = {"<unk>": 0, "<s>": 1, "</s>": 2}


class TokenizerError(SchemaguardError, ValueError):
    """A vocabulary that cannot be used: the message says what is wrong and, for a file, where."""


# ------------------------------------------------------------------------------------------------
# Files
# ------------------------------------------------------------------------------------------------


def read_ranks(data: bytes, name: str) -> list[bytes]:
    """Tokens by rank from a tiktoken file; ranks that the file leaves out get no bytes.

    Args:
        data: the content of the file, `base64 rank` a line.
        name: how messages call the file.

    Raises:
        TokenizerError: with the number of the line.
    """
    by_rank: dict[int, bytes] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        fields = line.split()
        if not fields:
            continue
        where = f"{name}, line {number}"
        if len(fields) != 2:
            raise TokenizerError(f"{where}: expected a base64 token and a rank")
        token, digits = fields
        # A rank that fits has seven digits; int() of a million of them would take its time.
        if not (digits.isdigit() and len(digits) < 10 and int(digits) < MAX_VOCAB_SIZE):
            raise TokenizerError(
                f"{where}: the rank {quoted(digits.decode('latin-1'))} "
                f"is no integer in 0..{MAX_VOCAB_SIZE - 1}"
            )
        rank = int(digits)
        if rank in by_rank:
            raise TokenizerError(f"{where}: the rank {rank} was already given")
        by_rank[rank] = _unbase64(token, where)
    if not by_rank:
        raise TokenizerError(f"{name} has no tokens")
    return _by_id(by_rank)


def read_tekken(data: bytes, name: str) -> tuple[list[bytes], dict[str, int]]:
    """Tokens by id and the named special tokens from a tekken file.

    Special tokens take the first ids; the vocabulary follows, cut to the size that `config` gives.

    Args:
        data: the content of the file.
        name: how messages call the file.

    Raises:
        TokenizerError: with the entry that is wrong.
    """
    try:
        content = json.loads(data)
        config = content["config"]
        size, first = config["default_vocab_size"], config["default_num_special_tokens"]
        vocabulary = content["vocab"]
        listed = content.get("special_tokens")
    except RecursionError as error:
        raise TokenizerError(f"{name} is nested too deeply") from error
    except ValueError as error:
        raise TokenizerError(f"{name} is no JSON: {one_line(str(error))}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise TokenizerError(f"{name} is no tekken file: `config` or `vocab` is missing") from error
    if not (_is_count(size) and _is_count(first) and first < size <= MAX_VOCAB_SIZE):
        raise TokenizerError(
            f"{name}: config gives {quoted(first)} special tokens of {quoted(size)} tokens"
        )
    if not isinstance(vocabulary, list):
        raise TokenizerError(f"{name}: `vocab` is no list")
    by_id: dict[int, bytes] = {}
    for index, entry in enumerate(vocabulary):
        where = f"{name}, vocab[{index}]"
        try:
            rank, token = entry["rank"], entry["token_bytes"]
        except (KeyError, TypeError, IndexError) as error:
            raise TokenizerError(f"{where}: `rank` or `token_bytes` is missing") from error
        if not _is_count(rank) or not isinstance(token, str):
            raise TokenizerError(f"{where}: expected a rank and base64 text")
        if rank < size - first:
            if first + rank in by_id:
                raise TokenizerError(f"{where}: the rank {rank} was already given")
            by_id[first + rank] = _unbase64(token.encode("utf-8", "replace"), where)
    if len(by_id) != size - first:
        raise TokenizerError(
            f"{name}: {len(by_id)} of the {size - first} tokens that `config` promises"
        )
    return _by_id(by_id), _tekken_specials(listed, first, name)


def _tekken_specials(listed: Any, count: int, name: str) -> dict[str, int]:
    if listed is None:
        return {token: rank for token, rank in _OLD_TEKKEN_SPECIALS.items() if rank < count}
    if not isinstance(listed, list):
        raise TokenizerError(f"{name}: `special_tokens` is no list")
    specials: dict[str, int] = {}
    for index, entry in enumerate(listed):
        where = f"{name}, special_tokens[{index}]"
        try:
            rank, token = entry["rank"], entry["token_str"]
        except (KeyError, TypeError, IndexError) as error:
            raise TokenizerError(f"{where}: `rank` or `token_str` is missing") from error
        if not _is_count(rank) or rank >= count or not isinstance(token, str) or token in specials:
            raise TokenizerError(f"{where}: expected a new name and a rank in 0..{count - 1}")
        specials[token] = rank
    return specials


def _unbase64(token: bytes, where: str) -> bytes:
    try:
        decoded = base64.b64decode(token, validate=True)
    except (binascii.Error, ValueError) as error:
        raise TokenizerError(f"{where}: the token is no base64") from error
    if not decoded:
        raise TokenizerError(f"{where}: the token is empty")
    return decoded


def _by_id(by_id: Mapping[int, bytes]) -> list[bytes]:
    tokens = [b""] * (max(by_id) + 1)
    for token_id, token in by_id.items():
        tokens[token_id] = token
    return tokens


# ------------------------------------------------------------------------------------------------
# Arguments
# ------------------------------------------------------------------------------------------------


def quoted(value: object) -> str:
    """A value for a message: one short printable line between quotes."""
    return f"'{one_line(str(value), 60)}'"


def is_id(value: object) -> bool:
    """Whether a value is an integer and no bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return is_id(value) and value >= 0


def check_size(size: int | None, *, least: int) -> int:
    """The size of a vocabulary: as given, or the least possible.

    Raises:
        TokenizerError: less than `least`, more than `MAX_VOCAB_SIZE`, or no integer.
    """
    if size is None:
        size = least
    if not is_id(size):
        raise TokenizerError(f"vocab_size must be an integer, not {quoted(size)}")
    if size < least:
        raise TokenizerError(f"vocab_size {size} is less than the {least} tokens of the vocabulary")
    if not 1 <= size <= MAX_VOCAB_SIZE:
        raise TokenizerError(f"vocab_size {size} is not in 1..{MAX_VOCAB_SIZE}")
    return size


def special_ids(
    special_tokens: Mapping[str, int] | Sequence[str] | None, *, first: int
) -> dict[str, int]:
    """Name → id of special tokens; names alone are numbered from `first`.

    Raises:
        TokenizerError: a name or an id is used twice, or is none.
    """
    if special_tokens is None:
        return {}
    if isinstance(special_tokens, (str, bytes)):
        raise TokenizerError("special_tokens must be a list of names, or a map of name to id")
    if isinstance(special_tokens, dict):
        pairs = list(special_tokens.items())
    else:
        pairs = [(name, first + offset) for offset, name in enumerate(special_tokens)]
    owners: dict[int, str] = {}
    for name, token_id in pairs:
        if not isinstance(name, str) or not name or not is_encodable(name):
            raise TokenizerError(f"the special token {quoted(name)} is no name")
        if not _is_count(token_id) or token_id >= MAX_VOCAB_SIZE:
            raise TokenizerError(f"the special token {quoted(name)} has the id {quoted(token_id)}")
        if token_id in owners:
            raise TokenizerError(
                f"the special tokens {quoted(owners[token_id])} and {quoted(name)} "
                f"share the id {token_id}"
            )
        owners[token_id] = name
    if len({name for name, _ in pairs}) != len(pairs):
        raise TokenizerError("a special token is named twice")
    return dict(pairs)


def stop_ids(
    stop_tokens: int | str | Iterable[int | str] | None,
    named: Mapping[str, int],
    specials: Mapping[str, int],
) -> list[int]:
    """Ids of stop tokens given as names or ids; by default the specials with a known name.

    Raises:
        TokenizerError: a name that the vocabulary does not have, or nothing found.
    """
    if stop_tokens is None:
        found = [specials[name] for name in STOP_TOKEN_NAMES if name in specials]
        if not found:
            raise TokenizerError("no special token has a known stop name: pass stop_tokens")
        return found
    wanted = [stop_tokens] if isinstance(stop_tokens, (int, str)) else list(stop_tokens)
    ids = []
    for token in wanted:
        if isinstance(token, str):
            if token not in named:
                raise TokenizerError(f"the stop token {quoted(token)} is not in the vocabulary")
            ids.append(named[token])
        else:
            ids.append(token)
    return ids


def check_stop_ids(ids: Iterable[int], size: int) -> tuple[int, ...]:
    """The stop ids, ascending, each once.

    Raises:
        TokenizerError: none, or one that is no id of the vocabulary.
    """
    seen = set()
    for token_id in ids:
        if not is_id(token_id):
            raise TokenizerError(f"the stop token {quoted(token_id)} is no token id")
        if not 0 <= token_id < size:
            raise TokenizerError(f"the stop token {token_id} is not in 0..{size - 1}")
        seen.add(token_id)
    if not seen:
        raise TokenizerError("a tokenizer needs a stop token: pass its name or id as stop_tokens")
    return tuple(sorted(seen))


def check_allowed(allow_special: Collection[str], specials: Mapping[str, int]) -> frozenset[str]:
    """The names of special tokens that stay text.

    Raises:
        TokenizerError: one that is no special token.
    """
    if isinstance(allow_special, (str, bytes)):
        raise TokenizerError("allow_special must be a list of names")
    for name in allow_special:
        if name not in specials:
            raise TokenizerError(f"allow_special names {quoted(name)}, which is no special token")
    return frozenset(allow_special)
