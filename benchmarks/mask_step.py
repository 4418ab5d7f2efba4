"""Claim: the grammar stage costs next to nothing over calling xgrammar directly.

* A step of decoding (`Masks.fill` for every row, `Masks.apply_`) takes at most 2 % longer than
  `fill_next_token_bitmask` and `apply_token_bitmask_inplace`, with a real vocabulary.
* `Compiler.compile` of a typical tool, preflight included, takes at most 5 % longer at the median
  than `GrammarCompiler.compile_json_schema` with the same options, nothing cached.

Both sides run alternately in one process, each first in every other round; the least CPU time of
the rounds counts, so that a busy machine decides little. Prints JSON; `holds` says whether a claim
does. Needs `.venv/vocab/qwen.tiktoken`, else it falls back to the byte vocabulary, for which the
shares are not claimed.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import xgrammar

import schemaguard
from schemaguard.grammar import Compiler, Tokenizer
from schemaguard.grammar.compiler import MAX_WHITESPACE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VOCABULARY = Path(__file__).resolve().parents[1] / ".venv" / "vocab" / "qwen.tiktoken"
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *[f"<|extra_{i}|>" for i in range(205)]]
WIDTH = 152_064  # of the logits of the Qwen models with this vocabulary

STEP_LIMIT = 0.02
COMPILE_LIMIT = 0.05


def typical_tools() -> Iterator[dict[str, Any]]:
    """Tools of the usual shapes and sizes: 2 to 16 properties, one or two levels, closed."""
    kinds: list[dict[str, Any]] = [
        {"type": "string", "description": "What to look for, in the words of the user."},
        {"type": "integer", "minimum": 1, "maximum": 100, "description": "How many to return."},
        {"type": "boolean", "description": "Whether to include what is archived."},
        {"enum": ["open", "closed", "all"], "description": "Which of them."},
        {
            "type": "array",
            "items": {"type": "string"},
            "description": "Labels, all of which match.",
        },
        {"type": ["string", "null"], "description": "Where to go on, from the last answer."},
        {"type": "number", "description": "The weight."},
        {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
    ]
    for count in range(2, 17):
        properties = {f"field_{count}_{i}": kinds[(count + i) % len(kinds)] for i in range(count)}
        if count % 3 == 0:
            inner = dict(list(properties.items())[: count // 3])
            properties["options"] = closed(inner)
        yield closed(properties)


def closed(properties: dict[str, Any]) -> dict[str, Any]:
    """An object schema as strict mode wants it."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def seconds(call: Callable[[], object]) -> float:
    """CPU time of a call on this thread, where all of it happens: other processes do not count."""
    start = time.thread_time()
    call()
    return time.thread_time() - start


def alternately(
    ours: Callable[[], object], direct: Callable[[], object], rounds: int
) -> tuple[float, float]:
    """The least seconds of each, run in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            times[side].append(seconds((ours, direct)[side]))
    return min(times[0]), min(times[1])


def accepted(schema: dict[str, Any]) -> Any:
    """The pass to the compiler."""
    found = schemaguard.check(schema).accepted
    assert found is not None
    return found


def step_overhead(tokenizer: Tokenizer, rows: int, rounds: int) -> dict[str, Any]:
    """Both ways of masking a batch, at every position of an output."""
    compiler = Compiler(tokenizer)
    schema = closed({"query": {"type": "string"}, "limit": {"type": "integer"}})
    compiled = compiler.compile(accepted(schema))
    matchers = [compiled.matcher() for _ in range(rows)]
    engines = [matcher.engine for matcher in matchers]
    masks = compiler.masks(rows)
    bitmask = xgrammar.allocate_token_bitmask(rows, tokenizer.vocab_size)
    logits = torch.zeros(rows, tokenizer.vocab_size)
    width = tokenizer.vocab_size

    def ours() -> None:
        for row, matcher in enumerate(matchers):
            masks.fill(row, matcher)
        masks.apply_(logits)

    def direct() -> None:
        for row, matcher in enumerate(engines):
            matcher.fill_next_token_bitmask(bitmask, row)
        xgrammar.apply_token_bitmask_inplace(logits, bitmask, vocab_size=width)

    shares, mine, theirs = [], [], []
    for character in '{"query":"a b","limit":12}':
        a, b = alternately(ours, direct, rounds)
        shares.append(a / b - 1)
        mine.append(a)
        theirs.append(b)
        assert torch.equal(masks.bitmask, bitmask)
        for matcher in matchers:
            assert matcher.accept_string(character)
    overhead = sum(mine) / sum(theirs) - 1
    return {
        "rows": rows,
        "steps": len(mine),
        "ours_us": round(statistics.median(mine) * 1e6, 1),
        "direct_us": round(statistics.median(theirs) * 1e6, 1),
        "overhead": round(overhead, 4),
        "overhead_worst_step": round(max(shares), 4),
        "limit": STEP_LIMIT,
        "holds": overhead <= STEP_LIMIT,
    }


def compile_overhead(tokenizer: Tokenizer, rounds: int) -> dict[str, Any]:
    """Both ways of compiling a tool for the first time, and once more from the cache."""
    shares, mine, theirs, hits = [], [], [], []
    for schema in typical_tools():
        tool = accepted(schema)

        def ours(tool: Any = tool) -> float:
            compiler = Compiler(tokenizer)
            spent = seconds(lambda: compiler.compile(tool))
            hits.append(seconds(lambda: compiler.compile(tool)))
            return spent

        def direct(tool: Any = tool) -> float:
            compiler = xgrammar.GrammarCompiler(tokenizer.info, max_threads=1)
            return seconds(
                lambda: compiler.compile_json_schema(tool.text, max_whitespace_cnt=MAX_WHITESPACE)
            )

        runs: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            for side in (0, 1) if number % 2 else (1, 0):
                runs[side].append((ours, direct)[side]())
        a, b = min(runs[0]), min(runs[1])
        shares.append(a / b - 1)
        mine.append(a)
        theirs.append(b)
    overhead = statistics.median(shares)
    return {
        "tools": len(mine),
        "ours_ms": round(statistics.median(mine) * 1e3, 2),
        "direct_ms": round(statistics.median(theirs) * 1e3, 2),
        "cached_us": round(min(hits) * 1e6, 1),
        "overhead_p50": round(overhead, 4),
        "overhead_max": round(max(shares), 4),
        "limit": COMPILE_LIMIT,
        "holds": overhead <= COMPILE_LIMIT,
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Overhead of the grammar stage over xgrammar.")
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    if VOCABULARY.exists():
        tokenizer = Tokenizer.from_tiktoken(VOCABULARY, SPECIALS, vocab_size=WIDTH)
    else:
        tokenizer = Tokenizer.byte_level()
    torch.set_num_threads(1)
    result = {
        "vocabulary": {"kind": tokenizer.kind, "size": tokenizer.vocab_size},
        "xgrammar": importlib.metadata.version("xgrammar"),
        "step": [step_overhead(tokenizer, rows, rounds) for rows in (1, 8, 32)],
        "compile": compile_overhead(tokenizer, rounds),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
