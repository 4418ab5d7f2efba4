"""Token paths: what the mask allowed at each token of a witness, and where it refused one."""

from __future__ import annotations

import json

import pytest
from closed_objects import closed

pytest.importorskip("xgrammar")

from schemaguard.grammar import audit
from schemaguard.grammar.audit import engines
from schemaguard.grammar.audit.path import FIRST, LAST, MAX_BYTES, NAMED, Paths, follow


def row(result, keyword):
    (found,) = [r for r in result.constraints if r.keyword == keyword and r.pointer]
    return found


def choices(grammar, prefix):
    """How many bytes, and whether the end, may follow a text: by a cursor of the engine's own."""
    cursor = grammar.start()
    assert all(cursor.push(byte) for byte in prefix)
    return len(cursor.allowed())


class Scripted:
    """A grammar of one text, which allows two bytes at each place: that of the text, and "!"."""

    def __init__(self, text, ends=True):
        self._data, self._ends = text.encode(), ends

    def start(self):
        return _ScriptedCursor(self._data, self._ends)


class _ScriptedCursor:
    def __init__(self, data, ends):
        self._data, self._ends, self._at = data, ends, 0

    def allowed(self):
        if self._at == len(self._data):
            return [256] if self._ends else []
        return sorted({self._data[self._at], ord("!")})

    def push(self, byte):
        allowed = self._at < len(self._data) and byte == self._data[self._at]
        self._at += allowed
        return allowed


def test_a_witness_that_gets_through_has_a_path_to_the_end():
    schema = closed(a={"type": "number", "multipleOf": 0.25})
    found = row(audit.audit(schema), "multipleOf")

    assert "".join(found.path.tokens[:-1]) == found.witness
    assert found.path.tokens[-1] == ""
    assert not found.path.refused
    assert found.path.instead == ()
    compiler = engines.engine("xgrammar")
    import schemaguard

    grammar = compiler.compile(schemaguard.check(schema, profile="xgrammar").accepted)
    data = found.witness.encode()
    assert list(found.path.choices) == [choices(grammar, data[:n]) for n in range(len(data) + 1)]


def test_a_witness_that_cannot_be_written_has_a_path_to_where_it_is_refused():
    found = row(audit.audit(closed(a={"type": "string", "pattern": "bar"})), "pattern")

    assert found.path.refused
    written = "".join(found.path.tokens[:-1])
    assert found.witness.startswith(written)
    assert found.witness[len(written)] == found.path.tokens[-1]
    # Whatever was allowed there was not the token that was refused.
    assert found.path.tokens[-1] not in found.path.instead
    assert 0 < len(found.path.instead) <= NAMED


def test_the_path_of_a_dead_end_ends_where_nothing_is_allowed():
    schema = closed(a={"type": "string", "pattern": r"^(a[^\s\S]|b)$"})
    result = audit.audit(schema)

    assert result.verdict == "dead-end"
    assert result.path.refused
    assert result.path.choices[-1] == 0
    assert result.path.instead == ()
    assert "".join(result.path.tokens[:-1]) == result.witness


def test_a_text_that_may_not_end_where_it_does_is_refused_at_its_end():
    path = follow(Scripted("ab"), "a")

    assert path.tokens == ("a", "")
    assert path.refused
    assert path.instead == ("!", "b")


def test_a_text_that_goes_on_after_the_end_is_refused_there():
    path = follow(Scripted("ab"), "abc")

    assert path.tokens == ("a", "b", "c")
    assert path.refused
    assert path.instead == ("",)


def test_bytes_that_are_no_characters_of_ascii_are_written_as_numbers():
    path = follow(Scripted("é\n\x7f\\"), "é\n\x7f\\")

    assert path.tokens == ("\\xc3", "\\xa9", "\\x0a", "\\x7f", "\\", "")


@pytest.mark.parametrize("length", [0, 1, FIRST, FIRST + LAST - 1, FIRST + LAST, 5_000])
@pytest.mark.parametrize("refused", [True, False])
def test_long_paths_keep_their_two_ends_and_count_the_rest(length, refused):
    text = "".join(chr(97 + index % 26) for index in range(length))
    path = follow(Scripted(text), text + "?" * 99 * refused)

    whole = [*text, "?" if refused else ""]
    assert path.refused is refused
    assert len(path.tokens) == len(path.choices) <= FIRST + LAST
    assert path.skipped == len(whole) - len(path.tokens)
    at = path.skipped_at
    if path.skipped:
        assert list(path.tokens[:at]) == whole[:at]
        assert list(path.tokens[at:]) == whole[at - len(path.tokens) :]
    else:
        assert list(path.tokens) == whole


def test_halves_of_surrogate_pairs_do_no_harm():
    assert follow(Scripted("?"), "\ud800").tokens == ("?", "")


def test_paths_are_made_once_and_end_at_a_bound():
    paths = Paths(Scripted("a"))

    assert paths.of("a") is paths.of("a")
    assert paths.of(None) is None
    assert paths.of("x" * (MAX_BYTES + 1)) is None
    several = [paths.of(f"a{index}") for index in range(1_000)]
    assert several[0] is not None
    assert several[-1] is None


def test_results_with_paths_are_json_and_survive_a_round_trip():
    result = audit.audit(closed(a={"type": "number", "multipleOf": 0.25}))
    plain = json.loads(json.dumps(result.as_dict()))

    (dropped,) = [r for r in plain["constraints"] if r["verdict"] == "dropped"]
    assert "".join(dropped["path"]["tokens"]) == dropped["witness"]
    assert plain["path"] == dropped["path"]
    assert hash(result) == hash(audit.audit(closed(a={"type": "number", "multipleOf": 0.25})))
