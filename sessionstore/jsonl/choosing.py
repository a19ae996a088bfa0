"""What of a main file is taken, asked in the order of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Raw, UnsetType

from sessionstore.address import Place
from sessionstore.errors import CorruptStorageError
from sessionstore.image import Selection
from sessionstore.jsonl.codec import (
    EntryLine,
    Line,
    LineError,
    ListLine,
    PlainEntry,
    UsageLine,
    ValueLine,
    decode_transaction,
    entry_of,
)
from sessionstore.jsonl.files import Block
from sessionstore.jsonl.index import FileIndex, ScopeIndex
from sessionstore.jsonl.rows import entry_record, usage_record
from sessionstore.records import ElementRecord, Record, ValueRecord

_elements_of: Final[Callable[[bytes], list[Raw]]] = msgspec.json.Decoder(list[Raw]).decode

_HEADS: Final = {
    b'{"kind":"entry': True,
    b'{"kind":"usage': False,
    b'{"kind":"value': False,
    b'{"kind":"list"': False,
    b'{"kind":"scope': False,
}
"""How records begin that this library and pi write; whether they are entries."""

_HEAD: Final = 14

_FIRST_IS_ENTRY: Final = b'[{"kind":"entry"'


class Choice:
    """Makes a selection of the records of a file; each may be asked for once, in order."""

    def __init__(self, index: FileIndex, selection: Selection, tip: int | None) -> None:
        self._session = session = index.session
        self._offsets = index.entries.offsets
        self._selection = selection
        self._marks: bytearray | None = None
        if not selection.whole_tree:
            self._marks = bytearray(len(self._offsets)) if tip is None else index.entries.on_path(tip)
        self._next = 0
        takes_value, takes_list = selection.takes_value, selection.takes_list
        self._values_at = {
            found.offset for slot, found in session.values.items() if takes_value(Place("", *slot))
        }
        self._looks_always = selection.usage_rows or any(
            takes_list(Place("", *slot)) for slot in session.lists
        )

    def lines(self, blocks: Iterable[Block], path: str) -> Iterator[bytes | Record]:
        """What is taken of the lines of ``blocks``: runs of entries as text, one a line, and records.

        The text is that in which they came. Lines of which nothing is taken, and those of which
        only entries are, are not decoded.
        """
        offsets, values_at, looks_always = self._offsets, self._values_at, self._looks_always
        count = len(offsets)
        for block in blocks:
            offset = block.offset
            run: list[bytes] = []
            for number, line in enumerate(block.lines, block.first_line):
                decodes = looks_always or offset in values_at
                if not decodes and self._next < count and offsets[self._next] == offset:
                    decodes = not self._take_entries(line, offset, run)
                if decodes:
                    if run:
                        yield b"\n".join(run)
                        run.clear()
                    yield from self.among(_decoded(line, number, path, is_ascii=block.is_ascii))
                offset += len(line) + 1
            if run:
                yield b"\n".join(run)

    def _take_entries(self, line: bytes, offset: int, run: list[bytes]) -> bool:
        """Add the entries that are taken of a line that has some; False where it has to be decoded."""
        first = self._next
        if line.startswith(b"{"):
            if self._takes_next():
                run.append(line)
            return True
        try:
            elements = _elements_of(line)
        except (msgspec.MsgspecError, RecursionError):
            return False
        is_single = first + 1 == len(self._offsets) or self._offsets[first + 1] != offset
        if is_single and line.startswith(_FIRST_IS_ENTRY):
            if self._takes_next():
                run.append(bytes(elements[0]))
            return True
        kinds = [_HEADS.get(bytes(element)[:_HEAD]) for element in elements]
        if None in kinds:
            return False
        entries = [element for element, is_entry in zip(elements, kinds, strict=True) if is_entry]
        run.extend([bytes(entry) for entry in entries if self._takes_next()])
        return True

    def _takes_next(self) -> bool:
        self._next += 1
        return self._marks is None or self._marks[self._next - 1] == 1

    # -- record by record ------------------------------------------------------------------------

    def among(self, records: Iterable[Line]) -> Iterator[Record]:
        """Those of the next records that are taken."""
        for record in records:
            chosen = self._of(record)
            if chosen is not None:
                yield chosen

    def _of(self, record: Line) -> Record | None:
        match record:
            case PlainEntry():
                return entry_record(entry_of(record)) if self._takes_next() else None
            case EntryLine():
                return entry_record(record) if self._takes_next() else None
            case UsageLine():
                return usage_record(record) if self._selection.usage_rows else None
            case ValueLine() | ListLine():
                return live_record(record, "", self._session, self._selection)
            case _:
                return None


def live_record(
    record: ValueLine | ListLine, scope_id: str, index: ScopeIndex, selection: Selection
) -> Record | None:
    """The record of a line, where it still stands and is wanted."""
    slot = (record.namespace, record.key)
    if isinstance(record.value, UnsetType) or record.op == "delete":
        return None
    if isinstance(record, ValueLine):
        if index.has_value(slot, record.seq) and selection.takes_value(Place(scope_id, *slot)):
            return value_record(record, scope_id)
    elif index.has_element(slot, record.seq) and selection.takes_list(Place(scope_id, *slot)):
        return ElementRecord(scope_id, *slot, record.seq, str(record.value, "utf-8"), record.tag)
    return None


def value_record(record: ValueLine, scope_id: str) -> ValueRecord:
    """The record of a line that sets a value."""
    text = "" if isinstance(record.value, UnsetType) else str(record.value, "utf-8")
    return ValueRecord(scope_id, record.namespace, record.key, record.seq, text)


def _decoded(line: bytes, number: int, path: str, *, is_ascii: bool) -> Sequence[Line]:
    try:
        return decode_transaction(line, is_ascii=is_ascii)
    except LineError as error:
        raise CorruptStorageError(str(error), path=path, line=number) from None
