"""Recorded calls are counted as the verifier counts them, and fairly next to it."""

from __future__ import annotations

import gzip
import json
import os
import socket
import threading
import time

import pytest
import score_logs
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from score_logs import DECLARED, call, completion, function, made, result, write

from schemaguard.score import Comparison, Score, ScoreError, Trigger, endings, score
from schemaguard.score import lines as lines_
from schemaguard.score.rendering import as_dict, markdown, text
from schemaguard.score.validating import Validator
from schemaguard.searching import Budget, UndecidedError


@pytest.fixture
def scored(tmp_path):
    """Records → their score."""

    def of(records, **options):
        return score(write(tmp_path / "results.jsonl", records), **options)

    return of


def rate(one):
    return one.hits, one.total


# ---------------------------------------------------------------------------------- against a peer


@pytest.mark.parametrize("seed", range(5))
def test_a_run_is_counted_as_the_slow_counter_counts_it(scored, seed):
    records = made(seed)
    expected = score_logs.count(records)
    got = scored(records)

    assert rate(got.schema_accuracy) == (expected["valid"], expected["called"])
    assert rate(got.schema_accuracy_fair) == (
        expected["right"],
        expected["called"] - expected["left_out"],
    )
    told = as_dict(got)
    assert told["reasons"] == expected["reasons"]
    assert told["finish"] == expected["finish"]
    assert expected["valid"] < expected["right"] + expected["left_out"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.sampled_from(["", "a", "ab", "x\n", 1.5]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab1"), inner, max_size=3)
    ),
    max_leaves=6,
)
SUBSCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "array", "object", "strng", ["null"], 3]),
            "enum": st.lists(VALUES, max_size=3),
            "const": VALUES,
            "minLength": st.sampled_from([0, 1, 2, -1]),
            "maximum": st.integers(-2, 8),
            "exclusiveMaximum": st.sampled_from([True, 3]),
            "pattern": st.sampled_from(["^a$", "b", "^x$", "(", "[ab]{2}", r"\p{L}"]),
            "format": st.sampled_from(["date", "ipv4", "regex"]),
            "required": st.sampled_from([[], ["a"], ["a", "b"], "a", ["a", "a"]]),
            "uniqueItems": st.booleans(),
            "$ref": st.sampled_from(["#", "#/$defs/d", "#/nowhere"]),
            "$schema": st.sampled_from(
                [
                    "http://json-schema.org/draft-04/schema#",
                    "http://json-schema.org/draft-07/schema#",
                    "https://json-schema.org/draft/2020-12/schema",
                    "urn:nobody",
                ]
            ),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "1", "a$"]), inner),
            "additionalProperties": inner,
            "unevaluatedProperties": inner,
            "items": inner | st.lists(inner, max_size=2),
            "anyOf": st.lists(inner, max_size=2),
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "allOf": st.lists(inner, min_size=1, max_size=2),
            "not": inner,
            "if": inner,
            "then": inner,
            "dependencies": st.dictionaries(st.just("a"), inner | st.just(["b"])),
            "$defs": st.dictionaries(st.just("d"), inner),
            "$schema": st.just("http://json-schema.org/draft-04/schema#"),
        },
    ),
    max_leaves=8,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("logs")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(SUBSCHEMAS, st.lists(VALUES, min_size=1, max_size=4))
def test_any_call_is_valid_where_jsonschema_validates_it(folder, schema, arguments):
    tools = [function("f", schema)]
    calls = [call("f", json.dumps(value)) for value in arguments]
    path = write(
        folder / "any.jsonl", [result(i + 1, [c], tools=tools) for i, c in enumerate(calls)]
    )

    expected = [score_logs.is_valid(one, tools) for one in calls]
    outcomes = score(path).outcomes[1:]
    assert [bool(outcome & 4) for outcome in outcomes] == expected


# ------------------------------------------------------------------------------------------- quirks

GOOD = '{"city": "Oslo"}'


@pytest.mark.parametrize("schema", [{}, None], ids=["an empty schema", "no schema"])
def test_a_falsy_schema_is_invalid_to_the_verifier_and_anything_to_the_fair_count(scored, schema):
    got = scored([result(1, [call("f", '{"a": 1}')], tools=[function("f", schema)])])
    assert rate(got.schema_accuracy) == (0, 1)
    assert rate(got.schema_accuracy_fair) == (1, 1)


def test_a_tool_without_parameters_is_one_with_an_empty_schema(scored):
    tools = [{"type": "function", "function": {"name": "f"}}]
    got = scored([result(1, [call("f", "{}")], tools=tools)])
    assert rate(got.schema_accuracy) == (0, 1)
    assert rate(got.schema_accuracy_fair) == (1, 1)


def test_answers_are_counted_and_not_calls(scored):
    both = [call("get_weather", GOOD), call("get_weather", "{}")]
    got = scored([result(1, both), result(2, [call("get_weather", GOOD)] * 3)])
    assert rate(got.schema_accuracy) == (1, 2)
    assert rate(got.schema_accuracy_fair) == (1, 2)
    assert as_dict(got)["calls"] == {"ok": 4, "model": 1}


def test_the_first_tool_of_a_name_counts(scored):
    strict, loose = function("f", {"required": ["a"]}), function("f", {"type": "object"})
    got = scored(
        [
            result(1, [call("f", "{}")], tools=[strict, loose]),
            result(2, [call("f", "{}")], tools=[loose, strict]),
        ]
    )
    assert rate(got.schema_accuracy) == (1, 2)
    assert not got.outcomes[1] & 4


def test_no_calls_at_the_end_of_an_answer_with_calls_are_an_error(scored):
    for calls in ([], None):
        got = scored([result(1, calls)])
        assert rate(got.schema_accuracy) == (0, 1)
        assert rate(got.schema_accuracy_fair) == (0, 1)
        assert as_dict(got)["reasons"] == {"no-call": 1}


def test_calls_of_an_answer_that_ends_otherwise_are_not_counted(scored):
    got = scored([result(1, [call("get_weather", "{}")], "stop")])
    assert rate(got.schema_accuracy) == (0, 0)
    assert got.schema_accuracy.value is None
    assert as_dict(got)["calls_with_another_finish"] == 1


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"type": "strng"}, "SG212"),
        ({"$ref": "#/$defs/none"}, "SG308"),
        ({"$ref": "http://127.0.0.1:9/s.json"}, "SG30"),
        ({"properties": 3}, "SG2"),
        ([1], "not-a-schema"),
        (False, "not-a-schema"),
        ("x", "not-a-schema"),
    ],
    ids=str,
)
def test_a_faulty_schema_is_the_model_s_failure_only_to_the_verifier(scored, schema, reason):
    got = scored([result(1, [call("f", '{"a": 1}')], tools=[function("f", schema)])])
    assert rate(got.schema_accuracy) == (0, 1)
    assert rate(got.schema_accuracy_fair) == (0, 0)
    (fault,) = as_dict(got)["schema_faults"]
    assert fault["reason"].startswith(reason)
    assert got.tally.left_out_schema == 1


@pytest.mark.parametrize("schema", [{"$ref": "#/$defs/none"}, {"type": "strng"}], ids=str)
def test_without_a_profile_what_is_no_schema_is_still_its_own_fault(scored, schema):
    records = [result(1, [call("f", "{}")], tools=[function("f", schema)])]
    assert rate(scored(records, profile=None).schema_accuracy_fair) == (0, 0)


def test_a_profile_says_which_schemas_are_at_fault(scored):
    schema = {"type": "object"}  # `dynamo` wants objects closed
    records = [result(1, [call("f", "{}")], tools=[function("f", schema)])]
    assert rate(scored(records, profile="dynamo").schema_accuracy_fair) == (0, 0)
    assert rate(scored(records, profile="dynamo").schema_accuracy) == (1, 1)
    assert rate(scored(records).schema_accuracy_fair) == (1, 1)


def test_format_is_not_asserted_and_the_draft_goes_by_the_schema(scored):
    dated = {"properties": {"d": {"format": "date"}, "r": {"format": "regex"}}}
    got = scored(
        [
            result(1, [call("f", '{"d": "no date", "r": "("}')], tools=[function("f", dated)]),
            result(2, [call("legacy", '{"n": 5}')]),  # exclusiveMaximum: true is of draft 4
            result(3, [call("legacy", '{"n": 4}')]),
        ]
    )
    assert [bool(o & 4) for o in got.outcomes[1:]] == [True, False, True]


def test_a_subschema_may_be_of_another_draft(scored):
    own = {"$schema": "http://json-schema.org/draft-04/schema#", "const": 3}  # not in draft 4
    got = scored(
        [
            result(1, [call("f", '{"a": 4}')], tools=[function("f", {"properties": {"a": own}})]),
            result(2, [call("f", '{"b": 4}')], tools=[function("f", {"not": {"const": {"b": 4}}})]),
        ]
    )
    assert [bool(o & 4) for o in got.outcomes[1:]] == [True, False]


def test_the_finish_reason_of_a_result_is_the_line_s_own(scored):
    one = [call("get_weather", GOOD)]
    got = scored(
        [
            {**result(1, one, "stop"), "finish_reason": "tool_calls"},
            {**result(2, one), "finish_reason": "stop"},
        ]
    )
    assert as_dict(got)["finish"] == {"stop": 1, "tool_calls": 1}
    assert list(got.outcomes[1:]) == [1 | 2 | 4 | 8, 1]


def test_arguments_are_read_as_leniently_as_the_verifier_reads_them(scored):
    for arguments in ('{"city": "Oslo", "city": "Rome"}', {"city": "Oslo"}):
        assert rate(scored([result(1, [call("get_weather", arguments)])]).schema_accuracy) == (1, 1)
    nan = function("f", {"properties": {"a": {"type": "number"}}})
    got = scored([result(1, [call("f", '{"a": NaN}')], tools=[nan])])
    assert rate(got.schema_accuracy) == (1, 1)


def test_a_schema_that_ends_in_recursion_is_a_failure_and_left_out(scored):
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}}
    got = scored([result(1, [call("f", "{}")], tools=[function("f", schema)])], profile=None)
    assert rate(got.schema_accuracy) == (0, 1)
    assert rate(got.schema_accuracy_fair) == (0, 0)
    assert got.tally.left_out_undecided == 1


@pytest.mark.parametrize(
    "bad",
    [
        {},
        {"function": {}},
        {"function": {"name": "get_weather"}},
        {"function": {"name": 3, "arguments": "{}"}},
        {"function": "get_weather"},
        None,
        "get_weather",
    ],
    ids=str,
)
def test_a_malformed_call_is_the_model_s_fault(scored, bad):
    got = scored([result(1, [bad])])
    assert rate(got.schema_accuracy) == (0, 1)
    assert as_dict(got)["reasons"] == {"malformed-call": 1}


def test_the_verifier_fails_at_a_malformed_tool_that_comes_before_the_one_called(scored):
    tools = [{"type": "web_search"}, *DECLARED]
    got = scored([result(1, [call("get_weather", GOOD)], tools=tools)])
    assert rate(got.schema_accuracy) == (0, 1)
    assert rate(got.schema_accuracy_fair) == (1, 1)
    after = scored([result(1, [call("get_weather", GOOD)], tools=[*DECLARED, {"type": "x"}])])
    assert rate(after.schema_accuracy) == (1, 1)


def test_the_latest_run_of_a_request_counts(scored):
    good, bad = [call("get_weather", GOOD)], [call("get_weather", "{}")]
    runs = [
        result(1, bad, last_run_at="2026-02-14T10:00:02"),
        result(2, bad, last_run_at="2026-02-14T10:00:02"),
        result(1, good, last_run_at="2026-02-14T10:00:03"),
        result(2, good, last_run_at="2026-02-14T10:00:01"),
        result(3, good),
    ]
    got = scored(runs)
    assert rate(got.schema_accuracy) == (2, 3)
    assert got.superseded == 2
    assert got.tally.requests == 3
    assert as_dict(got)["calls"] == {"ok": 2, "model": 1}


def test_of_two_runs_at_one_time_the_later_line_counts(scored):
    got = scored([result(1, [call("get_weather", "{}")]), result(1, [call("get_weather", GOOD)])])
    assert rate(got.schema_accuracy) == (1, 1)


def test_a_verdict_in_the_log_is_compared_and_not_believed(scored):
    got = scored(
        [
            result(1, [call("get_weather", GOOD)], tool_calls_valid=True),
            result(2, [call("get_weather", "{}")], tool_calls_valid=True),
            result(3, [call("get_weather", "{}")], tool_calls_valid=False),
            result(4, []),
        ]
    )
    assert rate(got.schema_accuracy) == (1, 4)
    assert as_dict(got)["recorded"] == {"verdicts": 3, "valid": 2, "disagreements": 1}


def test_failed_requests_are_no_answers(scored):
    got = scored([score_logs.failed(1), result(2, [call("get_weather", GOOD)])])
    assert (got.tally.requests, got.tally.failed) == (2, 1)
    assert rate(got.schema_accuracy) == (1, 1)


# ------------------------------------------------------------------------------------------ reasons


def test_faults_are_counted_by_tool_keyword_and_path(scored):
    got = scored([result(i + 1, [call(n, a)]) for i, (n, a, _) in enumerate(score_logs.CALLS)])
    rows = {(r["tool"], r["keyword"], r["path"]): r["count"] for r in as_dict(got)["constraints"]}
    assert rows == {
        ("get_weather", "required", "/required"): 1,
        ("get_weather", "type", "/properties/city/type"): 1,
        ("get_weather", "maximum", "/properties/days/maximum"): 1,
        ("get_weather", "minLength", "/properties/city/minLength"): 1,
        ("get_weather", "additionalProperties", "/additionalProperties"): 1,
        ("get_weather", "enum", "/properties/unit/enum"): 1,
        ("get_weather", "pattern", "/properties/tag/pattern"): 1,
        ("list_files", "type", "/type"): 1,
    }
    tools = {row.pop("tool"): row for row in as_dict(got)["tools"]}
    assert tools["get_weather"] == {
        "calls": 12,
        "valid": 3,
        "right": 3,
        "model_faults": 9,
        "schema_faults": 0,
    }
    assert tools["dangling"]["schema_faults"] == 2
    assert "get_wether" not in tools
    assert as_dict(got)["unknown_tools"] == [
        {"name": "get_wether", "nearest": "get_weather", "count": 1}
    ]


# -------------------------------------------------------------------------------------------- logs


def chunks(calls, finish="tool_calls"):
    """A stream, with each call's arguments in pieces."""
    made = [{"choices": [{"delta": {"role": "assistant", "content": ""}, "finish_reason": None}]}]
    for at, one in enumerate(calls):
        name, arguments = one["function"]["name"], one["function"]["arguments"]
        head = {"index": at, "id": "c", "function": {"name": name, "arguments": ""}}
        parts = [head, *({"index": at, "function": {"arguments": c}} for c in arguments)]
        made += [{"choices": [{"delta": {"tool_calls": [part]}}]} for part in parts]
    made.append({"choices": [{"delta": {}, "finish_reason": finish}]})
    made.append({"choices": [], "usage": {"total_tokens": 3}})
    return made


def events(made):
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in made) + "data: [DONE]\n\n"


REQUEST = {"model": "m", "messages": [], "tools": DECLARED}
CALLED = [call("get_weather", GOOD), call("list_files", '{"path": "/tmp"}')]
SHAPES = {
    "an object": completion(CALLED, "tool_calls"),
    "the text of one": json.dumps(completion(CALLED, "tool_calls")),
    "a body": {"status_code": 200, "body": completion(CALLED, "tool_calls")},
    "the text of a body": {"body": json.dumps(completion(CALLED, "tool_calls"))},
    "chunks": chunks(CALLED),
    "chunks in a body": {"body": chunks(CALLED)},
    "events": events(chunks(CALLED)),
    "events in a body": {"body": events(chunks(CALLED))},
    "the text of chunks": json.dumps(chunks(CALLED)),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_an_answer_may_be_recorded_in_many_ways(scored, shape):
    for request in (REQUEST, json.dumps(REQUEST), {"body": REQUEST}):
        got = scored([{"request": request, "response": SHAPES[shape]}])
        assert rate(got.schema_accuracy) == (1, 1), request
        assert as_dict(got)["calls"] == {"ok": 2}
    assert not got.faults


def test_chunks_may_be_named_so(scored):
    got = scored([{"request": REQUEST, "chunks": chunks(CALLED)}])
    assert rate(got.schema_accuracy) == (1, 1)


def test_streams_are_put_together_as_the_verifier_does_it(scored):
    half = [
        {"choices": [{"delta": {"tool_calls": [{"function": {"name": "no"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": {"name": "list_files"}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": '{"path"'}}]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": ': "/"}'}}]}}]},
    ]
    end = [{"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}]
    got = scored(
        [{"request": REQUEST, "response": half + end}, {"request": REQUEST, "response": half}]
    )
    assert rate(got.schema_accuracy) == (1, 1)
    assert as_dict(got)["finish"] == {"stop": 1, "tool_calls": 1}
    assert as_dict(got)["calls_with_another_finish"] == 1


def test_of_several_streamed_choices_the_first_is_looked_at(scored):
    def chunk(index, arguments=None, finish=None):
        delta = {}
        if arguments is not None:
            function = {"name": "list_files", "arguments": arguments}
            delta = {"tool_calls": [{"index": 0, "function": function}]}
        return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}

    stream = [chunk(1, '{"pa'), chunk(0, '{"path"'), chunk(1, "th"), chunk(0, ': "/"}')]
    stream += [chunk(1, None, "length"), chunk(0, None, "tool_calls"), chunk(1, "!", "stop")]
    together = [{"choices": [c for chunk in stream for c in chunk["choices"]]}]
    for chunks_ in (stream, together):
        got = scored([{"request": REQUEST, "response": chunks_}])
        assert rate(got.schema_accuracy) == (1, 1)
    alone = [chunk(1, '{"path": "/"}'), chunk(1, None, "tool_calls")]
    assert rate(scored([{"request": REQUEST, "response": alone}]).schema_accuracy) == (1, 1)


def test_a_log_may_be_compressed(tmp_path):
    records = made(3)
    plain = write(tmp_path / "a.jsonl", records)
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "a.jsonl").read_bytes()))
    assert score(str(packed)).outcomes == score(plain).outcomes


@pytest.mark.parametrize("packed", [False, True])
def test_requests_may_be_in_the_samples(tmp_path, packed):
    records = made(4)
    whole = score(write(tmp_path / "whole.jsonl", records))
    lines = [json.dumps(r["request"]) for r in records]
    lines[0] += " "
    data = "\n".join(lines).encode()
    samples = tmp_path / "samples.jsonl"
    samples.write_bytes(gzip.compress(data) if packed else data)
    for record in records:
        del record["request"]
    results = write(tmp_path / "results.jsonl", reversed(records))

    assert score(results, samples=str(samples)).outcomes == whole.outcomes
    without = score(results)
    assert rate(without.schema_accuracy) == (0, whole.tally.called)
    assert without.tally.without_request == whole.tally.called
    assert rate(without.schema_accuracy_fair) == (0, 0)


def test_faulty_lines_of_samples_move_no_other_line(tmp_path):
    good = json.dumps(REQUEST)
    samples = write(tmp_path / "samples.jsonl", ["{", good, "", "\x00", b"\xff", good])
    records = [{**result(i, [call("get_weather", GOOD)]), "request": None} for i in range(1, 9)]
    got = score(write(tmp_path / "results.jsonl", records), samples=samples)
    assert [i for i, outcome in enumerate(got.outcomes) if outcome & 4] == [2, 6]


# ------------------------------------------------------------------------------------------- joins


def joined(tmp_path, name, finishes):
    records = [result(i, [call("get_weather", GOOD)], f) for i, f in finishes.items()]
    return write(tmp_path / name, records)


def test_trigger_similarity_joins_by_the_index_of_the_request(tmp_path):
    yes, no = "tool_calls", "stop"
    model = joined(tmp_path, "m", {6: yes, 5: no, 4: yes, 3: yes, 2: no, 1: yes, 9: yes})
    official = joined(tmp_path, "o", {1: yes, 2: yes, 3: yes, 4: no, 5: "length", 6: yes, 8: yes})
    got = Trigger(score(model), endings(official))

    assert (got.true_positive, got.false_positive) == (3, 1)
    assert (got.false_negative, got.true_negative) == (1, 1)
    assert got.precision.value == got.recall.value == got.f1.value == 0.75


def test_without_common_requests_there_is_no_similarity(tmp_path):
    model = joined(tmp_path, "m", {1: "tool_calls"})
    official = joined(tmp_path, "o", {2: "tool_calls"})
    assert Trigger(score(model), endings(official)).f1.value is None


def test_two_runs_are_compared_on_what_both_answer_with_calls(scored):
    good, bad = [call("get_weather", GOOD)], [call("get_weather", "{}")]
    faulty = [call("broken", "{}")]
    first = [good, good, bad, bad, good, faulty, good]
    second = [good, bad, good, bad, None, good, bad]
    runs = [
        scored([result(i, c, "tool_calls" if c else "stop") for i, c in enumerate(calls, 1)])
        for calls in (first, second)
    ]
    got = Comparison(*runs)
    exact = got.exact
    assert (exact.both, exact.only_first, exact.only_second, exact.neither) == (1, 2, 2, 1)
    fair = got.fair
    assert (fair.both, fair.only_first, fair.only_second, fair.neither) == (1, 2, 1, 1)
    assert not exact.significant


def test_a_clear_difference_is_more_than_noise(scored):
    good, bad = [call("get_weather", GOOD)], [call("get_weather", "{}")]
    runs = [
        scored([result(i, good if i > limit else bad) for i in range(1, 101)]) for limit in (5, 20)
    ]
    got = Comparison(*runs).exact
    assert (got.only_first, got.only_second) == (15, 0)
    assert got.p == 2 / 2**15
    assert got.significant


def test_lines_without_an_index_are_joined_by_their_number(scored):
    pairs = [
        {"request": REQUEST, "response": completion(CALLED, f)} for f in ("stop", "tool_calls")
    ]
    assert list(scored(pairs).outcomes) == [0, 1, 1 | 2 | 4 | 8]


def test_a_line_without_an_index_takes_that_of_no_other(scored):
    good, bad = [call("get_weather", GOOD)], [call("get_weather", "{}")]
    pair = {"request": REQUEST, "response": completion(good, "tool_calls")}
    for runs in (
        [result(2, bad), pair, pair],  # the second line is not the second request
        [pair, pair, result(2, bad)],
        [pair, pair, result(2, good), result(2, bad)],
    ):
        got = scored(runs)
        assert rate(got.schema_accuracy) == (2, 3)
        assert got.tally.requests == 3
        assert got.superseded == len(runs) - 3
        assert got.unjoined == 1
        assert got.outcomes[2] == 1 | 2  # seen, called, and not valid


# ------------------------------------------------------------------------------------ hostile lines


def test_bad_lines_are_counted_by_kind_and_nothing_else_is_lost(scored, monkeypatch):
    monkeypatch.setattr(lines_, "MAX_LINE", 10_000)
    good = result(1, [call("list_files", '{"path": "/"}')], tools=DECLARED[1:2])
    got = scored(
        [
            "nonsense",
            b"\xff\xfe",
            "[" * 9_000 + "]" * 9_000,
            "[" * 4_000,
            '{"a": "' + "x" * 20_000 + '"}',
            good,
            "[]",
            "{}",
            '"response"',
            "",
            "  ",
            {"request": REQUEST, "response": "data: {"},
            {"response": []},
            {**good, "data_index": 2},
        ]
    )
    assert got.faults == {
        "not-json": 1,
        "not-utf-8": 1,
        "too-long": 2,
        "too-deep": 1,
        "wrong-shape": 3,
        "broken-stream": 2,
    }
    assert got.first_fault["wrong-shape"] == 7
    assert rate(got.schema_accuracy) == (2, 2)


@pytest.mark.parametrize("index", [0, -1, True, "1", 1.0, None, 10**30, 10**9])
def test_an_index_that_is_none_is_counted_but_not_joined(scored, index):
    got = scored([{**result(1, [call("get_weather", GOOD)]), "data_index": index}])
    assert got.unjoined == 1
    assert not got.outcomes
    assert rate(got.schema_accuracy) == (1, 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "response", "request", "body", "choices", "message", "delta", "tool_calls",
                    "function", "name", "arguments", "finish_reason", "tools", "parameters", "index",
                    "data_index", "status", "last_run_at", "chunks",
                ]
            ),
            inner | st.just("tool_calls"),
            max_size=4,
        )
    ),
    max_leaves=20,
)  # fmt: skip


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(JSON | st.binary(max_size=20), max_size=4))
def test_any_lines_are_answered_in_every_format(folder, lines):
    path = write(folder / "fuzz.jsonl", lines)
    got = score(path, samples=path)
    trigger = Trigger(got, endings(path))
    json.dumps(as_dict(got, trigger), allow_nan=False)
    assert text([(got, trigger)], Comparison(got, got))
    assert markdown([(got, trigger)], Comparison(got, got))


def test_a_broken_gzip_ends_where_it_breaks(tmp_path):
    packed = tmp_path / "a.gz"
    data = gzip.compress((json.dumps(result(1, [call("get_weather", GOOD)])) + "\n").encode() * 1)
    packed.write_bytes(data[:-6])
    got = score(str(packed))
    assert got.faults == {"broken-gzip": 1}
    packed.write_bytes(b"\x1f\x8b\x08" + b"\x00" * 30)
    assert score(str(packed)).faults == {"broken-gzip": 1}


def test_what_is_no_regular_file_is_refused(tmp_path):
    with pytest.raises((ScoreError, IsADirectoryError)):
        score(str(tmp_path))
    with pytest.raises(ScoreError, match="regular"):
        score("/dev/null")


def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ended = threading.Event()

    def run():
        with pytest.raises(ScoreError, match="regular"):
            score(str(pipe))
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    assert ended.wait(10)


def test_an_integer_beyond_what_division_takes_is_nobody_s_fault(scored):
    schema = {"type": "object", "properties": {"a": {"multipleOf": 0.5}}}
    calls = [call("f", '{"a": 1' + "0" * 400 + "}")]
    got = scored([result(1, calls, tools=[function("f", schema)])], profile=None)
    assert rate(got.schema_accuracy) == (0, 1)
    assert got.tally.left_out_undecided == 1


BOMB = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 2} for i in range(40)}
HOSTILE = {
    "a pattern that explodes": (
        {"properties": {"v": {"pattern": "^(a+)+$"}}},
        {"v": "a" * 60 + "!"},
    ),
    "one with a back reference": (
        {"properties": {"v": {"pattern": r"(a+)+\1$"}}},
        {"v": "a" * 60 + "!"},
    ),
    "one of names": ({"patternProperties": {"^(a+)+$": {}}}, {"a" * 60 + "!": 1}),
    "one of names, unevaluated": (
        {"patternProperties": {"^(a+)+$": {}}, "unevaluatedProperties": False},
        {"a" * 60 + "!": 1},
    ),
    "references that multiply": (
        {"$ref": "#/$defs/d0", "$defs": {**BOMB, "d40": {"type": "string"}}},
        {},
    ),
    "unique items": (
        {"properties": {"v": {"uniqueItems": True}}},
        {"v": [{"a": i} for i in range(20_000)]},
    ),
    "an enum of drafts that compare each with each": (
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "enum": [{"a": i} for i in range(20_000)],
        },
        {},
    ),
    "large values in many messages": ({"anyOf": [{"type": "null"}] * 400}, {"v": "x" * 1_000_000}),
    "unique items of two kinds": (
        {"properties": {"v": {"uniqueItems": True}}},
        {"v": [x for i in range(40_000) for x in (i, str(i))]},
    ),
    "containers in a large enum": (
        {"items": {"enum": [[*range(200), i] for i in range(400)]}},
        [[*range(200), -1]] * 400,
    ),
    "unevaluated properties behind references that multiply": (
        {
            "unevaluatedProperties": False,
            "$ref": "#/$defs/d0",
            "$defs": {**BOMB, "d40": {"type": "object"}},
        },
        {"a": 1},
    ),
    "a large pattern": ({"properties": {"v": {"pattern": "(" * 500 + ")" * 500}}}, {"v": ""}),
    "a deep schema": (json.loads('{"not":' * 400 + "{}" + "}" * 400), {}),
}


@pytest.mark.parametrize("profile", [None, "xgrammar"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_and_arguments_end_in_bounded_time(scored, name, profile):
    schema, arguments = HOSTILE[name]
    records = [result(1, [call("f", json.dumps(arguments))], tools=[function("f", schema)])]
    began = time.thread_time()
    got = scored(records, profile=profile)
    assert time.thread_time() - began < 6
    assert got.tally.called == 1


def test_no_reference_is_ever_fetched(scored, monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr("urllib.request.urlopen", refuse)
    for reference in ("http://127.0.0.1:9/s.json", "file:///etc/passwd", "other.json"):
        tools = [function("f", {"properties": {"a": {"$ref": reference}}})]
        for profile in (None, "xgrammar"):
            got = scored([result(1, [call("f", '{"a": 1}')], tools=tools)], profile=profile)
            assert rate(got.schema_accuracy) == (0, 1)
            assert rate(got.schema_accuracy_fair) == (0, 0)


def test_a_flood_of_names_and_schemas_is_held_to_its_tables(scored):
    records = [
        result(
            i,
            [call(f"u{i}", "{}"), call(f"t{i}", '{"a": 1}')],
            tools=[function(f"t{i}", {"properties": {"a": {"maxLength": i}}, "title": "x" * i})],
        )
        for i in range(1, 1_501)
    ]
    got = scored(records)
    told = as_dict(got)
    assert len(told["unknown_tools"]) == 1_000
    assert got.tally.unknown.others == [500]
    assert sum(row["calls"] for row in told["tools"]) == 1_500
    assert len(told["tools"]) == 1_001


def test_names_from_logs_cannot_write_to_a_terminal_or_a_page(scored):
    name = "\x1b[2J|<b>\n##[error]"
    tools = [function(name, {"required": [name]})]
    got = scored(
        [
            result(1, [call(name, "{}"), call("\x1b]0;x\x07", "{}")], tools=tools),
            result(2, [], "\x1b[31m"),
        ]
    )
    shown = text([(got, None)])
    assert "\x1b" not in shown
    assert "##[" not in shown
    page = markdown([(got, None)])
    assert "\x1b" not in page
    assert "<b>" not in page
    assert all(line.count("|") in (0, 3, 4, 5, 8) for line in page.splitlines())


def test_half_surrogate_pairs_in_names_are_no_trouble(scored):
    got = scored([result(1, [call("\ud800", "{}"), call("f", '"\\ud800"')], tools=DECLARED)])
    json.dumps(as_dict(got)).encode()
    text([(got, None)]).encode("utf-8", "strict")


def test_an_empty_score_has_no_rate():
    made = Score("x", None)
    assert made.schema_accuracy.value is None
    assert "none" in text([(made, None)])


def test_many_slow_calls_in_one_answer_end_in_bounded_time(scored):
    tools = [function("f", {"items": {"items": {"maxLength": 3}}})]
    slow = call("f", json.dumps([["x"] * 50] * 50))
    began = time.thread_time()
    got = scored([result(1, [slow] * 300, tools=tools)])
    assert time.thread_time() - began < 6
    assert got.tally.left_out_undecided == 1


def test_line_separators_in_a_stream_are_text(scored):
    one = call("list_files", json.dumps({"path": "/\u2028\x85"}, ensure_ascii=False))
    stream = "".join(f"data: {json.dumps(c, ensure_ascii=False)}\r\n\r\n" for c in chunks([one]))
    got = scored([{"request": REQUEST, "response": stream}])
    assert rate(got.schema_accuracy) == (1, 1)


CYCLES = {
    "of references": {"$ref": "#"},
    "through properties that are left": {"$ref": "#", "unevaluatedProperties": False},
    "through items that are left": {"allOf": [{"$ref": "#"}], "unevaluatedItems": False},
    "of dynamic references": {"$dynamicAnchor": "a", "anyOf": [{"$dynamicRef": "#a"}]},
    "of resources": {"not": {"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#"}},
    "of drafts": {"anyOf": [{"$schema": "urn:x", "$ref": "#"}]},
}


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_no_panic_however_deep_the_caller_is(scored, name, capfd):
    schema = CYCLES[name]
    records = [result(1, [call("f", '{"a": [1]}')], tools=[function("f", schema)])]

    def deeper(levels):
        return deeper(levels - 1) if levels else scored(records, profile=None)

    for levels in [*range(80), *range(80, 600, 40)]:
        got = deeper(levels)
        assert rate(got.schema_accuracy) == (0, 1)
        assert rate(got.schema_accuracy_fair) == (0, 0)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_ends_before_the_stack_does(name):
    validator = Validator(CYCLES[name], Budget(10**9))
    with pytest.raises(UndecidedError, match="too deep"):
        validator.first_error({"a": [1]})
