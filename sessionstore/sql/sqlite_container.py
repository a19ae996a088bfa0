"""A container that is a SQLite file of ours."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sessionstore.errors import SchemaVersionError
from sessionstore.folders import remove_abandoned
from sessionstore.line import Ticket
from sessionstore.sql.container import Lease, SqlContainer
from sessionstore.sql.dialects import SqliteDialect
from sessionstore.sql.grouping import GroupCommit, WriterLock
from sessionstore.sql.link import Link
from sessionstore.sql.schema import SchemaState, create_schema, schema_state
from sessionstore.sql.sqlite_building import UNFINISHED, build_file
from sessionstore.sql.sqlite_files import (
    BUSY_TIMEOUT,
    Durability,
    FileConnections,
    Token,
)

R = TypeVar("R")

_CHECKPOINT = "PRAGMA wal_checkpoint(TRUNCATE)"


class SqliteFileContainer(SqlContainer):
    """``path`` is absolute and free of links; nothing is opened before it is needed."""

    def __init__(
        self,
        path: Path,
        *,
        durability: Durability = "full",
        busy_timeout: float = BUSY_TIMEOUT,
        create_schema: bool = True,
    ) -> None:
        super().__init__(str(path), SqliteDialect())
        self.path = path
        self._lock = WriterLock(self.name, busy_timeout)
        self._group = GroupCommit(self._lock)
        self._writable = FileConnections(path, durability, busy_timeout, read_only=False)
        self._readable = FileConnections(path, durability, busy_timeout, read_only=True)
        self._create_schema = create_schema
        self._ready_for: Token = None

    def lease_for_reading(self) -> Lease:
        """See :meth:`SqlContainer.lease_for_reading`."""
        return _FileLease(self._writable, None)

    def lease_for_looking(self) -> Lease:
        """See :meth:`SqlContainer.lease_for_looking`."""
        return _FileLease(self._readable, None)

    def lease_for_writing(self, turn: Ticket | None = None) -> Lease:
        """See :meth:`SqlContainer.lease_for_writing`."""
        turn = turn or self._lock.acquire()
        try:
            return _FileLease(self._writable, turn)
        except BaseException:
            # Not left to the dropping of the turn: whoever keeps the error keeps it alive.
            turn.release()
            raise

    def write_together(self, work: Callable[[Link], R]) -> R:
        """See :meth:`SqlContainer.write_together`."""
        return self._group.write(self, work)

    def ready(self, *, create: bool) -> bool:
        """Raises :class:`DatabaseMissingError` when there is no file."""
        identity = self._readable.check_identity()
        if identity == self._ready_for:
            return True
        if self.look(self._state) is not SchemaState.CURRENT:
            if not create:
                return False
            if not self._create_schema:
                raise SchemaVersionError(
                    f"{self.path}: has no schema yet: run `sessionstore db upgrade sqlite:///{self.path}` "
                    "(or `alembic upgrade head`)"
                )
            self.write(self._create)
        self._ready_for = identity
        return True

    def build(self, fill: Callable[[Link], None], on_taken: Callable[[Path], None] | None = None) -> bool:
        """See :meth:`SqlContainer.build`."""
        if os.path.lexists(self.path):
            return False
        if not self._create_schema:
            raise SchemaVersionError(f"{self.path}: there is no database, and create_schema is off")

        def make(raw: sqlite3.Connection) -> None:
            create_schema(raw.cursor(), self.dialect.compiler)
            fill(Link(raw, self.dialect))

        return build_file(self.path, make, on_taken)

    def remove_abandoned(self) -> list[str]:
        """See :meth:`SqlContainer.remove_abandoned`."""
        return remove_abandoned(self.path.parent, UNFINISHED)

    def empty_log(self) -> None:
        """Fold the log into the file and cut it to nothing, unless somebody still reads it."""
        self._read(self.lease_for_reading, lambda link: link.raw.execute(_CHECKPOINT).fetchall())

    def _state(self, link: Link) -> SchemaState:
        return schema_state(link.raw.cursor(), self.dialect.compiler, f"sqlite:///{self.path}")

    def _create(self, link: Link) -> None:
        if self._state(link) is SchemaState.EMPTY:
            create_schema(link.raw.cursor(), self.dialect.compiler)

    def close(self) -> None:
        """See :meth:`SqlContainer.close`."""
        # The last connection to close folds the log into the file, which only a writable one can.
        self._readable.close()
        self._writable.close()

    def abandon(self) -> None:
        """See :meth:`SqlContainer.abandon`."""
        self._readable.abandon()
        self._writable.abandon()
        # Whoever had or awaited the turn is a thread of the parent.
        self._lock = WriterLock(self.name, self._lock.timeout)
        self._group = GroupCommit(self._lock)


class _FileLease:
    _over = True  # until __init__ is through: it may be dropped before that

    def __init__(self, connections: FileConnections, turn: Ticket | None) -> None:
        self._turn = turn
        self._connections = connections
        self.raw, self._token = connections.take()
        self._over = False

    def give_back(self) -> None:
        # Over from here on: once it is back, somebody else may have the connection.
        self._over = True
        self._connections.give_back(self.raw, self._token)
        self._end_turn()

    def discard(self) -> None:
        self._connections.give_back(self.raw, None)
        self._over = True
        self._end_turn()

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._turn.release()

    def __del__(self) -> None:
        if not self._over:
            self.discard()
