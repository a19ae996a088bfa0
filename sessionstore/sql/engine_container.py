"""A container behind an engine: a server, a database in memory, or whatever engine the user brings."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from urllib.parse import unquote

from sqlalchemy import Engine, create_engine
from sqlalchemy.engine import URL
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import PoolProxiedConnection, SingletonThreadPool, StaticPool

from sessionstore.errors import InvalidUrlError, StorageBusyError
from sessionstore.line import Ticket
from sessionstore.sql.container import Lease, SqlContainer
from sessionstore.sql.dialects import SqlDialect, dialect_of
from sessionstore.sql.drivers import shown
from sessionstore.sql.grouping import GroupCommit, WriterLock
from sessionstore.sql.link import Link
from sessionstore.sql.schema import SchemaState, ensure_schema, schema_state
from sessionstore.sql.sqlite_files import BUSY_TIMEOUT, leak

R = TypeVar("R")

DEFAULT_PORTS: Final = {"postgresql": 5432, "mariadb": 3306}


class EngineContainer(SqlContainer):
    """Connections come from the engine's pool. An engine of the user's is never disposed."""

    def __init__(
        self, engine: Engine, *, owned: bool, create_schema: bool = True, name: str | None = None
    ) -> None:
        dialect = dialect_of(engine)
        super().__init__(name or container_name(engine.url, dialect), dialect)
        self.engine = engine
        self._owned = owned
        self._create_schema = create_schema
        self._ready = False
        # One connection for everybody: readers must not see what a writer has not committed.
        self.single = isinstance(engine.pool, (StaticPool, SingletonThreadPool))
        # The database may be in the memory of that one, and gone with it.
        self.holds_all = self.single and not dialect.talks_to_a_server
        self._make_line()

    def _make_line(self) -> None:
        self._lock = WriterLock(self.name, BUSY_TIMEOUT) if self.dialect.name == "sqlite" else None
        self._group = None if self._lock is None else GroupCommit(self._lock)

    def lease_for_reading(self) -> Lease:
        """See :meth:`SqlContainer.lease_for_reading`."""
        return self._lease(self._turn() if self.single else None)

    def lease_for_writing(self, turn: Ticket | None = None) -> Lease:
        """See :meth:`SqlContainer.lease_for_writing`."""
        return self._lease(turn or self._turn())

    def _turn(self) -> Ticket | None:
        return None if self._lock is None else self._lock.acquire()

    def _lease(self, turn: Ticket | None) -> Lease:
        try:
            with self.whole_pool():
                return _PoolLease(self, self.engine.raw_connection(), turn)
        except BaseException as error:  # noqa: BLE001 - raised again, perhaps as one of ours
            if turn is not None:
                turn.release()
            raise self._translated(error) from None

    @contextmanager
    def whole_pool(self) -> Generator[None]:
        """Begin anew with a pool that an interrupt came to while it gave out or took back a connection.

        It may have lost count, and then waits for ever for a connection that nobody has. Those in use
        go on and end with the pool that they came from. An engine of the user's stays as it is.
        """
        try:
            yield
        except Exception:
            raise
        except BaseException:
            if self._owned and not self.holds_all:
                self.engine.dispose()
            raise

    def _translated(self, error: BaseException) -> BaseException:
        if isinstance(error, PoolTimeoutError):
            return StorageBusyError(
                f"{self.name}: every connection of the engine's pool stayed in use; make the pool larger"
            )
        if isinstance(error, DBAPIError) and isinstance(error.orig, Exception):
            error = error.orig
        if isinstance(error, self.dialect.errors):
            return self.dialect.failure(error, self.name).error
        return error

    def write_together(self, work: Callable[[Link], R]) -> R:
        """See :meth:`SqlContainer.write_together`."""
        return self.write(work) if self._group is None else self._group.write(self, work)

    def ready(self, *, create: bool) -> bool:
        """See :meth:`SqlContainer.ready`."""
        if self._ready:
            return True
        where = shown(self.engine.url)

        def look(link: Link) -> SchemaState:
            state = schema_state(link.raw.cursor(), self.dialect.compiler, where)
            self._check_encoding(link)
            return state

        state = self.look(look)
        if state is not SchemaState.CURRENT:
            if not create:
                return False
            self._make_schema(where)
        self._ready = True
        return True

    def _check_encoding(self, link: Link) -> None:
        encoding = self.dialect.encoding_of(link.raw)
        if encoding != "utf-8":
            raise InvalidUrlError(
                f"{self.name}: the engine's connections carry text as {encoding}, which cannot carry every "
                "text: make the engine with client_encoding=utf8 (PostgreSQL) or charset=utf8mb4 (MariaDB)"
            )

    def _make_schema(self, where: str) -> None:
        turn = None if self._lock is None else self._lock.acquire()
        try:
            ensure_schema(self.engine, create=self._create_schema, where=where)
        finally:
            if turn is not None:
                turn.release()

    @contextmanager
    def snapshot(self) -> Generator[Link]:
        """See :meth:`SqlContainer.snapshot`."""
        if not self.single:
            with super().snapshot() as link:
                yield link
            return
        # The only connection cannot stay in a transaction while others write; a copy can.
        copy = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            self.look(lambda link: link.raw.backup(copy))
            yield Link(copy, self.dialect)
        finally:
            copy.close()

    def close(self) -> None:
        """See :meth:`SqlContainer.close`."""
        if self._owned:
            self.engine.dispose()

    def abandon(self) -> None:
        """See :meth:`SqlContainer.abandon`."""
        if self._owned:
            leak(self.engine.pool)  # some drivers would say goodbye to the server for the parent too
            self.engine.dispose(close=False)
        self._make_line()  # whoever had or awaited the turn is a thread of the parent


class _PoolLease:
    _over = True  # until __init__ is through: it may be dropped before that

    def __init__(self, container: EngineContainer, proxy: PoolProxiedConnection, turn: Ticket | None) -> None:
        self._turn = turn
        self._container = container
        self._proxy = proxy
        self._over = False
        self.raw: Any = proxy.driver_connection

    def give_back(self) -> None:
        self._over = True
        try:
            with self._container.whole_pool():
                self._proxy.close()
        finally:
            self._end_turn()

    def discard(self) -> None:
        try:
            with self._container.whole_pool():
                if self._container.holds_all:
                    self.raw.rollback()
                    self._proxy.close()
                else:
                    self._proxy.invalidate()
            self._over = True
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._turn.release()

    def __del__(self) -> None:
        if not self._over:
            self.discard()


def container_name(url: URL, dialect: SqlDialect) -> str:
    """The canonical name of a database: the same for every way to write its URL, no credentials."""
    if dialect.name != "sqlite":
        host = url.host or "localhost"
        if ":" in host:
            host = f"[{host}]"
        port = url.port or DEFAULT_PORTS[dialect.name]
        return f"{dialect.name}://{host.lower()}:{port}/{url.database or ''}"
    path = url.database or ""
    if path.startswith("file:"):
        path = "" if "mode=memory" in str(url) else unquote(path.removeprefix("file:").split("?")[0])
    if path in ("", ":memory:"):
        return f"sqlite:memory:{uuid.uuid4()}"
    return os.path.realpath(path)


def memory_engine() -> Engine:
    """An engine on a new database in memory, which lives as long as the engine."""

    def connect() -> sqlite3.Connection:
        raw = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        raw.execute("PRAGMA foreign_keys = ON")
        return raw

    return create_engine("sqlite://", poolclass=StaticPool, creator=connect, pool_reset_on_return=None)


def server_engine(url: URL, **options: Any) -> Engine:
    """An engine with settings that fit a store; ``options`` are those of ``create_engine``.

    Connections are in autocommit mode: a read costs one round trip, and a write transaction begins
    in words.
    """
    settings: dict[str, Any] = {
        "isolation_level": "AUTOCOMMIT",
        "pool_reset_on_return": None,
        "pool_size": 10,
        "max_overflow": 30,
        "pool_use_lifo": True,
        **options,
    }
    return create_engine(url, **settings)
