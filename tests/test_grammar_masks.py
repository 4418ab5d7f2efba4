from __future__ import annotations

import json
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
    return Compiler(Tokenizer.byte_level() if request.param == "byte-level" else small())


def compiled(compiler: Compiler, schema: Any = CALL) -> CompiledSchema:
    accepted = schemaguard.check(schema, profile="xgrammar").accepted
    assert accepted is not None
    return compiler.compile(accepted)


def dead_end(compiler: Compiler) -> Matcher:
    """A matcher after `a`, which the grammar lets nothing follow."""
    xgrammar = pytest.importorskip("xgrammar")
    grammar = compiler.engine.compile_grammar('root ::= "a" [^\\x00-\\U0010ffff]')
    matcher = Matcher(xgrammar.GrammarMatcher(grammar), compiler.tokenizer)
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
    compiler = Compiler(tokenizer)
    masks = compiler.masks(1)
    xgrammar = pytest.importorskip("xgrammar")
    grammar = compiler.engine.compile_grammar("root ::= [ -~]*")
    masks.fill(0, compiled(compiler).matcher())

    masks.fill(0, Matcher(xgrammar.GrammarMatcher(grammar), tokenizer))

    assert masks.allowed(0) == list(range(94))


def test_after_the_end_a_row_allows_the_stop_tokens_alone() -> None:
    tokens = [bytes((value,)) for value in range(256)]
    tokenizer = Tokenizer(tokens, kind="two stops", stop_token_ids=[256, 290], vocab_size=300)
    compiler = Compiler(tokenizer)
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
    masks = Compiler(Tokenizer.byte_level()).masks(1)  # 257 tokens, 288 bits
    masks.bitmask.zero_()
    masks.bitmask[0, 8] = ~1

    assert not masks._allows_something(0)
    masks.bitmask[0, 8] = 1
    assert masks._allows_something(0)
    masks.bitmask[0, 8] = 0
    masks.bitmask[0, 7] = -(1 << 31)
    assert masks._allows_something(0)


@pytest.mark.parametrize("row", [-1, 2, 10**30])
def test_a_row_outside_the_batch_is_an_index_error(row: int) -> None:
    compiler = Compiler(Tokenizer.byte_level())
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
    masks = Compiler(Tokenizer.byte_level()).masks(2)

    with pytest.raises(TypeError, match="integer"):
        masks.clear(row)


def test_matchers_of_another_tokenizer_are_refused() -> None:
    # The same size and another meaning: xgrammar itself cannot tell.
    tokens = [bytes((value,)) for value in reversed(range(256))]
    other = Compiler(Tokenizer(tokens, kind="reversed", stop_token_ids=[256], vocab_size=257))
    masks = Compiler(Tokenizer.byte_level()).masks(1)

    with pytest.raises(ValueError, match="another tokenizer"):
        masks.fill(0, compiled(other).matcher())


def test_only_a_matcher_of_this_package_fills_a_row() -> None:
    compiler = Compiler(Tokenizer.byte_level())
    matcher = compiled(compiler).matcher()

    with pytest.raises(TypeError, match="GrammarMatcher"):
        compiler.masks(1).fill(0, matcher.engine)


@pytest.mark.parametrize("size", [0, -1, 1.0, True, "2", None])
def test_a_batch_has_at_least_one_row(size: Any) -> None:
    with pytest.raises(ValueError, match="batch_size"):
        Compiler(Tokenizer.byte_level()).masks(size)


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
    compiler = Compiler(Tokenizer.byte_level())
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
    masks = Compiler(Tokenizer.byte_level()).masks(1)

    with pytest.raises(TypeError, match="logits"):
        masks.apply_(logits)


def test_the_masks_are_contiguous_words_of_32_bits() -> None:
    masks = Compiler(Tokenizer.byte_level()).masks(5)

    assert masks.bitmask.dtype == torch.int32
    assert tuple(masks.bitmask.shape) == (5, 9)
    assert masks.bitmask.is_contiguous()
    assert masks.bitmask.device.type == "cpu"


def test_a_thousand_steps_allocate_nothing_that_stays() -> None:
    compiler = Compiler(Tokenizer.byte_level())
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
    compiler = Compiler(qwen())
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
def test_cuda_steps_reuse_one_pinned_and_one_device_buffer() -> None:
    compiler = Compiler(Tokenizer.byte_level())
    masks = compiler.masks(2)
    grammar = compiled(compiler, {"type": "array", "items": {"type": "integer"}})
    logits = torch.zeros(2, 257, device="cuda")
    masks.fill(0, grammar.matcher())
    masks.apply_(logits)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()

    for _ in range(1000):
        masks.fill(0, grammar.matcher())
        masks.apply_(logits)
    torch.cuda.synchronize()

    assert masks.bitmask.is_pinned()
    assert torch.cuda.memory_allocated() == before


@pytest.mark.gpu
@needs_cuda
def test_filling_again_does_not_change_a_mask_that_is_still_being_copied() -> None:
    compiler = Compiler(Tokenizer.byte_level())
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
