"""Logs made up with a known answer, and a slow counter written from the verifier's description.

The counter shares nothing with `schemaguard.score`: it loads the whole log, asks jsonschema itself
about every call, and knows which faults of schemas were put in.
"""

from __future__ import annotations

import json
import random

import jsonschema

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 2},
        "days": {"type": "integer", "maximum": 7},
        "unit": {"enum": ["C", "F"]},
        "tag": {"type": "string", "pattern": "^[a-z]+$"},
    },
    "required": ["city"],
    "additionalProperties": False,
}
LIST = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
DRAFT_4 = {
    "$schema": "http://json-schema.org/draft-04/schema#",
    "properties": {"n": {"type": "integer", "maximum": 5, "exclusiveMaximum": True}},
}
BROKEN = {"type": "object", "properties": {"a": {"type": "strng"}}}
DANGLING = {"properties": {"a": {"$ref": "#/$defs/missing"}}}
#: name → (parameters, whether the schema is at fault).
TOOLS = {
    "get_weather": (WEATHER, False),
    "list_files": (LIST, False),
    "legacy": (DRAFT_4, True),  # no engine takes the draft 4 form of exclusiveMaximum
    "anything": ({}, False),
    "nothing": (None, False),
    "broken": (BROKEN, True),
    "dangling": (DANGLING, True),
    "array": ([1], True),
}
#: (tool, arguments, reason that is the model's, or "" where the call is right).
CALLS = [
    ("get_weather", '{"city": "Oslo", "days": 3}', ""),
    ("get_weather", '{"city": "Oslo", "days": 7.0}', ""),
    ("get_weather", '{"city": "Oslo", "city": "Rome"}', ""),
    ("get_weather", '{"days": 3}', "missing-argument"),
    ("get_weather", '{"city": 3}', "wrong-type"),
    ("get_weather", '{"city": "Oslo", "days": 8}', "constraint"),
    ("get_weather", '{"city": "O"}', "constraint"),
    ("get_weather", '{"city": "Oslo", "hour": 1}', "constraint"),
    ("get_weather", '{"city": "Oslo", "unit": "K"}', "constraint"),
    ("get_weather", '{"city": "Oslo", "tag": "A"}', "constraint"),
    ("get_weather", '{"city": "Oslo"', "not-json"),
    ("get_weather", "", "not-json"),
    ("get_wether", '{"city": "Oslo"}', "unknown-tool"),
    ("list_files", '{"path": "/"}', ""),
    ("list_files", "[]", "wrong-type"),
    ("legacy", '{"n": 4}', ""),
    ("legacy", '{"n": 5}', "constraint"),
    ("anything", '{"x": 1}', ""),
    ("anything", "{", "not-json"),
    ("nothing", "{}", ""),
    ("broken", '{"a": "x"}', ""),
    ("dangling", '{"a": "x"}', ""),
    ("dangling", "{}", ""),
    ("array", "{}", ""),
]


def function(name, parameters):
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


DECLARED = [function(name, schema) for name, (schema, _) in TOOLS.items()]


def call(name, arguments):
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": arguments}}


def completion(calls, finish):
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def result(index, calls, finish="tool_calls", *, tools=DECLARED, **more):
    """A line of the verifier's `results.jsonl`."""
    return {
        "data_index": index,
        "request": {"messages": [], "tools": tools},
        "extra_body": {},
        "response": completion(calls, finish),
        "status": "success",
        "finish_reason": finish,
        "tool_calls_valid": None,
        "last_run_at": "2026-02-14T10:00:00.000001",
        "duration_ms": 5,
        "hash": "x",
        **more,
    }


def failed(index):
    error = {"error_type": "APIError", "error_message": "x", "error": {}}
    return {**result(index, []), "response": error, "status": "failed", "finish_reason": None}


def made(seed, size=300):
    """A run with all kinds of answers."""
    chance = random.Random(seed)
    records = []
    for index in range(1, size + 1):
        kind = chance.random()
        calls = [call(*chance.choice(CALLS)[:2]) for _ in range(chance.choice([1, 1, 1, 2, 3]))]
        if kind < 0.05:
            records.append(failed(index))
        elif kind < 0.15:
            records.append(result(index, None, chance.choice(["stop", "length"])))
        elif kind < 0.2:
            records.append(result(index, calls, "stop"))
        elif kind < 0.25:
            records.append(result(index, []))
        else:
            records.append(result(index, calls))
    return records


def write(path, records):
    """A log: a line a record; text and bytes are lines as they are."""
    with path.open("wb") as log:
        for record in records:
            line = record if isinstance(record, (str, bytes)) else json.dumps(record)
            log.write((line.encode() if isinstance(line, str) else line) + b"\n")
    return str(path)


# ----------------------------------------------------------------------------------- slow counting


def is_valid(one, tools):
    """As the verifier has it; anything that goes wrong is a failure."""
    try:
        name = one["function"]["name"]
        schema = next(
            (t["function"]["parameters"] for t in tools if t["function"]["name"] == name), None
        )
        if not schema:
            return False
        arguments = one["function"]["arguments"]
        arguments = json.loads(arguments) if isinstance(arguments, str) else arguments
        jsonschema.validate(arguments, schema)
    except BaseException:  # noqa: BLE001  (panics of jsonschema's Rust parts are no Exception)
        return False
    return True


def count(records):
    """What is to come out for a run: counts by the verifier's rules, and the fair ones."""
    reasons_of = {(name, arguments): reason for name, arguments, reason in CALLS}
    counts = {"called": 0, "valid": 0, "right": 0, "left_out": 0, "reasons": {}, "finish": {}}
    for record in records:
        finish = record["finish_reason"]
        counts["finish"][finish or "(none)"] = counts["finish"].get(finish or "(none)", 0) + 1
        if finish != "tool_calls":
            continue
        counts["called"] += 1
        calls = record["response"]["choices"][0]["message"]["tool_calls"]
        verdict = None
        if calls:
            verdict = all(is_valid(one, record["request"]["tools"]) for one in calls)
        counts["valid"] += verdict is True
        reasons = []
        at_fault = False
        for one in calls:
            name, arguments = one["function"]["name"], one["function"]["arguments"]
            if TOOLS.get(name, (None, False))[1]:
                at_fault = True
            elif reasons_of[name, arguments]:
                reasons.append(reasons_of[name, arguments])
        if not calls:
            reasons.append("no-call")
        for reason in reasons:
            counts["reasons"][reason] = counts["reasons"].get(reason, 0) + 1
        counts["left_out"] += at_fault
        counts["right"] += not at_fault and not reasons
    return counts
