"""How audits of the catalogue are kept: one letter a verdict, equal versions once.

`ENGINE.audited.json`::

    {
      "engine": "xgrammar", "date": "2026-12-01", "command": "make capabilities",
      "versions": ["0.1.32", …],
      "cases": {
        "single integer multipleOf": [["type", "multipleOf"], "0.1.32 Led", "0.2.7 Xee"],
        …

A case has its constraints, as `keyword` at the root and `pointer keyword` elsewhere, and then the
verdicts: from a version on, the schema's (a capital) and each constraint's, "-" where the audit had
nothing to say about it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Verdicts on schemas and on constraints, and the letters they are stored as.
SCHEMA_LETTERS = {
    "exact": "X",
    "leaks": "L",
    "over-constrained": "O",
    "dead-end": "D",
    "broken-json": "B",
    "refused": "R",
    "rejected": "P",
    "crashed": "C",
    "timeout": "T",
}
LETTERS = {
    "enforced": "e",
    "dropped": "d",
    "leaky": "p",
    "over-constrained": "o",
    "untested": "u",
}
_SCHEMA_VERDICTS = {letter: verdict for verdict, letter in SCHEMA_LETTERS.items()}
_VERDICTS = {letter: verdict for verdict, letter in LETTERS.items()}

#: What one version makes of a case: the verdict on the schema, and pointer and keyword → verdict.
Found = tuple[str, dict[tuple[str, str], str]]


def pack(found: Mapping[str, Mapping[str, Found]], **about: object) -> dict[str, Any]:
    """The value of a file.

    Args:
        found: version → key → what was found; the oldest version first, all with the same keys.
        about: what else the file says.
    """
    cases = {}
    for key in next(iter(found.values())):
        names: dict[tuple[str, str], None] = {}
        for audits in found.values():
            names.update(dict.fromkeys(audits[key][1]))
        row: list[Any] = [[f"{pointer} {keyword}".lstrip() for pointer, keyword in names]]
        before = None
        for version, audits in found.items():
            schema, verdicts = audits[key]
            letters = SCHEMA_LETTERS[schema] + "".join(
                LETTERS[verdicts[name]] if name in verdicts else "-" for name in names
            )
            if letters != before:
                row.append(f"{version} {letters}")
            before = letters
        cases[key] = row
    return {**about, "versions": list(found), "cases": cases}


def unpack(file: Mapping[str, Any], version: str) -> dict[str, Found]:
    """Key → what one version made of the case.

    Raises:
        ValueError: the version was not audited.
    """
    order = file["versions"]
    if version not in order:
        raise ValueError(f"{file['engine']} {version!r} was not audited: {', '.join(order)}")
    until = set(order[: order.index(version) + 1])
    found = {}
    for key, (names, *rows) in file["cases"].items():
        letters = [row.split(" ")[1] for row in rows if row.split(" ")[0] in until][-1]
        verdicts = {}
        for name, letter in zip(names, letters[1:], strict=True):
            if letter != "-":
                pointer, _, keyword = name.rpartition(" ")
                verdicts[pointer, keyword] = _VERDICTS[letter]
        found[key] = (_SCHEMA_VERDICTS[letters[0]], verdicts)
    return found
