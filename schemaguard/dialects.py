r"""Which features of regular expressions a pattern uses, told by reading it once.

Providers refuse single features: look-around, back references, `\b`, `\p{…}`, inline modifiers,
anchors. The reading is that of ECMA-262 with the spellings of other engines; a text that is no
regular expression has the features that it seems to have.
"""

from __future__ import annotations

__all__ = ["FEATURES", "features"]

#: Feature → what people call it.
FEATURES = {
    "lookaround": "look-around",
    "backreference": "back references",
    "word-boundary": "word boundaries",
    "property": "Unicode properties",
    "modifier": "inline modifiers",
    "anchor": "anchors",
}

_ESCAPES = {
    **dict.fromkeys("123456789k", "backreference"),
    **dict.fromkeys("bB", "word-boundary"),
    **dict.fromkeys("pP", "property"),
    **dict.fromkeys("AZz", "anchor"),
}
_LOOKAROUND = ("=", "!", "<=", "<!")
#: After `(?`: no modifier, but a group of its own kind.
_GROUPS = (":", ">", "<", "P<", "'", "|", "#")


def features(pattern: str) -> set[str]:
    """The members of `FEATURES` that a pattern uses; linear in its length."""
    found = set()
    at, end = 0, len(pattern)
    in_class = False
    while at < end:
        char = pattern[at]
        at += 1
        if char == "\\":
            feature = _ESCAPES.get(pattern[at : at + 1])
            if feature is not None and (not in_class or feature == "property"):
                found.add(feature)
            at += 1
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char in "^$":
            found.add("anchor")
        elif char == "(" and pattern.startswith("?", at):
            feature = _group(pattern, at + 1)
            if feature is not None:
                found.add(feature)
    return found


def _group(pattern: str, at: int) -> str | None:
    """The feature of a group, of which the part after `(?` starts at `at`."""
    if pattern.startswith(_LOOKAROUND, at):
        return "lookaround"
    if pattern.startswith("P=", at):
        return "backreference"
    return None if pattern.startswith(_GROUPS, at) else "modifier"
