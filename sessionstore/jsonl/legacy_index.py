"""The first pass over a file of format 1 to 3: its tree, and what hangs on it (jsonl.md section 4).

No payload is kept. The records stand in arrays, by their number in the file: with the ids that
their entries get, less than 150 bytes each.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Final

import msgspec

from sessionstore.ids import IdGenerator
from sessionstore.jsonl.codec import LineError
from sessionstore.jsonl.index import IdTable, MintedIds
from sessionstore.jsonl.legacy_records import (
    DROPPED_TYPES,
    KEPT_TYPES,
    LegacyReader,
    LegacyRecord,
    check_body,
)
from sessionstore.jsonl.legacy_settings import Setting, read_setting
from sessionstore.jsonl.legacy_usage import LegacyUsage
from sessionstore.jsonl.report import ImportReport

NOTHING: Final = -1
"""The number of no record: the parent of a root."""


class _Label(msgspec.Struct):
    line: int
    target: str | None
    text: str | None


class LegacyIndex:
    """The records of a file by their number, from 0.

    ``folded`` is the record itself where it is kept, else its nearest kept ancestor, else
    :data:`NOTHING`. With a ``report`` damage is forgiven and noted there. Raises
    ``CorruptStorageError`` with path and line.
    """

    def __init__(
        self,
        reader: LegacyReader,
        header_id: str,
        format: int,
        ids: IdGenerator,
        report: ImportReport | None = None,
    ) -> None:
        self.parents: Final = array("i")
        self.folded: Final = array("i")
        self.entries: Final = array("i")  # a kept record's place among the entries
        self.kept: Final = array("i")  # the record of each entry
        self.new_ids: Final = MintedIds()
        self.new_numbers: Final = IdTable()
        self.settings: Final[dict[int, Setting]] = {}
        self.name: str | None = None
        self.message_count = 0
        self.usage: Final = LegacyUsage()
        self._lines: Final = array("i")
        self._offsets: Final = array("q")
        self._lengths: Final = array("i")
        self._ids: Final = IdTable()
        self._labels: Final[list[_Label]] = []
        self._tails: Final[dict[int, int]] = {}  # the oldest record of a compaction's tail
        self._sources: Final[list[tuple[int, str]]] = []
        self._reader = reader
        self._header_id = header_id
        self._format = format
        self._id_generator = ids
        self._report = report
        for record in reader.records():
            self._take(record)
        self._check_references()

    # -- what stands where -------------------------------------------------------------------

    @property
    def last(self) -> int:
        """The last record, or :data:`NOTHING`."""
        return len(self.parents) - 1

    def find(self, id: str | None) -> int:
        """The record that bears an old id, or :data:`NOTHING`."""
        return NOTHING if id is None or self._format == 1 else self._ids.find(id)

    def new_id(self, number: int) -> str | None:
        """The id of the entry that a record folds to; None where it folds to nothing."""
        folded = self.folded[number] if number >= 0 else NOTHING
        return None if folded < 0 else self.new_ids[self.entries[folded]]

    def record(self, number: int) -> LegacyRecord:
        """A record, read again."""
        return self._reader.record_at(self._lines[number], self._offsets[number], self._lengths[number])

    def up(self, number: int) -> Iterator[int]:
        """A record and its ancestors, dropped ones too."""
        while number >= 0:
            yield number
            number = self.parents[number]

    def tail(self, number: int) -> list[int]:
        """The records of a compaction's retained tail, oldest first."""
        oldest = self._tails[number]
        found: list[int] = []
        for above in self.up(self.parents[number]) if oldest >= 0 else ():
            found.append(above)
            if above == oldest:
                break
        return found[::-1]

    def labels(self) -> dict[str, str]:
        """The text of each label by the id of its entry, in the order in which they were first set."""
        found: dict[str, str] = {}
        for label in self._labels:
            target = self.new_id(self.find(label.target))
            if target is None:
                continue
            if label.text is None:
                found.pop(target, None)
            else:
                found[target] = label.text
        return found

    # -- the pass ----------------------------------------------------------------------------

    def _take(self, record: LegacyRecord) -> None:
        number = len(self.parents)
        try:
            parent = self._parent(record, number)
            self._register(record, number)
            is_kept = self._is_kept(record)
            minted = self._mint(record) if is_kept else None
        except LineError as error:
            raise self._reader.error(record.line, str(error)) from None
        self.parents.append(parent)
        self._lines.append(record.line)
        self._offsets.append(record.offset)
        self._lengths.append(record.length)
        if minted is None:
            self.folded.append(self.folded[parent] if parent >= 0 else NOTHING)
            self.entries.append(NOTHING)
            self._take_setting(record, number)
            return
        self.folded.append(number)
        self.entries.append(len(self.kept))
        self.kept.append(number)
        self.new_ids.append(minted)
        self.new_numbers.add(minted)
        self.message_count += record.type in ("message", "custom_message")
        self.usage.take(record)
        if record.type == "compaction":
            self._tails[number] = self._oldest_kept(record, number)
        elif record.type == "branch_summary":
            self._take_source(record)

    def _parent(self, record: LegacyRecord, number: int) -> int:
        if self._format == 1:
            return number - 1
        text = record.members.optional_text("parentId")
        if text == "null":
            return NOTHING
        parent = record.text_of("parentId")
        found = self.find(parent)
        if found < 0:
            problem = f"the parent {parent!r:.80} is missing or comes later"
            if self._report is None:
                raise LineError(problem)
            what = "the header" if parent == self._header_id else repr(parent)
            self._report.add(record.line, "record without a known parent made a root", f"it names {what:.80}")
        return found

    def _register(self, record: LegacyRecord, number: int) -> None:
        id = record.text_of("id") if self._format > 1 else None
        if id is not None and id in self._ids:
            raise LineError(f"the id {id!r:.80} is used twice")
        # Numbers of ids and of records go together: a record without an id has one that none can be.
        self._ids.add(f"\0{number}" if id is None else id)

    def _is_kept(self, record: LegacyRecord) -> bool:
        type = record.type
        if type in DROPPED_TYPES:
            return False
        if type not in KEPT_TYPES:
            if self._report is None:
                raise LineError(f"unknown record type {type!r:.80}")
            self._report.add(record.line, "record of an unknown type dropped", repr(type)[:80])
            return False
        try:
            check_body(record)
        except LineError as error:
            if self._report is None:
                raise
            self._report.add(record.line, "unreadable record dropped", str(error))
            return False
        return True

    def _mint(self, record: LegacyRecord) -> str:
        if self._format > 1 and record.text_of("id") is None:
            raise LineError("id is missing")
        return self._id_generator.next(max(0, record.time()))

    def _take_setting(self, record: LegacyRecord, number: int) -> None:
        if record.type == "session_info":
            self.name = _non_empty_text(record, "name")
        elif record.type == "label":
            self._labels.append(
                _Label(record.line, record.text_of("targetId"), _non_empty_text(record, "label"))
            )
        else:
            setting = read_setting(record)
            if setting is not None:
                self.settings[number] = setting

    def _oldest_kept(self, record: LegacyRecord, number: int) -> int:
        kept_id = record.text_of("firstKeptEntryId")
        oldest = self._record_at_index(record) if self._format == 1 else self.find(kept_id)
        if oldest >= 0 and any(above == oldest for above in self.up(self.parents[number])):
            return oldest
        if self._report is None:
            raise self._reader.error(record.line, f"the kept id {kept_id!r:.80} is not on the path above")
        self._report.add(
            record.line, "compaction whose kept id is unknown has an empty tail", repr(kept_id)[:80]
        )
        return NOTHING

    def _record_at_index(self, record: LegacyRecord) -> int:
        """Format 1 counts the parsed lines; the header is line 0."""
        text = record.members.optional_text("firstKeptEntryIndex") or ""
        return int(text) - 1 if text.isascii() and text.isdigit() and len(text) < 10 else NOTHING

    def _take_source(self, record: LegacyRecord) -> None:
        source = record.text_of("fromId")
        if source is not None and source != "root":
            self._sources.append((record.line, source))

    def _check_references(self) -> None:
        """Labels and branch summaries may name what comes later in the file."""
        for what, references in (
            ("label", [(label.line, label.target) for label in self._labels]),
            ("branch summary", self._sources),
        ):
            for line, target in references:
                if self.find(target) < 0:
                    self._forgive_or_raise(line, what, target)

    def _forgive_or_raise(self, line: int, what: str, target: str | None) -> None:
        if self._report is None:
            raise self._reader.error(line, f"the {what} names {target!r:.80}, which does not exist")
        self._report.add(line, f"{what} of an unknown record taken for one of none", repr(target)[:80])


def _non_empty_text(record: LegacyRecord, name: str) -> str | None:
    """The text of a member as it came, where it is a string that is not empty."""
    return record.members.optional_text(name) if record.text_of(name) else None
