"""Claim: the grammar stage costs next to nothing over calling xgrammar directly.

* A step of decoding takes at most 2 % longer than xgrammar's own calls, with a real vocabulary:
  `Masks.fill` for every row and `Masks.apply_` against `fill_next_token_bitmask` and
  `apply_token_bitmask_inplace`; `Masks.fill_batch` against `BatchGrammarMatcher`.
* `Compiler.compile` of a typical tool, preflight included, takes at most 5 % longer at the median
  than `GrammarCompiler.compile_json_schema` with the same options, nothing cached.

Both sides run alternately in one process, each first in every other round, in CPU time. For a step
the median of the ratios of neighbours counts, for compiling the least of the rounds, so that a busy
machine decides little. Prints JSON and exits 1 when a claim does
not hold. Needs `.venv/vocab/qwen.tiktoken`, else it falls back to the byte vocabulary, for which
the shares are not claimed.

Printed without a claim: from how many rows on filling in threads pays (wall time, so only a machine
with free processors tells), and with CUDA the microseconds of a whole step there.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import xgrammar
from measure import report

import schemaguard
from schemaguard.grammar import Compiler, Tokenizer
from schemaguard.grammar.compiler import MAX_WHITESPACE
from schemaguard.grammar.masks import THREADS_PAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from schemaguard.grammar import Matcher

VOCABULARY = Path(__file__).resolve().parents[1] / ".venv" / "vocab" / "qwen.tiktoken"
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *[f"<|extra_{i}|>" for i in range(205)]]
WIDTH = 152_064  # of the logits of the Qwen models with this vocabulary

STEP_LIMIT = 0.02
COMPILE_LIMIT = 0.05
CLAIM = "fill and apply cost at most 2 % more than xgrammar alone, compiling a tool at most 5 %"

SEARCH = {
    "type": "object",
    "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}},
    "required": ["query", "limit"],
    "additionalProperties": False,
}


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
) -> tuple[list[float], list[float]]:
    """The seconds of each, run in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds):
        for side in (0, 1) if number % 2 else (1, 0):
            times[side].append(seconds((ours, direct)[side]))
    return times


def accepted(schema: dict[str, Any]) -> Any:
    """The pass to the compiler."""
    found = schemaguard.check(schema).accepted
    assert found is not None
    return found


def step_overhead(tokenizer: Tokenizer, rows: int, rounds: int, *, batch: bool) -> dict[str, Any]:
    """Both ways of masking a batch, at every position of an output; row by row, or at once."""
    compiler = Compiler(tokenizer, isolation="none")
    compiled = compiler.compile(accepted(SEARCH))
    matchers = [compiled.matcher(request=f"req-{row}") for row in range(rows)]
    engines = [matcher.engine for matcher in matchers]
    masks = compiler.masks(rows, threads=1)
    together = xgrammar.BatchGrammarMatcher(max_threads=1)
    bitmask = xgrammar.allocate_token_bitmask(rows, tokenizer.vocab_size)
    logits = torch.zeros(rows, tokenizer.vocab_size)
    width = tokenizer.vocab_size

    def ours() -> None:
        if batch:
            masks.fill_batch(matchers)
        else:
            for row, matcher in enumerate(matchers):
                masks.fill(row, matcher)
        masks.apply_(logits)

    def direct() -> None:
        if batch:
            together.batch_fill_next_token_bitmask(engines, bitmask)
        else:
            for row, matcher in enumerate(engines):
                matcher.fill_next_token_bitmask(bitmask, row)
        xgrammar.apply_token_bitmask_inplace(logits, bitmask, vocab_size=width)

    shares, mine, theirs = [], [], []
    for character in '{"query":"a b","limit":12}':
        a, b = alternately(ours, direct, rounds)
        shares += [x / y - 1 for x, y in zip(a, b, strict=True)]
        mine += a
        theirs += b
        assert torch.equal(masks.bitmask, bitmask)
        for matcher in matchers:
            assert matcher.accept_string(character)
    overhead = statistics.median(shares)
    return {
        "rows": rows,
        "call": "fill_batch" if batch else "fill",
        "pairs": len(shares),
        "ours_us": round(statistics.median(mine) * 1e6, 1),
        "direct_us": round(statistics.median(theirs) * 1e6, 1),
        "overhead_p50": round(overhead, 4),
        "limit": STEP_LIMIT,
        "holds": overhead <= STEP_LIMIT,
    }


def spread(tokenizer: Tokenizer, rows: int) -> tuple[Compiler, list[Matcher]]:
    """Matchers at places all over an output, as the rows of a running batch are."""
    compiler = Compiler(tokenizer, isolation="none")
    compiled = compiler.compile(accepted(SEARCH))
    output = '{"query": "how do I mask logits in place", "limit": 20}'
    matchers = [compiled.matcher() for _ in range(rows)]
    for row, matcher in enumerate(matchers):
        assert matcher.accept_string(output[: row * 7 % len(output)])
    return compiler, matchers


def threads_against_turns(tokenizer: Tokenizer, rows: int, rounds: int) -> dict[str, Any]:
    """Wall time of filling in two threads and in turn: the least, where both had a processor."""
    _, matchers = spread(tokenizer, rows)
    engines = [matcher.engine for matcher in matchers]
    bitmask = xgrammar.allocate_token_bitmask(rows, tokenizer.vocab_size)
    batches = [xgrammar.BatchGrammarMatcher(max_threads=threads) for threads in (1, 2)]
    times: list[list[float]] = [[], []]
    for number in range(rounds * 10):
        for side in (0, 1) if number % 2 else (1, 0):
            start = time.perf_counter()
            batches[side].batch_fill_next_token_bitmask(engines, bitmask)
            times[side].append(time.perf_counter() - start)
    return {
        "rows": rows,
        "in_turn_us": round(min(times[0]) * 1e6, 1),
        "two_threads_us": round(min(times[1]) * 1e6, 1),
        "two_threads_median_us": round(statistics.median(times[1]) * 1e6, 1),
        "ratio": round(min(times[1]) / min(times[0]), 2),
    }


def cuda_step(tokenizer: Tokenizer, rows: int, rounds: int) -> dict[str, Any]:
    """Microseconds of a step with the logits on a CUDA device: fill, copy, kernel, finished."""
    compiler, matchers = spread(tokenizer, rows)
    masks = compiler.masks(rows)
    logits = torch.zeros(rows, tokenizer.vocab_size, device="cuda")
    for _ in range(10):
        masks.fill_batch(matchers)
        masks.apply_(logits)
    torch.cuda.synchronize()
    fills, applies = [], []
    for _ in range(rounds * 10):
        start = time.perf_counter()
        masks.fill_batch(matchers)
        filled = time.perf_counter()
        masks.apply_(logits)
        torch.cuda.synchronize()
        fills.append(filled - start)
        applies.append(time.perf_counter() - filled)
    return {
        "device": torch.cuda.get_device_name(),
        "rows": rows,
        "fill_us": round(statistics.median(fills) * 1e6, 1),
        "apply_us": round(statistics.median(applies) * 1e6, 1),
    }


def compile_overhead(tokenizer: Tokenizer, rounds: int) -> dict[str, Any]:
    """Both ways of compiling a tool for the first time, and once more from the cache."""
    shares, mine, theirs, hits = [], [], [], []
    for schema in typical_tools():
        tool = accepted(schema)

        def ours(tool: Any = tool) -> float:
            compiler = Compiler(tokenizer, isolation="none")
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
    real = VOCABULARY.exists()
    if real:
        tokenizer = Tokenizer.from_tiktoken(VOCABULARY, SPECIALS, vocab_size=WIDTH)
    else:
        tokenizer = Tokenizer.byte_level()
    torch.set_num_threads(1)
    steps = [
        step_overhead(tokenizer, rows, rounds, batch=batch)
        for batch in (False, True)
        for rows in (1, 8, 32)
    ]
    compiling = compile_overhead(tokenizer, rounds)
    holds = all(part["holds"] for part in (*steps, compiling))
    numbers = {
        "vocabulary": {"kind": tokenizer.kind, "size": tokenizer.vocab_size},
        "xgrammar": importlib.metadata.version("xgrammar"),
        "step": steps,
        "compile": compiling,
        "threads": [threads_against_turns(tokenizer, rows, rounds) for rows in (4, 8, 16, 32, 64)],
        "threads_pay_from_rows": -(-THREADS_PAY // tokenizer.vocab_size),
        "cuda": [cuda_step(tokenizer, rows, rounds) for rows in (1, 8, 64, 256)]
        if torch.cuda.is_available()
        else "no device",
    }
    report(CLAIM, holds or not real, numbers)


if __name__ == "__main__":
    main()
