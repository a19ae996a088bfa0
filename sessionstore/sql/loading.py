"""A session made from a stream of records, batch by batch, in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from sessionstore.errors import CorruptStorageError, DuplicateIdError
from sessionstore.image import ImageHeader
from sessionstore.metadata import SessionMetadata
from sessionstore.records import ElementRecord, EntryRecord, Record, UsageRecord, ValueRecord
from sessionstore.sql.applying import find_nodes
from sessionstore.sql.branch_index import Placement
from sessionstore.sql.link import Link
from sessionstore.sql.rows import element_row, entry_rows, session_row, usage_row, value_row
from sessionstore.sql.statements import Statements

BATCH_ROWS: Final = 500
BATCH_CHARACTERS: Final = 1_000_000
"""A batch is written when it has this many rows or characters of payload."""


def load_session(
    link: Link,
    statements: Statements,
    metadata: SessionMetadata,
    header: ImageHeader,
    records: Iterable[Record],
) -> None:
    """Write a whole session inside the transaction of ``link``; the id is known to be free.

    Raises ``DuplicateIdError``, ``MissingParentError`` and ``CorruptStorageError`` for records that
    break the rules.
    """
    link.run(statements.insert_session, session_row(metadata, header.stats, header.next_seq))
    load_records(link, statements, metadata.id, header.next_seq, records)


def load_records(
    link: Link, statements: Statements, session_id: str, next_seq: int, records: Iterable[Record]
) -> None:
    """Write records of a session whose row is there."""
    loader = _Loader(link, statements, session_id)
    for batch in _batches(records):
        last = batch[-1].seq
        if last >= next_seq:
            raise CorruptStorageError(
                f"session {session_id!r}: a record has the number {last}, "
                f"but the next number is given as {next_seq}"
            )
        loader.write(batch)


def _batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Runs of records of one kind, in the given order."""
    batch: list[Record] = []
    size = 0
    for record in records:
        if batch and (
            type(record) is not type(batch[-1]) or len(batch) >= BATCH_ROWS or size >= BATCH_CHARACTERS
        ):
            yield batch
            batch, size = [], 0
        batch.append(record)
        size += _size(record)
    if batch:
        yield batch


def _size(record: Record) -> int:
    match record:
        case EntryRecord():
            return len(record.payload)
        case UsageRecord():
            return len(record.usage) + len(record.details or "")
        case ValueRecord() | ElementRecord():
            return len(record.value)


class _Loader:
    """Writes batches, each of one kind."""

    def __init__(self, link: Link, statements: Statements, session_id: str) -> None:
        self._link = link
        self._statements = statements
        self._id = session_id

    def write(self, batch: list[Record]) -> None:
        """Write a batch."""
        entries = [record for record in batch if isinstance(record, EntryRecord)]
        rows = [record for record in batch if isinstance(record, UsageRecord)]
        values = [record for record in batch if isinstance(record, ValueRecord)]
        elements = [record for record in batch if isinstance(record, ElementRecord)]
        if entries:
            self._write_entries(entries)
        if rows:
            self._check_new([row.id for row in rows])
            self._link.run_many(self._statements.insert_usage, [usage_row(self._id, row, 0) for row in rows])
        if values:
            self._link.run_many(
                self._statements.set_values, [value_row(self._id, value, 0) for value in values]
            )
        if elements:
            self._link.run_many(
                self._statements.append_elements, [element_row(self._id, element, 0) for element in elements]
            )

    def _write_entries(self, entries: list[EntryRecord]) -> None:
        # Parents of earlier batches are looked up in the database: no index is kept in memory.
        own = self._check_new([entry.id for entry in entries])
        outside = {entry.parent_id for entry in entries if entry.parent_id is not None} - own
        _, known = find_nodes(self._link, self._statements, self._id, list(outside))
        self._link.run_many(self._statements.insert_entries, entry_rows(self._id, entries, Placement(known)))

    def _check_new(self, ids: list[str]) -> set[str]:
        distinct = set(ids)
        taken, _ = find_nodes(self._link, self._statements, self._id, ids)
        if taken or len(distinct) < len(ids):
            repeated = next(iter(taken), None) or next(id for id in ids if ids.count(id) > 1)
            raise DuplicateIdError(f"the id {repeated!r} is used twice in session {self._id!r}")
        return distinct
