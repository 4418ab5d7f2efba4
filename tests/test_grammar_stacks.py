"""The compile stage on the smallest stack that `Compiler` says it may run on."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import schemaguard
from schemaguard.grammar.compiler import ENGINE_PROFILE, MIN_STACK_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

pytest.importorskip("xgrammar")

MOST = 5000  # more than any cap allows


def nested(before: str, after: str, core: str = '{"type":"null"}') -> Callable[[int], str]:
    return lambda n: before * n + core + after * n


def pattern(before: str, after: str, core: str = "a") -> Callable[[int], str]:
    groups = nested(before, after, core)
    return lambda n: json.dumps({"type": "string", "pattern": f"^{groups(n)}$"})


def chain(before: str, after: str, levels: int) -> Callable[[int], str]:
    """References one behind the other, each under some levels of nesting."""

    def build(n: int) -> str:
        links = ",".join(
            f'"d{i}":{before * levels}{{"$ref":"#/$defs/d{i + 1}"}}{after * levels}'
            for i in range(n)
        )
        return f'{{"$ref":"#/$defs/d0","$defs":{{{links},"d{n}":{{"type":"null"}}}}}}'

    return build


ARRAY = ('{"type":"array","items":', "}")
OBJECT = (
    '{"type":"object","properties":{"a":',
    '},"required":["a"],"additionalProperties":false}',
)
TYPES = ('{"type":["null","object"],"properties":{"a":', '},"required":["a"]}')
UNION = ('{"anyOf":[', ',{"type":"string"}]}')

#: What the engine might recurse on, by how deep it goes.
SHAPES = {
    "arrays": nested(*ARRAY),
    "objects": nested(*OBJECT),
    "objects with an optional property": nested('{"type":"object","properties":{"a":', "}}"),
    "open objects": nested('{"type":"object","additionalProperties":', "}"),
    "tuples": nested('{"type":"array","prefixItems":[', '],"items":false}'),
    "patternProperties": nested('{"type":"object","patternProperties":{"^a":', "}}"),
    "anyOf": nested(*UNION),
    "anyOf of one": nested('{"anyOf":[', "]}"),
    "oneOf": nested('{"oneOf":[', ',{"type":"string"}]}'),
    "allOf": nested('{"allOf":[', "]}"),
    "not": nested('{"not":', "}"),
    "if": nested('{"if":', "}"),
    "unknown keywords": nested('{"x-a":', "}"),
    "definitions": nested('{"$defs":{"a":', "}}"),
    "enum of arrays": nested("[", "]", "1"),
    "enum of objects": nested('{"a":', "}", "1"),
    "const": nested("[", "]", "1"),
    "default": nested("[", "]", "1"),
    "examples": nested("[", "]", "1"),
    "groups": pattern("(", ")"),
    "groups without a number": pattern("(?:", ")"),
    "optional groups": pattern("(", ")?"),
    "repeated groups": pattern("(", ")*"),
    "groups of alternatives": pattern("(b|", ")"),
    "groups beyond ASCII": pattern("(", ")", "é"),
    "alternatives in a row": pattern("a|", ""),
    "characters in a row": pattern("ab?", ""),
    "groups in a name": lambda n: json.dumps(
        {"type": "object", "patternProperties": {"^" + "(" * n + "a" + ")" * n: {"type": "null"}}}
    ),
    "references": chain("", "", 0),
    "references under a union": chain(*UNION, 1),
    "references under an object": chain(*OBJECT, 1),
    "references under an array": chain(*ARRAY, 1),
    "references under four unions": chain(*UNION, 4),
    "references under 16 objects": chain(*OBJECT, 16),
    "references under 12 objects or null": chain(*TYPES, 12),
    "references under 16 objects or null": chain(*TYPES, 16),
    "references under 60 objects or null": chain(*TYPES, 60),
    "references under 40 unions": chain(*UNION, 40),
    "groups under arrays": lambda n: ARRAY[0] * n + pattern("(", ")?")(32) + ARRAY[1] * n,
}
DATA = {"enum of arrays": "enum", "enum of objects": "enum", "const": "const"}
DATA |= {"default": "default", "examples": "examples"}


def text(name: str, depth: int) -> str:
    inner = SHAPES[name](depth)
    if name in DATA:
        value = f"[{inner}]" if DATA[name] in {"enum", "examples"} else inner
        return f'{{"type":"array","{DATA[name]}":{value}}}'
    return inner


def is_accepted(name: str, depth: int) -> bool:
    return schemaguard.check(text(name, depth), profile=ENGINE_PROFILE).accepted is not None


def deepest(name: str) -> int:
    """The largest depth that the profile of the engine lets through."""
    high = 2
    while is_accepted(name, high):
        high *= 2
        assert high < MOST, f"{name}: no cap"
    low = high // 2
    while low < high - 1:
        middle = (low + high) // 2
        if is_accepted(name, middle):
            low = middle
        else:
            high = middle
    return low


CHILD = """
import json, sys, threading
import schemaguard, xgrammar
from schemaguard.errors import CompileError
from schemaguard.grammar import Compiler, Tokenizer

cases = json.load(sys.stdin)
compilers = [
    Compiler(Tokenizer.byte_level(), isolation="none", mode=mode, cache_bytes=cache)
    for mode in ("eager", "dynamic")
    for cache in (1 << 24, 0)
]

def work(accepted):
    for compiler in compilers:
        try:
            compiled = compiler.compile(accepted)
        except CompileError as error:
            print(error, flush=True)
            return
        matcher = compiled.matcher()
        masks = compiler.masks(1)
        for _ in range(300):  # down into the deepest place
            masks.fill(0, matcher)
            allowed = masks.allowed(0)
            if matcher.is_terminated:
                break
            assert matcher.accept_token(allowed[-1] if 256 not in allowed else allowed[0])
            matcher.forced_text()
        matcher.fork()
        matcher.rollback(1)
    print("survived", flush=True)

threading.stack_size(int(sys.argv[1]))
for name, text in cases:
    print(name, end=": ", flush=True)
    accepted = schemaguard.check(text, profile=sys.argv[2]).accepted
    thread = threading.Thread(target=work, args=(accepted,))
    thread.start()
    thread.join()
"""


def run(cases: list[tuple[str, str]], stack: int) -> tuple[int, list[str]]:
    out = subprocess.run(
        [sys.executable, "-c", CHILD, str(stack), ENGINE_PROFILE],
        input=json.dumps(cases),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "Traceback" not in out.stderr, out.stderr[-2000:]
    return out.returncode, out.stdout.splitlines()


def test_what_passes_the_profile_survives_the_smallest_stack_that_the_compiler_may_have() -> None:
    cases = []
    for name in SHAPES:
        depth = deepest(name)
        assert depth > 2, name
        cases.append((name, text(name, depth)))

    code, lines = run(cases, MIN_STACK_BYTES)

    assert code == 0, lines[-1]
    assert [line.split(": ")[0] for line in lines] == list(SHAPES)
    survived = [line for line in lines if line.endswith("survived")]
    assert len(survived) > len(SHAPES) * 3 // 4, lines
