"""A format-4 file as of one boundary, with where its records stand instead of their payloads."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack
from heapq import merge
from operator import attrgetter
from typing import Final

from sessionstore.address import Place
from sessionstore.entries import EntryStructure
from sessionstore.errors import CorruptStorageError, StorageError
from sessionstore.image import ImageHeader, Selection, SessionSnapshot, Survey
from sessionstore.jsonl.choosing import Choice, live_record, value_record
from sessionstore.jsonl.codec import (
    EntryLine,
    Line,
    LineError,
    ListLine,
    PlainEntry,
    ValueLine,
    decode_transaction,
)
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.headers import FileHeader
from sessionstore.jsonl.index import FileIndex, ScopeIndex
from sessionstore.jsonl.replay import MainReplay
from sessionstore.jsonl.rows import entry_structure
from sessionstore.jsonl.sidecars import Sidecar, check_disjoint, list_sidecars, read_sidecar
from sessionstore.records import Record, ValueRecord
from sessionstore.storage import unknown_entry

_by_seq: Final = attrgetter("seq")


class FileSnapshot(SessionSnapshot):
    """A main file up to its last complete line, and the sidecars beside it.

    Reads through the descriptors that are open when it is made; ``close`` closes those of the
    sidecars. Changes nothing on disk. Raises ``CorruptStorageError`` with path and line.
    """

    def __init__(self, source: SourceFile, header: FileHeader) -> None:
        self._source = source
        self._index = FileIndex()
        self._replay = MainReplay(self._index, source.path)
        for block in source.body():
            self._replay.feed(block)
        self._open = ExitStack()
        self._sidecars: list[tuple[Sidecar, ScopeIndex]] = []
        try:
            self._read_sidecars(header.id)
        except BaseException:
            self._open.close()
            raise
        last_seq = max(self._replay.last_seq, *(sidecar.last_seq for sidecar, _ in self._sidecars), 0)
        super().__init__(image_header(header, max(header.next_seq, last_seq + 1), self._replay))

    def _read_sidecars(self, session_id: str) -> None:
        for scope_id, path in list_sidecars(self._source.path).scopes.items():
            try:
                source = self._open.enter_context(SourceFile(str(path)))
            except StorageError as error:
                if isinstance(error.__cause__, FileNotFoundError):
                    continue  # retired meanwhile by the process that writes the session
                raise
            retired_at = self._replay.retirements.get(scope_id, 0)
            index = ScopeIndex()
            sidecar = read_sidecar(source, session_id, scope_id, retired_at, index)
            self._sidecars.append((sidecar, index))
        check_disjoint(self._replay.transactions, [sidecar for sidecar, _ in self._sidecars])

    def sidecars(self) -> list[Sidecar]:
        """The sidecars that were read, those without a live record too."""
        return [sidecar for sidecar, _ in self._sidecars]

    def close(self) -> None:
        """Close the sidecars."""
        self._open.close()

    # -- reading -----------------------------------------------------------------------------

    def read(self, selection: Selection) -> Iterator[Record]:
        """See :meth:`SessionSnapshot.read`."""
        streams = [self._main_records(selection)]
        streams.extend(
            self._scope_records(sidecar.source, sidecar.scope_id, index, selection)
            for sidecar, index in self._sidecars
            if selection.ephemeral and sidecar.retained.lasts
        )
        return streams[0] if len(streams) == 1 else merge(*streams, key=_by_seq)

    def _main_records(self, selection: Selection) -> Iterator[Record]:
        return self._choice(selection).among(self._lines(self._source))

    def main_lines(self, selection: Selection) -> Iterator[bytes | Record]:
        """What :meth:`read` gives of the main file, runs of entries as the text that they came in.

        Lines of which nothing is taken but entries are not decoded again.
        """
        return self._choice(selection).lines(self._source.body(), self._source.path)

    def _choice(self, selection: Selection) -> Choice:
        tip = None if selection.tip is None else self._number(selection.tip)
        return Choice(self._index, selection, tip)

    def _scope_records(
        self, source: SourceFile, scope_id: str, index: ScopeIndex, selection: Selection
    ) -> Iterator[Record]:
        for record in self._lines(source, skip_damaged=True):
            if isinstance(record, (ValueLine, ListLine)):
                live = live_record(record, scope_id, index, selection)
                if live is not None:
                    yield live

    def _lines(self, source: SourceFile, *, skip_damaged: bool = False) -> Iterator[Line]:
        """The records of a file that was read before; lines that were excused are passed over."""
        for block in source.body():
            for number, line in enumerate(block.lines, block.first_line):
                try:
                    yield from decode_transaction(line, is_ascii=block.is_ascii)
                except LineError as error:
                    if not skip_damaged:
                        raise CorruptStorageError(str(error), path=source.path, line=number) from None

    def survey(self, start: str | None, ids: Collection[str]) -> Survey:
        """See :meth:`SessionSnapshot.survey`."""
        entries = self._index.entries
        numbers = {id: entries.find(id) for id in ids}
        known = {id: number for id, number in numbers.items() if number >= 0}
        if start is None:
            return Survey(sum(entries.messages), set(known))
        marks = entries.on_path(self._number(start))
        messages = sum(mark & message for mark, message in zip(marks, entries.messages, strict=True))
        return Survey(messages, {id for id, number in known.items() if marks[number]})

    def value(self, place: Place) -> ValueRecord | None:
        """See :meth:`SessionSnapshot.value`."""
        if place.scope_id:
            return next(self._scope_values(place), None)
        found = self._index.session.values.get(place[1:])
        if found is None:
            return None
        for record in self._line_at(found.offset):
            if isinstance(record, ValueLine) and record.seq == found.seq:
                return value_record(record, "")
        raise CorruptStorageError("the file changed while it was read", path=self._source.path)

    def _scope_values(self, place: Place) -> Iterator[ValueRecord]:
        wanted = Selection(takes_value=place.__eq__, takes_list=lambda _: False)
        for sidecar, index in self._sidecars:
            if sidecar.scope_id == place.scope_id:
                for record in self._scope_records(sidecar.source, place.scope_id, index, wanted):
                    if isinstance(record, ValueRecord):
                        yield record

    def value_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.value_places`."""
        return (Place("", *slot) for slot in self._index.session.values)

    def list_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.list_places`."""
        return (Place("", *slot) for slot in self._index.session.lists)

    def structure(self) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.structure`."""
        for record in self._lines(self._source):
            if isinstance(record, (PlainEntry, EntryLine)):
                yield entry_structure(record)

    def path(self, start: str) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.path`."""
        return map(self._structure_of, self._index.entries.path(self._number(start)))

    def _structure_of(self, number: int) -> EntryStructure:
        entries = self._index.entries
        offset = entries.offsets[number]
        first = number
        while first > 0 and entries.offsets[first - 1] == offset:
            first -= 1
        found = [record for record in self._line_at(offset) if isinstance(record, (PlainEntry, EntryLine))]
        return entry_structure(found[number - first])

    def _number(self, id: str) -> int:
        number = self._index.entries.find(id)
        if number < 0:
            raise unknown_entry(id)
        return number

    def _line_at(self, offset: int) -> list[Line]:
        return list(decode_transaction(self._source.line_at(offset)))


def image_header(header: FileHeader, next_seq: int, replay: MainReplay) -> ImageHeader:
    """The header of the image of a format-4 file."""
    return ImageHeader(
        header.id,
        header.created_at,
        next_seq,
        replay.stats,
        header.parent_session_id,
        header.cwd,
        header.parent_path,
    )
