"""What an open session holds of its file: rows with their payloads as JSON text in UTF-8.

Decoding a payload is left to the reads. Rows never change, so a read may hold one as long as it
likes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw, UnsetType

from sessionstore.address import Place
from sessionstore.jsonl.codec import EntryLine, UsageLine
from sessionstore.jsonl.replay import Slot
from sessionstore.jsonl.rows import entry_record, entry_row, usage_record, usage_row
from sessionstore.plan import CommitPlan
from sessionstore.queries import ListQuery, ScanQuery, list_page, scan_entries, scan_rows
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.usage import SessionStats


class HeldValue(msgspec.Struct, gc=False):
    """A value without its place."""

    seq: int
    value: bytes


class HeldElement(msgspec.Struct, gc=False):
    """A list element without its place."""

    seq: int
    value: bytes
    tag: str | None


class ScopeState:
    """The values and lists of one scope; a :class:`~sessionstore.jsonl.replay.ScopeKeeper`."""

    __slots__ = ("_keys", "_sorted", "lists", "values")

    def __init__(self) -> None:
        self.values: Final[dict[Slot, HeldValue]] = {}
        self.lists: Final[dict[Slot, list[HeldElement]]] = {}
        self._keys: Final[dict[str, set[str]]] = {}
        self._sorted: Final[dict[str, list[str]]] = {}

    def set_value(self, slot: Slot, seq: int, value: Raw | bytes, offset: int = 0) -> None:
        """Take a value."""
        values = self.values
        if slot not in values:
            self._keys.setdefault(slot[0], set()).add(slot[1])
            self._sorted.pop(slot[0], None)
        values[slot] = HeldValue(seq, bytes(value))

    def delete_value(self, slot: Slot) -> None:
        """Drop a value, if there is one."""
        keys = self._keys.get(slot[0])
        if keys is not None:
            keys.discard(slot[1])
            if not keys:
                self._keys.pop(slot[0], None)
        self._sorted.pop(slot[0], None)
        self.values.pop(slot, None)

    def append(self, slot: Slot, seq: int, value: Raw | bytes, tag: str | None, offset: int = 0) -> None:
        """Take a list element."""
        elements = self.lists.get(slot)
        if elements is None:
            elements = self.lists[slot] = []
        elements.append(HeldElement(seq, bytes(value), tag))

    def delete_list(self, slot: Slot, seq: int = 0) -> None:
        """Drop a list, if there is one."""
        self.lists.pop(slot, None)

    def keys(self, namespace: str, prefix: str) -> list[str]:
        """The keys of a namespace that begin so; Python orders text by code point."""
        unsorted = self._keys.get(namespace)
        if not unsorted:
            return []
        keys = self._sorted.get(namespace)
        if keys is None:
            keys = self._sorted[namespace] = sorted(unsorted)
        start = bisect_left(keys, prefix)
        end = start
        while end < len(keys) and keys[end].startswith(prefix):
            end += 1
        return keys[start:end]


_EMPTY: Final = ScopeState()


class SessionState:
    """The rows of one session; a :class:`~sessionstore.jsonl.replay.Keeper`."""

    def __init__(self) -> None:
        self.entries: Final[dict[str, EntryLine]] = {}
        self.entry_order: Final[list[EntryLine]] = []
        self.usage_ids: Final[set[str]] = set()
        self.usage_order: Final[list[UsageLine]] = []
        self.scopes: Final[dict[str, ScopeState]] = {"": ScopeState()}
        self.next_seq = 1
        self.stats = SessionStats()
        self._unfinished: tuple[CommitPlan, SessionStats] | None = None

    # -- writing -----------------------------------------------------------------------------

    def apply(self, plan: CommitPlan, stats: SessionStats) -> None:
        """Do a numbered plan that is in the files; ``stats`` are those after it."""
        self._unfinished = plan, stats
        self.finish()

    def finish(self) -> None:
        """Do what an interrupt has kept :meth:`apply` from doing; to be called before any read.

        Each step may have been done already, in part or whole.
        """
        if self._unfinished is None:
            return
        plan, stats = self._unfinished
        for place in plan.list_deletes:
            self.scope(place.scope_id).delete_list(place[1:])
        for place in plan.value_deletes:
            self.scope(place.scope_id).delete_value(place[1:])
        for scope_id in plan.retired:
            self.drop_scope(scope_id)
        for entry in plan.entries:
            if _is_new(entry.seq, self.entry_order):
                self.add_entry(entry_row(entry))
        for value in plan.value_sets:
            slot = (value.namespace, value.key)
            self.scope(value.scope_id).set_value(slot, value.seq, value.value.encode())
        for element in plan.appends:
            slot = (element.namespace, element.key)
            scope = self.scope(element.scope_id)
            if _is_new(element.seq, scope.lists.get(slot)):
                scope.append(slot, element.seq, element.value.encode(), element.tag)
        for row in plan.usage_rows:
            if _is_new(row.seq, self.usage_order):
                self.add_usage(usage_row(row))
        self.stats = stats
        self.next_seq = plan.steps[-1].seq + 1
        self._unfinished = None

    @property
    def entry_ids(self) -> Container[str]:
        """The ids of the entries."""
        return self.entries

    def add_entry(self, entry: EntryLine, offset: int = 0) -> None:
        """Take an entry whose parent is there."""
        if entry.parent_id is not None:
            entry.parent_id = self.entries[entry.parent_id].id  # one copy of the text for all
        self.entries[entry.id] = entry
        self.entry_order.append(entry)

    def add_usage(self, row: UsageLine, offset: int = 0) -> None:
        """Take a row of the ledger."""
        # Slices of the line would keep all of it.
        row.usage = row.usage.copy()
        if not isinstance(row.details, UnsetType):
            row.details = row.details.copy()
        entry = self.entries.get(row.entry_id) if row.entry_id is not None else None
        if entry is not None:
            row.entry_id = entry.id
        self.usage_ids.add(row.id)
        self.usage_order.append(row)

    def add_adjustment(self, record: UsageRecord) -> None:
        """Take the ledger row of an upgrade; its figures are in the statistics already."""
        if record.id not in self.usage_ids:
            self.add_usage(usage_row(record))

    @property
    def session(self) -> ScopeState:
        """Session scope."""
        return self.scopes[""]

    def scope(self, scope_id: str) -> ScopeState:
        """A scope to write to."""
        scope = self.scopes.get(scope_id)
        if scope is None:
            scope = self.scopes[scope_id] = ScopeState()
        return scope

    def drop_scope(self, scope_id: str) -> None:
        """End an ephemeral scope."""
        self.scopes.pop(scope_id, None)

    # -- reading -----------------------------------------------------------------------------

    def records(self) -> Iterator[EntryRecord | ValueRecord]:
        """The entries, then the values of session scope, by number: all that an older file makes."""
        yield from map(entry_record, self.entry_order)
        for slot, held in sorted(self.session.values.items(), key=lambda item: item[1].seq):
            yield ValueRecord("", *slot, held.seq, held.value.decode())

    def value(self, place: Place) -> ValueRecord | None:
        """The value at a place."""
        held = self.scopes.get(place.scope_id, _EMPTY).values.get(place[1:])
        return None if held is None else ValueRecord(*place, held.seq, held.value.decode())

    def values_with_prefix(self, prefix: Place) -> list[ValueRecord]:
        """Values of one scope and namespace, by key."""
        scope_id, namespace, start = prefix
        scope = self.scopes.get(scope_id, _EMPTY)
        found = [(key, scope.values[namespace, key]) for key in scope.keys(namespace, start)]
        return [ValueRecord(scope_id, namespace, key, held.seq, held.value.decode()) for key, held in found]

    def elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        """One page of a list, without reading the rest of it."""
        held = self.scopes.get(place.scope_id, _EMPTY).lists.get(place[1:], [])
        page = list_page(held, query)
        return [ElementRecord(*place, row.seq, row.value.decode(), row.tag) for row in page]

    def path(self, start: EntryLine) -> Iterator[EntryLine]:
        """The path from ``start`` to its root, newest first."""
        entry = start
        while True:
            yield entry
            if entry.parent_id is None:
                return
            entry = self.entries[entry.parent_id]

    def scan(self, query: ScanQuery) -> list[EntryRecord]:
        """Entries by number."""
        return list(map(entry_record, scan_entries(self.entry_order, query)))

    def scan_usage(self, query: ScanQuery) -> list[UsageRecord]:
        """Ledger rows by number."""
        return list(map(usage_record, scan_rows(self.usage_order, query)))


def _is_new(seq: int, rows: Sequence[EntryLine | UsageLine | HeldElement] | None) -> bool:
    return not rows or rows[-1].seq < seq
