"""Claim: what the static rules say an engine drops, an audit of the engine finds dropped.

* Of 2,000 tools (real ones, seeded), at least 99 % of what the rules call dropped has a witness,
  and at least 99 % of what has a witness was called dropped.
* They add at most 25 % to a check of the median real tool.

Every tool is audited: witnesses are judged by jsonschema and asked of the compiled grammar, and
know nothing of the rules. A constraint counts as foretold where a rule names it, or what it is a
part of, or a part of it: with `anyOf` lost, so is all that its alternatives say; with a leak in one
alternative, so is the whole. What an audit cannot test counts for nobody, and is counted; what it
refutes is asked again of the schema at that place alone, with all of an audit's work. What is
narrowed is compared beside it, by place, without a bar: audits name the keyword by guess there.

Prints JSON: totals, a row for each rule, and every disagreement. The groups of the JSON Schema Test
Suite and schemas from the tests of engines are a second and a third number, and count for no bar:
their schemas are the corners. Needs the corpora and xgrammar. `--cache FILE` keeps audits.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import statistics
import sys
from collections import Counter, defaultdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from enforcement import CORPORA, REAL, SUITE, records
from measure import interleaved, report

import schemaguard
from schemaguard import unenforced
from schemaguard.grammar import audit
from schemaguard.grammar.audit.constraints import SAME_PLACE, places
from schemaguard.grammar.audit.judge import Judge
from schemaguard.grammar.compiler import ENGINE_PROFILE
from schemaguard.profiles import load
from schemaguard.report import pointer_of, tokens_of
from schemaguard.rules import BY_NAME, ENFORCEMENT, RULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from schemaguard.grammar.audit.constraints import Place
    from schemaguard.profiles import Profile

LEAST = 0.99
MOST_RATIO = 1.25
TOOLS = 2_000
SEED = 5
TIMED = 250
PROFILE = "xgrammar"

#: A constraint: pointer of its schema, keyword.
Key = tuple[str, str]

#: Keywords that an instance has to match as a whole: a leak inside them is one of theirs.
WHOLE = frozenset(
    {"anyOf", "oneOf", "allOf", "not", "if", "contains", "propertyNames", "dependentSchemas"}
)
#: Rules that say both: the name is left out, and cannot be written.
BOTH = ("lost-required", "rounded-integer")


def is_narrowing(name: str) -> bool:
    """Whether a rule is about valid values that cannot be written."""
    return "SG721" <= BY_NAME[name].code <= "SG729"


def is_dropping(name: str) -> bool:
    """Whether a rule is about invalid values that can be written."""
    return BY_NAME[name].code <= "SG719"


class Audits:
    """Audits of schemas, kept in a file where one is given."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.known: dict[str, Any] = {}
        if path is not None and path.exists():
            with path.open(encoding="utf-8") as lines:
                self.known = dict(map(json.loads, lines))

    def of(self, schema: Any) -> dict[str, Any]:
        """Verdict, and the constraints: [pointer, keyword, verdict, narrow, witness]."""
        text = json.dumps(schema)
        key = hashlib.sha256(text.encode()).hexdigest()
        if key not in self.known:
            found = audit.audit(schemaguard.check(schema, profile=ENGINE_PROFILE))
            rows = [
                [row.pointer, row.keyword, row.verdict, _is_narrow(row), row.witness]
                for row in found.constraints
            ]
            self.known[key] = {"verdict": found.verdict, "constraints": rows}
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([key, self.known[key]]) + "\n")
        kept: dict[str, Any] = self.known[key]
        return kept


def _is_narrow(row: audit.AuditedConstraint) -> bool:
    return row.verdict == _NARROW or "cannot be written" in row.reason


class Comparison:
    """One schema: what the rules foretell, and what the audit found."""

    def __init__(self, schema: Any, audited: dict[str, Any]) -> None:
        self.places = {
            place.pointer: place for place in places(Judge(json.loads(json.dumps(schema))))[0]
        }
        self.above = {pointer: _above(place) for pointer, place in self.places.items()}
        self.dropped: dict[Key, str] = {}
        self.narrowed: dict[Key, str] = {}
        for loss in unenforced.losses(schema):
            pointer = pointer_of(loss.frame)
            for keyword in loss.keywords:
                if is_dropping(loss.name):
                    self.dropped.setdefault((pointer, keyword), loss.name)
                if is_narrowing(loss.name) or loss.name in BOTH:
                    self.narrowed.setdefault((pointer, keyword), loss.name)
        self.inside: dict[Key, str] = {}
        for (pointer, _), name in self.dropped.items():
            steps = pointer.split("/")
            inside = {("/".join(steps[:i]), steps[i]) for i in range(1, len(steps))}
            for key in inside | self.above.get(pointer, set()):
                self.inside.setdefault(key, name)
        self.verdicts = {(row[0], row[1]): row[2] for row in audited["constraints"]}
        self.narrow = {(row[0], row[1]) for row in audited["constraints"] if row[3]}

    def foretold(self, key: Key) -> str | None:
        """The rule that says a constraint is dropped, or None."""
        if key in self.dropped:
            return self.dropped[key]
        above = self.above.get(key[0], ())
        for other in above:
            if other in self.dropped:
                return self.dropped[other]
        if key[1] in WHOLE and key in self.inside:
            return self.inside[key]
        # A leak in one alternative lets through what breaks the others, too.
        choices = (other for other in above if other[1] in ("anyOf", "oneOf"))
        return next((self.inside[other] for other in choices if other in self.inside), None)

    def is_borne_out(self, key: Key) -> bool | None:
        """Whether the audit found a leak where a rule says so; None when it could not test it."""
        own = [self.verdicts[key]] if key in self.verdicts else []
        below = [v for other, v in self.verdicts.items() if key in self.above.get(other[0], ())]
        if "dropped" in own + below:
            return True
        if own == ["untested"] or set(own + below) <= {"untested"}:
            whole = (
                other
                for other, verdict in self.verdicts.items()
                if verdict == "dropped" and key[0].startswith(f"{other[0]}/{other[1]}")
            )
            return True if any(other[1] in WHOLE for other in whole) else None
        return False

    def narrowed_at(self, key: Key) -> str | None:
        """The rule that says that something is narrowed at a place, or in an alternative of it."""
        if key in self.narrowed:
            return self.narrowed[key]
        for (pointer, _), name in self.narrowed.items():
            if pointer == key[0] or key[0] in self._same_place(pointer):
                return name
        return None

    def is_narrow(self, pointer: str) -> bool | None:
        """Whether the audit found a place too narrow; None when it could not test it."""
        if any(key[0] == pointer for key in self.narrow):
            return True
        own = [verdict for key, verdict in self.verdicts.items() if key[0] == pointer]
        return None if not own or {"untested", "dropped"} & set(own) else False

    def _same_place(self, pointer: str) -> set[str]:
        """The schemas that meet the same values as one: those that it is an alternative of."""
        found: set[str] = set()
        waiting = [pointer]
        while waiting:
            place = self.places.get(waiting.pop())
            for other, step in _parents(place) if place is not None else ():
                if step in SAME_PLACE and other not in found:
                    found.add(other)
                    waiting.append(other)
        return found


_NARROW = "over-constrained"


def _parents(place: Place) -> Iterable[Key]:
    if place.parent is not None:
        yield place.parent.pointer, place.step[0]
    if place.other is not None:
        yield place.other[0].pointer, place.other[1][0]


def _above(place: Place) -> set[Key]:
    """Schemas and keywords that a place is reached through, on all of its routes."""
    found: set[Key] = set()
    waiting = [place]
    seen: set[str] = set()
    while waiting:
        at = waiting.pop()
        if at.pointer in seen:
            continue
        seen.add(at.pointer)
        found.update(_parents(at))
        waiting += [other for other in (at.parent, at.other and at.other[0]) if other is not None]
    return found


def compared(schemas: list[dict[str, Any]], audits: Audits) -> dict[str, Any]:
    """Rules against audits, over schemas."""
    rules: dict[str, Counter[str]] = defaultdict(Counter)
    verdicts: Counter[str] = Counter()
    disagreements: list[list[Any]] = []
    for record in schemas:
        audited = audits.of(record["schema"])
        verdicts[audited["verdict"]] += 1
        if audited["verdict"] == "refused":
            continue
        both = Comparison(record["schema"], audited)
        witnesses = {(row[0], row[1]): row[4] for row in audited["constraints"]}
        for key, verdict in both.verdicts.items():
            if verdict == "dropped":
                name = both.foretold(key)
                rules[name or "none"]["found" if name else "not foretold"] += 1
                if name is None:
                    disagreements.append([record["id"], *key, "not foretold", witnesses[key]])
            if key in both.narrow:
                name = both.narrowed_at(key)
                rules[name or "none"]["narrow" if name else "narrow, not foretold"] += 1
        for key, name in both.dropped.items():
            if key[1] in ("then", "else"):  # told with the `if`
                continue
            borne = both.is_borne_out(key)
            if borne is False and _is_borne_out_alone(record["schema"], key, audits):
                rules[name]["borne out alone"] += 1
                continue
            rules[name][_OUTCOMES[borne]] += 1
            if borne is False:
                disagreements.append([record["id"], *key, f"{name}, refuted", None])
        for key, name in both.narrowed.items():
            rules[name]["narrow: " + _OUTCOMES[both.is_narrow(key[0])]] += 1
    total: Counter[str] = sum(rules.values(), Counter())
    return {
        "schemas": len(schemas),
        "verdicts": dict(verdicts.most_common()),
        "dropped": _rates(total, "found", "not foretold", ""),
        "narrowed": _rates(total, "narrow", "narrow, not foretold", "narrow: "),
        "by rule": {
            f"{BY_NAME[name].code} {name}" if name in BY_NAME else name: dict(counts)
            for name, counts in sorted(rules.items())
        },
        "disagreements": disagreements,
    }


def _is_borne_out_alone(schema: Any, key: Key, audits: Audits) -> bool:
    """Whether the schema at a place, on its own, leaks.

    An audit shares its work among all constraints; deep in a large schema, few witnesses are tried.
    """
    held = schema
    for token in tokens_of(key[0]):
        held = held[int(token)] if isinstance(held, list) else held[token]
    if not isinstance(held, dict) or not key[0]:
        return False
    around = {name: schema[name] for name in _AROUND if name in schema}
    alone = {**around, **held}
    audited = audits.of(alone)
    if audited["verdict"] == "refused":
        return False
    return Comparison(alone, audited).is_borne_out(("", key[1])) is True


_AROUND = ("$schema", "$defs", "definitions")
_OUTCOMES = {True: "borne out", False: "refuted", None: "untested"}


def _rates(total: Counter[str], found: str, missed: str, prefix: str) -> dict[str, Any]:
    borne, refuted = total[f"{prefix}borne out"], total[f"{prefix}refuted"]
    borne += 0 if prefix else total["borne out alone"]
    return {
        "precision": round(borne / max(1, borne + refuted), 4),
        "recall": round(total[found] / max(1, total[found] + total[missed]), 4),
        "said": borne + refuted,
        "untested": total[f"{prefix}untested"],
        "in audits": total[found] + total[missed],
    }


def timed(schemas: list[Any]) -> dict[str, float]:
    """Microseconds of a check with and without the rules, and the ratio, of the median schema."""
    profile = load(PROFILE)
    without = _without(profile)
    profiles = {"with": profile, "without": without}
    rows = [
        interleaved(
            {
                name: partial(schemaguard.check, schema, profile=each)
                for name, each in profiles.items()
            },
            rounds=7,
            repeats=8,
        )
        for schema in schemas
    ]
    return {
        "schemas": len(rows),
        "with": round(statistics.median(row["with"] for row in rows), 1),
        "without": round(statistics.median(row["without"] for row in rows), 1),
        "ratio": round(statistics.median(row["with"] / row["without"] for row in rows), 3),
        "ratio of sums": round(
            sum(row["with"] for row in rows) / sum(row["without"] for row in rows), 3
        ),
    }


def _without(profile: Profile) -> Profile:
    kept = {c: s for c, s in profile.severities.items() if RULES[c].on[0] != ENFORCEMENT}
    return profile.replace(id=f"{profile.id}-reduced", severities=kept)


def _distinct(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({json.dumps(record["schema"]): record for record in found}.values())


def main() -> None:
    """Run, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", type=int, default=TOOLS)
    parser.add_argument("--cache", type=Path, help="a file that keeps audits between runs")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    if not CORPORA.is_dir():
        sys.exit("the corpora are not here: ../shared/corpora")
    everything = _distinct(records("tools.jsonl.gz", "schemas.jsonl.gz"))
    rng = random.Random(options.seed)
    rng.shuffle(everything)
    real = [record for record in everything if record["source"].startswith(REAL)]
    corners = {
        "JSON Schema Test Suite": [r for r in everything if r["source"] == SUITE],
        "tests of engines": [
            r
            for r in everything
            if r["source"].startswith(("engine_", "maskbench_handwritten"))
            and len(json.dumps(r["schema"])) < 20_000
        ],
    }
    # First: a heap full of audits makes all that follows slower.
    time = timed([record["schema"] for record in real[:TIMED]])
    audits = Audits(options.cache)
    found = {
        "real tools": compared(real[: options.tools], audits),
        **{name: compared(schemas, audits) for name, schemas in corners.items()},
    }
    dropped = found["real tools"]["dropped"]
    holds = (
        dropped["precision"] >= LEAST and dropped["recall"] >= LEAST and time["ratio"] <= MOST_RATIO
    )
    claim = "precision and recall of 99 %, and at most 25 % more time"
    report(claim, holds, {"microseconds": time, **found})


if __name__ == "__main__":
    main()
