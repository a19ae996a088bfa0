"""Records whose ids are told by number, for sessions whose entries get new ids at every reading.

A format-3 file has ids that are not kept: whoever reads it mints others, so two readings of one
file are equal but for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from sessionstore.image import SessionSnapshot
from sessionstore.jsonl.legacy import LegacySnapshot
from sessionstore.records import ElementRecord, EntryRecord, Record, UsageRecord, ValueRecord

_MINTED: Final = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b")
"""A UUIDv7, which is what is minted: alone, or as a string in JSON text."""


def mints_ids(snapshot: SessionSnapshot) -> bool:
    """Whether the entries of a snapshot have ids that no other reading gives them."""
    return isinstance(snapshot, LegacySnapshot)


def by_number(snapshot: SessionSnapshot) -> Callable[[Record], Record]:
    """A function that replaces each minted id in a record of ``snapshot`` by ``#`` and its number."""
    numbers = {entry.id: f"#{entry.seq}" for entry in snapshot.structure()}

    def told(text: str) -> str:
        return _MINTED.sub(lambda match: numbers.get(match[0], match[0]), text)

    def translate(record: Record) -> Record:
        match record:
            case EntryRecord():
                parent = None if record.parent_id is None else told(record.parent_id)
                return replace(record, id=told(record.id), parent_id=parent, payload=told(record.payload))
            case UsageRecord():
                return replace(record, id=f"#{record.seq}")
            case ValueRecord():
                return replace(record, key=told(record.key), value=told(record.value))
            case ElementRecord():
                return record

    return translate
