"""What must hold of every session, whatever keeps it, proven over one pass of its image.

Kept in memory are ids, places of values and numbers, never payloads.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from heapq import merge
from itertools import pairwise
from typing import Final

from sessionstore import json_text
from sessionstore.address import Place
from sessionstore.errors import CorruptStorageError, SessionStoreError
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.plan import check_message
from sessionstore.records import (
    ElementRecord,
    EntryRecord,
    Record,
    UsageRecord,
    ValueRecord,
    entry_of,
    place_of,
    usage_of,
)
from sessionstore.scope import ephemeral_scope
from sessionstore.text import KEY_LIMIT, NAMESPACE_LIMIT, check_optional_text, check_text
from sessionstore.usage import SessionStats, Usage, add_usage

MAX_PROBLEMS: Final = 50
"""Problems of one session that are told one by one; the rest is counted."""


def check_image(image: SessionImage, on_record: Callable[[], None] = lambda: None) -> tuple[int, list[str]]:
    """Read a whole image and say what is wrong with it: its number of records, and the problems.

    Proven are: text rules and limits, ids used once by entries and usage rows together, parents
    before their children, numbers that ascend within each kind, are used once in the session and
    lie below the next number, payloads that are JSON of their type, one value at each place, and
    statistics that equal the message entries and the left fold of the ledger.
    """
    check = _ImageCheck(image.header)
    count = 0
    for record in image.records:
        check.take(record)
        count += 1
        on_record()
    check.finish()
    return count, check.problems.told()


class _Problems:
    """Problems in the order in which they were found; the first ones in words."""

    def __init__(self) -> None:
        self._first: list[str] = []
        self._count = 0

    def add(self, problem: str) -> None:
        self._count += 1
        if self._count <= MAX_PROBLEMS:
            self._first.append(problem)

    def told(self) -> list[str]:
        more = self._count - len(self._first)
        return [*self._first, f"{more} more problems"] if more else self._first


class _ImageCheck:
    """The state of one pass."""

    def __init__(self, header: ImageHeader) -> None:
        self.problems = _Problems()
        self._header = header
        self._entry_ids: set[str] = set()
        self._usage_ids: set[str] = set()
        self._places: set[Place] = set()
        self._seqs: dict[type[Record], array[int]] = {
            kind: array("q") for kind in (EntryRecord, UsageRecord, ValueRecord, ElementRecord)
        }
        self._messages = 0
        self._usage = Usage()

    def take(self, record: Record) -> None:
        match record:
            case EntryRecord():
                self._take_entry(record)
            case UsageRecord():
                self._take_usage(record)
            case ValueRecord():
                self._take_value(record)
            case ElementRecord():
                self._take_element(record)

    def finish(self) -> None:
        """What only the whole image can tell."""
        highest = 0
        for before, seq in pairwise(merge((0,), *self._seqs.values())):
            if seq == before and seq > 0:
                self.problems.add(f"the number {seq} is used more than once")
            highest = max(highest, seq)
        if self._header.next_seq <= highest:
            self.problems.add(f"the next number is {self._header.next_seq}, but {highest} is used already")
        self._compare_stats(SessionStats(self._messages, self._usage))

    def _compare_stats(self, actual: SessionStats) -> None:
        stored = self._header.stats
        if stored.message_count != actual.message_count:
            self.problems.add(
                f"the statistics count {stored.message_count} messages, there are {actual.message_count}"
            )
        if stored.usage != actual.usage:
            self.problems.add("the statistics are not the sum of the ledger")

    def _take_entry(self, record: EntryRecord) -> None:
        what = f"entry {record.id!r}"
        self._number(EntryRecord, record.seq, what)
        self._text(lambda: check_text(record.id, what, limit=NAMESPACE_LIMIT))
        self._fresh_id(record.id, what)
        self._entry_ids.add(record.id)
        parent = record.parent_id
        if parent is not None and (parent == record.id or parent not in self._entry_ids):
            self.problems.add(f"{what}: the parent {parent!r} does not exist before it")
        if (record.custom_type is not None) != (record.type == "custom"):
            self.problems.add(f"{what}: a custom type belongs to custom entries, and only to them")
        if record.type == "message":
            self._messages += 1
        self._payload(record, what)

    def _payload(self, record: EntryRecord, what: str) -> None:
        if not self._json(record.payload, what):
            return
        try:
            entry = entry_of(record)
            if entry.type == "message":
                check_message(entry.message, what)
        except SessionStoreError as error:
            self.problems.add(str(error))

    def _take_usage(self, record: UsageRecord) -> None:
        what = f"usage {record.id!r}"
        self._number(UsageRecord, record.seq, what)
        self._text(lambda: check_text(record.id, what, limit=NAMESPACE_LIMIT))
        self._fresh_id(record.id, what)
        self._usage_ids.add(record.id)
        if record.details is not None:
            self._json(record.details, f"details of {what}")
        try:
            self._usage = add_usage(self._usage, usage_of(record))
        except CorruptStorageError as error:
            self.problems.add(str(error))

    def _take_value(self, record: ValueRecord) -> None:
        place = place_of(record)
        what = f"value {place}"
        self._number(ValueRecord, record.seq, what)
        self._place(place, what)
        if place in self._places:
            self.problems.add(f"{what} exists twice")
        self._places.add(place)
        self._json(record.value, what)

    def _take_element(self, record: ElementRecord) -> None:
        place = place_of(record)
        what = f"element {record.seq} of list {place}"
        self._number(ElementRecord, record.seq, what)
        self._place(place, what)
        if record.tag is not None:
            self._text(lambda: check_text(record.tag, f"tag of {what}", limit=NAMESPACE_LIMIT))
        self._json(record.value, what)

    def _number(self, kind: type[Record], seq: int, what: str) -> None:
        seqs = self._seqs[kind]
        if seq < 1:
            self.problems.add(f"{what}: {seq} is no number of a write")
        if seqs and seq <= seqs[-1]:
            self.problems.add(f"{what}: the number {seq} comes after {seqs[-1]}")
        seqs.append(seq)

    def _fresh_id(self, id: str, what: str) -> None:
        if id in self._entry_ids or id in self._usage_ids:
            self.problems.add(f"{what}: the id is used more than once")

    def _place(self, place: Place, what: str) -> None:
        self._text(lambda: check_text(place.namespace, f"namespace of {what}", limit=NAMESPACE_LIMIT))
        self._text(lambda: check_optional_text(place.key, f"key of {what}", limit=KEY_LIMIT))
        if place.scope_id:
            self._text(lambda: ephemeral_scope(place.scope_id))

    def _text(self, check: Callable[[], object]) -> None:
        try:
            check()
        except SessionStoreError as error:
            self.problems.add(str(error))

    def _json(self, text: str, what: str) -> bool:
        try:
            json_text.check(text)
        except ValueError as error:
            self.problems.add(f"{what}: the stored text is not JSON: {error}")
            return False
        return True
