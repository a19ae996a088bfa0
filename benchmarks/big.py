"""Sessions of any size, made at once from a stream of records."""

from __future__ import annotations

import json
from collections.abc import Iterator

from benchmarks.work import MESSAGE
from sessionstore import SessionMetadata, SessionRepo, SessionStats
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.records import IDLE_LANE_STATE, EntryRecord, Record, ValueRecord

_MADE_AT = 1_700_000_000_000


def big_session(repo: SessionRepo, entries: int, id: str | None = None) -> SessionMetadata:
    """A session of one configured branch, ``main``; its entries are ``big-1`` to ``big-N``."""
    header = ImageHeader(
        id or repo.id_generator.next(), _MADE_AT, entries + 10, SessionStats(message_count=entries)
    )
    return repo.load(SessionImage(header, _records(entries)))


def tip_of(entries: int) -> str:
    """The id of the last entry."""
    return f"big-{entries:07}"


def _records(entries: int) -> Iterator[Record]:
    payload = json.dumps({"message": MESSAGE}, separators=(",", ":"))
    tip = None
    for number in range(1, entries + 1):
        id = tip_of(number)
        yield EntryRecord(id, tip, number, _MADE_AT, "message", None, payload)
        tip = id
    yield ValueRecord("", "pi.branch.tip", "main", entries + 1, json.dumps(tip))
    yield ValueRecord("", "pi.lane.config", "main", entries + 2, "{}")
    yield ValueRecord("", "pi.lane.state", "main", entries + 3, IDLE_LANE_STATE)
