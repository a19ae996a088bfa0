"""Recorded and bare connections of psycopg and PyMySQL, with the settings of the store's own."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import psycopg
import pymysql
from pymysql.cursors import Cursor
from sqlalchemy import make_url

from benchmarks.recording import Call, Log, RecordedCursor
from sessionstore.sql.dialects.mariadb import SESSION_SETUP


def connect(url: str, log: Log | None = None) -> Any:
    """A connection in autocommit mode; one with a log records."""
    parsed = make_url(url)
    _, options = parsed.get_dialect()().create_connect_args(parsed)
    if parsed.get_backend_name() == "postgresql":
        return _postgresql(options, log)
    return _mariadb(options, log)


def _postgresql(options: dict[str, Any], log: Log | None) -> Any:
    kind = psycopg.Connection if log is None else _PostgresqlConnection
    raw = kind.connect(**options, client_encoding="utf8", autocommit=True)
    if isinstance(raw, _PostgresqlConnection):
        raw.log = log
    return raw


def _mariadb(options: dict[str, Any], log: Log | None) -> Any:
    options = {"charset": "utf8mb4", **options, "autocommit": True}
    raw = pymysql.connect(**options) if log is None else _MariadbConnection(log, **options)
    cursor = raw.cursor()
    cursor.execute(SESSION_SETUP)
    cursor.close()
    return raw


class _PostgresqlCursor(RecordedCursor, psycopg.Cursor[Any]):
    pass


class _PostgresqlConnection(psycopg.Connection[Any]):
    log: Log | None = None

    def cursor(self, *arguments: Any, **options: Any) -> Any:
        if self.log is None or arguments or options:
            return super().cursor(*arguments, **options)
        cursor = _PostgresqlCursor(self)
        cursor.log, cursor.number = self.log, self.log.new_cursor()
        return cursor

    def execute(self, query: Any, *arguments: Any, **options: Any) -> Any:
        if self.log is None:
            return super().execute(query, *arguments, **options)
        with self.log.adding(Call(None, "execute", (query, *arguments), str(query))):
            return super().execute(query, *arguments, **options)

    @contextmanager
    def pipeline(self) -> Generator[psycopg.Pipeline]:
        self._add("enter pipeline")
        with super().pipeline() as pipeline:
            yield pipeline
        self._add("exit pipeline")

    def _add(self, method: str) -> None:
        if self.log is not None:
            self.log.add(Call(None, method))


class _MariadbCursor(RecordedCursor, Cursor):
    pass


class _MariadbConnection(pymysql.connections.Connection):
    def __init__(self, log: Log, **options: Any) -> None:
        self.log = log
        super().__init__(**options)

    def cursor(self, cursor: Any = None) -> Any:
        if cursor is not None:
            return super().cursor(cursor)
        made = super().cursor(_MariadbCursor)
        made.log, made.number = self.log, self.log.new_cursor()
        return made

    def commit(self) -> None:
        with self.log.adding(Call(None, "commit", (), "COMMIT")):
            super().commit()

    def rollback(self) -> None:
        with self.log.adding(Call(None, "rollback", (), "ROLLBACK")):
            super().rollback()
