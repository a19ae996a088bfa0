"""Any number of sessions in one database."""

from __future__ import annotations

import builtins
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Final, Self, TypeAlias

import msgspec
from sqlalchemy import Engine

from sessionstore.errors import SessionExistsError, SessionNotFoundError
from sessionstore.fork import ForkImage
from sessionstore.ids import Clock, IdGenerator
from sessionstore.image import WHOLE_SESSION, SessionImage
from sessionstore.metadata import SessionMetadata, not_found
from sessionstore.queries import LARGEST_SEQ
from sessionstore.repository import SessionRef, SessionRepo
from sessionstore.sql.applying import SessionKey
from sessionstore.sql.branch_reader import RunQuery
from sessionstore.sql.container import DuplicateKeyError, SqlContainer
from sessionstore.sql.dbapi import Row, Values
from sessionstore.sql.engine_container import EngineContainer
from sessionstore.sql.forking import copy_entries
from sessionstore.sql.link import Link
from sessionstore.sql.loading import load_records, load_session
from sessionstore.sql.prepared import Prepared
from sessionstore.sql.rows import FIRST_SEQ, check_version, metadata_of, session_row
from sessionstore.sql.snapshot import SqlSnapshot, open_snapshot
from sessionstore.sql.sqlite_container import SqliteFileContainer
from sessionstore.sql.sqlite_files import BUSY_TIMEOUT, DatabaseMissingError, Durability
from sessionstore.sql.storage import SqlStorage
from sessionstore.sql.urls import container_of_url
from sessionstore.sql.verifying import check_index, rebuild_derived
from sessionstore.storage import StorageBase
from sessionstore.usage import SessionStats

_LIST_PAGE: Final = 1000

_Fill: TypeAlias = Callable[[Link], None]
"""Writes a new session, inside a transaction."""


class SqlSessionRepo(SessionRepo):
    """Sessions of one SQLite container or one server database.

    ``engine`` is used as it is and never disposed. ``create_schema`` makes the tables in a
    database that has none of ours, at the first ``create`` or fork; a schema that is there is
    never altered. ``clock`` gives Unix ms; ``id_generator`` makes the ids.
    """

    def __init__(
        self,
        engine: Engine | SqlContainer,
        *,
        create_schema: bool = True,
        clock: Clock | None = None,
        id_generator: IdGenerator | None = None,
    ) -> None:
        super().__init__(clock=clock, id_generator=id_generator)
        self._sql = (
            EngineContainer(engine, owned=False, create_schema=create_schema)
            if isinstance(engine, Engine)
            else engine
        )

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        create_schema: bool = True,
        durability: Durability = "full",
        busy_timeout: float = BUSY_TIMEOUT,
        clock: Clock | None = None,
        id_generator: IdGenerator | None = None,
        **engine_options: Any,
    ) -> Self:
        """The repository of a database URL, with connections of its own; connects to nothing yet.

        ``durability`` and ``busy_timeout`` (seconds) are SQLite's; ``engine_options`` are those of
        ``create_engine`` for a server. Raises ``InvalidUrlError`` and ``MissingDriverError``.
        """
        container = container_of_url(
            url,
            create_schema=create_schema,
            durability=durability,
            busy_timeout=busy_timeout,
            **engine_options,
        )
        return cls(container, clock=clock, id_generator=id_generator)

    @classmethod
    def from_path(
        cls,
        path: str | bytes | PathLike[str],
        *,
        create_schema: bool = True,
        durability: Durability = "full",
        busy_timeout: float = BUSY_TIMEOUT,
        clock: Clock | None = None,
        id_generator: IdGenerator | None = None,
    ) -> Self:
        """The repository of the SQLite file at ``path``, taken character by character."""
        container = SqliteFileContainer(
            Path(os.path.realpath(os.fsdecode(path))),
            durability=durability,
            busy_timeout=busy_timeout,
            create_schema=create_schema,
        )
        return cls(container, clock=clock, id_generator=id_generator)

    @property
    def container(self) -> str:
        """The real path of a file, or ``dialect://host:port/database``."""
        return self._sql.name

    # -- making sessions -----------------------------------------------------------------------

    def _create(self, metadata: SessionMetadata) -> tuple[SessionMetadata, StorageBase]:
        metadata = msgspec.structs.replace(metadata, modified_at=metadata.created_at)
        row = session_row(metadata, SessionStats(), FIRST_SEQ)

        def fill(link: Link) -> None:
            link.run(self._sql.statements.insert_session, row)

        while not self._sql.build(fill):
            try:
                self._insert(metadata, fill)
                break
            except DatabaseMissingError:
                continue  # removed since; then it is built anew
        return metadata, self._storage(metadata)

    def _load(self, metadata: SessionMetadata, image: SessionImage) -> SessionMetadata:
        metadata = msgspec.structs.replace(metadata, modified_at=self._clock())
        statements = self._sql.statements
        # What makes the image may be slow; nobody is to wait for it where all share a connection.
        records = builtins.list(image.records) if self._sql.single else image.records

        def fill(link: Link) -> None:
            load_session(link, statements, metadata, image.header, records)

        def load_copy(link: Link, copy: SqlSnapshot) -> None:
            load_session(link, statements, metadata, copy.header, copy.read(WHOLE_SESSION))

        def move(built: Path) -> None:
            # Somebody else has made the container meanwhile, and the image can be read only once.
            container = SqliteFileContainer(built)
            try:
                with open_snapshot(container, metadata.id, self._missing(metadata.id)) as (copy, _):
                    self._insert(metadata, lambda link: load_copy(link, copy))
            finally:
                container.close()

        if not self._sql.build(fill, move):
            self._insert(metadata, fill, repeatable=False)
        return metadata

    def _fork_inside(self, metadata: SessionMetadata, image: ForkImage) -> SessionMetadata:
        source = image.source
        if not isinstance(source, SqlSnapshot):
            return self._load(metadata, image)
        metadata = msgspec.structs.replace(metadata, modified_at=self._clock())
        statements = self._sql.statements
        header = image.header

        def fill(link: Link) -> None:
            link.run(statements.insert_session, session_row(metadata, header.stats, header.next_seq))
            copy_entries(link, self._sql, source, image.selection, metadata.id)
            with closing(image.without_entries()) as rest:
                load_records(link, statements, metadata.id, header.next_seq, rest)

        self._insert(metadata, fill)
        return metadata

    def _insert(self, metadata: SessionMetadata, fill: _Fill, *, repeatable: bool = True) -> None:
        """Make a session in a database that exists, in one transaction."""
        self._sql.ready(create=True)
        statements = self._sql.statements

        def work(link: Link) -> None:
            if link.rows(statements.session_header, (metadata.id,)):
                raise self._exists(metadata.id)
            fill(link)

        try:
            self._sql.write(work, repeatable=repeatable)
        except DuplicateKeyError:
            raise self._exists(metadata.id) from None

    def _exists(self, id: str) -> SessionExistsError:
        return SessionExistsError(f"session {id!r} exists in {self.container}")

    def _storage(self, metadata: SessionMetadata) -> StorageBase:
        key = SessionKey(metadata.id, metadata.created_at, metadata.container)
        return SqlStorage(self._sql, key, self._clock)

    # -- finding sessions ------------------------------------------------------------------------

    def _open(self, session: SessionRef) -> tuple[SessionMetadata, StorageBase]:
        metadata = self._find(session, self._sql.query)
        return metadata, self._storage(metadata)

    def _get(self, id: str) -> SessionMetadata:
        return self._find(id, self._look)

    def _look(self, statement: Prepared, values: Values) -> builtins.list[Row]:
        return self._sql.look(lambda link: link.rows(statement, values))

    def _find(self, session: SessionRef, query: RunQuery) -> SessionMetadata:
        id = id_of(session)
        with gone_with_its_file(session, self.container):
            rows = query(self._sql.statements.session_header, (id,)) if self._sql.ready(create=False) else []
        if not rows:
            raise not_found(id, self.container)
        metadata = metadata_of(rows[0], self.container)
        check_same(session, metadata)
        check_version(metadata)
        return metadata

    def _missing(self, id: str) -> Callable[[], SessionNotFoundError]:
        return lambda: not_found(id, self.container)

    def _list(
        self, cwd: str | None, limit: int | None, before: SessionMetadata | None
    ) -> builtins.list[SessionMetadata]:
        try:
            if limit == 0 or not self._sql.ready(create=False):
                return []
            if cwd is None:
                return self._page(limit, before)
            found = (metadata for metadata in self._pages(before) if metadata.cwd == cwd)
            return builtins.list(islice(found, limit))
        except DatabaseMissingError:
            return []

    def _pages(self, before: SessionMetadata | None) -> Iterator[SessionMetadata]:
        while page := self._page(_LIST_PAGE, before):
            yield from page
            before = page[-1]

    def _page(self, limit: int | None, before: SessionMetadata | None) -> builtins.list[SessionMetadata]:
        statement = self._sql.statements.list_sessions(after=before is not None, limited=limit is not None)
        values = (
            *(() if before is None else (before.created_at, before.id)),
            *(() if limit is None else (min(limit, LARGEST_SEQ),)),
        )
        rows = self._look(statement, values)
        return [metadata_of(row, self.container) for row in rows]

    def _delete(self, session: SessionRef) -> None:
        id = id_of(session)
        statements = self._sql.statements

        def work(link: Link) -> None:
            rows = link.rows(statements.lock_session_header, (id,))
            if not rows:
                raise not_found(id, self.container)
            metadata = metadata_of(rows[0], self.container)
            check_same(session, metadata)
            check_version(metadata)  # other tables of that version may hold more of it
            for statement in statements.delete_session:
                link.run(statement, (id,))

        with gone_with_its_file(session, self.container):
            if not self._sql.ready(create=False):
                raise not_found(id, self.container)
            self._sql.write(work)

    @contextmanager
    def _snapshot(self, session: SessionRef) -> Generator[SqlSnapshot]:
        id = id_of(session)
        with gone_with_its_file(session, self.container):
            if not self._sql.ready(create=False):
                raise not_found(id, self.container)
            opening = open_snapshot(self._sql, id, self._missing(id))
            with opening as (snapshot, metadata):
                check_same(session, metadata)
                yield snapshot

    # -- checking and mending --------------------------------------------------------------------

    def _repair_container(self) -> builtins.list[str]:
        return self._sql.remove_abandoned()

    def _check_session(self, session: SessionRef) -> builtins.list[str]:
        with self._snapshot(session) as snapshot:
            return check_index(snapshot.index_rows())

    def _repair_session(self, session: SessionRef) -> builtins.list[str]:
        metadata = self._find(session, self._sql.query)
        with gone_with_its_file(session, self.container):
            return rebuild_derived(self._sql, metadata.id, not_found(metadata.id, self.container))

    def _release(self) -> None:
        self._sql.close()


def id_of(session: SessionRef) -> str:
    """The id that a caller's reference names."""
    return session if isinstance(session, str) else session.id


@contextmanager
def gone_with_its_file(session: SessionRef, container: str) -> Generator[None]:
    """Raise ``SessionNotFoundError`` where the database of a session turns out to be missing."""
    try:
        yield
    except DatabaseMissingError:
        raise not_found(id_of(session), container) from None


def check_same(session: SessionRef, found: SessionMetadata) -> None:
    """Raise ``SessionNotFoundError`` for metadata of a session that was deleted and created anew."""
    if isinstance(session, SessionMetadata) and session.created_at != found.created_at:
        raise not_found(session.id, found.container)
