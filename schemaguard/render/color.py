"""Whether to colour, and the colours (ANSI escapes of every terminal since the VT100)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TextIO

_STYLES = {
    "error": "1;31",
    "warning": "1;33",
    "note": "1;36",
    "fix": "32",
    "path": "1",
    "dim": "2",
}


def use_color(option: str, stream: TextIO | None, environ: Mapping[str, str]) -> bool:
    """Whether text on a stream is to be coloured.

    The option comes first, then `NO_COLOR` (https://no-color.org: set and not empty), then
    `FORCE_COLOR` (the same), then whether the stream is a terminal that is not `TERM=dumb`.

    Args:
        option: "always", "never" or "auto".
        stream: where the text goes; None when there is no such stream.
        environ: the environment variables.
    """
    if option != "auto":
        return option == "always"
    if environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR"):
        return True
    try:
        return stream is not None and stream.isatty() and environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


def painter(color: bool) -> Callable[[str, str], str]:
    """A function of a style's name and a text: the text in that style, or as it is."""
    if not color:
        return lambda _style, text: text
    return lambda style, text: f"\x1b[{_STYLES[style]}m{text}\x1b[0m"
