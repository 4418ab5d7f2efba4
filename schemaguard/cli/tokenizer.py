"""`--tokenizer`: the vocabulary that grammars are compiled for."""

from __future__ import annotations

import argparse
import json
import os

from schemaguard.errors import cut, printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.grammar import Tokenizer

#: A vocabulary of one token for each byte.
BYTES = "bytes"


def add_tokenizer(parser: argparse.ArgumentParser, default: str | None = None) -> None:
    """Declare the options; what is known of a schema is known for exactly one tokenizer.

    Args:
        parser: of the subcommand.
        default: the tokenizer when none is named; None demands one.
    """
    group = parser.add_argument_group(
        "tokenizer", "the same in all of this as in the server, or the verdicts are not for it"
    )
    group.add_argument(
        "--tokenizer",
        required=default is None,
        default=default,
        metavar="PLACE",
        help=f"a tiktoken or tekken file, tokenizer.json or its folder, or {BYTES!r}",
    )
    group.add_argument(
        "--special-tokens",
        metavar="FILE",
        help='tiktoken, which does not have them: JSON, ["<|end|>"] or {"<|end|>": 151643}',
    )
    group.add_argument(
        "--stop-token",
        action="append",
        type=_name_or_id,
        metavar="TOKEN",
        help="name or id of a token that ends the output; may be repeated; with tiktoken it is one "
        "of --special-tokens",
    )
    group.add_argument(
        "--vocab-size", type=_size, metavar="N", help="width of the logits, where they are padded"
    )


def tokenizer(options: argparse.Namespace) -> Tokenizer:
    """The tokenizer that a command line asks for; nothing is downloaded.

    Raises:
        TokenizerError: it cannot be used, or the options do not go together.
        MissingExtra: what reads it is not installed.
        OSError: a file cannot be read.
    """
    from schemaguard.grammar import Tokenizer, TokenizerError  # noqa: PLC0415  (few commands)

    place, stops, size = options.tokenizer, options.stop_token, options.vocab_size
    specials = options.special_tokens
    if place == BYTES:
        _refuse_all(options, place, "special_tokens", "stop_token", "vocab_size")
        return Tokenizer.byte_level()
    if os.path.isdir(place):
        _refuse_all(options, place, "special_tokens")
        return _from_huggingface(place, stops, size)
    with open(place, "rb") as file:
        is_json = file.read(64).lstrip().startswith(b"{")
    if not is_json:
        names = None if specials is None else _json(specials)
        if names is not None and not isinstance(names, (list, dict)):
            raise TokenizerError(f"{specials}: a list of names, or an object of names and ids")
        try:
            return Tokenizer.from_tiktoken(place, names, stops, size)
        except TokenizerError as error:
            raise TokenizerError(_advised(str(error), has_names=specials is not None)) from error
    _refuse_all(options, place, "special_tokens")
    content = _json(place)
    if "model" in content:
        return _from_huggingface(place, stops, size)
    _refuse_all(options, place, "vocab_size")
    return Tokenizer.from_tekken(place, stops)


#: How the messages of the library name what has an option here.
_PARAMETERS = (
    ("vocab_size", "--vocab-size"),
    ("special_tokens must be", "--special-tokens must be"),
    (": pass stop_tokens", ": name one with --stop-token NAME"),
    (": pass its name or id as stop_tokens", ": name one with --stop-token NAME"),
)

#: A tiktoken file has none of the special tokens, and what ends an output is always one.
_NO_SPECIALS = (
    "; a tiktoken file does not have the special tokens: name all of them with --special-tokens "
    'FILE, a JSON file such as {"<|endoftext|>": 151643, "<|im_end|>": 151645}, and the one that '
    "ends an output with --stop-token NAME"
)


def _advised(message: str, *, has_names: bool = True) -> str:
    """A message of the library for who has options in place of parameters."""
    is_about_stops = "stop token" in message or "stop name" in message
    if is_about_stops and not has_names:
        return message.removesuffix(": pass stop_tokens") + _NO_SPECIALS
    for parameter, option in _PARAMETERS:
        message = message.replace(parameter, option)
    return message


def _from_huggingface(place: str, stops: Any, size: int | None) -> Tokenizer:
    from schemaguard.grammar import Tokenizer, TokenizerError  # noqa: PLC0415  (few commands)

    loaded = _huggingface(place)
    try:
        return Tokenizer.from_huggingface(loaded, stops, size)
    except TokenizerError as error:
        raise TokenizerError(_advised(str(error))) from error


def _refuse_all(options: argparse.Namespace, place: str, *names: str) -> None:
    """Refuse options that this kind of tokenizer has no use for, rather than pass over them."""
    from schemaguard.grammar import TokenizerError  # noqa: PLC0415  (few commands)

    for name in names:
        if getattr(options, name) is not None:
            option = f"--{name.replace('_', '-')}"
            raise TokenizerError(f"{option} has no meaning for the tokenizer {place}")


def _json(path: str) -> Any:
    from schemaguard.grammar import TokenizerError  # noqa: PLC0415  (few commands)

    try:
        with open(path, "rb") as file:
            return json.load(file)
    except (ValueError, RecursionError) as error:
        why = printable(cut(str(error) or type(error).__name__, 200))
        raise TokenizerError(f"{path} is no JSON: {why}") from error


def _huggingface(place: str) -> Any:
    """A tokenizer of transformers from a folder or a `tokenizer.json`, on this machine alone."""
    from schemaguard.errors import MissingExtra  # noqa: PLC0415  (few commands)
    from schemaguard.grammar import TokenizerError  # noqa: PLC0415  (few commands)

    try:
        import transformers  # noqa: PLC0415  (takes seconds)
    except ImportError as error:
        raise MissingExtra(
            "this tokenizer needs transformers: pip install 'schemaguard-preflight[xgrammar]'"
        ) from error
    made: Any = transformers
    try:
        if os.path.isdir(place):
            return made.AutoTokenizer.from_pretrained(
                place, local_files_only=True, trust_remote_code=False
            )
        return made.PreTrainedTokenizerFast(tokenizer_file=place)
    except Exception as error:  # whatever its parsers raise, among it bare exceptions of Rust
        why = printable(cut(" ".join(str(error).split()), 200))
        raise TokenizerError(f"{place} holds no tokenizer: {why}") from error


def _name_or_id(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else text


def _size(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) < 10_000_000):
        raise argparse.ArgumentTypeError("a number of tokens")
    return int(text)
