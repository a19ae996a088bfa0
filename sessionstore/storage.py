"""The contract of one session's store, and the base that every backend builds on.

:class:`Storage` is what callers may rely on. :class:`StorageBase` keeps the rules: it checks the
options of reads, folds writes into a plan, admits commits in order, and turns records into what
callers see. A backend implements the abstract methods, which know records and places only.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from sessionstore.address import Place, Value, ValueList
from sessionstore.entries import (
    CommitResult,
    Entry,
    EntryStructure,
    ListElement,
    StoredValue,
    UsageRow,
)
from sessionstore.errors import (
    InvalidAddressError,
    InvalidQueryError,
    TransactionConflictError,
    UnknownEntryError,
)
from sessionstore.image import SessionSnapshot
from sessionstore.line import ActivityGate, Line, take_granted
from sessionstore.plan import CommitPlan, plan_commit
from sessionstore.queries import (
    BranchQuery,
    ListQuery,
    ScanQuery,
    branch_query,
    list_query,
    scan_query,
    select_branch,
    up_to_tag,
)
from sessionstore.records import (
    ElementRecord,
    EntryRecord,
    UsageRecord,
    ValueRecord,
    element_of,
    entry_of,
    stored_value_of,
    structure_of,
    usage_row_of,
)
from sessionstore.scope import EphemeralScope, SessionScope
from sessionstore.usage import SessionStats
from sessionstore.writes import Write

T = TypeVar("T")


class Readers(Protocol):
    """What can be read of a session; reads see committed state only."""

    def get_value(self, address: Value[T, Any]) -> StoredValue[T] | None:
        """The value at ``address`` with the number of its last set, or None."""
        ...

    def scan_values(self, prefix: Value[T, Any]) -> list[StoredValue[T]]:
        """Values of exactly this namespace and scope whose key starts with the bound key.

        In ascending order of Unicode code points.
        """
        ...

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
        element that bears ``stop_at_tag``. A cursor is a number, not a snapshot.
        """
        ...

    def get_entries(self, ids: Sequence[str]) -> dict[str, Entry]:
        """The entries that exist, in the order asked for; any number of ids."""
        ...

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
        ...

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
        ...

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
        """Entries of the whole session by ``seq``; bounds are inclusive."""
        ...

    def scan_usage(
        self,
        *,
        from_seq: int | None = None,
        to_seq: int | None = None,
        order: str = "asc",
        limit: int | None = None,
    ) -> list[UsageRow]:
        """Rows of the ledger by ``seq``; bounds are inclusive."""
        ...

    def get_stats(self) -> SessionStats:
        """Message count and the sum of the ledger."""
        ...


class Storage(Readers, Protocol):
    """One session's store.

    ``commit`` applies writes all or none, in order, after the commits admitted before. It raises
    ``MixedScopeError``, ``InvalidValueError``, ``InvalidAddressError``, ``DuplicateIdError``,
    ``MissingParentError``, ``SessionNotFoundError`` (it was deleted), and
    ``TransactionConflictError`` when ``expected_seq`` is not the number that the first write would
    get. Nothing was written then; only ``CommitOutcomeUnknownError`` leaves that open.
    """

    @overload
    def commit(
        self, writes: Sequence[Write[SessionScope]], *, expected_seq: int | None = None
    ) -> CommitResult: ...
    @overload
    def commit(
        self, writes: Sequence[Write[EphemeralScope]], *, expected_seq: int | None = None
    ) -> CommitResult: ...

    def next_seq(self) -> int:
        """The number that the next write would get now."""
        ...

    def close(self) -> None:
        """Let admitted commits and reads finish, then release the store's resources."""
        ...


CommitObserver: TypeAlias = Callable[
    [tuple[Write[Any], ...], Callable[[tuple[Write[Any], ...]], CommitResult]], CommitResult
]
"""Called around every commit, with its writes and what commits them."""

_observer: CommitObserver | None = None


def observe_commits(observer: CommitObserver | None) -> None:
    """Have ``observer`` called around every commit of this process from now on; None for nobody."""
    global _observer  # noqa: PLW0603  # the one switch, read by every commit
    _observer = observer


class StorageBase(ABC):
    """The rules of :class:`Storage`, over the records that a backend keeps."""

    def __init__(self, what: str) -> None:
        self._line = Line(what)
        self._gate = ActivityGate(what)
        self._releasing = threading.Lock()
        self._released = False

    # -- commits ---------------------------------------------------------------------------

    @overload
    def commit(
        self, writes: Sequence[Write[SessionScope]], *, expected_seq: int | None = None
    ) -> CommitResult: ...
    @overload
    def commit(
        self, writes: Sequence[Write[EphemeralScope]], *, expected_seq: int | None = None
    ) -> CommitResult: ...
    def commit(self, writes: Sequence[Write[Any]], *, expected_seq: int | None = None) -> CommitResult:
        """Apply ``writes`` all or none, in order, after the commits admitted before.

        With ``expected_seq`` the transaction fails with ``TransactionConflictError`` unless that
        is the number which its first write gets: unless nobody has committed since it was read.
        """
        if _observer is not None:
            return _observer(tuple(writes), partial(self._commit, expected_seq=expected_seq))
        return self._commit(writes, expected_seq=expected_seq)

    def _commit(self, writes: Sequence[Write[Any]], *, expected_seq: int | None) -> CommitResult:
        with self._gate.visit():
            ticket = take_granted() or self._line.enqueue()
            try:
                plan = plan_commit(writes)
                ticket.wait()
                return self._apply(plan, expected_seq)
            finally:
                ticket.release()

    @property
    def line(self) -> Line:
        """The commit line. A turn on it that is given as ``granted_ticket`` is the next commit's."""
        return self._line

    def commit_turn(self) -> AbstractContextManager[None]:
        """Hold the commit line: nothing is committed inside the ``with`` block.

        What a fork takes its boundary in.
        """
        return self._line.turn()

    def next_seq(self) -> int:
        """The number that the next write would get now."""
        with self._gate.visit():
            return self._next_seq()

    def close(self) -> None:
        """Let admitted commits and reads finish, then release the store's resources; idempotent."""
        self._gate.check_process()
        self._line.seal()
        self._gate.seal()
        self._line.drain()
        self._gate.drain()
        with self._releasing:
            if not self._released:
                self._released = True
                self._release()

    # -- reads -----------------------------------------------------------------------------

    def get_value(self, address: Value[T, Any]) -> StoredValue[T] | None:
        """See :meth:`Readers.get_value`."""
        _check_kind(address, Value)
        with self._gate.visit():
            record = self._value(address.place)
        return None if record is None else stored_value_of(address, record)

    def scan_values(self, prefix: Value[T, Any]) -> list[StoredValue[T]]:
        """See :meth:`Readers.scan_values`."""
        _check_kind(prefix, Value)
        with self._gate.visit():
            records = self._values(prefix.place)
        return [stored_value_of(prefix.at_key(record.key), record) for record in records]

    def read_list(
        self,
        address: ValueList[T, Any],
        *,
        cursor: int | None = None,
        order: str = "asc",
        limit: int | None = None,
        stop_at_tag: str | None = None,
    ) -> list[ListElement[T]]:
        """See :meth:`Readers.read_list`."""
        _check_kind(address, ValueList)
        query = list_query(cursor=cursor, order=order, limit=limit, stop_at_tag=stop_at_tag)
        with self._gate.visit():
            page = self._elements(address.place, query)
        return [element_of(address, record) for record in up_to_tag(page, query.stop_at_tag)]

    def get_entries(self, ids: Sequence[str]) -> dict[str, Entry]:
        """See :meth:`Readers.get_entries`."""
        wanted = _check_ids(ids)
        with self._gate.visit():
            found = self._entries_by_id(wanted)
        return {id: entry_of(found[id]) for id in wanted if id in found}

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
        """See :meth:`Readers.scan_branch`."""
        query = branch_query(
            start,
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        with self._gate.visit():
            records = list(select_branch(self._branch(query), query))
        return [entry_of(record) for record in records]

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
        """See :meth:`Readers.scan_branch_structure`."""
        query = branch_query(
            start,
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=limit,
            cursor=cursor,
        )
        with self._gate.visit():
            return list(select_branch(self._branch_structure(query), query))

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
        """See :meth:`Readers.scan_entries`."""
        query = scan_query(
            type=type,
            custom_type=custom_type,
            from_seq=from_seq,
            to_seq=to_seq,
            order=order,
            limit=limit,
        )
        with self._gate.visit():
            records = self._entries(query)
        return [entry_of(record) for record in records]

    def scan_usage(
        self,
        *,
        from_seq: int | None = None,
        to_seq: int | None = None,
        order: str = "asc",
        limit: int | None = None,
    ) -> list[UsageRow]:
        """See :meth:`Readers.scan_usage`."""
        query = scan_query(from_seq=from_seq, to_seq=to_seq, order=order, limit=limit)
        with self._gate.visit():
            records = self._usage_rows(query)
        return [usage_row_of(record) for record in records]

    def get_stats(self) -> SessionStats:
        """See :meth:`Readers.get_stats`."""
        with self._gate.visit():
            return self._stats()

    # -- what a backend implements -----------------------------------------------------------

    @abstractmethod
    def _apply(self, plan: CommitPlan, expected_seq: int | None) -> CommitResult:
        """Prove the plan's ids and parents, number it and write it, all or none.

        Called in admission order, one at a time. Raises ``DuplicateIdError``,
        ``MissingParentError``, ``TransactionConflictError`` (``expected_seq`` given and not the
        number of the first write), ``SessionNotFoundError`` (the session was deleted). An empty
        plan writes nothing; its result names the next number.
        """

    @abstractmethod
    def _next_seq(self) -> int: ...

    @abstractmethod
    def _value(self, place: Place) -> ValueRecord | None: ...

    @abstractmethod
    def _values(self, prefix: Place) -> list[ValueRecord]:
        """Values of the place's scope and namespace whose key starts with its key, sorted by key."""

    @abstractmethod
    def _elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        """At most ``query.limit`` elements in read order; ``stop_at_tag`` is applied by the base."""

    @abstractmethod
    def _entries_by_id(self, ids: Sequence[str]) -> dict[str, EntryRecord]: ...

    @abstractmethod
    def _branch(self, query: BranchQuery) -> Iterator[EntryRecord]:
        """The path in read order, consumed no further than needed.

        The base stops, filters and limits; a backend may leave out what those would drop anyway.
        Raises ``UnknownEntryError`` at the call, not at the first step, for an unknown start.
        """

    def _branch_structure(self, query: BranchQuery) -> Iterator[EntryStructure]:
        """The same without payloads; a backend that can avoid reading them overrides this."""
        return map(structure_of, self._branch(query))

    @abstractmethod
    def _entries(self, query: ScanQuery) -> list[EntryRecord]: ...

    @abstractmethod
    def _usage_rows(self, query: ScanQuery) -> list[UsageRecord]: ...

    @abstractmethod
    def _stats(self) -> SessionStats: ...

    @abstractmethod
    def snapshot(self) -> AbstractContextManager[SessionSnapshot]:
        """The session as of one boundary between two commits, open for reading.

        Its records are read inside the ``with`` block; commits go on meanwhile.
        """

    @abstractmethod
    def _release(self) -> None:
        """Release resources; called once, when nothing runs any more."""


def unknown_entry(id: str) -> UnknownEntryError:
    """The error for a read or a branch that names an entry which does not exist."""
    return UnknownEntryError(f"no entry {id!r} in this session")


def conflict_error(expected_seq: int, first_seq: int) -> TransactionConflictError:
    """The error of a transaction that was overtaken: its first number is not the expected one."""
    return TransactionConflictError(
        f"somebody else committed first: number {expected_seq} was expected to be next, "
        f"it is {first_seq}. Nothing was written; read again and retry"
    )


def _check_kind(address: object, wanted: type[Value[Any, Any]] | type[ValueList[Any, Any]]) -> None:
    if not isinstance(address, wanted):
        raise InvalidAddressError(f"a {wanted.__name__} address is needed, not {address!r}")


def _check_ids(ids: Sequence[str]) -> list[str]:
    if isinstance(ids, str):
        raise InvalidQueryError("get_entries takes a sequence of ids; wrap a single one in a list")
    wanted = list(ids)
    for id in wanted:
        if not isinstance(id, str):
            raise InvalidQueryError(f"an entry id must be a str, not a {type(id).__name__}")
    return wanted
