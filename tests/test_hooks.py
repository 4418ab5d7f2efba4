"""The pre-commit hook and the action's script, as the real programs run them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

PRE_COMMIT = Path(sys.executable).with_name("pre-commit")
GOOD = {"name": "f", "inputSchema": {"type": "object", "additionalProperties": False}}
BAD = {"name": "f", "inputSchema": {"type": "object"}}


def run(*command, cwd, env=None, check=True):
    done = subprocess.run(
        command, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=600
    )
    if check:
        assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    """A commit of this tree as it is, uncommitted changes included."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    copy = tmp_path_factory.mktemp("tree")
    names = run("git", "ls-files", "-co", "--exclude-standard", "-z", cwd=ROOT).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
    commit(copy)
    return copy


def commit(folder):
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    run("git", "init", "-q", cwd=folder)
    run("git", "add", "-A", cwd=folder)
    run("git", *identity, "commit", "-qm", "c", cwd=folder)


@pytest.mark.slow
def test_the_hook_passes_good_tools_and_stops_bad_ones(tree, tmp_path):
    if not PRE_COMMIT.exists():
        pytest.skip("needs pre-commit")
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    repository = tmp_path / "repository"
    repository.mkdir()
    revision = run("git", "rev-parse", "HEAD", cwd=tree).stdout.strip()
    (repository / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {tree}\n  rev: {revision}\n  hooks:\n  - id: schemaguard\n",
        encoding="utf-8",
    )
    (repository / "tool.json").write_text(json.dumps(GOOD), encoding="utf-8")
    commit(repository)
    command = (str(PRE_COMMIT), "run", "--all-files", "--color=never")
    passed = run(*command, cwd=repository, env=environment)
    assert "Passed" in passed.stdout

    (repository / "tool.json").write_text(json.dumps(BAD), encoding="utf-8")
    run("git", "add", "-A", cwd=repository)
    failed = run(*command, cwd=repository, env=environment, check=False)
    assert failed.returncode == 1
    assert "Failed" in failed.stdout
    assert "tool.json:1:30: SG401 open-object" in failed.stdout


@pytest.mark.slow
def test_the_hook_reads_yaml_as_the_page_on_ci_says(tree, tmp_path):
    if not PRE_COMMIT.exists():
        pytest.skip("needs pre-commit")
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    hook = next(block for block in page.split("```") if "types_or" in block).removeprefix("yaml\n")
    repository = tmp_path / "repository"
    (repository / "tools").mkdir(parents=True)
    revision = run("git", "rev-parse", "HEAD", cwd=tree).stdout.strip()
    (repository / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {tree}\n  rev: {revision}\n  hooks:\n{hook}", encoding="utf-8"
    )
    (repository / "tools" / "tool.yaml").write_text(
        "name: f\ninputSchema:\n  type: object\n", encoding="utf-8"
    )
    commit(repository)
    environment = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "cache")}
    command = (str(PRE_COMMIT), "run", "--all-files", "--color=never")
    failed = run(*command, cwd=repository, env=environment, check=False)
    assert failed.returncode == 1, failed.stdout + failed.stderr
    assert "tools/tool.yaml:3:3: SG401 open-object" in failed.stdout
    assert failed.stdout.count("SG") == failed.stdout.count("SG401")


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "status"), [(GOOD, 0), (BAD, 1)])
def test_the_script_of_the_action_writes_annotations_summary_and_sarif(
    tree, tmp_path, tool, status
):
    (tmp_path / "a tool.json").write_text(json.dumps(tool), encoding="utf-8")
    (tmp_path / "compose.yaml").write_text("services: {}\n", encoding="utf-8")
    summary, output = tmp_path / "summary", tmp_path / "output"
    environment = {
        **os.environ,
        "SCHEMAGUARD_SOURCE": str(tree),
        "SCHEMAGUARD_PYTHON": sys.executable,
        "SCHEMAGUARD_PATHS": ".\n",  # the default, with YAML in it
        "SCHEMAGUARD_ARGS": "--profile\ndynamo\n",
        "SCHEMAGUARD_SARIF": "out.sarif",
        "GITHUB_ACTIONS": "true",
        "GITHUB_WORKSPACE": str(tmp_path),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_OUTPUT": str(output),
    }
    done = run("bash", str(ROOT / "action.sh"), cwd=tmp_path, env=environment, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    results = json.loads((tmp_path / "out.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert [result["ruleId"] for result in results] == ["SG401"] * status
    assert ("::error " in done.stdout) is bool(status)
    assert output.read_text(encoding="utf-8") == "sarif-file=out.sarif\n"
    assert summary.read_text(encoding="utf-8")


def test_inputs_of_the_action_reach_the_script_through_the_environment_alone():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.strip().startswith("run:"):
            assert "${{" not in line
