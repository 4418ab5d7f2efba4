"""The file of `SqliteStore`: where it is, whose it is, how it is made and how it is replaced.

Whoever can write to the file decides which schemas this process compiles without a trial, so it
must be ours alone. A file is made complete under another name before it takes its place, and a
damaged one is moved aside as it is; both, and every opening, under a lock on a file beside it, for
a database must not be moved while somebody opens it. Processes that have the old file open notice
that another file has its name (`Connection.is_current`) and open that one.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import sys
import time
from typing import TYPE_CHECKING
from urllib.parse import quote

from schemaguard.grammar.store.base import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be moved anyway
    fcntl = None  # type: ignore[assignment]

#: "sgvd" in the header of a file says that it is ours.
APPLICATION_ID = 0x73677664

#: The version of the tables.
LAYOUT = 1

#: What a damaged file gets behind its name; the one before it goes.
ASIDE = ".damaged"

_TABLES = """
    CREATE TABLE verdicts (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, entry BLOB NOT NULL)
"""

# A database is up to three files.
_PARTS = ("", "-wal", "-shm")

# What SQLite says of a damaged file. The statements here are right, so that SQLITE_ERROR means that
# a table is not there, and SQLITE_CONSTRAINT that an index does not go with its table.
_DAMAGE = (
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_ERROR,
    sqlite3.SQLITE_CONSTRAINT,
)

# Where in the header the application's id is.
_ID_AT = slice(68, 72)


def default_path() -> str:
    """The file in the user's cache folder. Its name has the layout, so that versions can differ."""
    if sys.platform == "win32":
        folder = os.environ.get("LOCALAPPDATA") or os.path.expanduser("~")
    elif sys.platform == "darwin":
        folder = os.path.expanduser("~/Library/Caches")
    else:
        folder = os.environ.get("XDG_CACHE_HOME", "")
        if not os.path.isabs(folder):  # the specification says to pass over others
            folder = os.path.expanduser("~/.cache")
    return os.path.join(folder, "schemaguard", f"verdicts-{LAYOUT}.sqlite3")


def is_damage(error: sqlite3.Error) -> bool:
    """Whether an error says that the file is damaged, rather than busy, full or out of reach."""
    return (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DAMAGE


class Connection:
    """An open database, and which file that is: one may take its name meanwhile.

    Attributes:
        sql: the connection of SQLite.
        path: of the file.
    """

    __slots__ = ("_identity", "path", "sql")

    def __init__(self, sql: sqlite3.Connection, path: str) -> None:
        self.sql = sql
        self.path = path
        self._identity = _identity(path)

    def is_current(self) -> bool:
        """Whether the file still has its name."""
        return _identity(self.path) == self._identity

    def log_bytes(self) -> int:
        """Size of the log."""
        try:
            return os.stat(self.path + "-wal").st_size
        except OSError:
            return 0


class Database:
    """Where the file is.

    Args:
        path: None for the one in the user's cache folder, which is ours whatever is in it.
        timeout: seconds to wait for others.
    """

    __slots__ = ("_path", "_timeout")

    def __init__(self, path: str | os.PathLike[str] | None, timeout: float) -> None:
        self._path = None if path is None else os.fsdecode(path)
        self._timeout = timeout

    def open(self) -> Connection:
        """A new connection to the file, which is made when it is not there.

        Raises:
            StoreError: the file is another application's, or others can write to it.
            sqlite3.Error, OSError: what the system says.
        """
        path = self._place()
        with self._alone(path):
            if os.path.lexists(path):
                _check_private(path)  # also that it is a file: a device has no size either
            if not os.path.lexists(path) or not os.path.getsize(path):
                self._make(path)
            _check_private(path)
            sql = self._connect(path)
            try:
                self._check_ours(sql, path)
                self._set_up(sql)
                return Connection(sql, path)
            except BaseException:
                sql.close()
                raise

    def move_aside(self, damaged: Connection | None = None) -> None:
        """Give the name free for a new file.

        Args:
            damaged: the connection that met the damage; when the name is another file's by now,
                somebody else was faster, and that one stays. None: it could not be opened.

        Raises:
            StoreError: it is not certain that the file is ours.
        """
        path = self._place()
        with self._alone(path):
            if damaged is None:
                if not os.path.lexists(path) or self._opens(path):
                    return
                if self._path is not None and not _has_our_id(path):
                    raise _foreign(path)
            elif not damaged.is_current():
                return
            # The file first: when we are killed half-way, SQLite drops a log without a database.
            for part in _PARTS:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path + ASIDE + part)
                with contextlib.suppress(FileNotFoundError):
                    os.rename(path + part, path + ASIDE + part)

    def _place(self) -> str:
        # Not kept: what a link points to may change, and the environment of a test does.
        path = default_path() if self._path is None else self._path
        if path.startswith("~") and self._path is None:
            raise StoreError("there is no home folder to keep verdicts in")
        path = os.path.realpath(path)
        folder = os.path.dirname(path)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        _check_private(folder)
        return path

    @contextlib.contextmanager
    def _alone(self, path: str) -> Iterator[None]:
        """Alone among all who open, make or move this file; the lock goes with the process."""
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
        descriptor = os.open(path + ".lock", flags, 0o600)
        try:
            if fcntl is not None:
                deadline = time.monotonic() + self._timeout
                while True:
                    try:
                        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        break
                    except BlockingIOError:
                        if time.monotonic() > deadline:
                            raise
                        time.sleep(0.002)
            yield
        finally:
            os.close(descriptor)

    def _make(self, path: str) -> None:
        """Make the file, complete or not at all."""
        new = path + ".new"
        for part in (*_PARTS, "-journal"):  # of one who was killed
            with contextlib.suppress(FileNotFoundError):
                os.unlink(new + part)
        os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        try:
            sql = self._connect(new)
            try:
                sql.execute(_TABLES)
                sql.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                sql.execute(f"PRAGMA user_version = {LAYOUT}")
                sql.execute("PRAGMA journal_mode = WAL")
            finally:
                sql.close()
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path + "-wal")  # of a file that was deleted by hand
            os.rename(new, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(new)
            raise

    def _connect(self, path: str) -> sqlite3.Connection:
        sql = sqlite3.connect(
            f"file:{quote(os.fsencode(path))}?mode=rw",  # never makes a file
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,  # a connection is one thread's at a time, not always the same
        )
        sql.text_factory = bytes  # whatever damage made of an entry
        sql.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1 << 16)
        return sql

    def _check_ours(self, sql: sqlite3.Connection, path: str) -> None:
        (application,) = sql.execute("PRAGMA application_id").fetchone()
        (layout,) = sql.execute("PRAGMA user_version").fetchone()
        if (application, layout) == (APPLICATION_ID, LAYOUT):
            return
        if self._path is None:  # damage is all that it can be
            error = sqlite3.DatabaseError("the header is not that of a verdict store")
            error.sqlite_errorcode = sqlite3.SQLITE_NOTADB
            raise error
        if application == APPLICATION_ID:
            raise StoreError(f"{path} has layout {layout}, not {LAYOUT}: take another file")
        raise _foreign(path)

    def _set_up(self, sql: sqlite3.Connection) -> None:
        for setting in (
            "journal_mode = WAL",  # it is; somebody may have changed it
            "synchronous = NORMAL",  # safe when a process dies; a power cut takes the last entries
            "journal_size_limit = 8388608",
            "mmap_size = 0",  # a file that shrinks must be an error, not a signal
            "cell_size_check = ON",
            "trusted_schema = OFF",
        ):
            sql.execute(f"PRAGMA {setting}").fetchall()

    def _opens(self, path: str) -> bool:
        """Whether somebody has put a good file in the place meanwhile."""
        try:
            sql = self._connect(path)
        except sqlite3.Error:
            return False
        try:
            self._check_ours(sql, path)
            sql.execute("SELECT 1 FROM verdicts LIMIT 1").fetchall()
        except sqlite3.Error as error:
            return not is_damage(error)
        finally:
            sql.close()
        return True


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _has_our_id(path: str) -> bool:
    """Whether a file that SQLite cannot read was ours."""
    with open(path, "rb") as file:
        return file.read(100)[_ID_AT] == APPLICATION_ID.to_bytes(4, "big")


def _foreign(path: str) -> StoreError:
    return StoreError(f"{path} is not a verdict store, and stays as it is: take another file")


def _check_private(path: str) -> None:
    """Refuse what others can write to, or own.

    Raises:
        StoreError: so it is; the text says what to do.
    """
    if not hasattr(os, "geteuid"):  # Windows: the user's folders are the user's
        return
    found = os.lstat(path)
    kind = "folder" if stat.S_ISDIR(found.st_mode) else "file"
    if found.st_uid not in (os.geteuid(), 0):
        raise StoreError(f"{path} is another user's {kind}, who could forge verdicts")
    if found.st_mode & 0o022:
        remedy = "take one inside it" if kind == "folder" else "chmod go-w it"
        raise StoreError(f"other users can write to the {kind} {path}: {remedy}")
    if kind == "file" and not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path} is no regular file")
