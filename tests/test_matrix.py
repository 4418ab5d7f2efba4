"""Tools by profiles, and demands that contradict each other."""

from __future__ import annotations

import json
import re

import pytest
from command import run

from schemaguard import check, sources
from schemaguard.conflicts import Work, conflicts
from schemaguard.fix import to_profile
from schemaguard.matrix import Matrix
from schemaguard.profiles import from_table, load
from schemaguard.render.matrix import FORMATS

CLOSED = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
OPEN = {key: CLOSED[key] for key in ("type", "properties", "required")}


def profile(name, **tables):
    words = {"date": "2026-10-02", "title": "", "basis": "observed", "source": "x"}
    return from_table({"name": name, "subject": name.title(), **words, **tables}, name)


CLOSES = profile("closes", rules={"SG401": "error"})
OPENS = profile("opens", refused={"additionalProperties": {}})
IGNORES = profile("ignores", ignored={"additionalProperties": {}}, doubtful={"title": {}})
DOUBTS = profile("doubts", doubtful={"additionalProperties": {}})
NAMES = profile(
    "names",
    rules={
        "SG622": {"severity": "error", "pattern": "[a-z]+"},
        "SG624": {"severity": "error", "limit": 1},
    },
)


def made(value, *profiles):
    matrix = Matrix(profiles)
    text = json.dumps(value)
    matrix.add(sources.read("x.json", text))
    return matrix


def tool(name, schema):
    return {"name": name, "inputSchema": schema}


def test_a_cell_is_the_worst_that_is_said_with_its_first_reason():
    matrix = made(CLOSED, CLOSES, DOUBTS, IGNORES, OPENS)
    (row,) = matrix.rows
    assert [cell.verdict for cell in row.cells] == ["accepted", "warned", "degraded", "rejected"]
    assert [cell.first and cell.first.code for cell in row.cells] == [
        None,
        "SG233",
        "SG232",
        "SG231",
    ]
    assert row.cells[3].first.pointer == "/additionalProperties"
    assert row.cells[3].first.line == 1
    assert matrix.worst == "rejected"


def test_what_is_ignored_weighs_more_than_a_doubt_that_comes_first():
    (row,) = made({"title": "x", **CLOSED}, IGNORES).rows
    assert row.cells[0].verdict == "degraded"
    assert row.cells[0].first.code == "SG232"
    assert row.cells[0].total == 2


def test_names_count_for_their_tool_and_sums_are_a_row_of_their_own():
    matrix = made({"tools": [tool("ok", CLOSED), tool("a.b", CLOSED)]}, NAMES, CLOSES)
    assert [(row.name, row.pointer) for row in matrix.rows] == [
        ("ok", "/tools/0"),
        ("a.b", "/tools/1"),
        (None, None),
    ]
    assert [[cell.verdict for cell in row.cells] for row in matrix.rows] == [
        ["accepted", "accepted"],
        ["rejected", "accepted"],
        ["rejected", "accepted"],
    ]
    # Two tools, whatever is said of both together.
    assert matrix.counts()[0] == {"accepted": 1, "warned": 0, "degraded": 0, "rejected": 1}
    together = matrix.counts(together=True)[0]
    assert together == {"accepted": 0, "warned": 0, "degraded": 0, "rejected": 1}
    assert "\n2 tools  accepted " in FORMATS["text"](matrix, {})
    data = json.loads(FORMATS["json"](matrix, {}))
    assert data["counts"]["names-2026-10-02"]["rejected"] == 1
    assert data["together"]["names-2026-10-02"]["rejected"] == 1
    assert matrix.worst == "rejected"


def test_the_side_that_rejects_the_definition_as_it_is_gets_the_copy():
    (conflict,) = conflicts(OPEN, [CLOSES, OPENS])
    assert conflict.message == (
        "closes rejects the definition as it is: object schemas require additionalProperties: "
        "false (SG401 at the root of the schema); once that is changed, opens rejects it: Opens "
        "refuses `additionalProperties` here (SG231 at #/additionalProperties of the schema)"
    )
    assert (conflict.asked_at, conflict.pointer) == ("", "/additionalProperties")
    assert conflict.way_out == (
        "keep the definition as it is for opens; "
        "send closes the copy that `schemaguard fix --for closes` makes"
    )
    (conflict,) = conflicts(CLOSED, [CLOSES, OPENS])
    assert conflict.message == (
        "opens rejects the definition as it is: Opens refuses `additionalProperties` here (SG231 "
        "at #/additionalProperties of the schema); once that is changed, closes rejects it: object "
        "schemas require additionalProperties: false (SG401 at the root of the schema)"
    )
    assert conflict.way_out == (
        "keep the definition as it is for closes; "
        "send opens the copy that `schemaguard fix --lossy --for opens` makes"
    )


def test_where_neither_side_takes_the_definition_each_gets_a_copy():
    # `closes` wants what is open closed, `opens` the other object opened.
    mixed = {**CLOSED, "properties": {"a": OPEN}}
    for conflict in conflicts(mixed, [CLOSES, OPENS]):
        assert set(conflict.way_out.split("; ")) == {
            "send closes the copy that `schemaguard fix --for closes` makes",
            "send opens the copy that `schemaguard fix --lossy --for opens` makes",
        }
    assert len(conflicts(mixed, [CLOSES, OPENS])) == 2


@pytest.mark.parametrize("schema", [OPEN, CLOSED, {**CLOSED, "properties": {"a": OPEN}}])
def test_the_copies_of_a_way_out_are_accepted_by_whom_they_are_sent_to(schema):
    columns = {p.name: p for p in (CLOSES, OPENS, profile("more", rules={"SG401": "error"}))}
    found = conflicts(schema, list(columns.values()))
    assert found
    for conflict in found:
        served = set()
        for part in conflict.way_out.split("; "):
            kept = part.startswith("keep the definition as it is for ")
            to, _, command = part.partition(" the copy that ")
            names = set(re.findall(r"\b(?:closes|opens|more)\b", to))
            if kept:
                given = schema
            else:
                for_ = columns[re.search(r"--for (\w+)`", command)[1]]
                fixed = to_profile(schema, [for_], lossy="--lossy" in command)
                assert fixed.changed
                given = fixed.schema
            assert all(check(given, columns[name]).ok for name in names)
            served |= names
        assert served == {*conflict.asking, *conflict.refusing}


def test_there_is_no_conflict_where_both_can_be_satisfied():
    assert conflicts(OPEN, [CLOSES, DOUBTS, IGNORES]) == []
    assert conflicts(CLOSED, [CLOSES]) == []


def test_what_several_demand_and_several_refuse_is_one_conflict():
    others = [profile(f"more{i}", rules={"SG401": "error"}) for i in range(3)]
    (conflict,) = conflicts(OPEN, [CLOSES, *others, OPENS])
    assert conflict.asking == ("closes", "more0", "more1", "more2")
    assert conflict.refusing == ("opens",)
    assert conflict.way_out == (
        "keep the definition as it is for opens; send closes, more0, more1 and more2 the copy that "
        "`schemaguard fix --for closes` makes"
    )


def test_the_cure_of_one_provider_spends_the_budget_of_another():
    properties = {f"p{i}": {"type": "string"} for i in range(18)}
    schema = {**CLOSED, "properties": properties, "required": ["p0"]}
    (conflict,) = conflicts(schema, [load("openai-strict"), load("anthropic-strict")])
    assert conflict.asking == ("openai-strict",)
    assert conflict.refusing == ("anthropic-strict",)
    assert "union" in conflict.refuses
    assert conflict.way_out == (
        "require what every call gives, so that less counts for anthropic-strict; or keep the "
        "definition as it is for anthropic-strict; send openai-strict the copy that "
        "`schemaguard fix --for openai-strict` makes"
    )
    few = {**schema, "properties": {f"p{i}": {"type": "string"} for i in range(3)}}
    assert conflicts(few, [load("openai-strict"), load("anthropic-strict")]) == []


HOSTILE = "</td><script>alert(1)</script>\x1b[2J\u202e|`<b>"


@pytest.mark.parametrize("form", FORMATS)
def test_no_name_breaks_out_of_a_format(form):
    schema = {**OPEN, "properties": {HOSTILE: {"additionalProperties": {}}}, "required": [HOSTILE]}
    matrix = made({"tools": [tool(HOSTILE, schema)]}, CLOSES, OPENS, NAMES)
    text = FORMATS[form](matrix, matrix.conflicts(5)[0])
    assert "\x1b" not in text
    assert "\u202e" not in text
    if form in ("html", "markdown"):
        assert "<script" not in text
    if form == "json":
        assert json.loads(text)["rows"][0]["tool"] == HOSTILE
    assert "SG231" in text


def test_the_command_prints_each_format(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps({"tools": [tool("a", OPEN), tool("b", CLOSED)]}))

    def said(*more):
        return run("matrix", "t.json", "--for", "openai-strict,gemini-openapi", *more, cwd=tmp_path)

    done = said()
    assert (done.returncode, done.stderr) == (0, "")
    assert "t.json: tool 'a'" in done.stdout
    assert (
        "  rejected  openai-strict\n"
        "            SG401 open-object #/tools/0/inputSchema: object schemas require\n"
        "            additionalProperties: false\n"
    ) in done.stdout
    assert "conflict" in done.stdout
    cells = json.loads(said("--output-format", "json").stdout)["rows"][1]["cells"]
    assert [cell["verdict"] for cell in cells.values()] == ["accepted", "rejected"]
    assert "| <code>tool 'a'</code> | ✗ | ✓ |" in said("--output-format", "markdown").stdout
    page = said("--output-format", "html", "-o", "m.html")
    assert (page.stdout, page.returncode) == ("", 0)
    assert "Content-Security-Policy" in (tmp_path / "m.html").read_text(encoding="utf-8")
    assert said("--fail-on", "rejected").returncode == 1
    assert "conflict" not in said("--conflicts", "0").stdout


def test_without_columns_all_providers_are_asked_and_no_engine(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(CLOSED))
    done = run("matrix", "t.json", "--output-format", "json", cwd=tmp_path)
    columns = [name[:-11] for name in json.loads(done.stdout)["profiles"]]
    assert {"openai-strict", "anthropic", "gemini-json", "mcp", "dynamo"} <= set(columns)
    assert not {"basic", "xgrammar", "vllm"} & set(columns)


def test_what_cannot_be_read_is_said_and_the_rest_is_shown(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(CLOSED))
    (tmp_path / "bad.json").write_text("{")
    done = run("matrix", "t.json", "bad.json", "none.json", "--for", "mcp", cwd=tmp_path)
    assert done.returncode == 2
    assert "bad.json: SG" in done.stderr
    assert "none.json: No such file" in done.stderr
    assert "accepted  mcp" in done.stdout
    assert run("matrix", "bad.json", "--for", "mcp", cwd=tmp_path).returncode == 1
    assert run("matrix", "t.json", "--for", "mpc", cwd=tmp_path).returncode == 2


# -------------------------------------------------------------------------- columns, and bounds


def test_columns_are_told_apart_by_date_where_two_have_the_same_name():
    older = profile("closes", rules={"SG401": "error"}, date="2026-01-01")
    matrix = made(OPEN, CLOSES, older, OPENS)
    assert matrix.labels == ("closes-2026-10-02", "closes-2026-01-01", "opens")
    text = FORMATS["text"](matrix, {})
    assert "  rejected  closes-2026-10-02, closes-2026-01-01\n            SG401 " in text
    (conflict,) = matrix.conflicts(1)[0][0]
    assert conflict.asking == ("closes-2026-10-02", "closes-2026-01-01")
    assert "--for closes-2026-10-02`" in conflict.way_out
    assert "accepted  opens" in text


def test_a_long_list_of_names_keeps_to_the_width_of_a_terminal():
    many = [profile(f"somebody-{i}") for i in range(12)]
    lines = FORMATS["text"](made(OPEN, *many), {}).splitlines()
    assert lines[1] == "  accepted  somebody-0, somebody-1, somebody-2, somebody-3, somebody-4,"
    assert lines[2] == "            somebody-5, somebody-6, somebody-7, somebody-8, somebody-9,"
    assert lines[3] == "            somebody-10, somebody-11"


def test_profiles_with_the_same_reason_are_one_entry_within_the_width_of_a_terminal():
    many = [profile(f"somebody-{i}", refused={"title": {}}) for i in range(9)]
    several = profile("several", refused={"title": {}, "description": {}})
    matrix = made({"title": "x", "description": "y", **CLOSED}, *many, several, OPENS)
    lines = FORMATS["text"](matrix, {}).splitlines()
    assert lines[1:6] == [
        "  rejected  somebody-0, somebody-1, somebody-2, somebody-3, somebody-4,",
        "            somebody-5, somebody-6, somebody-7, somebody-8, several (+1)",
        "            SG231 refused-keyword #/title: the server refuses `title` here",
        "  rejected  opens",
        "            SG231 refused-keyword #/additionalProperties: Opens refuses",
    ]
    page = FORMATS["markdown"](matrix, {})
    assert page.count("the server refuses") == 1
    assert "**somebody-0**, **somebody-1**" in page


def test_a_line_that_is_broken_does_not_start_with_a_command_to_a_runner():
    name = "x " * 30 + "::error::y"
    schema = {**CLOSED, "properties": {name: {}}, "required": []}
    wants = profile("wants", rules={"SG424": "error"})
    for line in FORMATS["text"](made(schema, wants), {}).splitlines():
        assert not line.strip().startswith("::")


def test_quiet_leaves_out_the_counts_and_the_notes(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps({"tools": [tool("a", OPEN), tool("b", OPEN)]}))

    def said(*more):
        command = ("matrix", "t.json", "--for", "openai-strict,mcp", "--conflicts", "1", *more)
        return run(*command, cwd=tmp_path)

    loud, quiet = said(), said("--quiet")
    assert "1 schema more" in loud.stderr
    assert quiet.stderr == ""
    counts = (
        "2 tools        accepted    warned  degraded  rejected\n"
        "openai-strict         0         0         0         2\n"
        "mcp                   2         0         0         0\n"
    )
    assert loud.stdout == quiet.stdout + counts


def test_the_same_profile_is_one_column_and_another_of_the_same_name_is_refused(tmp_path):
    (tmp_path / "t.json").write_text(json.dumps(CLOSED))
    words = 'name = "own"\ndate = 2026-10-02\ntitle = ""\nsubject = "S"\nbasis = "observed"\n'
    (tmp_path / "a.toml").write_text(words + 'source = "x"\n[rules]\nSG401 = "error"\n')
    (tmp_path / "b.toml").write_text(words + 'source = "x"\n[rules]\nSG424 = "error"\n')

    def asked(columns):
        return run("matrix", "t.json", "--output-format", "json", "--for", columns, cwd=tmp_path)

    done = asked("mcp,mcp-2026-12-01,a.toml,./a.toml")
    assert json.loads(done.stdout)["profiles"] == ["mcp-2026-12-01", "own-2026-10-02"]
    done = asked("a.toml,b.toml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "two profiles are both own-2026-10-02" in done.stderr


def test_a_name_of_a_profile_breaks_out_of_no_format():
    odd = profile("a|b`<i>", rules={"SG401": "error"})
    matrix = made(OPEN, odd)
    for form in ("markdown", "html"):
        text = FORMATS[form](matrix, {})
        assert "<i>" not in text
    assert "| Tool | <code>a" in FORMATS["markdown"](matrix, {})


def test_schemas_that_are_too_large_are_not_searched_for_conflicts_and_that_is_said(tmp_path):
    wide = {"type": "object", "properties": {f"p{i}": {"type": "string"} for i in range(3_000)}}
    assert conflicts(wide, [CLOSES, OPENS], Work(10**9)) == []
    matrix = made({"tools": [tool("wide", wide), tool("a", OPEN), tool("b", OPEN)]}, CLOSES, OPENS)
    found, left, large = matrix.conflicts(2)
    assert (list(found), left, large) == ([1], 1, 1)
    (tmp_path / "t.json").write_text(json.dumps({"tools": [tool("w", wide), tool("a", OPEN)]}))
    done = run("matrix", "t.json", "--for", "openai-strict,mcp", "--conflicts", "1", cwd=tmp_path)
    assert done.stderr.splitlines() == [
        "schemaguard: not looked at for conflicts: 1 schema more; --conflicts N",
        "schemaguard: not looked at for conflicts, or not to the end: 1 schema, too large",
    ]
    assert run("matrix", "t.json", "--conflicts", "-1", cwd=tmp_path).returncode == 2


def test_looking_for_conflicts_ends_when_it_has_cost_enough():
    work = Work(0)
    assert conflicts(OPEN, [CLOSES, OPENS], work) == []
    assert work.left < 0
    work = Work(10**6)
    assert len(conflicts(OPEN, [CLOSES, OPENS], work)) == 1
    # Six values; a fix for each and one for both; at most one change in each.
    assert 3 * 6 * 6 <= 10**6 - work.left <= 3 * 6 * (6 + 1)
