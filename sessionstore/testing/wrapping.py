"""Stores around a store: the base of the wrappers, and one that records what was committed."""

from __future__ import annotations

import threading
from bisect import insort
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, overload

from sessionstore.address import Value, ValueList
from sessionstore.entries import (
    CommitResult,
    Entry,
    EntryStructure,
    ListElement,
    StoredValue,
    UsageRow,
)
from sessionstore.errors import SessionStoreError
from sessionstore.plan import CommitPlan, Step, plan_commit
from sessionstore.scope import EphemeralScope, SessionScope
from sessionstore.session import Session
from sessionstore.storage import Storage
from sessionstore.usage import SessionStats
from sessionstore.writes import Write

T = TypeVar("T")
R = TypeVar("R")


class StorageWrapper:
    """A :class:`~sessionstore.storage.Storage` that passes every call on to another one.

    A wrapper of your own overrides :meth:`around_read`, :meth:`around_commit` and
    :meth:`around_close`.
    """

    def __init__(self, inner: Storage) -> None:
        self.inner = inner

    def around_read(self, read: Callable[[], R]) -> R:
        """Run one read of the inner store, any but :meth:`next_seq`."""
        return read()

    def around_commit(self, writes: Sequence[Write[Any]], commit: Callable[[], CommitResult]) -> CommitResult:
        """Run one commit of the inner store."""
        return commit()

    def around_close(self, close: Callable[[], None]) -> None:
        """Run the closing of the inner store."""
        close()

    @overload
    def commit(
        self, writes: Sequence[Write[SessionScope]], *, expected_seq: int | None = None
    ) -> CommitResult: ...
    @overload
    def commit(
        self, writes: Sequence[Write[EphemeralScope]], *, expected_seq: int | None = None
    ) -> CommitResult: ...
    def commit(self, writes: Sequence[Write[Any]], *, expected_seq: int | None = None) -> CommitResult:
        """See :meth:`~sessionstore.storage.StorageBase.commit`."""
        return self.around_commit(writes, lambda: self.inner.commit(writes, expected_seq=expected_seq))

    def next_seq(self) -> int:
        """The number that the next write would get now."""
        return self.inner.next_seq()

    def close(self) -> None:
        """Close the inner store."""
        self.around_close(self.inner.close)

    def get_value(self, address: Value[T, Any]) -> StoredValue[T] | None:
        """See :meth:`~sessionstore.storage.Readers.get_value`."""
        return self.around_read(lambda: self.inner.get_value(address))

    def scan_values(self, prefix: Value[T, Any]) -> list[StoredValue[T]]:
        """See :meth:`~sessionstore.storage.Readers.scan_values`."""
        return self.around_read(lambda: self.inner.scan_values(prefix))

    def read_list(
        self,
        address: ValueList[T, Any],
        *,
        cursor: int | None = None,
        order: str = "asc",
        limit: int | None = None,
        stop_at_tag: str | None = None,
    ) -> list[ListElement[T]]:
        """See :meth:`~sessionstore.storage.Readers.read_list`."""
        return self.around_read(
            lambda: self.inner.read_list(
                address, cursor=cursor, order=order, limit=limit, stop_at_tag=stop_at_tag
            )
        )

    def get_entries(self, ids: Sequence[str]) -> dict[str, Entry]:
        """See :meth:`~sessionstore.storage.Readers.get_entries`."""
        return self.around_read(lambda: self.inner.get_entries(ids))

    def scan_branch(
        self,
        start: str,
        *,
        stop_at_type: str | None = None,
        stop_at_id: str | None = None,
        type: str | None = None,
        custom_type: str | None = None,
        order: str = "newest_first",
        limit: int | None = None,
        cursor: int | None = None,
    ) -> list[Entry]:
        """See :meth:`~sessionstore.storage.Readers.scan_branch`."""
        return self.around_read(
            lambda: self.inner.scan_branch(
                start,
                stop_at_type=stop_at_type,
                stop_at_id=stop_at_id,
                type=type,
                custom_type=custom_type,
                order=order,
                limit=limit,
                cursor=cursor,
            )
        )

    def scan_branch_structure(
        self,
        start: str,
        *,
        stop_at_type: str | None = None,
        stop_at_id: str | None = None,
        type: str | None = None,
        custom_type: str | None = None,
        order: str = "newest_first",
        limit: int | None = None,
        cursor: int | None = None,
    ) -> list[EntryStructure]:
        """See :meth:`~sessionstore.storage.Readers.scan_branch_structure`."""
        return self.around_read(
            lambda: self.inner.scan_branch_structure(
                start,
                stop_at_type=stop_at_type,
                stop_at_id=stop_at_id,
                type=type,
                custom_type=custom_type,
                order=order,
                limit=limit,
                cursor=cursor,
            )
        )

    def scan_entries(
        self,
        *,
        type: str | None = None,
        custom_type: str | None = None,
        from_seq: int | None = None,
        to_seq: int | None = None,
        order: str = "asc",
        limit: int | None = None,
    ) -> list[Entry]:
        """See :meth:`~sessionstore.storage.Readers.scan_entries`."""
        return self.around_read(
            lambda: self.inner.scan_entries(
                type=type,
                custom_type=custom_type,
                from_seq=from_seq,
                to_seq=to_seq,
                order=order,
                limit=limit,
            )
        )

    def scan_usage(
        self,
        *,
        from_seq: int | None = None,
        to_seq: int | None = None,
        order: str = "asc",
        limit: int | None = None,
    ) -> list[UsageRow]:
        """See :meth:`~sessionstore.storage.Readers.scan_usage`."""
        return self.around_read(
            lambda: self.inner.scan_usage(from_seq=from_seq, to_seq=to_seq, order=order, limit=limit)
        )

    def get_stats(self) -> SessionStats:
        """See :meth:`~sessionstore.storage.Readers.get_stats`."""
        return self.around_read(self.inner.get_stats)


class InstrumentedStorage(StorageWrapper):
    """Records what the store around which it is put has committed.

    A step is one write as it was captured: a record, a deletion or a retirement
    (:mod:`sessionstore.plan`), with its final number. Nothing is recorded of a commit that failed.
    """

    def __init__(self, inner: Storage) -> None:
        super().__init__(inner)
        self._guard = threading.Lock()
        self._plans: list[CommitPlan] = []

    @property
    def commits(self) -> list[tuple[Step, ...]]:
        """The writes of each commit so far, empty ones left out, in the order of their numbers."""
        with self._guard:
            return [plan.steps for plan in self._plans]

    @property
    def steps(self) -> list[Step]:
        """The writes so far, in exactly the order in which the session has them."""
        return [step for steps in self.commits for step in steps]

    def around_commit(self, writes: Sequence[Write[Any]], commit: Callable[[], CommitResult]) -> CommitResult:
        """Capture the writes as soon as they are committed."""
        result = commit()
        try:
            plan = plan_commit(writes)
        except SessionStoreError as error:
            raise AssertionError(f"the store has committed what the rules refuse: {error}") from error
        if plan.count:
            self._record(plan.numbered(result.first_seq, result.timestamp))
        return result

    def _record(self, plan: CommitPlan) -> None:
        with self._guard:
            # Threads come back from their commits in any order; the numbers have the one that counts.
            insort(self._plans, plan, key=_first_seq)


def _first_seq(plan: CommitPlan) -> int:
    return plan.steps[0].seq


_W = TypeVar("_W", bound=Storage)


def session_over(session: Session, wrap: Callable[[Storage], _W]) -> tuple[Session, _W]:
    """An open session whose store has a wrapper around it, and the wrapper.

    It takes the place of ``session``, which is closed along with it and should not be used.
    """
    storage = wrap(session.storage)

    def close_other(_: Session) -> None:
        session.close()

    return Session(storage, session.metadata, session.id_generator, close_other), storage
