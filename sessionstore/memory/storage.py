"""The store of one session in memory."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager

import msgspec

from sessionstore.address import Place
from sessionstore.entries import CommitResult
from sessionstore.ids import Clock
from sessionstore.image import SessionSnapshot
from sessionstore.memory.snapshot import MemorySnapshot
from sessionstore.memory.state import SessionState
from sessionstore.metadata import SessionMetadata, not_found
from sessionstore.plan import CommitPlan
from sessionstore.queries import BranchQuery, ListQuery, ScanQuery
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.storage import StorageBase, conflict_error, unknown_entry
from sessionstore.usage import SessionStats


class MemorySession:
    """A session that a memory repository keeps, open or not."""

    def __init__(self, metadata: SessionMetadata, state: SessionState) -> None:
        self.metadata = metadata
        self.state = state
        self.deleted = False
        # Readers and the one writer of the state; held for one step, never across a wait. Whoever
        # takes it lets the state finish what an interrupt cut short.
        self.guard = threading.Lock()


class MemoryStorage(StorageBase):
    """Reads and commits of one :class:`MemorySession`."""

    def __init__(self, session: MemorySession, clock: Clock) -> None:
        super().__init__(f"session {session.metadata.id!r}")
        self._session = session
        self._state = session.state
        self._clock = clock

    def _apply(self, plan: CommitPlan, expected_seq: int | None) -> CommitResult:
        session, state = self._session, self._state
        with session.guard:
            state.finish()
            if session.deleted:
                raise not_found(session.metadata.id, session.metadata.container)
            first_seq = state.next_seq
            timestamp = self._clock()
            if plan.steps:
                if expected_seq is not None and expected_seq != first_seq:
                    raise conflict_error(expected_seq, first_seq)
                plan.prove(state.entries, state.usage_rows)
                state.apply(plan.numbered(first_seq, timestamp))
                session.metadata = msgspec.structs.replace(session.metadata, modified_at=timestamp)
            return CommitResult(first_seq, plan.seqs(first_seq), timestamp, state.stats)

    def _next_seq(self) -> int:
        with self._session.guard:
            self._state.finish()
            return self._state.next_seq

    def _value(self, place: Place) -> ValueRecord | None:
        with self._session.guard:
            self._state.finish()
            return self._state.values.get(place)

    def _values(self, prefix: Place) -> list[ValueRecord]:
        with self._session.guard:
            self._state.finish()
            return self._state.values_with_prefix(prefix)

    def _elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        with self._session.guard:
            self._state.finish()
            return self._state.elements(place, query)

    def _entries_by_id(self, ids: Sequence[str]) -> dict[str, EntryRecord]:
        entries = self._state.entries
        with self._session.guard:
            self._state.finish()
            return {id: entries[id] for id in ids if id in entries}

    def _branch(self, query: BranchQuery) -> Iterator[EntryRecord]:
        with self._session.guard:
            self._state.finish()
            start = self._state.entries.get(query.start)
        if start is None:
            raise unknown_entry(query.start)
        # Entries never change and a path never grows at its root, so no lock is needed.
        path = self._state.path(start)
        return path if query.order == "desc" else reversed(list(path))

    def _entries(self, query: ScanQuery) -> list[EntryRecord]:
        with self._session.guard:
            self._state.finish()
            return self._state.scan(query)

    def _usage_rows(self, query: ScanQuery) -> list[UsageRecord]:
        with self._session.guard:
            self._state.finish()
            return self._state.scan_usage(query)

    def _stats(self) -> SessionStats:
        with self._session.guard:
            self._state.finish()
            return self._state.stats

    @contextmanager
    def snapshot(self) -> Generator[SessionSnapshot, None, None]:
        """See :meth:`StorageBase.snapshot`."""
        with self._gate.visit(), self.commit_turn():
            boundary = snapshot_of(self._session)
        yield boundary

    def _release(self) -> None:
        pass


def snapshot_of(session: MemorySession) -> MemorySnapshot:
    """The session as it stands between two commits."""
    with session.guard:
        session.state.finish()
        return MemorySnapshot(session.metadata, session.state)
