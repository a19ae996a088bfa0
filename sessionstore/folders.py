"""What file stores ask of folders: to be alone in one, that its names last, that no waste stays."""

from __future__ import annotations

import errno
import os
import re
import shutil
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

ABANDONED_AFTER: Final = 86_400.0
"""Seconds for which nobody has written to what a working process would have finished long since."""

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


def remove_abandoned(folder: Path, names: re.Pattern[str]) -> list[str]:
    """Remove what killed processes have left unfinished in a folder; a line for each thing.

    That is what is called like ``names`` and was not written to for :data:`ABANDONED_AFTER`.
    Nobody has seen it, so no data is in it. What cannot be looked at or removed stays.
    """
    removed: list[str] = []
    try:
        found = sorted(path for path in folder.iterdir() if names.fullmatch(path.name))
    except OSError:
        return removed
    for path in found:
        try:
            inside = [*path.rglob("*")] if path.is_dir() else []
            looks = [item.lstat() for item in (path, *inside)]
            if max(look.st_mtime for look in looks) > time.time() - ABANDONED_AFTER:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        except OSError:
            continue
        size = sum(look.st_size for look in looks)
        removed.append(f"removed {path} ({size} bytes), which a killed process had left unfinished")
    return removed


def _close(descriptor: int) -> None:
    with suppress(OSError):
        os.close(descriptor)
