"""`schemaguard.fix.to_profile`: single rewrites, what is refused, and arguments on the way back."""

from __future__ import annotations

import copy
import pickle

import pytest

import schemaguard
from schemaguard import fix
from schemaguard.fix import attempt
from schemaguard.fix.bundle import LibraryError, library_of

NO_EDIT = {"type": "object", "properties": {}, "additionalProperties": False}


def tool(member, *, optional=False, **more):
    """A tool with one parameter `a`."""
    schema = {"type": "object", "properties": {"a": member}}
    if not optional:
        schema["required"] = ["a"]
    return {**schema, "additionalProperties": False, **more}


def fixed_member(member, profile="dynamo", **options):
    """What becomes of the schema of a parameter, and the result."""
    more = options.pop("more", {})
    optional = options.pop("optional", False)
    result = fix.to_profile(tool(member, optional=optional, **more), profile, **options)
    return result.schema["properties"]["a"], result


# -------------------------------------------------------------------------------- closed objects


def test_an_object_with_properties_is_closed_behind_them():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "title": "T"}
    schema["required"] = ["a"]

    result = fix.to_profile(schema, "dynamo")

    assert result.ok
    assert list(result.schema) == [
        "type",
        "properties",
        "title",
        "required",
        "additionalProperties",
    ]
    assert [(edit.code, edit.pointer, edit.lossy) for edit in result.edits] == [
        ("SG401", "", False)
    ]
    assert "additionalProperties" not in schema


@pytest.mark.parametrize(
    ("member", "why"),
    [
        ({"type": "object"}, "declares no properties"),
        ({"type": "object", "properties": {}}, "declares no properties"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "it is a map"),
        (
            {"type": "object", "patternProperties": {"^x": {}}, "properties": {}},
            "patternProperties",
        ),
        (
            {"type": "object", "properties": {"b": {"type": "null"}}, "required": ["b", "c"]},
            "requires `c`",
        ),
        (
            {"type": "object", "properties": {"b": {}}, "additionalProperties": True},
            "only a lossy step",
        ),
    ],
)
def test_an_object_of_other_names_is_not_closed_and_the_reason_is_said(member, why):
    new, result = fixed_member(member)

    assert new.get("additionalProperties") == member.get("additionalProperties")
    (left,) = [left for left in result.remaining if left.code == "SG401"]
    assert left.pointer == "/properties/a"
    assert why in left.reason


def test_a_map_is_not_closed_by_lossy_steps_either():
    member = {"type": "object", "additionalProperties": {"type": "string"}}
    declared = {**member, "properties": {"b": {"type": "string"}}, "required": ["b"]}
    for schema in (member, declared):
        new, result = fixed_member(schema, ["openai-strict", "anthropic-strict"], lossy=True)
        assert new.get("additionalProperties") is not False
        assert not result.ok


def test_a_root_with_an_empty_list_of_properties_has_no_parameters():
    assert fix.to_profile({"type": "object", "properties": {}}, "dynamo").schema == NO_EDIT
    assert not fix.to_profile({"type": "object"}, "dynamo").changed


def test_an_object_is_not_closed_where_a_schema_beside_it_knows_other_names():
    member = {
        "type": "object",
        "properties": {"b": {"type": "string"}},
        "required": ["b"],
        "anyOf": [{"properties": {"c": {"type": "string"}}}, {"required": ["d"]}],
    }

    new, result = fixed_member(member)

    assert "additionalProperties" not in new
    assert any("`c`, `d`" in left.reason for left in result.remaining)


def test_nothing_is_narrowed_below_not():
    member = {"not": {"type": "object", "properties": {"b": {"type": "string"}}}}

    new, result = fixed_member(member, "groq-strict")

    assert new == member
    assert not result.ok


# ------------------------------------------------------------------------------ required and null


@pytest.mark.parametrize(
    ("member", "new"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "integer"]}, {"type": ["string", "integer", "null"]}),
        (
            {"type": "string", "enum": ["x"]},
            {"type": ["string", "null"], "enum": ["x", None]},
        ),
        ({"enum": ["x"]}, {"enum": ["x", None]}),
        ({"type": ["null", "string"]}, {"type": ["null", "string"]}),
        ({}, {}),
        ({"const": "x"}, {"anyOf": [{"const": "x"}, {"type": "null"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]},
        ),
        (
            {"description": "d", "$ref": "#/$defs/b"},
            {"description": "d", "anyOf": [{"$ref": "#/$defs/b"}, {"type": "null"}]},
        ),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
    ],
)
def test_an_optional_property_is_required_and_may_be_null(member, new):
    more = {"$defs": {"b": {"type": "string"}}}

    found, result = fixed_member(member, optional=True, more=more)

    assert found == new
    assert result.schema["required"] == ["a"]
    assert result.ok


def test_what_must_be_there_already_gets_no_null():
    member, result = fixed_member({"type": "string"})

    assert member == {"type": "string"}
    assert not result.changed


@pytest.mark.parametrize(
    "more",
    [
        {"minProperties": 1},
        {"dependentRequired": {"a": ["b"]}},
        {"if": {"required": ["a"]}, "then": {"maxProperties": 1}},
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
    ],
)
def test_a_property_whose_presence_matters_stays_optional(more):
    inner = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "additionalProperties": False,
        **more,
    }

    new, result = fixed_member(inner)

    assert "required" not in new
    assert not result.ok


def test_names_of_properties_are_not_taken_for_keywords():
    names = ["required", "properties", "anyOf", "oneOf", "$ref", "enum", "description"]
    properties = {name: {"type": "string"} for name in names}

    result = fix.to_profile({"type": "object", "properties": properties}, "openai-strict")

    assert result.ok
    assert list(result.schema["properties"]) == names
    assert all(m == {"type": ["string", "null"]} for m in result.schema["properties"].values())


# ------------------------------------------------------------------------------- other spellings


def test_one_of_becomes_any_of_where_its_schemas_cannot_overlap():
    apart = [{"type": "string"}, {"type": "integer"}]
    told = [{"type": "object", "properties": {"k": {"const": c}}, "required": ["k"]} for c in "xy"]
    for branches in (apart, told):
        new, result = fixed_member({"oneOf": branches})
        assert list(new) == ["anyOf"]
        assert result.ok


@pytest.mark.parametrize(
    "branches",
    [
        [{"type": "integer"}, {"type": "number"}],
        [{"enum": [1]}, {"const": 1.0}],
        [{"type": "string", "minLength": 1}, {"type": "string", "maxLength": 3}],
        [{"properties": {"k": {"const": c}}, "required": ["k"]} for c in "xy"],
    ],
)
def test_one_of_whose_schemas_may_overlap_stays(branches):
    new, result = fixed_member({"oneOf": branches})

    assert list(new) == ["oneOf"]
    assert [left.needs_lossy for left in result.remaining] == [True]


def test_all_of_one_is_merged_and_keeps_what_is_beside_it():
    member = {"description": "d", "allOf": [{"type": "string", "minLength": 1}], "title": "t"}

    new, result = fixed_member(member)

    assert new == {"description": "d", "type": "string", "minLength": 1, "title": "t"}
    assert list(new) == ["description", "type", "minLength", "title"]
    assert result.ok


def test_all_of_several_is_merged_with_what_it_refers_to():
    base = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    own = {"type": "object", "properties": {"y": {"type": "string"}}, "required": ["y"]}
    member = {"allOf": [{"$ref": "#/$defs/base"}, own]}

    new, result = fixed_member(member, more={"$defs": {"base": base}})

    assert list(new["properties"]) == ["x", "y"]
    assert new["required"] == ["x", "y"]
    assert result.ok


def test_all_of_members_that_disagree_are_not_merged():
    member = {"allOf": [{"pattern": "a"}, {"pattern": "b"}]}

    new, result = fixed_member(member)

    assert new == member
    assert "more than one has `pattern`" in result.remaining[0].reason


def test_definitions_move_with_their_references():
    schema = tool(
        {"$ref": "#/definitions/b"},
        definitions={"b": {"$ref": "#/definitions/c"}, "c": {"type": "string"}},
    )

    result = fix.to_profile(schema, "moonshot")

    assert result.schema["properties"]["a"] == {"$ref": "#/$defs/b"}
    assert result.schema["$defs"] == {"b": {"$ref": "#/$defs/c"}, "c": {"type": "string"}}
    assert "definitions" not in result.schema


def test_a_tuple_is_spelt_with_prefix_items():
    member = {"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "null"}}

    new, _ = fixed_member(member, "anthropic")

    assert new == {
        "type": "array",
        "prefixItems": [{"type": "string"}],
        "items": {"type": "null"},
    }


def test_a_reference_stands_by_itself():
    member = {"$ref": "#/$defs/b", "description": "d"}

    new, result = fixed_member(member, "openai-strict", more={"$defs": {"b": {"type": "string"}}})

    assert new == {"anyOf": [{"$ref": "#/$defs/b"}], "description": "d"}
    assert result.ok


def test_a_reference_into_properties_becomes_one_to_a_definition_also_where_it_is_recursive():
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/properties/a"}},
        "required": ["next"],
        "additionalProperties": False,
    }

    result = fix.to_profile(tool(node), "openai-strict")

    assert result.ok
    assert result.schema["properties"]["a"] == {"$ref": "#/$defs/a"}
    assert result.schema["$defs"]["a"]["properties"]["next"] == {"$ref": "#/$defs/a"}


@pytest.mark.parametrize(
    ("member", "new"),
    [
        ({"type": "STRING"}, {"type": "string"}),
        (
            {"type": "integer", "minimum": 3, "exclusiveMinimum": True},
            {"type": "integer", "exclusiveMinimum": 3},
        ),
        (
            {"type": "integer", "minimum": 3, "exclusiveMinimum": False},
            {"type": "integer", "minimum": 3},
        ),
        ({"type": "array", "uniqueItems": False}, {"type": "array"}),
        ({"anyOf": [{"type": "string"}, {"not": {}}]}, {"anyOf": [{"type": "string"}]}),
    ],
)
def test_older_and_other_spellings_are_written_as_json_schema_has_them(member, new):
    found, result = fixed_member(member)

    assert found == new
    assert result.ok
    assert not result.lossy


def test_a_list_of_types_becomes_nullable_or_branches_for_gemini():
    nullable, _ = fixed_member({"type": ["string", "null"], "minLength": 1}, "gemini-openapi")
    branches, _ = fixed_member({"type": ["string", "integer"], "minimum": 1}, "gemini-openapi")

    assert nullable in (
        {"type": "string", "nullable": True, "minLength": 1},
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}]},
    )
    assert branches == {"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}]}


def test_alternatives_of_the_root_that_do_not_say_what_they_are_are_objects():
    branches = [{"required": ["a"]}, {"type": "object", "required": ["b"]}, True]
    declared = {"a": {"type": "string"}, "b": {"type": "string"}}
    root = {"type": "object", "properties": declared, "anyOf": branches}

    result = fix.to_profile(root, "xai")

    assert result.schema["anyOf"] == [
        {"type": "object", "required": ["a"]},
        {"type": "object", "required": ["b"]},
        {"type": "object"},
    ]
    assert result.ok
    all_untyped = {**root, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert fix.to_profile(all_untyped, "xai").schema["anyOf"] == [
        {"type": "object", "required": ["a"]},
        {"type": "object", "required": ["b"]},
    ]


def test_an_alternative_that_is_no_object_stays_and_the_reason_is_said():
    object_ = {"type": "object", "properties": {"a": {"type": "string"}}}
    root = {"type": "object", "anyOf": [object_, {"type": "string"}]}

    result = fix.to_profile(root, "xai")

    assert result.schema == root
    (left,) = result.remaining
    assert (left.code, left.pointer) == ("SG434", "/anyOf/1")
    assert "accepts no arguments" in left.reason
    # What a reference leads to as well may be meant for other values there.
    shared = {**root, "anyOf": [object_, {"minLength": 1}]}
    shared["properties"] = {"x": {"$ref": "#/anyOf/1"}}
    result = fix.to_profile(shared, "xai")
    assert result.schema == shared
    assert "a reference leads to it" in result.remaining[0].reason


# ------------------------------------------------------------------------------------ lossy steps


def test_a_refused_constraint_goes_into_the_description_when_that_is_asked_for():
    member = {"type": "array", "description": "Some.", "uniqueItems": True}

    kept, safe = fixed_member(member)
    new, result = fixed_member(member, lossy=True)

    assert kept == member
    assert safe.remaining[0].needs_lossy
    assert new == {"type": "array", "description": "Some. Items must be unique."}
    assert [(edit.lossy, edit.pointer) for edit in result.lossy] == [
        (True, "/properties/a/uniqueItems")
    ]
    assert not result.edits
    again = fix.to_profile(result.schema, "dynamo", lossy=True)
    assert again.schema == result.schema


def test_a_bound_is_said_with_its_number():
    new, _ = fixed_member({"type": "integer", "multipleOf": 5}, "anthropic-strict", lossy=True)

    assert new == {"type": "integer", "description": "Must be a multiple of 5."}


# --------------------------------------------------------------------------------- several profiles


def test_nothing_is_done_for_one_profile_that_another_would_refuse():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}

    result = fix.to_profile(schema, ["openai-strict", "gemini-openapi"])

    assert "additionalProperties" not in result.schema
    assert schemaguard.check(result.schema, "gemini-openapi").ok
    (left,) = result.remaining
    assert left.profile.startswith("openai-strict")
    assert "gemini-openapi" in left.reason


# -------------------------------------------------------------------------------- arguments


def test_nulls_of_optional_properties_are_left_out_at_every_depth():
    node = {
        "type": "object",
        "properties": {
            "id": {"type": "integer"},
            "next": {"$ref": "#/$defs/node"},
            "note": {"type": ["string", "null"]},
        },
        "required": ["id"],
    }
    schema = {
        "type": "object",
        "properties": {
            "nodes": {"type": "array", "items": {"$ref": "#/$defs/node"}},
            "one": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/node"}]},
        },
        "$defs": {"node": node},
    }
    result = fix.to_profile(schema, "openai-strict")
    sent = {
        "nodes": [{"id": 1, "next": {"id": 2, "next": None, "note": None}, "note": "x"}],
        "one": None,
    }
    before = copy.deepcopy(sent)

    # `note` may be null in the tool's own schema: its null stays.
    assert result.adapt_arguments(sent) == {
        "nodes": [{"id": 1, "next": {"id": 2, "note": None}, "note": "x"}]
    }
    assert sent == before


def test_the_alternative_that_the_arguments_keep_to_says_what_null_stands_for():
    def branch(kind, **more):
        properties = {"kind": {"const": kind}, "v": {"type": "string"}, **more}
        return {"type": "object", "properties": properties, "required": ["kind"]}

    other = branch("y")
    other["properties"]["v"] = {"type": ["string", "null"]}
    result = fix.to_profile(tool({"anyOf": [branch("x"), other]}), "dynamo")

    assert result.adapt_arguments({"a": {"kind": "x", "v": None}}) == {"a": {"kind": "x"}}
    assert result.adapt_arguments({"a": {"kind": "y", "v": None}}) == {
        "a": {"kind": "y", "v": None}
    }


def test_arguments_that_are_none_are_refused():
    result = fix.to_profile(tool({"type": "string"}, optional=True), "dynamo")
    deep = []
    for _ in range(200):
        deep = [deep]
    for arguments in ({"a": deep}, {"a": object()}, [{"a": "x"}], "[1]", b"null", None):
        with pytest.raises(ValueError, match="no arguments"):
            result.adapt_arguments(arguments)


@pytest.mark.parametrize("text", ['{"q": "a", "n": null}', b'{"q":"a","n":null}'])
def test_arguments_are_adapted_as_the_text_that_apis_deliver_too(text):
    schema = {
        "type": "object",
        "properties": {"q": {"type": "string"}, "n": {"type": "integer"}},
        "required": ["q"],
    }

    result = fix.to_profile(schema, "openai-strict")

    assert result.adapt_arguments(text) == {"q": "a"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "invalid-json"),
        ("", "invalid-json"),
        ('{"a": 1, "a": 2}', "duplicate-key"),
        ('{"a": NaN}', "non-finite-number"),
        (b"\xff", "not-utf-8"),
        ('{"a":' + "[" * 100_000, "too-deep"),
        ('{"a": "' + "x" * (1 << 20) + '"}', "too-many-bytes"),
        ('{"' + "x" * 100_000 + '": 1e999}', "overflowing-number"),
    ],
)
def test_a_text_that_is_no_object_of_arguments_is_an_error_of_bounded_length(text, why):
    result = fix.to_profile(tool({"type": "string"}, optional=True), "dynamo")

    with pytest.raises(ValueError, match=f"no arguments of a call: .*{why}") as caught:
        result.adapt_arguments(text)

    assert len(str(caught.value)) < 300


def test_a_result_is_frozen_and_survives_pickling():
    result = fix.to_profile(tool({"type": "string"}, optional=True), "dynamo")

    again = pickle.loads(pickle.dumps(result))  # noqa: S301  (its own)

    assert again == result
    assert again.adapt_arguments({"a": None}) == {}
    with pytest.raises(AttributeError):
        result.schema = {}


# ---------------------------------------------------------------------------------- bundling


LIBRARY = {
    "shared/common.json": {
        "$id": "https://example.com/common.json",
        "$defs": {
            "id": {"type": "integer"},
            "tree": {
                "type": "object",
                "properties": {"id": {"$ref": "#/$defs/id"}, "left": {"$ref": "#/$defs/tree"}},
                "required": ["id", "left"],
                "additionalProperties": False,
            },
        },
    }
}


@pytest.mark.parametrize(
    "where", ["common.json", "https://example.com/common.json", "shared/common.json"]
)
def test_what_is_elsewhere_is_brought_in_with_all_that_it_refers_to(where):
    schema = tool({"$ref": f"{where}#/$defs/tree"})

    result = fix.to_profile(schema, "dynamo", library=LIBRARY)

    assert result.ok
    assert result.schema["properties"]["a"] == {"$ref": "#/$defs/tree"}
    tree = result.schema["$defs"]["tree"]
    assert tree["properties"] == {"id": {"$ref": "#/$defs/id"}, "left": {"$ref": "#/$defs/tree"}}


def test_of_two_files_with_one_name_neither_is_meant_by_it():
    library = {name: {"$defs": {"id": {"type": "integer"}}} for name in ("x/c.json", "y/c.json")}

    unclear = fix.to_profile(tool({"$ref": "c.json#/$defs/id"}), "dynamo", library=library)
    clear = fix.to_profile(tool({"$ref": "x/c.json#/$defs/id"}), "dynamo", library=library)

    assert not unclear.changed
    assert clear.ok


@pytest.mark.parametrize("identifier", [5, "http://[bad"])
def test_a_document_with_a_wrong_identifier_does_not_hide_the_others(identifier):
    library = {"a.json": {"$id": identifier}, "b.json": {"$defs": {"id": {"type": "integer"}}}}

    assert fix.to_profile(tool({"$ref": "b.json#/$defs/id"}), "dynamo", library=library).ok


def test_documents_that_lead_to_each_other_are_brought_in_once():
    library = {
        "a.json": {"$defs": {"x": {"type": "array", "items": {"$ref": "b.json#y"}}}},
        "b.json": {"$defs": {"y": {"$anchor": "y", **tool({"$ref": "a.json#/$defs/x"})}}},
    }

    result = fix.to_profile(tool({"$ref": "a.json#/$defs/x"}), "dynamo", library=library)

    assert result.ok
    assert result.schema["$defs"] == {
        "x": {"type": "array", "items": {"$ref": "#/$defs/y"}},
        "y": tool({"$ref": "#/$defs/x"}),
    }


def test_an_anchor_becomes_a_pointer():
    schema = tool({"$ref": "#here"}, **{"$defs": {"b": {"$anchor": "here", "type": "string"}}})

    result = fix.to_profile(schema, "dynamo")

    assert result.ok
    assert result.schema["properties"]["a"] == {"$ref": "#/$defs/b"}


def test_what_no_file_has_stays_and_is_said():
    schema = tool({"$ref": "other.json#/$defs/x"})

    for library in ({}, LIBRARY):
        result = fix.to_profile(schema, "dynamo", library=library)
        assert not result.changed
        assert "other.json" in result.remaining[0].reason


def test_a_library_is_read_from_files(tmp_path):
    path = tmp_path / "common.yaml"
    path.write_text("$defs:\n  id: {type: integer}\n")
    bad = tmp_path / "bad.json"
    bad.write_text("{")

    (document,) = library_of([str(path)]).values()

    assert document == {"$defs": {"id": {"type": "integer"}}}
    with pytest.raises(LibraryError):
        library_of([str(bad)])


# ---------------------------------------------------------------------------------- hostile input


def test_what_is_no_schema_of_a_tool_is_left_alone():
    deep = {"type": "object"}
    for _ in range(500):
        deep = {"type": "object", "properties": {"a": deep}}
    cyclic = {"type": "object", "properties": {}}
    cyclic["properties"]["a"] = cyclic
    for schema in (deep, cyclic, {"a": object()}, "text", None, 3):
        result = fix.to_profile(schema, "dynamo")
        assert not result.changed
        assert result.remaining
        assert all(left.reason for left in result.remaining)


def test_an_unknown_profile_is_an_error():
    with pytest.raises(schemaguard.ProfileError):
        fix.to_profile({}, "no-such-profile")


def test_several_profiles_in_one_name_are_told_to_be_a_list():
    for given in ("openai-strict,dynamo", ["mcp", "openai-strict, dynamo"]):
        with pytest.raises(
            schemaguard.errors.ProfileError, match=r"a list of names: \['openai-strict', 'dynamo'\]"
        ):
            fix.to_profile(True, given)
    with pytest.raises(schemaguard.errors.ProfileError) as caught:
        fix.to_profile(True, "x" * 10_000 + "," * 10_000)
    assert len(str(caught.value)) < 500


def test_a_run_that_stops_early_says_so_and_another_goes_on(monkeypatch):
    names = [f"p{i}" for i in range(8)]
    inner = {"type": "object", "properties": {n: {"type": "string"} for n in names}}
    inner |= {"required": names, "additionalProperties": False}
    schema = {
        "type": "object",
        "properties": {n: {"$ref": f"#/properties/q/properties/{n}"} for n in names} | {"q": inner},
        "required": [*names, "q"],
        "additionalProperties": False,
    }
    whole = fix.to_profile(schema, "moonshot")
    assert len(whole.edits) == 8
    assert whole.remaining == ()
    for name in ("MAX_ROUNDS", "MOST_ROUNDS"):
        monkeypatch.setattr(attempt, name, 5)
    part = fix.to_profile(schema, "moonshot")
    assert len(part.edits) == 5
    assert {left.reason for left in part.remaining} == {attempt.STOPPED}
    assert fix.to_profile(part.schema, "moonshot").schema == whole.schema
