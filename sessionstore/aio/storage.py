"""A session's store in an event loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, overload

from sessionstore.aio.admission import Admission
from sessionstore.aio.readers import AsyncReaders
from sessionstore.entries import CommitResult, Entry
from sessionstore.scope import EphemeralScope, SessionScope
from sessionstore.storage import Storage
from sessionstore.writes import Write

R = TypeVar("R")
P = ParamSpec("P")


class AsyncStorage(AsyncReaders):
    """What :class:`~sessionstore.storage.Storage` says, awaited. Given by :attr:`AsyncSession.storage`."""

    def __init__(self, storage: Storage, admission: Admission) -> None:
        super().__init__(storage)
        self._storage = storage
        self._admission = admission

    async def _read(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._admission.read(call, *args, **kwargs)

    @overload
    async def commit(
        self, writes: Sequence[Write[SessionScope]], *, expected_seq: int | None = None
    ) -> CommitResult: ...
    @overload
    async def commit(
        self, writes: Sequence[Write[EphemeralScope]], *, expected_seq: int | None = None
    ) -> CommitResult: ...
    async def commit(self, writes: Sequence[Write[Any]], *, expected_seq: int | None = None) -> CommitResult:
        """See :meth:`Storage.commit <sessionstore.Storage.commit>`.

        It works below the mutation line: its place on the commit line is taken at the call, so
        commits of this storage are made in call order, but in no order beside those of writes of
        the session that are under way.
        """
        return await self._admission.write_below(self._storage.commit, writes, expected_seq=expected_seq)

    async def scan_entries(
        self,
        *,
        type: str | None = None,
        custom_type: str | None = None,
        from_seq: int | None = None,
        to_seq: int | None = None,
        order: str = "asc",
        limit: int | None = None,
    ) -> list[Entry]:
        """See :meth:`Storage.scan_entries <sessionstore.Storage.scan_entries>`."""
        return await self._read(
            self._storage.scan_entries,
            type=type,
            custom_type=custom_type,
            from_seq=from_seq,
            to_seq=to_seq,
            order=order,
            limit=limit,
        )

    async def next_seq(self) -> int:
        """See :meth:`Storage.next_seq <sessionstore.Storage.next_seq>`."""
        return await self._read(self._storage.next_seq)

    async def close(self) -> None:
        """See :meth:`Storage.close <sessionstore.Storage.close>`."""
        await self._admission.close_below(self._storage.close)
