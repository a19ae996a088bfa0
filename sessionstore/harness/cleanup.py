"""What the terminal transaction of an operation deletes and ends."""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, overload

from sessionstore import builtin
from sessionstore.address import Value
from sessionstore.aio import AsyncReaders
from sessionstore.entries import StoredValue
from sessionstore.errors import InvalidQueryError
from sessionstore.scope import SessionScope, ephemeral_scope
from sessionstore.writes import Write, delete_value, retire_scope

T = TypeVar("T")

SessionWrites: TypeAlias = list[Write[SessionScope]]


class _Reader(Protocol):
    def scan_values(self, prefix: Value[T, Any]) -> list[StoredValue[T]]: ...


@overload
def operation_cleanup_writes(
    reader: _Reader, operation: str, pending_entry_ids: Iterable[str] = ()
) -> SessionWrites: ...
@overload
def operation_cleanup_writes(
    reader: AsyncReaders, operation: str, pending_entry_ids: Iterable[str] = ()
) -> Coroutine[Any, Any, SessionWrites]: ...
def operation_cleanup_writes(
    reader: _Reader | AsyncReaders, operation: str, pending_entry_ids: Iterable[str] = ()
) -> SessionWrites | Coroutine[Any, Any, SessionWrites]:
    """The deletes and the one retirement of an operation's terminal transaction.

    They delete its meta, its state, its tool arguments and preparations, and the pending entries
    named; its result and the lane state are the caller's to write beside them. Read with the
    mutation that commits them, so that nothing is added in between. Scans no ephemeral state.
    """
    if isinstance(pending_entry_ids, str):
        raise InvalidQueryError("pending_entry_ids are several ids; wrap a single one in a list")
    pending = [builtin.pending_entry(id) for id in pending_entry_ids]
    prefixes = _prefixes(operation)
    if isinstance(reader, AsyncReaders):
        return _read_async(reader, operation, prefixes, pending)
    return _writes(operation, [reader.scan_values(prefix) for prefix in prefixes], pending)


async def _read_async(
    reader: AsyncReaders,
    operation: str,
    prefixes: Sequence[Value[Any, SessionScope]],
    pending: Sequence[Value[Any, SessionScope]],
) -> SessionWrites:
    return _writes(operation, [await reader.scan_values(prefix) for prefix in prefixes], pending)


def _prefixes(operation: str) -> Sequence[Value[Any, SessionScope]]:
    return (
        builtin.operation_tool_args_prefix(operation),
        builtin.operation_preparation_prefix(operation),
    )


def _writes(
    operation: str,
    scans: Sequence[Sequence[StoredValue[Any]]],
    pending: Sequence[Value[Any, SessionScope]],
) -> SessionWrites:
    addresses: list[Value[Any, SessionScope]] = [
        builtin.operation_meta(operation),
        builtin.operation_state(operation),
        *(found.address for scan in scans for found in scan),
        *pending,
    ]
    return [*map(delete_value, addresses), retire_scope(ephemeral_scope(operation))]
