"""Claim: each kind of hostile input ends in under a second of CPU, with a bounded report.

The inputs are those of `tests/test_hostile.py`, generated there. Each is checked once and its
diagnostics are read, pointers included; a second run takes the peak of memory that a check adds.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from measure import report
from test_hostile import CASES

import schemaguard

LIMIT_SECONDS = 1.0


def main() -> None:
    """Measure and print."""
    rows = {}
    for name, (make, _) in CASES.items():
        schema = make()
        gc.collect()
        began = time.thread_time()
        checked = schemaguard.check(schema)
        seconds = time.thread_time() - began
        began = time.thread_time()
        pointers = sum(len(d.pointer) + len(d.message) for d in checked.diagnostics)
        reading = time.thread_time() - began
        del checked
        tracemalloc.start()
        checked = schemaguard.check(schema)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        rows[name] = {
            "seconds": round(seconds, 3),
            "seconds_to_read": round(reading, 3),
            "kept": len(checked.diagnostics),
            "total": checked.total,
            "complete": checked.complete,
            "characters": pointers,
            "peak_mib": round(peak / 2**20, 1),
        }
        del checked, schema
    holds = all(row["seconds"] < LIMIT_SECONDS and row["kept"] <= 1000 for row in rows.values())
    report(__doc__.split("\n")[0], holds, {"cases": rows})


if __name__ == "__main__":
    main()
