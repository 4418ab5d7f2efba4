"""When text is coloured."""

from __future__ import annotations

import io

import pytest

from schemaguard.render.color import painter, use_color


class Terminal(io.StringIO):
    def isatty(self):
        return True


CASES = [
    ("always", io.StringIO(), {"NO_COLOR": "1", "TERM": "dumb"}, True),
    ("never", Terminal(), {"FORCE_COLOR": "1"}, False),
    ("auto", Terminal(), {}, True),
    ("auto", io.StringIO(), {}, False),
    ("auto", None, {}, False),
    ("auto", Terminal(), {"TERM": "xterm-256color"}, True),
    ("auto", Terminal(), {"TERM": "dumb"}, False),
    ("auto", Terminal(), {"NO_COLOR": "1"}, False),
    ("auto", Terminal(), {"NO_COLOR": "0"}, False),
    ("auto", Terminal(), {"NO_COLOR": ""}, True),
    ("auto", Terminal(), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ("auto", io.StringIO(), {"FORCE_COLOR": "1"}, True),
    ("auto", io.StringIO(), {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
    ("auto", io.StringIO(), {"FORCE_COLOR": ""}, False),
    ("auto", io.StringIO(), {"NO_COLOR": "", "FORCE_COLOR": "1"}, True),
]


@pytest.mark.parametrize(("option", "stream", "environ", "expected"), CASES, ids=range(len(CASES)))
def test_the_option_beats_no_color_beats_force_color_beats_the_terminal(
    option, stream, environ, expected
):
    assert use_color(option, stream, environ) is expected


def test_a_closed_stream_has_no_colour():
    stream = io.StringIO()
    stream.close()
    assert use_color("auto", stream, {}) is False


def test_a_painter_without_colour_changes_nothing():
    assert painter(False)("error", "x") == "x"
    assert painter(True)("error", "x") == "\x1b[1;31mx\x1b[0m"
