"""Open files of the operating system, each with an owner."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Final

_BINARY: Final[int] = getattr(os, "O_BINARY", 0)
_MODE: Final = 0o666
"""Before the umask, as everywhere."""


class Descriptor:
    """A descriptor that is closed when nobody has a use for it any more.

    A signal that comes while the system opens a file is handled as soon as ``os.open`` returns, and an
    interrupt would lose a bare number before it has a name. Here the number has its owner before any
    Python code runs again. May be shared. Raises ``OSError``.
    """

    __slots__ = ("_open",)

    def __init__(self, path: str | os.PathLike[str], flags: int) -> None:
        self._open: list[int] = []
        self._open.extend(map(os.open, (path,), (flags | _BINARY,), (_MODE,)))

    @property
    def number(self) -> int:
        """What the functions of :mod:`os` take. Raises ``ValueError`` when it is closed."""
        if not self._open:
            raise ValueError("the file is closed")
        return self._open[0]

    @property
    def is_open(self) -> bool:
        """Whether it was not closed yet."""
        return bool(self._open)

    def close(self) -> None:
        """Close it; may be called again. It is closed even when this raises ``OSError``."""
        if self._open:
            number = self._open[0]
            del self._open[0]
            os.close(number)

    def __del__(self) -> None:
        with suppress(OSError, AttributeError):  # an interrupt may have come before the first line
            self.close()
