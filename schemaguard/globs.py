"""Globs over relative paths with forward slashes, as in a `.gitignore`, as regular expressions.

`*` and `?` stay within a name, and so does `[…]`; `**` between slashes stands for any number of
folders. A pattern without a slash before its end is looked for in every folder.

What is matched against them may be long and hostile, and so may be the patterns. A star, and a
`**`, that is not the last of its kind takes as little as it can and never reconsiders: what comes
after it has the more to choose from. So each is gone through once.
"""

from __future__ import annotations

import re


def is_anchored(pattern: str) -> bool:
    """Whether a pattern is for a path from the root, and not for a name in any folder."""
    return "/" in pattern.rstrip("/")


def regex(pattern: str) -> str:
    """The source of a regular expression that is to match a whole path (with `re.DOTALL`)."""
    parts = pattern.removeprefix("./").strip("/").split("/")
    if not is_anchored(pattern):
        parts.insert(0, "**")
    # Runs of names, with any number of folders between one and the next.
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(_name(part))
    first, *others = ["/".join(run) for run in runs]
    if not others:
        return first
    *middle, last = others
    out = [f"{first}/"] if first else []
    out += [f"(?>(?:[^/]+/)*?{run}/)" for run in middle if run]
    out.append(f"(?:[^/]+/)*{last}" if last else ".*")
    return "".join(out)


def _name(part: str) -> str:
    pieces = [_literal(piece) for piece in re.split(r"\*+", part)]
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1] if piece)
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _literal(piece: str) -> str:
    return re.sub(
        r"\[(!?)([^\[\]]+)\]|\?|.", lambda m: _one(m[0], m[1] or "", m[2]), piece, flags=re.DOTALL
    )


def _one(whole: str, negated: str, members: str | None) -> str:
    if members is not None:
        inner = re.sub(r"[\\^&~|]", r"\\\g<0>", members)
        made = f"(?!/)[{'^' if negated else ''}{inner}]"
        try:
            re.compile(made)
        except re.error:  # a range from z to a
            return re.escape(whole)
        return made
    return "[^/]" if whole == "?" else re.escape(whole)


__all__ = ["is_anchored", "regex"]
