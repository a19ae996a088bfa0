"""The commit of a single value or element as one statement, where a database can do that.

A frame of a stream then costs one round trip. The statement does what
:mod:`sessionstore.sql.applying` does in three: it locks the session's row by taking the number,
compares it with the expected one, and inserts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from sqlalchemy import Insert, Table, bindparam, func, insert, literal_column, select, update

from sessionstore.ids import Clock
from sessionstore.plan import CommitPlan
from sessionstore.records import LARGEST_INTEGER
from sessionstore.sql.applying import Applied, SessionKey
from sessionstore.sql.container import SqlContainer
from sessionstore.sql.dbapi import Values
from sessionstore.sql.dialects import SqlDialect
from sessionstore.sql.prepared import Prepared
from sessionstore.sql.rows import totals_of
from sessionstore.sql.statements import (
    ELEMENT_COLUMNS,
    LISTS,
    PLACE_COLUMNS,
    SESSIONS,
    VALUE_COLUMNS,
    VALUES,
    this_session,
)
from sessionstore.usage import SessionStats

LARGEST_TEXT: Final = 64 * 1024
"""Characters of the longest text that goes this way.

A connection that breaks while the statement is on its way leaves the outcome unknown, where a
transaction of several statements would be run again; a text that takes long takes the latter.
"""

HEAD: Final = ("modified_at", "id", "created_at", "expected_seq")


class SingleWriteStatements:
    """The statements of a dialect that ``commits_at_once``.

    They take :data:`HEAD` and the columns of the table without ``session_id`` and ``seq``. They
    return the session's next_seq, message_count and usage as they are afterwards; no row, having
    done nothing, when the session is not there or its next number is not the expected one.
    """

    def __init__(self, dialect: SqlDialect) -> None:
        self._dialect = dialect

    @cached_property
    def append_element(self) -> Prepared:
        """:data:`ELEMENT_COLUMNS`."""
        return self._prepare(LISTS, ELEMENT_COLUMNS, insert(LISTS))

    @cached_property
    def set_value(self) -> Prepared:
        """:data:`VALUE_COLUMNS`."""
        upsert = self._dialect.upsert(VALUES, ("session_id", *PLACE_COLUMNS), ("seq", "value"))
        return self._prepare(VALUES, VALUE_COLUMNS, upsert)

    def _prepare(self, table: Table, columns: Sequence[str], write: Insert) -> Prepared:
        next_seq = SESSIONS.c.next_seq
        expected = bindparam("expected_seq", type_=next_seq.type)
        highest = literal_column(str(LARGEST_INTEGER), next_seq.type)
        taken = (
            update(SESSIONS)
            .where(this_session(), next_seq == func.coalesce(expected, next_seq), next_seq < highest)
            .values(next_seq=next_seq + 1, modified_at=bindparam("modified_at"))
            .returning(SESSIONS.c.id, next_seq, SESSIONS.c.message_count, SESSIONS.c.usage)
            .cte("taken")
        )
        given = [name for name in columns if name != "seq"]
        parameters = [bindparam(name, type_=table.c[name].type) for name in given]
        row = select(taken.c.id, taken.c.next_seq - 1, *parameters)
        written = write.from_select(["session_id", "seq", *given], row).cte("written")
        statement = select(taken.c.next_seq, taken.c.message_count, taken.c.usage).add_cte(written)
        return Prepared(statement, (*HEAD, *given), self._dialect.compiler)


def write_at_once(
    container: SqlContainer,
    session: SessionKey,
    plan: CommitPlan,
    *,
    clock: Clock,
    expected_seq: int | None,
) -> Applied | None:
    """Commit ``plan`` if it is a single write that one statement can do; None if nothing was done.

    The caller then takes the ordinary way, which also finds out what stands against the commit.
    Raises ``CommitOutcomeUnknownError`` and ``StorageError``.
    """
    if plan.count != 1 or not container.dialect.commits_at_once:
        return None
    found = _statement(container.dialect, plan)
    if found is None:
        return None
    statement, row = found
    timestamp = clock()
    rows = container.write_at_once(statement, (timestamp, session.id, session.created_at, expected_seq, *row))
    if not rows:
        return None
    next_seq, message_count, totals = rows[0]
    return Applied(next_seq - 1, timestamp, SessionStats(message_count, totals_of(totals)))


def _statement(dialect: SqlDialect, plan: CommitPlan) -> tuple[Prepared, Values] | None:
    for element in plan.appends:
        if len(element.value) <= LARGEST_TEXT:
            row = (element.scope_id, element.namespace, element.key, element.value, element.tag)
            return _statements_of(dialect).append_element, row
    for value in plan.value_sets:
        if len(value.value) <= LARGEST_TEXT:
            values = (value.scope_id, value.namespace, value.key, value.value)
            return _statements_of(dialect).set_value, values
    return None


_by_dialect: dict[str, SingleWriteStatements] = {}


def _statements_of(dialect: SqlDialect) -> SingleWriteStatements:
    """Compiled once in the process, whichever container asks first."""
    found = _by_dialect.get(dialect.name)
    if found is None:
        found = _by_dialect.setdefault(dialect.name, SingleWriteStatements(dialect))
    return found
