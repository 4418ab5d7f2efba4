"""Output formats: one module each, pure functions of file reports.

Each module has `render(files) -> str`. Same reports, same bytes. Everything that a format cannot
carry is escaped for that format: names in findings come from strangers. What is left out is said,
in every format that has a place for it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Names and pointers longer than this are cut in what people read, and in JSON.
MAX_SHOWN = 1_024

#: format → its module, imported when it is asked for: a start-up pays for one format.
FORMATS = {
    "text": "schemaguard.render.text",
    "json": "schemaguard.render.json",
    "sarif": "schemaguard.render.sarif",
    "github": "schemaguard.render.github",
    "gitlab": "schemaguard.render.gitlab",
    "junit": "schemaguard.render.junit",
    "markdown": "schemaguard.render.markdown",
}


def renderer(name: str) -> Callable[..., str]:
    """The `render` function of a format.

    Args:
        name: a key of `FORMATS`.

    Raises:
        KeyError: there is no such format.
    """
    from importlib import import_module  # noqa: PLC0415  (not needed to import this package)

    render: Callable[..., str] = import_module(FORMATS[name]).render
    return render
