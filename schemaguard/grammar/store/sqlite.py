"""A verdict store in one file, for the processes of one user on one machine: SQLite with a log.

A verdict that was put is there after any process, this one included, is killed. A power cut may
take the last ones. The file must be on a local disk: the log needs memory that processes share.
"""

from __future__ import annotations

import ctypes
import sqlite3
from typing import TYPE_CHECKING

from schemaguard.grammar.store.base import Breaker, Store, decoded
from schemaguard.grammar.store.database import Connection, Database, is_damage
from schemaguard.grammar.store.memory import positive

if TYPE_CHECKING:
    import os

    from schemaguard.grammar.store.verdict import Verdict

_FIND = "SELECT entry FROM verdicts WHERE key = ?"

_KEEP = """
    INSERT INTO verdicts (key, entry) VALUES (?, ?)
    ON CONFLICT (key) DO UPDATE SET entry = excluded.entry
"""

# SQLite begins its log anew when nobody reads. With several processes at work somebody always does
# (measured: 130 MB after 20 s of four writers), so that from this size on a writer waits for it.
_MAX_LOG_BYTES = 16 * 1024 * 1024

# Ids grow, so that the largest and the smallest bound the number of entries without counting them.
# A few at a time: when the bound is lowered, no single caller pays for it.
_TRIM = """
    DELETE FROM verdicts WHERE id IN (
        SELECT id FROM verdicts WHERE id <= (SELECT max(id) FROM verdicts) - ? ORDER BY id LIMIT 16
    )
"""


class SqliteStore(Store):
    """Verdicts in a file.

    The file gets mode 0600, in a folder that only its owner can write to; elsewhere the store is
    out of service and `stats.last_error` says why, as it does for a file that is another
    application's. A damaged file is moved aside (".damaged") and begun anew.

    Args:
        path: of the file; None for the one in the user's cache folder.
        max_entries: how many, about; the oldest go first. One takes about 200 bytes.
        timeout: seconds to wait for other processes that write.

    Raises:
        ValueError: `max_entries` or `timeout` is out of its range.
        TypeError: `path` is none.
    """

    __slots__ = ("_breaker", "_closed", "_database", "_idle", "_max_entries", "_repairs")

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        max_entries: int = 100_000,
        timeout: float = 0.25,
    ) -> None:
        if not 0 < timeout <= 60:
            raise ValueError(f"timeout must be over 0 and at most 60 seconds, not {timeout!r}")
        self._max_entries = positive("max_entries", max_entries)
        self._database = Database(path, timeout)
        self._breaker = Breaker()  # of opening: a folder that cannot be written to will not soon be
        self._repairs = Breaker()  # a disk that damages everything gets no new file each time
        self._idle: list[Connection] = []
        self._closed = False
        super().__init__()

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        while self._idle:
            self._idle.pop().sql.close()

    def _find(self, key: bytes) -> Verdict | None:
        connection = self._borrow()
        if connection is None:
            return None
        try:
            rows = connection.sql.execute(_FIND, (key,)).fetchall()
        except sqlite3.Error as error:
            self._recover(connection, error)
            raise
        self._give_back(connection)
        return decoded(rows[0][0] if rows else None, key)

    def _keep(self, key: bytes, verdict: Verdict) -> None:
        entry = verdict.to_bytes(key)
        connection = self._borrow()
        if connection is None:
            return
        try:
            connection.sql.execute("BEGIN IMMEDIATE")
            connection.sql.execute(_KEEP, (key, entry))
            connection.sql.execute(_TRIM, (self._max_entries,))
            connection.sql.execute("COMMIT")
            if connection.log_bytes() > _MAX_LOG_BYTES:
                connection.sql.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            self._recover(connection, error)
            raise
        self._give_back(connection)

    # Connections --------------------------------------------------------------------------------

    def _borrow(self) -> Connection | None:
        """A connection for this thread alone; None while the store is out of service."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread was faster
                break
            if connection.is_current():
                return connection
            connection.sql.close()
        if self._closed or not self._breaker.allows():
            return None
        try:
            connection = self._opened()
        except Exception:
            self._breaker.failed()
            raise
        self._breaker.succeeded()
        return connection

    def _opened(self) -> Connection:
        try:
            return self._database.open()
        except sqlite3.Error as error:
            if not is_damage(error) or not self._repairs.allows():
                raise
            self._repairs.failed()
            self._database.move_aside()
            return self._database.open()

    def _give_back(self, connection: Connection) -> None:
        self._idle.append(connection)
        if self._closed:
            self.close()

    def _recover(self, connection: Connection, error: sqlite3.Error) -> None:
        """After an error: the file is busy or full, or damaged."""
        if not is_damage(error):
            connection.sql.rollback()
            self._give_back(connection)
            return
        try:
            if self._repairs.allows():
                self._repairs.failed()
                self._database.move_aside(connection)
        finally:
            connection.sql.close()

    def _after_fork(self) -> None:
        # In a child a connection of its parent is not to be used, nor to be closed, not even at
        # the end: SQLite could take the log away from under the parent. One reference too many
        # keeps it.
        for connection in self._idle:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection.sql))
        self._idle = []
        super()._after_fork()
