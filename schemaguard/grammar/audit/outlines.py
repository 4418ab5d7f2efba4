"""outlines-core as an engine: a schema becomes an expression, and that an automaton over bytes.

Nothing bounds what it makes of a schema, so a process with limits tries first.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from schemaguard.errors import CompileError, CompileRefused, MissingExtra
from schemaguard.grammar.audit.engines import END
from schemaguard.grammar.engine import one_line

if TYPE_CHECKING:
    from schemaguard.grammar.audit.engines import Cursor, Grammar
    from schemaguard.report import Accepted

#: Seconds and bytes of address space that a trial may take.
MAX_SECONDS = 10
MAX_BYTES = 2 << 30

# What a trial runs: the calls of `_index`, without this package, which takes a while to import. A
# limit that the system does not have is none.
_TRIAL = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]),) * 2)
except (ImportError, ValueError, OSError):
    pass
from outlines_core import Index, Vocabulary, json_schema
expression = json_schema.build_regex_from_schema(sys.stdin.buffer.read().decode())
Index(expression, Vocabulary(256, {bytes((value,)): [value] for value in range(256)}))
"""


class OutlinesCore:
    """outlines-core over bytes.

    Args:
        isolated: try in another process first what may take for ever.

    Raises:
        MissingExtra: outlines-core is not installed.
    """

    def __init__(self, *, isolated: bool = True) -> None:
        try:
            import outlines_core  # noqa: F401, PLC0415 - optional
        except ImportError as error:
            raise MissingExtra(
                f"outlines-core cannot be imported ({one_line(str(error))}): "
                "pip install 'schemaguard-preflight[outlines]'"
            ) from error
        self.name = f"outlines-core {version('outlines-core')}"
        self._isolated = isolated

    def compile(self, accepted: Accepted) -> Grammar:
        """See `Engine`."""
        if self._isolated:
            _try(accepted.text)
        try:
            return _Grammar(_index(accepted.text))
        except (ValueError, RuntimeError) as error:
            raise CompileError(one_line(str(error)), reason="unsupported") from error


def _index(text: str) -> Any:
    """The automaton of a schema.

    Raises:
        ValueError: outlines-core does not take the schema, or not the expression it made of it.
    """
    from outlines_core import Index, Vocabulary, json_schema  # noqa: PLC0415 - optional

    expression = json_schema.build_regex_from_schema(text)
    return Index(expression, Vocabulary(END, {bytes((value,)): [value] for value in range(END)}))


def _try(text: str) -> None:
    """Make the automaton in a process that may be killed.

    Raises:
        CompileRefused: it does not end in time, or within its memory. What outlines-core says
            against the schema is left to be said again here.
    """
    command = [sys.executable, "-c", _TRIAL, json.dumps(sys.path), str(MAX_BYTES)]
    try:
        done = subprocess.run(  # noqa: S603 - this interpreter
            command,
            input=text.encode(),
            capture_output=True,
            timeout=MAX_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        message = f"outlines-core takes more than {MAX_SECONDS} s"
        raise CompileRefused(message, reason="timeout") from error
    if done.returncode < 0 or b"MemoryError" in done.stderr:
        message = f"outlines-core does not make it within {MAX_BYTES >> 20} MB"
        raise CompileRefused(message, reason="memory")


class _Grammar:
    def __init__(self, automaton: Any) -> None:
        self._automaton = automaton

    def accepts(self, text: str) -> bool:
        try:
            data = text.encode()
        except UnicodeEncodeError:
            return False  # a lone surrogate
        cursor = self.start()
        return all(map(cursor.push, data)) and END in cursor.allowed()

    def start(self) -> Cursor:
        return _Cursor(self._automaton, self._automaton.get_initial_state())


class _Cursor:
    __slots__ = ("_automaton", "_state")

    def __init__(self, automaton: Any, state: int) -> None:
        self._automaton = automaton
        self._state = state

    def allowed(self) -> list[int]:
        found = sorted(set(self._automaton.get_allowed_tokens(self._state) or ()) - {END})
        return [*found, END] if self._automaton.is_final_state(self._state) else found

    def push(self, byte: int) -> bool:
        following = self._automaton.get_next_state(self._state, byte)
        if following is None:
            return False
        self._state = following
        return True

    def fork(self) -> Cursor:
        return _Cursor(self._automaton, self._state)
