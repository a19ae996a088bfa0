"""A session of any store as a format-4 file, with its live scopes beside it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from sessionstore.errors import SessionExistsError
from sessionstore.image import SessionSnapshot
from sessionstore.jsonl.making import make_from_image
from sessionstore.jsonl.sidecars import scopes_directory
from sessionstore.transfer.progress import Counted, Progress


class Exported(msgspec.Struct, frozen=True):
    """What was written: ``scopes`` is the folder of the live scopes, where there are any."""

    path: Path
    records: int
    scopes: Path | None


def export_session(snapshot: SessionSnapshot, path: Path, progress: Progress | None = None) -> Exported:
    """Write a session to ``path``, complete or not at all; its next number is in the header.

    Live scopes go to the folder ``{path}.scopes``. Raises ``SessionExistsError`` when there is a
    file or such a folder already, ``StorageError`` when it cannot be written.
    """
    scopes = scopes_directory(str(path))
    for taken in (path, scopes):
        if taken.exists() or taken.is_symlink():
            raise SessionExistsError(f"{taken} exists already; export to another place or remove it first")
    counted = Counted(snapshot, progress or Progress())
    make_from_image(path, snapshot.header, counted.image, fsync=True)
    return Exported(path, counted.records, scopes if scopes.is_dir() else None)
