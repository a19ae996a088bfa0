"""Making files whole: written beside their place, then moved there in one step."""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from sessionstore.descriptor import Descriptor
from sessionstore.errors import SessionExistsError, StorageError
from sessionstore.folders import sync_folder

TEMPORARY_SUFFIX: Final = ".tmp"
"""Ends the name of a file that is being written; no reader takes such a file for anything."""

UNFINISHED: Final = re.compile(r".+\.[0-9a-f]{12}\.tmp(\.scopes)?")
"""How :func:`temporary_beside` calls files, and the sidecars of such a file."""

_NO_LINKS: Final = frozenset({errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK})


class NewFile:
    """A file under a temporary name, open for appending.

    Either published or, by :meth:`discard`, gone. ``name`` must end in :data:`TEMPORARY_SUFFIX`.
    """

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND
        try:
            self.descriptor: Final = Descriptor(path, flags)
        except OSError as error:
            raise failed("write", path, error) from error
        try:
            found = os.fstat(self.descriptor.number)
        except OSError as error:
            self.discard()
            raise failed("write", path, error) from error
        self.identity: Final = (found.st_dev, found.st_ino)
        """What tells the file from every other."""

        self.length = 0

    def write(self, data: bytes) -> None:
        """Append ``data``, all of it."""
        view = memoryview(data)
        try:
            while view:
                written = os.write(self.descriptor.number, view)
                self.length += written
                view = view[written:]
        except OSError as error:
            raise failed("write", self.path, error) from error

    def write_lines(self, lines: Iterable[bytes], *, batch: int = 1 << 16) -> None:
        """Append lines, some at a time."""
        pieces: list[bytes] = []
        size = 0
        for line in lines:
            pieces.append(line)
            size += len(line)
            if size >= batch:
                self.write(b"".join(pieces))
                pieces.clear()
                size = 0
        if pieces:
            self.write(b"".join(pieces))

    def sync(self) -> None:
        """Have what was written survive the machine."""
        try:
            os.fsync(self.descriptor.number)
        except OSError as error:
            raise failed("write", self.path, error) from error

    def take_mode(self, path: Path) -> None:
        """Let in whom the file at ``path`` lets in, and nobody else."""
        try:
            self.path.chmod(stat.S_IMODE(path.stat().st_mode))
        except OSError as error:
            raise failed("write", self.path, error) from error

    def replace(self, path: Path) -> None:
        """Move the file to ``path`` in place of what is there."""
        try:
            self.path.replace(path)
        except OSError as error:
            raise failed("write", path, error) from error

    def publish(self, path: Path, *, is_alone: bool) -> None:
        """Move the file to ``path``, where nothing may be. Raises ``SessionExistsError``.

        Where there are no hard links, only who ``is_alone`` in the folder can be sure of that.
        """
        try:
            path.hardlink_to(self.path)
        except FileExistsError:
            raise SessionExistsError(f"{path} exists already") from None
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise failed("write", path, error) from error
            if exists(path):
                raise SessionExistsError(f"{path} exists already") from None
            if not is_alone:
                raise failed("write", path, error) from error
            self.replace(path)
        else:
            remove(self.path)

    def is_at(self, path: Path) -> bool:
        """Whether the file was moved to ``path``."""
        return identity_of(path) == self.identity

    def close(self) -> None:
        """Close the descriptor. What had to last was synced before, or is given up."""
        with suppress(OSError):
            self.descriptor.close()

    def discard(self) -> None:
        """Close and remove the file."""
        self.close()
        remove(self.path)


def temporary_beside(path: Path) -> Path:
    """A name beside ``path`` that nobody else uses."""
    return path.with_name(f"{path.name}.{secrets.token_hex(6)}{TEMPORARY_SUFFIX}")


def exists(path: Path) -> bool:
    """Whether there is something at ``path``. Raises ``StorageError`` when that cannot be told."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise failed("read", path, error) from error
    return True


def identity_of(path: Path) -> tuple[int, int] | None:
    """What tells the file at ``path`` from every other; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def remove(path: Path) -> bool:
    """Remove a file as well as can be; whether it is gone."""
    try:
        path.unlink()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def sync_directory(path: Path) -> None:
    """As :func:`~sessionstore.folders.sync_folder`, but raises ``StorageError``."""
    try:
        sync_folder(path)
    except OSError as error:
        raise failed("write", path, error) from error


def failed(what: str, path: Path | str, error: OSError) -> StorageError:
    """The error for something that the operating system did not do."""
    return StorageError(f"cannot {what} {path}: {error.strerror or error}")
