"""Appending: one ``write`` of one line on an open descriptor, or nothing (jsonl.md section 2)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from sessionstore.descriptor import Descriptor
from sessionstore.errors import StorageError, TransactionConflictError
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.publish import NewFile, failed

_UNKNOWN: Final = -1


class LogFile:
    """A file of lines that this process appends to.

    ``length`` is where its last complete line ends; ``size`` where the file ended when it was
    read: a torn tail between them is cut off before anything is written.
    """

    def __init__(
        self, path: Path, identity: tuple[int, int], length: int, *, size: int, fsync: bool = False
    ) -> None:
        self.path: Final = path
        self.length = length
        self._identity = identity
        self._size = size
        self._fsync = fsync
        self._descriptor: Descriptor | None = None
        self._broken = False

    @classmethod
    def of_source(cls, source: SourceFile, *, fsync: bool) -> LogFile:
        """The file that was read, up to its last complete line."""
        return cls(Path(source.path), source.identity, source.end, size=source.size, fsync=fsync)

    @classmethod
    def of_new(cls, file: NewFile, path: Path, *, fsync: bool) -> LogFile:
        """A file that was just published at ``path``; shares its descriptor."""
        log = cls(path, file.identity, file.length, size=file.length, fsync=fsync)
        log._descriptor = file.descriptor
        return log

    @property
    def is_broken(self) -> bool:
        """Whether a failed append could not be undone: nobody knows what is in the file."""
        return self._broken

    def check(self) -> None:
        """Make sure that the path still names this file, and that nobody else wrote to it.

        Raises ``FileNotFoundError`` when the file is gone, ``TransactionConflictError`` when it
        was replaced or changed, ``StorageError`` when an earlier append could not be undone.
        """
        if self._broken:
            raise not_undone(self.path)
        try:
            found = os.stat(self.path)  # noqa: PTH116 - called for every commit
        except (FileNotFoundError, NotADirectoryError):
            raise FileNotFoundError(str(self.path)) from None
        except OSError as error:
            raise failed("read", self.path, error) from error
        is_known = self._size != _UNKNOWN
        if (found.st_dev, found.st_ino) != self._identity or (is_known and found.st_size != self._size):
            raise TransactionConflictError(
                f"{self.path} was changed by somebody else since it was opened. Nothing was written; "
                "close the session and open it again"
            )

    def repair(self) -> None:
        """Cut a torn tail off; where that cannot be done now, the next append tries again."""
        if self._size == self.length:
            return
        try:
            self._cut(self._open().number)
        except StorageError:
            self._broken = False  # nothing was written yet
        finally:
            self.rest()

    def append(self, line: bytes) -> None:
        """Append one complete line, wholly or not at all. To be called right after :meth:`check`.

        Whatever is raised, ``length`` tells whether the line is in the file.
        """
        descriptor = self._open().number
        if self._size != self.length:
            self._cut(descriptor)
        end = self.length + len(line)
        try:
            self._size = _UNKNOWN  # until the line is known to be in or out
            written = os.write(descriptor, line)
            if written != len(line):
                raise StorageError(f"cannot write {self.path}: the device is full")
            if self._fsync:
                os.fsync(descriptor)
            self._size = end
            self.length = end
        except BaseException as error:
            if self.length != end:
                self._cut(descriptor)
            if isinstance(error, OSError) and not isinstance(error, StorageError):
                raise failed("write", self.path, error) from error
            raise

    def _cut(self, descriptor: int) -> None:
        try:
            os.ftruncate(descriptor, self.length)
            if self._fsync:
                os.fsync(descriptor)
        except OSError as error:
            self._broken = True
            raise failed("repair", self.path, error) from error
        self._size = self.length

    def _open(self) -> Descriptor:
        if self._descriptor is None:
            try:
                self._descriptor = Descriptor(self.path, os.O_WRONLY | os.O_APPEND)
            except OSError as error:
                raise failed("write", self.path, error) from error
        return self._descriptor

    def rest(self) -> None:
        """Close the descriptor until the next append, whatever the system says of that."""
        with suppress(StorageError):
            self.close()

    def close(self) -> None:
        """Close the descriptor. Raises ``StorageError``; it is closed even then."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            try:
                descriptor.close()
            except OSError as error:
                raise failed("close", self.path, error) from error


def not_undone(path: Path) -> StorageError:
    """The error of a handle that does not know what is in a file any more."""
    return StorageError(f"{path}: a failed write could not be undone; close the session and open it again")
