"""The cost of patterns: depth, length, repetition, by hand; hostile text; the order of costs."""

from __future__ import annotations

import random
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemaguard.patterns import SATURATED, PatternCost, broad, measure

MILLION = 1_000_000
# The weights that the docstring of `measure` names.
NARROW, SPACED, WORD, WIDE = 1, 2, 8, 32


def repeats(pattern: str) -> int:
    return measure(pattern).repeats


def test_the_empty_pattern_costs_nothing() -> None:
    assert measure("") == PatternCost(length=0, group_depth=0, repeats=0, max_bound=0)


def test_length_counts_code_points_and_not_bytes() -> None:
    assert measure("é\U0001f432").length == 2


@pytest.mark.parametrize(
    ("pattern", "depth"),
    [
        ("abc", 0),
        ("(a)", 1),
        ("(a)(b)", 1),
        ("((a)(b(c)))", 3),
        (r"\(\(a\)\)", 0),
        (r"\\(a)", 1),
        ("[(]", 0),
        ("[((](a)", 1),
        (r"[\](](a)", 1),
        ("[^(]", 0),
        ("(?:a)", 1),
        ("(?=(?!a))", 2),
        ("(?<=(?<!a))", 2),
        ("(?<year>(a))", 2),
        ("(?P<year>a)", 1),
        ("((((", 4),
        ("))))", 0),
        ("))((", 2),
        ("[(((", 0),
        ("[](((]", 3),  # ECMA-262: `[]` is a class of its own
        ("[^](a)", 1),
        ("(a|(b|(c)))", 3),
        ("(?#((", 3),
    ],
)
def test_depth_counts_groups_that_are_open_at_once(pattern: str, depth: int) -> None:
    assert measure(pattern).group_depth == depth


@pytest.mark.parametrize(
    ("pattern", "bound"),
    [
        ("a*b+c?", 0),
        ("a{3}", 3),
        ("a{3,}", 3),
        ("a{3,7}", 7),
        ("a{7,3}", 7),
        ("a{,7}", 7),
        ("a{003}", 3),
        ("(a{2}){5}b{4}", 5),
        ("a{ 1, 9 }", 9),
        (r"\{9}", 0),
        ("[{9}]", 0),
        ("a{", 0),
        ("a{}", 0),
        ("a{,}", 0),
        ("a{ }", 0),
        ("a{x}", 0),
        ("a{9", 0),
        ("a{9,", 0),
        ("a{1 2}", 0),
        ("a{-9}", 0),
        ("a{٣}", 0),  # only ASCII digits make a number
        (r"\u{9}", 0),  # a code point
        (r"\p{L}", 0),
        (r"\x{9}", 9),  # `\x` without digits is the letter x
        ("a{999999999}", 999_999_999),
        ("a{1000000000}", SATURATED),
        ("a{99999999999999999999}", SATURATED),
        ("a{0000000000000000000000009}", 9),
    ],
)
def test_the_largest_bound_is_found_and_braces_that_are_text_are_not(
    pattern: str, bound: int
) -> None:
    assert measure(pattern).max_bound == bound


@pytest.mark.parametrize(
    ("atom", "weight"),
    [
        ("a", NARROW),
        (r"\.", NARROW),
        (r"\d", NARROW),
        (r"\n", NARROW),
        (r"\x41", NARROW),
        (r"\u0041", NARROW),
        (r"\u{1F432}", NARROW),
        ("[0-9a-fA-F]", NARROW),
        ("[.,;]", NARROW),
        (r"[\]\[(]", NARROW),
        ("[Aa]", NARROW),
        (r"\s", SPACED),
        ("[ -]", SPACED),
        (r"[\d\s]", SPACED),
        ("[a-z]", WORD),
        ("[A-Z]", WORD),
        (r"\w", WORD),
        (r"[\w.-]", WORD),
        (r"[\x61-\x7a]", WORD),
        (r"[\u0061-\u007a]", WORD),
        ("[a-f ]", WORD),
        (r"[\u4e00-\u9fff]", WORD),
        (".", WIDE),
        (r"\S", WIDE),
        (r"\D", WIDE),
        (r"\W", WIDE),
        (r"\p{Lu}", WIDE),
        (r"\P{Script=Greek}", WIDE),
        ("[^a]", WIDE),
        ("[^]", WIDE),
        ("[a-z ]", WIDE),
        (r"[\w\s]", WIDE),
        (r"[\s\S]", WIDE),
        (r"[\x00-\x7f]", WIDE),
        (r"[\d\D]", WIDE),
    ],
)
def test_an_atom_weighs_by_the_tokens_it_lets_in(atom: str, weight: int) -> None:
    assert repeats(f"^{atom}$") == weight
    assert repeats(f"^{atom}{{10}}$") == 10 * weight


@pytest.mark.parametrize(
    ("pattern", "states"),
    [
        ("abc", 3),
        ("^abc$", 3),
        ("a{5}", 5),
        ("a{5,}", 5),
        ("a{0}", 1),
        ("ab{5}c", 7),
        ("(ab){5}", 10),
        ("(a{5}b){4}", 24),
        ("((a{2}){3}){4}", 24),
        ("(a|bc){5}", 15),
        ("(?:ab){5}", 10),
        ("(?<name>ab){5}", 10),
        ("(?P<name>ab){5}", 10),
        ("(?=ab){5}", 10),
        ("a{2}{3}", 6),
        ("a{5}?", 5),
        ("a{5}+", 5),
        ("(a{2}", 2),
        ("(a){2}){3}", 5),  # the second `)` is a character, repeated alone
        ("a{x}", 4),
        ("[{]{3}", 3),
        (r"\{{3}", 3),
        (r"\d{4}-\d{2}-\d{2}", 10),
        ("a*b+c?", 3),
        ("(abc)*", 3),
    ],
)
def test_bounded_repeats_are_written_out_and_loops_count_once(pattern: str, states: int) -> None:
    assert repeats(pattern) == states


@pytest.mark.parametrize(
    ("pattern", "states", "pieces"),
    [
        (".{1,50}", 50 * WIDE, 1),
        (".{0,3}.{0,3}", 6 * WIDE, 2),
        ("(.{1,7}){7}", 49 * WIDE, 7),
        ("(.{1,7}){1,7}", 49 * WIDE, 8),
        ("(.{7}){1,7}", 49 * WIDE, 1),
        (".*.*.*.*", 4 * WIDE, 2),
        (".?.?.?.?", 4 * WIDE, 2),
        (".+?.+?.+?.+?", 4 * WIDE, 2),  # the marks are no options of their own
        ("(.|..){4}", 12 * WIDE, 2),
        (r"(\w{1,9},){4}", 4 * (9 * WORD + 1), 4),
        ("((.{1,9}x)+){2}", 2 * (9 * WIDE + 1), 2 * 3 + 1),  # a loop around a span: threefold
        ("((.+x)+){2}", 2 * (WIDE + 1), 2),
        ("(a{1,9}){4}", 36, 1),  # literals: four sixteenths
        ("([0-9a-f]{1,9}){32}", 9 * 32, 2),
        (r"(\s{1,9}){8}", 8 * 9 * SPACED, 2),
    ],
)
def test_parts_of_variable_length_multiply(pattern: str, states: int, pieces: int) -> None:
    assert repeats(pattern) == states * pieces


@pytest.mark.parametrize(
    ("raw", "escaped"),
    [
        ("é(a+)*", r"\u00e9(a+)*"),
        ("[é]?(\\w+ ?){1,5}", r"[\u00e9]?(\w+ ?){1,5}"),
        ("(é|a+){3}", r"(\u00e9|a+){3}"),
    ],
)
def test_a_raw_character_beyond_ascii_makes_repeated_parts_unbounded(
    raw: str, escaped: str
) -> None:
    assert repeats(raw) == SATURATED
    assert repeats(escaped) < 500


@pytest.mark.parametrize(
    ("pattern", "states", "factor"),
    [
        ("é[a-z]{1,9}", 1 + 9 * WORD, 1),
        ("é[a-z]{1,9}[a-z]{1,9}", 1 + 18 * WORD, 1 + 40),
        ("é.*.*.*.*", 1 + 4 * WIDE, 1 + 40),
    ],
)
def test_there_pieces_beyond_the_first_are_dear(pattern: str, states: int, factor: int) -> None:
    assert repeats(pattern) == states * factor


@pytest.mark.parametrize(
    "pattern", ["^é$", "^[à-ÿ]{1,40}$", "^(foo|bär)?$", "^°[0-9]+$", "^[a-zäöüß]+$"]
)
def test_a_raw_character_beyond_ascii_alone_is_cheap(pattern: str) -> None:
    assert repeats(pattern) < 200


@pytest.mark.parametrize(
    "pattern",
    [
        "^[0-9a-f]{40}$",
        "^[A-Z]{3}$",
        r"^\d{4}-\d{2}-\d{2}$",
        "^[a-zA-Z0-9_-]{1,64}$",
        r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
        "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-5][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$",
        "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
        r"^[^@\s]+@[^@\s]+\.[^@\s]+$",
        r"^[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}$",
        r"^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$",
        r"^v?\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$",
        "^#([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$",
        r"^\+?[1-9]\d{1,14}$",
    ],
)
def test_everyday_patterns_are_far_below_what_a_second_of_compiling_buys(pattern: str) -> None:
    assert re.compile(pattern)
    cost = measure(pattern)
    assert cost.repeats <= 600
    assert cost.max_bound <= 64
    assert cost.group_depth <= 2


@pytest.mark.parametrize(
    "pattern",
    [
        "^.{1,129}$",
        "^.{1, 129}$",
        "^.{,129}$",
        r"^[\s\S]{0,500}$",
        "^[^,]{1,100}$",
        "^(.{1,10}){1,10}$",
        r"^(\w{1,30} ?){1,30}$",
        "(a{1,100}){1,100}",
        r"^(\s{0,20},?){20,40}$",
        ".{0,5}" * 20,
        "a{5000}",
        "((((a{9}){9}){9}){9}){9}",
    ],
)
def test_patterns_that_hang_or_slow_an_engine_stand_out(pattern: str) -> None:
    assert repeats(pattern) > 3_000


def test_nesting_deeper_than_is_weighed_is_saturated_and_still_counted() -> None:
    assert measure("(" * 1_000 + "a" + ")" * 1_000).repeats == 1
    deep = measure("(" * 1_001 + "a" + ")" * 1_001 + "(b)")
    assert deep.repeats == SATURATED
    assert deep.group_depth == 1_001


def test_products_saturate_instead_of_growing() -> None:
    assert measure("(" * 500 + "a" + "){99}" * 500).repeats == SATURATED
    assert measure("a{999999999}" * 1_000).repeats == SATURATED
    assert measure("a" + "{99}" * 100_000).repeats == SATURATED


HOSTILE = {
    "letters": "a",
    "opening": "(",
    "closing": "()",
    "braces": "{",
    "half-bounds": "{1",
    "open-bounds": "a{1,",
    "spaces": "{ ",
    "digits": "9",
    "brackets": "[",
    "classes": "[a]",
    "ranges": r"\x41-\x5a",
    "backslashes": "\\",
    "properties": r"\p{",
    "code-points": r"\u{1",
    "names": "(?<a",
    "bars": "|",
    "repeats": "(a{9})",
    "beyond-ascii": "é?",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("start", ["", "[", "a{"])
def test_time_is_linear_in_hostile_text(piece: str, start: str) -> None:
    def seconds(size: int) -> float:
        text = start + piece * (size // len(piece))
        best = float("inf")
        for _ in range(2):
            began = time.thread_time()
            measure(text)
            best = min(best, time.thread_time() - began)
        return best

    # Ten times the text: a quadratic reader would take a hundred times as long.
    assert seconds(60_000) < 30 * max(seconds(6_000), 0.001)


@pytest.mark.slow
def test_ten_megabytes_take_seconds() -> None:
    began = time.thread_time()
    measure("(" * 10 * MILLION)
    assert time.thread_time() - began < 30


ALPHABET = st.sampled_from(list("ab9é .,:-^$|?*+()[]{}\\<>=!PpuxdDwWsS"))


@settings(max_examples=500, deadline=None)
@given(st.text(ALPHABET, max_size=60) | st.text(max_size=60))
def test_every_text_has_a_measure_within_bounds(pattern: str) -> None:
    cost = measure(pattern)
    assert cost.length == len(pattern)
    assert 0 <= cost.group_depth <= pattern.count("(")
    assert 0 <= cost.repeats <= SATURATED
    assert 0 <= cost.max_bound <= SATURATED
    assert measure(pattern) == cost


def well_formed(rng: random.Random, depth: int) -> str:
    """A pattern that `re` accepts, of atoms whose states can be counted on the parsed pattern."""
    out = []
    for _ in range(rng.randint(1, 3)):
        if depth and rng.random() < 0.5:
            atom = "(" + well_formed(rng, depth - 1) + ")"
        else:
            atom = rng.choice(("a", r"\d", "[ab]", r"\(", "[)(]", r"[\]]", "[{]"))
        out.append(atom + rng.choice(("", "", "{3}", "{2,5}", "{4,}", "*", "+?", "?")))
    return rng.choice(("", "|")).join(out)


def written_out(pattern: str) -> tuple[int, int]:
    """States and depth of a pattern, from the tree of the parser that Python itself uses."""
    from re import _parser  # type: ignore[attr-defined]

    def states(tree: object) -> int:
        total = 0
        for name, value in tree:  # type: ignore[attr-defined]
            kind = str(name)
            if kind in ("MAX_REPEAT", "MIN_REPEAT"):
                low, high, body = value
                copies = low if high == _parser.MAXREPEAT else high
                total += max(int(copies), 1) * states(body)
            elif kind == "SUBPATTERN":
                total += states(value[-1])
            elif kind == "BRANCH":
                total += sum(states(branch) for branch in value[1])
            else:
                total += 1
        return total

    def depth(tree: object) -> int:
        deepest = 0
        for name, value in tree:  # type: ignore[attr-defined]
            kind = str(name)
            if kind in ("MAX_REPEAT", "MIN_REPEAT"):
                deepest = max(deepest, depth(value[2]))
            elif kind == "SUBPATTERN":
                deepest = max(deepest, 1 + depth(value[-1]))
            elif kind == "BRANCH":
                deepest = max([deepest, *map(depth, value[1])])
        return deepest

    tree = _parser.parse(pattern)
    return states(tree), depth(tree)


def test_random_patterns_measure_as_their_parse_tree_does() -> None:
    rng = random.Random(5)
    seen = 0
    for _ in range(2_000):
        # `re` factors common prefixes out of branches, so a branch is compared from above only.
        pattern = well_formed(rng, 3)
        states, depth = written_out(pattern)
        cost = measure(pattern)
        assert cost.group_depth == depth, pattern
        assert cost.repeats >= states, pattern
        seen += cost.repeats == states
    assert seen > 500


@pytest.mark.parametrize(
    ("pattern", "units"),
    [
        ("^abc$", 0),
        ("^(alpha|beta)-\\d$", 1),
        ("^abc[a-z]{3}$", 3 * WORD),
        ("^.{1,9}$", 9 * WIDE),
        ("", 0),
    ],
)
def test_literals_count_as_nothing_where_patterns_are_added_up(pattern: str, units: int) -> None:
    assert broad(pattern) == units


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_literals_are_found_in_linear_time(piece: str) -> None:
    pattern = (piece * 4_096)[:4_096]
    began = time.thread_time()
    broad(pattern)
    assert time.thread_time() - began < 0.1
