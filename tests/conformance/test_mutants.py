"""The suites bite: a store with one deliberate fault fails at the cases that are about it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from sessionstore.address import Place
from sessionstore.entries import CommitResult
from sessionstore.errors import DuplicateIdError, MissingParentError
from sessionstore.image import SessionSnapshot
from sessionstore.memory import MemorySessionRepo
from sessionstore.memory.storage import MemorySession, MemoryStorage
from sessionstore.metadata import SessionMetadata
from sessionstore.plan import CommitPlan
from sessionstore.queries import BranchQuery, ListQuery, ScanQuery
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.repository import SessionRef
from sessionstore.storage import StorageBase
from sessionstore.testing import (
    Case,
    ManualClock,
    RepositoryStorages,
    repository_conformance,
    storage_conformance,
    threads,
)
from sessionstore.testing.platform import platform_capabilities
from sessionstore.usage import SessionStats, Usage, add_usage


class Repositories:
    """Memory repositories of one class."""

    capabilities = platform_capabilities() | {"container_wide_ids", "commit_times", "case_sensitive_ids"}

    def __init__(self, made: type[MemorySessionRepo]) -> None:
        self._made = made
        self.clock = ManualClock()

    def open(self) -> MemorySessionRepo:
        return self._made(clock=self.clock)

    open_other = open


def with_store(store: type[MemoryStorage]) -> type[MemorySessionRepo]:
    """A memory repository whose sessions have a store of this class."""

    class Repo(MemorySessionRepo):
        def _create(self, metadata: SessionMetadata) -> tuple[SessionMetadata, StorageBase]:
            metadata, _ = super()._create(metadata)
            return metadata, store(self._sessions[metadata.id], self._clock)

        def _open(self, session: SessionRef) -> tuple[SessionMetadata, StorageBase]:
            metadata, _ = super()._open(session)
            return metadata, store(self._sessions[metadata.id], self._clock)

    return Repo


# -- faults of a store -----------------------------------------------------------------------


class Utf16Order(MemoryStorage):
    def _values(self, prefix: Place) -> list[ValueRecord]:
        return sorted(super()._values(prefix), key=lambda record: record.key.encode("utf-16-be"))


class FoldedKeys(MemoryStorage):
    def _value(self, place: Place) -> ValueRecord | None:
        found = super()._value(place)
        return found or super()._value(place._replace(key=place.key.rstrip()))


class WildcardPrefix(MemoryStorage):
    def _values(self, prefix: Place) -> list[ValueRecord]:
        if "_" not in prefix.key:
            return super()._values(prefix)
        stem = prefix.key.split("_", 1)[0]
        return [r for r in super()._values(prefix._replace(key=stem)) if len(r.key) >= len(prefix.key)]


class AnyScope(MemoryStorage):
    def _values(self, prefix: Place) -> list[ValueRecord]:
        return super()._values(prefix) or super()._values(prefix._replace(scope_id=""))


class InclusiveCursor(MemoryStorage):
    def _elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        if query.order == "desc" and query.cursor is not None:
            query = msgspec.structs.replace(query, cursor=query.cursor + 1)
        return super()._elements(place, query)


class LimitBeforeOrder(MemoryStorage):
    def _elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        if query.order == "asc":
            return super()._elements(place, query)
        ascending = msgspec.structs.replace(query, order="asc", cursor=None)
        limit = query.cursor or 10**9
        return [r for r in super()._elements(place, ascending) if r.seq < limit][::-1]


class LooksPastThePage(MemoryStorage):
    def _elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        page = super()._elements(place, query)
        if query.stop_at_tag is None or any(r.tag == query.stop_at_tag for r in page):
            return page
        return super()._elements(place, msgspec.structs.replace(query, limit=10_000))


class SetOfIds(MemoryStorage):
    def _entries_by_id(self, ids: Sequence[str]) -> dict[str, EntryRecord]:
        return super()._entries_by_id(ids[:999])


class StopIgnored(MemoryStorage):
    def _branch(self, query: BranchQuery) -> Iterator[EntryRecord]:
        nodes = list(super()._branch(query))
        kept = [n for n in nodes if n.id != query.stop_at_id]  # the stop entry is dropped too early
        return iter(kept)


class WrongBranch(MemoryStorage):
    def _branch(self, query: BranchQuery) -> Iterator[EntryRecord]:
        start = next(super()._branch(msgspec.structs.replace(query, order="desc")))
        everything = self._entries(ScanQuery(0, start.seq, query.order, None))
        return iter(everything)


class ExclusiveBound(MemoryStorage):
    def _usage_rows(self, query: ScanQuery) -> list[UsageRecord]:
        return [row for row in super()._usage_rows(query) if row.seq != query.to_seq]


class SummedBackwards(MemoryStorage):
    def _stats(self) -> SessionStats:
        stats = super()._stats()
        total = Usage()
        for usage in reversed([row.usage for row in self.scan_usage()]):
            total = add_usage(total, usage)
        return SessionStats(stats.message_count, total)


class CountsEveryEntry(MemoryStorage):
    def _stats(self) -> SessionStats:
        return SessionStats(len(self._entries(ScanQuery(0, 10**9, "asc", None))), super()._stats().usage)


class _Applying(MemoryStorage):
    """A fault in what is done with a plan."""

    def changed(self, plan: CommitPlan) -> CommitPlan:
        raise NotImplementedError

    def _apply(self, plan: CommitPlan, expected_seq: int | None) -> CommitResult:
        return super()._apply(self.changed(plan), expected_seq)


class RetiresNothing(_Applying):
    def changed(self, plan: CommitPlan) -> CommitPlan:
        return msgspec.structs.replace(plan, retired=[])


class ParentsUnchecked(_Applying):
    def changed(self, plan: CommitPlan) -> CommitPlan:
        known = set(self._entries_by_id(plan.outside_parents))
        rows = {row.id for row in self._usage_rows(ScanQuery(0, 10**9, "asc", None))}
        return msgspec.structs.replace(
            plan, outside_parents=[id for id in plan.outside_parents if id in known or id not in rows]
        )


class DeletesKept(_Applying):
    def changed(self, plan: CommitPlan) -> CommitPlan:
        return msgspec.structs.replace(plan, list_deletes=[])


class ConflictsIgnored(MemoryStorage):
    def _apply(self, plan: CommitPlan, expected_seq: int | None) -> CommitResult:
        return super()._apply(plan, None)


class HalfOnFailure(MemoryStorage):
    def _apply(self, plan: CommitPlan, expected_seq: int | None) -> CommitResult:
        try:
            return super()._apply(plan, expected_seq)
        except (DuplicateIdError, MissingParentError):
            with self._session.guard:
                for record in plan.numbered(self._state.next_seq, 0).value_sets:
                    self._state.add(record)
            raise


class NumbersByScope(MemoryStorage):
    def _apply(self, plan: CommitPlan, expected_seq: int | None) -> CommitResult:
        result = super()._apply(plan, expected_seq)
        if plan.scope_id:
            self._state.next_seq = result.first_seq + 1
        return result


class ClockForward(MemoryStorage):
    def __init__(self, session: MemorySession, clock: Callable[[], int]) -> None:
        latest = 0

        def never_back() -> int:
            nonlocal latest
            latest = max(latest, clock())
            return latest

        super().__init__(session, never_back)


class BlockingReads(MemoryStorage):
    def get_value(self, address: Any) -> Any:
        with self.commit_turn():
            return super().get_value(address)


class CloseCutsOff(MemoryStorage):
    def close(self) -> None:
        self._line.seal()
        self._gate.seal()


class LiveSnapshot(MemoryStorage):
    @contextmanager
    def snapshot(self) -> Generator[SessionSnapshot, None, None]:
        with super().snapshot() as boundary:
            boundary._entries = self._state.entry_order  # type: ignore[attr-defined]
            yield boundary


STORES: list[tuple[type[MemoryStorage], str]] = [
    (Utf16Order, "values-scans-are-in-code-point-order"),
    (FoldedKeys, "texts-keys-that-look-alike-are-different"),
    (WildcardPrefix, "values-a-prefix-is-taken-literally"),
    (AnyScope, "scopes-scans-are-of-one-scope"),
    (InclusiveCursor, "lists-a-cursor-is-exclusive"),
    (LimitBeforeOrder, "lists-order-comes-before-limit"),
    (LooksPastThePage, "lists-stop-at-tag-never-looks-past-the-page"),
    (SetOfIds, "entries-any-number-of-ids-can-be-read"),
    (StopIgnored, "branches-a-stop-is-inclusive"),
    (WrongBranch, "branches-a-divergence-shares-what-lies-before-it"),
    (ExclusiveBound, "usage-the-ledger-is-scanned-by-seq"),
    (SummedBackwards, "usage-totals-are-a-left-fold"),
    (CountsEveryEntry, "usage-only-message-entries-are-counted"),
    (RetiresNothing, "scopes-retirement-ends-everything-in-the-scope"),
    (ParentsUnchecked, "entries-a-usage-row-is-no-parent"),
    (DeletesKept, "transactions-delete-then-append-makes-a-fresh-list"),
    (ConflictsIgnored, "mutations-a-mutation-that-was-overtaken-fails"),
    (HalfOnFailure, "transactions-a-failed-transaction-leaves-no-trace"),
    (NumbersByScope, "scopes-scope-and-session-share-the-sequence"),
    (ClockForward, "transactions-the-clock-may-go-back"),
    (BlockingReads, "lines-readers-do-not-wait-for-a-commit-under-way"),
    (CloseCutsOff, "lines-close-waits-for-the-commit-that-runs"),
    (LiveSnapshot, "images-a-snapshot-stays-at-its-boundary"),
]


# -- faults of a repository ------------------------------------------------------------------


class TakesForeign(MemorySessionRepo):
    def _check_own(self, metadata: SessionMetadata) -> None:
        pass


class FindsSuccessors(MemorySessionRepo):
    def _open(self, session: SessionRef) -> tuple[SessionMetadata, StorageBase]:
        return super()._open(session if isinstance(session, str) else session.id)


class ListsByIdOnly(MemorySessionRepo):
    def _list(
        self, cwd: str | None, limit: int | None, before: SessionMetadata | None
    ) -> list[SessionMetadata]:
        return sorted(super()._list(cwd, limit, before), key=lambda metadata: metadata.id)


class HalfALoad(MemorySessionRepo):
    def _load(self, metadata: SessionMetadata, image: Any) -> SessionMetadata:
        try:
            return super()._load(metadata, image)
        except LookupError:
            self.create_anyway(metadata)
            raise

    def create_anyway(self, metadata: SessionMetadata) -> None:
        self._create(metadata)


class KeepsWhatWasDeleted(MemorySessionRepo):
    def _delete(self, session: SessionRef) -> None:
        found = self._find(session)
        self._graveyard = found.state
        super()._delete(session)

    def _create(self, metadata: SessionMetadata) -> tuple[SessionMetadata, StorageBase]:
        metadata, storage = super()._create(metadata)
        buried = getattr(self, "_graveyard", None)
        if buried is not None:
            self._sessions[metadata.id].state = buried
            storage = MemoryStorage(self._sessions[metadata.id], self._clock)
        return metadata, storage


REPOSITORIES: list[tuple[type[MemorySessionRepo], str]] = [
    (TakesForeign, "repositories-foreign-metadata-is-refused"),
    (FindsSuccessors, "repositories-metadata-of-a-deleted-session-is-not-its-successor"),
    (ListsByIdOnly, "listing-the-newest-come-first-and-then-by-id"),
    (HalfALoad, "reservations-a-load-that-fails-leaves-nothing"),
    (KeepsWhatWasDeleted, "repositories-a-session-created-again-shows-nothing-old"),
]


def failing(case: Case[Any], factory: Any) -> bool:
    try:
        case.run(factory)
    except (AssertionError, LookupError, ValueError, RuntimeError):
        return True
    return False


def named(name: str) -> tuple[Case[Any], bool]:
    """A case by group and name, and whether it is one of the storage suite."""
    for cases, of_storage in ((storage_conformance, True), (repository_conformance, False)):
        for case in cases:
            if f"{case.group}-{case.name}" == name:
                return case, of_storage
    raise LookupError(f"no case {name}")


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "PATIENCE", 1.0)


@pytest.mark.parametrize(("mutant", "name"), STORES, ids=lambda one: getattr(one, "__name__", None))
def test_a_faulty_store_fails(mutant: type[MemoryStorage], name: str) -> None:
    case, of_storage = named(name)
    for repo, expected in ((MemorySessionRepo, False), (with_store(mutant), True)):
        factory = Repositories(repo)
        assert failing(case, RepositoryStorages(factory) if of_storage else factory) is expected


@pytest.mark.parametrize(("mutant", "name"), REPOSITORIES, ids=lambda one: getattr(one, "__name__", None))
def test_a_faulty_repository_fails(mutant: type[MemorySessionRepo], name: str) -> None:
    case, _ = named(name)
    assert failing(case, Repositories(mutant))
