"""Has the n-th statement that reaches a driver fail, on every kind of SQL store."""

from __future__ import annotations

import os
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import psycopg
import pymysql
import pytest
from sql import counting


class Fault(Protocol):
    """What happens in the place of a statement. ``raw`` is the connection, ``run`` the statement."""

    def __call__(self, raw: Any, run: Callable[[], Any]) -> Any: ...


class Statements:
    """Counts statements as they reach the driver, and has one of them do something else."""

    def __init__(self) -> None:
        self.count = 0
        self._at = 0
        self._fault: Fault | None = None

    @contextmanager
    def counted(self, at: int = 0, fault: Fault | None = None) -> Iterator[Statements]:
        """Count in the block; the ``at``-th statement meets the fault."""
        self.count, self._at, self._fault = 0, at, fault
        try:
            yield self
        finally:
            self._at = 0

    def arrive(self, raw: Any, run: Callable[[], Any]) -> Any:
        self.count += 1
        if self.count == self._at and self._fault is not None:
            return self._fault(raw, run)
        return run()


def install(monkeypatch: pytest.MonkeyPatch) -> Statements:
    """Make every driver tell of its statements from now on."""
    statements = Statements()
    _install_sqlite(monkeypatch, statements)
    for cursor, name in ((psycopg.Cursor, "execute"), (psycopg.Cursor, "executemany")):
        _install(monkeypatch, statements, cursor, name, lambda itself: itself.connection)
    _install(monkeypatch, statements, psycopg.ServerCursor, "execute", lambda itself: itself.connection)
    # COMMIT and ROLLBACK come this way too, and not by a cursor.
    _install(
        monkeypatch, statements, pymysql.connections.Connection, "_execute_command", lambda itself: itself
    )
    return statements


def _install(
    monkeypatch: pytest.MonkeyPatch,
    statements: Statements,
    owner: type,
    name: str,
    connection_of: Callable[[Any], Any],
) -> None:
    function = getattr(owner, name)

    def arriving(itself: Any, *args: Any, **kwargs: Any) -> Any:
        return statements.arrive(connection_of(itself), lambda: function(itself, *args, **kwargs))

    monkeypatch.setattr(owner, name, arriving)


def _install_sqlite(monkeypatch: pytest.MonkeyPatch, statements: Statements) -> None:
    # Its cursors are of a C type, so there is nothing but to raise before the statement.
    counting.install(monkeypatch)
    monkeypatch.setattr(counting, "_listeners", [lambda raw, _: statements.arrive(raw, lambda: None)])


# -- faults: kinds by store ----------------------------------------------------------------------


def _raising(error: Callable[[], Exception]) -> Fault:
    def fail(raw: Any, run: Callable[[], Any]) -> Any:
        raise error()

    return fail


def _sqlite(code: int, *, undone: bool = False) -> Fault:
    def fail(raw: Any, run: Callable[[], Any]) -> Any:
        if undone and raw.in_transaction:
            sqlite3.Cursor(raw).execute("ROLLBACK")
        error = sqlite3.OperationalError("injected")
        error.sqlite_errorcode = code
        raise error

    return fail


def _hang_up(raw: Any) -> None:
    """Cut the connection below the driver, which does not know of it."""
    if isinstance(raw, psycopg.Connection):
        if not raw.closed:
            with socket.socket(fileno=os.dup(raw.pgconn.socket)) as wire:
                wire.shutdown(socket.SHUT_RDWR)
    elif raw._sock is not None:
        raw._sock.shutdown(socket.SHUT_RDWR)


def _lost_before(raw: Any, run: Callable[[], Any]) -> Any:
    _hang_up(raw)
    return run()


def _lost_after(raw: Any, run: Callable[[], Any]) -> Any:
    result = run()
    _hang_up(raw)
    return result


_SQLITE: dict[str, Fault] = {
    "full": _sqlite(sqlite3.SQLITE_FULL, undone=True),
    "input or output": _sqlite(sqlite3.SQLITE_IOERR),
    "busy": _sqlite(sqlite3.SQLITE_BUSY),
}
FAULTS: dict[str, dict[str, Fault]] = {
    "sqlite": _SQLITE,
    "sqlite_dir": _SQLITE,
    "postgresql": {
        "full": _raising(psycopg.errors.DiskFull),
        "conflict": _raising(psycopg.errors.SerializationFailure),
        "lost before": _lost_before,
        "lost after": _lost_after,
    },
    "mariadb": {
        "full": _raising(lambda: pymysql.err.OperationalError(1114, "full")),
        "conflict": _raising(lambda: pymysql.err.OperationalError(1213, "deadlock")),
        "lost before": _lost_before,
        "lost after": _lost_after,
    },
}
KINDS = sorted({kind for faults in FAULTS.values() for kind in faults})
