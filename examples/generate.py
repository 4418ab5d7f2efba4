"""`generate()` of transformers under masks, with a small model of random weights.

    python examples/generate.py

With a model of yours, the tokenizer is `Tokenizer.from_huggingface(tokenizer, vocab_size=...)`,
where `vocab_size` is the width of the model's logits (`model.config.vocab_size`).
"""

from __future__ import annotations

import torch
from transformers import LlamaConfig, LlamaForCausalLM

from schemaguard import check
from schemaguard.grammar import Compiler, Tokenizer
from schemaguard.grammar.hf import GuardLogitsProcessor

BOOKING = {
    "type": "object",
    "properties": {
        "room": {"enum": ["blue", "green"]},
        "guests": {"type": "integer", "minimum": 1, "maximum": 8},
        "breakfast": {"type": "boolean"},
    },
    "required": ["room", "guests", "breakfast"],
    "additionalProperties": False,
}


def main() -> None:
    """Write three bookings."""
    torch.manual_seed(3)
    tokenizer = Tokenizer.byte_level()
    config = LlamaConfig(
        vocab_size=tokenizer.vocab_size,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        bos_token_id=None,
        eos_token_id=None,
    )
    model = LlamaForCausalLM(config).eval()
    report = check(BOOKING, profile="xgrammar")
    report.raise_if_rejected()

    with Compiler(tokenizer) as compiler:
        compiled = compiler.compile(report.accepted)
    guard = GuardLogitsProcessor(compiled)
    prompt = torch.tensor([list(b"Book a room: ")])
    sequences = model.generate(
        prompt,
        attention_mask=torch.ones_like(prompt),
        logits_processor=[guard],
        eos_token_id=guard.stop_token_ids,
        pad_token_id=guard.stop_token_ids[0],
        do_sample=True,
        num_return_sequences=3,
        max_new_tokens=200,
    )
    for sequence in sequences:
        text = tokenizer.decode(sequence[prompt.shape[1] :].tolist())
        print(" ".join(text.decode().split()))


if __name__ == "__main__":
    main()
