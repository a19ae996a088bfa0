"""The store of one session in its files."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import msgspec

from sessionstore import json_text
from sessionstore.address import Place
from sessionstore.entries import CommitResult, EntryStructure
from sessionstore.errors import SessionNotFoundError
from sessionstore.ids import Clock, IdGenerator
from sessionstore.image import SessionSnapshot
from sessionstore.jsonl.codec import EntryLine
from sessionstore.jsonl.encoding import transaction_line
from sessionstore.jsonl.legacy import IMPORT_DETAILS
from sessionstore.jsonl.log import LogFile
from sessionstore.jsonl.making import write_upgrade
from sessionstore.jsonl.open_snapshot import OpenSnapshot
from sessionstore.jsonl.publish import TEMPORARY_SUFFIX, NewFile, sync_directory
from sessionstore.jsonl.recovery import Recovered
from sessionstore.jsonl.rows import entry_record, entry_structure
from sessionstore.jsonl.state import SessionState
from sessionstore.metadata import SessionMetadata, not_found
from sessionstore.plan import CommitPlan, Step
from sessionstore.queries import BranchQuery, ListQuery, ScanQuery
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.storage import StorageBase, conflict_error, unknown_entry
from sessionstore.usage import SessionStats, usage_to_json


class _Loaded:
    """What an open session consists of."""

    def __init__(self, recovered: Recovered) -> None:
        self.header: Final = recovered.header
        self.state: Final = recovered.state
        self.scopes: Final = recovered.scopes
        self.log = recovered.log
        self.is_legacy = recovered.is_legacy
        self.begun: tuple[CommitPlan, SessionStats, int] | None = None
        """What is being appended, the statistics after it, and how far its file went before."""

    def length(self, scope_id: str) -> int:
        """How far the file goes that takes the transactions of a scope."""
        return self.scopes.length(scope_id) if scope_id else self.log.length


class JsonlStorage(StorageBase):
    """Reads from memory, commits to files.

    ``load`` reads the session when it is first needed. A commit writes its line on the commit
    line, without holding up readers; once the line is in the file the state in memory follows,
    whatever else happens.
    """

    def __init__(
        self,
        metadata: SessionMetadata,
        load: Callable[[], Recovered],
        *,
        fsync: bool,
        clock: Clock,
        id_generator: IdGenerator,
    ) -> None:
        super().__init__(f"session {metadata.id!r}")
        self._metadata = metadata
        self._load = load
        self._loaded: _Loaded | None = None
        self._loading = threading.Lock()
        self._fsync = fsync
        self._clock = clock
        self._id_generator = id_generator
        # Readers and the one writer of the state; never held while a file is written.
        self._guard = threading.Lock()

    def _session(self) -> _Loaded:
        """The session as its files tell it, read when it is first needed."""
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = _Loaded(self._load())
        return self._loaded

    def _current(self) -> SessionState:
        """The state, to be used under the guard."""
        loaded = self._loaded or self._session()
        if loaded.begun is not None:
            self._follow(loaded)
        return loaded.state

    # -- commits -----------------------------------------------------------------------------

    def _apply(self, plan: CommitPlan, expected_seq: int | None) -> CommitResult:
        timestamp = self._clock()
        session = self._session()
        state = self._current()
        with self._guard:
            state.finish()
            first_seq = state.next_seq
            if not plan.steps:
                return CommitResult(first_seq, (), timestamp, state.stats)
            if expected_seq is not None and expected_seq != first_seq:
                raise conflict_error(expected_seq, first_seq)
            plan.prove(state.entries, state.usage_ids)
            numbered = plan.numbered(first_seq, timestamp)
            stats = plan.counted(state.stats)
        self._check_files(session)
        if session.is_legacy:
            self._write_upgrading(session, numbered, stats, timestamp)
        else:
            self._append(session, numbered, stats)
        return CommitResult(first_seq, plan.seqs(first_seq), timestamp, stats)

    def _check_files(self, session: _Loaded) -> None:
        try:
            session.log.check()
        except FileNotFoundError:
            raise self._gone() from None
        session.scopes.check()

    def _gone(self) -> SessionNotFoundError:
        return not_found(self._metadata.id, self._metadata.container)

    def _append(self, session: _Loaded, plan: CommitPlan, stats: SessionStats) -> None:
        line = transaction_line(plan.steps)
        # Noted before the line is in the file: no interrupt can come between that and the note.
        session.begun = plan, stats, session.length(plan.scope_id)
        try:
            if plan.scope_id:
                session.scopes.append(plan.scope_id, line, session.log.check)
            else:
                session.log.append(line)
        except FileNotFoundError:
            raise self._gone() from None
        finally:
            self._follow(session)
        if plan.retired:
            session.scopes.retire(plan.retired)

    def _follow(self, session: _Loaded) -> None:
        """Bring the state to where the file is, once what was begun is in it; called before any use."""
        with self._guard:
            if session.begun is not None:
                plan, stats, length = session.begun
                if session.length(plan.scope_id) != length:
                    session.state.apply(plan, stats)
                    session.begun = None

    def _settle(self, session: _Loaded, plan: CommitPlan, stats: SessionStats) -> None:
        with self._guard:
            session.state.apply(plan, stats)

    # -- the upgrade of an older file ----------------------------------------------------------

    def _write_upgrading(
        self, session: _Loaded, plan: CommitPlan, stats: SessionStats, timestamp: int
    ) -> None:
        """The first write to an older file, which becomes format 4 by it."""
        if plan.scope_id:
            self._upgrade(session, None, stats, timestamp)
            self._append(session, plan, stats)
            return
        self._upgrade(session, plan, stats, timestamp)
        if plan.retired:
            session.scopes.retire(plan.retired)

    def _upgrade(
        self, session: _Loaded, plan: CommitPlan | None, stats: SessionStats, timestamp: int
    ) -> None:
        """Rewrite the file, with the caller's plan where that goes into the main file."""
        row = self._adjustment(session.state, timestamp)
        steps: tuple[Step, ...] = (row,) if plan is None else (row, *plan.steps)
        path, log = session.log.path, session.log
        file = NewFile(path.with_name(path.name + TEMPORARY_SUFFIX))
        try:
            file.take_mode(path)
            write_upgrade(file, session.header, session.state.records(), steps)
            if self._fsync:
                file.sync()
            log = LogFile.of_new(file, path, fsync=self._fsync)
            self._check_files(session)
            file.replace(path)
            self._upgraded(session, log, row, plan, stats)
        except BaseException:
            if file.is_at(path):
                self._upgraded(session, log, row, plan, stats)
            else:
                file.discard()
            raise
        if self._fsync:
            sync_directory(path.parent)

    def _adjustment(self, state: SessionState, timestamp: int) -> UsageRecord:
        """The ledger row that brings the costs of the older file into the ledger."""
        usage = json_text.encode(usage_to_json(state.stats.usage), "usage")
        id = self._id_generator.next(timestamp)
        return UsageRecord(id, state.next_seq - 1, None, True, usage, IMPORT_DETAILS)

    def _upgraded(
        self,
        session: _Loaded,
        log: LogFile,
        row: UsageRecord,
        plan: CommitPlan | None,
        stats: SessionStats,
    ) -> None:
        """Follow an upgrade that has happened; each step may have been done already."""
        if session.log is not log:
            session.log.rest()
            session.log = log
        session.is_legacy = False
        with self._guard:
            session.state.add_adjustment(row)
        if plan is not None:
            self._settle(session, plan, stats)

    # -- reads -------------------------------------------------------------------------------

    def _next_seq(self) -> int:
        state = self._current()
        with self._guard:
            state.finish()
            return state.next_seq

    def _value(self, place: Place) -> ValueRecord | None:
        state = self._current()
        with self._guard:
            state.finish()
            return state.value(place)

    def _values(self, prefix: Place) -> list[ValueRecord]:
        state = self._current()
        with self._guard:
            state.finish()
            return state.values_with_prefix(prefix)

    def _elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        state = self._current()
        with self._guard:
            state.finish()
            return state.elements(place, query)

    def _entries_by_id(self, ids: Sequence[str]) -> dict[str, EntryRecord]:
        state = self._current()
        with self._guard:
            state.finish()
            found = [state.entries.get(id) for id in ids]
        return {row.id: entry_record(row) for row in found if row is not None}

    def _branch(self, query: BranchQuery) -> Iterator[EntryRecord]:
        return map(entry_record, self._path(query))

    def _branch_structure(self, query: BranchQuery) -> Iterator[EntryStructure]:
        return map(entry_structure, self._path(query))

    def _path(self, query: BranchQuery) -> Iterator[EntryLine]:
        state = self._current()
        with self._guard:
            state.finish()
            start = state.entries.get(query.start)
        if start is None:
            raise unknown_entry(query.start)
        # Entries never change and a path never grows at its root, so no lock is needed.
        path = state.path(start)
        return path if query.order == "desc" else reversed(list(path))

    def _entries(self, query: ScanQuery) -> list[EntryRecord]:
        state = self._current()
        with self._guard:
            state.finish()
            return state.scan(query)

    def _usage_rows(self, query: ScanQuery) -> list[UsageRecord]:
        state = self._current()
        with self._guard:
            state.finish()
            return state.scan_usage(query)

    def _stats(self) -> SessionStats:
        state = self._current()
        with self._guard:
            state.finish()
            return state.stats

    @contextmanager
    def snapshot(self) -> Generator[SessionSnapshot, None, None]:
        """See :meth:`StorageBase.snapshot`."""
        with self._gate.visit(), self.commit_turn():
            session = self._session()
            state = self._current()
            with self._guard:
                state.finish()
                header = msgspec.structs.replace(session.header, next_seq=state.next_seq, stats=state.stats)
                adjustment = self._adjustment(state, self._clock()) if session.is_legacy else None
                boundary = OpenSnapshot(header, state, adjustment)
        yield boundary

    def _release(self) -> None:
        if self._loaded is not None:
            try:
                self._loaded.log.close()
            finally:
                self._loaded.scopes.close()
