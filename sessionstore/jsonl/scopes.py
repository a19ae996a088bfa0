"""Writing sidecars: the files of the live scopes of one open session (jsonl.md section 3)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final

from sessionstore.errors import StorageError, TransactionConflictError
from sessionstore.jsonl.encoding import text_line
from sessionstore.jsonl.headers import ScopeHeader, scope_header_line
from sessionstore.jsonl.log import LogFile, not_undone
from sessionstore.jsonl.publish import TEMPORARY_SUFFIX, NewFile, failed, remove, sync_directory
from sessionstore.jsonl.sidecars import scopes_directory, sidecar_path

_UNKNOWN: Final = -1

OPEN_FILES: Final = 32
"""Sidecars whose descriptors are kept open between appends."""


class ScopeFiles:
    """The sidecars of a session; to be used on its commit line only."""

    def __init__(self, path: str, session_id: str, *, fsync: bool) -> None:
        self._path = path
        self._session_id = session_id
        self._fsync = fsync
        self._directory = scopes_directory(path)
        self._changed_at = self._last_change()
        self._logs: dict[str, LogFile] = {}
        self._awake: dict[str, None] = {}
        self._broken: Path | None = None

    def add(self, scope_id: str, log: LogFile) -> None:
        """Take a sidecar that holds live records."""
        self._logs[scope_id] = log

    def check(self) -> None:
        """Make sure that nobody else made or removed a sidecar: their numbers would be used twice.

        Best effort. Raises ``TransactionConflictError``, and ``StorageError`` when a sidecar may hold
        a transaction that failed: its numbers would be used twice, by whatever scope comes next.
        """
        if self._broken is not None:
            raise not_undone(self._broken)
        if self._changed_at is None:
            has_changed = os.access(self._directory, os.F_OK)  # costs less than a stat that fails
        elif self._changed_at == _UNKNOWN:
            self.settle()
            has_changed = False
        else:
            has_changed = self._last_change() not in (self._changed_at, _UNKNOWN)
        if has_changed:
            raise TransactionConflictError(
                f"{self._directory} was changed by somebody else since it was opened. Nothing was "
                "written; close the session and open it again"
            )

    def _last_change(self) -> int | None:
        try:
            return os.stat(self._directory).st_mtime_ns  # noqa: PTH116 - called for every commit
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return _UNKNOWN

    def settle(self) -> None:
        """Take the directory as it is now for what this session made of it."""
        self._changed_at = self._last_change()

    def logs(self) -> list[LogFile]:
        """The sidecars that hold live records."""
        return list(self._logs.values())

    def length(self, scope_id: str) -> int:
        """How far a scope's sidecar goes; 0 where it has none."""
        log = self._logs.get(scope_id)
        return 0 if log is None else log.length

    def append(self, scope_id: str, line: bytes, check_main: Callable[[], None]) -> None:
        """Append one transaction, wholly or not at all; the first one makes the sidecar.

        ``check_main`` raises, ``FileNotFoundError`` perhaps, when the main file is not there any more:
        whoever deletes a session removes that first, and need not see a sidecar that is made
        afterwards. Whatever is raised, :meth:`length` tells whether the line is in the sidecar.
        """
        log = self._logs.get(scope_id)
        if log is None:
            self._create(scope_id, line, check_main)
        else:
            try:
                log.check()
            except FileNotFoundError:
                raise StorageError(
                    f"{log.path} is gone: somebody removed the file of a live scope. Nothing was written"
                ) from None
            try:
                log.append(line)
            finally:
                if log.is_broken:
                    self._broken = log.path
        self._keep_awake(scope_id)

    def _create(self, scope_id: str, line: bytes, check_main: Callable[[], None]) -> None:
        """Make a sidecar with its first transaction in one step; an old one with nothing live goes."""
        path = sidecar_path(self._path, scope_id)
        self._changed_at = _UNKNOWN  # should an interrupt keep it from being settled
        self._make_directory(path.parent)
        file = NewFile(path.with_name(path.name + TEMPORARY_SUFFIX))
        try:
            header = scope_header_line(ScopeHeader(self._session_id, scope_id))
            file.write(text_line(header) + line)
            if self._fsync:
                file.sync()
            file.replace(path)
            if self._fsync:
                sync_directory(path.parent)
            check_main()
            self._logs[scope_id] = LogFile.of_new(file, path, fsync=self._fsync)
        except BaseException:
            if scope_id not in self._logs:
                if file.is_at(path) and not remove(path):
                    self._broken = path
                file.discard()
                with suppress(OSError):
                    path.parent.rmdir()  # unless other sidecars are there
            raise
        finally:
            self.settle()

    def _make_directory(self, directory: Path) -> None:
        try:
            directory.mkdir()
        except FileExistsError:
            return
        except OSError as error:
            raise failed("make", directory, error) from error
        if self._fsync:
            sync_directory(directory.parent)

    def _keep_awake(self, scope_id: str) -> None:
        self._awake.pop(scope_id, None)
        self._awake[scope_id] = None
        if len(self._awake) > OPEN_FILES:
            oldest = next(iter(self._awake))
            del self._awake[oldest]
            self._logs[oldest].rest()

    def retire(self, scope_ids: Iterable[str]) -> None:
        """Close and remove the sidecars of scopes whose retirement is durable.

        A file that cannot be removed stays: what is in it is dead, and the next open tries again.
        """
        for scope_id in scope_ids:
            log = self._logs.pop(scope_id, None)
            self._awake.pop(scope_id, None)
            if log is not None:
                log.rest()
                self._changed_at = _UNKNOWN  # should an interrupt keep it from being settled
                remove(log.path)
                self.settle()

    def close(self) -> None:
        """Close all of them; the files stay. Raises the first ``StorageError`` when all are closed."""
        self._awake.clear()
        with ExitStack() as closing:
            for log in self._logs.values():
                closing.callback(log.close)
