"""What the peers say of schemas, tools and requests; `provider_peers.py` runs this in their venv.

In: a JSON list of cases on standard input, each `{"id", "input", "schema"}`, where `input` says
whether `schema` is a schema, a tool or a request. Out: a JSON object on standard output::

    {"versions": {peer: version}, "answers": {peer: {profile: {id: answer}}}}

An answer is `{"verdict", "pointers", "says"}`. The verdict is "refused"; "remarked" (a warning, but
it would be sent); "rewritten" (another schema would be sent, and nobody is told; that schema or
those schemas are in "schemas"); or "passed" (it would be sent as it is). The profiles are named as
in the cases.
"""

from __future__ import annotations

import json
import sys
import warnings
from copy import deepcopy
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Answer = dict[str, Any]
    Peer = dict[str, Callable[[Any, str], Answer]]


def answer(verdict: str, pointers: Any = (), says: Any = (), **more: Any) -> Answer:
    """One answer; pointers are written as RFC 6901 has them."""
    found = sorted({pointer.removeprefix("#") for pointer in pointers})
    return {"verdict": verdict, "pointers": found, "says": list(says), **more}


def functions(value: Any, kind: str) -> list[tuple[str, str, Any]]:
    """Name, description and schema of each tool in a case."""
    if kind == "schema":
        return [("tool", "", value)]
    tools = value["tools"] if kind == "request" else [value]
    functions = [tool.get("function", tool) for tool in tools]
    return [
        (f["name"], f.get("description", ""), f.get("parameters", f.get("inputSchema")))
        for f in functions
    ]


def schemafit() -> Peer:
    """Its rule packs, each a bare schema's: a tool is given as the schema in it."""
    lint = import_module("schemafit.linter").lint

    def asked(pack: str) -> Callable[[Any, str], Answer]:
        def judged(value: Any, kind: str) -> Answer:
            found = [f for _, _, schema in functions(value, kind) for f in lint(schema, pack)]
            errors = [f for f in found if f.severity == "error"]
            verdict = "refused" if errors else "remarked" if found else "passed"
            told = errors or found
            return answer(verdict, (f.json_pointer for f in told), (f.rule_id for f in told))

        return judged

    packs = {
        "openai-strict": "openai",
        "anthropic-strict": "anthropic",
        "gemini-openapi": "gemini",
        "cohere-strict": "cohere",
        "mistral": "mistral",
    }
    return {profile: asked(pack) for profile, pack in packs.items()}


def mcp_strict_check() -> Peer:
    """Its axes. What it calls ambiguous is no verdict, as in its own output."""
    analyse = import_module("mcp_strict_check.cli").analyse
    # C0 holds for every tool of Anthropic; B is about the page of Azure, and says OpenAI.
    axes = {
        "openai-strict": {"B", "B_silent"},
        "azure-openai-strict": {"B", "B_silent"},
        "anthropic": {"C0"},
        "anthropic-strict": {"C0", "C", "CL"},
        "mcp": {"A"},
    }

    def asked(wanted: set[str]) -> Callable[[Any, str], Answer]:
        def judged(value: Any, kind: str) -> Answer:
            tools = [
                {"name": name, "description": text, "inputSchema": schema}
                for name, text, schema in functions(value, kind)
            ]
            found = [f for f in analyse(tools)[0] if f["axis"] in wanted]
            hard = [f for f in found if f["severity"] in ("hard-reject", "empirical")]
            verdict = "refused" if hard else "remarked" if found else "passed"
            told = hard or found
            return answer(
                verdict, (f["json_pointer"] or "" for f in told), (f["code"] for f in told)
            )

        return judged

    return {profile: asked(wanted) for profile, wanted in axes.items()}


def converted(value: Any, kind: str, convert: Callable[[str, str, Any], Any]) -> Answer:
    """The answer of a library that converts each tool's schema before it is sent."""
    given = functions(value, kind)
    sent = []
    with warnings.catch_warnings(record=True) as remarks:
        warnings.simplefilter("always")
        try:
            for name, text, schema in given:
                sent.append(convert(name, text, deepcopy(schema)))
        except Exception as error:  # noqa: BLE001  (any exception is a refusal, whatever it was)
            return answer("refused", says=[f"{type(error).__name__}: {error}"[:300]])
    told = [str(w.message)[:300] for w in remarks if w.category is UserWarning]
    same = [json.dumps(schema, sort_keys=True) for _, _, schema in given]
    if told:
        return answer("remarked", says=told, schemas=sent)
    if [json.dumps(schema, sort_keys=True) for schema in sent] != same:
        return answer("rewritten", schemas=sent)
    return answer("passed")


def openai_agents() -> Peer:
    """What becomes of a function tool that asks for strict, which is the default."""
    function_tool = import_module("agents").FunctionTool

    async def nothing(*_: Any) -> str:
        return ""

    def convert(name: str, text: str, schema: Any) -> Any:
        return function_tool(
            name=name, description=text, params_json_schema=schema, on_invoke_tool=nothing
        ).params_json_schema

    return {"openai-strict": lambda value, kind: converted(value, kind, convert)}


def transformers() -> Iterator[tuple[str, Any]]:
    """Profile → the transformer that pydantic-ai takes for a model of that provider."""
    google = import_module("pydantic_ai.profiles.google")
    yield "gemini-json", google.GoogleJsonSchemaTransformer
    yield "gemini-openapi", google.GoogleOpenAPISchemaTransformer
    for module, name, model, profiles in (
        ("openai", "OpenAIProvider", "gpt-5.6", ("openai", "openai-strict")),
        ("azure", "AzureProvider", "gpt-5.6", ("azure-openai-strict",)),
        ("anthropic", "AnthropicProvider", "claude-opus-5-5", ("anthropic", "anthropic-strict")),
        ("bedrock", "BedrockProvider", "anthropic.claude-opus-4-8", ("bedrock-claude-strict",)),
        ("cerebras", "CerebrasProvider", "gpt-oss-120b", ("cerebras-strict",)),
        ("deepseek", "DeepSeekProvider", "deepseek-chat", ("deepseek", "deepseek-strict")),
        ("fireworks", "FireworksProvider", "accounts/fireworks/models/glm-5", ("fireworks",)),
        ("groq", "GroqProvider", "openai/gpt-oss-120b", ("groq", "groq-strict")),
        ("meta", "MetaProvider", "muse-spark-1", ("meta",)),
        ("moonshotai", "MoonshotAIProvider", "kimi-k3", ("moonshot",)),
    ):
        provider = getattr(import_module(f"pydantic_ai.providers.{module}"), name)
        transformer = provider.model_profile(model).get("json_schema_transformer")
        for profile in profiles:
            yield profile, transformer


def pydantic_ai() -> Peer:
    """What its transformers make of a tool that asks for strict, or, for other APIs, does not."""

    def asked(transformer: Any, strict: bool | None) -> Callable[[Any, str], Answer]:
        def convert(_name: str, _text: str, schema: Any) -> Any:
            return transformer(schema, strict=strict).walk()

        return lambda value, kind: converted(value, kind, convert)

    return {
        profile: asked(transformer, True if profile.endswith("-strict") else None)
        for profile, transformer in transformers()
    }


def pydantic_ai_unasked() -> Peer:
    """Whether it would set strict by itself: its own answer to "is this schema strict?".

    Only for the transformers that work it out; those of Anthropic and Bedrock never set it.
    """

    def asked(transformer: Any) -> Callable[[Any, str], Answer]:
        def judged(value: Any, kind: str) -> Answer:
            compatible = []

            def convert(_name: str, _text: str, schema: Any) -> Any:
                made = transformer(schema, strict=None)
                walked = made.walk()
                compatible.append(made.is_strict_compatible)
                return walked

            found = converted(value, kind, convert)
            if found["verdict"] != "refused" and not all(compatible):
                return answer("refused", says=["would not set strict"])
            return found

        return judged

    wanted = {
        profile: transformer
        for profile, transformer in transformers()
        if profile.endswith("-strict") and profile.split("-")[0] not in ("anthropic", "bedrock")
    }
    return {profile: asked(transformer) for profile, transformer in wanted.items()}


PEERS: dict[str, tuple[str, Callable[[], Peer]]] = {
    "schemafit": ("schemafit", schemafit),
    "mcp-strict-check": ("mcp-strict-check", mcp_strict_check),
    "openai-agents": ("openai-agents", openai_agents),
    "pydantic-ai, strict": ("pydantic-ai-slim", pydantic_ai),
    "pydantic-ai, unset": ("pydantic-ai-slim", pydantic_ai_unasked),
}


def main() -> None:
    """Answer."""
    cases = json.load(sys.stdin)
    versions, answers = {}, {}
    for name, (package, make) in PEERS.items():
        try:
            versions[name] = version(package)
        except PackageNotFoundError:
            continue
        answers[name] = {
            profile: {case["id"]: judge(case["schema"], case["input"]) for case in cases}
            for profile, judge in make().items()
        }
    json.dump({"versions": versions, "answers": answers}, sys.stdout)


if __name__ == "__main__":
    main()
