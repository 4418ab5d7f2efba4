"""The inner loop of a serving engine: requests join and leave a running batch, under masks.

    python examples/engine_loop.py [--seed N]

The "model" gives random logits, so all that its outputs have in common with the schemas is due to
the masks. An engine has its own model, sampler and scheduler; the lines that it takes over are the
calls of `schemaguard`:

* a schema is compiled when its request joins, and a request whose schema is refused never joins;
* every step fills the masks of all rows at once and applies them in place;
* text that can only go one way is appended without asking the model (jump-forward);
* a row at a dead end is one failed request, and the step goes on for the others.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import deque

import torch

from schemaguard import check
from schemaguard.errors import CompileError
from schemaguard.grammar import Compiler, DeadEnd, Matcher, Tokenizer

ROWS = 4  # of the running batch
MOST_TOKENS = 200  # of one output

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"enum": ["Oslo", "Turin", "Kyoto"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
SWITCH = {
    "type": "object",
    "properties": {
        "lamps": {"type": "array", "items": {"type": "integer", "minimum": 1, "maximum": 99}},
        "on": {"type": "boolean"},
    },
    "required": ["lamps", "on"],
    "additionalProperties": False,
}
CODE = {
    "type": "object",
    "properties": {"code": {"type": "string", "pattern": "^[A-Z]{2}-(.{1,30}){1,30}$"}},
    "required": ["code"],
    "additionalProperties": False,
}  # minutes of compiling
IDENTIFIER = {
    "type": "object",
    "properties": {"id": {"type": "string", "pattern": "^id-[^\\d\\D]$"}},
    "required": ["id"],
    "additionalProperties": False,
}  # no character is in that class
REQUESTS = {
    "weather-1": WEATHER,
    "switch-1": SWITCH,
    "chat": None,  # no schema: its row is never masked
    "weather-2": WEATHER,
    "code-1": CODE,
    "id-1": IDENTIFIER,
    "switch-2": SWITCH,
    "weather-3": WEATHER,
}


class Output:
    """One request in the batch."""

    def __init__(self, name: str, matcher: Matcher | None) -> None:
        self.name = name
        self.matcher = matcher
        self.tokens: list[int] = []
        self.jumped = 0  # tokens that the model was not asked for


def join(name: str, schema: object, compiler: Compiler) -> Output | None:
    """Take a request into the batch, or say why not."""
    if schema is None:
        return Output(name, None)
    report = check(schema)  # Dynamo's contract; for others: profile="xgrammar"
    if report.accepted is None:
        print(f"{name}: refused, {report.errors[0].message}")
        return None
    try:
        compiled = compiler.compile(report.accepted)
    except CompileError as error:
        print(f"{name}: refused, {error}")
        return None
    output = Output(name, compiled.matcher(request=name))
    jump(output)
    return output


def jump(output: Output) -> None:
    """Append what must come next; an engine prefills these tokens with the next sampled one."""
    if output.matcher is not None:
        forced = output.matcher.forced_tokens()
        output.tokens += forced[: output.matcher.accept_tokens(forced)]
        output.jumped += len(forced)


def is_over(output: Output) -> bool:
    """Whether a request leaves the batch."""
    ended = output.matcher is not None and output.matcher.is_terminated
    return ended or len(output.tokens) >= MOST_TOKENS


def leave(output: Output, tokenizer: Tokenizer) -> None:
    """Answer a request."""
    text = tokenizer.decode(output.tokens)
    if output.matcher is None:
        print(f"{output.name}: {len(text)} bytes of anything")
    elif not output.matcher.is_terminated:
        print(f"{output.name}: cut off after {len(output.tokens)} tokens")
    else:
        call = json.dumps(json.loads(text), ensure_ascii=False)
        print(f"{output.name}: {call}, {output.jumped} of {len(output.tokens)} tokens were forced")


def main() -> None:
    """Serve the requests."""
    parser = argparse.ArgumentParser(description="An engine loop under token masks.")
    parser.add_argument("--seed", type=int, default=0)
    torch.manual_seed(parser.parse_args().seed)
    tokenizer = Tokenizer.byte_level()
    waiting = deque(REQUESTS.items())
    batch: list[Output] = []
    steps = 0
    began = time.perf_counter()

    with Compiler(tokenizer) as compiler:
        masks = compiler.masks(ROWS)  # one buffer, for as long as the engine runs
        while waiting or batch:
            while waiting and len(batch) < ROWS:
                output = join(*waiting.popleft(), compiler)
                if output is not None:
                    batch.append(output)
            if not batch:
                continue

            logits = torch.randn(len(batch), tokenizer.vocab_size)  # here goes the model
            failed: tuple[int, ...] = ()
            try:
                masks.fill_batch([output.matcher for output in batch])
            except DeadEnd as error:
                failed = error.rows  # they allow the stop tokens now, so nothing is NaN
            masks.apply_(logits)
            sampled = torch.multinomial(torch.softmax(logits, dim=-1), 1).flatten().tolist()

            stay = []
            for row, (output, token) in enumerate(zip(batch, sampled, strict=True)):
                if row in failed:
                    print(f"{output.name}: failed, its grammar is at a dead end")
                    continue
                output.tokens.append(token)
                if output.matcher is not None:
                    if not output.matcher.accept_token(token):
                        raise RuntimeError(f"{output.name}: sampled against its mask")
                    jump(output)
                if is_over(output):
                    leave(output, tokenizer)
                else:
                    stay.append(output)
            batch = stay
            steps += 1

    seconds = time.perf_counter() - began
    print(f"{steps} steps in {seconds:.2f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
