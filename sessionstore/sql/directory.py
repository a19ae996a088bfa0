"""One SQLite file for each session, in one folder."""

from __future__ import annotations

import base64
import builtins
import hashlib
import logging
import os
import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy import String, column, select, table, true

from sessionstore.errors import (
    ForeignSessionError,
    SchemaVersionError,
    SessionExistsError,
    SessionNotFoundError,
    SessionStoreError,
    StorageError,
)
from sessionstore.folders import AloneIn, remove_abandoned
from sessionstore.ids import Clock, IdGenerator
from sessionstore.image import SessionImage, SessionSnapshot
from sessionstore.metadata import SessionMetadata, not_found
from sessionstore.repository import SessionRef, SessionRepo, page
from sessionstore.sql.applying import SessionKey
from sessionstore.sql.dbapi import Row
from sessionstore.sql.dialects import SqliteDialect
from sessionstore.sql.driver_errors import sqlite_failure
from sessionstore.sql.link import Link
from sessionstore.sql.loading import load_session
from sessionstore.sql.prepared import Prepared
from sessionstore.sql.repo import check_same, gone_with_its_file, id_of
from sessionstore.sql.rows import FIRST_SEQ, check_version, metadata_of, session_row
from sessionstore.sql.schema import HEAD_REVISION, VERSION_TABLE
from sessionstore.sql.snapshot import SqlSnapshot, open_snapshot
from sessionstore.sql.sqlite_building import UNFINISHED
from sessionstore.sql.sqlite_container import SqliteFileContainer
from sessionstore.sql.sqlite_files import (
    BUSY_TIMEOUT,
    DatabaseMissingError,
    Durability,
    peek,
    shm_of,
    wal_of,
)
from sessionstore.sql.statements import HEADER_COLUMNS, SESSIONS
from sessionstore.sql.storage import SqlStorage
from sessionstore.sql.verifying import check_index, rebuild_derived
from sessionstore.storage import StorageBase
from sessionstore.usage import SessionStats

SUFFIX: Final = ".sqlite"

_LONGEST_NAME: Final = 200
_PLAIN_ID: Final = re.compile(r"[A-Za-z0-9_-]+")
_log: Final = logging.getLogger("sessionstore.sql")


def session_file_name(id: str) -> str:
    """The name of the file of session ``id`` (sql.md section 5); no id leaves the folder."""
    if _PLAIN_ID.fullmatch(id):
        return id + SUFFIX
    name = "~" + base64.urlsafe_b64encode(id.encode("utf-16-le")).decode().rstrip("=") + SUFFIX
    if len(name) > _LONGEST_NAME:
        return f"~~{hashlib.sha256(id.encode()).hexdigest()}{SUFFIX}"
    return name


class SqliteDirectorySessionRepo(SessionRepo):
    """Sessions in SQLite files of their own; the id of each is read from its file.

    ``durability`` is "full" or "normal", ``busy_timeout`` in seconds, ``clock`` gives Unix ms,
    ``id_generator`` makes the ids. Nothing is made before the first session is.
    """

    def __init__(
        self,
        directory: str | PathLike[str],
        *,
        durability: Durability = "full",
        busy_timeout: float = BUSY_TIMEOUT,
        clock: Clock | None = None,
        id_generator: IdGenerator | None = None,
    ) -> None:
        super().__init__(clock=clock, id_generator=id_generator)
        self._root = Path(os.path.realpath(directory))
        self._durability: Durability = durability
        self._busy_timeout = busy_timeout

    @property
    def container(self) -> str:
        """The folder's real path."""
        return str(self._root)

    def _path(self, id: str) -> Path:
        return self._root / session_file_name(id)

    def _file(self, id: str) -> SqliteFileContainer:
        return SqliteFileContainer(
            self._path(id), durability=self._durability, busy_timeout=self._busy_timeout
        )

    def _check_own(self, metadata: SessionMetadata) -> None:
        super()._check_own(metadata)
        own = str(self._path(metadata.id))
        if metadata.path is not None and metadata.path != own:
            raise ForeignSessionError(
                f"session {metadata.id!r} is kept in {own}, not in {metadata.path}: get its metadata anew"
            )

    # -- making sessions -------------------------------------------------------------------------

    def _create(self, metadata: SessionMetadata) -> tuple[SessionMetadata, StorageBase]:
        metadata = self._placed(metadata, metadata.created_at)
        file = self._file(metadata.id)
        row = session_row(metadata, SessionStats(), FIRST_SEQ)
        if not file.build(lambda link: link.run(file.statements.insert_session, row)):
            raise self._exists(metadata)
        return metadata, self._storage(metadata, file)

    def _load(self, metadata: SessionMetadata, image: SessionImage) -> SessionMetadata:
        metadata = self._placed(metadata, self._clock())
        file = self._file(metadata.id)

        def fill(link: Link) -> None:
            load_session(link, file.statements, metadata, image.header, image.records)

        if not file.build(fill):
            raise self._exists(metadata)
        return metadata

    def _placed(self, metadata: SessionMetadata, modified_at: int) -> SessionMetadata:
        path = str(self._path(metadata.id))
        return msgspec.structs.replace(metadata, path=path, modified_at=modified_at)

    def _exists(self, metadata: SessionMetadata) -> SessionExistsError:
        return SessionExistsError(f"session {metadata.id!r} exists: {metadata.path}")

    def _storage(self, metadata: SessionMetadata, file: SqliteFileContainer) -> StorageBase:
        key = SessionKey(metadata.id, metadata.created_at, metadata.container)
        return SqlStorage(file, key, self._clock, file.close)

    # -- finding sessions ------------------------------------------------------------------------

    def _open(self, session: SessionRef) -> tuple[SessionMetadata, StorageBase]:
        file = self._file(id_of(session))
        try:
            metadata = self._find(session, file)
        except BaseException:
            file.close()
            raise
        return metadata, self._storage(metadata, file)

    def _find(self, session: SessionRef, file: SqliteFileContainer) -> SessionMetadata:
        """The metadata in a file that is opened for writing."""
        id = id_of(session)
        with gone_with_its_file(session, self.container):
            rows = file.query(file.statements.session_header, (id,)) if file.ready(create=False) else []
        if not rows:
            raise not_found(id, self.container)
        metadata = metadata_of(rows[0], self.container, str(file.path))
        check_same(session, metadata)
        check_version(metadata)
        return metadata

    def _get(self, id: str) -> SessionMetadata:
        path = self._path(id)
        with gone_with_its_file(id, self.container):
            rows = self._peek(path)
        for row in rows:
            if row[0] == id:
                metadata = metadata_of(row, self.container, str(path))
                check_version(metadata)
                return metadata
        raise not_found(id, self.container)

    def _peek(self, path: Path) -> builtins.list[Row]:
        """Rows of ``sessions`` in a file; none when it is a database of something else."""
        statement = _header_statement()

        def read(raw: sqlite3.Connection) -> builtins.list[Row]:
            return statement.result(raw.execute(statement.sql, statement.bind(())).fetchall())

        try:
            rows = peek(path, self._busy_timeout, read)
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:  # no such table or column
                return []
            raise sqlite_failure(error, str(path)).error from None
        revisions = {row[-1] for row in rows} - {HEAD_REVISION}
        if revisions:
            raise SchemaVersionError(
                f"{path}: the schema is at revision {', '.join(map(str, revisions))}, this release needs "
                f"{HEAD_REVISION}: run `sessionstore db upgrade sqlite:///{path}`"
            )
        return [row[:-1] for row in rows]

    def _list(
        self, cwd: str | None, limit: int | None, before: SessionMetadata | None
    ) -> builtins.list[SessionMetadata]:
        try:
            with os.scandir(self._root) as entries:
                names = [entry.name for entry in entries if entry.name.endswith(SUFFIX)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(f"{self._root}: cannot be read: {error.strerror}") from error
        found = (self._listed(self._root / name) for name in names)
        return page((metadata for metadata in found if metadata is not None), cwd, limit, before)

    def _listed(self, path: Path) -> SessionMetadata | None:
        """The session in a file; None, with a word in the log, when it holds none that can be read."""
        try:
            rows = self._peek(path)
        except DatabaseMissingError:  # vanished meanwhile
            return None
        except SessionStoreError as error:
            _log.warning("%s is left out of the list: %s", path, error)
            return None
        if len(rows) == 1 and session_file_name(rows[0][0]) == path.name:
            return metadata_of(rows[0], self.container, str(path))
        if rows:
            _log.warning("%s is left out of the list: it is not where its session belongs", path)
        return None

    # -- the rest of their lives -----------------------------------------------------------------

    def _delete(self, session: SessionRef) -> None:
        file = self._file(id_of(session))
        try:
            self._find(session, file)
            with gone_with_its_file(session, self.container):
                file.empty_log()  # a log that outlives its database must hold nothing to replay
        finally:
            file.close()
        with AloneIn(self._root):  # or the log could be that of the next session of this id
            try:
                for path in (file.path, wal_of(file.path), shm_of(file.path)):
                    path.unlink(missing_ok=path != file.path)
            except FileNotFoundError:
                raise not_found(id_of(session), self.container) from None
            except OSError as error:
                raise StorageError(f"{file.path}: cannot be removed: {error.strerror}") from error

    @contextmanager
    def _snapshot(self, session: SessionRef) -> Generator[SessionSnapshot]:
        with _opened_snapshot(self._file(id_of(session)), session, self.container) as snapshot:
            yield snapshot

    def _check_container(self) -> builtins.list[str]:
        """Files that are called like sessions and are none, or cannot be read."""
        try:
            names = sorted(path.name for path in self._root.iterdir() if path.name.endswith(SUFFIX))
        except FileNotFoundError:
            return []
        problems: builtins.list[str] = []
        for name in names:
            try:
                rows = self._peek(self._root / name)
            except DatabaseMissingError:
                continue
            except SessionStoreError as error:
                problems.append(str(error))
                continue
            if len(rows) != 1:
                problems.append(f"{self._root / name}: holds {len(rows)} sessions, not one")
            elif session_file_name(rows[0][0]) != name:
                problems.append(
                    f"{self._root / name}: holds session {rows[0][0]!r}, whose file has another name"
                )
        return problems

    def _repair_container(self) -> builtins.list[str]:
        return remove_abandoned(self._root, UNFINISHED)

    def _check_session(self, session: SessionRef) -> builtins.list[str]:
        file = self._file(id_of(session))
        with _opened_snapshot(file, session, self.container) as snapshot:
            return check_index(snapshot.index_rows())

    def _repair_session(self, session: SessionRef) -> builtins.list[str]:
        file = self._file(id_of(session))
        try:
            metadata = self._find(session, file)
            with gone_with_its_file(session, self.container):
                return rebuild_derived(file, metadata.id, not_found(metadata.id, self.container))
        finally:
            file.close()

    def _release(self) -> None:
        """Each session's file was closed with its handle."""


@lru_cache(maxsize=1)
def _header_statement() -> Prepared:
    """Every session of a file, with the revision of its schema: one statement for each file listed."""
    version = table(VERSION_TABLE, column("version_num", String()))
    wanted = [SESSIONS.c[name] for name in HEADER_COLUMNS]
    return Prepared(
        select(*wanted, version.c.version_num).join(version, true()), (), SqliteDialect().compiler
    )


@contextmanager
def snapshot_of_session_file(path: str, metadata: SessionMetadata) -> Generator[SessionSnapshot]:
    """A read-only snapshot of the session of ``metadata`` in exactly the file at ``path``.

    Raises ``SessionNotFoundError`` when there is no such file or it holds another session.
    """
    file = SqliteFileContainer(Path(os.path.realpath(path)))
    with _opened_snapshot(file, metadata, metadata.container) as snapshot:
        yield snapshot


@contextmanager
def _opened_snapshot(
    file: SqliteFileContainer, session: SessionRef, container: str
) -> Generator[SqlSnapshot]:
    id = id_of(session)

    def missing() -> SessionNotFoundError:
        return not_found(id, container)

    try:
        with gone_with_its_file(session, container):
            if not file.ready(create=False):
                raise missing()
            with open_snapshot(file, id, missing, path=str(file.path)) as (snapshot, found):
                check_same(session, found)
                yield snapshot
    finally:
        file.close()
