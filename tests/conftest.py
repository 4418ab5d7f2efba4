"""What the tests share: the handed cases beside the repository, where they are."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"

sys.path.insert(0, str(ROOT / "benchmarks"))


def shared(*parts: str) -> Path:
    """A path under ../shared; skips the test when it is not there."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"needs ../shared/{'/'.join(parts)}, which is not beside this clone")
    return path


def corpus(name: str) -> list[dict]:
    """The records of a corpus under ../shared/corpora."""
    with gzip.open(shared("corpora", name), "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
