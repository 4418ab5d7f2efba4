"""Audits of styles of calls: what is told, and that a second program sees the same."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from command import call

pytest.importorskip("xgrammar")

import recheck
import tag_calls

from schemaguard.grammar import audit
from schemaguard.grammar.audit.calls import CALLS
from schemaguard.grammar.audit.declared import Declared
from schemaguard.grammar.audit.stepping import END
from schemaguard.grammar.audit.styles import writing_of
from schemaguard.grammar.tags import PARSERS, STYLES

CORPUS = Path(__file__).resolve().parents[1].parent / "shared" / "corpora" / "tools.jsonl.gz"
REAL = ("mcp_", "agent_", "cassettes_", "cookbook_", "fixtures_", "bench_tau")

MARKUP = sorted(style for style, made in CALLS.items() if made.content != "json")
UNTYPED = ["glm_4_7", "mimo", "minimax", "qwen_3_5", "qwen_3_coder"]
TYPED = ["cohere", "deepseek_v3_2", "deepseek_v4", "deepseek_v4_1"]


def tool(required=("n",), **properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


SOUND = tool(
    ("n", "s"),
    n={"type": "integer", "minimum": 3},
    s={"type": "string"},
    e={"enum": ["a", "b"]},
    o=tool(("x",), x={"type": "string"}),
    l={"type": "array", "items": {"type": "integer"}},
    b={"type": ["boolean", "null"]},
)
LEAKY = tool(n={"type": "number", "multipleOf": 0.5})


def rows(audited, verdict):
    return {
        (row.pointer, row.keyword): row for row in audited.constraints if row.verdict == verdict
    }


def faults(schema, audited):
    return recheck.faults(schema, json.loads(json.dumps(audited.as_dict())))


@pytest.mark.parametrize("style", sorted(set(STYLES) - {"kimi_k3", "minimax_m3"}))
def test_a_schema_that_is_enforced_is_exact_in_the_style(style):
    audited = audit.audit(SOUND, style=style)

    assert (audited.verdict, audited.witness) == ("exact", None)
    assert audited.counts()["untested"] == 0
    assert audited.sampled > 8
    assert audited.complete
    assert faults(SOUND, audited) == []


@pytest.mark.parametrize("style", ["kimi_k3", "minimax_m3"])
def test_a_schema_without_unions_is_exact_where_unions_leak(style):
    schema = {**SOUND, "properties": {**SOUND["properties"]}}
    del schema["properties"]["b"]

    audited = audit.audit(schema, style=style)

    assert audited.verdict == "exact"
    assert audited.counts()["untested"] == 0
    assert faults(schema, audited) == []


@pytest.mark.parametrize("style", sorted(STYLES))
def test_what_is_dropped_is_shown_by_a_whole_output(style):
    audited = audit.audit(LEAKY, style=style)

    row = rows(audited, "dropped")["/properties/n", "multipleOf"]
    value = json.loads(row.witness)
    assert value["n"] * 2 != int(value["n"] * 2)
    assert row.output.startswith(CALLS[style].before)
    assert row.output.endswith(CALLS[style].after)
    assert audited.verdict == "leaks"
    assert faults(LEAKY, audited) == []


@pytest.mark.parametrize("style", sorted(STYLES))
def test_what_cannot_be_written_is_shown_by_the_output_that_is_refused(style):
    # The engine closes the object, which the schema leaves open.
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}

    audited = audit.audit(schema, style=style)

    row = rows(audited, "over-constrained")["", "properties"]
    assert json.loads(row.witness)["a"] in range(-(10**20), 10**20)
    assert "x-1" in row.output or "extra" in row.output
    assert faults(schema, audited) == []


@pytest.mark.parametrize("style", sorted({*MARKUP} - {"minimax_m3"}))  # which refuses it
def test_a_value_that_ends_its_own_element_cannot_be_written(style):
    ends = {
        "gemma_4": '<|"|>',
        "kimi_k3": "<|close|>argument<|sep|>",
        "glm_4_7": "</arg_value>",
        "cohere": "</cofl:value>",
        "deepseek_v4_1": "</｜DSML｜ parameter>",
    }
    end = ends.get(style, "</parameter>")
    end = "</｜DSML｜parameter>" if style in ("deepseek_v3_2", "deepseek_v4") else end
    schema = tool(n={"enum": ["ok", f"x{end}y"]})

    audited = audit.audit(schema, style=style)

    told = [
        row for row in audited.constraints if row.witness and end in json.loads(row.witness)["n"]
    ]
    assert [row.verdict for row in told] == ["over-constrained"]
    assert "no text of this style is read back as it" in told[0].reason
    assert told[0].output is None
    assert faults(schema, audited) == []


@pytest.mark.parametrize("style", UNTYPED)
def test_text_without_types_cannot_say_a_string_that_looks_like_another_value(style):
    schema = tool(n={"enum": ["1", 1, None]})

    audited = audit.audit(schema, style=style)

    assert '{"n":"1"}' in {row.witness for row in rows(audited, "over-constrained").values()}
    assert faults(schema, audited) == []


@pytest.mark.parametrize("style", TYPED)
def test_typed_markup_tells_strings_from_other_values(style):
    schema = tool(n={"enum": ["1", 1, None]})

    assert audit.audit(schema, style=style).verdict == "exact"


def test_kimi_k3_leaves_unions_open():
    schema = tool(n={"anyOf": [{"type": "integer"}, {"type": "boolean"}]})

    audited = audit.audit(schema, style="kimi_k3")

    row = rows(audited, "dropped")["/properties/n", "anyOf"]
    assert isinstance(json.loads(row.witness)["n"], str)
    assert 'type="string"' in row.output
    assert faults(schema, audited) == []


def test_gemma_drops_lengths():
    schema = tool(n={"type": "string", "maxLength": 2})

    audited = audit.audit(schema, style="gemma_4")

    assert ("/properties/n", "maxLength") in rows(audited, "dropped")
    assert faults(schema, audited) == []


def test_white_space_around_a_value_is_no_leak():
    # The grammar takes spaces on both sides of a text with a pattern.
    schema = tool(n={"type": "string", "pattern": "^[a-z]{2,4}$"})

    audited = audit.audit(schema, style="qwen_3_coder", samples=64)

    assert not rows(audited, "dropped")


def test_control_characters_in_nested_json_break_it():
    schema = tool(n=tool(("x",), x={"type": "string", "maxLength": 2}))

    for style in ("qwen_3", "qwen_3_coder", "deepseek_v4", "glm_4_7", "kimi_k3"):
        audited = audit.audit(schema, style=style)
        assert audited.verdict == "broken-json", style
        assert audited.witness.startswith(CALLS[style].before)
        assert faults(schema, audited) == []


@pytest.mark.parametrize("style", sorted(set(STYLES) - {"minimax_m3"}))
def test_endless_recursion_is_a_dead_end(style):
    schema = tool(("next",), next={"$ref": "#"})

    audited = audit.audit(schema, style=style)

    assert audited.verdict == "dead-end"
    assert audited.witness.startswith(CALLS[style].before)
    assert faults(schema, audited) == []


def test_what_a_style_cannot_express_is_refused_in_the_words_of_the_engine():
    audited = audit.audit(tool(n={"type": "string", "pattern": "^a$"}), style="minimax_m3")

    assert audited.verdict == "refused"
    assert "minimax_m3" in audited.reason


def test_a_root_that_is_no_object_is_read_as_arguments_all_the_same():
    audited = audit.audit({"type": "string"}, style="qwen_3_coder")

    # Markup has nothing but parameters: none of them is the empty object.
    assert {key: row.witness for key, row in rows(audited, "dropped").items()} == {
        ("", "type"): "{}"
    }
    assert faults({"type": "string"}, audited) == []


@pytest.mark.parametrize("style", ["qwen_3", *UNTYPED[2:], "kimi_k3", "gemma_4"])
def test_the_same_seed_gives_the_same_result(style):
    schema = {
        **SOUND,
        "properties": {**SOUND["properties"], "p": {"type": "number", "multipleOf": 0.1}},
    }

    first = audit.audit(schema, style=style, seed=5).as_dict()

    assert audit.audit(schema, style=style, seed=5).as_dict() == first


def test_parsers_of_servers_are_styles():
    for parser, style in PARSERS.items():
        assert parser in audit.STYLES
        assert audit.audit(True, style=parser).style == style


def test_an_unknown_style_is_an_error_that_lists_the_known_ones():
    with pytest.raises(ValueError, match="no style 'nope'; there are: json, cohere"):
        audit.audit(True, style="nope")


# What is written is read back -------------------------------------------------------------------

VALUES = (
    {},
    {"n": 3, "s": ""},
    {"n": -7, "s": 'a "b" {c}\n<d> \\ é 😀', "e": "b", "l": [1, 2], "o": {"x": "y<z"}, "b": None},
    {"n": 10**18, "s": "null", "b": True, "l": []},
)


@pytest.mark.parametrize("style", MARKUP)
@pytest.mark.parametrize("value", VALUES)
def test_values_are_read_back_from_every_spelling(style, value):
    writing = writing_of(CALLS[style], SOUND)

    texts = list(writing.texts(value, all_of_them=True))

    assert len(texts) >= 4
    for text in texts:
        assert value in writing.readings(text), text
        assert json.loads(writing.witness(text)) == value


@pytest.mark.parametrize("style", MARKUP)
def test_what_models_write_is_read(style):
    value = {"n": 3, "s": "two words", "l": [1, 2], "o": {"x": "y"}}
    output = tag_calls.calls(style, ("f", value))
    before, after = CALLS[style].before, CALLS[style].after
    if style == "minimax":
        output = "\n</think>\n\n\n\n" + output
    output = output.replace('index="1"', 'index="0"')
    assert output.startswith(before)
    assert output.endswith(after)

    assert writing_of(CALLS[style], SOUND).readings(output.removeprefix(before)) == (value,)


@pytest.mark.parametrize("style", MARKUP)
def test_what_is_cut_short_or_goes_on_is_not_read(style):
    writing = writing_of(CALLS[style], SOUND)
    text = next(writing.texts({"n": 3, "s": "x", "l": [1]}, all_of_them=False))
    inside = writing.inside(text)

    assert writing.readings(text)
    assert not writing.readings(inside)
    assert not writing.readings("junk" + text)
    for size in range(len(inside.rstrip()) - 1, 3, -3):
        cut = inside[:size].rstrip()
        if cut.endswith((">", "}")) and style != "gemma_4":
            continue  # at the end of a parameter
        assert not writing.readings(cut + CALLS[style].after), cut


@pytest.mark.parametrize("style", MARKUP)
def test_places_in_texts_are_followed(style):
    writing = writing_of(CALLS[style], SOUND)
    text = next(writing.texts({"n": 3, "s": "x", "o": {"x": "why"}}, all_of_them=False))
    lexer = writing.lexer()
    paths = []
    for byte in text.encode():
        lexer.feed(byte)
        paths.append(lexer.place(END - 1, []))

    assert ("n",) in paths
    assert ("s",) in paths
    assert ("o",) in paths or ("o", "x") in paths
    assert ("x",) not in paths


def test_types_are_looked_up_through_references_and_combiners():
    root = {
        "$ref": "#/$defs/t",
        "properties": {"u": {"anyOf": [{"type": "integer"}, {"const": "x"}]}},
        "patternProperties": {"^p": {"type": "boolean"}},
        "additionalProperties": {"type": ["null", "number"]},
        "$defs": {
            "t": {
                "allOf": [{"properties": {"s": {"allOf": [{"type": "string"}, {"minLength": 1}]}}}]
            }
        },
    }
    declared = Declared(root, [root])

    assert declared.member("s").types == {"string"}
    assert declared.member("u").types == {"integer", "string"}
    assert declared.member("px").types == {"boolean"}
    assert declared.member("other").types == {"null", "number", "integer"}
    assert "array" in Declared({}, [{}]).member("x").types


# Bounds -----------------------------------------------------------------------------------------


def alternatives(count):
    return tool(
        n={
            "anyOf": [
                tool(("kind", "v"), kind={"const": f"k{i}"}, v={"type": "integer", "minimum": i})
                for i in range(count)
            ]
        }
    )


def test_what_the_budget_does_not_reach_is_untested_and_says_so():
    audited = audit.audit(alternatives(40), budget=0.1)

    counts = audited.counts()
    assert counts["untested"] > 50
    assert counts["enforced"] > 0
    assert not audited.complete
    assert {row.reason for row in audited.constraints if row.verdict == "untested"} == {
        "the budget was spent before it was reached"
    }
    assert audit.audit(alternatives(40), budget=0.1).as_dict() == audited.as_dict()


def test_a_budget_is_a_number_of_seconds():
    for budget in (-1, True, "1", float("nan")):
        with pytest.raises(ValueError, match="budget must be a number of seconds"):
            audit.audit(True, budget=budget)


# The command line -------------------------------------------------------------------------------


def write(folder, schema):
    path = folder / "f.json"
    path.write_text(json.dumps(schema), encoding="utf-8")
    return path


def test_the_command_line_takes_styles_and_parsers(tmp_path, capfd):
    path = write(tmp_path, LEAKY)

    status, out, _err = call(capfd, "audit", path, "--style", "qwen3_coder")
    assert status == 0
    assert " DROPPED " in out

    status, out, _err = call(
        capfd, "audit", path, "--style", "kimi_k3", "--output-format", "json", "--budget", "5"
    )
    assert status == 0
    (row,) = json.loads(out)["schemas"]
    assert row["style"] == "kimi_k3"
    (dropped,) = [found for found in row["constraints"] if found["verdict"] == "dropped"]
    assert dropped["output"].startswith(CALLS["kimi_k3"].before)


def test_the_command_line_lists_the_styles_when_it_does_not_know_one(tmp_path, capfd):
    status, _out, err = call(capfd, "audit", write(tmp_path, LEAKY), "--style", "qwen3_code")

    assert status == 2
    assert "no style 'qwen3_code'" in err
    assert "qwen3_coder" in err
    assert "json" in err


@pytest.mark.parametrize("budget", ["-1", "x", "nan", "1e9"])
def test_the_command_line_refuses_budgets_that_are_none(tmp_path, capfd, budget):
    status, _out, err = call(capfd, "audit", write(tmp_path, LEAKY), f"--budget={budget}")

    assert status == 2
    assert "seconds up to 86,400" in err


# Real tools -------------------------------------------------------------------------------------


@pytest.mark.skipif(not CORPUS.is_file(), reason="the corpora are not here: ../shared/corpora")
def test_witnesses_on_real_tools_hold_in_styles_of_calls():
    with gzip.open(CORPUS, "rt", encoding="utf-8") as lines:
        real = [record for record in map(json.loads, lines) if record["source"].startswith(REAL)]
    chosen = random.Random(0).sample(real, 50)
    found = []
    total = untested = 0
    for record in chosen:
        for style in ("qwen_3_coder", "minimax", "glm_4_7"):
            audited = audit.audit(record["schema"], style=style)
            counts = audited.counts()
            total += sum(counts.values())
            untested += counts["untested"]
            found += [f"{record['id']} {style}: {f}" for f in faults(record["schema"], audited)]

    assert found == []
    assert total > 500
    assert untested / total < 0.03
