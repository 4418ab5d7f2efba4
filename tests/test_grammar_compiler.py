from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import schemaguard
from schemaguard.errors import CompileError
from schemaguard.grammar import CompiledSchema, Compiler, Tokenizer, engine, locate, trials
from schemaguard.grammar.compiler import ENGINE_PROFILE
from schemaguard.grammar.worker import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemaguard.report import Accepted

xgrammar = pytest.importorskip("xgrammar")

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "string"}},
    "required": ["x", "y"],
    "additionalProperties": False,
}


def accept(schema: Any) -> Accepted:
    report = schemaguard.check(schema, profile=ENGINE_PROFILE)
    assert report.accepted is not None, report.diagnostics
    return report.accepted


@pytest.fixture(scope="module", params=["process", "none"])
def compiler(request: pytest.FixtureRequest) -> Iterator[Compiler]:
    with Compiler(Tokenizer.byte_level(), isolation=request.param) as made:
        yield made


# What is taken ---------------------------------------------------------------------------------


def test_an_accepted_schema_becomes_a_grammar_that_tells_instances_apart(
    compiler: Compiler,
) -> None:
    accepted = schemaguard.check(POINT).accepted  # the default profile
    assert accepted is not None

    compiled = compiler.compile(accepted)

    assert isinstance(compiled, CompiledSchema)
    assert compiled.accepted is accepted
    assert compiled.accepts('{"x":1,"y":"é"}')
    assert compiled.accepts(b'{"x": -7, "y": ""}')
    for wrong in ('{"x":"1","y":""}', '{"x":1}', '{"x":1,"y":"","z":0}', '{"x":1,"y":""', "", "{}"):
        assert not compiled.accepts(wrong), wrong


@pytest.mark.parametrize("thing", [POINT, json.dumps(POINT), True, None, b"{}"])
def test_only_an_accepted_schema_is_compiled(compiler: Compiler, thing: Any) -> None:
    with pytest.raises(TypeError, match=r"report\.accepted"):
        compiler.compile(thing)


def test_a_report_is_not_what_compile_takes_and_the_error_says_what_is(compiler: Compiler) -> None:
    with pytest.raises(TypeError, match=r"not Report: pass report\.accepted"):
        compiler.compile(schemaguard.check(POINT))  # type: ignore[arg-type]


def test_text_that_is_not_unicode_is_never_accepted(compiler: Compiler) -> None:
    compiled = compiler.compile(accept({"type": "string"}))

    assert compiled.accepts('"\U0001f600"')
    for wrong in ('"\ud800"', b'"\xed\xa0\x80"', b'"\xff"', b'"\xc3"'):
        assert not compiled.accepts(wrong), wrong


@pytest.mark.parametrize("schema", [True, {}, "true", b"{}"])
def test_a_schema_that_allows_everything_compiles(compiler: Compiler, schema: Any) -> None:
    compiled = compiler.compile(accept(schema))

    assert compiled.accepts('{"a": [1, null, "x"]}')
    assert not compiled.accepts('{"a": [1, null, "x"}')


def test_stats_tell_time_and_size_and_the_second_time_is_quicker(compiler: Compiler) -> None:
    schema = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(300)}}

    first = compiler.compile(accept(schema)).stats
    second = compiler.compile(accept(schema)).stats

    assert (first.cached, second.cached) == (False, True)
    assert first.bytes == second.bytes > 1000
    assert 0 < second.seconds < first.seconds / 3
    assert 0 < second.preflight_seconds < first.preflight_seconds
    with pytest.raises(AttributeError):
        first.seconds = 0.0  # type: ignore[misc]


# What is refused before the engine sees it -----------------------------------------------------


class Untouchable:
    """An engine that must not be called."""

    def compile_json_schema(self, *_: object, **__: object) -> None:
        raise AssertionError("the engine was asked")


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return {
        "type": "object",
        "properties": {"a": schema},
        "required": ["a"],
        "additionalProperties": False,
    }


def test_what_one_profile_accepts_is_still_held_to_the_cost_caps() -> None:
    compiler = Compiler(Tokenizer.byte_level())
    compiler._grammars._engines = dict.fromkeys((False, True), Untouchable())
    deep = nested(300)  # arrays do not count as object depth: five seconds of xgrammar
    report = schemaguard.check(deep)
    assert report.accepted is not None

    with pytest.raises(CompileError) as caught:
        compiler.compile(report.accepted)

    assert caught.value.reason == "cost"
    assert caught.value.report is not None
    assert not caught.value.report.ok
    assert caught.value.pointer == caught.value.report.errors[0].pointer
    assert caught.value.pointer.startswith("/properties/a/items")
    assert caught.value.message.startswith(caught.value.report.errors[0].code)


def test_a_verdict_is_paid_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = Compiler(Tokenizer.byte_level())
    asked = []
    check = schemaguard.check

    def counting(schema: Any, **options: Any) -> Any:
        asked.append(schema)
        return check(schema, **options)

    good = accept(POINT)
    bad = schemaguard.check(nested(300)).accepted
    assert bad is not None
    monkeypatch.setattr(schemaguard, "check", counting)

    for _ in range(3):
        compiler.compile(good)
        with pytest.raises(CompileError, match="SG"):
            compiler.compile(bad)

    assert asked == [good.text, bad.text]


def test_remembered_verdicts_are_bounded() -> None:
    compiler = Compiler(Tokenizer.byte_level())

    for i in range(600):
        compiler.compile(accept({"type": "integer", "minimum": i, "maximum": i}))

    assert len(compiler._verdicts) <= 256


def test_refusals_of_large_schemas_are_not_kept() -> None:
    compiler = Compiler(Tokenizer.byte_level())
    large = nested(300)
    large["properties"]["a"]["description"] = "x" * 1_000_000
    accepted = schemaguard.check(large).accepted
    assert accepted is not None

    for _ in range(2):
        with pytest.raises(CompileError) as caught:
            compiler.compile(accepted)
        assert caught.value.reason == "cost"

    assert not compiler._verdicts


# What the engine refuses -----------------------------------------------------------------------

WIDE = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(900)}}
WIDE["properties"]["p711"] = {  # type: ignore[index]
    "type": "object",
    "properties": {"c": {"type": "array", "items": {"type": "integer", "minimum": 1e30}}},
}

WIDE["required"] = list(WIDE["properties"])  # too many may be left out otherwise

REFUSED = {
    "tuple in the old form": (
        "/properties/a/items",
        {"properties": {"a": {"type": "array", "items": {"type": "array", "items": [{}]}}}},
    ),
    "a property that is false": (
        "/properties/a~1b é%~0",
        {"properties": {"x": {}, "a/b é%~": False}},
    ),
    "a branch that is false": ("/anyOf/1", {"anyOf": [{"type": "null"}, False]}),
    "booleans among prefixItems": (
        "/properties/t",
        {"properties": {"t": {"type": "array", "prefixItems": [{"type": "null"}, True]}}},
    ),
    "a fractional bound of an integer": (
        "/anyOf/1/properties/z",
        {"anyOf": [{"type": "null"}, {"properties": {"z": {"type": "integer", "minimum": 1.5}}}]},
    ),
    "a bound beyond int64": ("/properties/p711/properties/c/items", WIDE),
    "minItems where no items may be": (
        "/prefixItems/1",
        {"type": "array", "prefixItems": [{}, {"type": "array", "minItems": 1}]},
    ),
    "propertyNames that is a boolean": (
        "/$defs/n/properties/k",
        {
            "$ref": "#/$defs/n",
            "$defs": {
                "n": {
                    "type": "object",
                    "properties": {
                        "c": {"type": "array", "items": {"$ref": "#/$defs/n"}},
                        "k": {"type": "object", "propertyNames": True},
                    },
                }
            },
        },
    ),
    "the root itself": ("", {"type": "integer", "minimum": 5, "maximum": 4}),
    "a definition that refers back to the root": (
        "/properties/k",
        {
            "type": "object",
            "properties": {
                "c": {"type": "array", "items": {"$ref": "#"}},
                "k": {"type": "object", "minProperties": 3, "properties": {"v": {}}},
            },
        },
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_node_that_the_engine_refuses_is_named(compiler: Compiler, name: str) -> None:
    pointer, schema = REFUSED[name]

    with pytest.raises(CompileError) as caught:
        compiler.compile(accept(schema))

    error = caught.value
    assert error.reason == "unsupported"
    assert error.pointer == pointer
    assert error.report is None


@pytest.mark.parametrize("name", REFUSED)
def test_the_message_is_one_clean_line(compiler: Compiler, name: str) -> None:
    with pytest.raises(CompileError) as caught:
        compiler.compile(accept(REFUSED[name][1]))

    message = caught.value.message
    assert message
    assert message.isprintable()
    assert len(message) <= 303
    assert not any(part in message for part in ("/project/", ".cc:", "Check failed", '{"'))


def test_a_refusal_of_the_engine_is_remembered(compiler: Compiler) -> None:
    accepted = accept(REFUSED["a bound beyond int64"][1])
    messages = set()
    for _ in range(2):
        start = time.perf_counter()
        with pytest.raises(CompileError) as caught:
            compiler.compile(accepted)
        seconds = time.perf_counter() - start
        messages.add((caught.value.message, caught.value.pointer))

    assert len(messages) == 1
    assert seconds < 0.02  # finding the node takes longer


def test_the_options_of_the_compiler_decide_what_is_refused() -> None:
    schema = accept({"type": "array", "minItems": 1})  # needs items, which strict mode forbids

    with pytest.raises(CompileError):
        Compiler(Tokenizer.byte_level()).compile(schema)
    assert Compiler(Tokenizer.byte_level(), strict_mode=False).compile(schema).accepts("[1]")


# Messages --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "about_schema"),
    [
        (
            '[17:47:48] /project/cpp/json_schema_converter.cc:5082: Unsupported type "foo"\n',
            'Unsupported type "foo"',
            True,
        ),
        (
            "[00:00:00] /project/cpp/x.cc:9: Check failed: (val <= MAX) is false: Too large",
            "Too large",
            True,
        ),
        (
            "Failed to parse JSON: syntax error. The JSON string is:" + "x" * 1_000_000,
            "Failed to parse JSON: syntax error.",
            True,
        ),
        ("std::bad_alloc", "std::bad_alloc", False),
        ('"type mismatch! call is<type>() before get<type>()" && is<x>()', None, True),
        ("", "RuntimeError", False),
        ("red \x1b[31m\r\nline\u2028end\u202e", r"red \u001b[31m line end\u202e", True),
        ("y" * 5000, "y" * 300 + "...", True),
    ],
)
def test_engine_texts_become_short_printable_lines(
    text: str, message: str | None, *, about_schema: bool
) -> None:
    found, about = engine.explain(RuntimeError(text))

    assert about is about_schema
    assert found.isprintable()
    assert "is<" not in found
    if message is not None:
        assert found == message


def test_an_error_of_another_kind_is_the_engine_failing() -> None:
    assert engine.explain(MemoryError()) == ("MemoryError", False)


class Failing:
    """An engine that runs out of memory."""

    def compile_json_schema(self, *_: object, **__: object) -> None:
        raise RuntimeError("std::bad_alloc")


def test_a_failing_engine_is_a_compile_error_without_a_pointer() -> None:
    compiler = Compiler(Tokenizer.byte_level(), isolation="none")
    compiler._grammars._engines = dict.fromkeys((False, True), Failing())

    with pytest.raises(CompileError) as caught:
        compiler.compile(accept(POINT))

    assert caught.value.reason == "engine"
    assert caught.value.pointer is None  # the schema passes when it is asked about alone


# Finding the node ------------------------------------------------------------------------------


def xgrammar_says(schema: Any) -> str | None:
    try:
        xgrammar.Grammar.from_json_schema(json.dumps(schema))
    except RuntimeError as error:
        return engine.explain(error)[0]
    return None


@pytest.mark.parametrize("name", [name for name, (pointer, _) in REFUSED.items() if pointer])
def test_a_named_node_fails_alone_in_the_same_words(name: str) -> None:
    pointer, schema = REFUSED[name]
    alone = {"type": "object", "properties": {"it": _resolve(schema, pointer)}}
    alone["$defs"] = schema.get("$defs", {})  # type: ignore[union-attr]

    assert xgrammar_says(alone) == xgrammar_says(schema)


def _resolve(schema: Any, pointer: str) -> Any:
    for token in pointer.split("/")[1:]:
        step = token.replace("~1", "/").replace("~0", "~")
        schema = schema[int(step)] if isinstance(schema, list) else schema[step]
    return schema


def test_questions_are_bounded_in_number() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for i in range(40):
        schema = {"properties": {**{f"p{j}": {} for j in range(50)}, f"q{i}": schema}}
    asked = []

    def refusal(text: str) -> str:
        asked.append(text)
        return "no"

    pointer = locate.locate(json.dumps(schema), refusal, questions=64)

    assert len(asked) <= 64
    assert pointer is not None  # the deepest node that it got to
    assert pointer.startswith("/properties/p0")


def test_questions_are_bounded_in_time() -> None:
    asked = []

    def refusal(text: str) -> str:
        asked.append(text)
        time.sleep(0.05)
        return "no"

    start = time.monotonic()
    locate.locate(json.dumps(WIDE), refusal, seconds=0.12)

    assert len(asked) <= 4
    assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    "text", ["true", "[]", "{", "", '{"a":' * 100_000, " " * 2_000_000 + "{}", '{"$ref": 5}']
)
def test_odd_documents_are_answered_without_a_traceback(text: str) -> None:
    assert locate.locate(text, lambda _: "no") in {None, ""}


def test_a_document_that_passes_when_asked_again_has_no_node_at_fault() -> None:
    assert locate.locate("{}", lambda _: None) is None


def test_references_in_a_circle_end_the_search() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}},
        "group": 1,
    }

    assert locate.locate(json.dumps(schema), lambda _: "no") == "/$defs/b/anyOf/0"


# Options ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"max_threads": 0},
        {"max_threads": -1},
        {"max_threads": 100_000},
        {"max_threads": "auto"},
        {"max_threads": 1.0},
        {"max_threads": True},
        {"max_whitespace": 0},
        {"max_whitespace": -1},
        {"max_whitespace": 10**9},
        {"max_whitespace": "2"},
        {"cache_bytes": -1},
        {"cache_bytes": 1.5},
        {"cache_bytes": 1 << 63},
    ],
)
def test_an_option_out_of_range_is_a_value_error(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        Compiler(Tokenizer.byte_level(), **options)


def test_a_compiler_takes_a_tokenizer_and_nothing_else() -> None:
    with pytest.raises(TypeError, match="Tokenizer"):
        Compiler(Tokenizer.byte_level().info)


@pytest.mark.parametrize(
    ("options", "text", "accepted"),
    [
        ({}, '{"x": 1, "y": ""}', True),
        ({}, '{  "x":1,"y":""}', True),
        ({}, '{   "x":1,"y":""}', False),
        ({"max_whitespace": 5}, '{\n    "x":1,"y":""}', True),
        ({"max_whitespace": 5}, '{\n     "x":1,"y":""}', False),
        ({"max_whitespace": None}, "{" + " " * 500 + '"x":1,"y":""}', True),
        ({"any_whitespace": False}, '{"x": 1, "y": ""}', True),
        ({"any_whitespace": False}, '{"x":1,"y":""}', False),
    ],
)
def test_white_space_is_bounded_as_asked(
    options: dict[str, Any], text: str, *, accepted: bool
) -> None:
    compiled = Compiler(Tokenizer.byte_level(), **options).compile(accept(POINT))

    assert compiled.accepts(text) is accepted


def test_strict_mode_decides_about_properties_that_are_not_mentioned() -> None:
    schema = accept({"type": "object", "properties": {"a": {"type": "null"}}})
    text = '{"a":null,"b":1}'

    assert not Compiler(Tokenizer.byte_level()).compile(schema).accepts(text)
    assert Compiler(Tokenizer.byte_level(), strict_mode=False).compile(schema).accepts(text)


def numbered(i: int) -> dict[str, Any]:
    names = {f"n{i}_{j}": {"type": "string"} for j in range(10)}
    return {"type": "object", "properties": names}


def test_grammars_are_kept_within_bounds_and_the_ones_used_last_stay() -> None:
    compiler = Compiler(Tokenizer.byte_level(), cache_bytes=400_000)
    favourite = accept(numbered(-1))
    assert not compiler.compile(favourite).stats.cached
    total = 0
    for i in range(100):
        total += compiler.compile(accept(numbered(i))).stats.bytes
        assert compiler.compile(favourite).stats.cached
        assert compiler._grammars.kept_bytes <= 200_000

    assert total > 2_000_000
    assert not compiler.compile(accept(numbered(0))).stats.cached  # pushed out


def test_without_a_cache_nothing_is_kept() -> None:
    compiler = Compiler(Tokenizer.byte_level(), cache_bytes=0)

    for _ in range(2):
        compiled = compiler.compile(accept(POINT))
        assert not compiled.stats.cached
        assert compiled.accepts('{"x":1,"y":""}')


@pytest.mark.slow
def test_memory_stays_bounded_over_thousands_of_schemas() -> None:
    """The engine's own limit does not do this: with 8 MB it takes 100 MB here."""
    code = """
import schemaguard
from schemaguard.grammar import Compiler, Tokenizer
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
compiler = Compiler(Tokenizer.byte_level(), cache_bytes=8_000_000)
made = 0
for i in range(2000):
    names = {f"n{i}_{j}": {"enum": [f"a{i}", f"b{j}"]} for j in range(6)}
    report = schemaguard.check({"type": "object", "properties": names}, profile="xgrammar")
    made += compiler.compile(report.accepted).stats.bytes
    if i == 200:
        before, made = resident(), 0
print((resident() - before) // 1_000_000, made // 1_000_000)
"""
    if not sys.platform.startswith("linux"):
        pytest.skip("reads /proc")

    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    grown, made = map(int, out.stdout.split())

    assert made > 60
    assert grown < 20


# Threads ---------------------------------------------------------------------------------------


def test_one_compiler_serves_several_threads() -> None:
    compiler = Compiler(Tokenizer.byte_level())
    failures: list[object] = []

    def work(number: int) -> None:
        for i in range(40):
            low = number * 1000 + i % 20
            compiled = compiler.compile(accept({"type": "integer", "minimum": low, "maximum": low}))
            if not compiled.accepts(str(low)) or compiled.accepts(str(low + 1)):
                failures.append((number, i))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failures == []


# Matchers --------------------------------------------------------------------------------------


def test_a_matcher_follows_one_output_to_its_stop_token(compiler: Compiler) -> None:
    matcher = compiler.compile(accept({"enum": ["ab"]})).matcher()

    assert matcher.forced_text() == '"ab"'
    assert matcher.accept_string('"a')
    assert matcher.accept_token(ord("b"))
    assert not matcher.accept_token(ord("b"))
    assert not matcher.is_completed
    assert matcher.accept_token(ord('"'))
    assert matcher.is_completed
    assert not matcher.is_terminated
    assert matcher.accept_token(256)
    assert matcher.is_terminated
    assert matcher.forced_text() == ""
    assert not matcher.accept_token(256)


def test_rollback_undoes_exactly_what_was_accepted(compiler: Compiler) -> None:
    matcher = compiler.compile(accept({"type": "integer"})).matcher()
    for digit in "123":
        assert matcher.accept_token(ord(digit))

    for steps in (-1, 4, 2**32, 2**70, True, 1.0, "1"):
        with pytest.raises(ValueError, match="steps"):
            matcher.rollback(steps)  # type: ignore[arg-type]
    matcher.rollback(3)

    assert not matcher.is_completed
    matcher.rollback(0)
    assert matcher.accept_string("-5")
    matcher.reset()
    assert not matcher.is_completed


def test_forks_are_independent(compiler: Compiler) -> None:
    matcher = compiler.compile(accept({"type": "integer"})).matcher()
    fork = matcher.fork()

    assert fork.accept_string("12")

    assert fork.is_completed
    assert not matcher.is_completed


def test_an_id_that_is_none_is_refused_in_silence(
    compiler: Compiler, capfd: pytest.CaptureFixture[str]
) -> None:
    matcher = compiler.compile(accept({"type": "integer"})).matcher()

    for token_id in (-1, 257, 2**40, 10**30):
        assert not matcher.accept_token(token_id)
    assert not matcher.accept_string("\ud800")

    assert capfd.readouterr().err == ""


def test_deep_output_needs_no_stack(compiler: Compiler) -> None:
    schema = {
        "$ref": "#/$defs/a",
        "$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}},
    }
    compiled = compiler.compile(accept(schema))

    assert compiled.accepts("[" * 50_000 + "]" * 50_000)
    assert not compiled.accepts("[" * 50_000 + "]" * 49_999)


def test_a_hostile_schema_leaves_the_process_alive() -> None:
    """Each of these kills a process or holds it for minutes when xgrammar gets it directly."""
    code = """
import schemaguard
from schemaguard.errors import CompileError
from schemaguard.grammar import Compiler, Tokenizer
compiler = Compiler(Tokenizer.byte_level())
def obj(member):
    return {"type": "object", "properties": {"a": member}, "required": ["a"], "additionalProperties": False}
def wrap(member, n):
    for _ in range(n):
        member = {"anyOf": [member, {"type": "null"}]}
    return member
for member in (
    {"type": "string", "pattern": "(" * 30_000 + "a" + ")" * 30_000},
    {"type": "string", "pattern": "^(.{1,30}){1,30}$"},
    {"type": "string", "pattern": "^.{1,100000}$"},
    wrap({"type": "string"}, 400),
):
    report = schemaguard.check(obj(member))
    if report.accepted is None:
        print("preflight")
        continue
    try:
        compiler.compile(report.accepted)
        print("compiled")
    except CompileError as error:
        print(error.reason)
"""
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )

    assert out.returncode == 0, out.stderr[-2000:]
    assert set(out.stdout.split()) <= {"preflight", "cost"}


def test_references_that_nest_deeper_than_a_small_stack_never_reach_the_engine() -> None:
    """Each of a chain of definitions is nested; the compiler would follow them all at once."""

    def nested(levels: int, inner: object) -> object:
        for _ in range(levels):
            inner = {"anyOf": [inner]}
        return inner

    definitions = {f"d{i}": nested(40, {"$ref": f"#/$defs/d{i + 1}"}) for i in range(60)}
    definitions["d60"] = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/d0"}},
        "required": ["a"],
        "additionalProperties": False,
        "$defs": definitions,
    }
    accepted = schemaguard.check(schema).accepted
    assert accepted is not None
    with pytest.raises(CompileError) as caught:
        Compiler(Tokenizer.byte_level()).compile(accepted)
    assert caught.value.reason == "cost"
    assert caught.value.report is not None
    assert {d.code for d in caught.value.report.diagnostics} == {"SG807"}


# At once or on demand ---------------------------------------------------------------------------


def required(count: int) -> dict[str, Any]:
    names = {f"p{i}": {"type": "string"} for i in range(count)}
    return {
        "type": "object",
        "properties": names,
        "required": list(names),
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("mode", "isolation", "count", "dynamic"),
    [
        ("auto", "process", 3, False),
        ("auto", "process", 2500, True),
        ("auto", "none", 2500, False),
        ("eager", "none", 3, False),
        ("eager", "none", 2500, False),
        ("dynamic", "none", 3, True),
    ],
)
def test_a_large_schema_is_compiled_on_demand_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, mode: str, isolation: str, count: int, *, dynamic: bool
) -> None:
    monkeypatch.setattr(trials, "MASK_SECONDS", 10.0)  # a machine under test may be busy
    with Compiler(
        Tokenizer.byte_level(), mode=mode, isolation=isolation, limits=Limits(seconds=30.0)
    ) as compiler:
        first = compiler.compile(accept(required(count)))
        again = compiler.compile(accept(required(count)))

    assert (first.stats.dynamic, again.stats.dynamic) == (dynamic, dynamic)
    assert again.stats.cached
    text = json.dumps({f"p{i}": "" for i in range(count)}, separators=(",", ":"))
    assert first.accepts(text)
    assert not first.accepts(text[:-1] + ',"q":1}')


def test_what_has_dear_masks_on_demand_is_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "MASK_SECONDS", 0.0)
    with Compiler(Tokenizer.byte_level(), limits=Limits(seconds=30.0)) as compiler:
        stats = compiler.compile(accept(required(2500))).stats

    assert not stats.dynamic
    assert stats.trial_seconds is not None
