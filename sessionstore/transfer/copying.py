"""Whole sessions from one store to another (entries, values, lists, usage, live scopes, numbers)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from sessionstore.errors import SessionStoreError
from sessionstore.metadata import SessionMetadata
from sessionstore.repository import SessionRef, SessionRepo
from sessionstore.transfer.progress import Progress, watched


class CopyOutcome(msgspec.Struct, frozen=True):
    """What came of one session: its records were copied, or ``problem`` says why none was."""

    session_id: str
    records: int = 0
    problem: str | None = None


def copy_session(
    source: SessionRepo, target: SessionRepo, session: SessionRef, progress: Progress | None = None
) -> SessionMetadata:
    """Copy one session, complete or not at all; gives the metadata of the copy.

    The source is read through one snapshot and may be written meanwhile. Raises
    ``SessionNotFoundError``, ``SessionExistsError`` when the target has the id, and what either
    store raises.
    """
    with source.snapshot(session) as image:
        return target.load(watched(image, progress or Progress()))


def copy_sessions(
    source: SessionRepo,
    target: SessionRepo,
    sessions: Iterable[SessionRef],
    progress: Progress | None = None,
) -> Iterator[CopyOutcome]:
    """Copy sessions one after the other; one that fails does not stop the others."""
    for session in sessions:
        id = session if isinstance(session, str) else session.id
        counting = _Counting(progress or Progress())
        counting.begin(id)
        try:
            copy_session(source, target, session, counting)
        except SessionStoreError as error:
            yield CopyOutcome(id, problem=str(error))
        else:
            yield CopyOutcome(id, counting.records)


class _Counting(Progress):
    """Counts records on their way to somebody else's progress."""

    def __init__(self, inner: Progress) -> None:
        self._inner = inner
        self.records = 0

    def begin(self, name: str) -> None:
        self._inner.begin(name)

    def advance(self) -> None:
        self.records += 1
        self._inner.advance()
