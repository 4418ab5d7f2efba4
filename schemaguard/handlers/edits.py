"""The two ways to mend a request: to drop tools, and to relax them.

An edit is made in the text: what it does not touch stays as it was sent, byte for byte. Of a parsed
body only the containers on the way to the tool are copied. What comes out is decided about again,
from the start, and goes on only when it is accepted.
"""

from __future__ import annotations

from schemaguard.handlers.reading import read_body
from schemaguard.handlers.results import Change, Decision
from schemaguard.report import ERROR, tokens_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from schemaguard.document import Document
    from schemaguard.handlers.policy import Policy
    from schemaguard.handlers.results import Finding, ToolVerdict

    Tokens = tuple[str, ...]
    #: (start, end, what stands there instead), in code points.
    Piece = tuple[int, int, str]

DROP = "drop-tool"
RELAX = "relax"
UNDECLARED_CHOICE = "SG610"


def mend(
    body: Any, decision: Decision, policy: Policy, decide: Callable[[Any, str, Policy], Decision]
) -> Decision | None:
    """A refused request with its faulty tools dropped or relaxed, as the policy says.

    Args:
        body: that was refused.
        decision: the refusal.
        policy: with `on_reject` other than "error".
        decide: decides about a body without mending it.

    Returns:
        The decision for the changed body, with the findings that made the changes necessary; None
        when the request cannot be mended so: an error is not about one tool, no tool would be left,
        `tool_choice` names one that would be dropped, or the server would hold the model to the
        schema of a relaxed one all the same.
    """
    faulty = [tool for tool in decision.tools if not tool.ok]
    causes = [_cause(decision.findings, tool) for tool in faulty]
    if not faulty or decision.api is None:
        return None
    changes = []
    for tool, cause in zip(faulty, causes, strict=True):
        if cause is None or (policy.on_reject == RELAX and cause.within is None):
            return None  # to relax a tool mends its schema alone
        changes.append(
            Change(
                action=policy.on_reject,
                tool=tool.name,
                pointer=tool.pointer,
                code=cause.code,
                reason=cause.words,
            )
        )
    document = read_body(body, policy.limits)
    change = _drop if policy.on_reject == DROP else _relax
    changed = change(document, [tool.pointer for tool in faulty], decision.api)
    if body.__class__ is bytes:
        changed = changed.encode()
    again = decide(changed, decision.api, policy)
    if not again.ok or not again.tools:
        return None
    if policy.on_reject == DROP:
        mended = _has(UNDECLARED_CHOICE, again) == _has(UNDECLARED_CHOICE, decision)
    else:
        relaxed = {tool.pointer for tool in faulty}
        mended = not any(tool.enforced for tool in again.tools if tool.pointer in relaxed)
    if not mended:
        return None
    return Decision(
        api=decision.api,
        refusal=None,
        status=200,
        findings=decision.findings,
        total=decision.total,
        tools=decision.tools,
        changes=tuple(changes),
        body=changed,
    )


def _cause(findings: Iterable[Finding], tool: ToolVerdict) -> Finding | None:
    """The first error about a tool."""
    for finding in findings:
        if finding.severity == ERROR and (finding.pointer + "/").startswith(tool.pointer + "/"):
            return finding
    return None


def _has(code: str, decision: Decision) -> int:
    return sum(finding.code == code for finding in decision.findings)


def _at(value: Any, tokens: Tokens) -> Any:
    for token in tokens:
        value = value[int(token)] if value.__class__ is list else value[token]
    return value


# --------------------------------------------------------------------------------------- drop-tool


def _drop(document: Document, pointers: list[str], _api: str) -> Any:
    """The body without some tools; a namespace of which nothing is left goes, too."""
    gone: dict[Tokens, set[int]] = {}
    for pointer in pointers:
        tokens = tokens_of(pointer)
        gone.setdefault(tokens[:-1], set()).add(int(tokens[-1]))
    for array in sorted(gone, key=len, reverse=True):
        if (
            len(array) > 1
            and array[0] == "tools"
            and len(gone[array]) == len(_at(document.value, array))
        ):
            del gone[array]
            gone.setdefault(array[:-2], set()).add(int(array[-2]))
    if document.text is None:
        value = document.value
        for array, indices in sorted(gone.items(), key=lambda item: len(item[0]), reverse=True):
            kept = [m for i, m in enumerate(_at(value, array)) if i not in indices]
            value = _with(value, array, kept)
        return value
    pieces: list[Piece] = []
    for array, indices in gone.items():
        pieces += _cuts(document, array, indices)
    return _patched(document.text, pieces)


def _cuts(document: Document, array: Tokens, indices: set[int]) -> list[Piece]:
    """What to cut so that members of an array are gone, each with one comma."""
    count = len(_at(document.value, array))
    base = "".join(f"/{token}" for token in array)
    found = document.spans(f"{base}/{index}" for index in range(count))
    spans = [span for span in found.values() if span is not None]
    cuts: list[Piece] = []
    kept_before = False
    for index, (start, end) in enumerate(spans):
        if index not in indices:
            kept_before = True
        elif kept_before:
            cuts.append((spans[index - 1][1], end, ""))
        else:
            cuts.append((start, spans[index + 1][0] if index + 1 < count else end, ""))
    return cuts


# ------------------------------------------------------------------------------------------- relax


def _relax(document: Document, pointers: list[str], api: str) -> Any:
    """The body with `strict: false` in some tools."""
    holders = [pointer + ("/function" if api == "chat" else "") for pointer in pointers]
    if document.text is None:
        value = document.value
        for holder in holders:
            value = _with(value, (*tokens_of(holder), "strict"), False)
        return value
    found = document.spans([*holders, *(holder + "/strict" for holder in holders)])
    pieces: list[Piece] = []
    for holder in holders:
        strict, around = found[holder + "/strict"], found[holder]
        if strict is not None:
            pieces.append((*strict, "false"))
        elif around is not None:  # an object with members: it has parameters
            start = around[0] + 1
            pieces.append((start, start, '"strict": false, '))
    return _patched(document.text, pieces)


# -------------------------------------------------------------------------------------------- both


def _patched(text: str, pieces: list[Piece]) -> str:
    parts: list[str] = []
    end = 0
    for start, stop, instead in sorted(pieces):
        parts += (text[end:start], instead)
        end = stop
    parts.append(text[end:])
    return "".join(parts)


def _with(value: Any, tokens: Tokens, member: Any) -> Any:
    """A value with another member at a place; what is on the way is copied, nothing is changed."""
    if not tokens:
        return member
    copies = [value.copy()]
    for token in tokens[:-1]:
        container = copies[-1]
        key: Any = int(token) if container.__class__ is list else token
        copies.append(container[key].copy())
        container[key] = copies[-1]
    last = copies[-1]
    last[int(tokens[-1]) if last.__class__ is list else tokens[-1]] = member
    return copies[0]
