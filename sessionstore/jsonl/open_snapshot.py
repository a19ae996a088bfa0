"""An open session as of one boundary between two commits."""

from __future__ import annotations

from collections.abc import Iterator
from heapq import merge
from operator import attrgetter
from typing import Final

from sessionstore.address import Place
from sessionstore.entries import EntryStructure
from sessionstore.errors import ForkError
from sessionstore.image import ImageHeader, Selection, SessionSnapshot
from sessionstore.jsonl.codec import EntryLine
from sessionstore.jsonl.rows import entry_record, entry_structure, usage_record
from sessionstore.jsonl.state import HeldElement, HeldValue, SessionState
from sessionstore.records import ElementRecord, Record, UsageRecord, ValueRecord
from sessionstore.storage import unknown_entry

_by_seq: Final = attrgetter("seq")


class OpenSnapshot(SessionSnapshot):
    """References to the rows of one moment, which never change; to be made while nothing does.

    ``adjustment`` is the ledger row that the upgrade of an older file will add: what is copied of
    such a session carries it.
    """

    def __init__(self, header: ImageHeader, state: SessionState, adjustment: UsageRecord | None) -> None:
        super().__init__(header)
        self._adjustment = adjustment
        self._entries = list(state.entry_order)
        self._usage_rows = list(state.usage_order)
        self._values: dict[Place, HeldValue] = {}
        self._lists: dict[Place, tuple[list[HeldElement], int]] = {}
        for scope_id, scope in state.scopes.items():
            for slot, held in scope.values.items():
                self._values[Place(scope_id, *slot)] = held
            for slot, elements in scope.lists.items():
                # A list only grows, until it is deleted: then the next element begins another.
                self._lists[Place(scope_id, *slot)] = elements, len(elements)
        # Shared with the session: entries are only ever added, and a path never grows at its root.
        self._by_id = state.entries

    def read(self, selection: Selection) -> Iterator[Record]:
        """See :meth:`SessionSnapshot.read`; by number over all kinds, as the file has them."""
        streams: list[Iterator[Record]] = [
            map(entry_record, self._selected_entries(selection)),
            self._selected_values(selection),
            self._selected_elements(selection),
        ]
        if selection.usage_rows:
            streams.append(map(usage_record, self._usage_rows))
            streams.append(iter(() if self._adjustment is None else (self._adjustment,)))
        return merge(*streams, key=_by_seq)

    def _selected_values(self, selection: Selection) -> Iterator[ValueRecord]:
        values = [(place, held) for place, held in self._values.items() if selection.takes_value(place)]
        for place, held in sorted(values, key=lambda found: found[1].seq):
            yield ValueRecord(*place, held.seq, held.value.decode())

    def _selected_entries(self, selection: Selection) -> list[EntryLine]:
        if selection.whole_tree:
            return self._entries
        return [] if selection.tip is None else list(self._path(selection.tip))[::-1]

    def _selected_elements(self, selection: Selection) -> Iterator[ElementRecord]:
        found = [
            (row.seq, place, row)
            for place, (elements, count) in self._lists.items()
            if selection.takes_list(place)
            for row in elements[:count]
        ]
        for _, place, row in sorted(found, key=lambda item: item[0]):
            yield ElementRecord(*place, row.seq, row.value.decode(), row.tag)

    def value(self, place: Place) -> ValueRecord | None:
        """See :meth:`SessionSnapshot.value`."""
        held = self._values.get(place)
        return None if held is None else ValueRecord(*place, held.seq, held.value.decode())

    def value_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.value_places`."""
        return (place for place in self._values if not place.scope_id)

    def list_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.list_places`."""
        return (place for place in self._lists if not place.scope_id)

    def structure(self) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.structure`."""
        return map(entry_structure, self._entries)

    def path(self, start: str) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.path`."""
        return map(entry_structure, self._path(start))

    def _path(self, start: str) -> Iterator[EntryLine]:
        entry = self._by_id.get(start)
        if entry is None or entry.seq >= self.header.next_seq:
            raise unknown_entry(start)
        return self._up(entry)

    def _up(self, entry: EntryLine) -> Iterator[EntryLine]:
        yield entry
        while entry.parent_id is not None:
            entry = self._by_id[entry.parent_id]
            yield entry

    def check_forkable(self) -> None:
        """See :meth:`SessionSnapshot.check_forkable`."""
        if self._adjustment is not None:
            raise ForkError(
                f"session {self.header.id!r} is open and still of format 3, whose ids are not kept: "
                "close it, or write to it first, which upgrades its file"
            )
