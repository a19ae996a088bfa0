"""Counts statements where they reach the SQLite driver: on its connections and cursors."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from sessionstore.sql import sqlite_files


class Counted(list[str]):
    """The statements of a block, in order; a batch is one."""


class _Cursor(sqlite3.Cursor):
    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        _seen(self.connection, sql)
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> sqlite3.Cursor:
        _seen(self.connection, sql)
        return super().executemany(sql, parameters)


class _Connection(sqlite3.Connection):
    def cursor(self, factory: Any = _Cursor) -> Any:
        return super().cursor(factory)

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        cursor: sqlite3.Cursor = self.cursor()
        return cursor.execute(sql, parameters)


Listener = Callable[[sqlite3.Connection, str], object]

_listeners: list[Listener] = []


def _seen(raw: sqlite3.Connection, sql: str) -> None:
    for listener in _listeners:
        listener(raw, sql)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the connections that are opened from now on count."""
    connect = sqlite3.connect

    def counting(*args: Any, **options: Any) -> sqlite3.Connection:
        return connect(*args, **{**options, "factory": _Connection})

    monkeypatch.setattr(sqlite_files.sqlite3, "connect", counting)


@contextmanager
def statements() -> Iterator[Counted]:
    """The statements that reach the driver inside the block."""
    counted = Counted()
    with listening(lambda _, sql: counted.append(sql)):
        yield counted


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell ``listener`` of each statement before it reaches the driver; it may raise instead."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
