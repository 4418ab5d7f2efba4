"""The way of a text through a grammar, token by token: what the mask allowed, and where it ended.

Tokens are those of the audit's vocabulary: a byte each, and the end of the text.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from schemaguard.grammar.audit.result import TokenPath
from schemaguard.grammar.audit.stepping import END

if TYPE_CHECKING:
    from schemaguard.grammar.audit.engines import Grammar

#: Tokens of a path that are kept: the first ones, and those that lead to where it ends.
FIRST = 80
LAST = 40

#: Tokens that are named of those that were allowed where one was refused.
NAMED = 12

#: Different texts of one audit that are followed, and bytes of them; after that there are no paths.
MAX_PATHS = 400
MAX_BYTES = 400_000


class Paths:
    """Follows texts through one grammar, each text once, until there were too many of them."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._known: dict[str, TokenPath] = {}
        self._left = MAX_BYTES

    def of(self, text: str | None) -> TokenPath | None:
        """The path of a text; None for no text, and where there were too many."""
        if text is None:
            return None
        known = self._known.get(text)
        if known is None:
            size = len(text.encode("utf-8", "replace"))
            if len(self._known) == MAX_PATHS or size > self._left:
                return None
            self._left -= size
            known = self._known[text] = follow(self._grammar, text)
        return known


def follow(grammar: Grammar, text: str) -> TokenPath:
    """The path of a text through a grammar.

    Args:
        grammar: to go through.
        text: what is to be written; a half of a surrogate pair is none and counts as "?".
    """
    data = text.encode("utf-8", "replace")
    cursor = grammar.start()
    # Masks are asked for at the tokens that are kept, so where it ends has to be known before.
    end = next((at for at, byte in enumerate(data) if not cursor.push(byte)), len(data))
    tokens, choices = [], []
    cursor = grammar.start()
    allowed: list[int] = []
    for at, byte in enumerate([*islice(data, end + 1), END][: end + 1]):
        if at < FIRST or at > end - LAST:
            allowed = cursor.allowed()
            tokens.append(named(byte))
            choices.append(len(allowed))
        if at < end:
            cursor.push(byte)
    refused = end < len(data) or END not in allowed
    return TokenPath(
        tokens=tokens,
        choices=choices,
        refused=refused,
        skipped=end + 1 - len(tokens),
        skipped_at=FIRST,
        instead=[named(token) for token in sorted(allowed, key=_rank)[:NAMED]] if refused else (),
    )


def _rank(token: int) -> bool:
    """What can be read comes first."""
    return len(named(token)) > 1


def named(token: int) -> str:
    r"""A token as people read it: a character, `\xNN` for a byte that is none, "" for the end."""
    if token == END:
        return ""
    return chr(token) if 0x20 <= token < 0x7F else f"\\x{token:02x}"


__all__ = ["Paths", "follow", "named"]
