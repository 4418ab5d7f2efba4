"""What an import of the package costs: measured in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import schemaguard

HEAVY = ("jsonschema", "referencing", "xgrammar", "torch", "numpy", "transformers", "tomllib")


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_importing_loads_nothing_heavy():
    loaded = json.loads(
        run("import schemaguard, sys, json; print(json.dumps(sorted(sys.modules)))")
    )
    assert not [name for name in loaded if name.split(".")[0] in HEAVY]


def test_a_check_loads_nothing_heavy_but_the_reader_of_profiles():
    loaded = json.loads(
        run(
            "import schemaguard, sys, json\n"
            'schemaguard.check({"type": "object"}).budgets\n'
            'schemaguard.check_request({"tools": []}, api="chat")\n'
            "print(json.dumps(sorted(sys.modules)))"
        )
    )
    assert not [n for n in loaded if n.split(".")[0] in HEAVY and n.split(".")[0] != "tomllib"]
    assert "datetime" not in loaded  # 2 ms, for dates that are known without a calendar


def test_every_public_name_is_there_and_listed():
    assert sorted(schemaguard.__all__) == sorted(dir(schemaguard))
    for name in schemaguard.__all__:
        assert getattr(schemaguard, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="chekc"):
        _ = schemaguard.chekc
