"""The audit as one HTML page: it needs no network, and works from a file.

The page holds its style and its script, and a Content-Security-Policy that lets nothing but these
two run. What was audited is data in it: names come from strangers, so they are made printable, cut,
and written as JSON that cannot end its element; the script sets text and never markup.

Sizes are bounded. The tree is a list of nodes, of which the script shows those that are open; what
is cut or left out is counted.
"""

from __future__ import annotations

import hashlib
import json
import os
from base64 import b64encode
from html import escape
from typing import TYPE_CHECKING, Any

import schemaguard
from schemaguard.errors import counted, printable
from schemaguard.grammar.audit import result
from schemaguard.grammar.audit.tree import nodes
from schemaguard.render import MAX_SHOWN

if TYPE_CHECKING:
    from schemaguard.grammar.audit.result import AuditedConstraint, AuditResult, TokenPath
    from schemaguard.grammar.audit.tree import Node

#: Nodes of all trees of a page; what comes after is counted. A node takes some 50 bytes.
MAX_NODES = 200_000

#: Characters of names, of data in the tree, and of witnesses.
MAX_NAME = 120
MAX_DATA = 160
MAX_WITNESS = 2_000

#: Control characters as token paths write them; line feeds, which some styles have, as an arrow.
_CONTROLS = {**{code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F)}, 0x0A: "\u21b5"}

_FOLDER = os.path.dirname(__file__)

#: verdict on a constraint → its word and its sign, which say what the colour says.
_FILTERS = {
    result.DROPPED: ("Dropped", "\N{BALLOT X}"),
    result.OVER_CONSTRAINED: ("Over-constrained", "\N{BLACK UP-POINTING TRIANGLE}"),
    result.UNTESTED: ("Untested", "?"),
    result.ENFORCED: ("Enforced", "\N{CHECK MARK}"),
}

_SKELETON = """\
<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="schemaguard {version}">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>{heading}</h1>
<p class="about">{about}</p>
<div class="filters" role="group" aria-label="Show constraints that are">
<button type="button" data-verdict="" aria-pressed="true">All <b>{total:,}</b></button>
{filters}
</div>
</header>
<noscript><p class="empty">The tree and the witnesses need JavaScript.</p></noscript>
<div class="columns">
<main id="schemas"></main>
<aside id="panel" aria-label="Details" tabindex="-1"></aside>
</div>
<p id="status" role="status" class="hidden"></p>
<script type="application/json" id="audit">{data}</script>
<script>{script}</script>
</body>
</html>
"""

_FILTER = (
    '<button type="button" class="is-{verdict}" data-verdict="{verdict}" aria-pressed="false">'
    '<span class="sign" aria-hidden="true">{sign}</span> {word} <b>{count:,}</b></button>'
)


class Page:
    """A page in the making: one schema after the other is added."""

    def __init__(self) -> None:
        self._schemas: list[dict[str, Any]] = []
        self._engines: dict[str, None] = {}
        self._files: dict[str, None] = {}
        self._counts = dict.fromkeys(result.CONSTRAINT_VERDICTS, 0)
        self._left = MAX_NODES

    def add(
        self, file: str, name: str | None, pointer: str, schema: Any, audited: AuditResult
    ) -> None:
        """Add a schema.

        Args:
            file: path of the file that it is in.
            name: of its tool, or None.
            pointer: of the tool in the file.
            schema: parsed JSON, the one that was audited; None where that was refused.
            audited: its audit.
        """
        texts = _Texts()
        number = {row: index for index, row in enumerate(audited.constraints)}
        tree: list[list[Any]] = []
        more = 0
        if schema is not None:
            for node in nodes(schema, audited):
                if len(tree) < self._left:
                    tree.append(_node(node, number))
                else:
                    more += 1
        self._left -= len(tree)
        counts = audited.counts()
        for verdict, count in counts.items():
            self._counts[verdict] += count
        self._engines[audited.engine] = None
        self._files[file] = None
        self._schemas.append(
            {
                "name": shown(name, MAX_NAME) if name else "",
                "file": shown(file, MAX_SHOWN),
                "pointer": shown(pointer, MAX_SHOWN),
                "verdict": audited.verdict,
                "reason": shown(audited.reason, MAX_SHOWN),
                "witness": texts.add(audited.witness, audited.path),
                "counts": [counts[verdict] for verdict in _FILTERS],
                "about": _about(audited),
                "spelling": [
                    [row.freedom, _witness(row.witness), _witness(row.written)]
                    for row in audited.spelling
                ],
                "constraints": [
                    [
                        shown(row.pointer, MAX_SHOWN),
                        shown(row.keyword, MAX_NAME),
                        list(_FILTERS).index(row.verdict),
                        shown(row.reason, MAX_SHOWN),
                        texts.add(row.witness, row.path, row.output),
                    ]
                    for row in audited.constraints
                ],
                "nodes": tree,
                "more": more,
                "texts": texts.rows,
            }
        )

    def text(self) -> str:
        """The page."""
        style, script = _asset("page.css"), _script()
        engines = ", ".join(self._engines) or "the engine"
        files = list(self._files)
        where = shown(files[0], MAX_NAME) if len(files) == 1 else counted(len(files), "file")
        count = len(self._schemas)
        filters = [
            _FILTER.format(verdict=verdict, word=word, sign=sign, count=self._counts[verdict])
            for verdict, (word, sign) in _FILTERS.items()
        ]
        return _SKELETON.format(
            policy=escape(_policy(style, script)),
            version=escape(str(schemaguard.__version__)),
            title=escape(f"Audit of {where}"),
            heading=escape(f"What {engines} enforces"),
            about=escape(f"{counted(count, 'schema')} in {where}"),
            total=sum(self._counts.values()),
            filters="\n".join(filters),
            style=style,
            script=script,
            data=_data(self._schemas),
        )


class _Texts:
    """The different witnesses of a schema, each once: many constraints may share one."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._known: dict[tuple[str, str | None], int] = {}

    def add(self, witness: str | None, path: TokenPath | None, output: str | None = None) -> int:
        """The index of a witness with its path and the output that says it; -1 for none."""
        if witness is None:
            return -1
        key = (witness, output)
        if key not in self._known:
            self._known[key] = len(self.rows)
            self.rows.append(
                [
                    _witness(witness),
                    None if output is None else _witness(output),
                    None if path is None else path.as_dict(),
                ]
            )
        return self._known[key]


def shown(text: str, limit: int) -> str:
    """The text without what hides or reverses text, and with what is too much of it counted."""
    more = len(text) - limit
    return printable(text) if more <= 0 else f"{printable(text[:limit])}… {more:,} more characters"


def _witness(text: str) -> str:
    r"""A witness. JSON has `\u0001` and must not have U+0001: the two have to look different."""
    return shown(text.translate(_CONTROLS), MAX_WITNESS)


def _node(node: Node, number: dict[AuditedConstraint, int]) -> list[Any]:
    """A node for the script: level, key, text, how many are in it, and numbers of constraints."""
    key = node.key
    if isinstance(key, str):
        key = shown(json.dumps(key, ensure_ascii=False), MAX_NAME)
    text = shown(node.data, MAX_DATA) if not node.inside else "[]" if node.is_list else "{}"
    return [node.level, key, text, node.inside, [number[row] for row in node.rows]]


def _about(audited: AuditResult) -> str:
    parts = [
        audited.engine,
        f"style {audited.style}",
        f"seed {audited.seed}",
        f"{audited.tried:,} texts tried",
        f"{audited.sampled:,} outputs sampled",
        f"{audited.searched:,} states searched",
    ]
    if not audited.complete:
        parts.append("some of this ended at a bound before it was through")
    return " · ".join(parts)


def _asset(name: str) -> str:
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def _script() -> str:
    """The parts of the script, in one scope of their own."""
    parts = "\n".join(_asset(name) for name in ("base.js", "tree.js", "page.js"))
    return f'"use strict";\n{{\n{parts}}}\n'


def _policy(style: str, script: str) -> str:
    """What may run and load: this style, this script, nothing else."""
    style_hash, script_hash = (
        b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style_hash}'; script-src 'sha256-{script_hash}'; "
        "base-uri 'none'; form-action 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _data(value: Any) -> str:
    """JSON that no HTML parser takes for the end, or the start, of anything."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


__all__ = ["Page", "shown"]
