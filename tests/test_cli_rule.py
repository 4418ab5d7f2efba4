"""`schemaguard rule` and `rules`: sentences that people can read, and suggestions that are near."""

from __future__ import annotations

import re

import pytest
from command import call, is_one_clear_line

from schemaguard.cli.rule import sentence
from schemaguard.rules import RULES


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("SG107", "starts with a byte order mark"),
        ("SG231", "SUBJECT refuses `KEYWORD` here"),
        ("SG402", "must include property 'PROPERTY'"),
        ("SG621", "tool name of LENGTH characters is over SUBJECT's LIMIT"),
        ("SG703", "`allOf` of NUMBER schemas is any JSON value to SUBJECT VERSION"),
    ],
)
def test_what_a_finding_may_append_is_left_out_of_the_sentence(capfd, code, words):
    _, listed, _ = call(capfd, "rules")
    assert re.search(rf"^{code}  \S+ +{re.escape(words)}$", listed, re.MULTILINE)
    _, page, _ = call(capfd, "rule", code)
    assert page.splitlines()[2] == f"  {words}"


@pytest.mark.parametrize("code", sorted(RULES))
def test_no_placeholder_is_glued_to_a_word(capfd, code):
    _, page, _ = call(capfd, "rule", code)
    assert not re.search(r"[a-z][A-Z]{3,}\b", page.splitlines()[2]), page
    assert not re.search(r"[\w}]\{\w", sentence(RULES[code]))


@pytest.mark.parametrize("code", sorted(RULES))
def test_each_link_of_a_page_is_the_path_that_it_leads_to(capfd, code):
    _, page, _ = call(capfd, "rule", code)
    assert "](" not in page
    for place in re.findall(r"\]\(\.\./([^)]*)\)", RULES[code].why):
        assert f" (docs/{place})" in page


def test_where_a_link_leads_is_said(capfd):
    assert "Table (docs/compile-cost.md#formats)." in call(capfd, "rule", "SG819")[1]


@pytest.mark.parametrize(
    ("word", "near"),
    [
        ("SG999", None),
        ("SG40", None),  # the start of six codes: any would be a guess
        ("SG041", "SG401"),
        ("SG4402", "SG402"),
        ("SG02", None),
        ("open-objct", "open-object"),
        ("zzzz", None),
    ],
)
def test_only_what_is_near_is_suggested(capfd, word, near):
    status, out, err = call(capfd, "rule", word)
    assert (status, out) == (2, "")
    assert is_one_clear_line(err)
    if near is None:
        assert err.endswith(f"no rule '{word}'; `schemaguard rules` lists them\n")
    else:
        assert err.endswith(f"no rule '{word}'; did you mean \"{near}\"?\n")
