"""The records of a file of format 1, 2 or 3, one by one (jsonl.md sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sessionstore import json_text
from sessionstore.errors import CorruptStorageError
from sessionstore.jsonl.codec import LineError, Members, decode_text, split_members
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.report import ImportReport
from sessionstore.jsonl.times import parse_time
from sessionstore.usage import usage_figures

KEPT_TYPES: Final = ("message", "custom", "custom_message", "branch_summary", "compaction")
"""The record types that become entries."""

DROPPED_TYPES: Final = (
    "model_change",
    "thinking_level_change",
    "active_tools_change",
    "session_info",
    "label",
)
"""The record types that are no entries; children of such a record hang under its parent."""


class LegacyRecord:
    """A record and where it stands. ``offset`` and ``length`` are bytes of its own text.

    ``type`` is the record type, where that is a string.
    """

    __slots__ = ("_time", "length", "line", "members", "offset", "type")

    def __init__(self, line: int, offset: int, length: int, members: Members) -> None:
        self.line: Final = line
        self.offset: Final = offset
        self.length: Final = length
        self.members: Final = members
        self.type: Final = self.text_of("type")
        self._time: int | None = None

    def text_of(self, name: str) -> str | None:
        """The member as a string; None where it is anything else."""
        text = self.members.optional_text(name)
        return self.members.get(name, str) if text is not None and text[0] == '"' else None

    def time(self) -> int:
        """Unix ms of the record. Raises :class:`LineError`."""
        if self._time is None:
            try:
                self._time = parse_time(self.members.get("timestamp", str))
            except ValueError as error:
                raise LineError(f"timestamp: {error}") from None
        return self._time


class LegacyReader:
    """Reads the records of ``source``, any number of times, always the same ones.

    With a ``report`` damage is forgiven and noted there, on the first pass only. Raises
    ``CorruptStorageError`` with path and line.
    """

    def __init__(self, source: SourceFile, report: ImportReport | None) -> None:
        self._source = source
        self._lenient = report is not None
        self._report = report

    def records(self) -> Iterator[LegacyRecord]:
        """The records in file order. A final line without its newline is ignored."""
        report, self._report = self._report, None
        for block in self._source.body():
            offset = block.offset
            for number, line in enumerate(block.lines, block.first_line):
                if self._lenient:
                    yield from _lenient_records(number, offset, line, report or ImportReport())
                else:
                    yield self._record(number, offset, line)
                offset += len(line) + 1

    def record_at(self, line: int, offset: int, length: int) -> LegacyRecord:
        """A record that was read before."""
        return self._record(line, offset, self._source.read(offset, length))

    def error(self, line: int, problem: str) -> CorruptStorageError:
        """The error for a line."""
        return CorruptStorageError(problem, path=self._source.path, line=line)

    def _record(self, number: int, offset: int, line: bytes) -> LegacyRecord:
        try:
            return LegacyRecord(number, offset, len(line), Members(split_members(decode_text(line))))
        except LineError as error:
            raise self.error(number, str(error)) from None


def _lenient_records(number: int, offset: int, line: bytes, report: ImportReport) -> list[LegacyRecord]:
    if not line.strip():
        report.add(number, "blank line passed over")
        return []
    try:
        text = decode_text(line)
    except LineError as error:
        report.add(number, "unreadable line skipped", str(error))
        return []
    try:
        return [LegacyRecord(number, offset, len(line), Members(split_members(text)))]
    except LineError as error:
        welded = _welded_records(number, offset, text)
        if welded:
            report.add(number, "records welded on one line taken apart", f"{len(welded)} records")
        else:
            report.add(number, "unreadable line skipped", str(error))
        return welded


def _welded_records(number: int, offset: int, text: str) -> list[LegacyRecord]:
    """The records that stand one after another on a line; none where anything else does."""
    found: list[LegacyRecord] = []
    start = 0
    try:
        for piece in json_text.consecutive(text):
            start = text.index(piece, start)
            at = offset + len(text[:start].encode())
            found.append(LegacyRecord(number, at, len(piece.encode()), Members(split_members(piece))))
            start += len(piece)
    except ValueError:
        return []
    return found


def check_body(record: LegacyRecord) -> None:
    """Raise :class:`LineError` when a kept record lacks what its entry needs."""
    members = record.members
    match record.type:
        case "message":
            Members(split_members(members.text("message", "{"))).get("role", str)
        case "custom":
            members.name("customType")
        case "custom_message":
            members.get("customType", str)
        case "compaction":
            members.text("summary", '"')
            members.text("tokensBefore", "-0123456789")
            _check_summary(members)
        case _:
            members.text("summary", '"')
            members.optional("fromId", str)
            _check_summary(members)


def _check_summary(members: Members) -> None:
    members.optional("fromHook", bool)
    usage = members.optional_text("usage")
    if usage not in (None, "null"):
        try:
            usage_figures(usage or "", "usage")
        except ValueError as error:
            raise LineError(str(error)) from None
