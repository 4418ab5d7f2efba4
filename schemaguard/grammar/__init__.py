"""From accepted schemas to token masks: the only package that imports xgrammar.

::

    from schemaguard import check
    from schemaguard.grammar import Compiler, Tokenizer

    compiler = Compiler(Tokenizer.byte_level())
    compiled = compiler.compile(check(schema).accepted)
    matcher = compiled.matcher()
    masks = compiler.masks(batch_size=1)
    masks.fill(0, matcher)
    masks.apply_(logits)

Importing this package does not import xgrammar; using it does, and `MissingExtra` says what to
install when it is not there.
"""

from __future__ import annotations

from schemaguard.grammar.compiled import Compiled, CompiledSchema, CompiledTag, CompileStats
from schemaguard.grammar.compiler import Compiler
from schemaguard.grammar.masks import DeadEnd, Masks
from schemaguard.grammar.matcher import Matcher
from schemaguard.grammar.tokenizers import Tokenizer, TokenizerError

__all__ = [
    "CompileStats",
    "Compiled",
    "CompiledSchema",
    "CompiledTag",
    "Compiler",
    "DeadEnd",
    "Masks",
    "Matcher",
    "Tokenizer",
    "TokenizerError",
]
