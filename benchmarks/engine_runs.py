"""xgrammar over a real vocabulary, one schema a child process, under limits.

What `compile_caps.py` and `cost_model.py` measure with. The engine and the vocabulary are loaded
once; each case runs in a forked child with limits on processor time, memory and wall time, one at a
time, so that a case may hang, crash or eat memory. Times are processor time of the one thread that
works.
"""

from __future__ import annotations

import base64
import json
import os
import random
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Schema = dict[str, Any]
Row = dict[str, Any]

#: `qwen.tiktoken`, which the wheel of `dashscope` 2.0.2 holds under `dashscope/resources/`.
VOCABULARY = Path(sys.prefix, "vocab/qwen.tiktoken")
WIDTH = 152_064
STOP = 151_643

#: What `Compiler` asks of the engine when nothing else is said.
OPTIONS = {"any_whitespace": True, "strict_mode": True, "max_whitespace_cnt": 2}

#: What most schemas have in common.
WARM_UP = (
    '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"},"c":{"type":'
    '"array","items":{"type":"string"}}},"required":["a"],"additionalProperties":false}'
)

CPU_SECONDS, WALL_SECONDS, EXTRA_MEMORY = 8, 20, 3 << 30
#: Seeds of random outputs for each schema, tokens of one, and processor seconds for all of them.
WALKS, TOKENS, WALK_SECONDS = range(4), 100, 0.8
#: A mask is timed again from here on: another process may have had the core's caches.
_DEAR_MASK = 0.004


class Engine:
    """xgrammar with its vocabulary, loaded once; `run` forks a child for each case."""

    def __init__(self, vocabulary: Path = VOCABULARY) -> None:
        os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
        import numpy as np
        import xgrammar

        self.numpy = np
        self.xgrammar = xgrammar
        with vocabulary.open("rb") as lines:
            tokens = [base64.b64decode(line.split()[0]) for line in lines]
        assert len(tokens) == STOP
        self.texts = [*tokens, b""]
        self.lengths = np.array([*map(len, tokens), 1])
        self.structural = np.array(
            [*(t[:1] in (b'"', b",", b"}", b"]", b":") for t in tokens), False]
        )
        self.tokens = xgrammar.TokenizerInfo(
            [*tokens, b"<stop>"],
            vocab_type=xgrammar.VocabType.RAW,
            vocab_size=WIDTH,
            stop_token_ids=[STOP],
        )

    def run(
        self,
        schema: Schema | str,
        texts: Iterable[str] = (),
        *,
        walks: Sequence[int] = WALKS,
        dynamic: bool = False,
        warm: bool = False,
        rules: bool = False,
    ) -> Row:
        """Compile a schema and take masks along outputs, in a child process.

        Args:
            schema: what to compile.
            texts: JSON texts to follow, as far as the grammar accepts them.
            walks: seeds of random outputs to follow, drawn from the masks. Those divisible by 3
                stay inside what they are in, the others go on as outputs of models do; those with
                a rest of 2 take forced text without masks.
            dynamic: compile on demand.
            warm: the compiler has compiled a small schema before.
            rules: count the rules of the grammar, too (which makes it once more).

        Returns:
            `compile_ms` and `convert_ms` (processor time), `peak_mb` (growth of resident memory),
            `kept_mb` (the grammar's own estimate), `mask_ms` (the worst of `masks`), `first_ms`
            (the first mask), `masks_ms` (all of them), `walk_ms` (those of each walk), `rules`,
            `error` (the engine refused) or `end` (what killed it).
        """
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            try:
                self._measure(schema, list(texts), writer, walks, dynamic, warm, rules)
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

    def _measure(
        self,
        schema: Schema | str,
        texts: list[str],
        writer: int,
        walks: Sequence[int],
        dynamic: bool,
        warm: bool,
        rules: bool,
    ) -> None:
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
        source = schema if isinstance(schema, str) else json.dumps(schema, ensure_ascii=False)
        compiler = self.xgrammar.GrammarCompiler(
            self.tokens, max_threads=1, enable_dynamic_compilation=dynamic
        )
        if warm:
            compiler.compile_json_schema(WARM_UP, **OPTIONS)
        began = time.thread_time()
        try:
            grammar = compiler.compile_json_schema(source, **OPTIONS)
        except (RuntimeError, MemoryError) as error:
            say(error=str(error).strip()[-80:], error_ms=ms(time.thread_time() - began))
            return
        spent = time.thread_time() - began
        say(
            compile_ms=ms(spent),
            peak_mb=round(resident_peak() - before, 1),
            kept_mb=round(grammar.memory_size_bytes / 2**20, 2),
        )
        if texts or walks:
            say(**self._masks(grammar, texts, walks), peak_mb=round(resident_peak() - before, 1))
        if rules:
            began = time.thread_time()
            made = self.xgrammar.Grammar.from_json_schema(source, **OPTIONS)
            spent = time.thread_time() - began
            text = str(made)
            say(convert_ms=ms(spent), rules=text.count("::="), ebnf=len(text))

    def _masks(self, grammar: Any, texts: list[str], walks: Sequence[int]) -> Row:
        """The dearest mask along texts that are given and outputs drawn at random."""
        np = self.numpy
        mask = self.xgrammar.allocate_token_bitmask(1, WIDTH)
        words = mask.numpy()[0]
        spent: list[float] = []
        where = ""

        def fill(matcher: Any) -> None:
            nonlocal where
            took = timed(lambda: matcher.fill_next_token_bitmask(mask, 0))
            if took > _DEAR_MASK:
                took = min(took, timed(lambda: matcher.fill_next_token_bitmask(mask, 0)))
            if took > max(spent, default=0):
                where = output[-60:]
            spent.append(took)

        for text in texts:
            matcher = self.xgrammar.GrammarMatcher(grammar)
            output = ""
            step = -(-len(text) // TOKENS)
            for at in range(0, len(text), step):
                fill(matcher)
                output = text[: at + step]
                if not matcher.accept_string(text[at : at + step]):
                    break
        began = time.thread_time()
        dead = done = 0
        by_walk = []
        for walk in walks:
            before = sum(spent)
            rng = random.Random(walk)
            matcher = self.xgrammar.GrammarMatcher(grammar)
            output = ""
            for _ in range(TOKENS):
                forced = matcher.find_jump_forward_string() if walk % 3 == 2 else ""
                if len(forced) > 4:
                    output += forced
                    matcher.accept_string(forced)
                fill(matcher)
                allowed = np.flatnonzero(np.unpackbits(words.view("u1"), bitorder="little"))
                if not len(allowed):
                    dead += 1
                    break
                going = allowed[allowed != STOP]
                if not len(going) or time.thread_time() - began > WALK_SECONDS:
                    done += 1
                    break
                if walk % 3 == 0:
                    # Half of the steps write one byte: what was open stays open for longer.
                    some = going[self.lengths[going] == 1] if rng.random() < 0.5 else going
                else:
                    # Strings end soon, as those of models do, and the output gets somewhere.
                    some = going[self.structural[going]] if rng.random() < 0.5 else going
                token = int(rng.choice(some if len(some) else going))
                matcher.accept_token(token)
                output += self.texts[token].decode("utf-8", "replace")
            by_walk.append(ms(sum(spent) - before))
        return {
            "mask_ms": ms(max(spent)),
            "first_ms": ms(spent[0]),
            "masks_ms": ms(sum(spent)),
            "masks": len(spent),
            "walk_ms": by_walk,
            "mask_at": where,
            "dead": dead,
            "done": done,
        }


def timed(call: Any) -> float:
    """Processor seconds of a call."""
    began = time.thread_time()
    call()
    return time.thread_time() - began


def ms(seconds: float) -> float:
    """Milliseconds, rounded."""
    return round(seconds * 1e3, 3)


def resident_peak() -> float:
    """The peak of this process's resident memory in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmHWM in /proc/self/status")
