"""What holds for every profile that ships, whatever the schema and the tools are."""

from __future__ import annotations

import json

import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from schemaguard import check, lint, sources
from schemaguard.keywords import KEYWORDS
from schemaguard.matrix import Matrix
from schemaguard.profiles import BASES, load, names
from schemaguard.profiles.parts import RULE_OF
from schemaguard.report import tokens_of
from schemaguard.rules import MEASURE, TOOL, TOOLSET

PROFILES = [load(name) for name in names()]
WEAKER = {profile.id: [profile.at_least(basis) for basis in BASES] for profile in PROFILES}
SOME = st.sampled_from(PROFILES)

VALUES = st.sampled_from(
    [None, True, False, 0, -1, 2.5, "", "a", "object", "array", "#", "#/$defs/a", "(?=a)b", "date"]
)
NAMES = st.sampled_from(["a", "b", "$ref", "x y", "a/b~", "é", "n" * 70])
TEXTS = ["object", "array", "string", "integer", "null", "nothing"]


def _schemas(inner):
    members = st.dictionaries(NAMES, inner, max_size=3)
    special = {
        "type": st.sampled_from([*TEXTS, ["string", "null"], ["integer", "string"], []]),
        "properties": members,
        "$defs": members,
        "definitions": members,
        "required": st.lists(NAMES, max_size=3),
        "enum": st.lists(VALUES, max_size=3),
        "$ref": st.sampled_from(["#", "#/$defs/a", "#/properties/a", "#/nope", "other.json", 1]),
        "pattern": st.sampled_from(["^a$", "(?=a)b", r"\bx", "(", "(a+)+"]),
        "anyOf": st.lists(inner, max_size=3),
        "allOf": st.lists(inner, max_size=3),
        "items": inner,
    }
    usual = st.fixed_dictionaries({}, optional=special)
    odd = st.dictionaries(
        st.sampled_from([*KEYWORDS, "default", "x-own", "nullable"]), inner, max_size=2
    )
    return st.tuples(usual, odd).map(lambda both: {**both[1], **both[0]}) | st.lists(
        inner, max_size=2
    )


SCHEMAS = st.recursive(VALUES, _schemas, max_leaves=14) | strategies.near_border()
TOOL_NAMES = st.sampled_from(["a", "get_x", "a.b", "x y", "", "n" * 65, "n" * 129, "-a", "\x1b[2J"])
TOOLS = st.lists(
    st.fixed_dictionaries(
        {"name": TOOL_NAMES, "inputSchema": SCHEMAS},
        optional={"description": st.sampled_from(["", "d" * 1_025]), "strict": st.booleans()},
    ),
    min_size=1,
    max_size=4,
)
RELAXED = settings(
    deadline=None,
    max_examples=120,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def is_there(value, pointer):
    for token in tokens_of(pointer):
        if isinstance(value, dict):
            if token not in value:
                return False
            value = value[token]
        elif isinstance(value, list) and token.isdigit() and int(token) < len(value):
            value = value[int(token)]
        else:
            return False
    return True


def said(report):
    return [(d.code, d.severity, d.pointer, d.message) for d in report.diagnostics]


@RELAXED
@given(SCHEMAS, SOME)
def test_a_profile_says_the_same_each_time_and_of_places_that_exist(schema, profile):
    before = json.dumps(schema)
    report = check(schema, profile)
    assert said(check(schema, profile)) == said(report)
    for found in report.diagnostics:
        # The contract of Dynamo has this one at a `required` that need not be there.
        above = found.pointer.removesuffix("/required")
        assert is_there(schema, above if found.code == "SG402" else found.pointer), found
        if found.grounds is not None and found.grounds.basis == "disputed":
            assert found.severity != "error", found
    assert json.dumps(schema) == before


def shared(value, known):
    """The same value, with one object wherever two are equal, as Python code may build it."""
    if isinstance(value, dict):
        value = {key: shared(member, known) for key, member in value.items()}
    elif isinstance(value, list):
        value = [shared(member, known) for member in value]
    else:
        return value
    return known.setdefault(json.dumps(value), value)


@RELAXED
@given(SCHEMAS, SOME)
def test_objects_that_are_in_two_places_are_judged_as_two(schema, profile):
    apart = json.loads(json.dumps(schema))
    once = shared(apart, {})
    assert {found.code for found in check(once, profile).diagnostics} == {
        found.code for found in check(apart, profile).diagnostics
    }


def test_a_circle_through_an_object_that_is_in_two_places_is_found():
    link = {"anyOf": [{"$ref": "#/$defs/E"}, {"type": "null"}]}
    node = {"properties": {"next": link}, "required": ["next"], "additionalProperties": False}
    schema = {
        "type": "object",
        "properties": {"x": {"type": "object", **node}, "y": {"$ref": "#/$defs/E"}},
        "required": ["x", "y"],
        "additionalProperties": False,
        "$defs": {"E": {"type": "object", **node}},
    }
    assert [found.code for found in check(schema, "anthropic-strict").errors] == ["SG261"]


@RELAXED
@given(SCHEMAS, SOME)
def test_less_firm_facts_left_out_reject_nothing_that_was_accepted(schema, profile):
    full = check(schema, profile)
    everything = said(full)
    # What is refused is not looked into: left out, what is inside is looked at, and counts.
    hiding = [d.pointer for d in full.diagnostics if d.code in RULE_OF.values()]
    for firm in WEAKER[profile.id]:
        report = check(schema, firm)
        left = said(report)
        for found in report.diagnostics:
            if (found.code, found.severity, found.pointer, found.message) not in everything:
                inside = any(found.pointer.startswith(f"{place}/") for place in hiding)
                assert inside or (hiding and found.rule.on[0] == MEASURE), (firm.id, found)
        assert report.ok or not full.ok, firm.id
    assert left == everything


@RELAXED
@given(TOOLS, SOME)
def test_less_firm_facts_about_tools_left_out_only_take_findings_away(tools, profile):
    source = sources.read("x.json", json.dumps({"tools": tools}))

    def about(profile):
        found = lint.check_source(source, profile).findings
        return [(f.code, f.severity, f.pointer, f.message) for f in found]

    everything = about(profile)
    for firm in WEAKER[profile.id]:
        left = about(firm)
        assert set(left) <= set(everything), firm.id
    assert left == everything


@RELAXED
@given(TOOLS, st.lists(SOME, min_size=1, max_size=3, unique_by=lambda profile: profile.id))
def test_a_cell_says_what_a_check_with_its_profile_says(tools, profiles):
    value = {"tools": tools}
    source = sources.read("x.json", json.dumps(value))
    matrix = Matrix(profiles)
    matrix.add(source)
    for column, profile in enumerate(profiles):
        report = lint.check_source(source, profile)
        about = [f for f in report.findings if f.rule.on[0] in (TOOL, TOOLSET)]
        assert all(is_there(value, f.pointer) for f in report.findings)
        cells = {row.pointer: row.cells[column] for row in matrix.rows}
        for tool in report.tools:
            own = [f for f in about if f"{f.pointer}/".startswith(f"{tool.pointer}/")]
            bad = not tool.ok or any(f.severity == "error" for f in own)
            cell = cells[tool.pointer]
            assert (cell.verdict == "rejected") is bad, (profile.id, tool.pointer)
            assert cell.total == tool.report.total + len(own)
            assert cell.first is None or cell.first in (*own, *tool.findings)
        together = [f for f in about if f.rule.on[0] == TOOLSET]
        bad = any(f.severity == "error" for f in together)
        assert (None in cells and cells[None].verdict == "rejected") is bad
        assert (None not in cells and not together) or cells[None].total == len(together)
