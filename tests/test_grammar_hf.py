from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from instances import validator
from vocabulary import small

import schemaguard
from schemaguard.grammar import Compiler, DeadEnd, Tokenizer
from schemaguard.grammar.compiled import Compiled

if TYPE_CHECKING:
    from schemaguard.grammar import CompiledSchema

xgrammar = pytest.importorskip("xgrammar")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from schemaguard.grammar.hf import GuardLogitsProcessor  # noqa: E402 - imports transformers

CALL = {
    "type": "object",
    "properties": {
        "days": {"type": "integer", "minimum": 1, "maximum": 14},
        "units": {"enum": ["metric", "é"]},
        "tags": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
    },
    "required": ["days", "units", "tags"],
    "additionalProperties": False,
}
CHOICE = {"enum": ["yes", "no", "perhaps"]}

STOP = 268
PAD = 267  # a control token: no bytes
WIDTH = 288  # of the model's logits, padded beyond the 269 tokens


@cache
def compiler() -> Compiler:
    return Compiler(small(), isolation="none")


def compiled(schema: Any) -> CompiledSchema:
    accepted = schemaguard.check(schema, profile="xgrammar").accepted
    assert accepted is not None
    return compiler().compile(accepted)


@cache
def model(width: int = WIDTH) -> Any:
    torch.set_num_threads(1)
    torch.manual_seed(11)
    config = transformers.LlamaConfig(
        vocab_size=width,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=1024,
        initializer_range=1.0,
        bos_token_id=None,
        eos_token_id=STOP,
        pad_token_id=PAD,
    )
    return transformers.LlamaForCausalLM(config).eval()


def prompts(count: int) -> dict[str, Any]:
    """Prompts of different lengths, padded on the left."""
    texts = [f"prompt {'!' * (3 * number)}".encode() for number in range(count)]
    longest = max(map(len, texts))
    ids = [[PAD] * (longest - len(text)) + list(text) for text in texts]
    return {
        "input_ids": torch.tensor(ids),
        "attention_mask": torch.tensor([[int(token != PAD) for token in row] for row in ids]),
    }


def generate(guard: Any, inputs: dict[str, Any], seed: int = 0, **options: Any) -> list[bytes]:
    """What the model writes behind each prompt, without stop tokens and padding."""
    torch.manual_seed(seed)
    options = {"max_new_tokens": 120, "do_sample": True, **options}
    processors = [] if guard is None else [guard]
    sequences = model().generate(
        **inputs, logits_processor=processors, pad_token_id=PAD, eos_token_id=STOP, **options
    )
    start = inputs["input_ids"].shape[1]
    kept = [[t for t in row[start:].tolist() if t < 269] for row in sequences]
    return [compiler().tokenizer.decode(row) for row in kept]


# generate() -------------------------------------------------------------------------------------


def test_sampled_outputs_of_left_padded_prompts_are_valid_instances() -> None:
    oracle = validator(CALL)
    grammar = compiled(CALL)
    seen = set()
    for seed in range(5):
        outputs = generate(GuardLogitsProcessor(grammar), prompts(4), seed)
        assert len(outputs) == 4
        for output in outputs:
            assert oracle.is_valid(json.loads(output)), output
            seen.add(output)

    assert len(seen) > 10
    free = generate(None, prompts(4))
    assert not any(grammar.accepts(output) for output in free)


def test_greedy_outputs_are_valid_and_the_same_again_after_a_reset() -> None:
    guard = GuardLogitsProcessor(compiled(CALL))
    first = generate(guard, prompts(3), do_sample=False)

    guard.reset()

    assert generate(guard, prompts(3), do_sample=False) == first
    for output in first:
        assert compiled(CALL).accepts(output)


def test_another_generate_without_a_reset_is_an_error_that_says_so() -> None:
    for again in (prompts(3), prompts(2)):
        guard = GuardLogitsProcessor(compiled(CHOICE))
        generate(guard, prompts(2), do_sample=False)
        with pytest.raises(ValueError, match=r"reset\(\)"):
            generate(guard, again)


def test_each_prompt_has_its_own_schema_or_none() -> None:
    guard = GuardLogitsProcessor([compiled(CALL), None, compiled(CHOICE)])

    call, free, choice = generate(guard, prompts(3), max_new_tokens=60)

    assert validator(CALL).is_valid(json.loads(call))
    assert json.loads(choice) in CHOICE["enum"]
    assert not compiled(CALL).accepts(free)
    assert not compiled(CHOICE).accepts(free)


def test_sequences_of_one_prompt_share_its_schema() -> None:
    guard = GuardLogitsProcessor([compiled(CALL), compiled(CHOICE)])

    outputs = generate(guard, prompts(2), num_return_sequences=3)

    assert len(outputs) == 6
    for output in outputs[:3]:
        assert validator(CALL).is_valid(json.loads(output))
    for output in outputs[3:]:
        assert json.loads(output) in CHOICE["enum"]


def test_rows_that_ended_do_not_disturb_the_others() -> None:
    guard = GuardLogitsProcessor([compiled({"enum": [1]}), compiled(CALL)])

    short, long = generate(guard, prompts(2))

    assert short == b"1"
    assert validator(CALL).is_valid(json.loads(long))


def test_a_row_ended_by_another_criterion_is_left_alone() -> None:
    class FirstRowAfter3(transformers.StoppingCriteria):
        def __call__(self, input_ids: Any, _scores: Any, **_: Any) -> Any:
            done = torch.zeros(input_ids.shape[0], dtype=torch.bool)
            done[0] = input_ids.shape[1] >= prompts(2)["input_ids"].shape[1] + 3
            return done

    guard = GuardLogitsProcessor(compiled(CALL))

    cut, whole = generate(guard, prompts(2), stopping_criteria=[FirstRowAfter3()])

    assert 3 <= len(cut) < len(whole)
    assert not compiled(CALL).accepts(cut)
    assert validator(CALL).is_valid(json.loads(whole))


@pytest.mark.parametrize("options", [{}, {"num_return_sequences": 2}, {"length_penalty": -1.0}])
def test_beam_search_gives_valid_instances(options: dict[str, Any]) -> None:
    # Few continuations at many steps: beams without a chance come along.
    guard = GuardLogitsProcessor([compiled(CALL), compiled(CHOICE)], branching=True)

    outputs = generate(guard, prompts(2), do_sample=False, num_beams=4, **options)

    half = len(outputs) // 2
    for output in outputs[:half]:
        assert validator(CALL).is_valid(json.loads(output)), output
    for output in outputs[half:]:
        assert json.loads(output) in CHOICE["enum"], output


def test_beam_search_finds_what_scoring_every_instance_finds() -> None:
    inputs = prompts(1)
    guard = GuardLogitsProcessor(compiled({"enum": [0, 1, 2, 3, 4, 5, 6, 7]}), branching=True)

    (found,) = generate(
        guard, inputs, do_sample=False, num_beams=8, length_penalty=0.0, early_stopping=False
    )

    def score(digit: int) -> float:
        ids = torch.tensor([[*inputs["input_ids"][0].tolist(), ord(str(digit)), STOP]])
        with torch.no_grad():
            logprobs = torch.log_softmax(model()(ids).logits[0], dim=-1)
        return float(logprobs[-3, ids[0, -2]] + logprobs[-2, ids[0, -1]])

    assert int(found) == max(range(8), key=score)


def test_beam_search_without_branching_is_refused() -> None:
    guard = GuardLogitsProcessor(compiled(CALL))

    with pytest.raises(ValueError, match="branching=True"):
        generate(guard, prompts(1), do_sample=False, num_beams=4)


def test_assisted_decoding_gives_what_greedy_decoding_gives() -> None:
    inputs = prompts(1)
    plain = generate(GuardLogitsProcessor(compiled(CALL)), inputs, do_sample=False)

    guard = GuardLogitsProcessor(compiled(CALL), branching=True)

    assert generate(guard, inputs, do_sample=False, prompt_lookup_num_tokens=3) == plain


def test_a_tag_of_tools_is_taken_like_a_schema() -> None:
    from schemaguard.grammar import tags

    function = {"name": "book", "parameters": CALL, "strict": True}
    plan = tags.plan(
        {
            "model": "m",
            "messages": [{"role": "user", "content": "?"}],
            "tools": [{"type": "function", "function": function}],
            "tool_choice": "required",
            "parallel_tool_calls": False,
        },
        parser="llama",
    )
    guard = GuardLogitsProcessor(compiler().compile_tag(plan))

    outputs = generate(guard, prompts(2), max_new_tokens=200)

    for output in outputs:
        call = json.loads(output)
        assert call.pop("name") == "book"
        assert validator(CALL).is_valid(call.pop("parameters"))
        assert call == {}


# Called by hand ---------------------------------------------------------------------------------


def test_scores_are_not_changed_in_place_and_columns_beyond_the_vocabulary_are_ruled_out() -> None:
    guard = GuardLogitsProcessor([compiled(CHOICE), None])
    scores = torch.zeros(2, WIDTH)

    masked = guard(torch.tensor([[1, 2], [1, 2]]), scores)

    assert scores.isfinite().all()
    assert masked[0].isfinite().nonzero().flatten().tolist() == [ord('"')]
    assert masked[1].isfinite().all()


def test_scores_narrower_than_the_vocabulary_are_an_error_that_says_what_to_do() -> None:
    guard = GuardLogitsProcessor(compiled(CHOICE))

    with pytest.raises(ValueError, match="vocab_size"):
        guard(torch.tensor([[1]]), torch.zeros(1, 268))


def test_a_token_that_the_mask_ruled_out_is_an_error() -> None:
    guard = GuardLogitsProcessor(compiled(CHOICE))
    guard(torch.tensor([[7], [7]]), torch.zeros(2, WIDTH))

    with pytest.raises(ValueError, match=r"row 1: .* token 120"):
        guard(torch.tensor([[7, ord('"')], [7, ord("x")]]), torch.zeros(2, WIDTH))


def test_branching_follows_sequences_that_swap_shrink_and_part() -> None:
    guard = GuardLogitsProcessor(compiled(CALL), branching=True)

    def allowed(*texts: str) -> list[list[int]]:
        ids = torch.tensor([[7, *text.encode()] for text in texts])
        masked = guard(ids, torch.zeros(len(texts), WIDTH))
        return [row.isfinite().nonzero().flatten().tolist() for row in masked]

    def afresh(text: str) -> list[int]:
        matcher = compiled(CALL).matcher()
        assert matcher.accept_string(text)
        masks = compiler().masks(1)
        masks.fill(0, matcher)
        return masks.allowed(0)

    for step in (
        ("", ""),
        ("{", "{"),
        ('{"', "{ "),
        ('{ "', '{"d'),  # swapped
        ('{"da', '{"da'),  # both from one
        ('{"day', '{"day'),
        ('{"days', '{"days'),
        ('{"days"', '{"days"'),
        ('{"days":', '{"days" '),
        ('{"days":1', '{"days":7'),
        ('{"days":12', '{"days":7,'),
        ("{ ", '{"'),  # back
        ('{ "', '{"d'),
    ):
        assert allowed(*step) == [afresh(text) for text in step], step


def test_branching_goes_on_behind_a_token_that_was_ruled_out_and_comes_back_from_it() -> None:
    guard = GuardLogitsProcessor(compiled(CHOICE), branching=True)

    def bound(text: str) -> bool:
        masked = guard(torch.tensor([[7, *text.encode()]]), torch.zeros(1, WIDTH))
        return not bool(masked[0, :269].isfinite().all())

    assert [bound(text) for text in ("", '"', '"x', '"xe', '"xes', '"y', '"ye')] == [
        *(True, True),
        *(False, False, False),  # no chance, but no reason to stop the others
        *(True, True),
    ]


def test_a_dead_end_is_raised_before_it_is_nan() -> None:
    dead = compiler().engine.compile_grammar('root ::= "a" [^\\x00-\\U0010ffff]')
    grammar = Compiled(dead, compiled(CHOICE).stats, compiler().tokenizer)
    guard = GuardLogitsProcessor([None, grammar])
    guard(torch.tensor([[1], [2]]), torch.zeros(2, WIDTH))

    with pytest.raises(DeadEnd, match="row 1"):
        guard(torch.tensor([[1, 97], [2, 97]]), torch.zeros(2, WIDTH))


# Arguments --------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3])
def test_rows_that_do_not_go_with_the_schemas_are_an_error(count: int) -> None:
    guard = GuardLogitsProcessor([compiled(CALL), compiled(CHOICE)])

    with pytest.raises(ValueError, match="2 prompts"):
        guard(torch.zeros(count, 4, dtype=torch.long), torch.zeros(count, WIDTH))


def test_more_prompts_than_schemas_are_not_given_their_neighbours_schema() -> None:
    guard = GuardLogitsProcessor([compiled(CALL), compiled(CHOICE)])

    with pytest.raises(ValueError, match="more than 2 prompts"):
        guard(prompts(4)["input_ids"], torch.zeros(4, WIDTH))


def test_only_compiled_schemas_of_one_tokenizer_are_taken() -> None:
    for wrong in ([CALL], [compiled(CALL).matcher()], "schema", [compiled(CALL).accepted]):
        with pytest.raises(TypeError, match="compiled schema"):
            GuardLogitsProcessor(wrong)  # type: ignore[arg-type]
    for empty in ([], [None, None]):
        with pytest.raises(ValueError, match="no prompt"):
            GuardLogitsProcessor(empty)
    accepted = schemaguard.check(CALL).accepted
    assert accepted is not None
    other = Compiler(Tokenizer.byte_level(), isolation="none").compile(accepted)
    with pytest.raises(ValueError, match="different tokenizers"):
        GuardLogitsProcessor([compiled(CALL), other])


def test_it_says_which_tokens_end_an_output() -> None:
    assert GuardLogitsProcessor(compiled(CALL)).stop_token_ids == [STOP]


def test_transformers_is_imported_for_the_processor_alone() -> None:
    code = """
import sys
import schemaguard.grammar
assert "transformers" not in sys.modules
sys.modules["transformers"] = None
try:
    import schemaguard.grammar.hf
except ImportError as error:
    print(type(error).__name__, "pip install" in str(error))
"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert out.stdout.split() == ["MissingExtra", "True"]


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_scores_on_cuda_are_masked_like_those_on_the_cpu() -> None:
    ids = torch.tensor([[7, *b'{"days":'], [7, *b'{"days" ']])
    scores = torch.randn(2, WIDTH)
    masked = []
    for device in ("cpu", "cuda"):
        guard = GuardLogitsProcessor(compiled(CALL))
        for length in range(1, ids.shape[1] + 1):
            last = guard(ids[:, :length].to(device), scores.to(device))
        masked.append(last.cpu())

    assert torch.equal(*masked)
