"""Python objects: what has a schema, and modules that do their worst."""

from __future__ import annotations

import os
import sys
import time

import pytest

from schemaguard import lint
from schemaguard.sources import SourceError, python

pydantic = pytest.importorskip("pydantic")

MODULE = '''\
from __future__ import annotations
from dataclasses import dataclass
from typing import Annotated, Literal
from typing_extensions import TypedDict
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
print("noise on stdout")

class Inner(BaseModel):
    x: int

class Search(BaseModel):
    """Finds things."""
    model_config = ConfigDict(extra="forbid")
    q: str
    inner: Inner | None = None

@dataclass
class Point:
    x: float
    y: float

class Options(TypedDict):
    unit: Literal["C", "F"]

def weather(city: str, days: Annotated[int, Field(ge=1)] = 3) -> str:
    """The weather."""
    return city

adapter = TypeAdapter(list[int])
plain = {"name": "p", "inputSchema": {"type": "object", "additionalProperties": False}}
tools = [plain, weather]
instance = Inner(x=1)
number = 3
odd = {"name": object()}
class Box:
    tool = plain
'''


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(MODULE)
    return "mine.py"


def value(target, **options):
    return python.load(target, **options).parts[0].value


def test_models_dataclasses_typed_dicts_and_adapters_give_their_schema(module):
    search = value(f"{module}:Search")
    assert search["properties"]["q"] == {"title": "Q", "type": "string"}
    assert search["additionalProperties"] is False
    assert set(value(f"{module}:Point")["properties"]) == {"x", "y"}
    assert value(f"{module}:Options")["properties"]["unit"]["enum"] == ["C", "F"]
    assert value(f"{module}:adapter") == {"items": {"type": "integer"}, "type": "array"}


def test_a_function_is_a_tool_with_its_arguments(module):
    tool = value(f"{module}:weather")
    assert (tool["name"], tool["description"]) == ("weather", "The weather.")
    assert tool["inputSchema"]["required"] == ["city"]
    assert tool["inputSchema"]["properties"]["days"]["minimum"] == 1


def test_lists_dicts_and_attributes_are_taken_as_they_are(module):
    tools = value(f"{module}:tools")
    assert [tool["name"] for tool in tools] == ["p", "weather"]
    assert value("mine:Box.tool")["name"] == "p"


def test_findings_have_the_target_for_a_file_and_no_line(module):
    report = lint.check_source(python.load(f"{module}:tools"))
    assert report.path == "mine.py:tools"
    assert [tool.name for tool in report.tools] == ["p", "weather"]
    assert report.tools[0].ok
    bad = lint.check_source(python.load(f"{module}:Search"))
    assert all(f.line is None for f in bad.tools[0].findings)
    assert bad.kind == "schema"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("mine.py:nothing", "nothing"),
        ("mine.py:number", "int"),
        ("mine.py:odd", "object"),
        ("gone.py:x", "no file"),
        ("gone.module:x", "ModuleNotFoundError"),
    ],
)
@pytest.mark.usefixtures("module")
def test_what_has_no_schema_is_an_error_in_one_line(target, words):
    with pytest.raises(SourceError, match=words) as caught:
        python.load(target)
    assert "\n" not in str(caught.value)


HOSTILE = {
    "raises": ("x = 1\nraise RuntimeError('no\\nway')\n", "line 2: RuntimeError: no way"),
    "exits": ("import sys\nsys.exit(0)\n", "SystemExit"),
    "exits at once": ("import os\nos._exit(0)\n", "status 0"),
    "crashes": ("import os\nos.abort()\n", "signal 6"),
    "syntax": ("def\n", "SyntaxError"),
    "recursion": ("def f(): f()\nf()\n", "RecursionError"),
    "interrupts": ("raise KeyboardInterrupt\n", "KeyboardInterrupt"),
    "closes": ("import os\nos.closerange(0, 3)\nraise ValueError('x')\n", "ValueError"),
    "nan": ("x = {'a': float('nan')}\n", "NaN"),
    "deep": ("x = []\nfor _ in range(50): x = [x]\n", "lists in lists"),
    "deep dict": ("x = {}\nfor _ in range(5000): x = {'a': x}\n", "RecursionError"),
    "cycle": ("x = {}\nx['x'] = x\n", "Circular"),
    "huge": ("x = {'a': 'b' * (20 << 20)}\n", "too-many-bytes"),
    "key": ("x = {(1, 2): 3}\n", "TypeError"),
}


@pytest.mark.parametrize("kind", HOSTILE)
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_module_cannot_take_the_linter_down(kind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text, words = HOSTILE[kind]
    (tmp_path / "bad.py").write_text(text)
    with pytest.raises(SourceError, match=words):
        python.load("bad.py:x", timeout=20)


def test_noise_without_end_and_threads_do_no_harm(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loud.py").write_text(
        "import atexit, threading, time\nprint('x' * 10_000_000)\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "atexit.register(time.sleep, 600)\nx = True\n"
    )
    assert value("loud:x", timeout=20) is True


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_an_import_that_never_ends_is_ended_with_what_it_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(
        "import signal, subprocess, sys\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "open('pid', 'w').write(str(child.pid))\n"
        "while True: pass\n"
    )
    start = time.monotonic()
    with pytest.raises(SourceError, match="did not end within 2 s"):
        python.load("slow.py:x", timeout=2)
    assert time.monotonic() - start < 10
    assert gone(int((tmp_path / "pid").read_text()))


def gone(pid: int) -> bool:
    """Whether a process has ended, or is about to."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.usefixtures("module")
def test_without_pydantic_the_message_names_it(tmp_path):
    (tmp_path / "pydantic.py").write_text("raise ImportError('none')\n")
    (tmp_path / "f.py").write_text("def f(x: int): ...\nd = {'type': 'object'}\n")
    with pytest.raises(SourceError, match="a function needs pydantic"):
        python.load("f.py:f")
    assert value("f.py:d") == {"type": "object"}


def test_the_interpreter_can_be_chosen(module):
    assert value(f"{module}:plain", python=sys.executable)["name"] == "p"
    with pytest.raises(SourceError, match="nopython"):
        python.load(f"{module}:plain", python="./nopython")


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("a.py:x", True),
        ("dir/a b.py:x.y", True),
        ("pkg.mod:obj", True),
        ("x.json", False),
        ("a.py", False),
        ("a.py:", False),
        ("-", False),
        ("C:/x.json", False),
    ],
)
def test_targets_are_told_from_files(text, is_one):
    assert python.is_target(text) is is_one
