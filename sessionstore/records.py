"""What stores keep: records whose payloads are JSON text, written once and never respelled.

The payload of an entry is one JSON object with the fields of its type in their JSON names, as in
a format-4 line: ``{"message": …}``, ``{"data": …}``, ``{"summary": …, "retainedTail": …}``.
"""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, cast

import msgspec

from sessionstore import json_text
from sessionstore.address import Place, T, Value, ValueList
from sessionstore.entries import (
    ABSENT,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    Entry,
    EntryStructure,
    EntryType,
    ListElement,
    MessageEntry,
    StoredValue,
    UsageRow,
)
from sessionstore.errors import CorruptStorageError, InvalidValueError
from sessionstore.usage import Usage, usage_from_json

LARGEST_INTEGER: Final = 2**53 - 1
"""The largest number or time that every tool reads back exactly."""

IDLE_LANE_STATE: Final = '{"currentOperationId":null,"lastOperationId":null,"inbox":[]}'
"""The state of a lane on which no operation runs, as forks and imports write it."""


class EntryRecord(msgspec.Struct, frozen=True, gc=False):
    """An entry as stored."""

    id: str
    parent_id: str | None
    seq: int
    timestamp: int
    type: EntryType
    custom_type: str | None
    payload: str

    def numbered(self, first_seq: int, timestamp: int) -> EntryRecord:
        """The same, its number counted from ``first_seq``, at ``timestamp`` (Unix ms)."""
        return EntryRecord(
            self.id,
            self.parent_id,
            first_seq + self.seq,
            timestamp,
            self.type,
            self.custom_type,
            self.payload,
        )


class UsageRecord(msgspec.Struct, frozen=True, gc=False):
    """A row of the ledger as stored; ``details`` is None when there are none."""

    id: str
    seq: int
    entry_id: str | None
    adjustment: bool
    usage: str
    details: str | None

    def numbered(self, first_seq: int, _: int) -> UsageRecord:
        """The same, its number counted from ``first_seq``."""
        return UsageRecord(
            self.id, first_seq + self.seq, self.entry_id, self.adjustment, self.usage, self.details
        )


class ValueRecord(msgspec.Struct, frozen=True, gc=False):
    """A value as stored; ``scope_id`` is ``""`` in session scope."""

    scope_id: str
    namespace: str
    key: str
    seq: int
    value: str

    def numbered(self, first_seq: int, _: int) -> ValueRecord:
        """The same, its number counted from ``first_seq``."""
        return ValueRecord(self.scope_id, self.namespace, self.key, first_seq + self.seq, self.value)


class ElementRecord(msgspec.Struct, frozen=True, gc=False):
    """A list element as stored."""

    scope_id: str
    namespace: str
    key: str
    seq: int
    value: str
    tag: str | None

    def numbered(self, first_seq: int, _: int) -> ElementRecord:
        """The same, its number counted from ``first_seq``."""
        return ElementRecord(
            self.scope_id, self.namespace, self.key, first_seq + self.seq, self.value, self.tag
        )


Record: TypeAlias = EntryRecord | UsageRecord | ValueRecord | ElementRecord
"""Whatever a session image consists of."""


def place_of(record: ValueRecord | ElementRecord) -> Place:
    """The place that a value or an element is kept at."""
    return Place(record.scope_id, record.namespace, record.key)


def structure_of(record: EntryRecord) -> EntryStructure:
    """The entry without its payload."""
    return EntryStructure(
        record.id, record.parent_id, record.seq, record.timestamp, record.type, record.custom_type
    )


def entry_of(record: EntryRecord) -> Entry:
    """The entry with its payload decoded into new objects.

    Raises :class:`~sessionstore.errors.CorruptStorageError` when the payload is not readable.
    """
    payload = _decode(record.payload, f"entry {record.id!r}")
    head = (record.id, record.parent_id, record.seq, record.timestamp)
    try:
        match record.type:
            case "message":
                return MessageEntry(*head, payload["message"], terminate_flag(payload))
            case "custom":
                return CustomEntry(*head, cast("str", record.custom_type), payload.get("data", ABSENT))
            case "compaction":
                return CompactionEntry(
                    *head,
                    payload["summary"],
                    payload["retainedTail"],
                    payload["tokensBefore"],
                    payload["fromHook"],
                    payload.get("details", ABSENT),
                    _optional_usage(payload, record.id),
                )
            case "branch_summary":
                return BranchSummaryEntry(
                    *head,
                    payload["fromId"],
                    payload["summary"],
                    payload["fromHook"],
                    payload.get("details", ABSENT),
                    _optional_usage(payload, record.id),
                )
    except (KeyError, TypeError, AttributeError, InvalidValueError) as error:
        raise CorruptStorageError(f"entry {record.id!r}: malformed payload: {error}") from error
    raise CorruptStorageError(f"entry {record.id!r}: unknown type {record.type!r}")


def terminate_flag(payload: dict[str, Any]) -> Literal[True] | None:
    """``terminate`` is true or absent."""
    return True if payload.get("terminate") is True else None


def usage_row_of(record: UsageRecord) -> UsageRow:
    """The ledger row that a record stands for."""
    return UsageRow(
        record.id,
        record.seq,
        usage_of(record),
        record.adjustment,
        record.entry_id,
        ABSENT if record.details is None else _decode(record.details, f"usage {record.id!r}"),
    )


def usage_of(record: UsageRecord) -> Usage:
    """The figures of a ledger row."""
    what = f"usage {record.id!r}"
    try:
        return usage_from_json(_decode(record.usage, what), what)
    except InvalidValueError as error:
        raise CorruptStorageError(str(error)) from error


def stored_value_of(address: Value[T, Any], record: ValueRecord) -> StoredValue[T]:
    """The value at ``address``; ``InvalidValueError`` when it does not fit the address's type."""
    return StoredValue(address, address.decode(record.value), record.seq)


def element_of(address: ValueList[T, Any], record: ElementRecord) -> ListElement[T]:
    """The list element; ``InvalidValueError`` when it does not fit the address's type."""
    return ListElement(record.seq, address.decode(record.value), record.tag)


def _optional_usage(payload: dict[str, Any], id: str) -> Usage | None:
    usage = payload.get("usage")
    return None if usage is None else usage_from_json(usage, f"usage of entry {id!r}")


def _decode(text: str, what: str) -> Any:
    try:
        return json_text.decode(text)
    except ValueError as error:
        raise CorruptStorageError(f"{what}: the stored text is not JSON: {error}") from error
