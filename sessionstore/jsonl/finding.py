"""Finding session files under a root, by their names and header lines only (jsonl.md section 1)."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from sessionstore.errors import (
    CorruptStorageError,
    SessionStoreError,
    StorageError,
    UnsupportedStorageVersionError,
)
from sessionstore.jsonl.codec import LineError
from sessionstore.jsonl.files import HEADER_LIMIT, open_for_reading
from sessionstore.jsonl.headers import FORMAT, FileHeader, read_header
from sessionstore.jsonl.parents import resolve_parent
from sessionstore.jsonl.paths import SUFFIX, encoded_id, file_name, folder_name
from sessionstore.metadata import SessionMetadata
from sessionstore.text import encode_uri_component

_log: Final = logging.getLogger("sessionstore.jsonl")


class Found(msgspec.Struct, frozen=True):
    """A session file whose header was read. ``modified_at`` is Unix ms."""

    path: Path
    header: FileHeader
    modified_at: int

    def metadata(self, container: str) -> SessionMetadata:
        """What the header says, with the id of the parent where an older header names its file."""
        header = self.header
        parent_id, parent_path = header.parent_session_id, header.parent_path
        if header.format < FORMAT:
            parent_id, parent_path = resolve_parent(parent_path, str(self.path))
        return SessionMetadata(
            id=header.id,
            created_at=header.created_at,
            container=container,
            parent_session_id=parent_id,
            cwd=header.cwd,
            path=str(self.path),
            modified_at=self.modified_at,
            legacy_parent_session_path=parent_path,
        )


def peek(path: Path) -> Found | None:
    """Read the header of a file and nothing else; None where there is no file.

    Raises ``StorageError`` when it cannot be read, ``CorruptStorageError`` when it has no session
    header, ``UnsupportedStorageVersionError``.
    """
    try:
        descriptor = open_for_reading(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        modified_at = os.fstat(descriptor.number).st_mtime_ns // 1_000_000
        line = _first_line(descriptor.number)
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            descriptor.close()
    if line is None:
        raise CorruptStorageError("no session header: the first line is not complete", path=path, line=1)
    try:
        return Found(path, read_header(line, str(path)), modified_at)
    except LineError as error:
        raise CorruptStorageError(f"no session header: {error}", path=path, line=1) from None


def _first_line(descriptor: int) -> bytes | None:
    data = b""
    while len(data) < HEADER_LIMIT:
        piece = os.read(descriptor, 4096)
        if not piece:
            return None
        data += piece
        cut = data.find(b"\n")
        if cut >= 0:
            return data[:cut]
    return None


class Folders:
    """The session files under one root.

    A file is looked for by the name that its id encodes to. Files of other names are sessions
    too, by their headers, unless the file that is named right exists.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, id: str, created_at: int, cwd: str | None) -> Path:
        """Where a session belongs."""
        return self._root / folder_name(cwd) / file_name(created_at, id)

    def is_home(self, found: Found) -> bool:
        """Whether a file is where its session belongs."""
        header = found.header
        return found.path == self.path(header.id, header.created_at, header.cwd)

    def sessions(self, cwd: str | None = None) -> Iterator[Found]:
        """Every readable session, or those of one ``cwd``; others are passed over, with a warning."""
        found: dict[tuple[str, str | None], Found] = {}
        for path in self._files(None if cwd is None else folder_name(cwd)):
            session = _readable(path)
            if session is None or (cwd is not None and session.header.cwd != cwd):
                continue
            self._keep(found, session)
        return iter(found.values())

    def with_id(self, id: str) -> list[Found]:
        """The sessions of an id, at most one for each ``cwd``.

        Where there is none, but a file that is called like one cannot be read, its error is raised:
        that session is not missing.
        """
        encoded = encode_uri_component(id)
        found: dict[tuple[str, str | None], Found] = {}
        unreadable: SessionStoreError | None = None
        for path in self._files():
            name = encoded_id(path.name)
            if name not in (encoded, None):
                continue
            try:
                session = peek(path) if name == encoded else _readable(path)
            except SessionStoreError as error:
                unreadable = unreadable or error
                continue
            if session is not None and session.header.id == id:
                self._keep(found, session)
        if unreadable is not None and not found:
            raise unreadable
        return list(found.values())

    def takes(self, id: str, cwd: str | None) -> Path | None:
        """The file that has an id in a ``cwd``, or may have it: one that cannot be read is in doubt."""
        encoded = encode_uri_component(id)
        for path in self._files(folder_name(cwd)):
            name = encoded_id(path.name)
            if name not in (encoded, None):
                continue
            try:
                session = peek(path)
            except SessionStoreError:
                if name == encoded:
                    return path
                continue
            if session is not None and (session.header.id, session.header.cwd) == (id, cwd):
                return path
        return None

    def _keep(self, found: dict[tuple[str, str | None], Found], session: Found) -> None:
        key = (session.header.id, session.header.cwd)
        other = found.get(key)
        if other is None:
            found[key] = session
            return
        kept, left = (session, other) if self.is_home(session) else (other, session)
        _log.warning("%s is passed over: %s is the same session", left.path, kept.path)
        found[key] = kept

    def files(self) -> Iterator[Path]:
        """Every file that is called like a session, in order."""
        return self._files()

    def folders(self) -> list[Path]:
        """The folders that sessions may be in. Raises ``StorageError``; none when there is no root."""
        try:
            with os.scandir(self._root) as entries:
                names = sorted(
                    entry.name for entry in entries if not entry.name.endswith(".scopes") and entry.is_dir()
                )
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StorageError(f"cannot read {self._root}: {error.strerror or error}") from error
        return [self._root / name for name in names]

    def _files(self, folder: str | None = None) -> Iterator[Path]:
        for directory in self.folders() if folder is None else [self._root / folder]:
            try:
                with os.scandir(directory) as entries:
                    names = sorted(entry.name for entry in entries if entry.name.endswith(SUFFIX))
            except FileNotFoundError:
                continue
            except OSError as error:
                raise StorageError(f"cannot read {directory}: {error.strerror or error}") from error
            for name in names:
                yield directory / name


def _readable(path: Path) -> Found | None:
    """The session in a file; None, with a word in the log, where there is none that can be read."""
    try:
        return peek(path)
    except CorruptStorageError as error:
        _log.debug("%s is no session", error)
    except (StorageError, UnsupportedStorageVersionError) as error:
        _log.warning("a session file is passed over: %s", error)
    return None
