"""Tags over a real vocabulary: special tokens as tokens, masks, and what compiling costs."""

from __future__ import annotations

import time
from functools import cache

import numpy as np
import pytest
import tag_calls
import vocabulary

from schemaguard.grammar import Tokenizer
from schemaguard.grammar.tags import STYLES, plan

xgrammar = pytest.importorskip("xgrammar")

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}
GOOD = ("weather", {"city": "Rome", "days": 3})
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")


def request(parameters=WEATHER, **more):
    function = {"name": "weather", "parameters": parameters}
    return {
        "messages": [],
        "model": "m",
        "tools": [{"type": "function", "function": function}],
        **more,
    }


@cache
def vocab(specials, allowed):
    """(tokenizer, name → id): the Qwen vocabulary with these special tokens."""
    if not vocabulary.QWEN.exists():
        pytest.skip("no .venv/vocab/qwen.tiktoken: `make` sets it up")
    names = [*CONTROL, *specials]
    made = Tokenizer.from_tiktoken(vocabulary.QWEN, names, allow_special=allowed)
    return made, {name: 151_643 + index for index, name in enumerate(names)}


def tokens_of(tokenizer, ids, text):
    """A text as tokens: the special ones whole, the rest by longest match."""
    by_bytes = {tokenizer.token_bytes(i): i for i in range(151_643)}
    out = []
    while text:
        name = next((name for name in ids if text.startswith(name)), None)
        if name is not None:
            out.append(ids[name])
            text = text.removeprefix(name)
            continue
        stop = min([text.find(name) for name in ids if name in text], default=len(text))
        piece = text[:stop].encode()
        text = text[stop:]
        while piece:
            length = next(n for n in range(min(len(piece), 24), 0, -1) if piece[:n] in by_bytes)
            out.append(by_bytes[piece[:length]])
            piece = piece[length:]
    return out


def grammar(made, tokenizer):
    compiler = xgrammar.GrammarCompiler(tokenizer.info, max_threads=1)
    return compiler.compile_structural_tag(made.text)


def takes(compiled, tokens):
    state = xgrammar.GrammarMatcher(compiled)
    return all(state.accept_token(token) for token in tokens) and state.is_completed()


def allowed_ids(state, size):
    mask = xgrammar.allocate_token_bitmask(1, size)
    state.fill_next_token_bitmask(mask, 0)
    bits = np.unpackbits(mask.numpy().view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits[:size]).tolist())


QWEN_TOKENS = ("<tool_call>", "</tool_call>", "<think>", "</think>")


def test_a_plan_says_which_special_tokens_have_to_be_text() -> None:
    made = plan(request(), parser="hermes")

    assert made.needs_tokens == ("<tool_call>", "</tool_call>")
    blank, _ = vocab(QWEN_TOKENS, ())
    text, _ = vocab(QWEN_TOKENS, made.needs_tokens)
    assert made.missing_tokens(blank) == made.needs_tokens
    assert made.missing_tokens(text) == ()


@pytest.mark.parametrize("token_markers", [False, True], ids=["text", "tokens"])
def test_a_call_in_tokens_is_accepted_where_the_markers_are_text(token_markers) -> None:
    made = plan(request(tool_choice="required"), parser="hermes", token_markers=token_markers)
    tokenizer, ids = vocab(QWEN_TOKENS, made.needs_tokens)
    compiled = grammar(made, tokenizer)
    good = tokens_of(tokenizer, ids, tag_calls.calls("qwen_3", GOOD))

    assert good[0] == ids["<tool_call>"]
    assert good[-1] == ids["</tool_call>"]
    assert takes(compiled, good)
    bad = tokens_of(tokenizer, ids, tag_calls.calls("qwen_3", ("wether", GOOD[1])))
    assert not takes(compiled, bad)
    assert not takes(compiled, [*good[:-1], ids["<|im_end|>"]])


def test_a_marker_that_is_no_text_cannot_be_written_as_a_token() -> None:
    made = plan(request(tool_choice="required"), parser="hermes")
    tokenizer, ids = vocab(QWEN_TOKENS, ())
    state = xgrammar.GrammarMatcher(grammar(made, tokenizer))

    assert not state.accept_token(ids["<tool_call>"])


def test_a_tag_of_tokens_does_not_compile_without_them() -> None:
    made = plan(request(), parser="hermes", token_markers=True)

    for tokenizer in (vocab(QWEN_TOKENS, ())[0], Tokenizer.byte_level()):
        assert set(made.missing_tokens(tokenizer)) == set(made.needs_tokens)
        with pytest.raises(RuntimeError, match=r"[Tt]oken"):
            grammar(made, tokenizer)


def test_a_tag_of_tokens_takes_a_spelt_marker_for_text() -> None:
    made = plan(request(), parser="hermes", token_markers=True)
    tokenizer, ids = vocab(QWEN_TOKENS, made.needs_tokens)
    compiled = grammar(made, tokenizer)
    spelt = tokens_of(tokenizer, {}, "<tool_call>\n{}")

    assert ids["<tool_call>"] not in spelt
    assert takes(compiled, spelt)
    assert not takes(compiled, [ids["<tool_call>"], *tokens_of(tokenizer, {}, "\n{}")])


@pytest.mark.parametrize("token_markers", [False, True], ids=["text", "tokens"])
def test_the_mask_of_a_required_call_has_its_marker_and_no_other_special_token(
    token_markers,
) -> None:
    made = plan(request(tool_choice="required"), parser="hermes", token_markers=token_markers)
    tokenizer, ids = vocab(QWEN_TOKENS, QWEN_TOKENS)
    state = xgrammar.GrammarMatcher(grammar(made, tokenizer))
    allowed = allowed_ids(state, tokenizer.vocab_size)

    assert ids["<tool_call>"] in allowed
    assert not allowed & {token for name, token in ids.items() if name != "<tool_call>"}
    texts = {tokenizer.token_bytes(token) for token in allowed}
    assert all(b"<tool_call>\n{".startswith(text) for text in texts)
    assert (len(allowed) == 1) is token_markers


def test_the_mask_under_none_is_without_the_opener_of_calls() -> None:
    made = plan(request(tool_choice="none"), parser="hermes")
    tokenizer, ids = vocab(QWEN_TOKENS, QWEN_TOKENS)
    state = xgrammar.GrammarMatcher(grammar(made, tokenizer))
    allowed = allowed_ids(state, tokenizer.vocab_size)

    assert ids["<tool_call>"] not in allowed
    assert ids["</tool_call>"] in allowed
    assert len(allowed) > 150_000


def test_a_stop_token_that_ends_calls_is_missing() -> None:
    # `<|call|>` ends a call of harmony, and most tokenizers have it among the stop tokens.
    names = [b"<|call|>", b"<|channel|>", b"<|constrain|>", b"<|message|>", b"<|end|>",
             b"<|return|>", b"<|start|>"]  # fmt: skip
    tokens = [bytes((value,)) for value in range(256)] + names
    made = plan(request(), parser="harmony")

    stops = Tokenizer(tokens, kind="small", stop_token_ids=[256])
    assert made.missing_tokens(stops) == ("<|call|>",)
    apart = Tokenizer([*tokens, b""], kind="small", stop_token_ids=[263])
    assert made.missing_tokens(apart) == ()
    call = tag_calls.calls("harmony", GOOD)
    ids = {name.decode(): 256 + index for index, name in enumerate(names)}
    small = Tokenizer([*tokens, b""], kind="small", stop_token_ids=[263])
    out = []
    while call:
        name = next((name for name in ids if call.startswith(name)), None)
        out.append(ids[name] if name else ord(call[0]))
        call = call.removeprefix(name or call[0])
    assert takes(grammar(made, small), out)


def dear(number):
    """A schema that the engine's profile accepts, with constraints that no other one has."""
    properties = {
        "a": {"type": "string", "maxLength": 300 + number},
        "b": {"type": "string", "minLength": 1, "maxLength": 40 + number},
        "c": {"type": "string", "pattern": f"^.{{1,{12 + number}}}$"},
        "d": {"type": "string", "format": "json-pointer"},
        "e": {"type": "string", "pattern": f"^[a-z]{{1,{10 + number}}}$"},
        "f": {
            "type": "object",
            "properties": {"x": {"type": "string", "maxLength": 500 + number}},
            "required": ["x"],
            "additionalProperties": False,
        },
        "g": {
            "type": "array",
            "items": {"type": "string", "pattern": f"^\\w{{1,{8 + number}}}$"},
        },
        "h": {"type": "string", "pattern": f"^[A-Z]{{2,{4 + number}}}-[0-9]+$"},
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


@pytest.mark.parametrize("style", sorted(STYLES))
def test_a_plan_with_dear_constraints_compiles_in_about_a_second(style) -> None:
    tokenizer, _ = vocab(QWEN_TOKENS, ())
    body = request()
    body["tools"] = [
        {"type": "function", "function": {"name": f"tool_{n}", "parameters": dear(n)}}
        for n in range(10)
    ]
    made = plan(body, parser=style)
    assert made.tools[0].state == "pinned"
    for tool in made.tools:
        assert tool.state == "pinned" or "take about a second" in tool.why, tool
    before = time.process_time()
    grammar(made, tokenizer)
    seconds = time.process_time() - before

    print(f"{style}: {seconds:.2f} s")
    assert seconds < 3  # "about a second", on a machine that does other things as well
