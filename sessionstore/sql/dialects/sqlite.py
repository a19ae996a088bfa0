"""SQLite, through the standard library's driver."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Insert, Table
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from sessionstore.sql.dialects.base import SqlDialect
from sessionstore.sql.driver_errors import Failure, sqlite_failure


class SqliteDialect(SqlDialect):
    """Transactions are begun in words: what the driver would begin by itself is a deferred one."""

    name = "sqlite"
    # The last two come of damage: texts that are not UTF-8, numbers that what is derived overflows.
    errors = (sqlite3.Error, UnicodeDecodeError, OverflowError)
    update_returns = True
    batches_deletes = True
    unfetched_runs_on = True
    talks_to_a_server = False

    def __init__(self) -> None:
        self.compiler = SQLiteDialect_pysqlite(paramstyle="qmark")

    def upsert(self, table: Table, keys: Sequence[str], updated: Sequence[str]) -> Insert:
        """See :meth:`SqlDialect.upsert`."""
        statement = insert(table)
        return statement.on_conflict_do_update(
            index_elements=list(keys), set_={name: statement.excluded[name] for name in updated}
        )

    def begin_write(self, raw: sqlite3.Connection) -> None:
        """Take the write lock before anything is read: no timeout heals a deferred begin."""
        _end_implicit(raw)
        raw.execute("BEGIN IMMEDIATE")

    def begin_snapshot(self, raw: sqlite3.Connection) -> None:
        """A deferred begin; under WAL the first read fixes what is seen."""
        _end_implicit(raw)
        raw.execute("BEGIN")

    def commit(self, raw: sqlite3.Connection, done: list[Any]) -> None:
        """See :meth:`SqlDialect.commit`."""
        # One call, so that no interrupt comes between the success and its mark in the list.
        done.extend(map(raw.execute, ("COMMIT",)))
        _begin_implicit(raw)

    def rollback(self, raw: sqlite3.Connection) -> None:
        """See :meth:`SqlDialect.rollback`."""
        if raw.in_transaction:
            raw.execute("ROLLBACK")
        _begin_implicit(raw)

    def failure(self, error: Exception, where: str, raw: sqlite3.Connection | None = None) -> Failure:
        """See :meth:`SqlDialect.failure`."""
        del raw
        return sqlite_failure(error, where)


def _always_in_transaction(raw: sqlite3.Connection) -> bool:
    """Whether a user's connection is in the mode of Python 3.12 that is never out of a transaction."""
    return getattr(raw, "autocommit", None) is False


def _end_implicit(raw: sqlite3.Connection) -> None:
    if _always_in_transaction(raw) and raw.in_transaction:
        raw.execute("ROLLBACK")


def _begin_implicit(raw: sqlite3.Connection) -> None:
    if _always_in_transaction(raw) and not raw.in_transaction:
        raw.execute("BEGIN")
