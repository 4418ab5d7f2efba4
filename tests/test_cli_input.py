"""Bad input and bad luck: a clear line, the right exit status, no traceback, nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from command import ENVIRONMENT, GOOD, OPEN, PROGRAM, is_one_clear_line, run

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def as_nobody(*arguments, cwd):
    """The command without the rights of root, for whom every file can be read."""
    if not ROOT:
        return run(*arguments, cwd=cwd)
    # The package may be where nobody else may read: all of it is loaded first.
    script = (
        "import os, subprocess, sys; from schemaguard.cli import main; import schemaguard.sources.files; "
        "assert main(['check', '-q', '--isolated', 'good.json']) == 0; "
        "os.setgid(65534); os.setuid(65534); sys.exit(main(sys.argv[1:]))"
    )
    done = subprocess.run(
        [PROGRAM[0], "-c", script, *arguments],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        timeout=60,
        check=False,
    )
    done.stdout, done.stderr = done.stdout.decode(), done.stderr.decode()
    return done


@pytest.fixture
def folder():
    """A folder that anybody can get to, which `tmp_path` is not."""
    with tempfile.TemporaryDirectory() as path:
        made = Path(path)
        made.chmod(0o777)
        (made / ".git").mkdir()
        (made / "open.json").write_text(OPEN, encoding="utf-8")
        (made / "good.json").write_text(GOOD, encoding="utf-8")
        yield made


# ---------------------------------------------------------------------------------------------- input


def test_an_unreadable_file_is_2(folder):
    (folder / "x.json").write_text(GOOD, encoding="utf-8")
    (folder / "x.json").chmod(0)
    done = as_nobody("check", "-q", "x.json", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "schemaguard: x.json: Permission denied\n"


def test_an_unreadable_configuration_is_2(folder):
    (folder / "schemaguard.toml").write_text("", encoding="utf-8")
    (folder / "schemaguard.toml").chmod(0)
    done = as_nobody("check", "good.json", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_clear_line(done.stderr)
    assert "schemaguard.toml: Permission denied" in done.stderr


def test_a_folder_that_cannot_be_listed_is_2(folder):
    (folder / "x").mkdir()
    (folder / "x").chmod(0)
    done = as_nobody("check", "-q", "x", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_clear_line(done.stderr)
    assert "Permission denied" in done.stderr
    done = as_nobody("check", "-q", "--isolated", "x", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "schemaguard: x: Permission denied\n"


def test_a_symbolic_link_to_itself_is_2(folder):
    (folder / "x.json").symlink_to("x.json")
    done = run("check", "-q", "x.json", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_clear_line(done.stderr)


def test_a_loop_of_folders_ends(folder):
    (folder / "a").mkdir()
    (folder / "a" / "b").symlink_to(folder / "a")
    (folder / "a" / "c.json").symlink_to("c.json")
    (folder / "a" / "d.json").write_text(OPEN, encoding="utf-8")
    done = run("check", "-q", "a", cwd=folder)
    assert done.returncode == 1
    assert done.stdout.count("SG401") == 1


def test_an_empty_folder_is_not_clean(folder):
    (folder / "x").mkdir()
    done = run("check", "-q", "x", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "schemaguard: x: no file to check in this folder\n"


def test_a_binary_file_and_invalid_utf_8_are_findings(folder):
    (folder / "x.json").write_bytes(bytes(range(256)) * 40)
    (folder / "y.json").write_bytes(b'{"a": "\xff"}')
    done = run("check", "-q", "x.json", "y.json", cwd=folder)
    assert done.returncode == 1
    assert done.stderr == ""
    assert [line.split(":")[0] for line in done.stdout.splitlines()][:1] == ["x.json"]
    assert "SG108" in done.stdout


def test_fifty_megabytes_are_a_finding_and_are_not_read(folder):
    with (folder / "x.json").open("wb") as file:
        file.truncate(50 << 20)
    done = run("check", "-q", "x.json", cwd=folder)
    assert done.returncode == 1
    assert "SG110" in done.stdout
    assert done.stderr == ""


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_an_endless_file_ends(folder):
    done = run("check", "-q", "/dev/zero", cwd=folder)
    assert done.returncode == 1
    assert "SG110" in done.stdout


def test_the_name_of_a_file_cannot_forge_a_line(folder):
    name = "x\n::error::forged\x1b[2J.json"
    (folder / name).write_text(OPEN, encoding="utf-8")
    done = run("check", name, f"missing{name}", cwd=folder)
    assert done.returncode == 2
    assert "\x1b" not in done.stdout + done.stderr
    assert not any(x.startswith("::") for x in (done.stdout + done.stderr).splitlines())


def test_a_file_whose_name_is_no_unicode_is_checked(folder):
    name = b"\xff.json"
    try:
        (folder / os.fsdecode(name)).write_text(OPEN, encoding="utf-8")
    except OSError:
        pytest.skip("this file system has Unicode names only")
    for form in ("text", "json", "sarif", "github", "gitlab", "junit", "markdown"):
        done = run("check", ".", "--output-format", form, cwd=folder)
        assert (form, done.returncode) == (form, 1)
        assert "Traceback" not in done.stderr


# --------------------------------------------------------------------------------------------- output


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_output_file_in_a_missing_folder_is_2_before_any_work(folder):
    done = run("check", "open.json", "-o", "none/out.txt", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "schemaguard: cannot write none/out.txt: No such file or directory\n"


def test_an_output_file_that_is_a_folder_is_2(folder):
    (folder / "out").mkdir()
    done = run("check", "open.json", "-o", "out", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "schemaguard: cannot write out: Is a directory\n"


def test_an_output_file_that_must_not_be_written_is_2_and_stays(folder):
    (folder / "out").write_text("before", encoding="utf-8")
    (folder / "out").chmod(0o444)
    done = as_nobody("check", "open.json", "-o", "out", cwd=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "schemaguard: cannot write out: Permission denied\n"
    assert (folder / "out").read_text(encoding="utf-8") == "before"


def test_an_output_file_is_replaced_whole_and_keeps_its_mode(folder):
    (folder / "out").write_text("before" * 1000, encoding="utf-8")
    (folder / "out").chmod(0o640)
    (folder / "link").symlink_to("out")
    done = run("check", "-q", "open.json", "-o", "link", cwd=folder)
    assert done.returncode == 1
    assert (folder / "link").is_symlink()
    assert (folder / "out").read_text(encoding="utf-8").count("\n") == 1
    assert (folder / "out").stat().st_mode & 0o777 == 0o640
    assert left(folder) == [".git", "good.json", "link", "open.json", "out"]


def test_a_failed_run_leaves_the_output_file_as_it_was(folder):
    (folder / "out").write_text("before", encoding="utf-8")
    script = (
        "import schemaguard.lint as lint, sys\n"
        "def broken(*a, **k): raise KeyError\n"
        "lint.check_text, whole = broken, lint.check_text\n"
        "from schemaguard.cli import main\n"
        "sys.exit(main(['check', 'open.json', '-o', 'out']))"
    )
    done = subprocess.run([PROGRAM[0], "-c", script], cwd=folder, capture_output=True, check=False)
    assert done.returncode == 2
    assert (folder / "out").read_text(encoding="utf-8") == "before"
    assert left(folder) == [".git", "good.json", "open.json", "out"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_full_disk_is_2_in_one_line(folder, form):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*PROGRAM, "check", "-q", "open.json", "--output-format", form],
            cwd=folder,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 2
    assert is_one_clear_line(done.stderr.decode())
    assert "No space left" in done.stderr.decode()
    done = run("check", "-q", "open.json", "-o", "/dev/full", cwd=folder)
    assert done.returncode == 2
    assert done.stderr == "schemaguard: cannot write /dev/full: No space left on device\n"


@pytest.mark.parametrize("form", ["text", "json", "junit"])
def test_a_broken_pipe_is_quiet(folder, form):
    many = {"type": "object", "properties": {f"p{i}": {"type": "object"} for i in range(900)}}
    (folder / "x.json").write_text(str(many).replace("'", '"'), encoding="utf-8")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*PROGRAM, "check", "x.json", "--output-format", form],
        cwd=folder,
        stdout=writer,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 2


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_closed_stream_is_no_traceback(folder, stream):
    number = {"stdout": 1, "stderr": 2}[stream]
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {number}>&-', "sh", *PROGRAM, "check", "open.json"],
        cwd=folder,
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == {"stdout": 2, "stderr": 1}[stream]


def test_ctrl_c_is_130_in_one_line_and_writes_nothing(folder):
    started = subprocess.Popen(
        [*PROGRAM, "check", "-", "-o", "out"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until = time.monotonic() + 30
    while not any(name.endswith(".tmp") for name in left(folder)):
        assert time.monotonic() < until, "the run did not start"
        time.sleep(0.01)
    started.send_signal(signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert started.returncode == 130
    assert out == b""
    assert err == b"schemaguard: interrupted\n"
    assert left(folder) == [".git", "good.json", "open.json"]
