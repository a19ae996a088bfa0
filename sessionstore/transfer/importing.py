"""Session files of any format into a store: idempotent, and one bad file stops no good one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Final

import msgspec

from sessionstore.errors import (
    MissingDriverError,
    SchemaVersionError,
    SessionExistsError,
    SessionNotFoundError,
    SessionStoreError,
    StorageError,
)
from sessionstore.image import ImageHeader
from sessionstore.jsonl import ImportedSession, Mercy, open_source
from sessionstore.repository import SessionRepo
from sessionstore.transfer.progress import Counted, Progress


class Status(Enum):
    """What came of a file."""

    IMPORTED = "imported"
    THERE = "already there"
    REFUSED = "refused"


class Source(msgspec.Struct, frozen=True):
    """A file to import, or a folder that could not be looked into: ``problem`` says why."""

    path: Path
    problem: str | None = None


class ImportOutcome(msgspec.Struct, frozen=True):
    """What came of one file.

    ``mercies`` are what ``lenient`` forgave. A refused file has a ``problem``, and its ``line``
    where that is known; one that is already there may have come from the file ``same_as``.
    """

    path: Path
    status: Status
    session_id: str | None = None
    format: int | None = None
    entries: int = 0
    records: int = 0
    mercies: list[Mercy] = []
    problem: str | None = None
    line: int | None = None
    same_as: Path | None = None


_OF_THE_STORE: Final = (SchemaVersionError, MissingDriverError)
"""Errors of the target that every file would meet."""


def find_sources(paths: Iterable[Path]) -> list[Source]:
    """The files named, and all ``*.jsonl`` files in the folders named, in order of their paths.

    Folders of sidecars (``*.jsonl.scopes``) belong to their main files and are not looked into.
    """
    found: list[Source] = []
    for path in paths:
        found += _walk(path) if path.is_dir() else [Source(path)]
    return found


def _walk(folder: Path) -> list[Source]:
    found: list[Source] = []

    def note(error: OSError) -> None:
        found.append(Source(Path(error.filename or folder), error.strerror or str(error)))

    for parent, folders, names in os.walk(folder, onerror=note):
        folders[:] = [name for name in folders if not name.endswith(".jsonl.scopes")]
        files = (Path(parent, name) for name in names if name.endswith(".jsonl"))
        found += [Source(file) for file in files if file.is_file()]
    return sorted(found, key=lambda source: source.path)


def import_sources(
    sources: Iterable[Source], target: SessionRepo, *, lenient: bool = False, progress: Progress | None = None
) -> Iterator[ImportOutcome]:
    """Load each file into ``target`` as a session, complete or not at all; one outcome each.

    A session whose id the target has is left alone, so that a second run changes nothing. Older
    formats come in as their upgrade would make them, with the one adjustment row of their usage.
    Raises ``SchemaVersionError`` and ``MissingDriverError``, which no file can do anything about.
    """
    told = progress or Progress()
    made: dict[tuple[str, str | None], Path] = {}
    for source in sources:
        told.begin(source.path.name)
        outcome = _import(source, target, lenient, told, made)
        yield outcome


def _import(
    source: Source,
    target: SessionRepo,
    lenient: bool,
    progress: Progress,
    made: dict[tuple[str, str | None], Path],
) -> ImportOutcome:
    path = source.path
    if source.problem is not None:
        return ImportOutcome(path, Status.REFUSED, problem=source.problem)
    try:
        if path.exists() and not path.is_file():
            raise StorageError("is no regular file")
        with open_source(path, lenient=lenient) as opened:
            outcome = _load(path, opened, target, progress)
    except _OF_THE_STORE:
        raise
    except SessionStoreError as error:
        line: int | None = getattr(error, "line", None)
        problem = str(error).removeprefix(f"{path}: ")
        return ImportOutcome(path, Status.REFUSED, problem=problem, line=line)
    header = opened.image.header
    if outcome.status is Status.THERE:
        return msgspec.structs.replace(outcome, same_as=made.get((header.id, header.cwd)))
    made[header.id, header.cwd] = path
    return outcome


def _load(path: Path, opened: ImportedSession, target: SessionRepo, progress: Progress) -> ImportOutcome:
    header = opened.image.header
    counted = Counted(opened.image, progress)
    status = Status.THERE
    if not _has(target, header):
        try:
            target.load(counted.image)
            status = Status.IMPORTED
        except SessionExistsError:
            pass  # by somebody else, a moment ago; or the id is taken in another working directory
    done = status is Status.IMPORTED
    return ImportOutcome(
        path,
        status,
        header.id,
        opened.format,
        counted.entries if done else 0,
        counted.records if done else 0,
        opened.report.mercies if done else [],
    )


def _has(target: SessionRepo, header: ImageHeader) -> bool:
    """Whether the target has the session, as far as that can be told before it is loaded."""
    try:
        return target.get(header.id).cwd == header.cwd
    except SessionNotFoundError:
        return False
    except _OF_THE_STORE:
        raise
    except SessionStoreError:
        return False  # several working directories have the id: loading tells
