"""The completion scripts, in the shells that they are for."""

from __future__ import annotations

import os
import re
import select
import shutil
import subprocess
import time

import pytest
from command import ENVIRONMENT, PROGRAM, call

from schemaguard.cli import COMMANDS

#: What is typed → what may come next.
LINES = {
    "schemaguard prof": {"profiles"},
    "schemaguard b": {"baseline", "budgets"},
    "schemaguard --ver": {"--version"},
    "schemaguard check --output-fo": {"--output-format"},
    "schemaguard check --output-format g": {"github", "gitlab"},
    "schemaguard check --profile dy": {"dynamo"},
    "schemaguard check --config op": {"open.json"},
    "schemaguard check op": {"open.json"},
    "schemaguard check open.json --exit": {"--exit-zero"},
    "schemaguard check -q --fail-on w": {"warning"},
    "schemaguard check --mcp op": set(),
    "schemaguard baseline --output-f": {"--output-file"},
    "schemaguard profiles sh": {"show"},
    "schemaguard profiles show dy": {"dynamo"},
    "schemaguard rule SG30": {f"SG30{n}" for n in range(1, 10)},
    "schemaguard rule remote": {"remote-ref"},
    "schemaguard completion ": {"bash", "zsh", "fish"},
}


def shell(name):
    """The program, or a skip."""
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"{name} is not installed")
    return program


@pytest.fixture
def folder(tmp_path, capfd):
    """A folder with one file to complete, and beside it all the scripts."""
    there = tmp_path / "there"
    there.mkdir()
    (there / "open.json").write_text("{}", encoding="utf-8")
    for name in ("bash", "zsh", "fish"):
        (tmp_path / f"_{name}").write_text(call(capfd, "completion", name)[1], encoding="utf-8")
    return there


def options_of(command):
    """The long options of a subcommand, from its help."""
    done = subprocess.run([*PROGRAM, command, "--help"], capture_output=True, check=True)
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", done.stdout.decode()))


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_a_completion_script_knows_every_command_and_option(capfd, name):
    script = call(capfd, "completion", name)[1]
    for command in COMMANDS:
        assert re.search(rf"\b{command}\b", script)
        for option in options_of(command):
            word = option if name != "fish" else f"-l {option[2:]}"
            assert word in script


def test_bash_completes(folder):
    bash = shell("bash")
    for line, expected in LINES.items():
        *words, last = line.split(" ")
        named = " ".join(f"'{word}'" for word in (*words, last))
        script = (
            "source ../_bash\n"
            f"COMP_WORDS=({named}); COMP_CWORD={len(words)}\n"
            # As `complete -o default` does: names of files where the function has nothing.
            "_schemaguard; if (( ! ${#COMPREPLY[@]} )); then "
            'mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}"); fi\n'
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            [bash, "--norc", "-c", script], cwd=folder, capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), line
        if "--mcp" in line:  # bash itself offers files where it is offered nothing
            continue
        assert set(done.stdout.decode().split()) == expected, line


def test_bash_has_the_function_after_the_script(folder):
    done = subprocess.run(
        [shell("bash"), "--norc", "-c", "source ../_bash; complete -p schemaguard"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    assert done.stdout == b"complete -o default -F _schemaguard schemaguard\n"


def test_fish_completes(folder, tmp_path):
    fish = shell("fish")
    environment = {**ENVIRONMENT, "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    for line, expected in LINES.items():
        done = subprocess.run(
            [fish, "--no-config", "-c", f"source ../_fish; complete -C '{line}'"],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b""), line
        found = {row.split("\t")[0] for row in done.stdout.decode().splitlines()}
        assert found == expected, line


ZSHRC = """
LISTMAX=100000
{setup}
compadd() {{  # what zsh is given to offer goes to a file, too
  if [[ -z ${{argv[(r)-[ADO]]}} ]]; then
    local -a matched
    builtin compadd -O matched "$@"
    (( $#matched )) && print -rl -- $matched >> {found}
  fi
  builtin compadd "$@"
}}
settled() {{ print -r -- "END" >> {found}; BUFFER= }}
zle -N settled
bindkey '^T' settled
"""


@pytest.mark.parametrize(
    "setup",
    [
        "autoload -Uz compinit; compinit -u -D; source {scripts}/_zsh",
        "fpath=({scripts}/functions $fpath); autoload -Uz compinit; compinit -u -D",
    ],
    ids=["sourced", "from fpath"],
)
def test_zsh_completes(folder, tmp_path, setup):
    pty = pytest.importorskip("pty")
    zsh = shell("zsh")
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "_schemaguard").write_bytes((tmp_path / "_zsh").read_bytes())
    found = tmp_path / "found"
    found.touch()
    settings = ZSHRC.format(setup=setup.format(scripts=tmp_path), found=found)
    (tmp_path / ".zshrc").write_text(settings, encoding="utf-8")
    ours, theirs = pty.openpty()
    started = subprocess.Popen(
        [zsh, "-i"],
        cwd=folder,
        env={**ENVIRONMENT, "ZDOTDIR": str(tmp_path), "HOME": str(tmp_path), "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        for line, expected in LINES.items():
            found.write_bytes(b"")
            os.write(ours, f"{line}\t\x14".encode())
            shown = read_until(ours, lambda: found.read_text().endswith("END\n"))
            offered = set(found.read_text().split()) - {"END"}
            assert offered == expected, (line, shown)
    finally:
        started.kill()
        started.wait()
        os.close(ours)


def read_until(terminal, done):
    """What the terminal shows until something is so."""
    shown = b""
    until = time.monotonic() + 60
    while not done():
        assert time.monotonic() < until, shown
        if select.select([terminal], [], [], 0.02)[0]:
            shown += os.read(terminal, 4_096)
    return shown
