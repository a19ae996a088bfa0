"""The repository of sessions in memory."""

from __future__ import annotations

import builtins
import threading
from collections.abc import Generator
from contextlib import contextmanager

import msgspec
import uuid_utils

from sessionstore.errors import SessionExistsError
from sessionstore.ids import Clock, IdGenerator
from sessionstore.image import SessionImage, SessionSnapshot
from sessionstore.memory.state import SessionState
from sessionstore.memory.storage import MemorySession, MemoryStorage, snapshot_of
from sessionstore.metadata import SessionMetadata, not_found
from sessionstore.repository import SessionRef, SessionRepo, page
from sessionstore.storage import StorageBase


class MemorySessionRepo(SessionRepo):
    """Sessions that live as long as this object. They survive the closing of their handles.

    ``clock`` gives Unix ms; ``id_generator`` makes the ids.
    """

    def __init__(self, *, clock: Clock | None = None, id_generator: IdGenerator | None = None) -> None:
        super().__init__(clock=clock, id_generator=id_generator)
        self._container = f"memory:{uuid_utils.uuid4()}"
        self._sessions: dict[str, MemorySession] = {}
        self._sessions_guard = threading.Lock()

    @property
    def container(self) -> str:
        """A token of this object."""
        return self._container

    def _create(self, metadata: SessionMetadata) -> tuple[SessionMetadata, StorageBase]:
        metadata = msgspec.structs.replace(metadata, modified_at=metadata.created_at)
        session = self._publish(MemorySession(metadata, SessionState()))
        return metadata, MemoryStorage(session, self._clock)

    def _publish(self, session: MemorySession) -> MemorySession:
        id = session.metadata.id
        with self._sessions_guard:
            if id in self._sessions:
                raise SessionExistsError(f"session {id!r} exists in {self._container}")
            self._sessions[id] = session
        return session

    def _open(self, session: SessionRef) -> tuple[SessionMetadata, StorageBase]:
        found = self._find(session)
        return found.metadata, MemoryStorage(found, self._clock)

    def _find(self, session: SessionRef) -> MemorySession:
        id = session if isinstance(session, str) else session.id
        found = self._sessions.get(id)
        if found is None or (
            isinstance(session, SessionMetadata) and session.created_at != found.metadata.created_at
        ):
            raise not_found(id, self._container)
        return found

    def _get(self, id: str) -> SessionMetadata:
        return self._find(id).metadata

    def _list(
        self, cwd: str | None, limit: int | None, before: SessionMetadata | None
    ) -> builtins.list[SessionMetadata]:
        with self._sessions_guard:
            sessions = [session.metadata for session in self._sessions.values()]
        return page(sessions, cwd, limit, before)

    def _delete(self, session: SessionRef) -> None:
        found = self._find(session)
        with self._sessions_guard:
            del self._sessions[found.metadata.id]
        with found.guard:
            found.deleted = True

    @contextmanager
    def _snapshot(self, session: SessionRef) -> Generator[SessionSnapshot, None, None]:
        yield snapshot_of(self._find(session))

    def _load(self, metadata: SessionMetadata, image: SessionImage) -> SessionMetadata:
        state = SessionState(image.header.next_seq, image.header.stats)
        for record in image.records:
            state.add(record)
        metadata = msgspec.structs.replace(metadata, modified_at=self._clock())
        self._publish(MemorySession(metadata, state))
        return metadata

    def _release(self) -> None:
        with self._sessions_guard:
            self._sessions.clear()
