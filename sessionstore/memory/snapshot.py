"""A session in memory as of one boundary."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from sessionstore.address import Place
from sessionstore.entries import EntryStructure
from sessionstore.image import ImageHeader, Selection, SessionSnapshot
from sessionstore.memory.state import SessionState
from sessionstore.metadata import SessionMetadata
from sessionstore.records import EntryRecord, Record, ValueRecord, structure_of
from sessionstore.storage import unknown_entry

_by_seq = attrgetter("seq")


class MemorySnapshot(SessionSnapshot):
    """References to the records of one moment, since records never change.

    To be made while nothing changes ``state``.
    """

    def __init__(self, metadata: SessionMetadata, state: SessionState) -> None:
        super().__init__(
            ImageHeader(
                metadata.id,
                metadata.created_at,
                state.next_seq,
                state.stats,
                metadata.parent_session_id,
                metadata.cwd,
                metadata.legacy_parent_session_path,
            )
        )
        self._entries = list(state.entry_order)
        self._usage_rows = list(state.usage_order)
        self._values = dict(state.values)
        self._lists = {place: list(elements) for place, elements in state.lists.items()}
        # Shared with the live state: entries are only ever added, and a path never grows at its root.
        self._by_id = state.entries

    def read(self, selection: Selection) -> Iterator[Record]:
        """See :meth:`SessionSnapshot.read`."""
        yield from self._selected_entries(selection)
        if selection.usage_rows:
            yield from self._usage_rows
        values = [value for place, value in self._values.items() if selection.takes_value(place)]
        yield from sorted(values, key=_by_seq)
        taken = [elements for place, elements in self._lists.items() if selection.takes_list(place)]
        yield from sorted((element for elements in taken for element in elements), key=_by_seq)

    def _selected_entries(self, selection: Selection) -> list[EntryRecord]:
        if selection.whole_tree:
            return self._entries
        return [] if selection.tip is None else list(self._path(selection.tip))[::-1]

    def value(self, place: Place) -> ValueRecord | None:
        """See :meth:`SessionSnapshot.value`."""
        return self._values.get(place)

    def value_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.value_places`."""
        return (place for place in self._values if not place.scope_id)

    def list_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.list_places`."""
        return (place for place in self._lists if not place.scope_id)

    def structure(self) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.structure`."""
        return map(structure_of, self._entries)

    def path(self, start: str) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.path`."""
        return map(structure_of, self._path(start))

    def _path(self, start: str) -> Iterator[EntryRecord]:
        entry = self._by_id.get(start)
        if entry is None or entry.seq >= self.header.next_seq:
            raise unknown_entry(start)
        return self._up(entry)

    def _up(self, entry: EntryRecord) -> Iterator[EntryRecord]:
        yield entry
        while entry.parent_id is not None:
            entry = self._by_id[entry.parent_id]
            yield entry
