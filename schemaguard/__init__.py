"""Preflight for the JSON Schemas of LLM tools.

::

    import schemaguard

    report = schemaguard.check(schema, profile="dynamo")
    if not report.ok:
        print(report.diagnostics[0])

`check` looks at one schema, `check_request` at a whole request, `validate_arguments` at the
arguments of a call; `schemaguard.grammar` turns what was accepted into token masks. Importing this
package loads none of jsonschema, referencing, xgrammar or torch.
"""

from __future__ import annotations

from schemaguard import errors
from schemaguard.document import Document, Limits
from schemaguard.errors import (
    CompileError,
    MissingExtra,
    ProfileError,
    SchemaChanged,
    SchemaguardError,
    SchemaRejected,
)
from schemaguard.preflight import check
from schemaguard.report import Accepted, BudgetUse, Contributor, Diagnostic, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from schemaguard.arguments import validate_arguments
    from schemaguard.request import RequestResult, ToolReport, check_request

__all__ = [
    "Accepted",
    "BudgetUse",
    "CompileError",
    "Contributor",
    "Diagnostic",
    "Document",
    "Limits",
    "MissingExtra",
    "ProfileError",
    "Report",
    "RequestResult",
    "SchemaChanged",
    "SchemaRejected",
    "SchemaguardError",
    "ToolReport",
    "__version__",
    "check",
    "check_request",
    "errors",
    "validate_arguments",
]

# Loaded when first used: what a check of one schema does not need.
_LATE = {
    "RequestResult": "request",
    "ToolReport": "request",
    "check_request": "request",
    "validate_arguments": "arguments",
}


def __getattr__(name: str) -> object:
    if name in _LATE:
        from importlib import import_module  # noqa: PLC0415

        return getattr(import_module(f"schemaguard.{_LATE[name]}"), name)
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  (34 ms)

        return version("schemaguard-preflight")
    raise AttributeError(f"module 'schemaguard' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
