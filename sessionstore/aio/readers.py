"""The reads of the async facade, each one hand-over to the sync call of the same name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, TypeVar

from sessionstore.address import Value, ValueList
from sessionstore.entries import Entry, EntryStructure, ListElement, StoredValue, UsageRow
from sessionstore.mutation import SessionReaders
from sessionstore.usage import SessionStats

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


class _Readers(Protocol):
    """What sessions, mutations and storages can all be asked."""

    def get_value(self, address: Value[T, Any]) -> StoredValue[T] | None: ...

    def scan_values(self, prefix: Value[T, Any]) -> list[StoredValue[T]]: ...

    def read_list(
        self,
        address: ValueList[T, Any],
        *,
        cursor: int | None = None,
        order: str = "asc",
        limit: int | None = None,
        stop_at_tag: str | None = None,
    ) -> list[ListElement[T]]: ...

    def get_entries(self, ids: Sequence[str]) -> dict[str, Entry]: ...

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
    ) -> list[Entry]: ...

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
    ) -> list[EntryStructure]: ...

    def scan_usage(
        self,
        *,
        from_seq: int | None = None,
        to_seq: int | None = None,
        order: str = "asc",
        limit: int | None = None,
    ) -> list[UsageRow]: ...

    def get_stats(self) -> SessionStats: ...


class AsyncReaders(ABC):
    """The reads that sessions, mutations and storages share."""

    def __init__(self, readers: _Readers) -> None:
        self._readers = readers

    @abstractmethod
    async def _read(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a sync read in a worker once its turn has come."""

    async def get_value(self, address: Value[T, Any]) -> StoredValue[T] | None:
        """See :meth:`Session.get_value <sessionstore.Session.get_value>`."""
        return await self._read(self._readers.get_value, address)

    async def scan_values(self, prefix: Value[T, Any]) -> list[StoredValue[T]]:
        """See :meth:`Session.scan_values <sessionstore.Session.scan_values>`."""
        return await self._read(self._readers.scan_values, prefix)

    async def read_list(
        self,
        address: ValueList[T, Any],
        *,
        cursor: int | None = None,
        order: str = "asc",
        limit: int | None = None,
        stop_at_tag: str | None = None,
    ) -> list[ListElement[T]]:
        """See :meth:`Session.read_list <sessionstore.Session.read_list>`."""
        return await self._read(
            self._readers.read_list,
            address,
            cursor=cursor,
            order=order,
            limit=limit,
            stop_at_tag=stop_at_tag,
        )

    async def get_entries(self, ids: Sequence[str]) -> dict[str, Entry]:
        """See :meth:`Session.get_entries <sessionstore.Session.get_entries>`."""
        return await self._read(self._readers.get_entries, ids)

    async def scan_branch(
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
        """See :meth:`Session.scan_branch <sessionstore.Session.scan_branch>`."""
        return await self._read(
            self._readers.scan_branch,
            start,
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=limit,
            cursor=cursor,
        )

    async def scan_branch_structure(
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
        """See :meth:`Session.scan_branch_structure <sessionstore.Session.scan_branch_structure>`."""
        return await self._read(
            self._readers.scan_branch_structure,
            start,
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=limit,
            cursor=cursor,
        )

    async def scan_usage(
        self,
        *,
        from_seq: int | None = None,
        to_seq: int | None = None,
        order: str = "asc",
        limit: int | None = None,
    ) -> list[UsageRow]:
        """See :meth:`Session.scan_usage <sessionstore.Session.scan_usage>`."""
        return await self._read(
            self._readers.scan_usage, from_seq=from_seq, to_seq=to_seq, order=order, limit=limit
        )

    async def get_stats(self) -> SessionStats:
        """See :meth:`Session.get_stats <sessionstore.Session.get_stats>`."""
        return await self._read(self._readers.get_stats)


class AsyncSessionReaders(AsyncReaders):
    """The reads that a session and a mutation share."""

    def __init__(self, readers: SessionReaders) -> None:
        super().__init__(readers)
        self._session_readers = readers

    async def get_entry(self, id: str) -> Entry | None:
        """See :meth:`Session.get_entry <sessionstore.Session.get_entry>`."""
        return await self._read(self._session_readers.get_entry, id)

    async def find_entries(
        self,
        *,
        type: str | None = None,
        custom_type: str | None = None,
        order: str = "desc",
        limit: int | None = None,
        cursor: int | None = None,
    ) -> list[Entry]:
        """See :meth:`Session.find_entries <sessionstore.Session.find_entries>`."""
        return await self._read(
            self._session_readers.find_entries,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=limit,
            cursor=cursor,
        )

    async def find_entry(
        self,
        *,
        type: str | None = None,
        custom_type: str | None = None,
        order: str = "desc",
        cursor: int | None = None,
    ) -> Entry | None:
        """See :meth:`Session.find_entry <sessionstore.Session.find_entry>`."""
        return await self._read(
            self._session_readers.find_entry,
            type=type,
            custom_type=custom_type,
            order=order,
            cursor=cursor,
        )
