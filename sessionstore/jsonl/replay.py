"""The lines of a main file in order, checked and handed to what keeps them (jsonl.md section 2).

An open session keeps rows with their payloads, a snapshot keeps where they stand: the rules of
the file are the same and stand here once.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Container
from typing import Any, Final, Protocol, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from sessionstore.errors import CorruptStorageError, InvalidScopeError, InvalidValueError
from sessionstore.jsonl.codec import (
    EntryLine,
    LineError,
    ListLine,
    PlainEntry,
    RetireLine,
    UsageLine,
    ValueLine,
    check_no_nul,
    decode_transaction,
    entry_of,
)
from sessionstore.jsonl.files import Block
from sessionstore.scope import ephemeral_scope
from sessionstore.usage import SessionStats, UsageFold

Slot: TypeAlias = tuple[str, str]
"""The namespace and the key of a place."""


class Keeper(Protocol):
    """What a replay fills. ``offset`` is where the line of a record begins in its file."""

    @property
    def entry_ids(self) -> Container[str]:
        """The ids of the entries that were added."""
        ...

    @property
    def usage_ids(self) -> Container[str]:
        """The ids of the ledger rows that were added."""
        ...

    def add_entry(self, entry: EntryLine, offset: int) -> None:
        """Take an entry whose parent is there."""
        ...

    def add_usage(self, row: UsageLine, offset: int) -> None:
        """Take a row of the ledger."""
        ...

    @property
    def session(self) -> ScopeKeeper:
        """What keeps the values and lists of session scope."""
        ...


class ScopeKeeper(Protocol):
    """What keeps the values and lists of one scope."""

    def set_value(self, slot: Slot, seq: int, value: Raw, offset: int) -> None:
        """Take a value."""
        ...

    def delete_value(self, slot: Slot) -> None:
        """Drop a value, if there is one."""
        ...

    def append(self, slot: Slot, seq: int, value: Raw, tag: str | None, offset: int) -> None:
        """Take a list element."""
        ...

    def delete_list(self, slot: Slot, seq: int) -> None:
        """Drop a list, if there is one."""
        ...


class Transactions:
    """The first and the last number of every transaction of a file, in order."""

    __slots__ = ("firsts", "lasts")

    def __init__(self) -> None:
        self.firsts = array("q")
        self.lasts = array("q")

    def append(self, first: int, last: int) -> None:
        """Add the numbers of the next transaction."""
        self.firsts.append(first)
        self.lasts.append(last)


class ScopeReplay:
    """Hands value and list records of one scope to a keeper, one copy of each text for all.

    ``scope_id`` is what each record has to say: unset in the main file, the id in a sidecar.
    """

    __slots__ = ("_keeper", "_scope_id", "_slots")

    def __init__(self, keeper: ScopeKeeper, scope_id: str | UnsetType) -> None:
        self._keeper = keeper
        self._scope_id = scope_id
        self._slots: dict[Slot, Slot] = {}

    def value(self, record: ValueLine, offset: int) -> None:
        """Set or delete a value."""
        if record.scope_id != self._scope_id:
            raise self._wrong_scope()
        slot = self._slots.get((record.namespace, record.key)) or self._new_slot(record)
        value = record.value
        if record.op == "delete":
            self._keeper.delete_value(slot)
        elif isinstance(value, UnsetType):
            raise LineError("value is missing")
        else:
            self._keeper.set_value(slot, record.seq, value, offset)

    def element(self, record: ListLine, offset: int) -> None:
        """Append to a list or delete it."""
        if record.scope_id != self._scope_id:
            raise self._wrong_scope()
        slot = self._slots.get((record.namespace, record.key)) or self._new_slot(record)
        value = record.value
        if record.op == "delete":
            self._keeper.delete_list(slot, record.seq)
        elif isinstance(value, UnsetType):
            raise LineError("value is missing")
        else:
            if record.tag is not None:
                check_no_nul(record.tag)
            self._keeper.append(slot, record.seq, value, record.tag, offset)

    def _new_slot(self, record: ValueLine | ListLine) -> Slot:
        check_no_nul(record.namespace, record.key)
        slot = (record.namespace, record.key)
        self._slots[slot] = slot
        return slot

    def _wrong_scope(self) -> LineError:
        if isinstance(self._scope_id, UnsetType):
            return LineError("a scoped record stands in the main file")
        return LineError(f"a record is not of scope {self._scope_id!r}")


class MainReplay:
    """Feeds the transactions of a main file to a keeper, line by line."""

    def __init__(self, keeper: Keeper, path: str) -> None:
        self.last_seq = 0
        self.retirements: Final[dict[str, int]] = {}
        self.transactions: Final = Transactions()
        self._keeper = keeper
        self._entry_ids = keeper.entry_ids
        self._usage_ids = keeper.usage_ids
        self._path = path
        session = ScopeReplay(keeper.session, UNSET)
        self._messages = 0
        self._usage = UsageFold()
        self._take: Final[dict[type, Callable[[Any, int], None]]] = {
            PlainEntry: self._plain_entry,
            EntryLine: self._entry,
            UsageLine: self._usage_row,
            ValueLine: session.value,
            ListLine: session.element,
            RetireLine: self._retirement,
        }

    @property
    def stats(self) -> SessionStats:
        """The statistics of what was fed. Raises ``CorruptStorageError`` when there is no sum."""
        try:
            return SessionStats(self._messages, self._usage.total())
        except InvalidValueError as error:
            raise CorruptStorageError(str(error), path=self._path) from None

    def feed(self, block: Block) -> None:
        """Replay some lines. Raises ``CorruptStorageError`` with the path and the line number."""
        take, transactions, is_ascii = self._take, self.transactions, block.is_ascii
        number, offset, last = block.first_line, block.offset, self.last_seq
        try:
            for line in block.lines:
                records = decode_transaction(line, is_ascii=is_ascii)
                for record in records:
                    seq = record.seq
                    if seq <= last:
                        raise LineError(f"number {seq} comes after {last}")
                    last = seq
                    take[type(record)](record, offset)
                if records:
                    transactions.append(records[0].seq, last)
                    self.last_seq = last
                number += 1
                offset += len(line) + 1
        except LineError as error:
            raise CorruptStorageError(str(error), path=self._path, line=number) from None

    def _plain_entry(self, plain: PlainEntry, offset: int) -> None:
        self._entry(entry_of(plain), offset)

    def _entry(self, entry: EntryLine, offset: int) -> None:
        id, parent_id = entry.id, entry.parent_id
        if id in self._entry_ids or id in self._usage_ids:
            raise _used_twice(id)
        if "\0" in id or entry.custom_type is not None:
            check_no_nul(id, entry.custom_type)
        if parent_id is not None and parent_id not in self._entry_ids:
            raise LineError(f"the parent {parent_id!r} of entry {id!r} is missing")
        self._keeper.add_entry(entry, offset)
        if entry.type == "message":
            self._messages += 1

    def _usage_row(self, row: UsageLine, offset: int) -> None:
        if row.id in self._entry_ids or row.id in self._usage_ids:
            raise _used_twice(row.id)
        if "\0" in row.id or "\0" in (row.entry_id or ""):
            check_no_nul(row.id, row.entry_id)
        try:
            self._usage.add(row.usage, "usage")
        except ValueError as error:
            raise LineError(str(error)) from None
        self._keeper.add_usage(row, offset)

    def _retirement(self, record: RetireLine, offset: int) -> None:
        try:
            ephemeral_scope(record.scope_id)
        except InvalidScopeError as error:
            raise LineError(str(error)) from None
        self.retirements[record.scope_id] = record.seq


def _used_twice(id: str) -> LineError:
    return LineError(f"the id {id!r} is used twice")
