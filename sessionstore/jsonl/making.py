"""New files: an empty session, a session from an image, the upgrade of an older file."""

from __future__ import annotations

import os
import shutil
import tempfile
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from heapq import merge
from pathlib import Path
from typing import IO, Final

from sessionstore.errors import SessionExistsError, StorageError
from sessionstore.folders import AloneIn
from sessionstore.fork import ForkImage
from sessionstore.image import ImageHeader, SessionImage, settled_lines, settled_record
from sessionstore.jsonl.encoding import text_line, transaction_line
from sessionstore.jsonl.headers import ScopeHeader, header_line, scope_header_line
from sessionstore.jsonl.publish import NewFile, exists, failed, remove, sync_directory, temporary_beside
from sessionstore.jsonl.sidecars import scopes_directory, sidecar_path
from sessionstore.jsonl.snapshot import FileSnapshot
from sessionstore.plan import Step
from sessionstore.records import ElementRecord, Record, ValueRecord

_BATCH: Final = 4 << 20
"""Bytes of sidecars that wait to be written."""


def make_empty(path: Path, header: ImageHeader, *, fsync: bool) -> None:
    """Publish a session without records. Raises ``SessionExistsError`` when there is a file."""
    _check_free(path)
    _publish(path, [text_line(header_line(header))], fsync=fsync)


def make_from_image(path: Path, header: ImageHeader, image: SessionImage, *, fsync: bool) -> None:
    """Publish the session of an image at once and complete, its live scopes included.

    Raises ``SessionExistsError`` when there is a file; whatever is raised, nothing is left.
    """
    if isinstance(image, ForkImage) and isinstance(image.source, FileSnapshot):
        head = text_line(header_line(header, next_seq=image.header.next_seq))
        _check_free(path)
        _publish(path, _chain(head, fork_lines(image, image.source)), fsync=fsync)
        return
    with ExitStack() as spools:
        main, scoped = _Sorted(spools, path.parent), _Sorted(spools, path.parent)
        for record in image.records:
            is_scoped = isinstance(record, (ValueRecord, ElementRecord)) and record.scope_id != ""
            (scoped if is_scoped else main).add(record)
        head = text_line(header_line(header, next_seq=image.header.next_seq))
        _check_free(path)

        def make_sidecars(beside: Path) -> None:
            _make_sidecars(beside, header.id, scoped, fsync=fsync)

        lines = _chain(head, (line for _, line in main.lines()))
        _publish(path, lines, make_sidecars, fsync=fsync)


def fork_lines(image: ForkImage, source: FileSnapshot) -> Iterator[bytes]:
    """The lines of a fork of a format-4 file: already in order, and mostly taken as they stand."""
    for taken in source.main_lines(image.selection):
        if isinstance(taken, bytes):
            yield settled_lines(taken) + b"\n"
        elif isinstance(taken, ValueRecord):
            yield transaction_line([image.rewrite(taken)])
        else:
            yield transaction_line([settled_record(taken)])


def _make_sidecars(path: Path, session_id: str, records: _Sorted, *, fsync: bool) -> None:
    sidecars = _Sidecars(path, session_id)
    for scope_id, line in records.lines():
        sidecars.add(scope_id, line)
    sidecars.finish(fsync=fsync)


class _Sidecars:
    """New sidecars, written some lines at a time: there may be more of them than open files."""

    def __init__(self, path: Path, session_id: str) -> None:
        self._path = path
        self._session_id = session_id
        self._lines: dict[str, list[bytes]] = {}
        self._size = 0

    def add(self, scope_id: str, line: bytes) -> None:
        lines = self._lines.get(scope_id)
        if lines is None:
            header = ScopeHeader(self._session_id, scope_id)
            lines = self._lines[scope_id] = [text_line(scope_header_line(header))]
        lines.append(line)
        self._size += len(line)
        if self._size > _BATCH:
            self._flush(fsync=False)

    def finish(self, *, fsync: bool) -> None:
        """Write what is left."""
        self._flush(fsync=fsync)
        if fsync and self._lines:
            sync_directory(scopes_directory(str(self._path)))

    def _flush(self, *, fsync: bool) -> None:
        for scope_id, lines in self._lines.items():
            if not (lines or fsync):
                continue
            path = sidecar_path(str(self._path), scope_id)
            try:
                path.parent.mkdir(exist_ok=True)
                with path.open("ab") as file:
                    file.writelines(lines)
                    file.flush()
                    if fsync:
                        os.fsync(file.fileno())
            except OSError as error:
                raise failed("write", path, error) from error
            lines.clear()
        self._size = 0


def _publish(
    path: Path,
    lines: Iterable[bytes],
    make_sidecars: Callable[[Path], None] = lambda _: None,
    *,
    fsync: bool,
) -> None:
    """Write a main file and its sidecars beside ``path``, then move them there as one step."""
    file = NewFile(temporary_beside(path))
    alone = AloneIn(path.parent)
    try:
        make_sidecars(file.path)
        file.write_lines(lines)
        if fsync:
            file.sync()
        # Else, between the look and the removal, the sidecars could become those of another maker.
        with alone as is_alone:
            _move(file, path, is_alone=is_alone)
        if fsync:
            sync_directory(path.parent)
    except BaseException:
        if file.is_at(path):
            with alone:
                remove(path)
                _discard_scopes(path)
        raise
    finally:
        file.discard()
        _discard_scopes(file.path)


def _move(file: NewFile, path: Path, *, is_alone: bool) -> None:
    """Move a new main file and its sidecars to ``path``, where sidecars may be left but no file."""
    _check_free(path)
    remove_scopes(path)
    made, scopes = scopes_directory(str(file.path)), scopes_directory(str(path))
    try:
        made.rename(scopes)
    except FileNotFoundError:
        pass  # no scope is live
    except OSError as error:
        raise failed("write", scopes, error) from error
    try:
        file.publish(path, is_alone=is_alone)
    except BaseException:
        if not file.is_at(path):
            _discard_scopes(path)
        raise


def _discard_scopes(path: Path) -> None:
    directory = scopes_directory(str(path))
    with suppress(OSError):
        if directory.is_dir():
            shutil.rmtree(directory, ignore_errors=True)


def _check_free(path: Path) -> None:
    if exists(path):
        raise SessionExistsError(f"{path} exists already")


def remove_scopes(path: Path) -> None:
    """Remove what is left of sidecars where a session is to be made. Raises ``StorageError``."""
    directory = scopes_directory(str(path))
    try:
        shutil.rmtree(directory)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise failed("remove", directory, error) from error


def write_upgrade(
    file: NewFile, header: ImageHeader, records: Iterable[Record], steps: tuple[Step, ...]
) -> None:
    """Write an older file anew: a line for each derived record, then one for ``steps``."""
    head = text_line(header_line(header, next_seq=steps[-1].seq + 1))
    body = (transaction_line([record]) for record in records)
    file.write_lines(_chain(head, body, [transaction_line(steps)]))


def _chain(head: bytes, *rest: Iterable[bytes]) -> Iterator[bytes]:
    yield head
    for lines in rest:
        yield from lines


class _Sorted:
    """Lines of records, which come in order by kind, put in order by number.

    Payloads go through files without a name in the directory of the session: nobody sees them,
    and nothing is left of them.
    """

    def __init__(self, spools: ExitStack, directory: Path) -> None:
        self._spools = spools
        self._directory = directory
        self._runs: dict[type[Record] | None, _Run] = {}

    def add(self, record: Record) -> None:
        """Take the next record: into the common run while numbers ascend, else into its kind's."""
        common = self._run(None)
        run = common if record.seq > common.last_seq else self._run(type(record))
        run.add(record)

    def _run(self, kind: type[Record] | None) -> _Run:
        run = self._runs.get(kind)
        if run is None:
            try:
                spool = tempfile.TemporaryFile(dir=self._directory)  # noqa: SIM115 - spools close it
            except OSError as error:
                raise failed("write", self._directory, error) from error
            run = self._runs[kind] = _Run(self._spools.enter_context(spool))
        return run

    def lines(self) -> Iterator[tuple[str, bytes]]:
        """All lines by number, each with its scope."""
        runs = [run.numbered() for run in self._runs.values()]
        return ((scope_id, line) for _, scope_id, line in merge(*runs))


class _Run:
    """Lines in ascending order of their numbers."""

    def __init__(self, spool: IO[bytes]) -> None:
        self.last_seq = 0
        self._spool = spool
        self._seqs: Final = array("q")
        self._scope_ids: Final[list[str]] = []

    def add(self, record: Record) -> None:
        """Append the line of a record."""
        if record.seq <= self.last_seq:
            raise StorageError(f"number {record.seq} of an image comes after {self.last_seq}")
        self.last_seq = record.seq
        self._seqs.append(record.seq)
        self._scope_ids.append(record.scope_id if isinstance(record, (ValueRecord, ElementRecord)) else "")
        try:
            self._spool.write(transaction_line([record]))
        except OSError as error:
            raise failed("write", "a temporary file", error) from error

    def numbered(self) -> Iterator[tuple[int, str, bytes]]:
        """The lines, each with its number and its scope."""
        try:
            self._spool.seek(0)
            yield from zip(self._seqs, self._scope_ids, self._spool, strict=True)
        except OSError as error:
            raise failed("read", "a temporary file", error) from error
