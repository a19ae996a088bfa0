"""Whole sessions from one store to another (entries, values, lists, usage, live scopes, numbers)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from sessionstore.errors import SessionStoreError
from sessionstore.metadata import SessionMetadata
from sessionstore.repository import SessionRef, SessionRepo
from sessionstore.transfer.progress import Counted, Progress


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
        return target.load(Counted(image, progress or Progress()).image)


def copy_sessions(
    source: SessionRepo,
    target: SessionRepo,
    sessions: Iterable[SessionRef],
    progress: Progress | None = None,
) -> Iterator[CopyOutcome]:
    """Copy sessions one after the other; one that fails does not stop the others."""
    told = progress or Progress()
    for session in sessions:
        id = session if isinstance(session, str) else session.id
        told.begin(id)
        try:
            with source.snapshot(session) as image:
                counted = Counted(image, told)
                target.load(counted.image)
        except SessionStoreError as error:
            yield CopyOutcome(id, problem=str(error))
        else:
            yield CopyOutcome(id, counted.records)
