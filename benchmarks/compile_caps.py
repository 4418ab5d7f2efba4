"""Claim: the caps on nesting and on patterns keep xgrammar to about a second and cheap masks.

Within the caps, xgrammar 0.2.9 compiles a schema for a vocabulary of 151,643 tokens on one core

- in about 1 s (at most 1.2 s) and 512 MB for every shape tested, and in at most 3 s for the worst
  of random patterns that were made to just pass;
- and no mask of such a schema takes 20 ms, since cheap compiling can hide dear masks.

Each cap is about as large as that allows, and patterns of real schemas are seldom refused.

Every case runs in a child process with limits on processor time, memory and wall time, one at a
time, so that a case may hang, crash or eat memory. No case comes near the sizes at which the engine
is known to crash. Run it on Linux where schemaguard is installed with its `xgrammar` extra:

    python benchmarks/compile_caps.py > docs/measurements/compile_caps.json

It takes three minutes of processor time and needs `qwen.tiktoken`, which the wheel of `dashscope`
2.0.2 holds under `dashscope/resources/`. `--corpora` names a folder with `tools.jsonl.gz` and
`schemas.jsonl.gz` (records with a `schema`); without it no false refusals are counted.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import os
import platform
import random
import resource
import select
import signal
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemaguard.patterns import measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Schema = dict[str, Any]
Row = dict[str, Any]

# The proposal. A schema is nested one level deeper than the schema that holds it, whatever keyword
# holds it. Repeats are those of `schemaguard.patterns.measure`; the document sum is over the
# distinct patterns and names of `patternProperties`, for xgrammar compiles equal ones once.
CAPS = {
    "nesting": 64,
    "pattern-length": 1_536,
    "pattern-group-depth": 32,
    "pattern-bound": 128,
    "pattern-repeats": 1_700,
    "document-repeats": 1_700,
}

TARGET_MS, TARGET_MB, TARGET_MASK_MS = 1_200, 512, 20
RANDOM_TARGET_MS = 3_000

CPU_SECONDS, WALL_SECONDS, EXTRA_MEMORY = 6, 10, 2 << 30
MASKS = 50
VOCABULARY = 152_064
STOP = 151_643

PROSE = "The quick brown fox jumps over 12 dogs, and then some more words follow until the end. "
LOWER = "thequickbrownfoxjumpsoverthelazydogandthensomemorewordsfollow"


class Engine:
    """xgrammar with its vocabulary, loaded once; `run` forks a child for each case."""

    def __init__(self, vocabulary: Path) -> None:
        os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
        import xgrammar

        self.xgrammar = xgrammar
        with vocabulary.open("rb") as lines:
            tokens = [base64.b64decode(line.split()[0]) for line in lines]
        assert len(tokens) == STOP
        self.tokens = xgrammar.TokenizerInfo(
            [*tokens, b"<stop>"],
            vocab_type=xgrammar.VocabType.RAW,
            vocab_size=VOCABULARY,
            stop_token_ids=[STOP],
        )

    def run(self, schema: Schema, text: str) -> Row:
        """Compile a schema and take masks along a text, in a child process.

        Args:
            schema: What to compile.
            text: JSON text to follow, as far as the grammar accepts it.

        Returns:
            `compile_ms` (processor time), `peak_mb` (growth of resident memory), `mask_ms` (the
            worst of `masks`, wall time, the best of three fills), `accept_ms` (the worst step),
            `error` (the engine refused) or `end` (what killed it).
        """
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            try:
                self._measure(schema, text, writer)
            finally:
                os._exit(0)
        os.close(writer)
        answer = b""
        deadline = time.monotonic() + WALL_SECONDS
        late = False
        while not late:
            ready, _, _ = select.select([reader], [], [], max(deadline - time.monotonic(), 0))
            late = not ready
            data = os.read(reader, 65_536) if ready else b""
            if ready and not data:
                break
            answer += data
        if late:
            os.kill(child, signal.SIGKILL)
        os.close(reader)
        _, status = os.waitpid(child, 0)
        row: Row = {}
        for line in answer.splitlines():
            row.update(json.loads(line))
        if late:
            row["end"] = "wall time"
        elif os.WIFSIGNALED(status):
            row["end"] = signal.Signals(os.WTERMSIG(status)).name
        return row

    def _measure(self, schema: Schema, text: str, writer: int) -> None:
        """The body of the child; it writes one JSON object a line as soon as it knows more."""

        def say(**facts: object) -> None:
            os.write(writer, json.dumps(facts).encode() + b"\n")

        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts here
        before = resident_peak()
        used = int(time.process_time()) + 1 + CPU_SECONDS
        resource.setrlimit(resource.RLIMIT_CPU, (used, used))
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        memory = pages * resource.getpagesize() + EXTRA_MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        source = json.dumps(schema)
        compiler = self.xgrammar.GrammarCompiler(self.tokens, max_threads=1)
        began = time.process_time()
        try:
            grammar = compiler.compile_json_schema(source)
        except (RuntimeError, MemoryError) as error:
            say(error=str(error).strip()[-80:])
            return
        spent = time.process_time() - began
        say(compile_ms=round(spent * 1e3, 1), peak_mb=round(resident_peak() - before, 1))
        matcher = self.xgrammar.GrammarMatcher(grammar)
        mask = self.xgrammar.allocate_token_bitmask(1, VOCABULARY)
        worst_mask = worst_accept = 0.0
        taken = 0
        step = -(-len(text) // MASKS)
        for at in range(0, len(text), step):
            fills = []
            for _ in range(3):
                began = time.perf_counter()
                matcher.fill_next_token_bitmask(mask, 0)
                fills.append(time.perf_counter() - began)
            taken += 1
            worst_mask = max(worst_mask, min(fills))
            began = time.perf_counter()
            accepted = matcher.accept_string(text[at : at + step])
            worst_accept = max(worst_accept, time.perf_counter() - began)
            if not accepted:
                break
        say(
            mask_ms=round(worst_mask * 1e3, 2),
            accept_ms=round(worst_accept * 1e3, 2),
            masks=taken,
            peak_mb=round(resident_peak() - before, 1),
        )


def resident_peak() -> float:
    """The peak of this process's resident memory in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmHWM in /proc/self/status")


def closed(properties: Schema) -> Schema:
    """A closed object schema that requires every property."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def with_pattern(pattern: str) -> Schema:
    """A tool schema with one string."""
    return closed({"x": {"type": "string", "pattern": pattern}})


# Shapes of nesting: one more level around a schema, and the text that leads one level deeper.
NESTING: dict[str, tuple[Callable[[Schema], Schema], str]] = {
    "items": (lambda inner: {"type": "array", "items": inner}, "["),
    "anyOf": (lambda inner: {"anyOf": [inner, {"type": "null"}]}, ""),
    "anyOf of four": (
        lambda inner: {"anyOf": [inner, {"type": "null"}, {"type": "integer"}, {"type": "array"}]},
        "",
    ),
    "oneOf": (lambda inner: {"oneOf": [{"type": "integer"}, inner]}, ""),
    "properties": (lambda inner: closed({"a": inner}), '{"a":'),
    "properties, open": (
        lambda inner: {"type": "object", "properties": {"a": inner}, "required": ["a"]},
        '{"a":',
    ),
    "properties, nine a level": (
        lambda inner: closed(
            {"a": inner, **{f"p{n}": {"type": "string", "enum": ["x", "y"]} for n in range(8)}}
        ),
        '{"a":',
    ),
    "additionalProperties": (
        lambda inner: {"type": "object", "additionalProperties": inner},
        '{"a":',
    ),
}
DEPTHS = (8, 16, 32, 64, 96, 128, 192, 256)


def nested(shape: str, depth: int) -> tuple[Schema, str]:
    """A string schema inside so many levels of a shape, and text that leads to it."""
    schema: Schema = {"type": "string"}
    text = '"x"'
    names = ("properties", "items", "anyOf") if shape == "mixed" else (shape,)
    for level in range(depth):
        wrap, lead = NESTING[names[level % len(names)]]
        schema = wrap(schema)
        text = lead + text
    return schema, text


def words(count: int) -> list[str]:
    """So many different words of seven letters."""
    rng = random.Random(1)
    return ["".join(rng.choices(LOWER[:26], k=7)) for _ in range(count)]


# Shapes of patterns: a pattern for a size, the sizes, and text that follows it.
PATTERNS: dict[str, tuple[Callable[[int], str], tuple[int, ...], str]] = {
    "a{1,N}": (lambda n: f"^a{{1,{n}}}$", (64, 128, 256, 1000, 3000), "a" * 400),
    "[0-9a-f]{N}": (lambda n: f"^[0-9a-f]{{{n}}}$", (40, 64, 128, 256, 1000), "1f" * 200),
    "[a-z]{1,N}": (lambda n: f"^[a-z]{{1,{n}}}$", (32, 64, 128, 129, 256, 1000), LOWER * 4),
    "[a-zA-Z0-9_-]{1,N}": (
        lambda n: f"^[a-zA-Z0-9_-]{{1,{n}}}$",
        (32, 64, 128, 129, 256),
        LOWER * 4,
    ),
    "[a-zA-Z ]{1,N}": (lambda n: f"^[a-zA-Z ]{{1,{n}}}$", (16, 32, 48, 53, 64, 128, 129), LOWER),
    ".{0,N}": (lambda n: f"^.{{0,{n}}}$", (16, 32, 48, 53, 64, 128, 129, 500), PROSE * 4),
    ".{1,N}": (lambda n: f"^.{{1,{n}}}$", (16, 32, 48, 53, 64, 128, 129, 500), PROSE * 4),
    "(a{1,N}){1,N}": (lambda n: f"(a{{1,{n}}}){{1,{n}}}", (4, 8, 16, 32), "a" * 200),
    "([a-z]{1,N}){1,N}": (lambda n: f"^([a-z]{{1,{n}}}){{1,{n}}}$", (2, 4, 5, 6, 10), LOWER),
    "(.{1,N}){1,N}": (lambda n: f"^(.{{1,{n}}}){{1,{n}}}$", (2, 3, 4, 5, 7), PROSE),
    "(\\w{1,N} ?){1,N}": (lambda n: f"(\\w{{1,{n}}} ?){{1,{n}}}", (2, 3, 4, 5, 7), PROSE),
    "(\\s{0,N},?){N}": (lambda n: f"^(\\s{{0,{n}}},?){{{n}}}$", (4, 8, 12, 16, 24), " , , "),
    "([0-9a-f]{1,N}-?){1,N}": (
        lambda n: f"^([0-9a-f]{{1,{n}}}-?){{1,{n}}}$",
        (4, 8, 16, 24, 32),
        "1f-" * 60,
    ),
    "(.*,)? x N": (lambda n: "^" + "(.*,)?" * n + "$", (4, 8, 16, 24), PROSE),
    "\\w? x N": (lambda n: "^" + "\\w?" * n + "$", (8, 16, 20, 32), LOWER),
    "\\d*-? x N": (lambda n: "^" + "\\d*-?" * n + "$", (50, 100, 200, 300, 400), "12-" * 60),
    "literal of N": (lambda n: "^" + (LOWER * 99)[:n] + "$", (256, 1000, 1700, 4000), LOWER),
    "N words": (lambda n: "^(" + "|".join(words(n)) + ")$", (16, 64, 240, 500), words(1)[0]),
    "N groups": (lambda n: "^" + "(" * n + "a" + ")" * n + "$", (8, 16, 32, 64), "a"),
    "N groups, looped": (
        lambda n: "^" + "(\\w?" * n + "a" + ")+" * n + "$",
        (4, 8, 16, 32),
        "aaaa",
    ),
    "raw é, [a-z]{1,N}": (lambda n: f"^é?[a-z]{{1,{n}}}$", (8, 16, 25, 64), LOWER),
    "raw é, (\\w+ ?){N}": (lambda n: f"^é?(\\w+ ?){{{n}}}$", (2, 4), PROSE),
}

# Ten patterns in one schema: equal, or different and each a tenth of the document's sum.
DOCUMENTS: dict[str, Callable[[int], list[str]]] = {
    "ten equal .{1,N}": lambda n: [f"^.{{1,{n}}}$"] * 10,
    "ten different .{k,N}": lambda n: [f"^.{{{k % n},{n}}}{'x' * (k // n)}$" for k in range(10)],
    "ten equal \\w{1,N}": lambda n: [f"^\\w{{1,{n}}}$"] * 10,
    "ten different \\w{k,N}": lambda n: [f"^\\w{{{k},{n}}}$" for k in range(10)],
}
DOCUMENT_SIZES = {".": (5, 10, 20, 50), "\\": (20, 40, 80, 128)}

ATOMS = {
    "narrow": ("a", "x1", r"\d", "[0-9a-f]", "[aeiou]", "-", r"\s", "[etains]", r"[\s,-]"),
    "letters": ("[a-z]", r"\w", "[a-zA-Z0-9_-]", "[A-Z]", "[a-f ]", "[a-z0-9._@/:?&=%+#-]"),
    "wide": (".", "[^,]", r"\S", "[a-zA-Z ]", r"[\w\s]", r"\D"),
}


def random_pattern(rng: random.Random, depth: int) -> str:
    """A pattern of nested groups and repetitions."""
    out = []
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4))):
        if depth and rng.random() < 0.35:
            atom = f"({random_pattern(rng, depth - 1)})"
        else:
            atom = rng.choice(ATOMS[rng.choice(("narrow", "letters", "letters", "wide"))])
            if atom == "x1":
                atom = "(?:x1)"
        times = rng.choice((2, 3, 5, 10, 20, 40, 64, 100, 128))
        ends = ("", "", "", "?", "*", "+", f"{{{times}}}", f"{{0,{times}}}", f"{{1,{times}}}")
        out.append(atom + rng.choice(ends))
    return "".join(out) + (f"|{random_pattern(rng, 0)}" if rng.random() < 0.15 else "")


def just_passing(count: int) -> Iterator[str]:
    """Seeded random patterns that pass the caps and use up at least half of the repeats.

    Every sixth has a raw character beyond ASCII, of which xgrammar makes another kind of grammar.
    """
    rng = random.Random(2026)
    found = 0
    while found < count:
        raw = found % 6 == 5
        pattern = f"^{'é?' if raw else ''}{random_pattern(rng, 3)}$"
        low = CAPS["pattern-repeats"] // (10 if raw else 2)
        if measure(pattern).repeats >= low and passes(pattern):
            found += 1
            yield pattern


def passes(pattern: str) -> bool:
    """Whether a pattern is within the caps."""
    cost = measure(pattern)
    return (
        cost.length <= CAPS["pattern-length"]
        and cost.group_depth <= CAPS["pattern-group-depth"]
        and cost.max_bound <= CAPS["pattern-bound"]
        and cost.repeats <= CAPS["pattern-repeats"]
    )


def string(body: str) -> str:
    """JSON text for `with_pattern`, left open."""
    return '{"x":"' + body[:400]


def series(engine: Engine) -> Iterator[Row]:
    """Every shape at growing sizes; a series ends when it has become far too dear."""
    for shape in (*NESTING, "mixed"):
        for depth in DEPTHS:
            row = engine.run(*nested(shape, depth))
            yield {"family": "nesting", "shape": shape, "n": depth, **row} | {
                "passes": depth <= CAPS["nesting"]
            }
            if far_too_dear(row):
                break
    for shape, (make, sizes, text) in PATTERNS.items():
        for size in sizes:
            pattern = make(size)
            row = engine.run(with_pattern(pattern), string(text))
            yield {"family": "pattern", "shape": shape, "n": size, **cost_of(pattern), **row}
            if far_too_dear(row):
                break
    for shape, patterns_of in DOCUMENTS.items():
        for size in DOCUMENT_SIZES[shape.split()[2][0]]:
            patterns = patterns_of(size)
            total = sum(measure(pattern).repeats for pattern in set(patterns))
            schema = closed(
                {f"p{n}": {"type": "string", "pattern": p} for n, p in enumerate(patterns)}
            )
            row = engine.run(schema, '{"p0":"')
            ok = total <= CAPS["document-repeats"] and all(map(passes, patterns))
            yield {
                "family": "document",
                "shape": shape,
                "n": size,
                "repeats": total,
                "passes": ok,
                **row,
            }
            if far_too_dear(row):
                break


def cost_of(pattern: str) -> Row:
    """The measure of a pattern, as columns."""
    cost = measure(pattern)
    return {
        "length": cost.length,
        "group_depth": cost.group_depth,
        "max_bound": cost.max_bound,
        "repeats": cost.repeats,
        "passes": passes(pattern),
    }


def far_too_dear(row: Row) -> bool:
    """Whether the next size of a series would only burn time."""
    return "end" in row or row.get("compile_ms", 0) > 2.5 * TARGET_MS


def within(row: Row, compile_ms: float = TARGET_MS) -> bool:
    """Whether a case met the targets; one that the engine refuses costs nothing."""
    return "error" in row or (
        "end" not in row
        and row["compile_ms"] <= compile_ms
        and row["peak_mb"] <= TARGET_MB
        and row["mask_ms"] <= TARGET_MASK_MS
    )


def patterns_in(schema: object) -> Iterator[str]:
    """Every string under a `pattern` and every name under `patternProperties`, with repeats."""
    stack = [schema]
    while stack:
        value = stack.pop()
        if isinstance(value, list):
            stack.extend(value)
        elif isinstance(value, dict):
            if isinstance(value.get("pattern"), str):
                yield value["pattern"]
            if isinstance(value.get("patternProperties"), dict):
                yield from value["patternProperties"]
            stack.extend(value.values())


IN_VALUE = (
    *("items", "additionalItems", "unevaluatedItems", "contains"),
    *("additionalProperties", "unevaluatedProperties", "propertyNames"),
    *("not", "if", "then", "else"),
)
IN_LIST = ("anyOf", "oneOf", "allOf", "prefixItems", "items")
IN_MAP = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def nesting_of(schema: object) -> int:
    """How deep the deepest subschema lies."""
    deepest = 0
    stack = [(schema, 0)]
    while stack:
        value, depth = stack.pop()
        if not isinstance(value, dict):
            continue
        deepest = max(deepest, depth)
        below: list[object] = [value[name] for name in IN_VALUE if name in value]
        for name in IN_LIST:
            if isinstance(value.get(name), list):
                below += value[name]
        for name in IN_MAP:
            if isinstance(value.get(name), dict):
                below += value[name].values()
        stack.extend((inner, depth + 1) for inner in below)
    return deepest


def real_schemas(engine: Engine, corpora: Path) -> Row:
    """What the caps refuse of real schemas, and which of those are cheap all the same."""
    uses: dict[str, int] = {}
    sums: list[tuple[int, bool]] = []
    nestings = []
    for name in ("tools", "schemas"):
        with gzip.open(corpora / f"{name}.jsonl.gz", "rt") as lines:
            for line in lines:
                schema = json.loads(line)["schema"]
                nestings.append(nesting_of(schema))
                found = list(patterns_in(schema))
                for pattern in found:
                    uses[pattern] = uses.get(pattern, 0) + 1
                if found:
                    distinct = set(found)
                    total = sum(measure(pattern).repeats for pattern in distinct)
                    sums.append((total, all(map(passes, distinct))))
    costs = {pattern: measure(pattern) for pattern in uses}

    def refused(over: Callable[[Any], bool]) -> Row:
        hit = [pattern for pattern, cost in costs.items() if over(cost)]
        return {"patterns": len(hit), "uses": sum(uses[pattern] for pattern in hit)}

    by_cap = {
        "pattern-length": refused(lambda c: c.length > CAPS["pattern-length"]),
        "pattern-group-depth": refused(lambda c: c.group_depth > CAPS["pattern-group-depth"]),
        "pattern-bound": refused(lambda c: c.max_bound > CAPS["pattern-bound"]),
        "pattern-repeats": refused(lambda c: c.repeats > CAPS["pattern-repeats"]),
    }
    cheap: list[int] = []
    dear: list[Row] = []
    checked = 0
    for pattern, cost in costs.items():
        # Patterns far below the cap are known to be cheap; compiling them all takes minutes.
        if cost.repeats * 5 < CAPS["pattern-repeats"] and passes(pattern):
            continue
        checked += 1
        row = engine.run(with_pattern(pattern), string("a1bafoo12c" * 30))
        if passes(pattern) and not within(row):
            dear.append({"repeats": cost.repeats, **row})
        elif not passes(pattern) and within(row):
            cheap.append(uses[pattern])
    document_cap = CAPS["document-repeats"]
    return {
        "schemas": len(nestings),
        "schemas_with_patterns": len(sums),
        "patterns": len(uses),
        "pattern_uses": sum(uses.values()),
        "deepest_nesting": max(nestings),
        "refused_by_nesting": sum(depth > CAPS["nesting"] for depth in nestings),
        "refused_by_cap": by_cap,
        "refused_by_any_pattern_cap": {
            "patterns": sum(not passes(pattern) for pattern in uses),
            "uses": sum(count for pattern, count in uses.items() if not passes(pattern)),
        },
        "of_these_within_the_targets": {"patterns": len(cheap), "uses": sum(cheap)},
        "passing_but_over_the_targets": dear,
        "patterns_compiled": checked,
        "documents_refused_by_sum_alone": {
            str(factor * document_cap): sum(
                total > factor * document_cap and ok for total, ok in sums
            )
            for factor in (1, 2, 3, 4)
        },
    }


def limits_of(rows: list[Row]) -> dict[str, Row]:
    """For each series: the largest size that met the targets, and the first that did not."""
    out: dict[str, Row] = {}
    for row in rows:
        name = f"{row['family']}: {row['shape']}"
        entry = out.setdefault(name, {"met": None, "missed": None})
        if within(row) and entry["missed"] is None:
            entry["met"] = row["n"]
        elif not within(row) and entry["missed"] is None:
            entry["missed"] = row["n"]
    return out


def worst(rows: list[Row]) -> Row:
    """The largest of each column over rows that ended well."""
    columns = ("compile_ms", "peak_mb", "mask_ms", "accept_ms")
    return {name: max((row[name] for row in rows if name in row), default=None) for name in columns}


def main() -> int:
    """Measure, print JSON, and say whether the claim holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocabulary", type=Path, default=Path(sys.prefix, "vocab/qwen.tiktoken"))
    parser.add_argument("--corpora", type=Path)
    parser.add_argument("--random", type=int, default=100, help="how many random patterns")
    arguments = parser.parse_args()
    if not arguments.vocabulary.exists():
        parser.error(f"no vocabulary at {arguments.vocabulary}; see the top of this script")
    began = time.monotonic()
    engine = Engine(arguments.vocabulary)

    rows = list(series(engine))
    passing = [row for row in rows if row["passes"]]
    samples = [
        {"pattern": pattern, **cost_of(pattern), **engine.run(with_pattern(pattern), string(text))}
        for pattern in just_passing(arguments.random)
        for text in ("a1bafoo12c" * 30,)
    ]
    samples.sort(key=lambda row: -row.get("compile_ms", 0))
    real = real_schemas(engine, arguments.corpora) if arguments.corpora else None

    over = [row for row in passing if not within(row)]
    far_over = [row for row in samples if not within(row, RANDOM_TARGET_MS)]
    holds = not over and not far_over
    compile_times = sorted(row.get("compile_ms", 0) for row in samples)
    report = {
        "about": {
            "xgrammar": version("xgrammar"),
            "python": platform.python_version(),
            "vocabulary": VOCABULARY,
            "seconds": round(time.monotonic() - began),
            "targets": {
                "compile_ms": TARGET_MS,
                "peak_mb": TARGET_MB,
                "mask_ms": TARGET_MASK_MS,
                "random_compile_ms": RANDOM_TARGET_MS,
            },
        },
        "rows": rows,
        "dearest_random_patterns": samples[:12],
        "largest_size_that_met_the_targets": limits_of(rows),
        "real_schemas": real,
        "passing_shapes": worst(passing) | {"cases": len(passing), "over": over},
        "random_patterns": worst(samples)
        | {
            "cases": len(samples),
            "median_compile_ms": compile_times[len(samples) // 2],
            "over_1_s": sum(spent > 1_000 for spent in compile_times),
            "over": far_over,
        },
        "proposed_caps": CAPS,
        "claim_holds": holds,
    }
    print(one_case_a_line(report))
    return 0 if holds else 1


def one_case_a_line(report: Row) -> str:
    """JSON of a report whose lists and objects have one line for each entry."""
    parts = []
    for name, value in report.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list) and value:
            lines = ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value)
            text = f"[\n  {lines}\n ]"
        elif isinstance(value, dict):
            lines = ",\n  ".join(
                f"{json.dumps(key, ensure_ascii=False)}: {json.dumps(entry, ensure_ascii=False)}"
                for key, entry in value.items()
            )
            text = f"{{\n  {lines}\n }}"
        parts.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}"


if __name__ == "__main__":
    raise SystemExit(main())
