"""The everyday schema of the tests: an object that is closed and requires all its properties."""

from __future__ import annotations


def closed(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
