"""`schemaguard cost`: what a schema costs, told before it is compiled and after."""

from __future__ import annotations

import base64
import json
import sys

import pytest
from command import call, is_one_clear_line, run
from documents import closed

from schemaguard.cli.cost import _size, _time

SMALL = closed({"q": {"type": "string"}, "n": {"type": "integer"}})
DEAR = {
    "type": "object",
    "properties": {
        "destination_address": {"type": "string"},
        "preferred_language": {"type": "string"},
        "rest": closed({f"p{i}": {"type": "integer"} for i in range(10)}),
    },
    "additionalProperties": True,
}
UNSUPPORTED = closed({"a": {"type": "array", "items": [{"type": "string"}]}})


def tool(name, schema):
    return {"name": name, "inputSchema": schema}


@pytest.fixture
def cost(tmp_path, capfd):
    """Calls the command on tools, in this process; by default without measuring."""

    def call_it(*tools, measure=False, name="tools.json"):
        (tmp_path / name).write_text(json.dumps(list(tools)), encoding="utf-8")
        options = [] if measure else ["--no-measure"]

        def with_options(*more):
            return call(capfd, "cost", tmp_path / name, "--isolated", *options, *more)

        return with_options

    return call_it


def test_a_small_tool_is_told_in_one_block(cost):
    status, out, err = cost(tool("search", SMALL))()
    assert (status, err) == (0, "")
    assert "tool 'search'" in out
    assert "estimated" in out
    assert "151,643 tokens" in out
    assert "measured" not in out


def test_a_dear_tool_is_a_finding_and_its_dear_part_is_named(cost):
    status, out, _ = cost(tool("small", SMALL), tool("dear", DEAR))()
    assert status == 1
    assert "SG817 open-names at #: " in out
    assert out.index("'small'") < out.index("'dear'") < out.index("SG817")


def test_json_has_all_numbers(cost):
    status, out, _ = cost(tool("small", SMALL), tool("dear", DEAR))("--output-format", "json")
    assert status == 1
    told = json.loads(out)
    assert told["version"] == 1
    assert told["estimated_for"] == {"vocab_size": 151_643}
    assert told["measured_with"] is None
    small, dear = told["schemas"]
    assert small["tool"] == "small"
    assert small["findings"] == []
    assert small["measured"] is None
    assert 0 < small["estimate"]["seconds"] < dear["estimate"]["seconds"]
    assert small["estimate"]["rules"] < dear["estimate"]["rules"]
    assert dear["estimate"]["on_demand"]
    assert {"SG811", "SG817"} == {finding["code"] for finding in dear["findings"]}
    assert dear["contributors"][0] == {"pointer": "", "share": pytest.approx(1, abs=0.05)}


def test_the_same_input_gives_the_same_bytes(cost):
    called = cost(tool("small", SMALL), tool("dear", DEAR))
    assert called("--output-format", "json") == called("--output-format", "json")


def test_the_estimate_needs_no_engine(tmp_path):
    (tmp_path / "xgrammar.py").write_text("raise ImportError('not here')")
    (tmp_path / "numpy.py").write_text("raise ImportError('not here')")
    (tmp_path / "t.json").write_text(json.dumps([tool("search", SMALL)]))
    path = {"PYTHONPATH": str(tmp_path)}
    done = run("cost", "--no-measure", "t.json", cwd=tmp_path, env=path)
    assert done.returncode == 0
    assert "estimated" in done.stdout
    done = run("cost", "t.json", cwd=tmp_path, env=path)
    assert done.returncode == 2
    assert is_one_clear_line(done.stderr)


def test_without_the_extra_the_way_to_an_estimate_is_said(cost, monkeypatch):
    monkeypatch.setitem(sys.modules, "xgrammar", None)
    status, out, err = cost(tool("search", SMALL), measure=True)()
    assert (status, out) == (2, "")
    assert is_one_clear_line(err)
    assert "pip install 'schemaguard-preflight[xgrammar]'" in err
    assert "--no-measure" in err
    assert cost(tool("search", SMALL))()[0] == 0


def test_a_file_without_a_schema_is_a_finding(tmp_path, capfd):
    (tmp_path / "none.json").write_text('{"a": 1, "b": ')
    status, out, err = call(capfd, "cost", "--no-measure", tmp_path / "none.json")
    assert (status, out) == (1, "")
    assert is_one_clear_line(err)


def test_a_file_that_cannot_be_read_fails_the_run(tmp_path, capfd):
    status, _, err = call(capfd, "cost", "--no-measure", tmp_path / "missing.json")
    assert status == 2
    assert is_one_clear_line(err)


def test_names_cannot_move_the_cursor(cost):
    schema = {**DEAR, "properties": {"\x1b[2J\u202e" + "x" * 60: {"type": "string"}}}
    _, out, _ = cost(tool("a\x1b[31m", schema))()
    assert "\x1b" not in out
    assert "\u202e" not in out


def test_a_schema_as_deep_as_the_reader_takes_is_told(cost):
    schema = {"type": "string"}
    for _ in range(400):
        schema = {"type": "array", "items": schema}
    status, out, _ = cost(tool("deep", schema))()
    assert status == 1
    assert "SG801" in out


# Measured: with the engine, in worker processes ---------------------------------------------------


@pytest.fixture
def engine():
    pytest.importorskip("xgrammar", reason="needs the extra `xgrammar`")


@pytest.mark.usefixtures("engine")
def test_that_the_measurement_is_over_bytes_is_said_with_what_to_do_about_it(cost):
    _, out, _ = cost(tool("search", SMALL), measure=True)()
    (estimated,) = (line for line in out.splitlines() if line.startswith("  estimated"))
    (measured,) = (line for line in out.splitlines() if line.startswith("  measured"))
    assert estimated.endswith("(151,643 tokens)")
    assert measured.endswith("(over bytes, 257 tokens; --tokenizer FILE measures over yours)")


@pytest.mark.usefixtures("engine")
def test_a_measurement_over_a_vocabulary_of_ones_own_says_its_size_alone(cost, tmp_path):
    lines = (f"{base64.b64encode(bytes([n])).decode()} {n}\n" for n in range(256))
    (tmp_path / "v.tiktoken").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "names.json").write_text('["<a>", "<b>"]', encoding="utf-8")
    options = ("--special-tokens", tmp_path / "names.json", "--stop-token", "<b>")
    called = cost(tool("search", SMALL), measure=True)
    _, out, _ = called("--tokenizer", tmp_path / "v.tiktoken", *options)
    (measured,) = (line for line in out.splitlines() if line.startswith("  measured"))
    assert measured.endswith(" (258 tokens)")


@pytest.mark.usefixtures("engine")
def test_what_was_measured_stands_beside_the_estimate(cost):
    status, out, err = cost(tool("search", SMALL), measure=True)("--output-format", "json")
    assert (status, err) == (0, "")
    told = json.loads(out)
    assert told["measured_with"] == {"kind": "byte-level", "vocab_size": 257}
    measured = told["schemas"][0]["measured"]
    assert measured["reason"] is None
    assert 0 < measured["seconds"] < 10
    assert 0 < measured["mask_seconds"] < 1
    assert measured["grammar_bytes"] > 0


@pytest.mark.usefixtures("engine")
def test_what_the_engine_refuses_is_told_and_the_rest_is_measured(cost):
    called = cost(tool("bad", UNSUPPORTED), tool("good", SMALL), measure=True)
    status, out, _ = called("--output-format", "json")
    bad, good = json.loads(out)["schemas"]
    assert status == 1
    assert bad["measured"]["reason"] == "unsupported"
    assert bad["measured"]["message"]
    assert good["measured"]["reason"] is None
    _, out, _ = called()
    assert "measured  unsupported: " in out
    assert "worst mask" in out


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.0214, "21 ms"),
        (9.9, "9,900 ms"),
        (10.0, "10 s"),
        (7199.0, "7,199 s"),
        (1e40, "over 2 hours"),
    ],
)
def test_time_that_nobody_waits_for_is_told_apart_no_further(seconds, shown):
    assert _time(seconds) == shown


@pytest.mark.parametrize(
    ("size", "shown"),
    [(13 << 20, "13 MiB"), (10 << 30, "10 GiB"), (10**40, "over 10 TiB")],
)
def test_memory_that_no_machine_has_is_told_apart_no_further(size, shown):
    assert _size(size) == shown


@pytest.mark.parametrize("command", ["audit", "budgets", "cost", "matrix"])
def test_compile_is_offered_only_where_findings_are_reported(command, tmp_path):
    done = run(command, "--compile", "x.json", cwd=tmp_path)
    assert done.returncode == 2
    assert "--compile" in done.stderr
