from __future__ import annotations

import base64
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from vocabulary import QWEN, QWEN_SPECIALS, QWEN_WIDTH, TEKKEN, qwen

import schemaguard
from schemaguard.errors import MissingExtra, SchemaguardError
from schemaguard.grammar import Compiler, Tokenizer, TokenizerError, engine
from schemaguard.grammar.vocabulary import read_ranks

if TYPE_CHECKING:
    from pathlib import Path

xgrammar = pytest.importorskip("xgrammar")

WORDS = [b"a", b"b", b'"', b"ab", b"\xc3\xa9"]


def ranks(tokens: list[bytes]) -> bytes:
    return b"".join(base64.b64encode(t) + b" %d\n" % i for i, t in enumerate(tokens))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "small.tiktoken"
    path.write_bytes(ranks(WORDS))
    return path


def tekken_file(path: Path, **changes: object) -> Path:
    content = {
        "config": {"default_vocab_size": 9, "default_num_special_tokens": 4, "version": "v3"},
        "vocab": [
            {"rank": i, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
            for i, t in enumerate([*WORDS, b"beyond"])
        ],
        "special_tokens": [
            {"rank": 0, "token_str": "<unk>", "is_control": True},
            {"rank": 1, "token_str": "[CALL]", "is_control": True},
            {"rank": 3, "token_str": "</s>", "is_control": True},
        ],
    }
    content.update(changes)
    path.write_text(json.dumps({k: v for k, v in content.items() if v != "leave out"}))
    return path


def string_starts(tokenizer: Tokenizer) -> list[int]:
    """Token ids that may follow the opening quote of a JSON string."""
    compiler = Compiler(tokenizer)
    report = schemaguard.check({"type": "string"}, profile="xgrammar")
    matcher = compiler.compile(report.accepted).matcher()  # type: ignore[arg-type]
    assert matcher.accept_string('"')
    masks = compiler.masks(1)
    masks.fill(0, matcher)
    return masks.allowed(0)


# Byte level ------------------------------------------------------------------------------------


def test_byte_level_has_one_token_a_byte_and_one_stop_token() -> None:
    tokenizer = Tokenizer.byte_level()

    assert tokenizer.vocab_size == 257
    assert tokenizer.stop_token_ids == (256,)
    assert tokenizer.special_token_ids == (256,)
    assert tokenizer.decode(range(257)) == bytes(range(256))
    assert tokenizer.token_bytes(0xC3) == b"\xc3"


@pytest.mark.parametrize("token_id", [-1, 257, 10**30])
def test_an_id_outside_the_vocabulary_is_an_index_error(token_id: int) -> None:
    tokenizer = Tokenizer.byte_level()

    with pytest.raises(IndexError, match=r"0\.\.256"):
        tokenizer.token_bytes(token_id)
    with pytest.raises(IndexError):
        tokenizer.decode([65, token_id])


# tiktoken --------------------------------------------------------------------------------------


def test_a_rank_file_gives_tokens_by_rank_and_specials_after_them(file: Path) -> None:
    tokenizer = Tokenizer.from_tiktoken(file, ["<|im_start|>", "<|im_end|>"])

    assert tokenizer.vocab_size == 7
    assert [tokenizer.token_bytes(i) for i in range(7)] == [*WORDS, b"", b""]
    assert tokenizer.stop_token_ids == (6,)
    assert tokenizer.special_token_ids == (5, 6)


def test_lines_may_come_in_any_order_with_blank_lines_and_carriage_returns(tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.write_bytes(b"Yg== 1\r\n\r\nYQ== 0\r\nYWI= 3")

    tokenizer = Tokenizer.from_tiktoken(path, {"</s>": 4})

    assert tokenizer.decode([0, 1, 3]) == b"abab"
    assert tokenizer.special_token_ids == (2, 4)  # a rank left out is no text


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"YQ== 0\nYg==\n", 2),
        (b"YQ== 0\nYg== 1 2\n", 2),
        (b"YQ== 0\n\nY!== 1\n", 3),
        (b"YQ= 0\n", 1),
        (b"YQ== x\n", 1),
        (b"YQ== -1\n", 1),
        (b"YQ== 1.0\n", 1),
        (b"YQ== 0\nYg== 0\n", 2),
        (b"YQ== 99999999999999999999\n", 1),
        (b"YQ== 4194304\n", 1),
        (b"YQ== " + b"9" * 100_000 + b"\n", 1),
        (b"YQ== \xb2\n", 1),
        (b"\x00\xff 1\n", 1),
        (b"YQ== 0\n==== 1\n", 2),
    ],
)
def test_a_broken_rank_file_is_an_error_that_names_the_line(
    tmp_path: Path, content: bytes, line: int
) -> None:
    path = tmp_path / "broken.tiktoken"
    path.write_bytes(content)

    with pytest.raises(TokenizerError, match=rf"^broken\.tiktoken, line {line}: ") as caught:
        Tokenizer.from_tiktoken(path, ["</s>"])

    assert isinstance(caught.value, SchemaguardError)
    assert isinstance(caught.value, ValueError)
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


@given(st.lists(st.sampled_from([b"YQ==", b"Yg==", b" ", b"\n", b"0", b"1", b"=", b"\xff", b"\0"])))
def test_any_bytes_are_a_vocabulary_or_an_error_that_says_why(parts: list[bytes]) -> None:
    content = b"".join(parts)
    try:
        tokens = read_ranks(content, "any")
    except TokenizerError:
        with pytest.raises(TokenizerError, match=r"^any(, line \d+: .| has no tokens)"):
            read_ranks(content, "any")
    else:
        assert any(tokens)


def test_an_empty_rank_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"\n \n")

    with pytest.raises(TokenizerError, match="no tokens"):
        Tokenizer.from_tiktoken(path, ["</s>"])


def test_a_file_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Tokenizer.from_tiktoken(tmp_path / "none")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no special token has a known stop name"),
        ({"special_tokens": ["<|im_start|>"]}, "no special token has a known stop name"),
        ({"special_tokens": ["</s>"], "stop_tokens": []}, "needs a stop token"),
        ({"special_tokens": ["</s>"], "stop_tokens": [6]}, r"not in 0\.\.5"),
        ({"special_tokens": ["</s>"], "stop_tokens": [-1]}, r"not in 0\.\.5"),
        ({"special_tokens": ["</s>"], "stop_tokens": [2**70]}, r"not in 0\.\.5"),
        ({"special_tokens": ["</s>"], "stop_tokens": [True]}, "no token id"),
        ({"special_tokens": ["</s>"], "stop_tokens": [1.0]}, "no token id"),
        ({"special_tokens": ["</s>"], "stop_tokens": ["<eos>"]}, "not in the vocabulary"),
        ({"special_tokens": ["</s>", "</s>"]}, "named twice"),
        ({"special_tokens": "</s>"}, "list of names"),
        ({"special_tokens": {"</s>": 2}}, "an ordinary token"),
        ({"special_tokens": {"</s>": 5, "<s>": 5}}, "share the id 5"),
        ({"special_tokens": {"</s>": -1}}, "has the id '-1'"),
        ({"special_tokens": {"</s>": 10**9}}, "has the id"),
        ({"special_tokens": {"</s>": True}}, "has the id 'True'"),
        ({"special_tokens": [""]}, "no name"),
        ({"special_tokens": ["\ud800"]}, "no name"),
        ({"special_tokens": [b"</s>"]}, "no name"),
        ({"special_tokens": ["</s>"], "vocab_size": 5}, "less than the 6 tokens"),
        ({"special_tokens": ["</s>"], "vocab_size": 10**9}, r"not in 1\.\."),
        ({"special_tokens": ["</s>"], "vocab_size": "6"}, "must be an integer"),
        ({"special_tokens": ["</s>"], "allow_special": ["<s>"]}, "no special token"),
        ({"special_tokens": ["</s>"], "allow_special": "</s>"}, "list of names"),
    ],
)
def test_arguments_that_xgrammar_would_swallow_are_errors(
    file: Path, arguments: dict[str, object], message: str
) -> None:
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.from_tiktoken(file, **arguments)  # type: ignore[arg-type]


def test_stop_tokens_may_be_one_name_one_id_or_several(file: Path) -> None:
    specials = ["<a>", "<b>", "<c>"]

    def stops(wanted: object) -> tuple[int, ...]:
        return Tokenizer.from_tiktoken(file, specials, wanted).stop_token_ids  # type: ignore[arg-type]

    assert stops("<b>") == (6,)
    assert stops(7) == (7,)
    assert stops(["<c>", 5, "<c>"]) == (5, 7)


def test_padding_up_to_the_width_of_the_logits_is_never_text(file: Path) -> None:
    tokenizer = Tokenizer.from_tiktoken(file, ["</s>"], vocab_size=64)

    assert tokenizer.vocab_size == tokenizer.info.vocab_size == 64
    assert tokenizer.special_token_ids == tuple(range(5, 64))


def test_a_control_token_is_never_allowed_inside_a_string_unless_asked_for(file: Path) -> None:
    specials = ["<|im_start|>", "<|im_end|>"]

    banned = Tokenizer.from_tiktoken(file, specials)
    allowed = Tokenizer.from_tiktoken(file, specials, allow_special=["<|im_start|>"])

    assert string_starts(banned) == [0, 1, 2, 3, 4]
    assert string_starts(allowed) == [0, 1, 2, 3, 4, 5]
    assert allowed.token_bytes(5) == b"<|im_start|>"


def test_a_stop_token_is_never_part_of_the_output_even_when_it_was_text(file: Path) -> None:
    tokenizer = Tokenizer.from_tiktoken(file, ["</s>"], stop_tokens=["</s>", 3])

    assert tokenizer.token_bytes(3) == b""
    assert string_starts(tokenizer) == [0, 1, 2, 4]


def test_xgrammar_sees_the_same_bytes_and_the_same_stop_tokens(file: Path) -> None:
    tokenizer = Tokenizer.from_tiktoken(file, ["</s>"])

    assert list(tokenizer.info.decoded_vocab) == [*WORDS, b""]
    assert list(tokenizer.info.stop_token_ids) == [5]


# Fingerprint -----------------------------------------------------------------------------------


def test_the_fingerprint_is_of_the_content_and_not_of_the_file(tmp_path: Path, file: Path) -> None:
    other = tmp_path / "other name"
    other.write_bytes(b"\n".join(reversed(file.read_bytes().splitlines())))

    first = Tokenizer.from_tiktoken(file, ["</s>"]).fingerprint

    assert Tokenizer.from_tiktoken(other, ["</s>"]).fingerprint == first
    assert len(bytes.fromhex(first)) == 32


def test_everything_that_changes_a_mask_changes_the_fingerprint(tmp_path: Path, file: Path) -> None:
    swapped = tmp_path / "swapped"
    swapped.write_bytes(ranks([WORDS[1], WORDS[0], *WORDS[2:]]))
    moved = tmp_path / "moved"  # the same bytes in a row, cut elsewhere
    moved.write_bytes(ranks([b"ab", b'"', b"a", b"b", WORDS[4]]))
    specials = ["<s>", "</s>"]

    prints = [
        Tokenizer.from_tiktoken(file, specials).fingerprint,
        Tokenizer.from_tiktoken(swapped, specials).fingerprint,
        Tokenizer.from_tiktoken(moved, specials).fingerprint,
        Tokenizer.from_tiktoken(file, specials, stop_tokens="<s>").fingerprint,
        Tokenizer.from_tiktoken(file, specials, allow_special=["<s>"]).fingerprint,
        Tokenizer.from_tiktoken(file, specials, vocab_size=8).fingerprint,
        Tokenizer.byte_level().fingerprint,
    ]

    assert len(set(prints)) == len(prints)


# tekken ----------------------------------------------------------------------------------------


def test_tekken_puts_special_tokens_first_and_cuts_the_vocabulary(tmp_path: Path) -> None:
    tokenizer = Tokenizer.from_tekken(tekken_file(tmp_path / "tekken.json"))

    assert tokenizer.vocab_size == 9
    assert [tokenizer.token_bytes(i) for i in range(9)] == [b"", b"", b"", b"", *WORDS]
    assert tokenizer.stop_token_ids == (3,)
    assert string_starts(tokenizer) == [4, 5, 6, 7, 8]


def test_tekken_without_a_list_of_specials_stops_at_the_third_token(tmp_path: Path) -> None:
    path = tekken_file(tmp_path / "tekken.json", special_tokens="leave out")

    assert Tokenizer.from_tekken(path).stop_token_ids == (2,)


def test_tekken_specials_may_stand_in_the_output_when_asked_for(tmp_path: Path) -> None:
    path = tekken_file(tmp_path / "tekken.json")

    tokenizer = Tokenizer.from_tekken(path, allow_special=["[CALL]"])

    assert string_starts(tokenizer) == [1, 4, 5, 6, 7, 8]
    assert tokenizer.decode([1, 4]) == b"[CALL]a"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"config": "leave out"}, "`config` or `vocab` is missing"),
        ({"vocab": "leave out"}, "`config` or `vocab` is missing"),
        ({"vocab": {}}, "`vocab` is no list"),
        ({"vocab": [{"rank": 0}]}, r"vocab\[0\]: `rank` or `token_bytes` is missing"),
        ({"vocab": [5]}, r"vocab\[0\]: "),
        ({"vocab": [{"rank": "0", "token_bytes": "YQ=="}]}, r"vocab\[0\]: expected a rank"),
        ({"vocab": [{"rank": 0, "token_bytes": "é"}]}, r"vocab\[0\]: the token is no base64"),
        ({"vocab": [{"rank": 0, "token_bytes": "\ud800"}]}, r"vocab\[0\]: the token is no base64"),
        ({"vocab": [{"rank": 0, "token_bytes": "YQ=="}] * 2}, r"vocab\[1\]: the rank 0 was"),
        ({"vocab": [{"rank": 0, "token_bytes": "YQ=="}]}, "1 of the 5 tokens"),
        ({"special_tokens": {}}, "`special_tokens` is no list"),
        ({"special_tokens": [{"rank": 0}]}, r"special_tokens\[0\]: "),
        ({"special_tokens": [{"rank": 4, "token_str": "</s>"}]}, r"special_tokens\[0\]: "),
        ({"special_tokens": []}, "no special token has a known stop name"),
        (
            {"config": {"default_vocab_size": 10**12, "default_num_special_tokens": 4}},
            "config gives",
        ),
        ({"config": {"default_vocab_size": 4, "default_num_special_tokens": 4}}, "config gives"),
        ({"config": {"default_vocab_size": True, "default_num_special_tokens": 0}}, "config gives"),
    ],
)
def test_a_broken_tekken_file_is_an_error_that_names_the_entry(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    path = tekken_file(tmp_path / "tekken.json", **changes)

    with pytest.raises(TokenizerError, match=message):
        Tokenizer.from_tekken(path)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"null", b"[" * 200_000])
def test_a_tekken_file_that_is_no_tekken_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tekken.json"
    path.write_bytes(content)

    with pytest.raises(TokenizerError, match=r"tekken\.json"):
        Tokenizer.from_tekken(path)


# Hugging Face ----------------------------------------------------------------------------------


def byte_level_bpe() -> object:
    """A byte-level BPE tokenizer as `transformers` has it, made here and not downloaded."""
    tokenizers = pytest.importorskip("tokenizers")
    transformers = pytest.importorskip("transformers")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {char: index for index, char in enumerate(alphabet)}
    vocabulary |= {"Ġa": 256, "ab": 257, "abĠa": 258}
    merges = [("Ġ", "a"), ("a", "b"), ("ab", "Ġa")]
    backend = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = tokenizers.decoders.ByteLevel()
    result = transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        eos_token="<|im_end|>",  # noqa: S106 - a token of text
        additional_special_tokens=["<|im_start|>"],
    )
    result.add_tokens(["<tool_call>"])
    return result


def test_a_huggingface_tokenizer_gives_the_bytes_behind_its_spelling() -> None:
    source = byte_level_bpe()

    tokenizer = Tokenizer.from_huggingface(source)

    assert sorted(tokenizer.token_bytes(i) for i in range(256)) == [bytes((b,)) for b in range(256)]
    assert [tokenizer.token_bytes(i) for i in (256, 257, 258)] == [b" a", b"ab", b"ab a"]
    text = "ab ab zürich 日本"
    assert tokenizer.decode(source.encode(text)) == text.encode()  # type: ignore[attr-defined]


def test_huggingface_specials_are_banned_and_other_added_tokens_are_text() -> None:
    source = byte_level_bpe()
    ids = source.get_vocab()  # type: ignore[attr-defined]

    tokenizer = Tokenizer.from_huggingface(source)

    assert tokenizer.stop_token_ids == (ids["<|im_end|>"],)
    assert tokenizer.token_bytes(ids["<|im_start|>"]) == b""
    assert tokenizer.token_bytes(ids["<tool_call>"]) == b"<tool_call>"
    starts = string_starts(tokenizer)
    assert ids["<|im_start|>"] not in starts
    assert ids["<tool_call>"] in starts
    kept = Tokenizer.from_huggingface(source, allow_special=["<|im_start|>"])
    assert ids["<|im_start|>"] in string_starts(kept)


def test_huggingface_masks_are_those_of_xgrammar_apart_from_the_specials() -> None:
    source = byte_level_bpe()
    specials = {"<|im_start|>", "<|im_end|>"}
    ids = source.get_vocab()  # type: ignore[attr-defined]

    info = xgrammar.TokenizerInfo.from_huggingface(source, stop_token_ids=[ids["<|im_end|>"]])
    grammar = xgrammar.GrammarCompiler(info).compile_json_schema('{"type": "string"}')
    matcher = xgrammar.GrammarMatcher(grammar)
    assert matcher.accept_string('"')
    mask = xgrammar.allocate_token_bitmask(1, info.vocab_size)
    matcher.fill_next_token_bitmask(mask)
    theirs = [t for t in range(info.vocab_size) if int(mask[0, t // 32]) >> t % 32 & 1]

    ours = string_starts(Tokenizer.from_huggingface(source))

    assert ids["<|im_start|>"] in theirs  # what is closed here
    assert ours == [t for t in theirs if t not in {ids[name] for name in specials}]


def test_a_smaller_model_leaves_out_the_last_tokens() -> None:
    tokenizer = Tokenizer.from_huggingface(byte_level_bpe(), stop_tokens=[0], vocab_size=258)

    assert tokenizer.vocab_size == 258
    with pytest.raises(TokenizerError, match=r"not in 0\.\.257"):
        Tokenizer.from_huggingface(byte_level_bpe(), vocab_size=258)  # its eos is beyond


@pytest.mark.parametrize("thing", [None, 5, "gpt2", {"a": 1}])
def test_what_is_no_tokenizer_is_a_tokenizer_error(thing: object) -> None:
    with pytest.raises(TokenizerError, match="cannot be used as a tokenizer"):
        Tokenizer.from_huggingface(thing)


# Real vocabularies -----------------------------------------------------------------------------


def test_the_qwen_vocabulary_is_read_whole() -> None:
    tokenizer = qwen()

    assert tokenizer.vocab_size == QWEN_WIDTH
    assert tokenizer.stop_token_ids == (151_643, 151_645)
    assert tokenizer.special_token_ids == tuple(range(151_643, QWEN_WIDTH))
    assert tokenizer.token_bytes(0) == b"!"
    last = QWEN.read_bytes().splitlines()[-1].split()
    assert tokenizer.token_bytes(int(last[1])) == base64.b64decode(last[0])
    assert len(QWEN_SPECIALS) == 208


def test_the_tekken_vocabulary_is_read_whole() -> None:
    if not TEKKEN.exists():
        pytest.skip("no .venv/vocab/tekken.json")
    tokenizer = Tokenizer.from_tekken(TEKKEN)

    assert tokenizer.vocab_size == 131_072
    assert tokenizer.special_token_ids == tuple(range(1000))
    assert tokenizer.stop_token_ids == (2,)
    assert [tokenizer.token_bytes(1000 + b) for b in (0, 65, 255)] == [b"\0", b"A", b"\xff"]


# The extra -------------------------------------------------------------------------------------


def test_importing_the_package_does_not_import_xgrammar_or_torch() -> None:
    code = (
        "import sys, schemaguard.grammar as g; t = g.Tokenizer.byte_level(); t.fingerprint;"
        "print(sorted({'xgrammar', 'torch', 'transformers', 'numpy'} & set(sys.modules)))"
    )

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout == "[]\n"


def test_without_xgrammar_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgrammar", None)

    with pytest.raises(MissingExtra, match=r"pip install 'schemaguard-preflight\[xgrammar\]'"):
        Compiler(Tokenizer.byte_level())
    with pytest.raises(ImportError):
        engine.torch()
