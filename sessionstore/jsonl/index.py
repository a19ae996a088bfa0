"""Where the records of a file stand: what a snapshot keeps instead of payloads.

A snapshot may keep 150 bytes for each entry. A dict from ids to places would take more, so ids
are found through arrays: some 30 bytes an entry.
"""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterator
from typing import Final

import msgspec
from msgspec import Raw

from sessionstore.jsonl.codec import EntryLine, LineError, UsageLine
from sessionstore.jsonl.replay import Slot

_MASK: Final = (1 << 63) - 1
_FREE: Final = -1


class IdTable(Container[str]):
    """Numbers ids from 0 in the order in which they are added, by 63 bits of their hash.

    An open-addressing table. Two ids of one hash would be taken for the same: one chance in
    10**13 for a session of a thousand entries, one in 10**7 for a million.
    """

    def __init__(self) -> None:
        self._hashes: Final = array("q")
        self._table = array("i", [_FREE]) * 64
        # An id is mostly looked for right before it is added.
        self._looked_for: str | None = None
        self._slot = 0

    def __len__(self) -> int:
        return len(self._hashes)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.find(id) >= 0

    def find(self, id: str) -> int:
        """The number of an id; negative where it was never added."""
        table, hashes = self._table, self._hashes
        mask = len(table) - 1
        hashed = hash(id) & _MASK
        at = hashed & mask
        while (number := table[at]) >= 0 and hashes[number] != hashed:
            at = (at + 1) & mask
        self._looked_for, self._slot = id, at
        return number

    def add(self, id: str) -> None:
        """Add an id that was not added before."""
        number = len(self._hashes)
        if 2 * number >= len(self._table):
            self._grow()
        if id is not self._looked_for:
            self.find(id)
        self._table[self._slot] = number
        self._hashes.append(hash(id) & _MASK)
        self._looked_for = None

    def _grow(self) -> None:
        table = self._table = array("i", [_FREE]) * (4 * len(self._table))
        mask = len(table) - 1
        for number, hashed in enumerate(self._hashes):
            at = hashed & mask
            while table[at] >= 0:
                at = (at + 1) & mask
            table[at] = number
        self._looked_for = None


class MintedIds:
    """Ids by number. UUIDs, which nearly all are, take 16 bytes each."""

    def __init__(self) -> None:
        self._packed: Final = bytearray()
        self._others: Final[dict[int, str]] = {}

    def append(self, id: str) -> None:
        """Add the next id."""
        try:
            packed = bytes.fromhex(id.replace("-", ""))
        except ValueError:
            packed = b""
        if len(packed) != _PACKED or _spelled(packed) != id:
            self._others[len(self._packed) // _PACKED] = id
            packed = bytes(_PACKED)
        self._packed.extend(packed)

    def __getitem__(self, number: int) -> str:
        other = self._others.get(number)
        if other is not None:
            return other
        return _spelled(bytes(self._packed[_PACKED * number : _PACKED * (number + 1)]))


_PACKED: Final = 16
"""Bytes of a UUID."""


def _spelled(packed: bytes) -> str:
    digits = packed.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


class EntryTable(Container[str]):
    """The entries of a file in order: ids, parents, which are messages, where their lines begin.

    Contains the ids of entries and, as they share one name space, those of ledger rows.
    """

    def __init__(self) -> None:
        self.parents: Final = array("i")
        self.offsets: Final = array("q")
        self.messages: Final = bytearray()
        self._ids: Final = IdTable()
        self._entries: Final = array("i")
        self._last: str | None = None

    def __contains__(self, id: object) -> bool:
        return id == self._last or (isinstance(id, str) and self._ids.find(id) >= 0)

    def find(self, id: str) -> int:
        """The number of an entry; negative where there is none of this id."""
        if id == self._last:
            return len(self.parents) - 1
        number = self._ids.find(id)
        return number if number < 0 else self._entries[number]

    def add(self, entry: EntryLine, offset: int) -> None:
        """Add an entry. Raises :class:`LineError` where its parent is none."""
        parent = _FREE if entry.parent_id is None else self.find(entry.parent_id)
        if parent < 0 and entry.parent_id is not None:
            raise LineError(f"the parent {entry.parent_id!r} of entry {entry.id!r} is missing")
        self._ids.add(entry.id)
        self._entries.append(len(self.parents))
        self.parents.append(parent)
        self.offsets.append(offset)
        self.messages.append(entry.type == "message")
        self._last = entry.id

    def add_usage(self, id: str) -> None:
        """Add the id of a ledger row."""
        self._ids.add(id)
        self._entries.append(_FREE)

    def path(self, number: int) -> Iterator[int]:
        """The numbers of the entries from one to its root."""
        while number >= 0:
            yield number
            number = self.parents[number]

    def on_path(self, start: int) -> bytearray:
        """For each entry 1 where it is on the path from number ``start`` to its root, else 0."""
        marks = bytearray(len(self.parents))
        for number in self.path(start):
            marks[number] = 1
        return marks


class Found(msgspec.Struct, gc=False):
    """Where a value stands."""

    seq: int
    offset: int


class ScopeIndex:
    """The live values and lists of one scope; a :class:`~sessionstore.jsonl.replay.ScopeKeeper`.

    ``lists`` has the number of the first element of each list.
    """

    def __init__(self) -> None:
        self.values: Final[dict[Slot, Found]] = {}
        self.lists: Final[dict[Slot, int]] = {}

    def set_value(self, slot: Slot, seq: int, value: Raw, offset: int) -> None:
        """Take a value."""
        self.values[slot] = Found(seq, offset)

    def delete_value(self, slot: Slot) -> None:
        """Drop a value, if there is one."""
        self.values.pop(slot, None)

    def append(self, slot: Slot, seq: int, value: Raw, tag: str | None, offset: int) -> None:
        """Take a list element."""
        self.lists.setdefault(slot, seq)

    def delete_list(self, slot: Slot, seq: int) -> None:
        """Drop a list, if there is one."""
        self.lists.pop(slot, None)

    def has_value(self, slot: Slot, seq: int) -> bool:
        """Whether the value that was set with this number still stands."""
        found = self.values.get(slot)
        return found is not None and found.seq == seq

    def has_element(self, slot: Slot, seq: int) -> bool:
        """Whether the element that was appended with this number is still there."""
        first = self.lists.get(slot)
        return first is not None and seq >= first


class FileIndex:
    """All of a main file; a :class:`~sessionstore.jsonl.replay.Keeper`."""

    def __init__(self) -> None:
        self.entries: Final = EntryTable()
        self._session: Final = ScopeIndex()

    @property
    def entry_ids(self) -> Container[str]:
        """The ids of the entries and of the ledger rows that were added."""
        return self.entries

    @property
    def usage_ids(self) -> Container[str]:
        """Nothing that is not among the others."""
        return ()

    @property
    def session(self) -> ScopeIndex:
        """Session scope."""
        return self._session

    def add_entry(self, entry: EntryLine, offset: int) -> None:
        """Take an entry whose parent is there."""
        self.entries.add(entry, offset)

    def add_usage(self, row: UsageLine, offset: int) -> None:
        """Take a row of the ledger."""
        self.entries.add_usage(row.id)
