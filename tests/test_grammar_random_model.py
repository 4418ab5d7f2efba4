"""A model that knows nothing writes valid calls under the masks, and none without them.

A small transformer with random weights over the vocabulary of Qwen is sampled under the structural
tag of each style, once for each of 50 tools. What it writes is read by parsers that know nothing of
grammars, and validated by jsonschema. The schemas bound most lengths; free text is closed by force
after some tokens, as an engine does whose budget runs out.
"""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from call_parsers import STYLES, read
from instances import validator
from vocabulary import QWEN_WIDTH, qwen

from schemaguard.grammar import Compiler

if TYPE_CHECKING:
    from schemaguard.grammar import Matcher
    from schemaguard.grammar.tags import TagPlan

pytest.importorskip("xgrammar")
torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from schemaguard.grammar import tags  # noqa: E402 - needs xgrammar

CONTEXT = 48  # tokens that the model sees
CLOSE_AFTER = 24  # sampled tokens, after which open text is closed
MOST_TOKENS = 120  # sampled, after which an output counts as cut off

VERBS = ("find", "make", "move", "close", "list", "send", "price", "check", "merge", "watch")
NOUNS = ("order", "ticket", "invoice", "route", "sensor")

# What arguments look like: bounded, apart from `note`.
KINDS: dict[str, dict[str, Any]] = {
    "status": {"enum": ["open", "closed", "on hold"]},
    "count": {"type": "integer", "minimum": 1, "maximum": 250},
    "urgent": {"type": "boolean"},
    "share": {"type": "number", "minimum": 0, "maximum": 100},
    "code": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{1,4}$"},
    "levels": {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}},
    "labels": {"type": "array", "items": {"enum": ["red", "grün", "b l u e"]}, "maxItems": 3},
    "place": {
        "type": "object",
        "properties": {
            "city": {"enum": ["Oslo", "München"]},
            "floor": {"type": "integer", "minimum": -2, "maximum": 40},
        },
        "required": ["city", "floor"],
        "additionalProperties": False,
    },
    "limit": {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"type": "null"}]},
    "note": {"type": "string"},
}
KINDS["levels"]["maxItems"] = 4


def tool(number: int, name: str) -> dict[str, Any]:
    """A tool with one to four arguments, of which the last may be left out."""
    count = 1 + number % 4
    kinds = list(KINDS)
    chosen = {kinds[(number * 3 + i * 7) % len(kinds)]: None for i in range(count)}
    parameters = {
        "type": "object",
        "properties": {kind: KINDS[kind] for kind in chosen},
        "required": list(chosen)[: max(1, len(chosen) - number % 2)],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


NAMES = [f"{verb}_{noun}" for verb, noun in itertools.product(VERBS, NOUNS)]
TOOLS = [tool(number, name) for number, name in enumerate(NAMES)]
SCHEMAS = {t["function"]["name"]: t["function"]["parameters"] for t in TOOLS}
REQUEST = {
    "model": "random",
    "messages": [{"role": "user", "content": "?"}],
    "tools": TOOLS,
    "tool_choice": "required",
    "parallel_tool_calls": False,
}

# What ends free text, by style; JSON's quote where it is not here.
_PARAMETER = "</parameter>"
_DSML = "</｜DSML｜parameter>"
CLOSERS = {
    "qwen_3_5": (f"\n{_PARAMETER}",),
    "qwen_3_coder": (f"\n{_PARAMETER}",),
    "mimo": (_PARAMETER,),
    "minimax": (_PARAMETER,),
    "deepseek_v3_2": (_DSML,),
    "deepseek_v4": (_DSML,),
    "deepseek_v4_1": (_DSML.replace("parameter", " parameter"),),
    "glm_4_7": ("</arg_value>",),
    "kimi_k3": ("<|close|>argument<|sep|>", "<|close|>response<|sep|>"),
    "cohere": ("</cofl:value>",),
    "gemma_4": ('<|"|>',),
    "minimax_m3": ("]<]minimax[>[</note>", "]<]minimax[>[</code>"),
}


@cache
def model() -> Any:
    torch.set_num_threads(1)
    torch.manual_seed(7)
    config = transformers.LlamaConfig(
        vocab_size=QWEN_WIDTH,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        initializer_range=0.5,
        bos_token_id=None,
        eos_token_id=None,
    )
    return transformers.LlamaForCausalLM(config).eval()


@cache
def compiler() -> Compiler:
    return Compiler(qwen(), isolation="none")


@cache
def bytes_to_ids() -> dict[int, int]:
    return {qwen().token_bytes(token)[0]: token for token in range(256)}


def spell(text: str) -> list[int]:
    """A text in tokens of one byte."""
    return [bytes_to_ids()[byte] for byte in text.encode()]


def logits(contexts: list[list[int]]) -> Any:
    """Of the next token behind each context; shorter ones are padded on the left."""
    cut = [tokens[-CONTEXT:] for tokens in contexts]
    longest = max(map(len, cut))
    ids = torch.tensor([[0] * (longest - len(tokens)) + tokens for tokens in cut])
    seen = torch.tensor([[0] * (longest - len(tokens)) + [1] * len(tokens) for tokens in cut])
    with torch.no_grad():
        hidden = model().model(input_ids=ids, attention_mask=seen).last_hidden_state[:, -1]
        return model().lm_head(hidden)


def sample(scores: Any) -> list[int]:
    """One token a row, with the probabilities of the softmax over what is not ruled out."""
    tokens = []
    for row in scores:
        possible = row.isfinite().nonzero().flatten()
        chances = torch.softmax(row[possible], dim=0)
        tokens.append(int(possible[int(torch.multinomial(chances, 1))]))
    return tokens


class Writer:
    """One output of the model."""

    def __init__(self, matcher: Matcher, prompt: str, head: str, name: str | None) -> None:
        self.matcher = matcher
        self.context = spell(prompt)
        self.tokens: list[int] = []
        self.sampled = 0
        if name is not None:
            assert self.take(spell((head or matcher.forced_text()) + name))
        self.jump()

    def take(self, tokens: list[int]) -> bool:
        """Append tokens if all of them are allowed."""
        taken = self.matcher.accept_tokens(tokens)
        if taken < len(tokens):
            self.matcher.rollback(taken)
            return False
        self.tokens += tokens
        self.context += tokens
        return True

    def jump(self) -> None:
        while forced := self.matcher.forced_tokens():
            assert self.take(forced)

    def close(self, closers: tuple[str, ...]) -> bool:
        """End free text where the budget for it is spent."""
        return self.sampled >= CLOSE_AFTER and any(self.take(spell(text)) for text in closers)

    @property
    def is_over(self) -> bool:
        return self.matcher.is_terminated or self.sampled >= MOST_TOKENS


def write(plan: TagPlan, style: str, names: list[str | None]) -> list[Writer]:
    """Sample one output for each name of a tool, all in one batch."""
    tag = compiler().compile_tag(plan)
    masks = compiler().masks(len(names))
    closers = CLOSERS.get(style, ('"',))
    stop = compiler().tokenizer.stop_token_ids
    writers = [
        Writer(
            tag.matcher(f"{style} {number}"),
            f"Call a tool ({number}): ",
            HEADS.get(style, ""),
            name,
        )
        for number, name in enumerate(names)
    ]
    running = writers
    while running := [writer for writer in running if not writer.is_over]:
        for writer in running:
            if writer.close(closers):
                writer.jump()
        scores = logits([writer.context for writer in running])
        masks.fill_batch([writer.matcher for writer in running])
        masks.apply_(scores)
        for writer, token in zip(running, sample(scores), strict=True):
            assert writer.take([token])
            writer.sampled += 1
            if token not in stop:
                writer.jump()
    return writers


# How a call begins, up to the name, where the tag leaves a choice; elsewhere there is only one way.
HEADS = {
    "harmony": "<|channel|>commentary to=functions.",
    "kimi_k3": '<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="',
    "cohere": '<cofl:tool_calls><cofl:tool_call id="1" name="',
}

# xgrammar makes the calls of this style optional, also where one is required.
MAY_BE_EMPTY = {"harmony"}
# xgrammar lets any type stand at a value of this style whose schema is a union.
ANY_TYPE_AT_UNIONS = {"kimi_k3"}


def verdict(style: str, text: str, *, strip: bool = True) -> tuple[str | None, str | None]:
    """Which tool an output calls, and what is wrong with it; None when nothing is."""
    try:
        name, arguments = read(style, text, SCHEMAS, strip=strip)
    except ValueError as error:
        return None, str(error)
    faults = [error.message for error in validator(SCHEMAS[name]).iter_errors(arguments)]
    return name, faults[0] if faults else None


@cache
def unmasked() -> list[str]:
    """What the same model writes without masks."""
    contexts = [spell(f"Call a tool ({number}): ") for number in range(len(TOOLS))]
    starts = [len(context) for context in contexts]
    for _ in range(40):
        for context, token in zip(contexts, sample(logits(contexts)), strict=True):
            context.append(token)
    pieces = [context[start:] for context, start in zip(contexts, starts, strict=True)]
    return [qwen().decode(tokens).decode("utf-8", "replace") for tokens in pieces]


def test_the_table_of_styles_is_whole() -> None:
    assert set(STYLES) == set(tags.STYLES)


@pytest.mark.slow
@pytest.mark.parametrize("style", sorted(STYLES))
def test_every_call_of_a_random_model_parses_and_validates(style: str) -> None:
    plan = tags.plan(REQUEST, parser=style)
    assert len(plan.tools) == 50
    loose = {tool.name for tool in plan.tools if tool.state != tags.PINNED or tool.loosened}
    if style in ANY_TYPE_AT_UNIONS:
        loose |= {name for name, schema in SCHEMAS.items() if "limit" in schema["properties"]}
    torch.manual_seed(sum(style.encode()))

    # One output begins with each tool's name; in the others the model chooses the tool.
    writers = write(plan, style, [*NAMES, *[None] * 6])

    valid: set[str] = set()  # names
    wrong, cut = [], []
    count = dict.fromkeys(("valid", "padded", "loose", "empty", "garbled"), 0)
    for writer in writers:
        # Free text of some styles is any bytes to xgrammar; a server decodes it like this.
        text = qwen().decode(writer.tokens).decode("utf-8", "replace")
        count["garbled"] += "\ufffd" in text
        name, fault = verdict(style, text)
        if not writer.matcher.is_terminated:
            cut.append(text)
        elif name is not None and fault is None:
            valid.add(name)
            count["valid"] += 1
            # xgrammar lets white space stand around a string without quotes.
            count["padded"] += verdict(style, text, strip=False)[1] is not None
        elif name in loose:
            count["loose"] += 1
        elif not text and style in MAY_BE_EMPTY:
            count["empty"] += 1
        else:
            wrong.append((name, fault, text))
    free = sum(verdict(style, text)[1] is None for text in unmasked())
    print(
        f"{style}: of {len(writers)} outputs {count['valid']} are valid calls, of {len(valid)} "
        f"tools, {count['padded']} of them after white space is taken off strings, "
        f"{count['loose']} miss what is known not to be enforced, {count['empty']} are empty, "
        f"{len(cut)} were cut off, {count['garbled']} are no UTF-8; without masks {free} of "
        f"{len(unmasked())}; {sum(w.sampled for w in writers)} tokens were sampled"
    )
    assert not wrong, wrong[:3]
    assert free == 0
    assert len(cut) <= 2, cut
    assert len(valid - loose) >= 50 - len(loose) - 2
    assert count["empty"] <= 3
