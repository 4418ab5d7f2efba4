"""Output formats: one module each, pure functions of file reports.

Same reports, same bytes. Everything that a format cannot carry is escaped for that format: names in
findings come from strangers.
"""

from __future__ import annotations

#: Names and pointers longer than this are cut in what people read, and in JSON.
MAX_SHOWN = 1_024
