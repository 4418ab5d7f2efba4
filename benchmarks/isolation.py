"""Claim: no schema hurts the process that compiles with `isolation="process"`.

- Every hostile schema ends inside its limit plus 100 ms: handed cases where they are beside the
  clone, shapes that are known to crash, hang or eat memory, and random ones; all of them straight
  to a worker, past the cost rules.
- 1,000 in a row leave no process, no descriptor and no memory behind.
- A job of a small schema takes at most 2 ms at the median, in a warm worker, over a vocabulary of
  152,064 tokens.

Printed without a bar: the start of a first worker, a job that is known, and the time to the first
mask of a request of twenty tools: with a trial, without, on demand, and from the cache.

    python benchmarks/isolation.py [--jobs 1000] [--vocabulary qwen.tiktoken]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import random
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import schemaguard
from schemaguard.grammar import Compiler, Tokenizer
from schemaguard.grammar.worker import Limits, Workers

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
CASES = ROOT.parent / "shared" / "cases"

SECONDS, OVER = 0.25, 0.1
ROUND_TRIP_MS = 2.0
OPTIONS = {"any_whitespace": True, "strict_mode": True, "max_whitespace_cnt": 2}


def handed() -> Iterator[tuple[str, str]]:
    """The cases beside the clone, as text; none where there are none."""
    if not (CASES / "engines.jsonl").exists():
        return
    spec = importlib.util.spec_from_file_location("expand", CASES / "expand.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for line in (CASES / "engines.jsonl").read_text().splitlines():
        case = json.loads(line)
        made = module.expand(case["schema"])
        # One case is a stream of thousands of harmless schemas.
        for schema in made[:5] if isinstance(made, list) else [made]:
            yield case["id"], schema if isinstance(schema, str) else json.dumps(schema)


def wrapped(levels: int, opening: str, closing: str) -> str:
    """A string schema inside so many levels, as text: it may be too deep for `json.dumps`."""
    return opening * levels + '{"type":"string"}' + closing * levels


def known() -> Iterator[tuple[str, str]]:
    """Shapes that crash, hang or eat memory when xgrammar gets them directly."""
    for name, opening, closing in (
        ("arrays", '{"type":"array","items":', "}"),
        ("anyOf", '{"anyOf":[', ',{"type":"null"}]}'),
        ("oneOf", '{"oneOf":[{"type":"integer"},', "]}"),
        ("allOf", '{"allOf":[', "]}"),
        ("not", '{"type":"string","not":', "}"),
        ("an unknown keyword", '{"x-y":', "}"),
        ("objects", '{"type":"object","properties":{"a":', '},"required":["a"]}'),
    ):
        for levels in (64, 300, 1000, 9000):
            yield f"{levels} levels of {name}", wrapped(levels, opening, closing)

    def string(pattern: str) -> str:
        return json.dumps({"type": "string", "pattern": pattern})

    yield "groups", string("(" * 40_000 + "a" + ")" * 40_000)
    yield "a long repeat", string("^.{0,5000}$")
    yield "nested repeats", string("^(.{1,30}){1,30}$")
    yield "many states", string(r"^[\s\S]{1,4096}$")
    yield "a raw character and repeats", string("^é(.{1,30}){1,30}$")
    names = [f"p{i}" for i in range(5000)]
    plain: dict[str, Any] = {name: {"type": "string"} for name in names}
    yield "5,000 properties", json.dumps({"type": "object", "properties": plain})
    yield (
        "minProperties over 1,000",
        json.dumps(
            {"type": "object", "minProperties": 10, "properties": dict(list(plain.items())[:1000])}
        ),
    )
    yield (
        "5,000 patternProperties",
        json.dumps({"type": "object", "patternProperties": {f"^{n}$": {} for n in names}}),
    )
    yield "a long constant", json.dumps({"const": "y" * 300_000})
    yield "a large enum", json.dumps({"enum": [f"{i:06}" for i in range(100_000)]})
    yield "5,000 alternatives", json.dumps({"anyOf": [{"const": name} for name in names]})
    yield (
        "multipleOf",
        json.dumps(
            {
                "type": "object",
                "properties": {
                    f"m{i}": {"type": "integer", "multipleOf": 900 + i} for i in range(100)
                },
            }
        ),
    )
    chain = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(8000)} | {"d8000": {}}
    yield "a chain of references", json.dumps({"$ref": "#/$defs/d0", "$defs": chain})
    objects = {
        f"d{i}": {"type": "object", "properties": {"a": {"$ref": f"#/$defs/d{i + 1}"}}}
        for i in range(8000)
    } | {"d8000": {}}
    yield "a chain of objects", json.dumps({"$ref": "#/$defs/d0", "$defs": objects})
    clique = {
        f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{j}"} for j in range(150)] + [{"const": i}]}
        for i in range(150)
    }
    yield "a clique", json.dumps({"$ref": "#/$defs/d0", "$defs": clique})


def random_schema(rng: random.Random) -> str:
    """A schema of shapes that multiply, at sizes from harmless to deadly."""
    text = '{"type":"string"}'
    for _ in range(rng.randrange(1, 5)):
        size = int(10 ** rng.uniform(0, 3.3))
        shape = rng.randrange(7)
        if shape == 0:
            text = '{"type":"array","items":' * size + text + "}" * size
        elif shape == 1:
            text = '{"anyOf":[' * size + text + ',{"type":"null"}]}' * size
        elif shape == 2:
            text = json.dumps({"type": "string", "pattern": f"^(.{{1,{size}}}x?){{1,{size}}}$"})
        elif shape == 3:
            members = ",".join(f'"p{i}":{text if i < 3 else "{}"}' for i in range(size))
            text = f'{{"type":"object","properties":{{{members}}},"minProperties":{size // 2}}}'
        elif shape == 4:
            text = json.dumps({"enum": ["x" * (1 + i % 50) + str(i) for i in range(size * 20)]})
        elif shape == 5:
            text = f'{{"type":"integer","multipleOf":{size}}}'
        else:
            text = f'{{"type":"array","prefixItems":[{",".join([text] * min(size, 50))}]}}'
        if len(text) > 40_000:  # the next round may multiply it by fifty
            break
    return text


def descendants() -> int:
    """How many processes there are below this one."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(
                    (entry / "stat").read_text().rpartition(")")[2].split()[1]
                )
            except OSError:
                continue
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return len(found) - 1


def resident_mb() -> float:
    """Resident memory of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def hostile(jobs: int) -> dict[str, Any]:
    """Run hostile schemas in a row and look at what they leave."""
    named = [*handed(), *known()]
    rng = random.Random(2026)
    limits = Limits(seconds=SECONDS, memory_bytes=512 << 20)
    late: list[tuple[str, float]] = []
    reasons: dict[str, int] = {}
    files = len(os.listdir("/proc/self/fd"))
    with Workers(Tokenizer.byte_level(), OPTIONS, limits=limits) as workers:
        workers.start()
        workers.run('{"type": "object"}')
        worst = before = 0.0
        for number in range(len(named) + jobs):
            name, text = (
                named[number] if number < len(named) else (f"random {number}", random_schema(rng))
            )
            if number == len(named) + jobs // 10:  # buffers have grown to their size
                before = resident_mb()
            began = time.perf_counter()
            outcome = workers.run(text)
            spent = time.perf_counter() - began
            assert outcome is not None
            reasons[str(outcome.reason)] = reasons.get(str(outcome.reason), 0) + 1
            worst = max(worst, spent)
            if spent > SECONDS + OVER:
                late.append((name, round(spent, 3)))
            del text
        grown = resident_mb() - before
    deadline = time.monotonic() + 10
    while descendants() and time.monotonic() < deadline:
        time.sleep(0.05)
    return {
        "jobs": len(named) + jobs,
        "handed": len(list(handed())),
        "limit_seconds": SECONDS,
        "ended": reasons,
        "worst_seconds": round(worst, 3),
        "over_limit_plus_100_ms": late,
        "processes_left": descendants(),
        "descriptors_left": len(os.listdir("/proc/self/fd")) - files,
        "memory_grown_mb": round(grown, 1),
    }


def small(number: int) -> str:
    """A small tool schema that nobody has seen before."""
    return json.dumps(
        {
            "type": "object",
            "properties": {
                f"city{number}": {"type": "string"},
                f"days{number}": {"type": "integer"},
            },
            "required": [f"city{number}"],
            "additionalProperties": False,
        }
    )


def round_trips(tokenizer: Tokenizer) -> dict[str, Any]:
    """Jobs of small schemas in a warm worker: new ones, and one that it knows."""
    with Workers(tokenizer, OPTIONS) as workers:
        start = workers.start()
        workers.run(small(-1))
        new, same = [], []
        for number in range(300):
            for times, text in ((new, small(number)), (same, small(-1))):
                began = time.perf_counter()
                workers.run(text)
                times.append(time.perf_counter() - began)
    return {
        "start_seconds": round(start, 3),
        "new_schema_ms_p50": round(statistics.median(new) * 1e3, 3),
        "known_schema_ms_p50": round(statistics.median(same) * 1e3, 3),
    }


def request() -> dict[str, Any]:
    """Twenty tools of eight members, as one schema: a choice of calls."""
    tools = []
    for number in range(20):
        members: dict[str, Any] = {
            f"query{number}": {"type": "string", "description": "What to look for."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "sort": {"enum": ["asc", "desc", f"by{number}"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            f"range{number}": {
                "type": "object",
                "properties": {"from": {"type": "string"}, "to": {"type": "string"}},
                "required": ["from", "to"],
                "additionalProperties": False,
            },
            "exact": {"type": "boolean"},
            "weight": {"type": "number"},
            "cursor": {"type": ["string", "null"]},
        }
        arguments = {
            "type": "object",
            "properties": members,
            "required": list(members),
            "additionalProperties": False,
        }
        tools.append(
            {
                "type": "object",
                "properties": {"name": {"const": f"tool_{number}"}, "arguments": arguments},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
        )
    return {"anyOf": tools}


def first_mask(tokenizer: Tokenizer) -> dict[str, Any]:
    """Milliseconds from an accepted schema to the first mask, by way; the best of five each.

    A compiler that has seen other schemas already, as in a server.
    """
    report = schemaguard.check(request(), profile="xgrammar")
    accepted = report.accepted
    assert accepted is not None, report.diagnostics
    ways: dict[str, dict[str, Any]] = {
        "eager, no trial": {"isolation": "none", "mode": "eager"},
        "eager after a trial": {"isolation": "process", "mode": "eager"},
        "on demand, no trial": {"isolation": "none", "mode": "dynamic"},
        "on demand after a trial": {"isolation": "process", "mode": "dynamic"},
    }
    best = dict.fromkeys([*ways, "from the cache"], float("inf"))
    for _ in range(5):
        for way, options in ways.items():
            with Compiler(tokenizer, **options) as compiler:
                compiler.start()
                other = schemaguard.check(small(0), profile="xgrammar").accepted
                assert other is not None
                compiler.compile(other)
                masks = compiler.masks(1)
                for name in (way, "from the cache"):
                    began = time.perf_counter()
                    masks.fill(0, compiler.compile(accepted).matcher())
                    best[name] = min(best[name], time.perf_counter() - began)
    eager = best["eager, no trial"]
    return {
        "milliseconds": {name: round(seconds * 1e3, 2) for name, seconds in best.items()},
        "ratio_to_eager": {name: round(seconds / eager, 3) for name, seconds in best.items()},
    }


def main() -> int:
    """Measure, print JSON, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--vocabulary", default=str(ROOT / ".venv" / "vocab" / "qwen.tiktoken"))
    options = parser.parse_args()
    found: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "python": platform.python_version(),
        "hostile": hostile(options.jobs),
    }
    kept = not found["hostile"]["over_limit_plus_100_ms"] and not found["hostile"]["processes_left"]
    kept = kept and not found["hostile"]["descriptors_left"]
    kept = kept and found["hostile"]["memory_grown_mb"] < 30
    if Path(options.vocabulary).exists():
        tokenizer = Tokenizer.from_tiktoken(
            options.vocabulary, ["<|endoftext|>", "<|im_start|>", "<|im_end|>"], vocab_size=152_064
        )
        found["round_trip"] = round_trips(tokenizer)
        found["first_mask_of_20_tools"] = first_mask(tokenizer)
        kept = kept and found["round_trip"]["new_schema_ms_p50"] <= ROUND_TRIP_MS
    found["holds"] = kept
    print(json.dumps(found, indent=2))
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
