"""A guard in a server: cache, metrics, log, settings."""

from __future__ import annotations

import importlib
import json
import logging
import re
import subprocess
import sys
import threading
import types
from pathlib import Path

import pytest
from handler_requests import APIS, CLOSED, OPEN, body

from schemaguard import Limits
from schemaguard.handlers import Guard, Policy, VerdictCache
from schemaguard.handlers.asgi import PreflightMiddleware
from schemaguard.handlers.settings import PREFIX, Settings, from_environment

ROOT = Path(__file__).resolve().parents[1]
GOOD = body("chat", ("a",))
BAD = body("chat", ("a", OPEN))


# ------------------------------------------------------------------------------------------ cache


def test_the_second_verdict_on_the_same_bytes_is_known():
    guard = Guard()
    first, second = guard.check(BAD, "chat"), guard.check(BAD, "chat")
    assert second.decision is first.decision
    assert second.answer.body == first.answer.body
    assert (guard.cache.use.hits, guard.cache.use.misses, guard.cache.use.entries) == (1, 1, 1)


def test_bytes_apis_and_policies_are_told_apart():
    cache = VerdictCache()
    strict, lenient = Guard(cache=cache), Guard(Policy(severities={"SG401": "note"}), cache=cache)
    assert not strict.check(BAD, "chat").decision.ok
    assert lenient.check(BAD, "chat").decision.ok
    assert strict.check(BAD, "messages").decision.refusal.pointer != "/tools/0/function/parameters"
    assert not strict.check(BAD + b" ", "chat").decision.ok
    assert cache.use.hits == 0


def test_the_cache_is_bounded_in_entries_and_in_weight():
    cache = VerdictCache(max_entries=10)
    guard = Guard(cache=cache)
    for number in range(50):
        guard.check(body("chat", (f"t{number}",)), "chat")
    assert (cache.use.entries, cache.use.evictions) == (10, 40)
    light = VerdictCache(max_weight=400_000)
    guard = Guard(cache=light)
    for number in range(50):
        guard.check(body("chat", *[(f"t{number}-{i}", OPEN) for i in range(10)]), "chat")
        assert light.use.weight <= 400_000
    assert light.use.evictions > 0
    light.clear()
    assert (light.use.entries, light.use.weight) == (0, 0)


def test_the_least_recently_used_verdict_goes_first():
    cache = VerdictCache(max_entries=2)
    for raw in (b"true", b"false", b"true", b"{}"):
        cache.accepts(raw, "xgrammar")
    assert cache.use.hits == 1
    cache.accepts(b"true", "xgrammar")
    assert cache.use.hits == 2


def test_a_decision_that_is_kept_keeps_no_schema():
    import gc

    guard = Guard()
    marker = "marker-" * 20
    guard.check(body("chat", ("a", {**CLOSED, "description": marker})), "chat")
    guard.check(body("chat", ("b", {**OPEN, "description": marker})), "chat")
    gc.collect()
    seen, stack = set(), [guard]
    while stack:
        item = stack.pop()
        if id(item) in seen or isinstance(item, type) or len(seen) > 200_000:
            continue
        seen.add(id(item))
        assert not (isinstance(item, str) and "marker-marker" in item)
        stack.extend(
            gc.get_referents(item) if not isinstance(item, (type(gc), type(gc.collect))) else ()
        )


def test_threads_share_one_cache():
    cache = VerdictCache(max_entries=5)
    guard = Guard(cache=cache)
    bodies = [body("chat", (f"t{i}", OPEN if i % 2 else CLOSED)) for i in range(12)]
    wrong = []

    def work():
        for _ in range(30):
            for index, text in enumerate(bodies):
                if guard.check(text, "chat").decision.ok != (index % 2 == 0):
                    wrong.append(index)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    use = cache.use
    assert use.hits + use.misses == 4 * 30 * 12
    assert use.entries == 5


def test_slow_profiles_remember_the_schemas_of_other_bodies():
    guard = Guard(Policy(server="vllm"))
    other = {**CLOSED, "properties": {"p": {"type": "string"}}, "required": ["p"]}
    for number in range(5):
        guard.check(body("chat", ("a", CLOSED), ("b", other), user=str(number)), "chat")
    assert guard.cache.use.hits == 0
    assert (guard.schemas.use.misses, guard.schemas.use.hits) == (2, 8)


def test_the_recipe_with_msgspec_does_not_parse_a_known_schema(monkeypatch):
    pytest.importorskip("msgspec")
    page = (ROOT / "docs" / "handlers.md").read_text(encoding="utf-8")
    code = next(
        block
        for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL)
        if "msgspec.Raw" in block
    )
    module = types.ModuleType("recipe")  # where msgspec looks for the names in annotations
    monkeypatch.setitem(sys.modules, "recipe", module)
    exec(compile(code, "docs/handlers.md", "exec"), module.__dict__)  # noqa: S102  (our own page)
    scope = module.__dict__
    assert scope["refused"](GOOD) is None
    assert scope["refused"](BAD) == "a"
    preflight = importlib.import_module("schemaguard.preflight")

    def parse(*_args, **_kwargs):
        raise AssertionError("parsed")

    monkeypatch.setattr(preflight, "check", parse)
    assert scope["refused"](GOOD) is None
    assert scope["refused"](BAD) == "a"
    # The same tools in another conversation.
    assert scope["refused"](body("chat", ("a",), user="x")) is None


# ---------------------------------------------------------------------------------------- metrics


def test_metrics_are_in_the_text_format_of_prometheus():
    parser = pytest.importorskip("prometheus_client.parser")
    guard = Guard(Policy(on_reject="drop-tool"))
    for text in (GOOD, GOOD, BAD, body("chat", ("a",), ("b", OPEN)), b"{"):
        guard.check(text, "chat")
    guard.check(body("messages", ("a", OPEN)), "messages")
    guard.refuse(413, "body-too-large", "too large", "chat")
    families = {f.name: f for f in parser.text_string_to_metric_families(guard.render_metrics())}
    found = {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in families.values()
        for sample in family.samples
    }
    assert found["schemaguard_checked_total", "chat"] == 6
    assert found["schemaguard_checked_total", "messages"] == 1
    assert found["schemaguard_accepted_total", "chat"] == 3
    assert found["schemaguard_rejected_total", "SG401", "chat"] == 1
    assert found["schemaguard_rejected_total", "SG101", "chat"] == 1
    assert found["schemaguard_rejected_total", "body-too-large", "chat"] == 1
    assert found["schemaguard_rejected_total", "SG401", "messages"] == 1
    assert found["schemaguard_changed_tools_total", "chat", "drop-tool"] == 1
    assert found["schemaguard_cache_hits_total",] == 1
    assert found["schemaguard_cache_misses_total",] == 5
    assert found["schemaguard_check_seconds_count",] == 7
    buckets = [
        s.value for s in families["schemaguard_check_seconds"].samples if s.name.endswith("_bucket")
    ]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 7
    assert families["schemaguard_rejected"].type == "counter"
    assert families["schemaguard_check_seconds"].type == "histogram"


def test_no_client_can_make_a_new_time_series():
    guard = Guard()
    before = len(guard.render_metrics().splitlines())
    for number in range(200):
        guard.check(body("chat", (f"evil-{number}", OPEN)), "chat")
    text = guard.render_metrics()
    assert "evil" not in text
    assert len(text.splitlines()) <= before + 3


# ------------------------------------------------------------------------------------------- logs


@pytest.mark.parametrize("json_log", [True, False])
def test_a_rejection_is_one_line_whatever_the_request_has_for_names(json_log, caplog):
    evil = "a\r\nWARNING forged\x1b[31m\u2028\u202e"
    guard = Guard(json_log=json_log)
    with caplog.at_level(logging.WARNING, "schemaguard.handlers"):
        guard.check(GOOD, "chat")
        guard.check(body("chat", (evil, OPEN)), "chat")
    (record,) = caplog.records
    line = record.getMessage()
    assert line.isprintable()
    assert line.isascii()
    if json_log:
        said = json.loads(line)
        assert (said["event"], said["status"], said["api"], said["cached"]) == (
            "refused",
            400,
            "chat",
            False,
        )
        assert said["code"] == "SG607"
        assert said["tool"].startswith("a\\u000d\\u000a")


def test_a_change_is_logged_too(caplog):
    guard = Guard(Policy(on_reject="relax"), json_log=True)
    with caplog.at_level(logging.WARNING, "schemaguard.handlers"):
        guard.check(BAD, "chat")
    said = json.loads(caplog.records[0].getMessage())
    assert said["event"] == "changed"
    assert said["changes"][0]["action"] == "relax"
    assert said["changes"][0]["code"] == "SG401"


# ------------------------------------------------------------------------------------------ plain


@pytest.mark.parametrize("api", APIS)
def test_the_plain_function_is_three_lines(api):
    guard = Guard()
    outcome = guard.check(body(api, ("a", OPEN)), api)
    assert (outcome.answer.status, outcome.answer.headers[0]) == (
        400,
        ("content-type", "application/json"),
    )
    assert guard.check(body(api, ("a",)), api).answer is None


def test_guard_says_what_it_cannot_be():
    with pytest.raises(ValueError):
        Guard(errors="xml")


# --------------------------------------------------------------------------------------- settings


def test_settings_come_from_the_environment():
    said = {
        "PATHS": "/a=chat, /b=messages,/c",
        "SERVER": "vllm",
        "SERVER_LEVEL": "function",
        "STRICT_ONLY": "false",
        "PROFILES": "dynamo, xgrammar",
        "OTHER_PROFILES": "xgrammar",
        "ON_REJECT": "relax",
        "SEVERITIES": "SG651=error",
        "ERRORS": "problem",
        "JSON_LOG": "1",
        "MAX_BODY_BYTES": "1000",
        "RECEIVE_TIMEOUT": "2.5",
        "MAX_BUFFERED_BYTES": "2000",
        "ENCODINGS": "pass",
        "OTHER_TYPES": "refuse",
        "METRICS_PATH": "/metrics",
        "TAGS": "",
    }
    settings = from_environment({PREFIX + key: value for key, value in said.items()}).given()
    assert settings == Settings(
        paths={"/a": "chat", "/b": "messages", "/c": "auto"},
        policy=Policy(
            server="vllm",
            server_level="function",
            strict_only=False,
            profiles={"strict": ("dynamo", "xgrammar"), "other": "xgrammar"},
            on_reject="relax",
            severities={"SG651": "error"},
        ),
        errors="problem",
        json_log=True,
        max_body_bytes=1000,
        receive_timeout=2.5,
        max_buffered_bytes=2000,
        encodings="pass",
        other_types="refuse",
        metrics_path="/metrics",
    )
    assert from_environment({}).given().policy == Policy()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("STRICT_ONLY", "maybe"),
        ("MAX_BODY_BYTES", "many"),
        ("MAX_BODY_BYTES", "0"),
        ("RECEIVE_TIMEOUT", "nan"),
        ("PATHS", "v1=chat"),
        ("PATHS", "/v1=telepathy"),
        ("SERVER", "x"),
        ("ENCODINGS", "gzip"),
        ("ERRORS", "x"),
        ("SEVERITIES", "SG651=bad"),
        ("SEVERITIES", "SG65l=error"),
        ("PROFILES", "dynamoo"),
        ("PROFILES", ","),
        ("PROFILES", "none"),
        ("OTHER_PROFILES", "xgramar"),
        ("ANSWER_PROFILES", "dynamoo"),
        ("SERVER_LEVEL", "all"),
        ("SCOPE", "never"),
        ("SCHEMA", "x"),
        ("TAGS", "x"),
        ("ON_REJECT", "x\n\x1b[31m"),
        ("JSON_LOG", "x"),
        ("MAX_BUFFERED_BYTES", "1.5"),
        ("RECEIVE_TIMEOUT", "-1"),
        ("OTHER_TYPES", "x"),
        ("METRICS_PATH", "metrics"),
    ],
)
def test_a_wrong_setting_ends_the_start_and_is_named(name, value):
    with pytest.raises(ValueError) as caught:
        from_environment({PREFIX + name: value}).given()
    said = str(caught.value)
    assert said.startswith(f"{PREFIX}{name}: ")
    assert said.isprintable()


def test_a_level_that_dynamo_does_not_have_is_named():
    with pytest.raises(ValueError, match=r"^SCHEMAGUARD_SERVER_LEVEL: "):
        from_environment({PREFIX + "SERVER": "dynamo", PREFIX + "SERVER_LEVEL": "function"})


def test_schemas_for_the_answer_can_be_left_out_by_a_variable():
    environ = {PREFIX + "SERVER": "vllm"}
    assert from_environment(environ).policy.profiles_for_answer
    environ[PREFIX + "ANSWER_PROFILES"] = "none"
    assert from_environment(environ).policy == Policy(server="vllm", profiles={"answer": ()})


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PROFILE", "PROFILES"),
        ("STRICTONLY", "STRICT_ONLY"),
        ("ONREJECT", "ON_REJECT"),
        ("SERVERS", "SERVER"),
        ("MAX_BODY", "MAX_BODY_BYTES"),
    ],
)
def test_a_misspelt_variable_ends_the_start_and_the_right_one_is_named(name, meant):
    with pytest.raises(ValueError) as caught:
        from_environment({PREFIX + name: "x", "PATH": "/bin"})
    assert str(caught.value) == (
        f'{PREFIX}{name}: there is no such setting; did you mean "{PREFIX}{meant}"?'
    )


def test_a_variable_that_looks_like_none_of_ours_is_logged(caplog):
    assert from_environment({PREFIX + "VERSION\n": "1"}).policy == Policy()
    assert [record.getMessage() for record in caplog.records] == [
        f"{PREFIX}VERSION\\u000a: there is no such setting"
    ]


@pytest.mark.parametrize("server", ["vllm", "sglang"])
def test_a_process_that_is_a_server_has_the_policy_for_it(server, monkeypatch):
    monkeypatch.setitem(sys.modules, server, object())
    assert from_environment({}).policy == Policy(server=server)
    assert from_environment({PREFIX + "SERVER": "dynamo"}).policy == Policy()
    level = {PREFIX + "SERVER_LEVEL": "function"}
    assert from_environment(level).policy == Policy(server=server, server_level="function")


def test_a_process_that_has_loaded_two_servers_is_taken_for_neither(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", object())
    monkeypatch.setitem(sys.modules, "sglang", object())
    assert from_environment({}).policy == Policy()


@pytest.mark.parametrize(
    "name", ["OUTPUT_FORMAT", "SERVICE_HOST", "SERVICE_PORT", "PORT", "PORT_8000_TCP_PROTO"]
)
def test_variables_of_the_command_and_of_kubernetes_are_passed_over(name, caplog):
    assert from_environment({PREFIX + name: "x"}).policy == Policy()
    assert not caplog.records


def test_the_page_of_settings_names_them_all():
    page = (ROOT / "docs" / "handlers.md").read_text(encoding="utf-8")
    source = (ROOT / "schemaguard" / "handlers" / "settings.py").read_text(encoding="utf-8")
    for name in re.findall(r'reader\.read\("([A-Z_]+)"', source):
        assert f"`{PREFIX}{name}`" in page
        assert f"`{PREFIX}{name}`" in source


def test_the_middleware_takes_its_settings_from_the_environment_by_import_path():
    code = (
        "import asyncio, importlib\n"
        "module, name = 'schemaguard.handlers.asgi.PreflightMiddleware'.rsplit('.', 1)\n"
        "made = getattr(importlib.import_module(module), name)(None)\n"
        "print(made.settings.policy.server, made.settings.max_body_bytes, made.guard.json_log)\n"
    )
    import os

    environ = {
        **os.environ,
        "SCHEMAGUARD_SERVER": "sglang",
        "SCHEMAGUARD_MAX_BODY_BYTES": "77",
        "SCHEMAGUARD_JSON_LOG": "true",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ
    )
    assert done.stdout.split() == ["sglang", "77", "True"]


def test_the_handlers_need_nothing_but_the_standard_library_and_load_no_engine():
    code = (
        "import sys, schemaguard.handlers.asgi\n"
        "from schemaguard.handlers import Guard\n"
        "Guard().check(b'{}', 'chat')\n"
        "print('\\n'.join(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    heavy = {
        "starlette",
        "fastapi",
        "uvicorn",
        "msgspec",
        "orjson",
        "jsonschema",
        "referencing",
        "xgrammar",
        "prometheus_client",
    }
    assert not loaded & heavy


def test_limits_of_a_policy_hold_for_the_body():
    assert Guard(Policy(limits=Limits(max_bytes=20))).check(GOOD, "chat").answer.status == 413


PAGE = (ROOT / "docs" / "handlers.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_blocks_of_the_page_run(block):
    for module in ("fastapi", "msgspec"):
        if f"import {module}" in block or f"from {module}" in block:
            pytest.importorskip(module)
    done = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_variables_that_an_argument_makes_void_are_named_once(monkeypatch, caplog):
    monkeypatch.setenv(PREFIX + "SERVER", "vllm")
    monkeypatch.setenv(PREFIX + "SEVERITIES", "SG651=error")
    monkeypatch.setenv(PREFIX + "ERRORS", "problem")
    monkeypatch.setenv(PREFIX + "JSON_LOG", "")

    with caplog.at_level("WARNING", "schemaguard.handlers"):
        PreflightMiddleware(None, policy=Policy())
    (record,) = caplog.records
    assert "SCHEMAGUARD_SERVER (`policy=`)" in record.getMessage()
    assert "SCHEMAGUARD_SEVERITIES (`policy=`)" in record.getMessage()
    assert "ERRORS" not in record.getMessage()  # it counts

    caplog.clear()
    with caplog.at_level("WARNING", "schemaguard.handlers"):
        PreflightMiddleware(None, guard=Guard(), errors="openai")
    (record,) = caplog.records
    assert "SCHEMAGUARD_ERRORS (`guard=`)" in record.getMessage()

    caplog.clear()
    with caplog.at_level("WARNING", "schemaguard.handlers"):
        PreflightMiddleware(None)
    assert not caplog.records


def test_an_address_is_let_through_and_can_be_refused():
    """pydantic's `EmailStr` is `format: email`."""
    schema = {
        "type": "object",
        "properties": {"to": {"type": "string", "format": "email"}},
        "required": ["to"],
        "additionalProperties": False,
    }
    function = {"name": "send", "strict": True, "parameters": schema}
    body = json.dumps({"messages": [], "tools": [{"type": "function", "function": function}]})

    assert Guard(Policy(server="vllm")).check(body.encode(), "chat").answer is None
    strict = Policy(server="vllm", severities={"SG824": "error"})
    refused = Guard(strict).check(body.encode(), "chat").answer
    assert refused.status == 400
    said = json.loads(refused.body)["error"]["message"]
    assert "slows down every request" in said
