"""The parsed form of the profiles: never another than the profiles, and what it is for."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from schemaguard import profiles

FOLDER = Path(profiles.__file__).parent
STEMS = sorted(path.stem for path in FOLDER.glob("*.toml"))


def test_the_parsed_files_are_not_stale():
    there = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    there.pop("profile.schema.json")
    assert there == profiles.parsed_files(), "run `make docs`"


@pytest.mark.parametrize("stem", STEMS)
def test_a_profile_is_the_same_from_either_file(stem):
    table = tomllib.loads((FOLDER / f"{stem}.toml").read_text(encoding="utf-8"))
    assert profiles.load(stem) == profiles.from_table(table, stem, profiles.load)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of profiles that can be changed."""
    for path in FOLDER.glob("dynamo-*"):
        shutil.copy(path, tmp_path)
    monkeypatch.setattr(profiles, "_FOLDER", str(tmp_path))
    monkeypatch.setattr(profiles, "_loaded", {})
    return tmp_path


def test_a_profile_that_was_changed_counts_and_not_what_was_parsed_of_it(folder):
    (path,) = folder.glob("*.toml")
    assert profiles.load("dynamo").budgets["properties"] == 5000
    profiles._loaded.clear()
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("properties = 5000", "properties = 77"), encoding="utf-8")
    assert profiles.load("dynamo").budgets["properties"] == 77


@pytest.mark.parametrize("content", [None, b"", b"[]", b"{}", b'{"checksum": 1}', b"\xff", b"nul"])
def test_a_parsed_file_that_is_broken_or_missing_is_no_loss(folder, content):
    (path,) = folder.glob("*.json")
    path.unlink() if content is None else path.write_bytes(content)
    assert profiles.load("dynamo").budgets["properties"] == 5000


def test_what_is_wrong_with_a_profile_is_said_whatever_was_parsed(folder):
    (path,) = folder.glob("*.toml")
    path.write_text("name = ", encoding="utf-8")
    with pytest.raises(profiles.ProfileError):
        profiles.load("dynamo")


def test_a_check_does_not_load_the_toml_parser():
    script = "import sys, schemaguard; schemaguard.check({}); print('tomllib' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout == "False\n"


def test_a_profile_can_be_sent_to_another_process():
    profile = profiles.load("dynamo")
    sent = pickle.loads(pickle.dumps(profile))  # noqa: S301  (our own)
    assert sent == profile
    with pytest.raises(TypeError):
        sent.budgets["properties"] = 1


def test_the_parsed_files_are_plain_json_with_the_table_of_the_profile():
    for stem in STEMS:
        kept = json.loads((FOLDER / f"{stem}.json").read_text(encoding="utf-8"))
        table = tomllib.loads((FOLDER / f"{stem}.toml").read_text(encoding="utf-8"))
        assert kept["table"] == json.loads(json.dumps(table, default=str))
