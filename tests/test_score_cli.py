"""`schemaguard score`: formats, exit status, progress, memory."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys

import pytest
from command import PROGRAM, call, is_one_clear_line, run
from score_logs import call as tool_call
from score_logs import made, result, write

from schemaguard.score import score

GOOD = [tool_call("get_weather", '{"city": "Oslo"}')]
BAD = [tool_call("get_weather", "{}")]


@pytest.fixture
def log(tmp_path):
    """Three answers of four are valid."""
    return write(tmp_path / "a.jsonl", [result(i, GOOD if i < 4 else BAD) for i in range(1, 5)])


def test_text_says_the_rates_with_their_intervals(capfd, log):
    status, out, err = call(capfd, "score", log)
    assert (status, err) == (0, "")
    rows = [line.split() for line in out.splitlines()]
    # Wilson's interval of 3 of 4: (0.75 + 1.92073 / 4 ∓ 0.78447) / 1.96036
    expected = ["75.00%", "30.06%", "to", "95.44%", "3", "of", "4"]
    assert ["schema_accuracy", *expected] in rows
    assert ["schema_accuracy_fair", *expected] in rows
    assert ["get_weather", "required", "/required", "1"] in rows


def test_json_and_markdown_say_the_same(capfd, log, tmp_path):
    file = tmp_path / "out"
    assert call(capfd, "score", log, "--output-format", "json", "-o", file)[:2] == (0, "")
    told = json.loads(file.read_text())
    assert told["version"] == 1
    assert told["comparison"] is None
    (only,) = told["scores"]
    assert only["schema_accuracy"]["hits"] == 3
    assert only["trigger"] is None
    out = call(capfd, "score", log, "--output-format", "markdown")[1]
    assert "| schema&#95;accuracy | 75.00% | 30.06% to 95.44% | 3 of 4 |" in out


@pytest.mark.parametrize(
    ("least", "status"),
    [("0.75", 0), ("0", 0), ("0.76", 1), ("1", 1), ("1.1", 2), ("x", 2), ("nan", 2)],
)
def test_too_low_an_accuracy_fails(capfd, log, least, status):
    assert call(capfd, "score", log, "--min-accuracy", least)[0] == status


def test_an_accuracy_of_nothing_is_no_pass(capfd, tmp_path):
    stopped = write(tmp_path / "s", [result(1, None, "stop")])
    assert call(capfd, "score", stopped)[0] == 0
    assert call(capfd, "score", stopped, "--min-accuracy", "0")[0] == 1
    for records in ([], ["nonsense"], ["{}"]):
        assert call(capfd, "score", write(tmp_path / "n", records))[0] == 1


def test_a_baseline_adds_trigger_similarity(capfd, log, tmp_path):
    official = write(
        tmp_path / "o", [result(i, GOOD, "tool_calls" if i < 3 else "stop") for i in range(1, 5)]
    )
    out = call(capfd, "score", log, "--baseline", official, "--output-format", "json")[1]
    trigger = json.loads(out)["scores"][0]["trigger"]
    assert (trigger["true_positive"], trigger["false_positive"]) == (2, 2)
    assert trigger["precision"]["value"] == 0.5
    assert trigger["recall"]["value"] == 1
    assert trigger["tool_call_f1"]["value"] == pytest.approx(2 / 3)


def test_a_baseline_that_cannot_be_read_is_no_baseline(capfd, log, tmp_path):
    for lines, status in (([], 1), (["nonsense"], 1), ([result(99, GOOD)], 0)):
        official = write(tmp_path / "o", lines)
        got, out, _ = call(capfd, "score", log, "--baseline", official)
        assert got == status
        assert "no request is in both the log and the baseline\n" in out
        unread = "lines of the baseline not read, not-json: 1; the first is line 1"
        assert (unread in out) is (lines == ["nonsense"])
        out = call(capfd, "score", log, "--baseline", official, "--output-format", "json")[1]
        trigger = json.loads(out)["scores"][0]["trigger"]
        assert trigger["baseline_requests"] == (1 if status == 0 else 0)
        assert trigger["baseline_unread_lines"] == (
            {"not-json": 1} if lines == ["nonsense"] else {}
        )


def test_two_runs_are_compared(capfd, tmp_path):
    first = write(tmp_path / "1", [result(i, GOOD) for i in range(1, 11)])
    second = write(tmp_path / "2", [result(i, BAD) for i in range(1, 11)])
    status, out, _ = call(capfd, "score", "--compare", first, second)
    assert status == 0
    assert "in the first alone 10, in the second alone 0: more than noise" in out
    told = json.loads(
        call(capfd, "score", "--compare", first, second, "--output-format", "json")[1]
    )
    assert told["comparison"]["schema_accuracy"]["p"] == 2 / 2**10
    assert [s["schema_accuracy"]["value"] for s in told["scores"]] == [1, 0]
    assert call(capfd, "score", "--compare", first, second, "--min-accuracy", "0.5")[0] == 1


def test_misuse_is_one_clear_line(capfd, log, tmp_path):
    for arguments in (
        ["score"],
        ["score", log, "--compare", log, log],
        ["score", tmp_path / "none"],
        ["score", tmp_path],
        ["score", "/dev/null"],
        ["score", log, "--profile", "nobody"],
        ["score", log, "--samples", tmp_path / "none"],
        ["score", log, "--baseline", tmp_path / "none"],
    ):
        status, out, err = call(capfd, *arguments)
        assert (status, out) == (2, "")
        assert is_one_clear_line(err)


def test_what_is_written_is_the_same_each_time(tmp_path):
    log = write(tmp_path / "a", made(1))
    outs = {
        run("score", log, cwd=tmp_path, env={"PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")
    }
    assert len(outs) == 1


def test_a_terminal_has_a_bar_while_a_log_is_read(tmp_path):
    log = write(tmp_path / "a", made(1, 50_000))
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "score", log],
        stdout=subprocess.DEVNULL,
        stderr=child,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(child)
    shown = b""
    try:
        while part := os.read(parent, 4_096):
            shown += part
    except OSError:  # the other end is closed
        pass
    assert process.wait(60) == 0
    os.close(parent)
    assert b"%, " in shown
    assert b" requests" in shown
    assert shown.endswith(b"\r\x1b[K")


def test_memory_does_not_grow_with_the_log(tmp_path):
    program = (
        "import sys; from schemaguard.score import score; score(sys.argv[1]);"
        "print(next(l.split()[1] for l in open('/proc/self/status') if l.startswith('VmHWM')))"
    )
    used = []
    for size in (1_000, 20_000):
        log = write(tmp_path / "a", made(2, size))
        done = subprocess.run(
            [sys.executable, "-c", program, log], capture_output=True, check=True, timeout=120
        )
        used.append(int(done.stdout))
    assert used[1] - used[0] < 4_096  # KiB; the log grows by 60 MB


def test_a_line_without_end_takes_no_more_memory_than_a_line_may(tmp_path):
    log = tmp_path / "a"
    with log.open("wb") as file:
        file.truncate(1 << 30)
    limit = 400 << 20
    program = (
        "import resource, sys;"
        f"resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}));"
        "from schemaguard.score import score; print(score(sys.argv[1]).faults)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, log], capture_output=True, check=True, timeout=120
    )
    assert done.stdout == b"{'too-long': 1}\n"


def test_nothing_heavy_is_loaded():
    program = "import sys, schemaguard.score, schemaguard.cli.score; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not {b"jsonschema", b"xgrammar", b"torch", b"referencing"} & set(done.stdout.split())


def test_the_library_and_the_command_agree(capfd, log):
    told = json.loads(call(capfd, "score", log, "--output-format", "json")[1])["scores"][0]
    assert told["schema_accuracy"] == score(log).schema_accuracy.as_dict()
