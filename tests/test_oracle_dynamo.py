"""The second opinion on the `dynamo` contract agrees with the vectors, and the strategies are near
the border."""

from __future__ import annotations

import copy
import importlib.util
import json
import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from oracle_dynamo import Finding, first_error, first_finding
from strategies import BUDGETS, at_budget_border, budget_document, closed, near_border, schemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hypothesis.strategies import SearchStrategy

CASES = Path(__file__).resolve().parents[1].parent / "shared" / "cases"
VECTORS = CASES / "dynamo_vectors.jsonl"

OPEN = "object schemas require additionalProperties: false"
UNIQUE_STRINGS = "must be an array of unique strings"
TYPE_NAMES = "must contain recognized, unique JSON Schema type names"


# --------------------------------------------------------------------------------------------------
# vectors
# --------------------------------------------------------------------------------------------------
def vectors() -> Iterator[Any]:
    if not VECTORS.exists():
        reason = "the shared vectors are not beside this checkout"
        yield pytest.param(None, marks=pytest.mark.skip(reason=reason))
        return
    for line in VECTORS.read_text(encoding="utf-8").splitlines():
        vector = json.loads(line)
        yield pytest.param(vector, id=vector["id"])


def schema_of(vector: dict[str, Any]) -> Any:
    """Expands a vector with the code that lies beside the vectors."""
    if "schema" in vector:
        return vector["schema"]
    spec = importlib.util.spec_from_file_location("dynamo_vectors", CASES / "dynamo_vectors.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.schema_of(vector)


@pytest.mark.parametrize("vector", list(vectors()))
def test_a_vector_gets_its_verdict_pointer_and_detail(vector: dict[str, Any]) -> None:
    found = first_finding(schema_of(vector))

    if vector["ok"]:
        assert found is None
        return
    assert found is not None
    assert found.pointer == vector["pointer"]
    # Where the vectors leave the words open, so must the oracle, and nowhere else.
    assert found.words_fixed == (vector["detail"] is not None)
    if found.words_fixed:
        assert found.detail == vector["detail"]


# --------------------------------------------------------------------------------------------------
# points that are easily read past, each worked out by hand from the contract
# --------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        # rule 14: the words about strings come before those about names
        (closed({"a": {"type": ["x", "x"]}}), ("#/properties/a/type", UNIQUE_STRINGS)),
        (closed({"a": {"type": ["date", 1]}}), ("#/properties/a/type", UNIQUE_STRINGS)),
        (closed({"a": {"type": ["x", "y"]}}), ("#/properties/a/type", TYPE_NAMES)),
        # rule 6: a bad type hides that the node is open
        ({"type": "Object", "properties": {"a": 1}}, ("#/type", TYPE_NAMES)),
        # rule 25: neither 0 nor an empty map is the literal false
        (
            closed(contentSchema={"properties": {}, "additionalProperties": 0}),
            ("#/contentSchema", OPEN),
        ),
        # rule 19
        (closed(maxProperties=-0.0, minProperties=2.0**80), None),
        (closed(maxProperties=True), ("#/maxProperties", "must be a nonnegative integer")),
        # rule 24: an array is data, so its names are no schemas, and it is checked before children
        (closed(dependencies={"not": ["not"], "a": []}), None),
        (closed({"p": 1}, dependencies={"~": ["a", "a"]}), ("#/dependencies/~0", UNIQUE_STRINGS)),
        # rule 34: every place along the path is looked at by its place, not by its name
        (closed({"items": {"items": [True]}, "r": {"$ref": "#/properties/items/items/0"}}), None),
        (
            closed({"a": {"$ref": "#/dependencies/x/0"}}, dependencies={"x": ["y"]}),
            ("#/properties/a/$ref", "reference target is not a recognized schema location"),
        ),
        # rule 34b: full-width digits are no hex digits
        (
            closed({"a": {"$ref": "#/%４１"}}),
            ("#/properties/a/$ref", "invalid URI-fragment escape"),
        ),
        # rule 34c: an encoded surrogate is not UTF-8
        (
            closed({"a": {"$ref": "#/%ed%a0%80"}}),
            ("#/properties/a/$ref", "reference fragment must decode to UTF-8"),
        ),
        # rule 35: the cycle is entered from the first node in queue order, here in its middle
        (
            closed(
                {"a": {"$ref": "#/$defs/y"}},
                **{"$defs": {"x": {"$ref": "#/$defs/y"}, "y": {"$ref": "#/$defs/x"}}},
            ),
            ("#/$defs/y", "Dynamo does not support direct reference cycles"),
        ),
        # rule 38: the first node with a local keyword decides, not the end of the chain
        (
            closed(
                {"a": {"$ref": "#/$defs/x", "type": "object"}},
                **{"$defs": {"x": {"required": []}, "y": closed()}},
            ),
            (
                "#/properties/a",
                "reference target must close the object with additionalProperties: false",
            ),
        ),
        # rule 40: at each node anyOf first, but the nearer node first of all
        (
            {
                "$ref": "#/$defs/a",
                "$defs": {
                    "a": {"type": ["object"], "$ref": "#/$defs/b"},
                    "b": closed(anyOf=[True]),
                },
            },
            ("#/$defs/b", "root must not use anyOf"),
        ),
    ],
)
def test_a_corner_is_read_as_the_contract_says(
    schema: Any, expected: tuple[str, str] | None
) -> None:
    assert first_error(schema) == expected


@pytest.mark.parametrize("length", [255, 256, 257, 5_000])
def test_a_name_in_the_detail_is_cut_at_256_code_points(length: int) -> None:
    name = "😀" * length
    shown = name if length <= 256 else "😀" * 256 + "..."

    missing = {**closed({name: True}), "required": []}
    assert first_error(missing) == ("#/required", f"must include property '{shown}'")
    assert first_error(missing, bounded=False) == ("#/required", f"must include property '{name}'")
    unknown = closed(required=[name])
    assert first_error(unknown) == ("#/required", f"unknown property '{shown}' in a closed object")


def test_a_pointer_is_never_cut() -> None:
    name = "x" * 1_000

    assert first_error(closed({name: {"not": 1}})) == (
        f"#/properties/{name}/not",
        "keyword is not supported in strict schemas",
    )


def test_rules_that_leave_the_words_open_are_marked() -> None:
    assert first_finding(closed(enum=1)) == Finding("#/enum", "must be an array", 16, False)
    assert first_finding(closed(type=1)) == Finding("#/type", UNIQUE_STRINGS, 14, True)


# --------------------------------------------------------------------------------------------------
# hostile documents end
# --------------------------------------------------------------------------------------------------
def test_a_hundred_thousand_levels_are_an_ordinary_document() -> None:
    schema: dict[str, Any] = {"not": 1}
    for _ in range(100_000):
        schema = {"items": schema}

    found = first_error(schema)

    assert found is not None
    assert found[0] == "#" + "/items" * 100_000 + "/not"


@pytest.mark.parametrize(
    ("end", "expected"),
    [
        (closed(), None),
        (
            {"type": "string"},
            (
                "#/$defs/c00000",
                "reference target must close the object with additionalProperties: false",
            ),
        ),
        (
            {"$ref": "#/$defs/c08000"},
            ("#/$defs/c08000", "Dynamo does not support direct reference cycles"),
        ),
    ],
    ids=["closed", "string", "ring"],
)
def test_sixteen_thousand_links_take_seconds_at_most(
    end: Any, expected: tuple[str, str] | None
) -> None:
    links = [f"c{index:05}" for index in range(16_000)]
    chain: dict[str, Any] = {
        link: {"$ref": f"#/$defs/{goal}", "type": "object"}
        for link, goal in zip(links, [*links[1:], "end"], strict=True)
    }
    started = time.perf_counter()

    assert first_error(closed(**{"$defs": {**chain, "end": end}})) == expected
    assert time.perf_counter() - started < 10


# --------------------------------------------------------------------------------------------------
# strategies
# --------------------------------------------------------------------------------------------------
def examples(strategy: SearchStrategy[Any], count: int) -> list[Any]:
    """The same examples in every run."""
    found: list[Any] = []

    @settings(
        derandomize=True,
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(schema: Any) -> None:
        found.append(schema)

    collect()
    return found


def kinds(found: Iterable[tuple[str, str] | None]) -> Counter[str]:
    """Verdicts, counted by detail; property names do not tell two details apart."""
    return Counter(
        "accepted" if error is None else re.sub(r"'.*'", "'…'", error[1], flags=re.DOTALL)
        for error in found
    )


def shares_a_container(schema: Any) -> bool:
    """Whether some list or map of the document is reachable by two paths."""
    seen: set[int] = set()
    pending = [schema]
    while pending:
        value = pending.pop()
        if not isinstance(value, (dict, list)):
            continue
        if id(value) in seen:
            return True
        seen.add(id(value))
        pending.extend(value.values() if isinstance(value, dict) else value)
    return False


def test_grown_schemas_are_accepted_and_differ() -> None:
    grown = examples(schemas(), 500)

    assert [first_error(schema) for schema in grown] == [None] * len(grown)
    assert len({json.dumps(schema) for schema in grown}) > 250
    text = json.dumps(grown)
    for keyword in (
        "$ref",
        "anyOf",
        "prefixItems",
        "patternProperties",
        "dependencies",
        "definitions",
    ):
        assert f'"{keyword}":' in text


def test_mutated_schemas_lie_on_both_sides_of_the_border() -> None:
    counted = kinds(first_error(schema) for schema in examples(near_border(), 3_000))
    accepted = counted.pop("accepted")
    rejected = counted.total()

    print(accepted, rejected, counted)
    assert accepted > 0.15 * (accepted + rejected)
    assert rejected > 0.25 * (accepted + rejected)
    assert len(counted) >= 25


@pytest.mark.parametrize("strategy", [near_border(), at_budget_border()], ids=["near", "budget"])
def test_a_drawn_document_is_a_json_tree(strategy: SearchStrategy[Any]) -> None:
    for schema in examples(strategy, 100):
        assert not shares_a_container(schema)
        assert json.loads(json.dumps(schema, allow_nan=False)) == schema


def test_neither_key_order_nor_a_second_look_changes_the_verdict() -> None:
    for schema in examples(near_border(), 300):
        before = copy.deepcopy(schema)
        found = first_error(schema)
        reordered = json.loads(
            json.dumps(schema), object_pairs_hook=lambda pairs: dict(reversed(pairs))
        )

        assert schema == before
        assert first_error(reordered) == found


@pytest.mark.parametrize(
    ("budget", "variant"),
    [(name, variant) for name, budget in BUDGETS.items() for variant in range(budget.variants)],
)
def test_a_budget_is_exceeded_by_one_and_not_by_less(budget: str, variant: int) -> None:
    long_enum = "exceeds 15000 characters in an all-string enum with more than 250 entries"
    detail = {
        "properties": "exceeds 5000 declared properties",
        "enum entries": "exceeds 1000 enum entries",
        "characters": "exceeds 120000 name and value characters",
        "long enum characters": long_enum,
        "long enum entries": long_enum,
        "depth": "exceeds 10 levels of object nesting",
    }[budget]

    assert first_error(budget_document(budget, -1, variant)) is None
    assert first_error(budget_document(budget, 0, variant)) is None
    over = first_error(budget_document(budget, 1, variant))
    assert over is not None
    assert over[1] == detail


def test_documents_at_a_budget_lie_on_both_sides_of_the_border() -> None:
    counted = kinds(first_error(schema) for schema in examples(at_budget_border(), 300))
    accepted = counted.pop("accepted")

    print(accepted, counted)
    assert accepted > 60
    assert counted.total() > 60
    assert len([detail for detail in counted if detail.startswith("exceeds ")]) >= 4
