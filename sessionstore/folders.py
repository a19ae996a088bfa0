"""What file stores ask of folders: to be alone in one, that its names last, that no waste stays."""

from __future__ import annotations

import errno
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from sessionstore.descriptor import Descriptor
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


class AloneIn:
    """To be the only one in a folder of all who ask for that: files that belong together appear or
    vanish there as one step. A context manager.

    No file is made for it, and what ends the process ends the lock. Gives False, and holds nothing,
    where folders cannot be locked: on Windows and some network file systems. Raises
    ``StorageBusyError`` when somebody else holds the lock for longer than :data:`PATIENCE`.

    Whoever cleans up after an interrupt enters the same one again: its lock may not be given back yet.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: _Held | None = None

    def __enter__(self) -> bool:
        if self._held is None:
            self._held = _lock(self._folder)
        return self._held is not None

    def __exit__(self, *_: object) -> None:
        if self._held is not None:
            self._held.release()
            self._held = None


def _lock(folder: Path) -> _Held | None:
    if fcntl is None:
        return None
    try:
        held = _Held(folder)
    except OSError:
        return None
    try:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(held.folder.number, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise StorageBusyError(f"{folder}: somebody else has locked the folder") from None
                time.sleep(_PAUSE)
            except OSError:
                held.release()
                return None
            else:
                return held
    except BaseException:
        # Not left to the dropping of this object: whoever keeps the error keeps it alive.
        held.release()
        raise


class _Held:
    """An open folder, and the lock on it. One that an interrupt drops gives both back."""

    def __init__(self, folder: Path) -> None:
        self.folder = Descriptor(folder, os.O_RDONLY)

    def release(self) -> None:
        """Unlock and close; may be called again."""
        if self.folder.is_open and fcntl is not None:  # without locks there is none of this kind
            with suppress(OSError):
                # Closing alone leaves it locked for as long as a process lives that was forked meanwhile.
                fcntl.flock(self.folder.number, fcntl.LOCK_UN)
            with suppress(OSError):
                self.folder.close()

    def __del__(self) -> None:
        with suppress(AttributeError):  # an interrupt may have come before the first line
            self.release()


def sync_folder(folder: Path) -> None:
    """Make the names in a folder outlive a loss of power, where the system can do that.

    It cannot on Windows, on some network file systems, and for a folder that we may not read.
    Raises ``OSError``.
    """
    if os.name == "nt":
        return
    try:
        opened = Descriptor(folder, os.O_RDONLY)
    except PermissionError:
        return
    try:
        os.fsync(opened.number)
    except OSError as error:
        if error.errno not in _NO_SYNC:
            raise
    finally:
        opened.close()


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
