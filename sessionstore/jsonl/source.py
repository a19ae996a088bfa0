"""A session file on its own, of any format, as the image that an import loads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from os import PathLike
from types import TracebackType
from typing import Final, Self

from sessionstore import json_text
from sessionstore.errors import CorruptStorageError, InvalidValueError
from sessionstore.ids import IdGenerator, Uuid7Generator
from sessionstore.image import SessionImage, SessionSnapshot
from sessionstore.jsonl.codec import LineError
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.headers import FORMAT, FileHeader, read_header
from sessionstore.jsonl.legacy import LegacySnapshot
from sessionstore.jsonl.report import ImportReport
from sessionstore.jsonl.snapshot import FileSnapshot
from sessionstore.plan import check_message
from sessionstore.records import EntryRecord, Record, UsageRecord, entry_of, usage_of

FOREIGN_LINES: Final = 5
"""Lines before the header that a lenient import passes over."""


class ImportedSession:
    """A session file that is open for an import. A context manager.

    ``image`` is what the file becomes when it is upgraded, checked as it is read: every payload
    can be read back, and no assistant message is pending. ``report`` names what was forgiven.
    """

    def __init__(self, image: SessionImage, report: ImportReport, format: int, open: ExitStack) -> None:
        self.image: Final = image
        self.report: Final = report
        self.format: Final = format
        self._open = open

    def close(self) -> None:
        """Close the file; may be called again."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_source(
    path: str | PathLike[str], *, lenient: bool = False, id_generator: IdGenerator | None = None
) -> ImportedSession:
    """Open a session file of format 3 or 4 for an import; ``lenient`` also formats 1 and 2.

    Changes nothing on disk. ``lenient`` forgives what jsonl.md section 5 lists, and nothing else.
    ``id_generator`` makes the ids of entries that had older ones. Raises ``StorageError`` when the
    file cannot be read, ``CorruptStorageError`` with path and line when it is damaged,
    ``UnsupportedStorageVersionError`` for formats that are not read.
    """
    report = ImportReport()
    with ExitStack() as opening:
        source = opening.enter_context(SourceFile(os.fspath(path)))
        header = find_header(source, report if lenient else None)
        snapshot = snapshot_of(
            source,
            header,
            opening,
            id_generator or Uuid7Generator(),
            report=report if lenient else None,
            with_adjustment=True,
        )
        image = SessionImage(snapshot.header, _checked(snapshot.records, source.path))
        return ImportedSession(image, report, header.format, opening.pop_all())


def find_header(source: SourceFile, report: ImportReport | None = None) -> FileHeader:
    """The header of a file; with a ``report`` up to five foreign lines may come before it.

    Raises ``CorruptStorageError`` when there is none.
    """
    problem = CorruptStorageError(
        "no session header: the first line is not complete", path=source.path, line=1
    )
    for number, offset, line in source.first_lines(1 if report is None else FOREIGN_LINES + 1):
        try:
            header = read_header(line, source.path, lenient=report is not None)
        except LineError as error:
            if number == 1:
                problem = CorruptStorageError(f"no session header: {error}", path=source.path, line=1)
            continue
        if report is not None:
            _note_header(report, number, line, header)
        source.begin_body(offset + len(line) + 1, number + 1)
        return header
    raise problem


def _note_header(report: ImportReport, number: int, line: bytes, header: FileHeader) -> None:
    for foreign in range(1, number):
        report.add(foreign, "foreign line before the header passed over")
    if line.startswith(b"\xef\xbb\xbf"):
        report.add(number, "byte-order mark passed over")
    if header.version_as_text:
        report.add(number, "version that is a text taken for a number")
    if header.format < 3:
        report.add(number, f"format {header.format} converted")


def snapshot_of(
    source: SourceFile,
    header: FileHeader,
    opening: ExitStack,
    ids: IdGenerator,
    *,
    report: ImportReport | None = None,
    with_adjustment: bool = False,
) -> SessionSnapshot:
    """The session in a file whose header was read; what it opens is closed with ``opening``."""
    if header.format < FORMAT:
        return LegacySnapshot(source, header, ids, report=report, with_adjustment=with_adjustment)
    snapshot = FileSnapshot(source, header)
    opening.callback(snapshot.close)
    return snapshot


def _checked(records: Iterator[Record], path: str) -> Iterator[Record]:
    """The same records; what could not be read back or may not be stored raises an error."""
    for record in records:
        try:
            _check(record)
        except InvalidValueError as error:
            raise InvalidValueError(f"{path}: {error}") from None
        except CorruptStorageError as error:
            raise CorruptStorageError(str(error), path=path) from None
        yield record


def _check(record: Record) -> None:
    if isinstance(record, EntryRecord):
        what = f"entry {record.id!r}"
        _check_json(record.payload, what)
        entry = entry_of(record)
        if entry.type == "message":
            check_message(entry.message, what)
    elif isinstance(record, UsageRecord):
        _check_json(record.usage, f"usage {record.id!r}")
        _check_json(record.details, f"usage {record.id!r}")
        usage_of(record)
    else:
        _check_json(record.value, f"the value at number {record.seq}")


def _check_json(text: str | None, what: str) -> None:
    if text is None:
        return
    try:
        json_text.check(text)
    except ValueError as error:
        raise CorruptStorageError(f"{what}: {error}") from None
