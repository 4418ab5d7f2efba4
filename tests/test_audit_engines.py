"""Further engines behind the audit: llguidance, outlines-core, and xgrammar of any version."""

from __future__ import annotations

import json
import random
import re
import sys
import time

import jsonschema
import pytest
from command import run

import schemaguard
from schemaguard import capabilities
from schemaguard.capabilities import catalogue
from schemaguard.errors import CompileError, CompileRefused, MissingExtra
from schemaguard.grammar.audit import ENGINES, audit, engines

OTHERS = ("llguidance", "outlines-core")


@pytest.fixture(params=OTHERS)
def other(request):
    """The name of an engine that is installed."""
    pytest.importorskip(request.param.replace("-", "_"), reason=f"{request.param} is not installed")
    return request.param


def accepted(schema):
    return schemaguard.check(schema, profile="xgrammar").accepted


def verdicts(result):
    return {(row.pointer, row.keyword): row.verdict for row in result.constraints}


def test_the_command_and_the_tables_know_the_engines_of_the_audit():
    assert set(ENGINES) == set(capabilities.ENGINES) == {"xgrammar", *OTHERS}


def test_what_every_engine_enforces(other):
    schema = {
        "type": "object",
        "properties": {"n": {"type": "boolean"}, "s": {"enum": ["a", "b"]}},
        "required": ["n", "s"],
        "additionalProperties": False,
    }
    result = audit(schema, engine=other)

    assert result.engine.startswith(f"{other} ")
    assert set(verdicts(result).values()) == {"enforced"}
    assert result.verdict == "exact"


def test_llguidance_refuses_what_it_does_not_know():
    pytest.importorskip("llguidance", reason="llguidance is not installed")
    result = audit(
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True}, "llguidance"
    )

    assert (result.verdict, result.constraints) == ("refused", ())
    assert "uniqueItems" in result.reason


def test_llguidance_enforces_what_xgrammar_drops():
    pytest.importorskip("llguidance", reason="llguidance is not installed")
    result = audit({"type": "integer", "minimum": 0, "multipleOf": 4}, "llguidance")

    assert verdicts(result)["", "multipleOf"] == "enforced"


def test_outlines_core_drops_bounds_and_shows_it():
    pytest.importorskip("outlines_core", reason="outlines-core is not installed")
    from outlines_core.json_schema import build_regex_from_schema

    schema = {"type": "integer", "minimum": 3}
    result = audit(schema, "outlines-core")
    row = next(row for row in result.constraints if row.keyword == "minimum")

    assert row.verdict == "dropped"
    assert not jsonschema.Draft202012Validator(schema).is_valid(json.loads(row.witness))
    assert re.fullmatch(build_regex_from_schema(json.dumps(schema)), row.witness)


def test_witnesses_of_llguidance_hold_without_the_audit():
    pytest.importorskip("llguidance", reason="llguidance is not installed")
    import llguidance

    from schemaguard.grammar.audit.guidance import _Bytes

    tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(_Bytes()))
    dropped = 0
    for schema in random.Random(5).sample(list(catalogue.cases().values()), 60):
        result = audit(schema, "llguidance", samples=4)
        for row in result.constraints:
            if row.witness is None or row.verdict != "dropped":
                continue
            dropped += 1
            grammar = llguidance.LLMatcher.grammar_from_json_schema(json.dumps(schema))
            interpreter = llguidance.LLInterpreter(tokenizer, grammar, log_level=0)
            interpreter.start_without_prompt()
            assert interpreter.validate_tokens_raw(list(row.witness.encode())) == len(
                row.witness.encode()
            )
            dialect = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
            validator = dialect(schema, format_checker=dialect.FORMAT_CHECKER)
            assert not validator.is_valid(json.loads(row.witness)), (schema, row)
    assert dropped


def test_an_engine_takes_no_half_of_a_surrogate_pair(other):
    grammar = engines.engine(other).compile(accepted({"type": "string"}))

    assert grammar.accepts('"a"')
    assert not grammar.accepts('"\ud800"')


def test_a_cursor_forks_and_refuses_without_a_change(other):
    cursor = engines.engine(other).compile(accepted({"enum": ["ab"]})).start()

    assert cursor.push(ord('"'))
    fork = cursor.fork()
    assert not fork.push(ord("x"))
    for byte in b'ab"':
        assert byte in fork.allowed()
        assert fork.push(byte)
    assert fork.allowed() == [engines.END]
    assert cursor.allowed() == [ord("a")]


def test_an_engine_that_is_not_installed_says_how_to_install_it(other, monkeypatch):
    monkeypatch.setitem(sys.modules, other.replace("-", "_"), None)
    engines.engine.cache_clear()
    try:
        with pytest.raises(MissingExtra, match=r"pip install 'schemaguard-preflight\["):
            audit({"type": "string"}, engine=other)
    finally:
        engines.engine.cache_clear()


def test_outlines_core_is_given_up_where_it_would_go_on(monkeypatch):
    pytest.importorskip("outlines_core", reason="outlines-core is not installed")
    from schemaguard.grammar.audit import outlines

    monkeypatch.setattr(outlines, "MAX_SECONDS", 2)
    schema = {
        "type": "object",
        "properties": {"p": {"type": "string", "pattern": "^(a|b)*a(a|b){22}$"}},
        "required": ["p"],
        "additionalProperties": False,
    }
    report = schemaguard.check(schema, profile="dynamo")
    began = time.monotonic()
    with pytest.raises(CompileRefused) as caught:
        outlines.OutlinesCore().compile(report.accepted)

    assert caught.value.reason in {"timeout", "memory"}
    assert time.monotonic() - began < 30


def test_a_schema_that_outlines_core_does_not_take_is_refused_with_its_words():
    pytest.importorskip("outlines_core", reason="outlines-core is not installed")
    with pytest.raises(CompileError, match="Unsupported JSON Schema structure") as caught:
        engines.engine("outlines-core").compile(accepted({"minimum": 3}))

    assert caught.value.reason == "unsupported"


def test_the_command_takes_an_engine(tmp_path, other):
    file = tmp_path / "schema.json"
    file.write_text('{"type": "boolean"}', encoding="utf-8")
    done = run("audit", str(file), "--engine", other, "--output-format", "json", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["schemas"][0]["engine"].startswith(f"{other} ")


def test_xgrammar_without_the_compiler_says_what_it_says_with_it():
    pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    from schemaguard.grammar.audit.direct import DirectXGrammar

    direct = DirectXGrammar()
    for key, schema in random.Random(1).sample(list(catalogue.cases().items()), 50):
        if accepted(schema) is None:
            continue
        with_it, without = audit(schema, steps=1500), audit(schema, direct, steps=1500)
        if with_it.verdict == "refused":
            assert (without.verdict, with_it.reason[:20]) == ("refused", without.reason[:20]), key
        else:
            assert without == with_it, key
