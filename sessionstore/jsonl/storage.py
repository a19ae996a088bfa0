"""The store of one session in its files."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sessionstore import json_text
from sessionstore.address import Place
from sessionstore.entries import CommitResult, EntryStructure
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
from sessionstore.metadata import SessionMetadata, not_found
from sessionstore.plan import CommitPlan, Step
from sessionstore.queries import BranchQuery, ListQuery, ScanQuery
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.storage import StorageBase, conflict_error, unknown_entry
from sessionstore.usage import SessionStats, usage_to_json


class JsonlStorage(StorageBase):
    """Reads from memory, commits to files.

    A commit writes its line on the commit line, without holding up readers; once the line is in
    the file the state in memory follows, whatever else happens.
    """

    def __init__(
        self,
        recovered: Recovered,
        metadata: SessionMetadata,
        *,
        fsync: bool,
        clock: Clock,
        id_generator: IdGenerator,
    ) -> None:
        super().__init__(f"session {metadata.id!r}")
        self._metadata = metadata
        self._header = recovered.header
        self._state = recovered.state
        self._log = recovered.log
        self._scopes = recovered.scopes
        self._is_legacy = recovered.is_legacy
        self._fsync = fsync
        self._clock = clock
        self._id_generator = id_generator
        # Readers and the one writer of the state; never held while a file is written.
        self._guard = threading.Lock()

    # -- commits -----------------------------------------------------------------------------

    def _apply(self, plan: CommitPlan, expected_seq: int | None) -> CommitResult:
        timestamp = self._clock()
        state = self._state
        with self._guard:
            state.finish()
            first_seq = state.next_seq
            if not plan.steps:
                return CommitResult(first_seq, (), timestamp, state.stats)
            if expected_seq is not None and expected_seq != first_seq:
                raise conflict_error(expected_seq, first_seq)
            state.prove(plan)
            numbered = plan.numbered(first_seq, timestamp)
            stats = state.counted(numbered)
        self._check_files()
        self._write(numbered, stats, timestamp)
        return CommitResult(first_seq, plan.seqs(first_seq), timestamp, stats)

    def _check_files(self) -> None:
        try:
            self._log.check()
        except FileNotFoundError:
            raise not_found(self._metadata.id, self._metadata.container) from None
        self._scopes.check()

    def _write(self, plan: CommitPlan, stats: SessionStats, timestamp: int) -> None:
        if plan.scope_id:
            if self._is_legacy:
                self._upgrade(None, stats, timestamp)
            self._append_scoped(plan, stats)
        elif self._is_legacy:
            self._upgrade(plan, stats, timestamp)
        else:
            self._append(plan, stats)
        if plan.retired:
            self._scopes.retire(plan.retired)

    def _append(self, plan: CommitPlan, stats: SessionStats) -> None:
        length = self._log.length
        try:
            self._log.append(transaction_line(plan.steps))
        finally:
            if self._log.length != length:
                self._settle(plan, stats)

    def _append_scoped(self, plan: CommitPlan, stats: SessionStats) -> None:
        length = self._scopes.length(plan.scope_id)
        try:
            self._scopes.append(plan.scope_id, transaction_line(plan.steps))
        finally:
            if self._scopes.length(plan.scope_id) != length:
                self._settle(plan, stats)

    def _settle(self, plan: CommitPlan, stats: SessionStats) -> None:
        with self._guard:
            self._state.apply(plan, stats)

    # -- the upgrade of an older file ----------------------------------------------------------

    def _upgrade(self, plan: CommitPlan | None, stats: SessionStats, timestamp: int) -> None:
        """Rewrite the file as format 4, with the caller's plan if that goes into the main file."""
        row = self._adjustment(timestamp)
        steps: tuple[Step, ...] = (row,) if plan is None else (row, *plan.steps)
        path = Path(self._log.path)
        file = NewFile(path.with_name(path.name + TEMPORARY_SUFFIX))
        log = self._log
        try:
            write_upgrade(file, self._header, self._state.records(), steps)
            if self._fsync:
                file.sync()
            log = LogFile.of_new(file, path, fsync=self._fsync)
            self._check_files()
            file.replace(path)
            self._upgraded(log, row, plan, stats)
        except BaseException:
            if file.is_at(path):
                self._upgraded(log, row, plan, stats)
            else:
                file.discard()
            raise
        if self._fsync:
            sync_directory(path.parent)

    def _adjustment(self, timestamp: int) -> UsageRecord:
        """The ledger row that brings the costs of the older file into the ledger."""
        usage = json_text.encode(usage_to_json(self._state.stats.usage), "usage")
        id = self._id_generator.next(timestamp)
        return UsageRecord(id, self._state.next_seq - 1, None, True, usage, IMPORT_DETAILS)

    def _upgraded(self, log: LogFile, row: UsageRecord, plan: CommitPlan | None, stats: SessionStats) -> None:
        """Follow an upgrade that has happened; each step may have been done already."""
        if self._log is not log:
            self._log.close()
            self._log = log
        self._is_legacy = False
        with self._guard:
            self._state.add_adjustment(row)
        if plan is not None:
            self._settle(plan, stats)

    # -- reads -------------------------------------------------------------------------------

    def _next_seq(self) -> int:
        with self._guard:
            self._state.finish()
            return self._state.next_seq

    def _value(self, place: Place) -> ValueRecord | None:
        with self._guard:
            self._state.finish()
            return self._state.value(place)

    def _values(self, prefix: Place) -> list[ValueRecord]:
        with self._guard:
            self._state.finish()
            return self._state.values_with_prefix(prefix)

    def _elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        with self._guard:
            self._state.finish()
            return self._state.elements(place, query)

    def _entries_by_id(self, ids: Sequence[str]) -> dict[str, EntryRecord]:
        with self._guard:
            self._state.finish()
            found = [self._state.entries.get(id) for id in ids]
        return {row.id: entry_record(row) for row in found if row is not None}

    def _branch(self, query: BranchQuery) -> Iterator[EntryRecord]:
        return map(entry_record, self._path(query))

    def _branch_structure(self, query: BranchQuery) -> Iterator[EntryStructure]:
        return map(entry_structure, self._path(query))

    def _path(self, query: BranchQuery) -> Iterator[EntryLine]:
        with self._guard:
            self._state.finish()
            start = self._state.entries.get(query.start)
        if start is None:
            raise unknown_entry(query.start)
        # Entries never change and a path never grows at its root, so no lock is needed.
        path = self._state.path(start)
        return path if query.order == "desc" else reversed(list(path))

    def _entries(self, query: ScanQuery) -> list[EntryRecord]:
        with self._guard:
            self._state.finish()
            return self._state.scan(query)

    def _usage_rows(self, query: ScanQuery) -> list[UsageRecord]:
        with self._guard:
            self._state.finish()
            return self._state.scan_usage(query)

    def _stats(self) -> SessionStats:
        with self._guard:
            self._state.finish()
            return self._state.stats

    @contextmanager
    def snapshot(self) -> Generator[SessionSnapshot, None, None]:
        """See :meth:`StorageBase.snapshot`."""
        with self._gate.visit(), self.commit_turn(), self._guard:
            self._state.finish()
            header = msgspec.structs.replace(
                self._header, next_seq=self._state.next_seq, stats=self._state.stats
            )
            adjustment = self._adjustment(self._clock()) if self._is_legacy else None
            boundary = OpenSnapshot(header, self._state, adjustment)
        yield boundary

    def _release(self) -> None:
        self._log.close()
        self._scopes.close()
