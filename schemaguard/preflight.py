"""`check`: one schema in, one report out."""

from __future__ import annotations

from schemaguard import data, walk
from schemaguard.document import DEFAULT_LIMITS, Document, Limits, read
from schemaguard.errors import SchemaChanged
from schemaguard.plan import compiled
from schemaguard.report import Accepted, Report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

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
    parsed = schema.__class__ is dict
    source: Any = schema if parsed else _document(schema, limits)
    stop = None
    if parsed or not source.faults:
        try:
            value = schema if parsed else source.value
            if walk.is_clean(value, plans, limits.max_nodes):
                return Report(source, plans.profile, limits)
        except walk.TooManyNodes as error:
            stop = error.rule
    document = Document(schema) if parsed else source
    found = walk.Findings(plans, max_diagnostics)
    for fault in document.faults:
        found.add(data.rule_of(fault.name), None, offset=fault.offset, detail=fault.detail)
    found.total += document.fault_count - len(document.faults)
    found.complete = document.readable
    if stop is not None:
        found.stop(stop, limits.max_nodes)
    elif document.readable:
        walk.collect(document.value, plans, found, limits.max_nodes)
    return Report(
        document,
        plans.profile,
        limits,
        tuple(found.diagnostics),
        found.total,
        found.ok,
        found.complete,
    )


def _document(schema: Any, limits: Limits) -> Document:
    return schema if isinstance(schema, Document) else read(schema, limits)


def accept(document: Document, profile: Profile) -> Accepted:
    """The pass of a document that a profile accepted; see `Report.accepted`.

    Raises:
        SchemaChanged: a parsed value is not what was checked any more.
    """
    text = document.text
    if text is None:
        text = data.dumps(document.value)
        if text is None or not check(text, profile, limits=_OWN_TEXT).ok:
            raise SchemaChanged("the schema was changed after it was checked; check it again")
    made: Accepted = object.__new__(Accepted)
    made._fill(text=text, profile=profile.id)  # noqa: SLF001  (the one place that makes one)
    return made
