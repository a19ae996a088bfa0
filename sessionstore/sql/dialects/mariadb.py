"""MariaDB and MySQL, through PyMySQL or mysqlclient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Final

from sqlalchemy import FromClause, Insert, Select, Table
from sqlalchemy.dialects.mysql import insert
from sqlalchemy.dialects.mysql.pymysql import MySQLDialect_pymysql

from sessionstore.errors import SessionStoreError
from sessionstore.sql.dbapi import Values
from sessionstore.sql.dialects.base import SqlDialect
from sessionstore.sql.driver_errors import Failure, mariadb_failure, missing_driver, too_large

SEGMENT_INDEX: Final = "ix_entries_session_id_segment_seq_seq"

_SMALLEST_SUSPECT = 1_000_000
"""Bytes. Nobody has a smaller packet size than what the driver itself cuts batches to."""

_AROUND_A_ROW = 1024
"""Bytes of a statement around the values of its only row, roughly."""

_ESCAPED = b"\0\n\r\x1a\"'\\"
"""What takes another byte in the text of a statement."""

SESSION_SETUP = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
"""Without gap locks no session waits for the rows of another; snapshots ask for more themselves."""


class MariadbDialect(SqlDialect):
    """``driver`` is the module's name, ``pymysql`` or ``MySQLdb``; both spell parameters alike."""

    name = "mariadb"
    update_returns = False
    batches_deletes = False
    seeks_subqueries = False  # one that may read over 100 rows is not run before the plan is made

    def __init__(self, driver: str = "pymysql") -> None:
        try:
            # By name, since neither driver has types; both have the same two modules.
            module, cursors = import_module(driver), import_module(f"{driver}.cursors")
        except ImportError:
            raise missing_driver("PyMySQL" if driver == "pymysql" else "mysqlclient", "mariadb") from None
        self.errors = (module.Error,)
        self._streaming: type[Any] = cursors.SSCursor
        self.compiler = MySQLDialect_pymysql(paramstyle="format")

    def upsert(self, table: Table, keys: Sequence[str], updated: Sequence[str]) -> Insert:
        """See :meth:`SqlDialect.upsert`."""
        del keys
        statement = insert(table)
        return statement.on_duplicate_key_update({name: statement.inserted[name] for name in updated})

    def along_segment(
        self, statement: Select[*tuple[Any, ...]], entries: FromClause
    ) -> Select[*tuple[Any, ...]]:
        """The optimiser would read the whole session where it expects most of it in one segment."""
        return statement.with_hint(entries, f"FORCE INDEX ({SEGMENT_INDEX})", self.compiler.name)

    def encoding_of(self, raw: Any) -> str:
        """See :meth:`SqlDialect.encoding_of`: ``utf8`` is not UTF-8 here, and loses text silently."""
        name: str = raw.character_set_name()
        return "utf-8" if name == "utf8mb4" else name

    def begin_write(self, raw: Any) -> None:
        """In autocommit mode, that of our own connections; else the first statement begins."""
        if raw.get_autocommit():
            _run(raw, "START TRANSACTION")  # BEGIN begins a block under sql_mode=ORACLE

    def begin_snapshot(self, raw: Any) -> None:
        """See :meth:`SqlDialect.begin_snapshot`."""
        _run(raw, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        _run(raw, "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")

    def streaming_cursor(self, raw: Any) -> Any:
        """See :meth:`SqlDialect.streaming_cursor`."""
        return raw.cursor(self._streaming)

    def explain_loss(
        self, sent: Sequence[Values], ask: Callable[[str], Any], where: str
    ) -> SessionStoreError | None:
        """A statement larger than ``max_allowed_packet`` is answered by hanging up."""
        largest = max((_escaped_size(row) for row in sent), default=0) + _AROUND_A_ROW
        if largest > _SMALLEST_SUSPECT and largest > ask("SELECT @@max_allowed_packet"):
            return too_large(where)
        return None

    def failure(self, error: Exception, where: str, raw: Any = None) -> Failure:
        """See :meth:`SqlDialect.failure`."""
        return mariadb_failure(error, where, connected=raw is not None and getattr(raw, "open", True))


def _escaped_size(row: Values) -> int:
    """The bytes that the texts of a row take in a statement."""
    texts = [item.encode() for item in row if isinstance(item, str)]
    return sum(len(text) + sum(map(text.count, _ESCAPED)) for text in texts)


def _run(raw: Any, statement: str) -> None:
    cursor = raw.cursor()
    cursor.execute(statement)
    cursor.close()
