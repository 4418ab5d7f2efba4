"""Edges of xgrammar itself that this package keeps away from its users.

Stop tokens, control tokens and vocabularies are in `test_grammar_tokenizers`, threads, caches and
`rollback` in `test_grammar_compiler`, layouts of tensors in `test_grammar_masks`.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import schemaguard
from schemaguard.grammar import Compiler, Tokenizer

xgrammar = pytest.importorskip("xgrammar")

PACKAGE = Path(schemaguard.__file__).parent
ENUM = {"enum": ["ab", "ba"]}


def letters(*order: bytes) -> Tokenizer:
    return Tokenizer([*order, b'"'], kind="letters", stop_token_ids=[3], vocab_size=4)


def compiler(tokenizer: Tokenizer) -> Compiler:
    return Compiler(tokenizer, isolation="none")


def test_xgrammar_takes_a_serialised_grammar_for_a_vocabulary_of_another_content() -> None:
    """Why grammars are compiled again and never stored: the masks would be those of other tokens."""
    accepted = schemaguard.check(ENUM, profile="xgrammar").accepted
    assert accepted is not None
    grammar = compiler(letters(b"a", b"b")).compile(accepted).engine
    other = letters(b"b", b"a")

    revived = xgrammar.CompiledGrammar.deserialize_json(grammar.serialize_json(), other.info)

    assert xgrammar.GrammarMatcher(revived).accept_token(2)  # no error so far: a quote for both


def test_nothing_in_the_package_serialises_a_grammar_or_takes_a_serialised_one() -> None:
    called = set()
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            name = getattr(node, "attr", None) or getattr(node, "id", None)
            if isinstance(name, str) and "serialize" in name.lower():
                called.add((file.name, name))

    assert called == set()


def test_compilers_of_two_vocabularies_of_one_size_share_nothing() -> None:
    accepted = schemaguard.check(ENUM, profile="xgrammar").accepted
    assert accepted is not None

    for order in ((b"a", b"b"), (b"b", b"a")):
        compiled = compiler(letters(*order)).compile(accepted)
        assert not compiled.stats.cached
        matcher = compiled.matcher()
        quote, a, b = 2, order.index(b"a"), order.index(b"b")
        assert matcher.accept_tokens([quote, a, b, quote]) == 4
        assert matcher.is_completed


def test_a_mask_is_written_to_its_own_row_whatever_view_of_it_a_caller_holds() -> None:
    """xgrammar writes a view with gaps as if it had none; rows here are never such a view."""
    tokenizer = Tokenizer.byte_level()
    accepted = schemaguard.check({"enum": ["a"]}, profile="xgrammar").accepted
    assert accepted is not None
    made = compiler(tokenizer)
    matcher = made.compile(accepted).matcher()
    masks = made.masks(6)
    every_second = masks.bitmask[::2]

    masks.fill_batch({4: matcher})

    assert masks.allowed(4) == [ord('"')]
    assert [row for row in range(6) if len(masks.allowed(row)) == 257] == [0, 1, 2, 3, 5]
    assert every_second[2].tolist() == masks.bitmask[4].tolist()
