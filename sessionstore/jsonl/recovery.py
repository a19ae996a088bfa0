"""Opening a session: its files replayed, checked and repaired, in that order (jsonl.md section 3)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from sessionstore.ids import IdGenerator
from sessionstore.image import ImageHeader
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.headers import FORMAT, FileHeader
from sessionstore.jsonl.legacy import LegacySnapshot
from sessionstore.jsonl.log import LogFile
from sessionstore.jsonl.publish import remove
from sessionstore.jsonl.replay import MainReplay, Transactions
from sessionstore.jsonl.rows import entry_row
from sessionstore.jsonl.scopes import ScopeFiles
from sessionstore.jsonl.sidecars import Listing, Sidecar, check_disjoint, list_sidecars, read_sidecar
from sessionstore.jsonl.snapshot import image_header
from sessionstore.jsonl.source import find_header
from sessionstore.jsonl.state import SessionState
from sessionstore.records import EntryRecord, ValueRecord


class Recovered(msgspec.Struct):
    """A session as its files tell it, ready for writes."""

    header: ImageHeader
    state: SessionState
    log: LogFile
    scopes: ScopeFiles
    is_legacy: bool
    """Whether the file is of format 3: the first write upgrades it."""

    modified_at: int


def recover(path: str, ids: IdGenerator, *, fsync: bool, accept: Callable[[FileHeader], None]) -> Recovered:
    """Read the session in ``path``, then repair its files; nothing is touched when reading fails.

    ``accept`` looks at the header first and raises when it is not the session that was meant.
    Raises ``CorruptStorageError``, ``UnsupportedStorageVersionError``, ``StorageError``.
    """
    with ExitStack() as reading:
        source = reading.enter_context(SourceFile(path))
        header = find_header(source)
        accept(header)
        main = _read_main(source, header, ids)
        listing = list_sidecars(path)
        sidecars = _read_sidecars(listing, header.id, main, reading)
        check_disjoint(main.transactions, sidecars)
        next_seq = max(main.next_seq, *(sidecar.last_seq + 1 for sidecar in sidecars), 1)
        main.state.next_seq = next_seq
        log = LogFile.of_source(source, fsync=fsync)
        scopes = ScopeFiles(path, header.id, fsync=fsync)
        for sidecar in sidecars:
            if sidecar.retained.lasts:
                scopes.add(sidecar.scope_id, LogFile.of_source(sidecar.source, fsync=fsync))
    found = msgspec.structs.replace(main.header, next_seq=next_seq)
    recovered = Recovered(found, main.state, log, scopes, header.format < FORMAT, source.modified_at)
    if not recovered.is_legacy:
        _tidy(listing, sidecars)
        for appendable in (log, *scopes.logs()):
            appendable.repair()
        scopes.settle()
    return recovered


class _Main(msgspec.Struct):
    state: SessionState
    header: ImageHeader
    next_seq: int
    transactions: Transactions
    retirements: dict[str, int]


def _read_main(source: SourceFile, header: FileHeader, ids: IdGenerator) -> _Main:
    if header.format < FORMAT:
        return _read_legacy(source, header, ids)
    state = SessionState()
    replay = MainReplay(state, source.path)
    for block in source.body():
        replay.feed(block)
    state.stats = replay.stats
    next_seq = max(header.next_seq, replay.last_seq + 1)
    return _Main(
        state, image_header(header, next_seq, replay), next_seq, replay.transactions, replay.retirements
    )


def _read_legacy(source: SourceFile, header: FileHeader, ids: IdGenerator) -> _Main:
    snapshot = LegacySnapshot(source, header, ids)
    state = SessionState()
    transactions = Transactions()
    for record in snapshot.records:
        if isinstance(record, EntryRecord):
            state.add_entry(entry_row(record))
        elif isinstance(record, ValueRecord):
            state.session.set_value((record.namespace, record.key), record.seq, record.value.encode())
        transactions.append(record.seq, record.seq)
    state.stats = snapshot.header.stats
    # The first write is preceded by the ledger row of the upgrade, which takes the next number.
    return _Main(state, snapshot.header, snapshot.header.next_seq + 1, transactions, {})


def _read_sidecars(listing: Listing, session_id: str, main: _Main, reading: ExitStack) -> list[Sidecar]:
    found: list[Sidecar] = []
    for scope_id, path in listing.scopes.items():
        source = reading.enter_context(SourceFile(str(path)))
        retired_at = main.retirements.get(scope_id, 0)
        sidecar = read_sidecar(source, session_id, scope_id, retired_at, main.state.scope(scope_id))
        if not sidecar.retained.lasts:
            main.state.drop_scope(scope_id)
        found.append(sidecar)
    return found


def _tidy(listing: Listing, sidecars: list[Sidecar]) -> None:
    """Remove sidecars without a live record and files that were never published, as well as can be."""
    for sidecar in sidecars:
        if sidecar.is_ours and not sidecar.retained.lasts:
            remove(Path(sidecar.source.path))
    for leftover in listing.leftovers:
        remove(leftover)
