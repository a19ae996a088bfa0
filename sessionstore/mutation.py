"""The reads of a session, and the mutation: the right to read and then commit once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from sessionstore.address import Value, ValueList
from sessionstore.entries import (
    CommitResult,
    Entry,
    EntryStructure,
    ListElement,
    StoredValue,
    UsageRow,
)
from sessionstore.errors import (
    MutationError,
)
from sessionstore.line import Ticket
from sessionstore.queries import find_query
from sessionstore.scope import EphemeralScope, Scope, SessionScope
from sessionstore.storage import Storage
from sessionstore.usage import SessionStats
from sessionstore.writes import (
    Write,
)

T = TypeVar("T")
R = TypeVar("R")
Sc = TypeVar("Sc", bound=Scope)


class SessionReaders:
    """The reads that a session and a mutation share."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def _readable(self) -> Storage:
        """The storage, when reading is still allowed."""
        return self._storage

    def get_value(self, address: Value[T, Any]) -> StoredValue[T] | None:
        """The value at ``address`` with the number of its last set, or None."""
        return self._readable().get_value(address)

    def scan_values(self, prefix: Value[T, Any]) -> list[StoredValue[T]]:
        """Values of this namespace and scope whose key starts with the bound key.

        In ascending order of Unicode code points.
        """
        return self._readable().scan_values(prefix)

    def read_list(
        self,
        address: ValueList[T, Any],
        *,
        cursor: int | None = None,
        order: str = "asc",
        limit: int | None = None,
        stop_at_tag: str | None = None,
    ) -> list[ListElement[T]]:
        """One page of a list: ``seq > cursor`` ascending, ``seq < cursor`` descending.

        ``limit`` is 1,000 by default and at most 10,000. The page ends right after the first
        element that bears ``stop_at_tag``.
        """
        return self._readable().read_list(
            address, cursor=cursor, order=order, limit=limit, stop_at_tag=stop_at_tag
        )

    def get_entry(self, id: str) -> Entry | None:
        """The entry, or None."""
        return self._readable().get_entries([id]).get(id)

    def get_entries(self, ids: Sequence[str]) -> dict[str, Entry]:
        """The entries that exist, in the order asked for; any number of ids."""
        return self._readable().get_entries(ids)

    def find_entries(
        self,
        *,
        type: str | None = None,
        custom_type: str | None = None,
        order: str = "desc",
        limit: int | None = None,
        cursor: int | None = None,
    ) -> list[Entry]:
        """Entries of the whole session, newest first by default; ``cursor`` is an exclusive seq."""
        query = find_query(type=type, custom_type=custom_type, order=order, limit=limit, cursor=cursor)
        return self._readable().scan_entries(
            type=query.type,
            custom_type=query.custom_type,
            from_seq=query.from_seq,
            to_seq=query.to_seq,
            order=query.order,
            limit=query.limit,
        )

    def find_entry(
        self,
        *,
        type: str | None = None,
        custom_type: str | None = None,
        order: str = "desc",
        cursor: int | None = None,
    ) -> Entry | None:
        """The first entry that :meth:`find_entries` would give, or None."""
        found = self.find_entries(type=type, custom_type=custom_type, order=order, limit=1, cursor=cursor)
        return found[0] if found else None

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
        """The path from ``start`` to its root: ordered, stopped (inclusive), filtered, paged.

        Raises ``UnknownEntryError`` when ``start`` does not exist.
        """
        return self._readable().scan_branch(
            start,
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=limit,
            cursor=cursor,
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
        """The same as :meth:`scan_branch` without payloads."""
        return self._readable().scan_branch_structure(
            start,
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=limit,
            cursor=cursor,
        )

    def get_stats(self) -> SessionStats:
        """Message count and the sum of the ledger."""
        return self._readable().get_stats()

    def scan_usage(
        self,
        *,
        from_seq: int | None = None,
        to_seq: int | None = None,
        order: str = "asc",
        limit: int | None = None,
    ) -> list[UsageRow]:
        """Rows of the ledger by ``seq``; bounds are inclusive."""
        return self._readable().scan_usage(from_seq=from_seq, to_seq=to_seq, order=order, limit=limit)


class SessionMutation(SessionReaders):
    """The right to read and then commit once, while nobody else of this session does.

    ``expected_seq`` is the number that the commit must get: the one that was next when the
    mutation began. A commit that gets another one has been overtaken by somebody who does not use
    this session's line, and fails with ``TransactionConflictError``.
    """

    def __init__(self, storage: Storage, ticket: Ticket, expected_seq: int | None) -> None:
        super().__init__(storage)
        self._ticket = ticket
        self._expected_seq = expected_seq
        self._use = threading.Lock()
        self._attempted = False
        self._ended = False

    def _readable(self) -> Storage:
        if self._ended:
            raise MutationError("this mutation has ended; begin another one")
        return self._storage

    @overload
    def commit(self, writes: Sequence[Write[SessionScope]]) -> CommitResult: ...
    @overload
    def commit(self, writes: Sequence[Write[EphemeralScope]]) -> CommitResult: ...
    def commit(self, writes: Sequence[Write[Any]]) -> CommitResult:
        """Commit ``writes``; the one attempt that a mutation has, refused and empty ones included.

        Raises ``MutationError`` at a second attempt or after the end, ``TransactionConflictError``
        when anybody else committed since the mutation began.
        """
        with self._use:
            storage = self._readable()
            if self._attempted:
                raise MutationError("this mutation has made its commit; begin another one")
            self._attempted = True
            return storage.commit(writes, expected_seq=self._expected_seq)

    def end(self) -> None:
        """Wait for a running commit, end the capability and let the next mutation in; idempotent."""
        with self._use:
            self._ended = True
        self._ticket.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()
