"""Claim: a log is scored in flat memory, and for less CPU time than counting as the verifier does.

`schemaguard score` of ten times the calls takes at most 16 MiB more memory (one byte a request is
kept to join runs, the rest is noise of the allocator), and per call it takes no more CPU time than
`json.loads` of the line and `jsonschema.validate` of the call.

Calls of the larger log: the first argument, 100,000 without one; 1,000,000 take some minutes.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import jsonschema
from measure import report

CALLS = 100_000
#: The command, and then the most memory that it took: what the kernel says of a child that ended
#: counts the memory of its parent, too.
PROGRAM = """
import sys
from schemaguard.cli import main
status = main(sys.argv[1:])
with open("/proc/self/status") as told:
    print(next(line.split()[1] for line in told if line.startswith("VmHWM")), file=sys.stderr)
sys.exit(status)
"""
#: Of the log, that the verifier's way of counting is measured on.
SAMPLE = 2_000
MORE_BYTES = 16 << 20


def tool(number: int) -> dict[str, Any]:
    """One of the tools that are offered."""
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "description": "what to look for"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "sort": {"enum": ["newest", "oldest", f"by-{number}"]},
            "filters": {"type": "array", "items": {"type": "string", "pattern": "^[a-z]+:[^ ]*$"}},
        },
        "required": ["query"],
        "additionalProperties": False,
    }
    function = {"name": f"search_{number}", "description": "Search.", "parameters": schema}
    return {"type": "function", "function": function}


def write(path: Path, calls: int) -> None:
    """A log of so many answers, each with one call of one of fifty tools."""
    chance = random.Random(7)
    tools = [tool(number) for number in range(50)]
    good = {"query": "x", "limit": 5, "sort": "newest", "filters": ["lang:en"]}
    bad = [{}, {"query": 3}, {"query": "x", "limit": 101}, {"query": "x", "more": 1}]
    with path.open("w", encoding="utf-8") as log:
        for index in range(1, calls + 1):
            number = chance.randrange(50)
            offered = tools[max(0, number - 2) : number + 1]
            arguments = json.dumps(good if chance.random() < 0.9 else chance.choice(bad))
            call = {"function": {"name": f"search_{number}", "arguments": arguments}}
            message = {"role": "assistant", "tool_calls": [call]}
            record = {
                "data_index": index,
                "request": {"messages": [{"role": "user", "content": "Find."}], "tools": offered},
                "response": {"choices": [{"message": message, "finish_reason": "tool_calls"}]},
                "status": "success",
                "finish_reason": "tool_calls",
            }
            log.write(json.dumps(record) + "\n")


def scored(path: Path) -> tuple[float, int, dict[str, Any]]:
    """CPU seconds and most bytes of memory of a run, and what it says."""
    command = [sys.executable, "-c", PROGRAM, "score", "--output-format", "json", str(path)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, use = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        out.seek(0)
        err.seek(0)
        said = json.load(out)["scores"][0]
        most = int(err.read()) * 1024
    return use.ru_utime + use.ru_stime, most, said


def as_the_verifier(path: Path) -> tuple[float, int]:
    """CPU seconds a call of the plain way, and valid calls of the sample."""
    valid = 0
    began = time.thread_time()
    with path.open(encoding="utf-8") as log:
        for _, line in zip(range(SAMPLE), log, strict=False):
            record = json.loads(line)
            call = record["response"]["choices"][0]["message"]["tool_calls"][0]["function"]
            schema = next(
                t["function"]["parameters"]
                for t in record["request"]["tools"]
                if t["function"]["name"] == call["name"]
            )
            try:
                jsonschema.validate(json.loads(call["arguments"]), schema)
                valid += 1
            except jsonschema.ValidationError:
                pass
    return (time.thread_time() - began) / SAMPLE, valid


def main() -> None:
    """Measure and print."""
    calls = int(sys.argv[1]) if len(sys.argv) > 1 else CALLS
    with tempfile.TemporaryDirectory() as folder:
        small, large, sample = (Path(folder) / f"{name}.jsonl" for name in ("s", "l", "p"))
        write(small, calls // 10)
        write(large, calls)
        write(sample, SAMPLE)
        few_seconds, few_bytes, _ = scored(small)
        seconds, most_bytes, said = scored(large)
        plain, valid = as_the_verifier(large)
        _, _, of_sample = scored(sample)
        nbytes = large.stat().st_size
    a_call = (seconds - few_seconds) / (calls - calls // 10)
    holds = (
        most_bytes - few_bytes <= MORE_BYTES
        and a_call <= plain
        and of_sample["successful_tool_calls"] == valid
        and said["requests"] == calls
    )
    report(
        __doc__.split("\n")[0],
        holds,
        {
            "calls": calls,
            "log_mib": round(nbytes / 2**20, 1),
            "cpu_us_a_call": round(a_call * 1e6, 1),
            "verifier_cpu_us_a_call": round(plain * 1e6, 1),
            "calls_a_cpu_second": round(1 / a_call),
            "memory_mib": round(most_bytes / 2**20, 1),
            "memory_mib_of_a_tenth": round(few_bytes / 2**20, 1),
            "schema_accuracy": said["schema_accuracy"]["value"],
        },
    )


if __name__ == "__main__":
    main()
