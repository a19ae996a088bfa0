"""A new SQLite file appears complete or not at all: built under another name, then linked into place."""

from __future__ import annotations

import os
import re
import secrets
import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from sessionstore.descriptor import Descriptor
from sessionstore.errors import SessionStoreError, StorageError
from sessionstore.folders import AloneIn, sync_folder
from sessionstore.sql.driver_errors import sqlite_failure
from sessionstore.sql.sqlite_files import connect, shm_of, wal_of

UNFINISHED: Final = re.compile(r"\.[0-9a-f]{16}\.new(-wal|-shm|-journal)?")
"""How files are called that a killed process may leave; nothing that looks for databases reads them."""

_OFF: Final = ("journal_mode = OFF", "synchronous = OFF", "foreign_keys = ON")


def build_file(
    path: Path,
    fill: Callable[[sqlite3.Connection], None],
    on_taken: Callable[[Path], None] | None = None,
) -> bool:
    """Make the database at ``path``, filled by ``fill`` in one transaction, in folders that it needs.

    When ``path`` exists by the time that the file is complete, ``on_taken`` is given the path of
    the file that was built, which is then removed; without it the answer is False. Whatever fails,
    no file and no folder is left behind.
    """
    with _folders(path.parent):
        unfinished = path.with_name(f".{secrets.token_hex(8)}.new")
        try:
            _write(unfinished, fill)
            published = _publish(unfinished, path)
            if not published and on_taken is not None:
                on_taken(unfinished)
            return published or on_taken is not None
        except sqlite3.Error as error:
            raise sqlite_failure(error, str(path)).error from None
        except OSError as error:
            if isinstance(error, SessionStoreError):
                raise
            raise StorageError(f"{path}: cannot be created: {error.strerror}") from error
        finally:
            for left in (unfinished, wal_of(unfinished), shm_of(unfinished)):
                left.unlink(missing_ok=True)


def _write(unfinished: Path, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Nobody reads the file yet and a failure removes it, so one sync at the end is enough."""
    raw = connect(unfinished, "mode=rwc")
    try:
        for setting in _OFF:
            raw.execute(f"PRAGMA {setting}")
        raw.execute("BEGIN IMMEDIATE")
        fill(raw)
        raw.execute("COMMIT")
        raw.execute("PRAGMA journal_mode = WAL")
    finally:
        raw.close()
    _sync(unfinished)


def _publish(unfinished: Path, path: Path) -> bool:
    # Else, between the look and the removal, the log could become that of a database that others use.
    with AloneIn(path.parent) as is_alone:
        published = _link(unfinished, path, is_alone=is_alone)
    if published:
        _sync_name(path)
    return published


def _link(unfinished: Path, path: Path, *, is_alone: bool) -> bool:
    if path.exists():
        return False
    for stale in (wal_of(path), shm_of(path)):
        stale.unlink(missing_ok=True)  # a log without its database must not be read into the new one
    try:
        os.link(unfinished, path)
    except FileExistsError:
        return False
    except OSError:
        # A file system without hard links. Nothing else takes the name first: others would use that.
        if not is_alone:
            raise  # a rename could replace what somebody else has made since the look
        unfinished.rename(path)
    return True


def _sync(path: Path) -> None:
    file = Descriptor(path, os.O_RDONLY)
    try:
        os.fsync(file.number)
    finally:
        file.close()


def _sync_name(path: Path) -> None:
    try:
        sync_folder(path.parent)
    except OSError as error:
        raise StorageError(
            f"{path}: was created, but may not outlive a loss of power: {error.strerror}"
        ) from error


@contextmanager
def _folders(folder: Path) -> Generator[None]:
    """Make a folder and its parents; remove those that were made when the block fails."""
    made: list[Path] = []
    try:
        _make(folder, made)
        yield
    except BaseException:
        for made_folder in reversed(made):
            with suppress(OSError):  # somebody else uses it by now
                made_folder.rmdir()
        raise


def _make(folder: Path, made: list[Path]) -> None:
    if folder.is_dir():
        return
    if folder.parent != folder:
        _make(folder.parent, made)
    try:
        folder.mkdir()
    except FileExistsError:
        if not folder.is_dir():
            raise StorageError(f"{folder}: is not a folder") from None
    except OSError as error:
        raise StorageError(f"{folder}: cannot be made: {error.strerror}") from error
    else:
        made.append(folder)
