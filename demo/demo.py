"""The main job on real input: preflight real tools, compile what passes, decode under the masks.

Real MCP servers are asked for their tools. Each tool is checked against the `dynamo` profile; those
that are rejected are closed in memory, to show the difference. What is accepted becomes a grammar
over a real vocabulary of 151,643 tokens, and a decoder that draws random tokens writes arguments
for it: with the masks every one is valid JSON that satisfies the schema; without them, see for
yourself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import jsonschema
import torch
from mcp_tools import tools_of
from referencing import Registry

import schemaguard
from schemaguard.errors import counted, printable
from schemaguard.grammar import CompiledSchema, Compiler, Masks, Tokenizer

ROOT = Path(__file__).resolve().parents[1]
SERVERS = ("mcp-server-time", "mcp-server-fetch", "mcp-server-git")
VOCABULARY = ROOT / ".venv" / "vocab" / "qwen.tiktoken"
#: The control tokens of this vocabulary; they have no text, and the model never writes them.
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{i}|>" for i in range(205))]
#: Random text has no reason to end; a model has. The decoder leans towards short answers: from so
#: many tokens on, the tokens that are shortest as text are preferred, under the same masks.
LEAN_AFTER = 16
MOST_TOKENS = 400


def close(schema: Any) -> Any:
    """A copy in which every object is closed and requires all its properties.

    Only for the demonstration: whether a tool means the same afterwards is for its author to say.
    """
    if isinstance(schema, list):
        return [close(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: close(value) for key, value in schema.items() if key != "default"}
    if made.get("type") == "object" or "properties" in made:
        made["type"] = "object"
        made["additionalProperties"] = False
        made["required"] = list(made.setdefault("properties", {}))
    return made


def row(cells: list[str]) -> str:
    """One row of the table."""
    widths = (30, 9, 9, 58, 24)
    return "  ".join(cell[:width].ljust(width) for cell, width in zip(cells, widths, strict=True))


def preflight(name: str, schema: Any) -> tuple[schemaguard.Report, schemaguard.Report]:
    """Check a tool as it is and closed; print one row."""
    report = schemaguard.check(schema)
    closed = report if report.ok else schemaguard.check(close(schema))
    finding = ""
    if not report.ok:
        first = report.diagnostics[0]
        finding = printable(f"{first.code} #{first.pointer}: {first.message}")
    used = {use.name: use for use in report.budgets}
    budgets = f"{used['properties'].used} props, {used['nodes'].used} nodes"
    words = {True: "accepted", False: "rejected"}
    print(row([printable(name), words[report.ok], words[closed.ok], finding, budgets]))
    return report, closed


def decode(
    compiled: CompiledSchema, masks: Masks | None, tokenizer: Tokenizer, generator: torch.Generator
) -> str:
    """Arguments from random logits: at each step the token that the noise likes best."""
    matcher = compiled.matcher()
    logits = torch.empty(1, tokenizer.vocab_size)
    tokens: list[int] = []
    while len(tokens) < MOST_TOKENS and not matcher.is_terminated:
        logits.normal_(generator=generator)
        if len(tokens) >= LEAN_AFTER:
            logits -= lengths(tokenizer)
        if masks is not None:
            masks.fill(0, matcher)
            masks.apply_(logits)
        token = int(logits.argmax())
        if token in tokenizer.stop_token_ids:
            break
        tokens.append(token)
        if masks is not None and not matcher.accept_token(token):
            raise RuntimeError("the matcher refused a token that its own mask allows")
    return tokenizer.decode(tokens).decode("utf-8", "backslashreplace")


_lengths: list[torch.Tensor] = []


def lengths(tokenizer: Tokenizer) -> torch.Tensor:
    """How much to hold each token's length, and openness, against it."""
    if not _lengths:
        weights = torch.zeros(tokenizer.vocab_size)
        for token in range(tokenizer.vocab_size):
            text = tokenizer.token_bytes(token)
            weights[token] = 2.0 * len(text)
            if text[:1] in (b'"', b"}", b"]", b","):
                weights[token] -= 12.0
        for token in tokenizer.stop_token_ids:
            weights[token] = -20.0
        _lengths.append(weights)
    return _lengths[0]


def is_valid(text: str, schema: Any) -> bool:
    """Whether the text is JSON that satisfies the schema; nothing is ever fetched."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return jsonschema.Draft202012Validator(schema, registry=Registry()).is_valid(value)


def main() -> int:
    """Run the demonstration; the status is 1 when a masked generation was not valid."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--generations", type=int, default=100)
    generations = parser.parse_args().generations
    tools: list[tuple[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for server in SERVERS:
            command = ROOT / ".venv" / "servers" / "bin" / server
            found = tools_of(str(command))
            print(f"{server}: {counted(len(found), 'tool')}")
            tools.extend((tool["name"], tool["inputSchema"]) for tool in found)
        os.chdir(ROOT)

    print("\n" + row(["tool", "as it is", "closed", "first finding", "budgets"]))
    checked = [(name, *preflight(name, schema)) for name, schema in tools]
    ok = sum(report.ok for _, report, _ in checked)
    ok_closed = sum(report.ok for _, _, report in checked)
    print(f"\n{ok} of {len(checked)} accepted as they are, {ok_closed} when closed")

    began = time.perf_counter()
    tokenizer = Tokenizer.from_tiktoken(VOCABULARY, special_tokens=CONTROL)
    compiler = Compiler(tokenizer)
    print(f"vocabulary of {tokenizer.vocab_size:,} tokens: {time.perf_counter() - began:.2f} s")
    grammars: list[tuple[str, Any, CompiledSchema]] = []
    for name, _, report in checked:
        if report.accepted is None:
            continue
        compiled = compiler.compile(report.accepted)
        grammars.append((name, json.loads(report.accepted.text), compiled))
        stats = compiled.stats
        print(f"compiled {name}: {stats.seconds * 1000:.0f} ms, {stats.bytes / 1024:.0f} KiB")

    rng = random.Random(0)  # noqa: S311  (a demonstration that repeats)
    generator = torch.Generator().manual_seed(0)
    masks = compiler.masks(batch_size=1)
    valid = {True: 0, False: 0}
    shown = 0
    for _ in range(generations):
        name, schema, compiled = rng.choice(grammars)
        for masked in (True, False):
            text = decode(compiled, masks if masked else None, tokenizer, generator)
            good = is_valid(text, schema)
            valid[masked] += good
            if shown < 3 and masked:
                shown += 1
                print(f"{printable(name)} <- {printable(text[:100])}")
    print(f"valid under masks: {valid[True]}/{generations}, without: {valid[False]}/{generations}")
    return 0 if valid[True] == generations else 1


if __name__ == "__main__":
    sys.exit(main())
