"""Claim: all profiles over a tool cost at most 20 checks of one provider, and 30 ms to load.

The tool is about as long as the median one of a corpus of 10,665 (522 characters), and most strict
profiles reject it, as they do most tools. One check is that of `openai-strict`, a profile of the
usual size; the ratios to `dynamo`, which is leaner, and to the median of all, of which a third say
little more than "well-formed", are beside it. Profiles are loaded by a new process, from the parsed
files.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from functools import partial

from measure import interleaved, report

import schemaguard
from schemaguard.profiles import names

ONE = "openai-strict"
MAX_RATIO = 20.0
MAX_LOAD_MS = 30.0
LOADS = 15

TOOL = {
    "type": "object",
    "properties": {
        "city": {
            "type": "string",
            "description": "Name of the city, with the country when it is not unique.",
        },
        "days": {"type": "integer", "description": "For how many days the forecast is wanted."},
        "unit": {
            "type": "string",
            "enum": ["celsius", "fahrenheit"],
            "description": "Unit of all temperatures in the answer.",
        },
        "fields": {
            "type": "array",
            "items": {"type": "string"},
            "description": "What to tell; all when it is left out.",
        },
    },
    "required": ["city", "days"],
}

_LOAD = """
import time
import schemaguard
from schemaguard import profiles
from schemaguard.rules import RULES
began = time.thread_time_ns()
for name in profiles.names():
    profiles.load(name)
print((time.thread_time_ns() - began) / 1e6)
"""


def load_ms() -> float:
    """CPU milliseconds that a new process takes for all profiles, the least of some."""
    spent = []
    for _ in range(LOADS):
        done = subprocess.run(
            [sys.executable, "-c", _LOAD], capture_output=True, text=True, check=True
        )
        spent.append(float(done.stdout))
    return min(spent)


def check_all() -> None:
    """The tool against every profile."""
    for name in names_of_all:
        schemaguard.check(TOOL, profile=name)


names_of_all = names()


def main() -> None:
    """Measure and print."""
    spent = interleaved(
        {
            "all": check_all,
            **{name: partial(schemaguard.check, TOOL, profile=name) for name in names_of_all},
        },
        rounds=61,
        repeats=10,
    )
    everything = spent.pop("all")
    loading = load_ms()
    ratio = everything / spent[ONE]
    report(
        __doc__.split("\n")[0],
        ratio <= MAX_RATIO and loading <= MAX_LOAD_MS,
        {
            "characters": len(json.dumps(TOOL)),
            "profiles": len(spent),
            "rejecting": sum(not schemaguard.check(TOOL, profile=n).ok for n in names_of_all),
            "ratio_to_openai_strict": round(ratio, 1),
            "ratio_to_dynamo": round(everything / spent["dynamo"], 1),
            "ratio_to_median": round(everything / statistics.median(spent.values()), 1),
            "load_all_ms": round(loading, 1),
            "check_us": {
                name: round(us, 1) for name, us in sorted(spent.items(), key=lambda item: item[1])
            },
        },
    )


if __name__ == "__main__":
    main()
