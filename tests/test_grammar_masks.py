from __future__ import annotations

import json
import pickle
import random
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from instances import validator
from vocabulary import qwen, small

import schemaguard
from schemaguard.grammar import Compiler, DeadEnd, Masks, Matcher, Tokenizer

if TYPE_CHECKING:
    from schemaguard.grammar import CompiledSchema

pytest.importorskip("xgrammar")
torch = pytest.importorskip("torch")

CALL = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 6},
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "units": {"enum": ["metric", "é"]},
        "tags": {"type": "array", "items": {"type": "boolean"}, "maxItems": 3},
    },
    "required": ["city", "days", "units", "tags"],
    "additionalProperties": False,
}
WHOLE = '{"city":"Oslo","days":3,"units":"é","tags":[true]}'


@pytest.fixture(scope="module", params=["byte-level", "small"])
def compiler(request: pytest.FixtureRequest) -> Compiler:
    tokenizer = Tokenizer.byte_level() if request.param == "byte-level" else small()
    return Compiler(tokenizer, isolation="none")


def byte_compiler() -> Compiler:
    return Compiler(Tokenizer.byte_level(), isolation="none")


def compiled(compiler: Compiler, schema: Any = CALL) -> CompiledSchema:
    accepted = schemaguard.check(schema, profile="xgrammar").accepted
    assert accepted is not None
    return compiler.compile(accepted)


def dead_end(compiler: Compiler, request: str | None = None) -> Matcher:
    """A matcher after `a`, which the grammar lets nothing follow."""
    xgrammar = pytest.importorskip("xgrammar")
    grammar = compiler.engine.compile_grammar('root ::= "a" [^\\x00-\\U0010ffff]')
    matcher = Matcher(xgrammar.GrammarMatcher(grammar), compiler.tokenizer, request)
    assert matcher.accept_token(ord("a"))
    return matcher


def by_hand(logits: Any, masks: Masks) -> Any:
    """What masking means, one row after the other, from the lists of allowed tokens."""
    expected = torch.full_like(logits, -float("inf"))
    for row in range(logits.shape[0]):
        allowed = torch.tensor(masks.allowed(row), dtype=torch.long)
        expected[row, allowed] = logits[row, allowed]
    return expected


# Filling ---------------------------------------------------------------------------------------


def test_a_filled_row_allows_exactly_the_tokens_that_the_matcher_accepts(
    compiler: Compiler,
) -> None:
    size = compiler.tokenizer.vocab_size
    masks = compiler.masks(1)
    rng = random.Random(1)
    for text in ("", '{"', '{"city":"', '{"city":"\u00e9', '{"city": "abc', WHOLE[:-3], WHOLE):
        matcher = compiled(compiler).matcher()
        assert matcher.accept_string(text)

        masks.fill(0, matcher)

        probes = {*rng.sample(range(size), 80), *masks.allowed(0)[:80]}
        accepted = {t for t in probes if matcher.fork().accept_token(t)}
        assert accepted == set(masks.allowed(0)) & probes, text


def test_outputs_sampled_from_masks_are_valid_instances(compiler: Compiler) -> None:
    oracle = validator(CALL)
    grammar = compiled(compiler)
    masks = compiler.masks(1)
    stop = compiler.tokenizer.stop_token_ids[0]
    for seed in range(60):
        rng = random.Random(seed)
        matcher = grammar.matcher()
        tokens: list[int] = []
        while not matcher.is_terminated:
            masks.fill(0, matcher)
            allowed = masks.allowed(0)
            # Control characters are what xgrammar lets into strings with a length bound.
            allowed = [t for t in allowed if compiler.tokenizer.token_bytes(t) >= b" " or t == stop]
            tokens.append(rng.choice(allowed))
            assert matcher.accept_token(tokens[-1])
            assert len(tokens) < 500

        text = compiler.tokenizer.decode(tokens)
        assert grammar.accepts(text) or b"\xed" in text
        if b"\xed" not in text:  # a surrogate: xgrammar lets its bytes through
            assert oracle.is_valid(json.loads(text))


def test_rows_are_independent(compiler: Compiler) -> None:
    masks = compiler.masks(3)
    start = compiled(compiler).matcher()
    inside = compiled(compiler).matcher()
    assert inside.accept_string('{"city":"x","days":')

    masks.fill(0, start)
    masks.fill(2, inside)

    assert masks.allowed(0)[0] == ord("{")
    assert len(masks.allowed(1)) == compiler.tokenizer.vocab_size  # never filled: no constraint
    assert ord("1") in masks.allowed(2)
    assert ord("{") not in masks.allowed(2)


def test_a_cleared_row_allows_everything_again(compiler: Compiler) -> None:
    masks = compiler.masks(2)
    masks.fill(0, compiled(compiler).matcher())
    masks.fill(1, compiled(compiler).matcher())

    masks.clear(0)

    assert len(masks.allowed(0)) == compiler.tokenizer.vocab_size
    assert masks.allowed(1)[0] == ord("{")


def test_a_row_whose_tokens_are_all_allowed_is_written_as_such() -> None:
    tokens = [bytes((value,)) for value in range(32, 127) if value not in b'"\\']
    tokenizer = Tokenizer([*tokens, b""], kind="letters", stop_token_ids=[93])
    compiler = Compiler(tokenizer, isolation="none")
    masks = compiler.masks(1)
    xgrammar = pytest.importorskip("xgrammar")
    grammar = compiler.engine.compile_grammar("root ::= [ -~]*")
    masks.fill(0, compiled(compiler).matcher())

    masks.fill(0, Matcher(xgrammar.GrammarMatcher(grammar), tokenizer))

    assert masks.allowed(0) == list(range(94))


def test_after_the_end_a_row_allows_the_stop_tokens_alone() -> None:
    tokens = [bytes((value,)) for value in range(256)]
    tokenizer = Tokenizer(tokens, kind="two stops", stop_token_ids=[256, 290], vocab_size=300)
    compiler = Compiler(tokenizer, isolation="none")
    matcher = compiled(compiler, {"enum": ["a"]}).matcher()
    masks = compiler.masks(1)
    assert matcher.accept_string('"a"')
    masks.fill(0, matcher)
    assert masks.allowed(0) == [256, 290]
    assert matcher.accept_token(290)

    masks.fill(0, matcher)

    assert masks.allowed(0) == [256, 290]


def test_a_dead_end_is_an_error_that_names_the_row(compiler: Compiler) -> None:
    masks = compiler.masks(4)

    with pytest.raises(DeadEnd, match="row 2") as caught:
        masks.fill(2, dead_end(compiler))

    assert caught.value.row == 2


def test_after_a_dead_end_the_logits_are_still_finite_somewhere(compiler: Compiler) -> None:
    masks = compiler.masks(1)
    with pytest.raises(DeadEnd):
        masks.fill(0, dead_end(compiler))
    logits = torch.zeros(1, compiler.tokenizer.vocab_size)

    masks.apply_(logits)

    assert not torch.softmax(logits, dim=-1).isnan().any()
    assert masks.allowed(0) == list(compiler.tokenizer.stop_token_ids)


def test_bits_beyond_the_vocabulary_do_not_hide_a_dead_end() -> None:
    masks = byte_compiler().masks(1)  # 257 tokens, 288 bits
    masks.bitmask.zero_()
    assert not masks._allows_something(0)
    masks.bitmask[0, 8] = ~1

    assert not masks._allows_something(0)
    masks.bitmask[0, 8] = 1
    assert masks._allows_something(0)
    masks.bitmask[0, 8] = 0
    masks.bitmask[0, 7] = -(1 << 31)
    assert masks._allows_something(0)


@pytest.mark.parametrize("row", [-1, 2, 10**30])
def test_a_row_outside_the_batch_is_an_index_error(row: int) -> None:
    compiler = byte_compiler()
    masks = compiler.masks(2)

    for call in (
        lambda: masks.fill(row, compiled(compiler).matcher()),
        lambda: masks.clear(row),
        lambda: masks.allowed(row),
    ):
        with pytest.raises(IndexError, match=r"0\.\.1"):
            call()


@pytest.mark.parametrize("row", [True, 0.0, "0", None])
def test_a_row_that_is_no_integer_is_a_type_error(row: Any) -> None:
    masks = byte_compiler().masks(2)

    with pytest.raises(TypeError, match="integer"):
        masks.clear(row)


def test_matchers_of_another_tokenizer_are_refused() -> None:
    # The same size and another meaning: xgrammar itself cannot tell.
    tokens = [bytes((value,)) for value in reversed(range(256))]
    tokenizer = Tokenizer(tokens, kind="reversed", stop_token_ids=[256], vocab_size=257)
    other = Compiler(tokenizer, isolation="none")
    masks = byte_compiler().masks(1)

    with pytest.raises(ValueError, match="another tokenizer"):
        masks.fill(0, compiled(other).matcher())


def test_only_a_matcher_of_this_package_fills_a_row() -> None:
    compiler = byte_compiler()
    matcher = compiled(compiler).matcher()

    with pytest.raises(TypeError, match="GrammarMatcher"):
        compiler.masks(1).fill(0, matcher.engine)


@pytest.mark.parametrize("size", [0, -1, 1.0, True, "2", None])
def test_a_batch_has_at_least_one_row(size: Any) -> None:
    with pytest.raises(ValueError, match="batch_size"):
        byte_compiler().masks(size)


# Many rows at once ------------------------------------------------------------------------------

PLACES = ("", '{"', '{"city":"', '{"city":"abc', '{"city":"x","days":', WHOLE[:-1], WHOLE)


def at(compiler: Compiler, text: str, request: str | None = None) -> Matcher:
    matcher = compiled(compiler).matcher(request)
    assert matcher.accept_string(text)
    return matcher


def one_by_one(compiler: Compiler, matchers: dict[int, Matcher], rows: int) -> Any:
    masks = compiler.masks(rows)
    for row, matcher in matchers.items():
        masks.fill(row, matcher)
    return masks.bitmask


def ended(compiler: Compiler) -> Matcher:
    matcher = at(compiler, WHOLE)
    assert matcher.accept_token(compiler.tokenizer.stop_token_ids[0])
    return matcher


def test_a_batch_is_filled_like_its_rows_one_by_one(compiler: Compiler) -> None:
    matchers = [at(compiler, text) for text in PLACES] + [ended(compiler)]
    masks = compiler.masks(len(matchers))

    masks.fill_batch(matchers)

    expected = one_by_one(compiler, dict(enumerate(matchers)), len(matchers))
    assert torch.equal(masks.bitmask, expected)


@pytest.mark.parametrize("mode", ["eager", "dynamic"])
def test_a_batch_in_threads_is_filled_like_one_in_turn(mode: str) -> None:
    compiler = Compiler(small(), isolation="none", mode=mode)
    masks = compiler.masks(512, threads=64)
    if masks.threads == 1:
        pytest.skip("one processor: no threads to compare")
    masks._threads_from = 2
    for shift in range(4):
        matchers = [at(compiler, PLACES[(row + shift) % len(PLACES)]) for row in range(512)]

        masks.fill_batch(matchers)

        expected = one_by_one(compiler, dict(enumerate(matchers)), 512)
        assert torch.equal(masks.bitmask, expected)


def test_threads_never_share_a_matcher(compiler: Compiler) -> None:
    masks = compiler.masks(4, threads=2)
    masks._threads_from = 1
    masks._in_threads = None  # would be an error to use
    matcher = at(compiler, '{"city":"')

    masks.fill_batch([matcher, matcher, at(compiler, ""), matcher])

    assert masks.allowed(0) == masks.allowed(1) == masks.allowed(3)
    assert masks.allowed(2)[0] == ord("{")


def test_threads_are_bounded_by_the_processors_and_used_for_large_batches_only(
    capfd: pytest.CaptureFixture[str],
) -> None:
    compiler = byte_compiler()
    usual = compiler.masks(2)
    many = compiler.masks(2, threads=10_000)
    many._threads_from = 1

    many.fill_batch([at(compiler, ""), at(compiler, WHOLE)])

    assert capfd.readouterr().err == ""  # xgrammar logs a line for each thread too many
    assert 1 <= usual.threads <= 8
    assert usual._threads_from > 1000  # of 257 ids: there threads never pay


@pytest.mark.parametrize("threads", [0, -1, 1.0, True, "2"])
def test_a_number_of_threads_that_is_none_is_a_value_error(threads: Any) -> None:
    with pytest.raises(ValueError, match="threads"):
        byte_compiler().masks(1, threads=threads)


def test_none_takes_the_constraint_off_a_row_and_others_stay(compiler: Compiler) -> None:
    masks = compiler.masks(4)
    masks.fill_batch([at(compiler, "") for _ in range(4)])

    masks.fill_batch({2: None, 0: at(compiler, '{"city":"x","days":')})

    assert ord("1") in masks.allowed(0)
    assert ord("{") not in masks.allowed(0)
    assert masks.allowed(1)[0] == masks.allowed(3)[0] == ord("{")
    assert len(masks.allowed(2)) == compiler.tokenizer.vocab_size
    masks.fill_batch([None, None])
    assert len(masks.allowed(0)) == len(masks.allowed(1)) == compiler.tokenizer.vocab_size
    assert masks.allowed(3)[0] == ord("{")
    masks.fill_batch([])
    masks.fill_batch({})
    assert masks.allowed(3)[0] == ord("{")


def test_with_no_row_constrained_a_batch_touches_no_logits(compiler: Compiler) -> None:
    masks = compiler.masks(2)
    logits = torch.randn(2, compiler.tokenizer.vocab_size)
    before = logits.clone()
    masks.fill_batch([at(compiler, ""), at(compiler, "")])
    masks.fill_batch([None, None])

    masks.apply_(logits)

    assert torch.equal(logits, before)


def test_a_dead_end_names_row_and_request_and_the_other_rows_are_filled(
    compiler: Compiler,
) -> None:
    matchers = [
        at(compiler, "", "req-1"),
        dead_end(compiler, "req-2"),
        None,
        at(compiler, WHOLE, "req-4"),
        dead_end(compiler),
        ended(compiler),
    ]
    masks = compiler.masks(6)

    with pytest.raises(DeadEnd, match=r"row 1 \(request req-2\) and 1 more: no token") as caught:
        masks.fill_batch(matchers)

    assert (caught.value.row, caught.value.request) == (1, "req-2")
    assert caught.value.rows == (1, 4)
    assert caught.value.requests == ("req-2", None)
    stops = list(compiler.tokenizer.stop_token_ids)
    assert masks.allowed(0)[0] == ord("{")
    assert masks.allowed(1) == masks.allowed(4) == masks.allowed(5) == stops
    assert len(masks.allowed(2)) == compiler.tokenizer.vocab_size
    logits = torch.zeros(6, compiler.tokenizer.vocab_size)
    masks.apply_(logits)
    assert not torch.softmax(logits, dim=-1).isnan().any()


def test_the_name_of_a_request_cannot_write_to_a_log(compiler: Compiler) -> None:
    masks = compiler.masks(1)

    with pytest.raises(DeadEnd) as caught:
        masks.fill(0, dead_end(compiler, "\x1b[2J\r\n" + "x" * 1_000_000))

    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_a_dead_end_passes_between_processes_whole() -> None:
    error = pickle.loads(pickle.dumps(DeadEnd({7: None, 3: "req-3"})))  # noqa: S301 - ours

    assert (error.rows, error.requests) == ((3, 7), ("req-3", None))
    assert str(error) == str(DeadEnd({3: "req-3", 7: None}))


def test_a_fork_keeps_the_name_of_its_request(compiler: Compiler) -> None:
    with pytest.raises(DeadEnd, match="req-9"):
        compiler.masks(1).fill(0, dead_end(compiler, "req-9").fork())


def test_a_wrong_row_or_matcher_in_a_batch_changes_nothing(compiler: Compiler) -> None:
    masks = compiler.masks(2)
    masks.fill_batch([at(compiler, ""), None])
    before = masks.bitmask.clone()
    good = at(compiler, '{"city":"')
    other = at(Compiler(Tokenizer.byte_level(), isolation="none"), "")

    for wrong, error in (
        ({0: good, 2: good}, IndexError),
        ({0: good, -1: None}, IndexError),
        ([good, good.fork(), None], IndexError),
        ({0: good, "1": good}, TypeError),
        ([good, good.engine], TypeError),
        ([good, other], ValueError),
    ):
        with pytest.raises(error):
            masks.fill_batch(wrong)  # type: ignore[arg-type]
        assert torch.equal(masks.bitmask, before)


# Drafts -----------------------------------------------------------------------------------------


def draft_by_hand(compiler: Compiler, matcher: Matcher, draft: list[int], rows: int) -> Any:
    """The masks of a draft, one token after the other on a copy."""
    masks = compiler.masks(rows)
    copy = matcher.fork()
    for row in range(len(draft) + 1):
        masks.fill(row + 1, copy)
        if row == len(draft) or not copy.accept_token(draft[row]):
            break
    return masks.bitmask


def test_every_position_of_a_draft_is_masked_as_if_it_had_been_reached(compiler: Compiler) -> None:
    stop = compiler.tokenizer.stop_token_ids[0]
    text = [*WHOLE.encode(), stop]
    for start, length in ((0, 4), (0, 0), (9, 1), (20, 7), (len(text) - 4, 4)):
        matcher = at(compiler, "")
        assert matcher.accept_tokens(text[:start]) == start
        for wrong_at in (*range(length), None):
            draft = text[start : start + length]
            if wrong_at is not None:
                draft[wrong_at] = ord("\x7f") if draft[wrong_at] != stop else ord("x")
            masks = compiler.masks(length + 3)

            taken = masks.fill_draft(1, matcher, draft)

            expected = draft_by_hand(compiler, matcher, draft, length + 3)
            assert torch.equal(masks.bitmask, expected), (start, length, wrong_at)
            copy = matcher.fork()
            assert taken == copy.accept_tokens(draft)
        assert matcher.accept_tokens(text[start:]) == len(text) - start  # as it was
        assert matcher.is_terminated


def test_tokens_behind_a_refused_one_are_not_taken(compiler: Compiler) -> None:
    matcher = at(compiler, "")

    assert matcher.accept_tokens(b'{"city":"x","nope') == len(b'{"city":"x","')
    assert matcher.accept_tokens(b"days") == 4
    assert matcher.accept_tokens([]) == 0
    matcher.rollback(4)
    assert matcher.accept_tokens([10**9]) == 0
    assert matcher.accept_tokens(b"days") == 4


def test_rows_of_an_earlier_and_longer_draft_lose_their_masks(compiler: Compiler) -> None:
    masks = compiler.masks(5)
    matcher = at(compiler, "")
    assert masks.fill_draft(0, matcher, b'{"ci') == 4

    assert masks.fill_draft(0, matcher, b'{"no') == 2

    assert masks.allowed(2)[0] == ord("c")
    assert len(masks.allowed(3)) == len(masks.allowed(4)) == compiler.tokenizer.vocab_size


def test_a_draft_into_a_dead_end_names_its_row_and_leaves_the_matcher(compiler: Compiler) -> None:
    matcher = dead_end(compiler, "req-5")
    matcher.rollback(1)
    masks = compiler.masks(3)

    with pytest.raises(DeadEnd, match=r"row 1 \(request req-5\)"):
        masks.fill_draft(0, matcher, b"ab")

    assert masks.allowed(0) == [ord("a")]
    assert masks.allowed(1) == list(compiler.tokenizer.stop_token_ids)
    assert matcher.accept_token(ord("a"))


@pytest.mark.parametrize(("row", "draft"), [(-1, b""), (2, b""), (0, b"{ "), (1, b"{")])
def test_a_draft_that_does_not_fit_the_rows_is_an_index_error(
    compiler: Compiler, row: int, draft: bytes
) -> None:
    masks = compiler.masks(2)

    with pytest.raises(IndexError):
        masks.fill_draft(row, at(compiler, ""), draft)

    assert len(masks.allowed(0)) == len(masks.allowed(1)) == compiler.tokenizer.vocab_size


def test_a_token_behind_the_end_is_refused_in_silence(
    compiler: Compiler, capfd: pytest.CaptureFixture[str]
) -> None:
    stop = compiler.tokenizer.stop_token_ids[0]
    matcher = at(compiler, WHOLE)
    masks = compiler.masks(4)

    assert masks.fill_draft(0, matcher, [stop, ord("x"), stop]) == 1
    assert matcher.accept_tokens([stop, stop]) == 1
    assert not matcher.accept_string("x")

    assert masks.allowed(1) == [stop]
    assert len(masks.allowed(2)) == compiler.tokenizer.vocab_size
    assert capfd.readouterr().err == ""  # xgrammar has a line for each


# Jumping forward --------------------------------------------------------------------------------


def test_forced_tokens_spell_the_forced_text_and_are_accepted() -> None:
    compiler = Compiler(small(), isolation="none")
    matcher = compiled(compiler, {"enum": ["true nullé"]}).matcher()
    whole = '"true nullé"'

    tokens = matcher.forced_tokens()

    spelt = compiler.tokenizer.decode(tokens).decode()
    assert whole.startswith(spelt)
    assert len(tokens) < len(spelt)  # the pieces are used, not only the bytes
    assert len(spelt) >= len(whole) - 2
    assert matcher.accept_tokens(tokens) == len(tokens)
    assert matcher.accept_string(whole[len(spelt) :])
    assert matcher.is_completed


def test_nothing_is_forced_where_there_is_a_choice_or_at_the_end(compiler: Compiler) -> None:
    assert at(compiler, '{"city":"').forced_tokens() == []
    assert ended(compiler).forced_tokens() == []
    assert at(compiler, WHOLE).forced_tokens() == []


# Applying --------------------------------------------------------------------------------------


def filled(compiler: Compiler) -> Masks:
    """Four rows: at the start, inside, without a constraint, complete."""
    masks = compiler.masks(4)
    for row, text in {0: "", 1: '{"city":"', 3: WHOLE}.items():
        matcher = compiled(compiler).matcher()
        assert matcher.accept_string(text)
        masks.fill(row, matcher)
    return masks


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_logits_of_tokens_that_are_not_allowed_become_minus_infinity(
    compiler: Compiler, dtype: Any
) -> None:
    masks = filled(compiler)
    logits = torch.randn(4, compiler.tokenizer.vocab_size).to(dtype)
    expected = by_hand(logits, masks)

    masks.apply_(logits)

    assert torch.equal(logits, expected)
    assert logits[2].isfinite().all()


def test_fewer_rows_of_logits_are_masked_by_the_first_rows(compiler: Compiler) -> None:
    masks = filled(compiler)
    logits = torch.randn(2, compiler.tokenizer.vocab_size)
    expected = by_hand(logits, masks)

    masks.apply_(logits)

    assert torch.equal(logits, expected)
    masks.apply_(torch.zeros(0, compiler.tokenizer.vocab_size))


def test_rows_of_a_wider_tensor_are_masked_and_the_rest_is_left(compiler: Compiler) -> None:
    size = compiler.tokenizer.vocab_size
    masks = filled(compiler)
    storage = torch.randn(8, size + 40)
    before = storage.clone()
    logits = storage[::2, 3 : size + 3]
    expected = by_hand(logits, masks)

    masks.apply_(logits)

    assert torch.equal(storage[::2, 3 : size + 3], expected)
    assert torch.equal(storage[1::2], before[1::2])
    assert torch.equal(storage[:, :3], before[:, :3])
    assert torch.equal(storage[:, size + 3 :], before[:, size + 3 :])


def test_without_a_constraint_nothing_is_touched(compiler: Compiler) -> None:
    masks = compiler.masks(2)
    logits = torch.randn(2, compiler.tokenizer.vocab_size)
    before = logits.clone()

    masks.apply_(logits)
    masks.fill(0, compiled(compiler).matcher())
    masks.clear(0)
    masks.apply_(logits)

    assert torch.equal(logits, before)


SHAPES = {
    "wider than the vocabulary": (lambda n: torch.zeros(2, n + 1), "vocab_size"),
    "as wide as the words of the mask": (lambda _: torch.zeros(2, 288), "vocab_size"),
    "narrower": (lambda n: torch.zeros(2, n - 1), "vocab_size"),
    "more rows": (lambda n: torch.zeros(3, n), "do not fit"),
    "one row without a batch": (torch.zeros, "do not fit"),
    "three dimensions": (lambda n: torch.zeros(1, 2, n), "do not fit"),
    "every second column": (lambda n: torch.zeros(2, 2 * n)[:, ::2], "strides"),
    "transposed": (lambda n: torch.zeros(n, 2).t(), "strides"),
    "one row seen twice": (lambda n: torch.zeros(1, n).expand(2, n), "strides"),
    "overlapping rows": (lambda n: torch.zeros(2 * n).as_strided((2, n), (5, 1)), "strides"),
    "on no device": (lambda n: torch.zeros(2, n, device="meta"), "meta"),
    "part of a graph": (lambda n: torch.zeros(2, n, requires_grad=True), "gradient"),
}


@pytest.mark.parametrize("name", SHAPES)
def test_logits_that_a_kernel_would_get_wrong_are_refused_untouched(name: str) -> None:
    make, message = SHAPES[name]
    compiler = byte_compiler()
    masks = compiler.masks(2)
    masks.fill(0, compiled(compiler).matcher())
    logits = make(257)

    with pytest.raises(ValueError, match=message):
        masks.apply_(logits)

    if logits.device.type == "cpu":
        assert not logits.isinf().any()


@pytest.mark.parametrize(
    "logits",
    [
        torch.zeros(1, 257, dtype=torch.float64),
        torch.zeros(1, 257, dtype=torch.int64),
        torch.zeros(1, 257).numpy(),
        [[0.0] * 257],
        None,
    ],
)
def test_logits_of_another_type_are_a_type_error(logits: Any) -> None:
    masks = byte_compiler().masks(1)

    with pytest.raises(TypeError, match="logits"):
        masks.apply_(logits)


def test_the_masks_are_contiguous_words_of_32_bits() -> None:
    masks = byte_compiler().masks(5)

    assert masks.bitmask.dtype == torch.int32
    assert tuple(masks.bitmask.shape) == (5, 9)
    assert masks.bitmask.is_contiguous()
    assert masks.bitmask.device.type == "cpu"


def test_a_thousand_steps_allocate_nothing_that_stays() -> None:
    compiler = byte_compiler()
    grammar = compiled(compiler, {"type": "array", "items": {"type": "integer"}})
    masks = compiler.masks(4)
    matchers = [grammar.matcher() for _ in range(4)]
    logits = torch.zeros(4, 257)
    address = masks.bitmask.data_ptr()

    def steps(count: int) -> None:
        for _ in range(count):
            for row, matcher in enumerate(matchers):
                masks.fill(row, matcher)
            masks.apply_(logits)
            masks.clear(0)

    steps(50)
    tracemalloc.start()
    steps(50)
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    steps(1000)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert masks.bitmask.data_ptr() == address
    assert after - before < 1000  # one byte a step would show
    assert peak - before < 20_000  # what a step makes, it drops


def test_a_real_vocabulary_is_masked_like_a_small_one() -> None:
    compiler = Compiler(qwen(), isolation="none")
    grammar = compiled(compiler)
    masks = compiler.masks(2)
    matcher = grammar.matcher()
    logits = torch.randn(2, compiler.tokenizer.vocab_size)
    output: list[int] = []
    steps = 0
    while not matcher.is_terminated:
        masks.fill(1, matcher)
        step = logits.clone()
        masks.apply_(step)
        assert torch.equal(step[0], logits[0])
        token = int(step[1].argmax())
        assert matcher.accept_token(token)
        output.append(token)
        steps += 1
        assert steps < 300
        logits = torch.randn(2, compiler.tokenizer.vocab_size)

    text = compiler.tokenizer.decode(output)
    assert grammar.accepts(text)
    assert output[-1] in compiler.tokenizer.stop_token_ids


# CUDA ------------------------------------------------------------------------------------------

needs_cuda = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")


@pytest.mark.gpu
@needs_cuda
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_cuda_masks_bit_for_bit_like_the_cpu(compiler: Compiler, dtype: Any) -> None:
    masks = filled(compiler)
    for rows in (4, 3, 1):
        on_cpu = torch.randn(rows, compiler.tokenizer.vocab_size).to(dtype)
        on_cuda = on_cpu.to("cuda")

        masks.apply_(on_cpu)
        masks.apply_(on_cuda)

        assert torch.equal(on_cuda.cpu(), on_cpu)


@pytest.mark.gpu
@needs_cuda
def test_a_batch_of_a_real_vocabulary_is_masked_on_cuda_bit_for_bit_like_on_the_cpu() -> None:
    compiler = Compiler(qwen(), isolation="none")
    grammar = compiled(compiler)
    masks = compiler.masks(64)
    matchers: list[Matcher | None] = [grammar.matcher() for _ in range(64)]
    for row, matcher in enumerate(matchers):
        assert matcher is not None
        assert matcher.accept_string(WHOLE[: row % len(WHOLE)])
    matchers[5] = None
    for _ in range(3):
        on_cpu = torch.randn(64, compiler.tokenizer.vocab_size)
        on_cuda = on_cpu.to("cuda")

        masks.fill_batch(matchers)
        masks.apply_(on_cuda)
        masks.apply_(on_cpu)

        assert torch.equal(on_cuda.cpu(), on_cpu)


@pytest.mark.gpu
@needs_cuda
def test_cuda_steps_reuse_one_pinned_and_one_device_buffer() -> None:
    compiler = byte_compiler()
    masks = compiler.masks(2)
    grammar = compiled(compiler, {"type": "array", "items": {"type": "integer"}})
    logits = torch.zeros(2, 257, device="cuda")
    masks.fill(0, grammar.matcher())
    masks.apply_(logits)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()

    for _ in range(1000):
        masks.fill_batch([grammar.matcher(), None])
        masks.apply_(logits)
    torch.cuda.synchronize()

    assert masks.bitmask.is_pinned()
    assert torch.cuda.memory_allocated() == before


@pytest.mark.gpu
@needs_cuda
def test_filling_again_does_not_change_a_mask_that_is_still_being_copied() -> None:
    compiler = byte_compiler()
    masks = compiler.masks(1)
    start = compiled(compiler).matcher()
    inside = compiled(compiler).matcher()
    assert inside.accept_string('{"city":"')
    busy = torch.randn(4096, 4096, device="cuda")
    for _ in range(20):
        logits = torch.zeros(1, 257, device="cuda")
        masks.fill(0, start)
        busy = (busy @ busy).clamp(-1, 1)  # keeps the stream busy before the copy starts
        masks.apply_(logits)
        masks.fill(0, inside)

        assert logits.isfinite().sum().item() == 1
