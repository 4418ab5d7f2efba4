"""Where tools live: files of several formats, folders, Python objects, MCP servers.

`read` turns the bytes of a file into a `Source`, by the name of the file:

| name ends in | read as | pointers |
| --- | --- | --- |
| `.json`, anything unknown | JSON | into the value |
| `.jsonl`, `.ndjson` | JSON Lines | `/0/…` into the first record: as if the file were an array |
| `.jsonc` | JSON with comments and commas before closing brackets | into the value |
| `.yaml`, `.yml` | YAML | into the value; `/0/…` into the first of several documents |
| `.toml` | TOML | into the value |
| `.json5` | refused | |
| `.py` | refused: an object in it is named as `FILE.py:NAME` | |

`sources.files` walks folders, `sources.python` evaluates Python objects, `sources.mcp` asks MCP
servers. Nothing but JSON is imported before it is needed.
"""

from __future__ import annotations

import os.path

from schemaguard.document import DEFAULT_LIMITS, Limits
from schemaguard.sources.base import Part, Source, SourceError, ValueSource
from schemaguard.sources.jsontext import read_json, read_jsonc, read_lines

#: The formats by the end of a file's name.
FORMATS = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".jsonc": "jsonc",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".json5": "json5",
    ".py": "python",
}

_REFUSED = {
    "json5": "JSON5 is not read; save it as JSON, or as `.jsonc` with comments and trailing commas "
    "only",
    "python": "a Python file holds objects: name one of them, as FILE.py:NAME",
}


def format_of(path: str) -> str:
    """The format that a file's name stands for; "json" when it says nothing."""
    return FORMATS.get(os.path.splitext(path)[1].lower(), "json")


def read(path: str, data: bytes | str, limits: Limits = DEFAULT_LIMITS) -> Source:
    """Read a file's content, as what its name says it is.

    Args:
        path: the file's name.
        data: its content.
        limits: hard stops, for the file as a whole.

    Returns:
        The source. Bad content is a fault or a refusal in it, never an exception.

    Raises:
        MissingExtra: it is YAML, and PyYAML is not installed.
    """
    form = format_of(path)
    if form == "json":
        return read_json(path, data, limits)
    if form == "jsonl":
        return read_lines(path, data, limits)
    if form == "jsonc":
        return read_jsonc(path, data, limits)
    if form == "yaml":
        from schemaguard.sources.yamltext import read_yaml  # noqa: PLC0415  (an extra)

        return read_yaml(path, data, limits)
    if form == "toml":
        from schemaguard.sources.tomltext import read_toml  # noqa: PLC0415  (an import of 5 ms)

        return read_toml(path, data, limits)
    return Source(path, form, None, refusal=_REFUSED[form])


__all__ = ["FORMATS", "Part", "Source", "SourceError", "ValueSource", "format_of", "read"]
