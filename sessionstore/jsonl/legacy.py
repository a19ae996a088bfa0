"""A file of format 1, 2 or 3 as the format-4 state that it stands for (jsonl.md section 4)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Final

from sessionstore import json_text
from sessionstore.address import Place
from sessionstore.builtin import BRANCH_TIP, ENTRY_LABEL, LANE_CONFIG, LANE_STATE, SESSION_NAME
from sessionstore.entries import EntryStructure, EntryType
from sessionstore.errors import CorruptStorageError, ForkError, InvalidValueError
from sessionstore.ids import IdGenerator
from sessionstore.image import ImageHeader, Selection, SessionSnapshot
from sessionstore.jsonl.codec import Members, split_members
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.headers import FileHeader
from sessionstore.jsonl.legacy_index import LegacyIndex
from sessionstore.jsonl.legacy_records import LegacyReader, LegacyRecord
from sessionstore.jsonl.legacy_settings import header_settings, lane_config
from sessionstore.jsonl.parents import resolve_parent
from sessionstore.jsonl.report import ImportReport
from sessionstore.records import IDLE_LANE_STATE, EntryRecord, Record, UsageRecord, ValueRecord
from sessionstore.storage import unknown_entry
from sessionstore.usage import SessionStats, Usage, usage_to_json

IMPORT_DETAILS: Final = '{"source":"v3-import"}'
"""The details of the one ledger row that an upgrade adds."""

_MAIN: Final = "main"
_RESERVED: Final = ("kind", "id", "parentId", "seq", "timestamp", "type", "scopeId")


class LegacySnapshot(SessionSnapshot):
    """The state that an older file stands for, read in two passes; changes nothing on disk.

    ``with_adjustment`` adds the ledger row of the upgrade, which an import carries and an open
    file does not have yet. With a ``report`` damage is forgiven and noted there (section 5). The
    ids that entries get are the same as long as the snapshot lives. Raises ``CorruptStorageError``
    with path and line.
    """

    def __init__(
        self,
        source: SourceFile,
        header: FileHeader,
        ids: IdGenerator,
        *,
        report: ImportReport | None = None,
        with_adjustment: bool = False,
    ) -> None:
        self._source = source
        self._format = header.format
        self._reader = LegacyReader(source, report)
        self._index = LegacyIndex(self._reader, header.id, header.format, ids, report)
        self._values = self._derive(header)
        self.usage: Final = self._total_usage()
        """What the file cost in all."""
        next_seq = len(self._index.kept) + len(self._values) + 1
        self._adjustment: UsageRecord | None = None
        if with_adjustment:
            self._adjustment = adjustment_row(self, ids.next(), next_seq)
            next_seq += 1
        parent_id, parent_path = resolve_parent(header.parent_path, source.path)
        super().__init__(
            ImageHeader(
                header.id,
                header.created_at,
                next_seq,
                SessionStats(self._index.message_count, self.usage),
                parent_id,
                header.cwd,
                parent_path,
            )
        )

    def _total_usage(self) -> Usage:
        try:
            return self._index.usage.total()
        except InvalidValueError as error:
            raise CorruptStorageError(str(error), path=self._source.path) from None

    # -- derived values ----------------------------------------------------------------------

    def _derive(self, header: FileHeader) -> list[ValueRecord]:
        """What the file says beside its entries, numbered on from them."""
        index = self._index
        texts: list[tuple[str, str, str]] = []
        if index.name is not None:
            texts.append((SESSION_NAME, "", index.name))
        texts.extend((ENTRY_LABEL, id, text) for id, text in index.labels().items())
        texts.append((BRANCH_TIP, _MAIN, _id_text(index.new_id(index.last))))
        changes = (index.settings[number] for number in index.up(index.last) if number in index.settings)
        config = lane_config(chain(changes, header_settings(header.settings)))
        if config is not None:
            texts.append((LANE_CONFIG, _MAIN, config))
            texts.append((LANE_STATE, _MAIN, IDLE_LANE_STATE))
        first_seq = len(index.kept) + 1
        return [
            ValueRecord("", namespace, key, seq, text)
            for seq, (namespace, key, text) in enumerate(texts, first_seq)
        ]

    # -- reading -----------------------------------------------------------------------------

    def read(self, selection: Selection) -> Iterator[Record]:
        """See :meth:`SessionSnapshot.read`."""
        yield from self._entries(selection)
        for value in self._values:
            if selection.takes_value(Place("", value.namespace, value.key)):
                yield value
        if self._adjustment is not None and selection.usage_rows:
            yield self._adjustment

    def _entries(self, selection: Selection) -> Iterator[EntryRecord]:
        index = self._index
        marks = None
        if not selection.whole_tree:
            marks = bytearray(len(index.parents))
            if selection.tip is not None:
                for number in index.up(self._number(selection.tip)):
                    marks[number] = 1
        for number, record in enumerate(self._reader.records()):
            if index.entries[number] >= 0 and (marks is None or marks[number]):
                yield self._entry(number, record)

    def _entry(self, number: int, record: LegacyRecord) -> EntryRecord:
        structure = self._structure(number, record)
        return EntryRecord(
            structure.id,
            structure.parent_id,
            structure.seq,
            structure.timestamp,
            structure.type,
            structure.custom_type,
            json_text.join_members(self._payload(number, record)),
        )

    def _structure(self, number: int, record: LegacyRecord) -> EntryStructure:
        index = self._index
        entry = index.entries[number]
        return EntryStructure(
            index.new_ids[entry],
            index.new_id(index.parents[number]),
            entry + 1,
            record.time(),
            _entry_type(record),
            record.members.get("customType", str) if record.type == "custom" else None,
        )

    def _payload(self, number: int, record: LegacyRecord) -> dict[str, str]:
        members = record.members
        match record.type:
            case "message":
                return {"message": self._message(record), **members.without("message", *_RESERVED)}
            case "custom_message":
                rest = members.without(*_CUSTOM_MESSAGE_FIELDS, "message", *_RESERVED)
                return {"message": _custom_message(record), **rest}
            case "custom":
                return members.without("customType", *_RESERVED)
            case "compaction":
                return {
                    "summary": members.text("summary"),
                    "retainedTail": f"[{','.join(self._tail(number))}]",
                    "tokensBefore": members.text("tokensBefore"),
                    **members.without(*_COMPACTION_FIELDS, *_RESERVED),
                    "fromHook": _flag(members.optional_text("fromHook")),
                }
            case _:
                return {
                    "fromId": self._from_id(record),
                    "summary": members.text("summary"),
                    **members.without("fromId", "summary", "fromHook", *_RESERVED),
                    "fromHook": _flag(members.optional_text("fromHook")),
                }

    def _message(self, record: LegacyRecord) -> str:
        text = record.members.text("message")
        if self._format < 3:
            parts = split_members(text)
            if Members(parts).is_text("role", "hookMessage"):
                return json_text.join_members({**parts, "role": '"custom"'})
        return text

    def _from_id(self, record: LegacyRecord) -> str:
        return _id_text(self._index.new_id(self._index.find(record.text_of("fromId"))))

    def _tail(self, number: int) -> Iterator[str]:
        """The messages that a compaction keeps, oldest first."""
        for above in self._index.tail(number):
            if self._index.entries[above] >= 0:
                record = self._index.record(above)
                text = self._tail_message(record)
                if text is not None:
                    yield text

    def _tail_message(self, record: LegacyRecord) -> str | None:
        members = record.members
        match record.type:
            case "message":
                return self._message(record)
            case "custom_message":
                return _custom_message(record)
            case "branch_summary" if record.text_of("summary"):
                return (
                    f'{{"role":"branchSummary","summary":{members.text("summary")},'
                    f'"fromId":{self._from_id(record)},"timestamp":{record.time()}}}'
                )
            case "compaction":
                return (
                    f'{{"role":"compactionSummary","summary":{members.text("summary")},'
                    f'"tokensBefore":{members.text("tokensBefore")},"timestamp":{record.time()}}}'
                )
            case _:
                return None

    def value(self, place: Place) -> ValueRecord | None:
        """See :meth:`SessionSnapshot.value`."""
        return next((value for value in self._values if ("", value.namespace, value.key) == place), None)

    def value_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.value_places`."""
        return (Place("", value.namespace, value.key) for value in self._values)

    def list_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.list_places`."""
        return iter(())

    def structure(self) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.structure`."""
        for number, record in enumerate(self._reader.records()):
            if self._index.entries[number] >= 0:
                yield self._structure(number, record)

    def path(self, start: str) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.path`."""
        path = self._index.up(self._number(start))
        kept = (number for number in path if self._index.entries[number] >= 0)
        return (self._structure(number, self._index.record(number)) for number in kept)

    def entry_id(self, given: str) -> str:
        """The new id of the entry that has the old id ``given``. Raises ``ForkError``."""
        number = self._index.find(given)
        if number < 0:
            raise ForkError(f"no record of {self._source.path} has the id {given!r:.200}")
        if self._index.entries[number] < 0:
            raise ForkError(f"the record {given!r:.200} of {self._source.path} is no entry")
        return self._index.new_ids[self._index.entries[number]]

    def _number(self, id: str) -> int:
        entry = self._index.new_numbers.find(id)
        if entry < 0:
            raise unknown_entry(id)
        return self._index.kept[entry]


def adjustment_row(snapshot: LegacySnapshot, id: str, seq: int) -> UsageRecord:
    """The ledger row by which the costs of an older file enter the ledger."""
    usage = json_text.encode(usage_to_json(snapshot.usage), "usage")
    return UsageRecord(id, seq, None, True, usage, IMPORT_DETAILS)


_CUSTOM_MESSAGE_FIELDS: Final = ("customType", "content", "details", "display")
_COMPACTION_FIELDS: Final = (
    "summary",
    "tokensBefore",
    "retainedTail",
    "fromHook",
    "firstKeptEntryId",
    "firstKeptEntryIndex",
)


def _custom_message(record: LegacyRecord) -> str:
    fields = record.members.only(*_CUSTOM_MESSAGE_FIELDS)
    return json_text.join_members({"role": '"custom"', **fields, "timestamp": str(record.time())})


def _entry_type(record: LegacyRecord) -> EntryType:
    match record.type:
        case "custom":
            return "custom"
        case "compaction":
            return "compaction"
        case "branch_summary":
            return "branch_summary"
        case _:
            return "message"


def _flag(text: str | None) -> str:
    return "true" if text == "true" else "false"


def _id_text(id: str | None) -> str:
    return "null" if id is None else json_text.encode(id, "entry id")
