"""The contract of a repository and the lifecycle that all of them share (repository.md).

A backend implements the hooks at the end of :class:`SessionRepo`. Reservations, the one writable
handle for each session, foreign metadata and closing are decided here, once.
"""

from __future__ import annotations

import builtins
import threading
from abc import ABC, abstractmethod
from collections.abc import Generator, Hashable, Iterable
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from types import TracebackType
from typing import Self, TypeAlias

from sessionstore.claims import Claims
from sessionstore.errors import (
    ForeignSessionError,
    InvalidAddressError,
    InvalidQueryError,
    RepositoryClosedError,
    SessionClosedError,
)
from sessionstore.foreign import snapshot_of_file
from sessionstore.fork import Fork, ForkImage, check_fork, fork_image
from sessionstore.ids import Clock, IdGenerator, Uuid7Generator, system_clock
from sessionstore.image import SessionImage, SessionSnapshot, settled_record
from sessionstore.line import ActivityGate
from sessionstore.metadata import SessionMetadata, check_session_id
from sessionstore.session import Session
from sessionstore.storage import StorageBase
from sessionstore.text import check_optional_text

SessionRef: TypeAlias = SessionMetadata | str
"""How callers name a session: by metadata of this repository, or by id."""


class SessionRepo(ABC):
    """A container of sessions. A context manager; may be used from several threads."""

    def __init__(self, *, clock: Clock | None = None, id_generator: IdGenerator | None = None) -> None:
        self._clock: Clock = clock or system_clock
        self._id_generator: IdGenerator = id_generator or Uuid7Generator()
        self._gate = ActivityGate("the repository")
        self._claims = Claims()
        self._closing = threading.Lock()
        self._closed = False
        self._close_error: BaseException | None = None

    @property
    @abstractmethod
    def container(self) -> str:
        """The container's canonical name, without credentials."""

    @property
    def id_generator(self) -> IdGenerator:
        """Makes ids for sessions, entries and usage rows."""
        return self._id_generator

    # -- lifecycle ---------------------------------------------------------------------------

    def create(
        self,
        *,
        id: str | None = None,
        parent_session_id: str | None = None,
        cwd: str | None = None,
    ) -> Session:
        """Create an empty session and return it open. Without ``id`` it gets a UUIDv7.

        Raises ``SessionExistsError`` when the id is taken or reserved.
        """
        with self._working():
            created_at = self._clock()
            metadata = SessionMetadata(
                id=self._id_generator.next(created_at) if id is None else check_session_id(id),
                created_at=created_at,
                container=self.container,
                parent_session_id=(
                    None if parent_session_id is None else check_session_id(parent_session_id)
                ),
                cwd=_check_cwd(cwd),
            )
            key = self._claim_key(metadata)
            with self._claims.reserve(key, to_create=True):
                return self._opened(key, *self._create(metadata))

    def open(self, session: SessionRef) -> Session:
        """Open a session for reading and writing.

        Raises ``SessionNotFoundError``, ``SessionAlreadyOpenError``, ``ForeignSessionError``.
        """
        with self._working():
            self._check_ref(session)
            key = self._claim_key(session)
            with self._claims.reserve(key):
                return self._opened(key, *self._open(session))

    def get(self, id: str) -> SessionMetadata:
        """The metadata of a session, open or not. Raises ``SessionNotFoundError``."""
        with self._working():
            return self._get(check_session_id(id))

    def delete(self, session: SessionRef) -> None:
        """Delete a session and everything in it.

        Raises ``SessionNotFoundError``, ``SessionAlreadyOpenError``, ``ForeignSessionError``.
        """
        with self._working():
            self._check_ref(session)
            with self._claims.reserve(self._claim_key(session)):
                self._delete(session)

    @contextmanager
    def snapshot(self, session: SessionRef) -> Generator[SessionSnapshot, None, None]:
        """The session as of one boundary between two commits, read inside the ``with`` block.

        Of a session that is open in this repository the boundary is taken on its commit line; any
        other is read through one read-only snapshot. Takes no reservation and changes nothing.
        """
        with self._working(), self._reading(session) as snapshot:
            yield snapshot

    @contextmanager
    def _reading(self, session: SessionRef) -> Generator[SessionSnapshot, None, None]:
        self._check_ref(session)
        with ExitStack() as reading:
            yield self._at_boundary(session, reading)

    def _at_boundary(self, session: SessionRef, reading: ExitStack) -> SessionSnapshot:
        claim = self._claims.open_at(self._claim_key(session))
        if claim is not None and _is_of(claim.session.metadata, session):
            with suppress(SessionClosedError):
                return reading.enter_context(claim.storage.snapshot())
            # A close is under way: once it is over, what was admitted before is in the container.
            claim.storage.close()
        return reading.enter_context(self._snapshot(session))

    def fork(
        self,
        source: SessionRef,
        fork: Fork,
        *,
        id: str | None = None,
        source_repository: SessionRepo | None = None,
    ) -> Session:
        """Copy a branch or the whole tree of a session to a new one, and return that open.

        The source may be open here or elsewhere, be written meanwhile, and be foreign: a file is
        read from exactly the path that its metadata names, anything else through
        ``source_repository``, which an id then belongs to. Without ``id`` the new session gets a
        UUIDv7. Raises ``ForkError`` (what cannot be forked), ``SessionNotFoundError``,
        ``SessionExistsError`` (``id`` is taken or reserved), ``ForeignSessionError``.
        """
        with self._working():
            wanted = check_fork(fork)
            origin = self._origin_of(source, source_repository)
            found = source if isinstance(source, SessionMetadata) else (origin or self).get(source)
            created_at = self._clock()
            metadata = SessionMetadata(
                id=self._id_generator.next(created_at) if id is None else check_session_id(id),
                created_at=created_at,
                container=self.container,
                parent_session_id=check_session_id(found.id),
                cwd=_check_cwd(found.cwd),
            )
            key = self._claim_key(metadata)
            with self._claims.reserve(key, to_create=True):
                if origin is None:
                    boundary = snapshot_of_file(found)
                else:
                    boundary = self._reading(found) if origin is self else origin.snapshot(found)
                inside = origin is not None and origin.container == self.container
                return self._opened(key, *self._forked(metadata, boundary, wanted, inside))

    def _origin_of(self, source: SessionRef, given: SessionRepo | None) -> SessionRepo | None:
        """The repository that reads the source of a fork; None for a file of another container."""
        if not isinstance(source, SessionMetadata):
            return self if given is None else given
        owners = (repo for repo in (self, given) if repo is not None and repo._owns(source))
        return next(owners, None)

    def _owns(self, metadata: SessionMetadata) -> bool:
        with suppress(ForeignSessionError):
            self._check_own(metadata)
            return True
        return False

    def _forked(
        self,
        metadata: SessionMetadata,
        boundary: AbstractContextManager[SessionSnapshot],
        fork: Fork,
        inside: bool,
    ) -> tuple[SessionMetadata, StorageBase]:
        made: SessionMetadata | None = None
        try:
            with (
                boundary as source,
                closing(fork_image(source, fork, metadata.id, metadata.created_at)) as image,
            ):
                if image.header.cwd != metadata.cwd:
                    raise ForeignSessionError(
                        f"session {source.header.id!r} has another cwd than its metadata says: get it anew"
                    )
                made = self._fork_inside(metadata, image) if inside else self._load(metadata, image)
            return self._open(made)
        except BaseException:
            if made is not None:
                self._delete(made)
            raise

    def load(self, image: SessionImage) -> SessionMetadata:
        """Make a session from an image, complete or not at all; it is left closed.

        Raises ``SessionExistsError`` when the id is taken or reserved, ``InvalidValueError`` when an
        assistant message in it is pending.
        """
        with self._working():
            header = image.header
            metadata = SessionMetadata(
                id=check_session_id(header.id),
                created_at=header.created_at,
                container=self.container,
                parent_session_id=header.parent_session_id,
                cwd=_check_cwd(header.cwd),
                legacy_parent_session_path=header.legacy_parent_session_path,
            )
            with self._claims.reserve(self._claim_key(metadata), to_create=True):
                return self._load(metadata, SessionImage(header, map(settled_record, image.records)))

    def check_container(self) -> builtins.list[str]:
        """What is wrong with the container itself, a line each: its schema, files that are no session.

        Changes nothing. For ``sessionstore verify``.
        """
        with self._working():
            return self._check_container()

    def check_session(self, session: SessionRef) -> builtins.list[str]:
        """What is wrong with what this store derives from a session's records, a line each.

        Changes nothing; an index that is rebuilt by :meth:`repair_session` is meant.
        """
        with self._working():
            self._check_ref(session)
            return self._check_session(session)

    def repair_session(self, session: SessionRef) -> builtins.list[str]:
        """Rebuild what is derived and set aside what cannot be read; a line for each thing done.

        Deletes nothing that could be data, and says what was lost. Raises
        ``SessionAlreadyOpenError`` when the session is open in this repository.
        """
        with self._working():
            self._check_ref(session)
            with self._claims.reserve(self._claim_key(session)):
                return self._repair_session(session)

    def repair_container(self) -> builtins.list[str]:
        """Remove what killed processes have left unfinished in the container; a line for each thing.

        Nothing that was ever a session is: only what is named as half made, and was not touched for
        a day.
        """
        with self._working():
            return self._repair_container()

    def close(self) -> None:
        """Close every open session, wait for all of them, and release the container.

        Raises the one error that came of it or an ``ExceptionGroup`` of all; called again it
        waits for the first call and has its outcome. Raises ``MutationError``, and closes
        nothing, when this thread (async: this task) holds a mutation of one of the sessions.
        """
        if not self._closed:
            self._begin_close()
        with self._closing:
            if not self._closed:
                self._close_error = _one_of(self._close_all())
                self._closed = True
        if self._close_error is not None:
            raise self._close_error

    def _begin_close(self) -> None:
        try:
            self._gate.check_process()
        except SessionClosedError as error:
            raise RepositoryClosedError(str(error)) from None
        for session in self._claims.open_sessions():
            session.refuse_holder()
        self._gate.seal()

    def _close_all(self) -> builtins.list[Exception]:
        # What is being created or opened right now ends first, and is then closed with the rest.
        for session in self._claims.open_sessions():
            session.begin_close()
        self._gate.drain()
        errors: builtins.list[Exception] = []
        for session in self._claims.open_sessions():
            try:
                session.close()
            except Exception as error:  # noqa: BLE001  # whatever it is, the others are closed all the same
                errors.append(error)
        try:
            self._release()
        except Exception as error:  # noqa: BLE001  # told together with the others
            errors.append(error)
        return errors

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- reservations ------------------------------------------------------------------------

    @contextmanager
    def _working(self) -> Generator[None, None, None]:
        visit = self._gate.visit()
        try:
            visit.__enter__()
        except SessionClosedError as error:
            raise RepositoryClosedError(str(error)) from None
        try:
            yield
        finally:
            visit.__exit__()

    def _opened(self, key: Hashable, metadata: SessionMetadata, storage: StorageBase) -> Session:
        def forget(closed: Session) -> None:
            self._claims.forget(key, closed)

        session = Session(storage, metadata, self._id_generator, forget)
        self._claims.hold(key, session, storage)
        return session

    def _check_ref(self, session: SessionRef) -> None:
        if isinstance(session, SessionMetadata):
            self._check_own(session)
        else:
            check_session_id(session)

    def _check_own(self, metadata: SessionMetadata) -> None:
        """Raise ``ForeignSessionError`` unless the metadata is of this container."""
        if metadata.container != self.container:
            raise ForeignSessionError(
                f"session {metadata.id!r} belongs to {metadata.container}, not to "
                f"{self.container}: use the repository that it came from"
            )

    # -- what a backend implements -----------------------------------------------------------

    def _claim_key(self, session: SessionRef) -> Hashable:
        """What is reserved for a session: its id, unless ids are unique in less than a container."""
        return session if isinstance(session, str) else session.id

    @abstractmethod
    def _create(self, metadata: SessionMetadata) -> tuple[SessionMetadata, StorageBase]:
        """Make an empty session, and leave nothing behind on failure.

        Raises ``SessionExistsError`` when the container has the id.
        """

    @abstractmethod
    def _open(self, session: SessionRef) -> tuple[SessionMetadata, StorageBase]:
        """Open an existing session.

        Metadata whose ``created_at`` is not the session's is of another, deleted one:
        ``SessionNotFoundError``.
        """

    @abstractmethod
    def _get(self, id: str) -> SessionMetadata: ...

    @abstractmethod
    def _list(
        self, cwd: str | None, limit: int | None, before: SessionMetadata | None
    ) -> builtins.list[SessionMetadata]:
        """Metadata in order: ``created_at`` descending, then id ascending; see :func:`page`."""

    @abstractmethod
    def _delete(self, session: SessionRef) -> None: ...

    @abstractmethod
    def _snapshot(self, session: SessionRef) -> AbstractContextManager[SessionSnapshot]:
        """A read-only snapshot of a session that is not open in this repository."""

    @abstractmethod
    def _load(self, metadata: SessionMetadata, image: SessionImage) -> SessionMetadata:
        """Store an image, batch by batch, and publish it at the end."""

    def _fork_inside(self, metadata: SessionMetadata, image: ForkImage) -> SessionMetadata:
        """The same as :meth:`_load` for a fork whose source is in this container.

        For a store that can copy entries without reading them.
        """
        return self._load(metadata, image)

    def _check_container(self) -> builtins.list[str]:
        """Nothing, for a container that cannot be wrong by itself."""
        return []

    def _repair_container(self) -> builtins.list[str]:
        """Nothing, for a container in which no process can leave anything."""
        return []

    def _check_session(self, session: SessionRef) -> builtins.list[str]:
        """Nothing, for a store that derives nothing from its records."""
        return []

    def _repair_session(self, session: SessionRef) -> builtins.list[str]:
        """Called with the id reserved."""
        return []

    @abstractmethod
    def _release(self) -> None:
        """Release the container; called once, after every session was closed."""

    # Last, because the name hides the type ``list`` in what follows.
    def list(
        self,
        *,
        cwd: str | None = None,
        limit: int | None = None,
        before: SessionMetadata | None = None,
    ) -> builtins.list[SessionMetadata]:
        """Metadata of every readable session, ``created_at`` descending, then id ascending.

        ``cwd`` keeps the sessions of one working directory, ``limit`` and ``before`` page: a page
        holds at most ``limit`` sessions that come after ``before``. Opens nothing for writing.
        """
        with self._working():
            if cwd is not None:
                cwd = check_optional_text(cwd, "cwd", limit=None, error=InvalidQueryError)
            if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int)):
                raise InvalidQueryError(f"limit must be an int, not a {type(limit).__name__}")
            if limit is not None and limit < 0:
                raise InvalidQueryError(f"limit must not be negative; got {limit}")
            if before is not None:
                self._check_own(before)
            return self._list(cwd, limit, before)


def _is_of(open_now: SessionMetadata, session: SessionRef) -> bool:
    """Whether a reference means the session that is open, not an earlier one of the same id."""
    return isinstance(session, str) or open_now.created_at == session.created_at


def page(
    sessions: Iterable[SessionMetadata],
    cwd: str | None,
    limit: int | None,
    before: SessionMetadata | None,
) -> builtins.list[SessionMetadata]:
    """Order, filter and page metadata for a backend that has no index for it."""
    ordered = sorted(
        (metadata for metadata in sessions if cwd is None or metadata.cwd == cwd),
        key=_list_order,
    )
    if before is not None:
        mark = _list_order(before)
        ordered = [metadata for metadata in ordered if _list_order(metadata) > mark]
    return ordered[:limit]


def _list_order(metadata: SessionMetadata) -> tuple[int, str]:
    return (-metadata.created_at, metadata.id)


def _check_cwd(cwd: str | None) -> str | None:
    if cwd is None:
        return None
    return check_optional_text(cwd, "cwd", limit=None, error=InvalidAddressError) or None


def _one_of(errors: builtins.list[Exception]) -> Exception | None:
    if len(errors) > 1:
        return ExceptionGroup("several sessions could not be closed", errors)
    return errors[0] if errors else None
