"""The tables of capabilities: what they say, what they are made of, and that they are still so."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import queue
import random
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from schemaguard import capabilities
from schemaguard.capabilities import catalogue, deriving, shapes, stored

ROOT = Path(__file__).resolve().parents[1]

#: One in so many cases is audited again: all of xgrammar's take half a minute.
AGAIN = {"xgrammar": 1, "llguidance": 4, "outlines-core": 4}

#: What takes outlines-core four seconds each and more: objects and arrays that may hold anything.
DEAR = {"outlines-core": {"object", "array", "-"}}


def every_version():
    return [(e, v) for e in capabilities.ENGINES for v in capabilities.versions(e)]


# What they say ----------------------------------------------------------------------------------


@pytest.mark.parametrize("version", capabilities.versions("xgrammar"))
def test_xgrammar_is_as_it_was_measured_by_hand(version):
    table = capabilities.load("xgrammar", version)

    assert table.exact
    assert table.winners == ("$ref", "const", "enum", "anyOf", "oneOf", "allOf", "type")
    assert table.single["number"]["multipleOf"] == "dropped"
    assert table.single["array"]["uniqueItems"] == "dropped"
    assert table.single["integer"]["minimum"] == "enforced"
    assert table.single[""]["pattern"] == "dropped"
    assert {"type", "minLength", "required", "not", "allOf"} <= table.lost["anyOf"]
    assert {"not", "if", "uniqueItems"} <= table.lost["type"]
    assert "minimum" not in table.lost["type"]
    assert table.shapes["allOf two branches"] == "dropped"
    assert table.shapes["oneOf overlapping ranges"] == "dropped"
    assert table.shapes["oneOf disjoint types"] == "enforced"


@pytest.mark.parametrize(("version", "most"), [("0.2.3", 0), ("0.2.7", 1024), ("0.2.9", 1024)])
def test_multiples_of_integers_are_enforced_from_0_2_7_on_up_to_1024(version, most):
    table = capabilities.load("xgrammar", version)

    assert table.limits["integer-multipleOf"] == most
    assert (table.single["integer"]["multipleOf"] == "enforced") is (most > 0)


def test_a_pair_is_there_in_both_orders_where_one_of_the_two_is_lost():
    pairs = capabilities.load("xgrammar", "0.2.9").pair["string"]

    assert pairs["pattern", "maxLength"]["maxLength"] == "dropped"
    assert pairs["maxLength", "pattern"] == pairs["pattern", "maxLength"]
    assert pairs["format", "pattern"] == {"format": "enforced", "pattern": "dropped"}


def test_one_bound_beside_a_divisor_loses_the_divisor():
    pair = capabilities.load("xgrammar", "0.2.9").pair["integer"]["minimum", "multipleOf"]

    assert pair == {"minimum": "enforced", "multipleOf": "dropped"}


def test_what_an_engine_refuses_is_not_what_it_drops():
    llguidance = capabilities.load("llguidance")

    assert llguidance.single["array"]["uniqueItems"] == "refused"
    assert "uniqueItems" not in llguidance.lost.get("type", ())


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        (None, "0.2.9"),
        ("0.2.9", "0.2.9"),
        ("0.2.8", "0.2.8"),
        ("0.2.5.post1", "0.2.3"),
        ("0.2.10", "0.2.9"),
        ("1.0", "0.2.9"),
        ("0.1.9", "0.1.32"),
        ("no version", "0.1.32"),
    ],
)
def test_a_version_that_was_not_audited_gets_the_nearest_before_it(asked, answered):
    table = capabilities.load("xgrammar", asked)

    assert (table.version, table.exact) == (answered, asked in {None, answered})


def test_an_engine_without_a_table_is_an_error():
    with pytest.raises(ValueError, match="no table of 'guidance'"):
        capabilities.load("guidance")
    with pytest.raises(ValueError, match="was not audited"):
        capabilities.audited("xgrammar", "0.2.5")


def test_a_table_cannot_be_changed():
    with pytest.raises(AttributeError):
        capabilities.load().version = "1"


def test_no_engine_and_no_judge_is_imported_for_a_table():
    code = (
        "import sys; from schemaguard import capabilities as c; c.load(); "
        "print([m for m in ('xgrammar', 'torch', 'llguidance', 'outlines_core', 'jsonschema', "
        "'referencing', 'schemaguard.grammar') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


@pytest.mark.parametrize("engine", capabilities.ENGINES)
def test_a_table_is_read_within_3_ms(engine):
    spent = []
    for _ in range(20):
        capabilities.load.cache_clear()
        capabilities._stored.cache_clear()
        start = time.process_time()
        capabilities.load(engine)
        spent.append(time.process_time() - start)

    assert min(spent) < 0.003


# What they are made of --------------------------------------------------------------------------


@pytest.mark.parametrize(("engine", "version"), every_version())
def test_the_whole_catalogue_is_stored_and_the_table_made_of_it(engine, version):
    found = capabilities.audited(engine, version)
    files = ROOT / "schemaguard" / "capabilities"
    small = json.loads((files / f"{engine}.json").read_text(encoding="utf-8"))

    assert list(found) == list(catalogue.cases())
    assert deriving.table(found) == small["tables"][small["versions"][version]]


def test_what_is_packed_comes_back_and_equal_versions_are_stored_once():
    one = {
        "a": ("leaks", {("", "type"): "enforced", ("/x y", "minimum"): "leaky"}),
        "b": ("refused", {}),
    }
    two = {"a": ("leaks", {("", "type"): "enforced"}), "b": ("refused", {})}
    file = stored.pack({"1": one, "2": one, "3": two}, engine="e")

    assert file["cases"]["a"] == [["type", "/x y minimum"], "1 Lep", "3 Le-"]
    assert file["cases"]["b"] == [[], "1 R"]
    assert [stored.unpack(file, version) for version in "123"] == [one, one, two]


def test_the_schemas_of_the_catalogue_are_schemas():
    for key, schema in catalogue.cases().items():
        dialect = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
        # Python's `re` does not know `\\p`; an empty `allOf` is there because it is wrong.
        if key not in {"pattern unicode class", "shape allOf empty"}:
            dialect.check_schema(schema)


def test_what_is_said_to_break_a_keyword_breaks_it():
    for of, keywords in catalogue.KEYWORDS.items():
        for keyword, members in keywords.items():
            schema = {"type": of, **members} if of != "integer" else members
            dialect = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
            validator = dialect(schema, format_checker=dialect.FORMAT_CHECKER)
            if keyword != "format" or schema["format"] in dialect.FORMAT_CHECKER.checkers:
                errors = validator.iter_errors(catalogue.BROKEN[keyword])
                broken = {error.absolute_schema_path[0] for error in errors}
                assert broken & {keyword, *members}, (of, keyword)


def test_the_kinds_of_a_format_do_not_overlap():
    for engine, version in every_version():
        table = capabilities.load(engine, version)
        kinds = (table.formats, table.leaky_formats, table.untested_formats)
        assert sum(map(len, kinds)) == len(frozenset().union(*kinds)) <= len(shapes.FORMATS)


def script(name, monkeypatch):
    """A module of `docs`."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_tables_say(monkeypatch):
    page = script("capabilities_page", monkeypatch).page()

    assert (ROOT / "docs" / "capabilities.md").read_text(encoding="utf-8") == page
    assert "| `multipleOf` | **dropped** |" in page


class Brittle:
    """Stands for the process with an engine: ends at "bad", and at "third" unless it is the first."""

    made = 0

    def __init__(self, engine, _folder):
        type(self).made += 1
        self.name = f"{engine} 1"
        self.asked = 0

    def ask(self, key, _schema):
        self.asked += 1
        if key == "slow":
            raise queue.Empty
        if key == "bad" or (key == "third" and self.asked > 1):
            return None
        return "exact", [["", "type", "enforced"]]

    def end(self):
        return -9


def test_a_case_that_ends_the_process_is_noted_and_the_audit_goes_on(monkeypatch, tmp_path):
    make = script("make_capabilities", monkeypatch)
    monkeypatch.setattr(make, "Process", Brittle)
    monkeypatch.setattr(make, "install", lambda *_: tmp_path)
    cases = dict.fromkeys(("first", "bad", "third", "slow", "last"), True)
    fine = ("exact", {("", "type"): "enforced"})

    assert make.audit("e", "1", cases) == {
        "first": fine,
        "bad": ("crashed", {}),
        "third": fine,
        "slow": ("timeout", {}),
        "last": fine,
    }
    assert Brittle.made > 3


def test_an_audit_that_fails_is_not_taken_for_a_crash_of_the_engine(monkeypatch, tmp_path):
    make = script("make_capabilities", monkeypatch)
    monkeypatch.setattr(make, "Process", Brittle)
    monkeypatch.setattr(make, "install", lambda *_: tmp_path)
    monkeypatch.setattr(Brittle, "end", lambda _: 1)
    with pytest.raises(RuntimeError, match="the audit of 'bad' fails with e 1"):
        make.audit("e", "1", {"bad": True})


# That they are still so -------------------------------------------------------------------------


@pytest.mark.parametrize("engine", capabilities.ENGINES)
def test_the_table_of_the_installed_version_is_what_a_fresh_audit_finds(engine):
    pytest.importorskip(engine.replace("-", "_"), reason=f"{engine} is not installed")
    from schemaguard.grammar.audit import batch

    version = importlib.metadata.version(engine)
    assert version in capabilities.versions(engine), "run `make capabilities` for this version"
    found = capabilities.audited(engine, version)
    checkers = jsonschema.Draft202012Validator.FORMAT_CHECKER.checkers
    cases = [
        (key, schema)
        for key, schema in catalogue.cases().items()
        if found[key][0] not in {"crashed", "timeout"}
        and DEAR.get(engine, set()).isdisjoint(key.split(" "))
        and not (isinstance(schema, dict) and schema.get("format", "date") not in checkers)
    ]
    share = random.Random(version).sample(cases, len(cases) // AGAIN[engine])
    instance = batch.expendable(engine)
    differing = {}
    for key, schema in share:
        verdict, rows = batch.row(schema, instance)
        fresh = (verdict, {(pointer, keyword): name for pointer, keyword, name in rows})
        if fresh != found[key]:
            differing[key] = (found[key], fresh)

    assert not differing
