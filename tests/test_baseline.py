"""Baselines: what is known stays quiet, what is new fails, what is fixed is said."""

from __future__ import annotations

import json

import pytest
from command import call
from hypothesis import given
from hypothesis import strategies as st

from schemaguard.baseline import Baseline, counts, dumps, load
from schemaguard.config import ConfigError
from schemaguard.lint import check_text
from schemaguard.profiles import load as load_profile

DYNAMO = load_profile("dynamo")


def tools(*pairs):
    return json.dumps({"tools": [{"name": name, "inputSchema": s} for name, s in pairs]})


OPEN = {"type": "object"}
OLD = tools(("a", OPEN), ("b", {"type": "object", "properties": {"q": {"not": {}}}}))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / ".git").mkdir()
    (tmp_path / "x.json").write_text(OLD, encoding="utf-8")
    monkeypatch.delenv("SCHEMAGUARD_OUTPUT_FORMAT", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def known(text=OLD, path="x.json"):
    return counts([check_text(path, text)], ".")


def left(baseline, text, path="x.json"):
    report = baseline.apply(check_text(path, text))
    return sorted((tool.name, f.code) for tool in report.tools for f in tool.findings), report


def test_known_findings_are_quiet():
    found, report = left(Baseline(known(), "."), OLD)
    assert found == []
    assert report.ok
    assert sum(known().values()) == 4


def test_new_findings_are_not():
    new = tools(("a", {**OPEN, "allOf": []}), ("b", OPEN), ("c", OPEN))
    found, report = left(Baseline(known(), "."), new)
    assert found == [("a", "SG201"), ("c", "SG401")]
    assert [tool.ok for tool in report.tools] == [False, True, False]


def test_more_of_the_same_at_the_same_place_is_new():
    baseline = Baseline(known(tools(("a", OPEN))), ".")
    assert left(baseline, tools(("a", OPEN), ("a", OPEN)))[0] == [("a", "SG401")]


def test_neither_moved_lines_nor_moved_tools_matter():
    moved = json.dumps(json.loads(OLD), indent=8)
    assert left(Baseline(known(), "."), moved)[0] == []
    value = json.loads(OLD)
    value["tools"].reverse()
    value["tools"].insert(0, {"name": "new", "inputSchema": OPEN})
    assert left(Baseline(known(), "."), json.dumps(value))[0] == [("new", "SG401")]


def test_another_file_is_not_known():
    assert len(left(Baseline(known(), "."), OLD, path="y.json")[0]) == 4


def test_what_is_fixed_is_removable_when_its_file_was_checked(folder):
    baseline = Baseline({**known(), **known(path="z.json"), **known(path="y.json")}, str(folder))
    (folder / "y.json").write_text(OLD, encoding="utf-8")
    fixed = tools(("a", OPEN))
    assert left(baseline, fixed, path=str(folder / "x.json"))[0] == []
    rows = {(key[0], key[1], key[3]) for key, _ in baseline.removable()}
    assert rows == {
        ("x.json", "b", "SG201"),
        ("x.json", "b", "SG401"),
        ("x.json", "b", "SG402"),
        # Gone with its file; y.json is there and was not looked at.
        ("z.json", "a", "SG401"),
        ("z.json", "b", "SG201"),
        ("z.json", "b", "SG401"),
        ("z.json", "b", "SG402"),
    }


def test_findings_that_a_report_only_counts_are_known_by_their_number():
    def many(count):
        names = [f"p{i}" for i in range(count)]
        return tools(("a", {"type": "object", "properties": dict.fromkeys(names, OPEN)}))

    baseline = known(many(1200))
    assert sum(baseline.values()) == check_text("x.json", many(1200)).tools[0].report.total
    report = left(Baseline(baseline, "."), many(1200))[1]
    assert report.ok
    assert report.tools[0].report.total == 0
    report = left(Baseline(baseline, "."), many(1201))[1]
    assert not report.ok
    assert report.tools[0].report.total >= 1


def test_what_was_not_understood_is_never_known():
    assert known("{") == {}
    assert known('{"hello": 1}') == {}
    duplicate = '{"type": "object", "type": "object", "additionalProperties": false}'
    assert {key[3] for key in known(duplicate)} == {"SG102"}


def test_the_text_is_sorted_one_finding_a_line_and_the_same_every_time():
    text = dumps(known())
    assert text == dumps(dict(reversed(known().items())))
    rows = [json.loads(line.strip().removesuffix(",")) for line in text.splitlines()[1:-1]]
    assert len(rows) == 4
    assert rows == sorted(rows, key=lambda r: (r["path"], r["tool"], r["pointer"], r["code"]))
    assert json.loads(text) == {"version": 1, "findings": rows}
    assert json.loads(dumps({})) == {"version": 1, "findings": []}


NAMES = st.text(st.characters(), max_size=6) | st.just("n" * 3_000) | st.just("\udcff")


@given(st.lists(st.tuples(NAMES, NAMES), max_size=4))
def test_whatever_the_names_are_a_written_baseline_knows_what_it_was_made_of(pairs):
    encoded = [(n.encode("utf-8", "replace").decode(), p) for n, p in pairs]
    text = tools(*((n, {"type": "object", "properties": {p: OPEN}}) for n, p in encoded))
    path = "a\udcffb.json"
    made = counts([check_text(path, text)], ".")
    again = json.loads(dumps(made))
    rows = {(r["path"], r["tool"], r["pointer"], r["code"]): r["count"] for r in again["findings"]}
    report = Baseline(rows, ".").apply(check_text(path, text))
    assert all(not tool.findings for tool in report.tools)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"{", "not JSON: invalid-json"),
        (b"", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff", "not JSON"),
        (b"[]", "not a baseline of version 1"),
        (b'{"version": 2, "findings": []}', "not a baseline of version 1"),
        (b'{"version": 1}', "a finding has"),
        (b'{"version": 1, "findings": {}}', "a finding has"),
        (b'{"version": 1, "findings": [3]}', "a finding has"),
        (
            b'{"version": 1, "findings": [{"path": 1, "tool": "", "pointer": "", "code": "", "count": 1}]}',
            "a finding has",
        ),
        (
            b'{"version": 1, "findings": [{"path": "", "tool": "", "pointer": "", "code": "", "count": true}]}',
            "a finding has",
        ),
    ],
)
def test_a_file_that_is_no_baseline_is_refused(tmp_path, content, what):
    path = tmp_path / "baseline.json"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        load(str(path), ".")
    assert what in str(caught.value)


# ---------------------------------------------------------------------------------------- the command


def test_the_command_makes_a_baseline_that_check_takes(folder, capfd):
    status, out, err = call(capfd, "baseline", "x.json")
    assert (status, err) == (0, "4 findings in the baseline\n")
    (folder / "known.json").write_text(out, encoding="utf-8")
    status, out, err = call(capfd, "check", "x.json", "--baseline", "known.json")
    assert (status, out, err) == (
        0,
        "",
        "2 of 2 schemas in 1 file accepted by dynamo-2026-11-30; 0 findings\n",
    )


def test_the_baseline_of_the_configuration_is_from_the_folder_of_the_configuration(
    folder, capfd, monkeypatch
):
    (folder / "sub").mkdir()
    (folder / "sub" / "y.json").write_text(OLD, encoding="utf-8")
    (folder / "schemaguard.toml").write_text('baseline = "known.json"', encoding="utf-8")
    assert call(capfd, "baseline", "x.json", "sub/y.json", "-o", "known.json")[0] == 0
    monkeypatch.chdir(folder / "sub")
    assert call(capfd, "check", "y.json", "../x.json")[0] == 0


def test_the_command_says_what_is_fixed(folder, capfd):
    call(capfd, "baseline", "x.json", "-o", "known.json")
    (folder / "x.json").write_text(tools(("a", OPEN)), encoding="utf-8")
    status, out, err = call(capfd, "check", "-q", "x.json", "--baseline", "known.json")
    assert (status, out) == (0, "")
    assert "x.json: SG201 tool 'b' > #/inputSchema/properties/q/not is fixed\n" in err
    assert err.endswith("write it again to remove what is fixed\n")


def test_the_command_does_not_take_what_was_not_understood(folder, capfd):
    (folder / "y.json").write_text("{", encoding="utf-8")
    status, out, err = call(capfd, "baseline", "y.json")
    assert status == 1
    assert json.loads(out)["findings"] == []
    assert "not in the baseline: y.json: SG101" in err
    assert call(capfd, "baseline", "missing.json")[0] == 2
