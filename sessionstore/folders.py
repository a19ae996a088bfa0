"""What file stores ask of folders: to be alone in one, and that its names last."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from sessionstore.errors import StorageBusyError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PATIENCE: Final = 5.0
"""Seconds to wait for whoever holds the lock; it is held for a few calls of the system at a time."""

_PAUSE: Final = 0.002
_NO_SYNC: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


@contextmanager
def alone_in(folder: Path) -> Generator[bool]:
    """Be the only one in ``folder`` of all who ask for that: files that belong together appear or
    vanish there as one step.

    No file is made for it, and what ends the process ends the lock. Gives False, and holds nothing,
    where folders cannot be locked: on Windows and some network file systems. Raises
    ``StorageBusyError`` when somebody else holds the lock for longer than :data:`PATIENCE`.
    """
    with ExitStack() as stack:
        yield _lock(folder, stack)


def _lock(folder: Path, stack: ExitStack) -> bool:
    if fcntl is None:
        return False
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    stack.callback(_close, descriptor)
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise StorageBusyError(f"{folder}: somebody else has locked the folder") from None
            time.sleep(_PAUSE)
        except OSError:
            return False
        else:
            # Closing alone leaves it locked for as long as a process lives that was forked meanwhile.
            stack.callback(fcntl.flock, descriptor, fcntl.LOCK_UN)
            return True


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlive a loss of power, where the system can do that.

    It cannot on Windows, on some network file systems, and for a folder that we may not read.
    Raises ``OSError``.
    """
    if os.name == "nt":
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        os.close(descriptor)


def _close(descriptor: int) -> None:
    with suppress(OSError):
        os.close(descriptor)
