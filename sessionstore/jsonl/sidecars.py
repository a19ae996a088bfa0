"""Scope sidecars: their names, and reading them beside a main file (jsonl.md section 3)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import Final
from urllib.parse import unquote

import msgspec

from sessionstore.errors import CorruptStorageError, InvalidScopeError
from sessionstore.jsonl.codec import LineError, ListLine, ValueLine, decode_transaction
from sessionstore.jsonl.files import SourceFile, unreadable
from sessionstore.jsonl.headers import read_scope_header
from sessionstore.jsonl.publish import TEMPORARY_SUFFIX
from sessionstore.jsonl.replay import ScopeKeeper, ScopeReplay, Transactions
from sessionstore.scope import ephemeral_scope
from sessionstore.text import encode_uri_component

_PREFIX: Final = "scope-"
_SUFFIX: Final = ".scope"


def scopes_directory(path: str) -> Path:
    """The directory of the sidecars of a main file."""
    return Path(f"{path}.scopes")


def sidecar_path(path: str, scope_id: str) -> Path:
    """The sidecar of a scope beside the main file ``path``."""
    return scopes_directory(path) / f"{_PREFIX}{encode_uri_component(scope_id)}{_SUFFIX}"


def sidecar_scope(name: str) -> str | None:
    """The scope whose sidecar has this file name; None for the name of an unrelated file."""
    if not (name.startswith(_PREFIX) and name.endswith(_SUFFIX)):
        return None
    encoded = name[len(_PREFIX) : -len(_SUFFIX)]
    try:
        scope = ephemeral_scope(unquote(encoded, errors="strict"))
    except (UnicodeDecodeError, InvalidScopeError):
        return None
    return scope.id if encode_uri_component(scope.id) == encoded else None


class Listing(msgspec.Struct, frozen=True):
    """What a directory of sidecars holds, by file name; unrelated files are left out."""

    scopes: dict[str, Path]
    """The path of each sidecar by its scope."""

    leftovers: list[Path]
    """Temporary files that were never published."""


def list_sidecars(path: str) -> Listing:
    """The sidecars beside the main file ``path``. Raises ``StorageError`` when they cannot be listed."""
    directory = scopes_directory(path)
    try:
        files = sorted(directory.iterdir())
    except FileNotFoundError:
        files = []
    except OSError as error:
        raise unreadable(str(directory), error) from error
    return Listing(
        {scope_id: file for file in files if (scope_id := sidecar_scope(file.name)) is not None},
        [file for file in files if file.name.endswith(TEMPORARY_SUFFIX)],
    )


class Sidecar(msgspec.Struct):
    """A sidecar that was read. ``retained`` are the transactions above the scope's retirement."""

    scope_id: str
    source: SourceFile
    last_seq: int
    retained: Transactions
    is_ours: bool
    """Whether its header could be read and names this session and scope."""


def read_sidecar(
    source: SourceFile, session_id: str, scope_id: str, retired_at: int, keeper: ScopeKeeper
) -> Sidecar:
    """Read a sidecar whole, and hand the records above ``retired_at`` to ``keeper``.

    Raises ``CorruptStorageError`` with path and line for damage, unless a later readable record
    proves that the damaged line is at or below the retirement: then it is dead anyway.
    """
    reader = _SidecarReader(source, scope_id, retired_at, keeper)
    reader.header(session_id)
    for block in source.body():
        offset = block.offset
        for number, line in enumerate(block.lines, block.first_line):
            reader.transaction(number, line, offset)
            offset += len(line) + 1
    reader.finish()
    return Sidecar(scope_id, source, reader.last_seq, reader.retained, reader.is_ours)


class _SidecarReader:
    def __init__(self, source: SourceFile, scope_id: str, retired_at: int, keeper: ScopeKeeper) -> None:
        self.last_seq = 0
        self.retained = Transactions()
        self.is_ours = True
        self._source = source
        self._scope_id = scope_id
        self._retired_at = retired_at
        scope = ScopeReplay(keeper, scope_id)
        self._take: dict[type, Callable[..., None]] = {ValueLine: scope.value, ListLine: scope.element}
        self._damage: CorruptStorageError | None = None

    def header(self, session_id: str) -> None:
        """Check the first line."""
        try:
            header = read_scope_header(self._source.first_line() or b"", self._source.path)
            if header.session_id != session_id:
                raise LineError(f"the sidecar belongs to the session {header.session_id!r:.200}")
            if header.scope_id != self._scope_id:
                raise LineError(f"the sidecar belongs to the scope {header.scope_id!r:.200}")
        except LineError as error:
            self.is_ours = False
            self._note(1, error)

    def transaction(self, number: int, line: bytes, offset: int) -> None:
        """Take one line, or note that it is damaged."""
        try:
            records = decode_transaction(line)
            last = self.last_seq
            for record in records:
                if type(record) not in self._take:
                    raise LineError("a sidecar holds value and list records only")
                if record.seq <= last:
                    raise LineError(f"number {record.seq} comes after {last}")
                last = record.seq
            if records and records[0].seq <= self._retired_at:
                self._damage = None  # whatever was damaged comes before a dead record
            for record in records:
                if record.seq > self._retired_at:
                    self._take[type(record)](record, offset)
        except LineError as error:
            self._note(number, error)
            return
        if records:
            self.last_seq = last
            if last > self._retired_at:
                self.retained.append(records[0].seq, last)

    def finish(self) -> None:
        """Raise the first damage that nothing excuses."""
        if self._damage is not None:
            raise self._damage

    def _note(self, number: int, error: LineError) -> None:
        if self._damage is None:
            self._damage = CorruptStorageError(str(error), path=self._source.path, line=number)


def check_disjoint(main: Transactions, sidecars: Iterable[Sidecar]) -> None:
    """Check that no number is used twice and no transaction encloses a number of another.

    Raises ``CorruptStorageError`` with the path of the sidecar.
    """
    seen: list[tuple[int, int]] = []
    for sidecar in sidecars:
        for first, last in zip(sidecar.retained.firsts, sidecar.retained.lasts, strict=True):
            before = bisect_right(main.firsts, last) - 1
            if before >= 0 and main.lasts[before] >= first:
                raise _overlap(sidecar, first, last)
            seen.append((first, last))
        seen.sort()
        for (_, last), (first, end) in pairwise(seen):
            if first <= last:
                raise _overlap(sidecar, first, end)


def _overlap(sidecar: Sidecar, first: int, last: int) -> CorruptStorageError:
    return CorruptStorageError(
        f"the transaction of numbers {first} to {last} overlaps another one", path=sidecar.source.path
    )
