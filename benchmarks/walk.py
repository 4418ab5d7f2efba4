"""Claim: a check costs about one native metaschema check, is linear, and does not fear 10 MB.

On schemas that the `dynamo` profile accepts, `check` of a parsed dict takes at most 1.5 times as
long as `jsonschema_rs.meta.is_valid`, which answers less, and at least 200 times less than
jsonschema's `check_schema`. Nanoseconds per subschema stay within a factor of 1.5 from 10^2 to
10^6 subschemas. A hostile document of 10 MB takes at most 1.5 times as long as `orjson.loads` of
it.
"""

from __future__ import annotations

import json

import documents
import jsonschema_rs
import orjson
from jsonschema import Draft202012Validator
from measure import interleaved, report

import schemaguard
from schemaguard import Limits
from schemaguard.plan import WORK_BUDGETS
from schemaguard.profiles import Profile, load
from schemaguard.rules import BUDGET, RULES

REPEATS = {"small": 400, "medium": 100, "large": 10, "huge": 1}
ROUNDS = {"small": 101, "medium": 101, "large": 61, "huge": 31}


def accepted() -> dict[str, dict[str, float]]:
    """Ratios on the four accepted documents."""
    rows = {}
    for name, make in documents.CASES.items():
        text = json.dumps(make())
        parsed = json.loads(text)
        if not schemaguard.check(parsed).ok:
            raise SystemExit(f"{name} is not accepted")
        spent = interleaved(
            {
                "check": lambda parsed=parsed: schemaguard.check(parsed),
                "check of text": lambda text=text: schemaguard.check(text),
                "json.loads": lambda text=text: json.loads(text),
                "orjson.loads": lambda text=text: orjson.loads(text),
                "jsonschema_rs": lambda parsed=parsed: jsonschema_rs.meta.is_valid(parsed),
            },
            rounds=ROUNDS[name],
            repeats=REPEATS[name],
        )
        slow = interleaved(
            {
                "check": lambda parsed=parsed: schemaguard.check(parsed),
                "check_schema": lambda parsed=parsed: Draft202012Validator.check_schema(parsed),
            },
            rounds=5,
            repeats={"check": REPEATS[name], "check_schema": 1},
        )
        rows[name] = {
            "bytes": len(text),
            "check_us": round(spent["check"], 2),
            "ratio_to_jsonschema_rs": round(spent["check"] / spent["jsonschema_rs"], 3),
            "check_schema_ratio": round(slow["check_schema"] / slow["check"], 1),
            "text_ratio_to_json_loads": round(spent["check of text"] / spent["json.loads"], 2),
            "text_ratio_to_orjson_loads": round(spent["check of text"] / spent["orjson.loads"], 2),
        }
    return rows


def unlimited() -> Profile:
    """The profile `xgrammar` without what stops a walk early: the whole document is walked."""
    base = load("xgrammar")
    fields = {name: getattr(base, name) for name in Profile.__slots__}
    budgets = (*WORK_BUDGETS, "patterns-cost")
    severities = {
        code: severity
        for code, severity in base.severities.items()
        if RULES[code].on[0] != BUDGET or RULES[code].on[1] not in budgets
    }
    return Profile(**fields | {"severities": severities})


def scaling() -> dict[str, float]:
    """Nanoseconds per subschema, from 10^2 to 10^6 subschemas."""
    limits = Limits(max_nodes=10_000_000)
    made = {size: documents.chain_of(size) for size in (100, 1_000, 10_000, 100_000, 1_000_000)}
    profile = unlimited()
    spent = interleaved(
        {
            str(size): lambda document=document: schemaguard.check(
                document, profile=profile, limits=limits
            )
            for size, document in made.items()
        },
        rounds=5,
        repeats={str(size): max(1, 20_000 // size) for size in made},
    )
    return {size: round(us * 1000 / int(size), 1) for size, us in spent.items()}


def hostile() -> dict[str, float]:
    """Ratios to `orjson.loads` on 10 MB of rejected documents."""
    rows = {}
    for name, make in (("hostile", documents.hostile), ("flood", documents.flood)):
        parsed = make()
        text = orjson.dumps(parsed)
        spent = interleaved(
            {
                "check": lambda parsed=parsed: schemaguard.check(parsed),
                "orjson.loads": lambda text=text: orjson.loads(text),
            },
            rounds=9,
        )
        rows[name] = round(spent["check"] / spent["orjson.loads"], 3)
        rows[name + "_bytes"] = len(text)
    return rows


def main() -> None:
    """Measure and print."""
    rows = accepted()
    per_subschema = scaling()
    huge = hostile()
    spread = max(per_subschema.values()) / min(per_subschema.values())
    holds = (
        all(row["ratio_to_jsonschema_rs"] <= 1.5 for row in rows.values())
        and all(row["check_schema_ratio"] >= 200 for row in rows.values())
        and spread <= 1.5
        and huge["hostile"] <= 1.5
        and huge["flood"] <= 1.5
    )
    report(
        __doc__.split("\n")[0],
        holds,
        {
            "accepted": rows,
            "ns_per_subschema": per_subschema,
            "ns_spread": round(spread, 2),
            "hostile_ratio_to_orjson_loads": huge,
        },
    )


if __name__ == "__main__":
    main()
