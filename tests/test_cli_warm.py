"""`schemaguard warm`: what a fleet knows is compiled, written down, and shown."""

from __future__ import annotations

import base64
import json
import os
import sys
import tempfile

import pytest
import redis_server
from closed_objects import closed
from command import call, is_one_clear_line, run
from redis_server import RedisServer
from vocabulary import QWEN, QWEN_SPECIALS, QWEN_WIDTH, TEKKEN

pytest.importorskip("xgrammar", reason="needs the extra `xgrammar`")

from schemaguard import check_request
from schemaguard.grammar import Compiler, Tokenizer
from schemaguard.grammar.store import SqliteStore

GOOD = closed(q={"type": "string"}, n={"type": "integer"})
OPEN = {"type": "object", "properties": {"q": {"type": "string"}}}
UNSUPPORTED = closed(a={"type": "array", "items": [{"type": "string"}]})
DEAR = closed(a={"type": "string", "pattern": "^.{1,129}$"})


def request(**tools):
    return {
        "model": "m",
        "messages": [],
        "tools": [
            {
                "type": "function",
                "function": {"name": name, "strict": True, "parameters": parameters},
            }
            for name, parameters in tools.items()
        ],
    }


@pytest.fixture
def warm(tmp_path, capfd):
    """Calls the command on requests, in this process."""

    def call_it(tools, *options, tokenizer="bytes", store=tmp_path / "store" / "v.sqlite3"):
        (tmp_path / "r.json").write_text(json.dumps(request(**tools)), encoding="utf-8")
        given = ("--tokenizer", tokenizer, "--store", store, "--isolated")
        return call(capfd, "warm", tmp_path / "r.json", *given, *options)

    return call_it


def rows(out):
    return {row["tool"]: row for row in json.loads(out)["tools"]}


def test_what_is_compiled_is_known_to_the_next_process(warm, tmp_path):
    status, out, err = warm({"search": GOOD}, "--output-format", "json", "-q")
    assert (status, err) == (0, "")
    row = rows(out)["search"]
    assert row["outcome"] == "compiled"
    assert row["trial_seconds"] > 0
    assert row["seconds"] >= row["trial_seconds"]
    assert row["grammar_bytes"] > 0
    status, out, _ = warm({"search": GOOD}, "--output-format", "json")
    assert status == 0
    assert rows(out)["search"]["outcome"] == "known"
    assert rows(out)["search"]["trial_seconds"] is None
    assert json.loads(out)["store"]["hits"] == 1
    # … and to a server: it needs no trial.
    store = SqliteStore(tmp_path / "store" / "v.sqlite3")
    with store, Compiler(Tokenizer.byte_level(), isolation="process", store=store) as compiler:
        body = json.dumps(request(search=GOOD), indent=2)
        accepted = check_request(body, api="chat").tools[0].report.accepted
        assert compiler.compile(accepted).stats.trial_seconds is None


def test_each_outcome_has_its_reason_and_fails(warm):
    tools = {"good": GOOD, "open": OPEN, "old": UNSUPPORTED, "dear": DEAR}
    status, out, _ = warm(tools, "--output-format", "json")
    assert status == 1
    found = rows(out)
    assert list(found) == list(tools)
    assert found["good"]["outcome"] == "compiled"
    assert found["open"]["outcome"] == "rejected"
    assert found["open"]["message"].startswith("SG401 open-object")
    assert (found["old"]["outcome"], found["old"]["reason"]) == ("refused", "unsupported")
    assert found["old"]["schema_pointer"] == "/properties/a"
    assert (found["dear"]["outcome"], found["dear"]["reason"]) == ("refused", "cost")
    assert found["dear"]["schema_pointer"] == "/properties/a/pattern"
    assert [row["pointer"] for row in found.values()] == [f"/tools/{n}" for n in range(4)]
    assert warm(tools, "--exit-zero")[0] == 0


def test_the_table_shows_all_that_fails_and_what_took_longest(warm):
    tools = {f"tool_{n}": closed(**{f"p{n}": {"type": "string"}}) for n in range(25)}
    status, out, err = warm({**tools, "bad\x1b[2J\n": OPEN})
    assert status == 1
    assert "\x1b" not in out
    lines = out.splitlines()
    assert lines[0].split() == ["tool", "trial", "compile", "grammar"]
    assert sum(line.startswith("tool_") for line in lines) == 20
    assert sum(line.startswith("bad\\u001b[2J\\u000a") for line in lines) == 1
    assert any("SG401 open-object" in line for line in lines)
    assert err.splitlines()[-1].startswith("26 tools: 25 compiled, 1 rejected; ")
    out = warm(tools, "--all")[1]
    assert sum(line.startswith("tool_") for line in out.splitlines()) == 25


def test_the_same_schema_is_compiled_once(warm):
    _, out, _ = warm({"a": GOOD, "b": GOOD}, "--output-format", "json")
    assert [row["outcome"] for row in rows(out).values()] == ["compiled", "known"]


def test_the_default_store_is_in_the_cache_folder(tmp_path):
    (tmp_path / "r.json").write_text(json.dumps(request(a=GOOD)), encoding="utf-8")
    home = {"XDG_CACHE_HOME": str(tmp_path / "cache"), "HOME": str(tmp_path)}
    done = run("warm", "r.json", "--tokenizer", "bytes", cwd=tmp_path, env=home.items())
    assert done.returncode == 0, done.stderr
    assert os.path.getsize(tmp_path / "cache" / "schemaguard" / "verdicts-1.sqlite3") > 0


def test_nothing_to_compile_fails(tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "empty.json").write_text("[1, 2]", encoding="utf-8")
    status, out, err = call(capfd, "warm", tmp_path / "empty.json", "--tokenizer", "bytes")
    assert status == 1
    assert out == ""
    assert "nothing-to-check" in err
    status, _, err = call(capfd, "warm", tmp_path / "none.json", "--tokenizer", "bytes", "-q")
    assert status == 2
    assert is_one_clear_line(err)


# The store ------------------------------------------------------------------------------------------


def test_a_store_that_cannot_be_written_to_is_said_after_the_work(warm, tmp_path):
    (tmp_path / "notes").write_text("not a store", encoding="utf-8")
    (tmp_path / "notes").chmod(0o600)
    status, out, err = warm({"a": GOOD}, "--output-format", "json", store=tmp_path / "notes")
    assert status == 2
    assert rows(out)["a"]["outcome"] == "compiled"
    assert "is not a verdict store" in err
    assert (tmp_path / "notes").read_text(encoding="utf-8") == "not a store"


def test_a_url_that_is_none_is_refused_without_saying_it(warm):
    status, _, err = warm({"a": GOOD}, store="redis://:secret/word@host")
    assert status == 2
    assert is_one_clear_line(err)
    assert "secret" not in err


def test_verdicts_go_to_redis(warm):
    pytest.importorskip("redis", reason="needs the extra `redis`")
    if redis_server.BINARY is None:
        pytest.skip(redis_server.WHY_NOT)
    with tempfile.TemporaryDirectory() as folder, RedisServer(folder) as server:
        outcomes = [
            rows(warm({"a": GOOD}, "--output-format", "json", store=server.url)[1])["a"]["outcome"]
            for _ in range(2)
        ]
    assert outcomes == ["compiled", "known"]


# The tokenizer --------------------------------------------------------------------------------------


def fingerprint(out):
    return json.loads(out)["tokenizer"]["fingerprint"]


def test_a_tiktoken_file_is_the_vocabulary_that_the_library_makes_of_it(warm, tmp_path):
    if not QWEN.exists():
        pytest.skip("no .venv/vocab/qwen.tiktoken: `make` sets it up")
    (tmp_path / "specials.json").write_text(json.dumps(QWEN_SPECIALS), encoding="utf-8")
    options = ("--special-tokens", tmp_path / "specials.json", "--vocab-size", QWEN_WIDTH)
    status, out, _ = warm({"a": GOOD}, *options, "--output-format", "json", tokenizer=QWEN)
    assert status == 0
    made = Tokenizer.from_tiktoken(QWEN, QWEN_SPECIALS, vocab_size=QWEN_WIDTH)
    assert fingerprint(out) == made.fingerprint


def test_a_tekken_file_is_known_by_its_content(warm, tmp_path):
    if not TEKKEN.exists():
        pytest.skip("no .venv/vocab/tekken.json: `make` sets it up")
    os.symlink(TEKKEN, tmp_path / "vocabulary")
    status, out, _ = warm({"a": GOOD}, "--output-format", "json", tokenizer=tmp_path / "vocabulary")
    assert status == 0
    assert fingerprint(out) == Tokenizer.from_tekken(TEKKEN).fingerprint


def test_a_tokenizer_of_hugging_face_is_read_from_its_file_or_folder(warm, tmp_path):
    tokenizers = pytest.importorskip("tokenizers", reason="comes with the extra `xgrammar`")
    transformers = pytest.importorskip("transformers", reason="comes with the extra `xgrammar`")
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    end = "<eos>"
    words = {letter: number for number, letter in enumerate([*alphabet, end])}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(words, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens([end])
    folder = tmp_path / "model"
    saved = transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token=end)
    saved.save_pretrained(folder)
    status, out, err = warm({"a": GOOD}, "--output-format", "json", tokenizer=folder)
    assert status == 0, err
    stop = ("--stop-token", end)
    file = folder / "tokenizer.json"
    status, again, err = warm({"a": GOOD}, "--output-format", "json", *stop, tokenizer=file)
    assert status == 0, err
    assert fingerprint(again) == fingerprint(out) == Tokenizer.from_huggingface(saved).fingerprint


@pytest.mark.parametrize(
    ("content", "options", "words"),
    [
        (None, (), "No such file"),
        (b"", (), "vocabulary"),
        (b"{", (), "is no JSON"),
        (b"{" + b'"a":{' * 100_000, (), "is no JSON"),
        (b'{"a": 1}', (), "is no tekken file"),
        (b'{"model": 1}', (), "holds no tokenizer"),
        (b'{"a": 1}', ("--vocab-size", "5"), "--vocab-size has no meaning"),
        (b'{"a": 1}', ("--special-tokens", "x"), "--special-tokens has no meaning"),
        (b"YQ== 0", (), "stop"),
        (b"YQ== 0", ("--stop-token", "7"), "7"),
        (b"YQ== 0", ("--stop-token", "<no>\x1b"), "<no>"),
        (b"YQ== 0", ("--special-tokens", "none.json"), "No such file"),
    ],
)
def test_a_tokenizer_that_cannot_be_used_is_one_clear_line(
    warm, tmp_path, monkeypatch, content, options, words
):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "vocabulary").write_bytes(content)
    status, out, err = warm({"a": GOOD}, *options, tokenizer="vocabulary")
    assert (status, out) == (2, "")
    assert is_one_clear_line(err), err
    assert words in err
    assert "\x1b" not in err


NAME_THEM = (
    "; a tiktoken file does not have the special tokens: name all of them with --special-tokens "
    'FILE, a JSON file such as {"<|endoftext|>": 151643, "<|im_end|>": 151645}, and the one that '
    "ends an output with --stop-token NAME"
)


@pytest.mark.parametrize(
    ("names", "options", "words"),
    [
        (None, (), f"no special token has a known stop name{NAME_THEM}"),
        (None, ("--stop-token", "1"), f"the stop token 1 is not in 0..0{NAME_THEM}"),
        (
            None,
            ("--stop-token", "<no>"),
            f"the stop token '<no>' is not in the vocabulary{NAME_THEM}",
        ),
        ('["<a>"]', (), "no special token has a known stop name: name one with --stop-token NAME"),
        ('["<a>"]', ("--stop-token", "7"), "the stop token 7 is not in 0..1"),
        ('"<a>"', (), "a list of names, or an object of names and ids"),
        (
            '["<a>"]',
            ("--stop-token", "<a>", "--vocab-size", "1"),
            "--vocab-size 1 is less than the 2 tokens",
        ),
    ],
)
def test_what_a_tiktoken_file_lacks_is_said_in_options(
    warm, tmp_path, monkeypatch, names, options, words
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vocabulary").write_bytes(b"YQ== 0")
    if names is not None:
        (tmp_path / "names.json").write_text(names, encoding="utf-8")
        options = ("--special-tokens", "names.json", *options)
    status, out, err = warm({"a": GOOD}, *options, tokenizer="vocabulary")
    assert (status, out) == (2, "")
    assert is_one_clear_line(err), err
    assert words in err
    assert "stop_tokens" not in err


def test_a_tiktoken_file_is_of_use_once_its_special_tokens_are_named(warm, tmp_path):
    pytest.importorskip("xgrammar")
    lines = (f"{base64.b64encode(bytes([n])).decode()} {n}" for n in range(256))
    (tmp_path / "vocabulary").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "names.json").write_text('{"<a>": 256, "<b>": 257}', encoding="utf-8")
    options = ("--special-tokens", tmp_path / "names.json", "--stop-token", "<b>")
    status, out, err = warm(
        {"a": GOOD}, *options, "--output-format", "json", tokenizer=tmp_path / "vocabulary"
    )
    assert status == 0, err
    assert json.loads(out)["tokenizer"]["vocab_size"] == 258


def test_bytes_take_no_options(warm):
    status, _, err = warm({"a": GOOD}, "--stop-token", "1")
    assert status == 2
    assert "--stop-token has no meaning for the tokenizer bytes" in err


# A terminal -----------------------------------------------------------------------------------------

IN_A_TERMINAL = """
import sys
from schemaguard.cli import main, progress
progress._PATIENCE = progress._INTERVAL = 0.0
sys.exit(main(sys.argv[1:]))
"""


def test_a_bar_is_drawn_on_a_terminal_and_wiped(tmp_path):
    pty = pytest.importorskip("pty", reason="needs a pseudo-terminal")
    import subprocess

    tools = {f"tool_{n}": closed(**{f"p{n}": {"type": "string"}}) for n in range(5)}
    (tmp_path / "r.json").write_text(json.dumps(request(**tools)), encoding="utf-8")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-c", IN_A_TERMINAL, "warm", "r.json", "--tokenizer", "bytes"]
    done = subprocess.run(
        [*command, "--store", "v.sqlite3"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm"},
        check=False,
        timeout=120,
    )
    os.close(theirs)
    screen = os.read(ours, 100_000).decode()
    os.close(ours)
    assert done.returncode == 0, screen
    assert "\r\x1b[K[" + "=" * 6 + "." * 24 + "] 1 of 5" in screen
    assert "[" + "=" * 30 + "] 5 of 5\r\x1b[K" in screen
    assert screen.rstrip().splitlines()[-1].endswith(" s")


def test_nothing_of_it_is_drawn_elsewhere(warm):
    err = warm({"a": GOOD})[2]
    assert "\x1b" not in err
    assert len(err.splitlines()) == 1
