"""`check`: one schema in, one report out."""

from __future__ import annotations

from schemaguard import data, walk
from schemaguard.document import DEFAULT_LIMITS, Document, Fault, Limits, read
from schemaguard.errors import SchemaChanged
from schemaguard.plan import compiled
from schemaguard.report import Accepted, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from schemaguard.plan import Plans
    from schemaguard.profiles import Profile

DEFAULT_PROFILE = "dynamo"

#: What is read back from text that this library wrote itself.
_OWN_TEXT = Limits(max_bytes=256 << 20, max_depth=100_000, max_nodes=10_000_000)


def check(
    schema: Any,
    profile: str | Profile = DEFAULT_PROFILE,
    *,
    limits: Limits = DEFAULT_LIMITS,
    max_diagnostics: int = walk.MAX_DIAGNOSTICS,
) -> Report:
    """Check one schema against a profile.

    Args:
        schema: JSON text as `str` or `bytes`, or a parsed value (`dict`, `bool`). A parsed value is
            never changed, and must not be changed by others while it is checked.
        profile: a profile's plain name (the newest of it), dated name, or a `Profile`.
        limits: hard stops for the reader and the walk.
        max_diagnostics: how many diagnostics to keep; `Report.total` counts all.

    Returns:
        The report. Bad input of any kind is a diagnostic in it, never an exception.

    Raises:
        ProfileError: there is no such profile.
    """
    plans = compiled(profile)
    # The usual caller has parsed the request: then there is no document to make until it is needed.
    parsed = type(schema) is dict
    source: Any = schema if parsed else as_document(schema, limits)
    found = None
    try:
        value = schema if parsed else source.value
        clean = (parsed or not source.faults) and walk.is_sound(value, plans, limits.max_nodes)
        if clean and plans.enforcement is not None:
            found = walk.Findings(plans, max(0, max_diagnostics))
            plans.enforcement.add(value, found)
    except walk.TooManyNodes as stop:
        found = walk.Findings(plans, max(0, max_diagnostics))
        found.stop(stop.rule, limits.max_nodes)
        return _report(source, plans.profile, limits, found)
    except Exception:
        if not parsed and source.text is not None:
            raise  # a fault of ours: text is plain JSON
        clean = False
    if clean:
        if found is not None and found.total:
            return _report(source, plans.profile, limits, found)
        return Report(source, plans.profile, limits)
    document = Document(schema) if parsed else source
    return _report(
        source, plans.profile, limits, _collect(document, plans, limits, max_diagnostics)
    )


def _collect(
    document: Document, plans: Plans, limits: Limits, max_diagnostics: int
) -> walk.Findings:
    found = walk.Findings(plans, max(0, max_diagnostics))
    places = document.tokens_of_faults() if document.faults else {}
    for fault in document.faults:
        tokens = places.get(fault.offset, ())
        found.add(data.rule_of(fault.name), None, tokens, offset=fault.offset, detail=fault.detail)
    found.total += document.fault_count - len(document.faults)
    found.complete = document.readable
    if not document.readable:
        return found
    try:
        walk.collect(document.value, plans, found, limits.max_nodes)
    except Exception as error:
        if document.text is not None:
            raise  # a fault of ours: text is plain JSON
        # A parsed value can be of types that lie about themselves, or change under the walk.
        found.complete = False
        detail = f"that fails when it is read ({type(error).__name__})"
        found.add(data.rule_of("not-json"), None, detail=detail)
    return found


def _report(source: Any, profile: Profile, limits: Limits, found: walk.Findings) -> Report:
    return Report(
        source,
        profile,
        limits,
        tuple(found.diagnostics),
        found.total,
        found.ok,
        found.complete,
    )


def as_document(schema: Any, limits: Limits) -> Document:
    """What `read` makes of anything, also of what fails when touched; a `Document` as it is."""
    if type(schema) is Document:
        return schema
    try:
        return read(schema, limits)
    except Exception as error:
        if type(schema) in (str, bytes, bytearray):
            raise  # a fault of ours
        # A buffer that was released, or a type that lies about itself.
        detail = f"a value that fails when it is read ({type(error).__name__})"
        return Document(None, faults=(Fault("invalid-json", 0, detail),))


def accept(document: Document, profile: Profile) -> Accepted:
    """The pass of a document that a profile accepted; see `Report.accepted`.

    What is handed on is text, and that very text is checked here, whatever was checked before: a
    value, a document or a text that was changed in between does not slip through.

    Raises:
        SchemaChanged: it is not what was checked any more, or has no JSON text.
    """
    text = document.text
    if text is None:
        text = data.dumps(document.value, _OWN_TEXT.max_bytes)
    if type(text) is not str:
        raise SchemaChanged(
            "the schema has no JSON text of at most 256 MiB, or was changed after its check"
        )
    if not check(text, profile, limits=_OWN_TEXT).ok:
        raise SchemaChanged("the schema was changed after it was checked; check it again")
    made: Accepted = object.__new__(Accepted)
    made._fill(text=text, profile=profile.id)  # noqa: SLF001  (the one place that makes one)
    return made


def accept_again(text: str, profile: str) -> Accepted:
    """The pass of a text that was accepted in another process: it is checked here, too."""
    report = check(text, profile, limits=_OWN_TEXT)
    report.raise_if_rejected()
    return accept(report.document, compiled(profile).profile)
