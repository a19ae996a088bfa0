"""What differs between databases, in one place; the rest of the SQL store does not know which it is on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, FromClause, Insert, Select, Table, and_, bindparam
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.selectable import NamedFromClause

from sessionstore.errors import SessionStoreError
from sessionstore.sql.dbapi import Values
from sessionstore.sql.driver_errors import Failure


class SqlDialect(ABC):
    """The SQL and the habits of one database and its driver."""

    name: ClassVar[str]
    """As containers are named: ``sqlite``, ``postgresql`` or ``mariadb``."""

    compiler: Dialect
    """SQLAlchemy's dialect with positional parameters, which compiles every statement."""

    errors: tuple[type[Exception], ...]
    """The base of the driver's errors."""

    update_returns: ClassVar[bool]
    """Whether UPDATE can return the row: it then takes numbers in the statement that locks."""

    batches_deletes: ClassVar[bool]
    """Whether the driver sends an ``executemany`` of a DELETE without a round trip for each row."""

    seeks_subqueries: ClassVar[bool] = True
    """Whether the value of a subquery that reads rows can bound the range of an index."""

    unfetched_runs_on: ClassVar[bool] = False
    """Whether a statement goes on, in the way of others on its connection, until its rows are fetched."""

    talks_to_a_server: ClassVar[bool] = True
    """Whether an interrupt can come between a statement and its answer, which the next one would get."""

    array_parameters: ClassVar[bool] = False
    """Whether the list of :meth:`one_of` is a single parameter."""

    commits_at_once: ClassVar[bool] = False
    """Whether one statement can update the session's row and insert another: a whole commit."""

    # -- statements --------------------------------------------------------------------------

    @abstractmethod
    def upsert(self, table: Table, keys: Sequence[str], updated: Sequence[str]) -> Insert:
        """An insert that replaces the ``updated`` columns of the row that has the same ``keys``."""

    def one_of(self, column: ColumnElement[str], name: str) -> ColumnElement[bool]:
        """Whether ``column`` is among the values of the list parameter ``name``."""
        return column.in_(bindparam(name, expanding=True))

    def listed(
        self, statement: Select[*tuple[Any, ...]], column: ColumnElement[str], name: str
    ) -> Select[*tuple[Any, ...]]:
        """The rows of ``statement`` for each text of the list parameter ``name``.

        With ``column`` it finds one row at most. Written so that the planner looks each one up,
        whatever its statistics say. A text that comes twice may give its row twice.
        """
        return statement.where(self.one_of(column, name))

    def in_segment(
        self,
        entries: FromClause,
        segment_seq: ColumnElement[int],
        low: ColumnElement[int],
        high: ColumnElement[int],
    ) -> ColumnElement[bool]:
        """Whether an entry is of this segment, with a number from ``low`` to ``high``.

        Written so that the planner takes the index on (session_id, segment_seq, seq), whatever
        its statistics say of the sizes of segments.
        """
        return and_(entries.c.segment_seq == segment_seq, entries.c.seq >= low, entries.c.seq <= high)

    def segment_order(self, entries: FromClause) -> Sequence[ColumnElement[int]]:
        """What puts entries of one segment in order, along the same index."""
        return [entries.c.seq]

    def along_segment(
        self, statement: Select[*tuple[Any, ...]], entries: FromClause
    ) -> Select[*tuple[Any, ...]]:
        """Name that index to a planner that has to be told."""
        del entries
        return statement

    def single_row(
        self, entries: NamedFromClause, columns: Sequence[str], condition: ColumnElement[bool]
    ) -> tuple[FromClause, ColumnElement[bool]]:
        """What to join for ``columns`` of the one entry that ``condition`` finds, and on what.

        Written so that the planner looks that entry up, whatever its statistics say of how many
        are asked for.
        """
        del columns
        return entries, condition

    # -- connections -------------------------------------------------------------------------

    def encoding_of(self, raw: Any) -> str:
        """How a connection carries text; only ``utf-8`` carries every one."""
        del raw
        return "utf-8"

    def is_fresh(self, raw: Any) -> bool:
        """Whether a statement sent now commits by itself, on a connection that the server has not left.

        Asked only where :attr:`commits_at_once`.
        """
        del raw
        return False

    # -- transactions ------------------------------------------------------------------------

    @abstractmethod
    def begin_write(self, raw: Any) -> None:
        """Begin a transaction that will write."""

    @abstractmethod
    def begin_snapshot(self, raw: Any) -> None:
        """Begin a read-only transaction in which every read sees the state of the first one."""

    def commit(self, raw: Any, done: list[Any]) -> None:
        """Commit what :meth:`begin_write` began. ``done`` gets an item once that has succeeded."""
        raw.commit()
        done.append(True)

    def rollback(self, raw: Any) -> None:
        """Undo what was begun, if anything."""
        raw.rollback()

    def together(self, raw: Any) -> AbstractContextManager[Any]:
        """Statements in the block may be sent without waiting for the results of those before."""
        del raw
        return nullcontext()

    def streaming_cursor(self, raw: Any) -> Any:
        """A cursor that does not fetch a whole result at once."""
        return raw.cursor()

    # -- errors ------------------------------------------------------------------------------

    @abstractmethod
    def failure(self, error: Exception, where: str, raw: Any = None) -> Failure:
        """What ``error`` means; ``raw`` is the connection that it came from, if there was one."""

    def explain_loss(
        self, sent: Sequence[Values], ask: Callable[[str], Any], where: str
    ) -> SessionStoreError | None:
        """Why the server may have hung up on ``sent``, the rows of the last writing statement.

        ``ask`` gives the single value of a query, over another connection.
        """
        del sent, ask, where
        return None
