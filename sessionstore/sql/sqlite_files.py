"""SQLite database files: the three ways to open one, and the connections kept to it (sql.md section 4)."""

from __future__ import annotations

import ctypes
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, TypeAlias, TypeVar
from urllib.parse import quote
from weakref import WeakSet

from sessionstore.errors import StorageError

R = TypeVar("R")

Durability: TypeAlias = Literal["full", "normal"]

BUSY_TIMEOUT: Final = 5.0
"""Seconds that a writer waits for the lock of another."""

LOG_KEPT: Final = 8 << 20
"""Bytes of the log that stay on disk when it starts anew: it grows far beyond while reads never pause."""

_CACHED_STATEMENTS: Final = 256
_SYNCHRONOUS: Final = {"full": "FULL", "normal": "NORMAL"}


Token: TypeAlias = tuple[int, int] | None
"""The device and inode of the file that a connection was opened for; None: not to be kept."""


class DatabaseMissingError(StorageError):
    """There is no file at a database's path; never seen by callers of the store."""


def open_existing(path: Path, durability: Durability, busy_timeout: float) -> sqlite3.Connection:
    """Open for reading and writing. Raises :class:`DatabaseMissingError`, and never makes a file."""
    raw = connect(path, "mode=rw", busy_timeout)
    try:
        _use_wal(raw, busy_timeout)
        raw.execute(f"PRAGMA synchronous = {_SYNCHRONOUS[durability]}")
        raw.execute("PRAGMA foreign_keys = ON")
        raw.execute(f"PRAGMA journal_size_limit = {LOG_KEPT}")
    except BaseException:
        raw.close()
        raise
    return raw


def open_for_reading(path: Path, busy_timeout: float) -> tuple[sqlite3.Connection, bool]:
    """Open for reading; the journal mode stays as it is. Also tells whether it may be kept open.

    A database under WAL needs its ``-shm`` file even for reading. In a folder where that cannot
    be made it is opened as immutable, when no log waits to be read: then nothing else than the
    main file counts. Such a connection sees no later change, so it serves one read.
    """
    raw = connect(path, "mode=ro", busy_timeout)
    try:
        raw.execute("PRAGMA schema_version")
        return raw, True
    except sqlite3.OperationalError as error:
        raw.close()
        if not _cannot_make_files(path, error):
            raise
    return connect(path, "mode=ro&immutable=1", busy_timeout), False


def peek(path: Path, busy_timeout: float, read: Callable[[sqlite3.Connection], R]) -> R:
    """Open for one short read. Raises :class:`DatabaseMissingError`, also if the file vanishes meanwhile.

    A database whose log is empty is read as immutable, which is twice as fast and makes no files
    beside it; that counts only if neither has changed by the end. Else it is opened for reading.
    """
    quiet = _quiet_state(path)
    if quiet is not None:
        raw = connect(path, "mode=ro&immutable=1", busy_timeout)
        try:
            result = read(raw)
        except sqlite3.DatabaseError:
            if _quiet_state(path) == quiet:
                raise
        else:
            if _quiet_state(path) == quiet:
                return result
        finally:
            raw.close()
    with _told_when_gone(path):
        raw, _ = open_for_reading(path, busy_timeout)
        try:
            return read(raw)
        finally:
            raw.close()


@contextmanager
def _told_when_gone(path: Path) -> Generator[None]:
    """Raise :class:`DatabaseMissingError` for what SQLite says of a file that vanished meanwhile."""
    try:
        yield
    except sqlite3.Error:
        _stat(path)
        raise


def _quiet_state(path: Path) -> tuple[int, ...] | None:
    """What tells whether a database was written; None when a log or a journal waits beside it."""
    status = _stat(path)
    for name in (wal_of(path), journal_of(path)):
        try:
            if os.stat(name).st_size:  # noqa: PTH116 - as above
                return None
        except FileNotFoundError:
            pass
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _cannot_make_files(path: Path, error: sqlite3.OperationalError) -> bool:
    primary = error.sqlite_errorcode & 0xFF
    if primary not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
        return False
    if os.access(path.parent, os.W_OK):
        return False
    try:
        return wal_of(path).stat().st_size == 0
    except FileNotFoundError:
        return True


class _Connection(sqlite3.Connection):
    """One that can be referred to weakly, which the built-in one cannot."""


def connect(path: Path, mode: str, busy_timeout: float = BUSY_TIMEOUT) -> sqlite3.Connection:
    """Open with parameters of SQLite's URIs. Raises :class:`DatabaseMissingError`."""
    _refuse_special(path)
    # SQLite decodes %XX and ends the path at ? or #.
    quoted = quote(os.fsencode(path))
    try:
        return sqlite3.connect(
            f"file://{quoted}?{mode}",
            uri=True,
            timeout=busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=_CACHED_STATEMENTS,
            factory=_Connection,
        )
    except sqlite3.OperationalError:
        _stat(path)
        raise


def _refuse_special(path: Path) -> None:
    """Raise ``StorageError`` for a pipe or a device, whose opening may wait for ever."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - see _stat
    except OSError:
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise StorageError(f"cannot open {path}: it is not a file")


def _stat(path: Path | str) -> os.stat_result:
    try:
        return os.stat(path)  # noqa: PTH116 - twice as fast as Path.stat, and called for every commit
    except (FileNotFoundError, NotADirectoryError):
        raise DatabaseMissingError(f"no database at {path}") from None
    except OSError as error:
        raise StorageError(f"{path}: {error.strerror}") from error


def _use_wal(raw: sqlite3.Connection, busy_timeout: float) -> None:
    """Switch to WAL. SQLite does not wait for the lock that the first switch needs."""
    deadline = time.monotonic() + busy_timeout
    pause = 0.001
    while True:
        try:
            raw.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        else:
            return


def wal_of(path: Path) -> Path:
    """The write-ahead log of the database at ``path``."""
    return path.with_name(path.name + "-wal")


def journal_of(path: Path) -> Path:
    """The rollback journal of a database that is not under WAL."""
    return path.with_name(path.name + "-journal")


def shm_of(path: Path) -> Path:
    """The shared index of that log."""
    return path.with_name(path.name + "-shm")


class FileConnections:
    """Connections to one file that are kept between uses.

    A connection to a file that was meanwhile removed or replaced is never handed out: what is
    written through it would be lost.
    """

    def __init__(self, path: Path, durability: Durability, busy_timeout: float, *, read_only: bool) -> None:
        self._path = path
        self._name = str(path)
        self._durability: Durability = durability
        self._busy_timeout = busy_timeout
        self._read_only = read_only
        self._guard = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        # Weak, so that one that an interrupt has dropped is closed and not kept for ever.
        self._opened: WeakSet[sqlite3.Connection] = WeakSet()
        self._identity: tuple[int, int] | None = None
        self._closed = False
        self._kept = 2 if read_only else 4

    def take(self) -> tuple[sqlite3.Connection, Token]:
        """A connection, and what :meth:`give_back` needs to know of it."""
        token: Token = self.check_identity()
        try:
            raw = self._idle.pop()
        except IndexError:
            with _told_when_gone(self._path):
                if self._read_only:
                    raw, reusable = open_for_reading(self._path, self._busy_timeout)
                    token = token if reusable else None
                else:
                    raw = open_existing(self._path, self._durability, self._busy_timeout)
            self._opened.add(raw)
        return raw, token

    def check_identity(self) -> tuple[int, int]:
        """Which file the path names now. Raises :class:`DatabaseMissingError`."""
        try:
            status = _stat(self._name)
        except DatabaseMissingError:
            self.drop_idle()
            raise
        identity = (status.st_dev, status.st_ino)
        if identity != self._identity:
            with self._guard:
                self.drop_idle()
                self._identity = identity
        return identity

    def give_back(self, raw: sqlite3.Connection, token: Token) -> None:
        """Keep the connection for the next use, or close it."""
        if (
            token is not None
            and token == self._identity
            and len(self._idle) < self._kept
            and not raw.in_transaction
        ):
            self._idle.append(raw)
            if not self._closed:
                return
            self.drop_idle()
        else:
            raw.close()

    def drop_idle(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            try:
                raw = self._idle.pop()
            except IndexError:
                return
            raw.close()

    def close(self) -> None:
        """Close them all; one in use is closed when it is given back."""
        self._closed = True
        self.drop_idle()

    def abandon(self) -> None:
        """Forget the connections in a forked child without closing them.

        SQLite forbids even that: closing would drop locks that the parent relies on. So what was
        inherited is never freed.
        """
        for raw in self._opened:
            leak(raw)
        self._opened.clear()
        self._idle.clear()


def leak(raw: object) -> None:
    """Keep an object from ever being freed."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(raw))
