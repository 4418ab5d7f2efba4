"""`--compile`: what the engine that is installed says of each accepted schema."""

from __future__ import annotations

from schemaguard.errors import CompileError
from schemaguard.grammar import Compiler, Tokenizer
from schemaguard.report import ERROR, Diagnostic, tokens_of
from schemaguard.rules import BY_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from schemaguard.report import Report


def asked() -> Callable[[Report], Report]:
    """A function that compiles an accepted schema, over bytes, and adds what the engine refuses.

    Raises:
        MissingExtra: xgrammar is not installed.
    """
    compiler = Compiler(Tokenizer.byte_level())

    def refine(report: Report) -> Report:
        accepted = report.accepted
        if accepted is None:
            return report
        try:
            compiler.compile(accepted)
        except CompileError as error:
            if error.report is not None:
                return report.with_diagnostics(error.report.errors)
            tokens = tokens_of(error.pointer or "")
            detail = {"detail": error.message}
            refusal = Diagnostic(BY_NAME["uncompilable"], ERROR, detail, None, tokens)
            return report.with_diagnostics((refusal,))
        return report

    return refine
