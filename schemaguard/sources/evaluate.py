"""The program that imports what the user names, and writes down its tools. Run as a script.

It runs in a process of its own, with the user's interpreter, and may use nothing of `schemaguard`.
What is imported may print, crash, exit or never end: only the file that is named counts.

Usage: `evaluate.py ANSWER FILE_OR_MODULE OBJECT`. The answer is `{"value": …}` or `{"error": …}`.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import os
import sys
import traceback
from typing import Any

#: Lists in lists; and characters of an error message.
MAX_DEPTH = 8
MAX_MESSAGE = 500


class Unusable(Exception):  # noqa: N818  (it says what the object is)
    """The object is nothing that has a schema."""


def find(where: str, name: str) -> Any:
    """Import a file or module and get one object of it; dots lead into it."""
    sys.path.insert(0, os.getcwd())
    if where.endswith(".py"):
        path = os.path.abspath(where)
        sys.path.insert(0, os.path.dirname(path))
        title = os.path.splitext(os.path.basename(path))[0]
        spec = importlib.util.spec_from_file_location(title, path)
        if spec is None or spec.loader is None:
            raise Unusable(f"{where} cannot be imported")
        found = importlib.util.module_from_spec(spec)
        sys.modules[title] = found  # annotations are looked up there
        spec.loader.exec_module(found)
    else:
        found = importlib.import_module(where)
    for step in name.split("."):
        found = getattr(found, step)
    return found


def described(value: Any, depth: int = 0) -> Any:
    """The JSON value of what a user may call a tool."""
    if isinstance(value, (bool, dict)):
        return value
    if isinstance(value, (list, tuple)):
        if depth >= MAX_DEPTH:
            raise Unusable(f"lists in lists, more than {MAX_DEPTH} deep")
        return [described(item, depth + 1) for item in value]
    if value is None or isinstance(value, (str, int, float)):
        raise Unusable(f"it is of type {type(value).__name__}")
    try:
        from pydantic import BaseModel, TypeAdapter  # noqa: PLC0415  (only if it is there)
    except ImportError:
        raise Unusable(
            f"a {kind_of(value)} needs pydantic, which {sys.executable} does not have"
        ) from None
    if isinstance(value, TypeAdapter):
        return value.json_schema()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if inspect.isclass(value) and issubclass(value, BaseModel):
        return value.model_json_schema()
    if inspect.isroutine(value):
        return tool_of(value, TypeAdapter(value).json_schema())
    if inspect.isclass(value) or hasattr(value, "__origin__") or hasattr(value, "__args__"):
        return TypeAdapter(value).json_schema()
    raise Unusable(f"it is of type {type(value).__name__}")


def tool_of(function: Any, schema: Any) -> dict[str, Any]:
    """A function as a tool."""
    tool = {"name": function.__name__, "inputSchema": schema}
    description = inspect.getdoc(function)
    if description:
        tool["description"] = description
    return tool


def kind_of(value: Any) -> str:
    """What to call an object."""
    if inspect.isroutine(value):
        return "function"
    return "class" if inspect.isclass(value) else type(value).__name__


def message_of(error: BaseException, where: str) -> str:
    """An error in one line, with the line of the user's file that it comes from."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, Unusable):
        text = str(error)
    elif where.endswith(".py"):
        path = os.path.abspath(where)
        for frame in reversed(traceback.extract_tb(error.__traceback__, -1000)):
            if frame.filename == path:
                text = f"line {frame.lineno}: {text}"
                break
    return " ".join(text.split())[:MAX_MESSAGE]


def main(answer: str, where: str, name: str) -> None:
    """Write the answer and end, whatever threads and exit handlers were left behind."""
    try:
        text = json.dumps({"value": described(find(where, name))})
    except BaseException as error:  # noqa: BLE001  (sys.exit and Ctrl-C of the module, too)
        text = json.dumps({"error": message_of(error, where)})
    with open(f"{answer}.part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{answer}.part", answer)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
