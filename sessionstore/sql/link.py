"""A connection for the length of one piece of work, and the statements run on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from typing import Any, Final

from sessionstore.sql.dbapi import DbapiCursor, Row, Values
from sessionstore.sql.dialects import SqlDialect
from sessionstore.sql.prepared import Prepared

_STREAMED_ROWS: Final = 50


class Link:
    """Runs prepared statements. ``raw`` is the driver's connection."""

    __slots__ = ("_asked", "committed", "dialect", "last_rows", "raw", "unfinished")

    def __init__(self, raw: Any, dialect: SqlDialect) -> None:
        self.raw = raw
        self.unfinished = False
        """Whether a stream was left before its end."""
        self.dialect = dialect
        self._asked: list[DbapiCursor] = []
        self.committed: list[object] = []
        """Not empty once COMMIT has succeeded, even if an interrupt came right after."""
        self.last_rows: Sequence[Values] = ()
        """What the last writing statement sent; tells why a server hung up."""

    def rows(self, statement: Prepared, values: Values) -> list[Row]:
        """Run a statement and fetch its rows."""
        found = self.ask(statement, values).rows()
        self._asked.pop()
        return found

    def ask(self, statement: Prepared, values: Values) -> Answer:
        """Run a statement whose rows are fetched later.

        Inside :meth:`together` the next statement may be sent before the answer is here.
        """
        cursor = self.raw.cursor()
        self._asked.append(cursor)
        cursor.execute(statement.sql, statement.bind(values))
        return Answer(statement, cursor)

    def end_statements(self) -> None:
        """End the statements whose rows nobody has fetched, when the work has failed.

        An error may keep their cursors alive for longer than the connection is this work's own.
        """
        if self.dialect.unfetched_runs_on:
            for cursor in self._asked:
                _end(cursor)

    def run(self, statement: Prepared, values: Values) -> None:
        """Run a statement that returns nothing."""
        self.last_rows = (values,)
        self.raw.cursor().execute(statement.sql, statement.bind(values))

    def run_many(self, statement: Prepared, rows: Sequence[Values]) -> None:
        """Run a statement for each of ``rows``, in one batch."""
        self.last_rows = rows
        cursor = self.raw.cursor()
        if len(rows) == 1:
            cursor.execute(statement.sql, statement.bind(rows[0]))
        else:
            cursor.executemany(statement.sql, statement.bind_many(rows))

    def stream(self, statement: Prepared, values: Values) -> Iterator[Row]:
        """Run a statement and fetch its rows bit by bit; nothing else runs on the link meanwhile."""
        self.unfinished = True
        cursor = self.dialect.streaming_cursor(self.raw)
        try:
            cursor.execute(statement.sql, statement.bind(values))
            while True:
                rows = cursor.fetchmany(_STREAMED_ROWS)
                yield from statement.result(rows)
                if len(rows) < _STREAMED_ROWS:
                    break
        finally:
            _end(cursor)  # a stream that was left may outlive the connection
        self.unfinished = False

    def together(self) -> AbstractContextManager[Any]:
        """Statements in the block may be sent without waiting for the results of those before."""
        return self.dialect.together(self.raw)


def _end(cursor: DbapiCursor) -> None:
    """Close a cursor whose results nobody wants any more."""
    # Not the driver's errors alone: an interrupt in a driver leaves it in states that it did not foresee.
    with suppress(Exception):
        cursor.close()


class Answer:
    """The result of a statement that was sent."""

    __slots__ = ("_cursor", "_statement")

    def __init__(self, statement: Prepared, cursor: DbapiCursor) -> None:
        self._statement = statement
        self._cursor = cursor

    def rows(self) -> list[Row]:
        """Wait for the result and fetch it."""
        return self._statement.result(self._cursor.fetchall())
