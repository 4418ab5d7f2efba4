"""Which files are found: folders, git, globs, links that lead nowhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import time

import pytest

from schemaguard.sources import files

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def tree(tmp_path, monkeypatch):
    for name in (
        "b.json",
        "a/x.yaml",
        "a/x.txt",
        "a/deep/er/z.jsonl",
        "a-b/y.toml",
        "node_modules/m.json",
        ".hidden/h.json",
        ".dot.json",
        "build/out.json",
        "a/build/out.json",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*paths, **options):
    return [path.replace(os.sep, "/") for path in files.find(paths, **options)]


@pytest.mark.usefixtures("tree")
def test_a_folder_gives_its_files_sorted_without_what_is_hidden_or_not_source():
    assert found(".") == [
        "./a/build/out.json",
        "./a/deep/er/z.jsonl",
        "./a/x.yaml",
        "./a-b/y.toml",
        "./b.json",
        "./build/out.json",
    ]


@pytest.mark.usefixtures("tree")
def test_what_is_named_is_taken_whatever_it_is_and_once():
    assert found("a/x.txt", "gone.json", ".dot.json", "node_modules/m.json", "./a/x.txt") == [
        "a/x.txt",
        "gone.json",
        ".dot.json",
        "node_modules/m.json",
    ]
    assert found("b.json", ".")[0] == "b.json"
    assert "./b.json" not in found("b.json", ".")


@pytest.mark.usefixtures("tree")
def test_a_named_folder_is_walked_even_below_one_that_is_left_out():
    assert found("node_modules") == ["node_modules/m.json"]


@pytest.mark.usefixtures("tree")
def test_force_exclude_holds_for_what_is_named():
    options = {"exclude": ["build", "/a/x.*"], "force_exclude": True}
    assert found("build/out.json", "a/x.yaml", "node_modules/m.json", "b.json", **options) == [
        "b.json"
    ]
    assert found("build/out.json", exclude=["build"]) == ["build/out.json"]


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("glob", "left"),
    [
        ("build", {"a/x.yaml", "a-b/y.toml", "a/deep/er/z.jsonl", "b.json"}),
        ("build/", {"a/x.yaml", "a-b/y.toml", "a/deep/er/z.jsonl", "b.json"}),
        ("/build/*", {"a/build/out.json", "a/x.yaml", "a-b/y.toml", "a/deep/er/z.jsonl", "b.json"}),
        ("a/*", {"a-b/y.toml", "b.json", "build/out.json"}),
        ("**/out.json", {"a/x.yaml", "a-b/y.toml", "a/deep/er/z.jsonl", "b.json"}),
        ("a/**", {"a-b/y.toml", "b.json", "build/out.json"}),
        ("[!bo]*.*", {"a/build/out.json", "b.json", "build/out.json"}),
        ("?.json*", {"a/build/out.json", "a/x.yaml", "a-b/y.toml", "build/out.json"}),
        (
            "[z-a]",
            {
                "a/build/out.json",
                "a/x.yaml",
                "a-b/y.toml",
                "a/deep/er/z.jsonl",
                "b.json",
                "build/out.json",
            },
        ),
    ],
)
def test_globs_for_names_and_for_paths(glob, left):
    assert {path[2:] for path in found(".", exclude=[glob])} == left


def test_globs_full_of_stars_take_no_time(tree):
    long = tree.joinpath(*["a"] * 100)
    long.mkdir(parents=True)
    (long / ("a" * 200 + ".json")).write_text("{}")
    began = time.process_time()
    found(".", exclude=["*a" * 30 + "*b", "**/a/" * 30 + "**/b"])
    assert time.process_time() - began < 2


@pytest.mark.usefixtures("tree")
def test_include_chooses_in_folders_alone():
    assert found("a", "b.json", include=["*.txt"]) == ["a/x.txt", "b.json"]


def test_links_that_loop_are_no_loop(tree):
    (tree / "a" / "up").symlink_to(tree)
    (tree / "self.json").symlink_to(tree / "self.json")
    (tree / "link.json").symlink_to(tree / "b.json")
    assert [p for p in found(".") if "up" in p or "self" in p] == []
    assert "./link.json" in found(".")


@needs_git
def test_git_says_what_is_ignored(tree):
    subprocess.run(["git", "init", "-q"], check=True)
    (tree / ".gitignore").write_text("build\n!/build\n")
    (tree / "a" / ".gitignore").write_text("*.yaml\n")
    (tree / "ünï\ncode.json").write_text("{}")
    assert found(".") == [
        "./a/deep/er/z.jsonl",
        "./a-b/y.toml",
        "./b.json",
        "./build/out.json",
        "./ünï\ncode.json",
    ]
    assert found("a") == ["a/deep/er/z.jsonl"]
    assert "a/x.yaml" in found("a", respect_gitignore=False)
    assert found("a/x.yaml") == ["a/x.yaml"]


@needs_git
def test_files_that_git_knows_and_the_disk_does_not_are_left_out(tree):
    subprocess.run(["git", "init", "-q"], check=True)
    subprocess.run(["git", "add", "b.json"], check=True)
    (tree / "b.json").unlink()
    assert "./b.json" not in found(".")


@needs_git
def test_a_repository_cannot_make_git_run_a_program(tree):
    subprocess.run(["git", "init", "-q"], check=True)
    trap = tree / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tree}/sprung\n")
    trap.chmod(0o755)
    subprocess.run(["git", "config", "core.fsmonitor", str(trap)], check=True)
    assert "./b.json" in found(".")
    assert not (tree / "sprung").exists()


def test_without_git_the_folder_is_walked(tree, monkeypatch):
    (tree / ".git").mkdir()
    monkeypatch.setenv("PATH", "")
    assert "./b.json" in found(".")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_that_cannot_be_read_is_an_error(tree):
    (tree / "a").chmod(0)
    try:
        with pytest.raises(OSError):
            found(".")
    finally:
        (tree / "a").chmod(0o755)
