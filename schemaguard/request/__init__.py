"""`check_request`: one request in, a report for each of its tools out, in the order of the server.

The order decides which finding a server that stops at the first one would name (rules 45 to 48 of
the `dynamo` contract; source: Request Validation in NVIDIA Dynamo's Structural Tag documentation,
ai-dynamo/dynamo#15153):

| | Chat | Responses |
| --- | --- | --- |
| 1 | the body is JSON | the body is JSON |
| 2 | the shape of every tool | the shape of every tool |
| 3 | at most 1,536 tools | every tool is a function |
| 4 | each tool in turn: name, parameters, schema | each schema |
| 5 | `tool_choice` (warnings only) | `tool_choice`, which may leave only some of the tools |
| 6 | `response_format` | number of tools, then name and parameters of each that is left |
| 7 | | `text.format` |

A schema is checked when `strict` is exactly true and the parameters are there and not null,
whatever `tool_choice` says. On Chat the tools that system messages declare follow those of the
request. What the contract leaves open, and what is assumed here:

* All shapes come first, as in a server that reads the body into typed fields. That `strict` must be
  a boolean or null is one of them. A Chat tool without `type` is a function; any other type than
  "function" is unsupported. The limit on tools counts those of system messages.
* A name that is given twice is refused, as `check` refuses it: which of the two members counts
  differs between parsers. The tools are checked with the last one.
* A Responses namespace is `{"type": "namespace", "name": …, "tools": […]}`; its members have the
  shape of the flat functions (OpenAI's API has custom tools there, too; they are unsupported). A
  member keeps its bare name; if another function of the request has the same name, it is called
  `NAMESPACE__NAME` instead, with each part cut at 128 code points (either is too long a name then).
* On Responses, `tool_choice` and each entry of `allowed_tools` must name a declared function or
  namespace. The functions that `allowed_tools` excludes are spared step 6, but not step 4.
* `response_format` and `text.format` are looked at last, and only for a name and the type of the
  schema, which is not checked. Messages, tool calls in them and other fields are not looked at.
"""

from __future__ import annotations

from schemaguard import walk
from schemaguard.document import DEFAULT_LIMITS, Limits
from schemaguard.plan import compiled
from schemaguard.preflight import DEFAULT_PROFILE, as_document
from schemaguard.request.checking import CHAT, MAX_NAME_BYTES, MAX_TOOLS, RESPONSES, Checking
from schemaguard.request.reading import says
from schemaguard.request.result import RequestResult, ToolReport

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.profiles import Profile

__all__ = ["APIS", "MAX_NAME_BYTES", "MAX_TOOLS", "RequestResult", "ToolReport", "check_request"]

APIS = (CHAT, RESPONSES)


def check_request(
    body: Any,
    api: str,
    *,
    profile: str | Profile = DEFAULT_PROFILE,
    limits: Limits = DEFAULT_LIMITS,
    max_diagnostics: int = walk.MAX_DIAGNOSTICS,
) -> RequestResult:
    """Check the tools of a request.

    Args:
        body: JSON text as `bytes` or `str`, or the parsed body (`dict`), which is neither changed
            nor copied, and must not be changed by others meanwhile.
        api: "chat" (`/v1/chat/completions`) or "responses" (`/v1/responses`).
        profile: as for `check`; each schema is checked with it.
        limits: hard stops for reading the body and for the walk of each schema. What is looked at
            in a parsed body, all schemas together, is held to `max_nodes` values as well.
        max_diagnostics: how many diagnostics to keep, of the request and in each report.

    Returns:
        The result. Bad input of any kind is a diagnostic in it, never an exception.

    Raises:
        ValueError: there is no such API.
        ProfileError: there is no such profile.
    """
    if api not in APIS:
        raise ValueError(f"api is one of {', '.join(APIS)}")
    plans = compiled(profile)
    document = as_document(body, limits)
    request = Checking(document, api, plans, limits, max_diagnostics)
    for fault in document.faults:
        request.add(fault.name, offset=fault.offset, detail=fault.detail)
    request.total += document.fault_count - len(document.faults)
    if document.readable:
        try:
            if request.is_object(document.value, (), "the body"):
                (_chat if api == CHAT else _responses)(request)
                request.check_together()
        except Exception as error:
            if document.text is not None:
                raise  # a fault of ours: text is plain JSON
            # A parsed body can be of types that lie about themselves, or change meanwhile.
            detail = f"that fails when it is read ({type(error).__name__})"
            request.add("not-json", detail=detail)
    return request.result()


def _chat(request: Checking) -> None:
    """Everything about the body of a Chat request, in contract order."""
    body = request.body
    request.read_chat_tools(body.get("tools"), ("tools",))
    messages = body.get("messages")
    if messages.__class__ is list:
        for index, message in enumerate(messages):
            if says(message, "role", "system"):
                request.read_chat_tools(message.get("tools"), ("messages", index, "tools"))
    tools = request.tools
    request.check_count(len(tools))
    for tool in tools:
        request.check_name(tool)
        request.check_parameters(tool)
        request.check_schema(tool)
    request.check_choice()
    wanted = body.get("response_format")
    if says(wanted, "type", "json_schema"):
        request.check_format(wanted.get("json_schema"), ("response_format", "json_schema"))


def _responses(request: Checking) -> None:
    """Everything about the body of a Responses request, in contract order."""
    body = request.body
    unsupported = request.read_responses_tools(body.get("tools"))
    for tokens, kind in unsupported:
        request.add("unsupported-tool-kind", (*tokens, "type"), kind=kind)
    tools = request.tools
    for tool in tools:
        request.check_schema(tool)
    allowed = request.check_choice()
    kept = [tool for tool in tools if allowed is None or tool.names & allowed]
    request.check_count(len(kept))
    for tool in kept:
        request.check_name(tool)
        request.check_parameters(tool)
    text = body.get("text")
    wanted = text.get("format") if text.__class__ is dict else None
    if says(wanted, "type", "json_schema"):
        request.check_format(wanted, ("text", "format"))
