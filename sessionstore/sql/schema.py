"""The schema of a database: is it there, is it ours, is it this release's; and making it once.

A repository's first use makes the same schema as ``alembic upgrade head``, stamped in the same
table, without importing Alembic: the DDL is compiled from the models, once for each dialect.
Only a database that has none of our tables is touched. One that has them is accepted or refused,
never altered: that is what ``sessionstore db upgrade`` is for.

The functions that take a cursor run inside a transaction that the caller has begun;
:func:`ensure_schema` does the whole of it on an engine.
"""

from __future__ import annotations

import random
import time
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum
from typing import Any, Final, Protocol

import msgspec
from sqlalchemy import Column, Connection, Engine, MetaData, PrimaryKeyConstraint, String, Table
from sqlalchemy.engine import Dialect
from sqlalchemy.exc import DBAPIError
from sqlalchemy.schema import CreateIndex, CreateTable

from sessionstore.errors import (
    SchemaVersionError,
    SessionStoreError,
    StorageBusyError,
    TransactionConflictError,
)
from sessionstore.sql.dialects import dialect_of
from sessionstore.sql.driver_errors import Failure, Kind
from sessionstore.sql.drivers import shown
from sessionstore.sql.models import Base
from sessionstore.sql.types import is_mysql_family

HEAD_REVISION: Final = "0001"
"""The revision that this release reads and writes."""

VERSION_TABLE: Final = "alembic_version"
"""Where Alembic keeps the revision of a database."""

TABLES: Final = tuple(table.name for table in Base.metadata.sorted_tables)
"""Names of our tables, each after the tables that it refers to."""

_CREATION_LOCK_SECONDS: Final = 60
# The lock is one server's: nodes of a cluster that create at once undo one another's transactions.
_CREATION_ATTEMPTS: Final = 8
# Nor does it keep another node's creation from showing here step by step. Seconds.
_CLUSTER_PAUSES: Final = (0.05, 0.1, 0.2, 0.4)
_POSTGRESQL_LOCK_KEY: Final = int.from_bytes(b"sessions", "big")
_MYSQL_LOCK_NAME: Final = "CONCAT('sessionstore:', MD5(DATABASE()))"  # names are the whole server's
_MYSQL_DUPLICATE_KEY_NAME: Final = 1061


class Cursor(Protocol):
    """The part of a DBAPI cursor that is needed here."""

    def execute(self, operation: str, /) -> Any:
        """Run one statement without parameters."""
        ...

    def fetchall(self) -> Sequence[Any]:
        """The rows of the last statement."""
        ...


class SchemaState(Enum):
    """What a database holds of our schema."""

    EMPTY = "none of our tables"
    HALF_MADE = "a creation that was cut off where DDL is not transactional; it can be run again"
    CURRENT = "the schema of this release"


class _Found(msgspec.Struct, frozen=True):
    """What of our schema a database has; ``revisions`` is None without a version table."""

    tables: frozenset[str]
    revisions: frozenset[str] | None


def schema_state(cursor: Cursor, dialect: Dialect, where: str) -> SchemaState:
    """What the database holds of our schema; two or three short reads.

    ``where`` is the store's URL for messages, without a password. Raises
    :class:`~sessionstore.errors.SchemaVersionError`, naming the command to run, when the schema
    is that of another release, is not stamped, or belongs to another application, and when the
    database does not keep text as UTF-8.
    """
    try:
        return _judge(cursor, dialect, where)
    except SchemaVersionError:
        if not is_mysql_family(dialect):
            raise
    # Where DDL is not transactional, a creation that is under way shows: wait for its end.
    with creation_lock(cursor, dialect):
        for pause in _CLUSTER_PAUSES:
            with suppress(SchemaVersionError):
                return _judge(cursor, dialect, where, latest=True)
            time.sleep(pause)
        return _judge(cursor, dialect, where, latest=True)


def _judge(cursor: Cursor, dialect: Dialect, where: str, *, latest: bool = False) -> SchemaState:
    found = _look(cursor, dialect, where, latest=latest)
    missing = [name for name in TABLES if name not in found.tables]
    revisions = found.revisions or frozenset()
    if HEAD_REVISION in revisions:
        if missing:
            raise SchemaVersionError(
                f"{where}: stamped as revision {HEAD_REVISION} but without {_names(missing)}: the tables "
                f"were dropped, or the stamp is another application's; give the store a database of its own"
            )
        return SchemaState.CURRENT
    if revisions:
        raise SchemaVersionError(
            f"{where}: the schema is at revision {_names(sorted(revisions))}, this release needs "
            f"{HEAD_REVISION}: run `sessionstore db upgrade {where}` (or `alembic upgrade head`); when a "
            f"newer release made it, install that one; when the revision is another application's, give "
            f"the store a database of its own"
        )
    if not found.tables:
        return SchemaState.EMPTY
    if found.revisions is not None and is_mysql_family(dialect) and _columns_are_ours(cursor, found.tables):
        return SchemaState.HALF_MADE
    raise SchemaVersionError(
        f"{where}: has {_names(sorted(found.tables))} but no revision in {VERSION_TABLE}: when the tables "
        f"are a store's, `sessionstore db upgrade {where}` stamps them; when they are another "
        f"application's, give the store a database of its own"
    )


def check_encoding(cursor: Cursor, dialect: Dialect, where: str) -> None:
    """Raise :class:`~sessionstore.errors.SchemaVersionError` when a database is not UTF-8.

    MariaDB and MySQL have an encoding for each table, which ours state.
    """
    if dialect.name == "postgresql":
        cursor.execute("SHOW server_encoding")
    elif dialect.name == "sqlite":
        cursor.execute("PRAGMA encoding")
    else:
        return
    _refuse_encoding(str(cursor.fetchall()[0][0]), where)


@contextmanager
def creation_lock(cursor: Cursor, dialect: Dialect) -> Generator[None]:
    """Let one process at a time create the schema.

    Enter it with the first statement of a transaction, look at :func:`schema_state` again inside,
    and leave it after the commit. SQLite needs nothing here: its lock is the caller's
    ``BEGIN IMMEDIATE``. Raises :class:`~sessionstore.errors.StorageBusyError` when another
    process holds the lock for a minute.
    """
    if dialect.name == "postgresql":
        # A snapshot from before the wait would not see what the holder of the lock has made.
        cursor.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        cursor.execute(f"SELECT pg_advisory_xact_lock({_POSTGRESQL_LOCK_KEY})")
        yield
    elif is_mysql_family(dialect):
        cursor.execute(f"SELECT GET_LOCK({_MYSQL_LOCK_NAME}, {_CREATION_LOCK_SECONDS})")
        if cursor.fetchall()[0][0] != 1:
            raise StorageBusyError(
                f"another process has been creating the schema for {_CREATION_LOCK_SECONDS} seconds"
            )
        try:
            yield
        finally:
            cursor.execute(f"SELECT RELEASE_LOCK({_MYSQL_LOCK_NAME})")
            cursor.fetchall()
    else:
        yield


def create_schema(cursor: Cursor, dialect: Dialect) -> None:
    """Create our tables and stamp them; the caller has seen that they are not there, and commits.

    The stamp comes last: where DDL is not transactional (MariaDB, MySQL) a creation that was cut
    off has no stamp, and running this again completes it.
    """
    for statement in schema_statements(dialect):
        try:
            cursor.execute(statement)
        except Exception as error:
            # Of the statements only CREATE INDEX cannot say "if not exists" on every server;
            # the driver, and with it the class of its errors, is not known here.
            if not (is_mysql_family(dialect) and error.args[:1] == (_MYSQL_DUPLICATE_KEY_NAME,)):
                raise


def ensure_schema(engine: Engine, *, create: bool = True, where: str | None = None) -> bool:
    """See to it that the database of ``engine`` has this release's schema; whether this call made it.

    It is made when the database has none of our tables and ``create`` is true. Any number of
    processes may do this at once: one creates, the others wait and find it made. ``where`` names
    the database in messages, without a password; its URL by default. Raises
    :class:`~sessionstore.errors.SchemaVersionError` as :func:`schema_state` does, and when the
    database is empty and ``create`` is false.
    """
    place = where or shown(engine.url)
    for attempt in range(1, _CREATION_ATTEMPTS):
        try:
            return _ensure_once(engine, create, place)
        except TransactionConflictError:
            time.sleep(random.uniform(0, 0.05 * attempt))
    return _ensure_once(engine, create, place)


def _ensure_once(engine: Engine, create: bool, place: str) -> bool:
    with driver_errors_understood(engine, place), engine.connect() as connection:
        cursor = connection.connection.cursor()
        with connection.begin():  # without the lock: stores that are there open beside any writer
            state = schema_state(cursor, engine.dialect, place)
        if state is SchemaState.CURRENT:
            return False
        if not create:
            raise SchemaVersionError(
                f"{place}: has no schema yet: run `sessionstore db upgrade {place}` "
                f"(or `alembic upgrade head`)"
            )
        with exclusive_transaction(connection):
            if schema_state(cursor, engine.dialect, place) is SchemaState.CURRENT:
                return False
            create_schema(cursor, engine.dialect)
    return True


@contextmanager
def exclusive_transaction(connection: Connection) -> Generator[None]:
    """A write transaction in which no other process creates or changes the schema.

    For creation and for migrations, which share the lock. ``connection`` must not be in a
    transaction; it is committed at the end, or rolled back.
    """
    raw = connection.connection.driver_connection
    assert raw is not None  # the connection was not detached
    dialect = dialect_of(connection.engine)
    with ExitStack() as until_committed, connection.begin():
        dialect.rollback(raw)  # what a listener on the user's engine may have begun
        dialect.begin_write(raw)
        try:
            until_committed.enter_context(creation_lock(raw.cursor(), connection.dialect))
            yield
        except BaseException:
            dialect.rollback(raw)
            raise
        dialect.commit(raw, [])


@contextmanager
def driver_errors_understood(engine: Engine, where: str) -> Generator[None]:
    """Raise what the errors of the driver mean, bare or wrapped by SQLAlchemy, in our own errors."""
    dialect = dialect_of(engine)
    try:
        yield
    except DBAPIError as error:
        if not isinstance(error.orig, dialect.errors):
            raise
        raise _understood(dialect.failure(error.orig, where)) from error
    except dialect.errors as error:
        raise _understood(dialect.failure(error, where)) from error


def _understood(failure: Failure) -> SessionStoreError:
    if failure.kind is Kind.CONFLICT:
        return TransactionConflictError(f"{failure.error} because of another one; try again")
    return failure.error


def schema_statements(dialect: Dialect) -> tuple[str, ...]:
    """The statements that make the schema and stamp it, compiled once for each dialect."""
    statements = _compiled.get(dialect.name)
    if statements is None:
        # A dialect of our own: the given one may quote as its server was set to.
        statements = _compiled[dialect.name] = _compile(type(dialect)())
    return statements


_compiled: dict[str, tuple[str, ...]] = {}


def _compile(dialect: Dialect) -> tuple[str, ...]:
    again = is_mysql_family(dialect)
    version = Table(
        VERSION_TABLE,
        MetaData(),
        Column("version_num", String(32), nullable=False),
        PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
    )
    constructs: list[CreateTable | CreateIndex] = [
        CreateTable(version, if_not_exists=True)  # a downgrade leaves it behind, empty
    ]
    for table in Base.metadata.sorted_tables:
        constructs.append(CreateTable(table, if_not_exists=again))
        constructs += [
            CreateIndex(index) for index in sorted(table.indexes, key=lambda index: str(index.name))
        ]
    insert = "INSERT IGNORE" if again else "INSERT"
    return (
        *(str(construct.compile(dialect=dialect)) for construct in constructs),
        f"{insert} INTO {VERSION_TABLE} (version_num) VALUES ('{HEAD_REVISION}')",
    )


def _look(cursor: Cursor, dialect: Dialect, where: str, *, latest: bool) -> _Found:
    """``latest`` reads past a snapshot that the transaction may hold (MariaDB, MySQL)."""
    tables, encoding = _tables_and_encoding(cursor, dialect)
    _refuse_encoding(encoding, where)
    if VERSION_TABLE not in tables:
        return _Found(tables, None)
    cursor.execute(f"SELECT version_num FROM {VERSION_TABLE}{' LOCK IN SHARE MODE' if latest else ''}")
    return _Found(tables - {VERSION_TABLE}, frozenset(str(row[0]) for row in cursor.fetchall()))


def _refuse_encoding(encoding: str, where: str) -> None:
    if encoding not in {"UTF8", "UTF-8"}:
        raise SchemaVersionError(
            f"{where}: the database keeps text as {encoding}, which cannot hold every text or sorts it "
            f"differently: give the store a database that was created with the encoding UTF8"
        )


def _tables_and_encoding(cursor: Cursor, dialect: Dialect) -> tuple[frozenset[str], str]:
    """Which tables (or views) answer to our names, and how the database keeps text."""
    names = ", ".join(f"'{name}'" for name in (*TABLES, VERSION_TABLE))
    if dialect.name == "postgresql":
        # From pg_class, not by to_regclass: that answers from a cache which the wait for the
        # creation lock does not refresh. "Visible" is what a bare name of the search path means.
        cursor.execute(
            "SELECT current_setting('server_encoding'), ARRAY(SELECT relname::text FROM pg_class "
            f"WHERE relname IN ({names}) AND pg_table_is_visible(oid))"
        )
        encoding, found = cursor.fetchall()[0]
        return frozenset(found), encoding
    if is_mysql_family(dialect):
        cursor.execute(
            "SELECT LOWER(table_name) FROM information_schema.tables "
            f"WHERE table_schema = DATABASE() AND table_name IN ({names})"
        )
        return frozenset(str(row[0]) for row in cursor.fetchall()), "UTF8"  # each table has its own charset
    cursor.execute(
        f"SELECT lower(name) FROM sqlite_master WHERE type IN ('table', 'view') AND lower(name) IN ({names})"
    )
    found = frozenset(str(row[0]) for row in cursor.fetchall())
    cursor.execute("PRAGMA encoding")
    return found, str(cursor.fetchall()[0][0])


def _columns_are_ours(cursor: Cursor, tables: frozenset[str]) -> bool:
    """Whether tables of our names have our columns (MariaDB, MySQL)."""
    names = ", ".join(f"'{name}'" for name in sorted(tables))
    cursor.execute(
        "SELECT LOWER(table_name), column_name FROM information_schema.columns "
        f"WHERE table_schema = DATABASE() AND table_name IN ({names})"
    )
    found = {(str(table), str(column)) for table, column in cursor.fetchall()}
    ours = {(name, column.name) for name in tables for column in Base.metadata.tables[name].columns}
    return found == ours


def _names(names: Sequence[str]) -> str:
    return ", ".join(names)
