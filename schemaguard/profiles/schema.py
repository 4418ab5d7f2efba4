"""The JSON Schema of a profile's file, for editors and for other programs.

It is made from the rules, so that it knows the settings of each; `make docs` writes it to
`profile.schema.json` beside the profiles.
"""

from __future__ import annotations

from schemaguard.keywords import TYPE_NAMES
from schemaguard.profiles.parts import BASES, SEVERITIES, TABLES
from schemaguard.profiles.settings import MEMBERS, NOT_EMPTY
from schemaguard.rules import BUDGET, PRESENCE, READING, RULES, VALUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.rules import Rule

_STRING = {"type": "string"}
_NAMES = {"type": "array", "items": _STRING}

#: Kind of a setting (`profiles.settings.KINDS`) → its schema.
SETTINGS: dict[str, dict[str, Any]] = {
    "count": {"type": "integer", "minimum": 0},
    "flag": {"type": "boolean"},
    "flags": {"type": "array", "items": {"type": "boolean"}},
    "text": _STRING,
    "names": _NAMES,
    "pattern": {"type": "string", "format": "regex"},
    "numbers": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
    **{
        kind: {
            "type": "array",
            "items": {"enum": sorted(members)},
            **({"minItems": 1} if kind in NOT_EMPTY else {}),
        }
        for kind, members in MEMBERS.items()
    },
}

_GROUNDS = {
    "basis": {"enum": list(BASES), "description": "How the fact is known."},
    "source": {"type": "string", "description": "Where it is from: a page, an issue."},
    "date": {"description": "When that was: a TOML date, or a string."},
}


def profile_schema() -> dict[str, Any]:
    """The schema; it describes the parsed file."""
    budgets = sorted({r.on[1] for r in RULES.values() if r.on[0] in (VALUE, BUDGET)})
    lists = sorted({r.on[1] for r in RULES.values() if r.on[0] == PRESENCE})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A profile of schemaguard",
        "type": "object",
        "properties": {
            "name": _STRING,
            "title": _STRING,
            "subject": {"type": "string", "description": "How messages name the server."},
            **_GROUNDS,
            "extends": {"type": "string", "description": "A profile that this one adds to."},
            "budgets": _closed(dict.fromkeys([*budgets, "long-enum-entries"], SETTINGS["count"])),
            "keywords": _closed(dict.fromkeys(lists, _NAMES)),
            "rules": {
                "type": "object",
                "properties": {code: _rule(rule) for code, rule in RULES.items()},
                "additionalProperties": {"$ref": "#/$defs/severity"},
            },
            **{
                table: {"type": "object", "additionalProperties": {"$ref": "#/$defs/remark"}}
                for table in TABLES
            },
        },
        "required": ["name"],
        "additionalProperties": False,
        "anyOf": [
            {"required": ["extends"]},
            {"required": ["date", "title", "subject", "basis", "source"]},
        ],
        "$defs": {
            "severity": {"enum": [*SEVERITIES, "off"]},
            "remark": {
                "anyOf": [
                    {"const": "accepted"},
                    {"$ref": "#/$defs/said"},
                    {"type": "array", "items": {"$ref": "#/$defs/said"}},
                ]
            },
            "said": _closed(
                {
                    "unless": {"type": "array", "description": "Values that are not meant."},
                    "types": {
                        "type": "array",
                        "items": {"enum": sorted(TYPE_NAMES)},
                        "description": "Only in schemas that may have one of these types.",
                    },
                    "beside": {**_NAMES, "description": "Only beside one of these keywords."},
                    "root": {"type": "boolean", "description": "Only at the root."},
                    "why": {"type": "string", "description": "Half a sentence for the message."},
                    **_GROUNDS,
                }
            ),
        },
    }


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _rule(rule: Rule) -> dict[str, Any] | bool:
    if rule.on[0] == READING:
        return False  # what is not understood is not checked, whatever a profile says
    settings = {name: SETTINGS[kind.rstrip("?")] for name, kind in rule.settings.items()}
    table = _closed({"severity": {"$ref": "#/$defs/severity"}, **settings, **_GROUNDS})
    table["required"] = ["severity"]
    forms = [{"$ref": "#/$defs/severity"}, table, {"type": "array", "items": table, "minItems": 1}]
    return {"description": rule.name, "anyOf": forms}
