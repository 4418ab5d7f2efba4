"""Claim: `import schemaguard` costs at most 35 ms of CPU over a bare interpreter.

Each candidate is a process of its own, in turn; the figure is the CPU time of the child, the least
of all rounds, with bytecode already compiled.
"""

from __future__ import annotations

import os
import sys

from measure import report

ROUNDS = 40
LIMIT_MS = 35.0
#: Bytecode is written by the first round and read by the others, as on any machine in use.
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def cpu_ms(code: str) -> float:
    """CPU milliseconds of one interpreter that runs the code."""
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", code], ENVIRONMENT)
    _, _, usage = os.wait4(pid, 0)
    return (usage.ru_utime + usage.ru_stime) * 1000


def main() -> None:
    """Measure and print."""
    codes = {
        "bare": "pass",
        "schemaguard": "import schemaguard",
        "first check": "import schemaguard; schemaguard.check({})",
        "json": "import json",
        "jsonschema": "import jsonschema",
    }
    spent: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(ROUNDS):
        for name, code in codes.items():
            spent[name].append(cpu_ms(code))
    least = {name: min(values) for name, values in spent.items()}
    over = {name: round(ms - least["bare"], 1) for name, ms in least.items()}
    report(__doc__.split("\n")[0], over["schemaguard"] <= LIMIT_MS, {"ms_over_bare": over})


if __name__ == "__main__":
    main()
