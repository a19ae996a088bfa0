r"""Reading a file line by line through one descriptor, up to a boundary (jsonl.md section 2).

Lines end at ``\n`` only. The boundary is the end of the last complete line when the file was
opened: what is appended later, or was cut off by a crash, is not read.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

import msgspec

from sessionstore.descriptor import Descriptor
from sessionstore.errors import CorruptStorageError, StorageError

BLOCK_SIZE: Final = 1 << 20
"""Bytes that are read at once; a longer line is held whole."""

HEADER_LIMIT: Final = 1 << 20
"""Bytes within which the header must end. Bounds what listing reads of a file that is none."""


_NO_WAIT: Final[int] = getattr(os, "O_NONBLOCK", 0)


class Block(msgspec.Struct):
    """Consecutive complete lines without their newlines."""

    first_line: int
    """The number of the first line, from 1."""

    offset: int
    """Where the first line begins, in bytes."""

    lines: list[bytes]

    is_ascii: bool
    """Whether nothing beyond ASCII stands in any of them."""


class SourceFile:
    """A file that is open for reading. A context manager.

    ``end`` is where its last complete line ends, ``size`` where the file ended when it was opened;
    between them stands a torn transaction, if anything. Raises ``StorageError`` when the file
    cannot be read.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._body = (0, 0)
        try:
            self._file = open_for_reading(path)
        except (OSError, ValueError) as error:
            raise unreadable(path, error) from error
        try:
            found = os.fstat(self._file.number)
            if not stat.S_ISREG(found.st_mode):
                raise StorageError(f"cannot read {path}: it is not a file")
            self.identity = (found.st_dev, found.st_ino)
            self.size = found.st_size
            self.modified_at = found.st_mtime_ns // 1_000_000
            self.end = self._last_newline(self.size)
        except BaseException as error:
            self.close()
            if isinstance(error, OSError) and not isinstance(error, StorageError):
                raise unreadable(path, error) from error
            raise

    @property
    def is_torn(self) -> bool:
        """Whether the file ends in a line without its newline."""
        return self.end < self.size

    def read(self, offset: int, length: int) -> bytes:
        """Exactly ``length`` bytes from ``offset``."""
        pieces: list[bytes] = []
        try:
            os.lseek(self._file.number, offset, os.SEEK_SET)
            while length:
                piece = os.read(self._file.number, min(length, 1 << 30))
                if not piece:
                    raise CorruptStorageError("the file shrank while it was read", path=self.path)
                pieces.append(piece)
                length -= len(piece)
        except OSError as error:
            raise unreadable(self.path, error) from error
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def blocks(self, offset: int = 0, first_line: int = 1) -> Iterator[Block]:
        """The complete lines from ``offset``, which is where line ``first_line`` begins."""
        rest: list[bytes] = []
        position = offset
        while position < self.end:
            data = self.read(position, min(BLOCK_SIZE, self.end - position))
            position += len(data)
            lines = data.split(b"\n")
            last = lines.pop()
            if lines:
                rest.append(lines[0])
                lines[0] = b"".join(rest)
                yield Block(first_line, offset, lines, data.isascii() and lines[0].isascii())
                first_line += len(lines)
                offset = position - len(last)
                rest = []
            rest.append(last)

    def first_lines(self, count: int) -> Iterator[tuple[int, int, bytes]]:
        """Up to ``count`` complete lines within :data:`HEADER_LIMIT`: number, offset and line."""
        offset = 0
        for number in range(1, count + 1):
            line = self._short_line(offset, HEADER_LIMIT)
            if line is None:
                return
            yield number, offset, line
            offset += len(line) + 1

    def first_line(self) -> bytes | None:
        """The first line, or None where none ends within :data:`HEADER_LIMIT`."""
        return self._short_line(0, HEADER_LIMIT)

    def begin_body(self, offset: int, line: int) -> None:
        """Say where the first line after the header begins; without it, after the first line."""
        self._body = offset, line

    def body(self) -> Iterator[Block]:
        """The complete lines after the header."""
        if self._body == (0, 0):
            self.begin_body(len(self.first_line() or b"") + 1, 2)
        offset, line = self._body
        return self.blocks(offset, line)

    def _short_line(self, offset: int, limit: int) -> bytes | None:
        size = 4096
        while True:
            data = self.read(offset, min(size, self.end - offset))
            cut = data.find(b"\n")
            if cut >= 0:
                return data[:cut]
            if len(data) == self.end - offset or size >= limit:
                return None
            size *= 4

    def line_at(self, offset: int) -> bytes:
        """The complete line that begins at ``offset``, without its newline."""
        line = self._short_line(offset, self.end)
        if line is None:
            raise CorruptStorageError("the file changed while it was read", path=self.path)
        return line

    def close(self) -> None:
        """Close the descriptor; may be called again."""
        with suppress(OSError):  # nothing was written
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _last_newline(self, size: int) -> int:
        end = size
        while end > 0:
            start = max(0, end - BLOCK_SIZE)
            found = self.read(start, end - start).rfind(b"\n")
            if found >= 0:
                return start + found + 1
            end = start
        return 0


def open_for_reading(path: str | os.PathLike[str]) -> Descriptor:
    """Open a file. A pipe or a device does not make the open wait. Raises ``OSError``."""
    return Descriptor(path, os.O_RDONLY | _NO_WAIT)


def unreadable(path: str, error: OSError | ValueError) -> StorageError:
    """The error for a file that the operating system does not let us read."""
    return StorageError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}")
