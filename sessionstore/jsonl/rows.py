"""Between the records of a line and the records that all stores share."""

from __future__ import annotations

from msgspec import UNSET, Raw, UnsetType

from sessionstore.entries import EntryStructure
from sessionstore.jsonl.codec import EntryLine, PlainEntry, UsageLine
from sessionstore.records import EntryRecord, UsageRecord


def entry_record(row: EntryLine) -> EntryRecord:
    """The record of an entry."""
    return EntryRecord(
        row.id, row.parent_id, row.seq, row.timestamp, row.type, row.custom_type, row.payload.decode()
    )


def entry_structure(row: EntryLine | PlainEntry) -> EntryStructure:
    """The entry without its payload."""
    custom_type = row.custom_type if row.type == "custom" and isinstance(row.custom_type, str) else None
    return EntryStructure(row.id, row.parent_id, row.seq, row.timestamp, row.type, custom_type)


def usage_record(row: UsageLine) -> UsageRecord:
    """The record of a ledger row."""
    details = None if isinstance(row.details, UnsetType) else str(row.details, "utf-8")
    return UsageRecord(row.id, row.seq, row.entry_id, row.adjustment, str(row.usage, "utf-8"), details)


def entry_row(record: EntryRecord) -> EntryLine:
    """The row of an entry record."""
    return EntryLine(
        record.id,
        record.parent_id,
        record.seq,
        record.timestamp,
        record.type,
        record.custom_type,
        record.payload.encode(),
    )


def usage_row(record: UsageRecord) -> UsageLine:
    """The row of a ledger record."""
    details = UNSET if record.details is None else Raw(record.details)
    return UsageLine(record.id, record.seq, Raw(record.usage), record.adjustment, record.entry_id, details)
