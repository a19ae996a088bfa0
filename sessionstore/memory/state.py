"""What a session in memory consists of, and how a numbered plan changes it.

Only JSON text and frozen records are kept, so nothing that a caller holds can reach the store.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from sessionstore.address import Place
from sessionstore.plan import CommitPlan
from sessionstore.queries import ListQuery, ScanQuery, list_page, scan_entries, scan_rows
from sessionstore.records import (
    ElementRecord,
    EntryRecord,
    Record,
    UsageRecord,
    ValueRecord,
    place_of,
)
from sessionstore.usage import SessionStats


class SessionState:
    """The records of one session, indexed for every read of the contract."""

    def __init__(self, next_seq: int = 1, stats: SessionStats | None = None) -> None:
        self.next_seq = next_seq
        self.stats = stats or SessionStats()
        self.entries: dict[str, EntryRecord] = {}
        self.entry_order: list[EntryRecord] = []
        self.usage_rows: dict[str, UsageRecord] = {}
        self.usage_order: list[UsageRecord] = []
        self.values: dict[Place, ValueRecord] = {}
        self.lists: dict[Place, list[ElementRecord]] = {}
        self._keys: dict[tuple[str, str], list[str]] = {}
        self._scopes: dict[str, set[Place]] = {}
        self._unfinished: tuple[CommitPlan, SessionStats] | None = None

    # -- writing -----------------------------------------------------------------------------

    def apply(self, plan: CommitPlan) -> None:
        """Do a numbered plan that was proven.

        Raises ``InvalidValueError`` before anything has changed when the ledger cannot be added up.
        """
        stats = plan.counted(self.stats)
        self._unfinished = plan, stats  # from here on the commit has happened
        self.finish()

    def finish(self) -> None:
        """Do what an interrupt has kept :meth:`apply` from doing; to be called before any read.

        Each step may have been done already, in part or whole.
        """
        if self._unfinished is None:
            return
        plan, stats = self._unfinished
        for place in plan.list_deletes:
            self._drop_list(place)
        for place in plan.value_deletes:
            self._drop_value(place)
        for scope_id in plan.retired:
            self._drop_scope(scope_id)
        done = _last_seq(self.entry_order)
        for entry in plan.entries:
            if entry.seq > done:
                self._add_entry(entry)
        for value in plan.value_sets:
            self._set_value(value)
        for element in plan.appends:
            if element.seq > _last_seq(self.lists.get(place_of(element))):
                self._append(element)
        done = _last_seq(self.usage_order)
        for row in plan.usage_rows:
            if row.seq > done:
                self._add_usage(row)
        self.stats = stats
        self.next_seq = plan.steps[-1].seq + 1
        self._unfinished = None

    def add(self, record: Record) -> None:
        """Take a record whose number is higher than those of its kind before."""
        match record:
            case EntryRecord():
                self._add_entry(record)
            case ValueRecord():
                self._set_value(record)
            case ElementRecord():
                self._append(record)
            case UsageRecord():
                self._add_usage(record)

    def _add_entry(self, record: EntryRecord) -> None:
        self.entries[record.id] = record
        self.entry_order.append(record)

    def _add_usage(self, record: UsageRecord) -> None:
        self.usage_rows[record.id] = record
        self.usage_order.append(record)

    def _append(self, record: ElementRecord) -> None:
        place = place_of(record)
        self._remember(place)
        self.lists.setdefault(place, []).append(record)

    def _set_value(self, record: ValueRecord) -> None:
        place = place_of(record)
        if place not in self.values:
            keys = self._keys.setdefault((place.scope_id, place.namespace), [])
            if not _contains(keys, place.key):
                insort(keys, place.key)
            self._remember(place)
        self.values[place] = record

    def _remember(self, place: Place) -> None:
        if place.scope_id:
            self._scopes.setdefault(place.scope_id, set()).add(place)

    def _drop_value(self, place: Place) -> None:
        within = (place.scope_id, place.namespace)
        keys = self._keys.get(within, [])
        if _contains(keys, place.key):
            del keys[bisect_left(keys, place.key)]
        if not keys:
            self._keys.pop(within, None)
        self.values.pop(place, None)
        self._forget(place)

    def _drop_list(self, place: Place) -> None:
        self.lists.pop(place, None)
        self._forget(place)

    def _forget(self, place: Place) -> None:
        """Keep nothing of a place, nor of its scope, once nothing is there any more."""
        places = self._scopes.get(place.scope_id)
        if places is not None and place not in self.values and place not in self.lists:
            places.discard(place)
            if not places:
                self._scopes.pop(place.scope_id, None)

    def _drop_scope(self, scope_id: str) -> None:
        for place in tuple(self._scopes.get(scope_id, ())):
            self._drop_value(place)
            self._drop_list(place)

    # -- reading -----------------------------------------------------------------------------

    def values_with_prefix(self, prefix: Place) -> list[ValueRecord]:
        """Values of one scope and namespace by key; Python orders text by code point."""
        keys = self._keys.get((prefix.scope_id, prefix.namespace), [])
        found: list[ValueRecord] = []
        for index in range(bisect_left(keys, prefix.key), len(keys)):
            if not keys[index].startswith(prefix.key):
                break
            found.append(self.values[prefix._replace(key=keys[index])])
        return found

    def elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        """One page of a list, without reading the rest of it."""
        return list(list_page(self.lists.get(place, []), query))

    def path(self, start: EntryRecord) -> Iterator[EntryRecord]:
        """The path from ``start`` to its root, newest first."""
        entry = start
        while True:
            yield entry
            if entry.parent_id is None:
                return
            entry = self.entries[entry.parent_id]

    def scan(self, query: ScanQuery) -> list[EntryRecord]:
        """Entries by number."""
        return list(scan_entries(self.entry_order, query))

    def scan_usage(self, query: ScanQuery) -> list[UsageRecord]:
        """Ledger rows by number."""
        return list(scan_rows(self.usage_order, query))


def _last_seq(order: Sequence[Record] | None) -> int:
    return order[-1].seq if order else -1


def _contains(keys: list[str], key: str) -> bool:
    at = bisect_left(keys, key)
    return at < len(keys) and keys[at] == key
