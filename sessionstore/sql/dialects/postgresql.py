"""PostgreSQL, and what speaks its protocol, through psycopg 3."""

from __future__ import annotations

import select as sockets
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from sqlalchemy import (
    ColumnElement,
    FromClause,
    Insert,
    Select,
    Table,
    Text,
    and_,
    any_,
    bindparam,
    func,
    literal_column,
    select,
    true,
    tuple_,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.sql.selectable import NamedFromClause

from sessionstore.sql.dialects.base import SqlDialect
from sessionstore.sql.driver_errors import Failure, missing_driver, postgresql_failure, unreachable


class PostgresqlDialect(SqlDialect):
    """psycopg begins by itself unless the connection is in autocommit mode, as those of our own are."""

    name = "postgresql"
    update_returns = True
    batches_deletes = True
    array_parameters = True
    commits_at_once = True

    def __init__(self) -> None:
        try:
            import psycopg
        except ImportError:
            raise missing_driver("psycopg", "postgres") from None
        self.errors = (psycopg.Error,)
        self._connection_error = psycopg.OperationalError
        self.compiler = PGDialect_psycopg(paramstyle="format")  # type: ignore[no-untyped-call]  # untyped upstream

    def upsert(self, table: Table, keys: Sequence[str], updated: Sequence[str]) -> Insert:
        """See :meth:`SqlDialect.upsert`."""
        statement = insert(table)
        return statement.on_conflict_do_update(
            index_elements=list(keys), set_={name: statement.excluded[name] for name in updated}
        )

    def one_of(self, column: ColumnElement[str], name: str) -> ColumnElement[bool]:
        """One array parameter, however long: the text of the statement stays the same."""
        return column == any_(bindparam(name, type_=ARRAY(Text())))

    def listed(
        self, statement: Select[*tuple[Any, ...]], column: ColumnElement[str], name: str
    ) -> Select[*tuple[Any, ...]]:
        """A subquery for each text, as in :meth:`single_row`.

        For a long list the planner otherwise reads all rows of a session that it thinks small.
        """
        texts = (
            func.unnest(bindparam(name, type_=ARRAY(Text())))
            .table_valued("text", name="listed")
            .render_derived()
        )
        row = _one_of(statement.where(column == texts.c.text.collate("C"))).lateral("found")
        return select(*row.c).select_from(texts.join(row, true()))

    def in_segment(
        self,
        entries: FromClause,
        segment_seq: ColumnElement[int],
        low: ColumnElement[int],
        high: ColumnElement[int],
    ) -> ColumnElement[bool]:
        """A comparison of rows, of which only the segment index can make a range.

        With plain comparisons the planner takes the unique index on the number where it expects
        most entries in one segment, and walks the others.
        """
        place = tuple_(entries.c.segment_seq, entries.c.seq)
        return and_(place >= tuple_(segment_seq, low), place <= tuple_(segment_seq, high))

    def segment_order(self, entries: FromClause) -> Sequence[ColumnElement[int]]:
        """See :meth:`SqlDialect.segment_order`."""
        return [entries.c.segment_seq, entries.c.seq]

    def single_row(
        self, entries: NamedFromClause, columns: Sequence[str], condition: ColumnElement[bool]
    ) -> tuple[FromClause, ColumnElement[bool]]:
        """A subquery that ends after one row, which cannot be turned into a hash of all rows.

        A plain join can, and is where the planner has no statistics or old ones: it expects a
        recursion to be long.
        """
        row = _one_of(select(*(entries.c[name] for name in columns)).where(condition))
        return row.lateral(f"{entries.name}_row"), true()

    def encoding_of(self, raw: Any) -> str:
        """See :meth:`SqlDialect.encoding_of`."""
        name: str = raw.info.encoding
        return name

    def is_fresh(self, raw: Any) -> bool:
        """See :meth:`SqlDialect.is_fresh`: a server that hung up has said so, and nobody has read it yet."""
        if not raw.autocommit or raw.closed:
            return False
        waiting, _, _ = sockets.select([raw.pgconn.socket], [], [], 0)
        return not waiting

    def begin_write(self, raw: Any) -> None:
        """In words on connections of our own, with the level that row locks need and no more.

        A database may default to SERIALIZABLE; sessions would then fail because of each other.
        """
        if raw.autocommit:
            raw.execute("BEGIN ISOLATION LEVEL READ COMMITTED")

    def commit(self, raw: Any, done: list[Any]) -> None:
        """See :meth:`SqlDialect.commit`.

        The driver's own ``commit`` asks the connection whether it is in a transaction, which a
        pipeline does not know while every answer is in: it would then do nothing.
        """
        if raw.autocommit:
            raw.execute("COMMIT")
        else:
            raw.commit()
        done.append(True)

    def begin_snapshot(self, raw: Any) -> None:
        """See :meth:`SqlDialect.begin_snapshot`."""
        if raw.autocommit:
            raw.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        else:
            raw.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")

    def together(self, raw: Any) -> AbstractContextManager[Any]:
        """See :meth:`SqlDialect.together`."""
        return raw.pipeline()  # type: ignore[no-any-return]  # the driver is typed as Any here

    def streaming_cursor(self, raw: Any) -> Any:
        """See :meth:`SqlDialect.streaming_cursor`."""
        return raw.cursor(name="sessionstore")

    def failure(self, error: Exception, where: str, raw: Any = None) -> Failure:
        """See :meth:`SqlDialect.failure`."""
        if raw is None and isinstance(error, self._connection_error) and error.sqlstate is None:
            return unreachable(error, where)
        return postgresql_failure(error, where, connected=raw is not None and not raw.closed)


def _one_of(rows: Select[*tuple[Any, ...]]) -> Select[*tuple[Any, ...]]:
    return rows.limit(literal_column("1"))
