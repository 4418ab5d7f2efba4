"""`--jobs`: the same output from any number of processes, and none of them left behind."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest
from command import GOOD, OPEN, PROGRAM, call, is_one_clear_line, run

from schemaguard.cli import parser, workers
from schemaguard.cli import run as cli_run
from schemaguard.config import Config
from schemaguard.render import FORMATS

#: Enough for several messages to each of three processes.
COUNT = workers.FILES * 8


def schema(number):
    """The schemas differ, and so do their findings."""
    properties = {f"p{n}": {"type": "object"} for n in range(number % 4)}
    return json.dumps({"type": "object", "properties": properties}, indent=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files with and without findings, and everything that a run has a word for."""
    root = tmp_path_factory.mktemp("jobs")
    (root / ".git").mkdir()
    tools = root / "tools"
    tools.mkdir()
    for number in range(COUNT):
        (tools / f"{number:03}.json").write_text(schema(number), encoding="utf-8")
    (tools / "broken.json").write_text('{"type": ', encoding="utf-8")
    (tools / "twice.json").write_text('{"type": "object", "type": "object"}', encoding="utf-8")
    (tools / "foreign.json").write_text('{"neither": "schema", "nor": "tool"}', encoding="utf-8")
    (tools / "nothing.json").write_bytes(b"\xff\xfe\x00")
    (tools / "lines.jsonl").write_text(f"{GOOD}\n{OPEN}\n", encoding="utf-8")
    (root / "tool.py").write_text(
        "TOOL = {'name': 'f', 'inputSchema': {'type': 'object'}}\n", encoding="utf-8"
    )
    (root / "schemaguard.toml").write_text(
        "[per-file-ignores]\n"
        '"tools/00*.json" = ["SG401", "SG301"]\n'
        '"tools/01*.json#/properties/p1" = ["SG4"]\n'
        '[severity]\nSG402 = "warning"\n',
        encoding="utf-8",
    )
    known = run("baseline", "tools", "-o", "known.json", cwd=root)
    assert known.returncode == 1, known.stderr
    table = json.loads((root / "known.json").read_text(encoding="utf-8"))
    gone = {"path": "tools/017.json", "tool": "", "pointer": "/x", "code": "SG401", "count": 1}
    table["findings"] = [*table["findings"][::3], gone]
    (root / "known.json").write_text(json.dumps(table), encoding="utf-8")
    return root


EVERYTHING = ("tools", "missing.json", "-", "tool.py:TOOL", "tools/000.json", "tool.py:NONE")
LINES = {
    **{form: ("check", "--output-format", form, *EVERYTHING) for form in FORMATS},
    "source": ("check", "--show-source", "--show-fixes", *EVERYTHING),
    "budgets": ("check", "--budgets", "--ignore", "SG402", *EVERYTHING),
    "baseline": ("check", "--baseline", "known.json", *EVERYTHING),
    "strict": ("check", "-q", "--fail-on", "note", "tools"),
    "command baseline": ("baseline", *EVERYTHING),
    "command budgets": ("budgets", "--output", "json", *EVERYTHING),
    "clean": ("check", "tools/lines.jsonl", "--ignore", "SG4"),
    "one file": ("check", "tools/lines.jsonl"),
}


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_the_output_is_the_same_whatever_the_number_of_processes(folder, line):
    alone = run(*line, "--jobs", "1", cwd=folder, stdin=OPEN.encode())
    for count in ("2", "3", "auto"):
        shared = run(*line, "--jobs", count, cwd=folder, stdin=OPEN.encode())
        assert shared.stdout == alone.stdout
        assert shared.stderr == alone.stderr
        assert shared.returncode == alone.returncode
    assert alone.stdout or alone.returncode == 0


def test_a_run_that_takes_longer_gets_help_and_says_the_same(folder, capfd, monkeypatch):
    monkeypatch.chdir(folder)
    line = ("check", "--isolated", "--show-source", "tools")
    alone = call(capfd, *line, "--jobs", "1")
    started = []
    start = workers.Workers._start
    monkeypatch.setattr(cli_run, "_ALONE", 0.001)
    monkeypatch.setattr(cli_run, "_useful_processes", lambda: 2)
    monkeypatch.setattr(workers.Workers, "_start", lambda self: (started.append(1), start(self)))
    assert call(capfd, *line) == alone
    assert len(started) == 2


def test_a_short_run_has_no_other_process(folder, capfd, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr(cli_run, "_ALONE", 600.0)
    monkeypatch.setattr(workers.Workers, "_start", lambda _: pytest.fail("started a process"))
    assert call(capfd, "check", "--isolated", "tools")[0] == 1


def test_commands_that_need_the_schemas_run_alone_whatever_the_configuration_says(
    tmp_path, monkeypatch
):
    for number in range(2 * workers.FILES):
        (tmp_path / f"{number}.json").write_text(GOOD, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    options = parser("check").parse_args(["check", "."])
    del options.jobs
    with cli_run.Run(options, Config(None, str(tmp_path), jobs=2)) as work:
        documents = [tool.report.document.value for f in work.reports() for tool in f.tools]
    assert documents == [json.loads(GOOD)["inputSchema"]] * 2 * workers.FILES


def test_the_configuration_may_say_how_many(tmp_path):
    (tmp_path / "a.json").write_text(OPEN, encoding="utf-8")
    for value, status in (("2", 1), ('"auto"', 1), ("0", 2), ("true", 2), ('"many"', 2)):
        (tmp_path / "schemaguard.toml").write_text(f"jobs = {value}\n", encoding="utf-8")
        done = run("check", "a.json", cwd=tmp_path)
        assert done.returncode == status, value
        assert (status == 1) or is_one_clear_line(done.stderr)


@pytest.mark.parametrize("count", ["0", "-1", "two", "1.5", "", "999999999999", "٣"])
def test_a_number_of_processes_that_is_none_is_2(folder, count):
    done = run("check", "tools", f"--jobs={count}", cwd=folder)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--jobs" in done.stderr.splitlines()[-1]


def test_a_fault_of_ours_in_another_process_is_2_in_one_line(folder, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "if sys.argv[0] == '-c':\n"
        "    import schemaguard.lint as lint\n"
        "    def check_text(*_, **__): raise KeyError('\\x1b[2J')\n"
        "    lint.check_text = check_text\n",
        encoding="utf-8",
    )
    done = run(
        "check", "tools", "-o", "out", "--jobs", "2", cwd=folder, env={"PYTHONPATH": str(tmp_path)}
    )
    assert done.returncode == 2
    assert is_one_clear_line(done.stderr)
    assert "KeyError" in done.stderr
    assert "\x1b" not in done.stderr
    assert not (folder / "out").exists()


# ------------------------------------------------------------------------------------------------
# Ends. A named pipe that nobody writes to keeps a run waiting, with its processes at work.
# ------------------------------------------------------------------------------------------------


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except FileNotFoundError:
        pytest.skip("needs /proc with the children of a process")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_for(condition, what):
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until, what
        time.sleep(0.01)


def is_served(pipe):
    """Whether somebody reads the pipe, and has now got something to read."""
    try:
        descriptor = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:  # nobody does
        return False
    os.write(descriptor, GOOD.encode())
    os.close(descriptor)
    return True


@pytest.fixture
def waiting(folder):
    """A run that waits for a named pipe, and its two other processes."""
    pipe = folder / "pipe.json"
    if not hasattr(os, "mkfifo"):
        pytest.skip("needs named pipes")
    os.mkfifo(pipe)
    files = [f"tools/{number:03}.json" for number in range(COUNT)]
    first, rest = files[: 2 * workers.FILES], files[2 * workers.FILES :]
    started = subprocess.Popen(
        [*PROGRAM, "check", "--jobs", "2", "-o", "out", *first, "pipe.json", *rest],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        wait_for(lambda: len(children(started.pid)) == 2, "the run did not start its processes")
        yield started, children(started.pid), pipe
    finally:
        started.kill()
        started.communicate()
        pipe.unlink()
        for left in folder.glob(".out*.tmp"):
            left.unlink()


def test_ctrl_c_is_130_in_one_line_and_no_process_is_left(waiting, folder):
    started, others, _ = waiting
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=60)
    assert started.returncode == 130
    assert (out, err) == (b"", b"schemaguard: interrupted\n")
    wait_for(lambda: not any(map(is_alive, others)), "a process was left")
    assert not list(folder.glob("*out*"))


def test_a_process_that_was_killed_is_2_in_one_line(waiting, folder):
    started, others, pipe = waiting
    for other in others:
        os.kill(other, signal.SIGKILL)
    wait_for(lambda: is_served(pipe) or started.poll() is not None, "nobody reads the pipe")
    out, err = started.communicate(timeout=60)
    assert started.returncode == 2
    assert out == b""
    assert is_one_clear_line(err.decode())
    assert b"signal 9" in err
    assert not list(folder.glob("*out*"))


def test_no_process_outlives_a_run_that_was_killed(waiting):
    started, others, _ = waiting
    started.kill()
    started.communicate()
    wait_for(lambda: not any(map(is_alive, others)), "a process is left")
