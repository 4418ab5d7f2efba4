"""`Accepted` is the only way to the compiler, and it holds what was checked."""

from __future__ import annotations

import copy
import pickle

import pytest
from documents import closed

import schemaguard
from schemaguard import Limits, profiles
from schemaguard.document import Document, read
from schemaguard.preflight import accept
from schemaguard.report import Report

GOOD = '{"type":"object","additionalProperties":false}'
BAD = '{"type":"object","properties":{"cmd":{"oneOf":[{"type":"string"}]}}}'


def accepted(text=GOOD):
    return schemaguard.check(text).accepted


def test_a_document_whose_text_is_not_its_value_is_not_handed_on():
    document = Document({"type": "object", "additionalProperties": False}, text=BAD)
    with pytest.raises(schemaguard.SchemaChanged):
        _ = schemaguard.check(document).accepted


def test_a_document_that_was_changed_after_the_check_is_not_handed_on():
    report = schemaguard.check(GOOD)
    report.document.text = BAD
    with pytest.raises(schemaguard.SchemaChanged):
        _ = report.accepted


def test_a_value_that_was_swapped_inside_a_document_is_not_handed_on():
    document = schemaguard.check(BAD).document
    document.value.clear()
    document.value.update(type="object", additionalProperties=False)
    with pytest.raises(schemaguard.SchemaChanged):
        _ = schemaguard.check(document).accepted


def test_a_report_that_nobody_checked_hands_nothing_on():
    report = Report(read(BAD), profiles.load("dynamo"), Limits())
    with pytest.raises(schemaguard.SchemaChanged):
        _ = report.accepted
    with pytest.raises(schemaguard.SchemaChanged):
        accept(read(BAD), profiles.load("dynamo"))


def test_profiles_cannot_be_changed():
    profile = profiles.load("dynamo")
    for table in (profile.severities, profile.budgets, profile.lists):
        with pytest.raises(TypeError):
            table["SG401"] = "note"


def test_copies_are_the_same_and_a_pickle_is_checked_when_it_is_loaded():
    original = accepted()
    assert copy.copy(original) is original
    assert copy.deepcopy(original) is original
    assert pickle.loads(pickle.dumps(original)) == original  # noqa: S301
    function, arguments = original.__reduce__()
    with pytest.raises(schemaguard.SchemaRejected):
        function(BAD, arguments[1])


def test_a_report_from_another_process_says_the_same_and_is_no_pass():
    for schema in (GOOD, BAD):
        report = schemaguard.check(schema)
        sent = pickle.loads(pickle.dumps(report))  # noqa: S301
        assert (sent.ok, sent.total, sent.complete) == (report.ok, report.total, report.complete)
        assert sent.profile == report.profile
        assert sent.diagnostics == report.diagnostics
        assert copy.copy(report) is copy.deepcopy(report) is report
    with pytest.raises(schemaguard.SchemaChanged):
        _ = pickle.loads(pickle.dumps(schemaguard.check(GOOD))).accepted  # noqa: S301


def test_a_report_on_a_schema_deeper_than_a_pickle_can_be_is_sent():
    deep = '{"items":' * 5_000 + "{}" + "}" * 5_000
    report = schemaguard.check(deep)
    assert pickle.loads(pickle.dumps(report)).diagnostics == report.diagnostics  # noqa: S301


def test_the_compiler_believes_no_class_but_the_real_one():
    pytest.importorskip("xgrammar")
    from schemaguard.grammar import Compiler, Tokenizer

    class Liar:
        __class__ = schemaguard.Accepted
        text = BAD
        profile = "dynamo"

    class Heir(schemaguard.Accepted):
        text = BAD

    compiler = Compiler(Tokenizer.byte_level())
    for fake in (Liar(), object.__new__(Heir), GOOD, None, schemaguard.check(GOOD)):
        with pytest.raises(TypeError):
            compiler.compile(fake)
    assert compiler.compile(accepted()).accepts("{}")


def test_shared_strings_that_would_take_gigabytes_as_text_are_refused_quickly():
    shared = "x" * (1 << 20)
    schema = closed({f"p{i}": {"type": "string", "description": shared} for i in range(1_500)})
    report = schemaguard.check(schema)
    assert report.ok
    with pytest.raises(schemaguard.SchemaChanged, match="256 MiB"):
        _ = report.accepted
    assert {use.name: use.used for use in report.budgets}["bytes"] is None
