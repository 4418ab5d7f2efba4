"""How right recorded tool calls are.

`score` reads a log: results of the K2 Vendor Verifier, or pairs of requests and answers of an
OpenAI-style API. See docs/score.md.
"""

from __future__ import annotations

from schemaguard.score.intervals import F1, McNemar, Rate, mcnemar, wilson
from schemaguard.score.lines import ScoreError
from schemaguard.score.scoring import Comparison, Score, Trigger, endings, score

__all__ = [
    "F1",
    "Comparison",
    "McNemar",
    "Rate",
    "Score",
    "ScoreError",
    "Trigger",
    "endings",
    "mcnemar",
    "score",
    "wilson",
]
