"""Format 3 on the JSONL store: read as format 4, upgraded by the first write (jsonl.md section 4)."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonl.support import USAGE, expectation, load, message, record, say, stored, text_of, v3_file

from sessionstore import (
    CorruptStorageError,
    ForkBranch,
    ForkError,
    ForkTree,
    Session,
    SessionMetadata,
    StorageError,
    TransactionConflictError,
    UnsupportedStorageVersionError,
    append_list,
    ephemeral_scope,
    retire_scope,
    set_value,
    value,
    value_list,
)
from sessionstore.jsonl import JsonlSessionRepo
from sessionstore.jsonl.paths import file_name, folder_name

N, SCOPED = value("app", "n"), value("app", "n", scope=ephemeral_scope("op"))
RECORDS = [
    record("model_change", "m", None, provider="p", modelId="x"),
    record("thinking_level_change", "t", "m", thinkingLevel="low"),
    message("a", "t", "assistant", usage=USAGE, n=1) | {"other": "kept"},
    record("custom", "c", "a", customType="k", data=[1]),
    record("session_info", "i", "c", name="name"),
    record("label", "l", "i", targetId="a", label="first"),
]
NEXT = 2 + 5 + 2
"""The number of the first write: after two entries, five values and the ledger row of the upgrade."""


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[JsonlSessionRepo]:
    with JsonlSessionRepo(tmp_path / "root") as repo:
        yield repo


@pytest.fixture
def path(repo: JsonlSessionRepo) -> Path:
    """A file of format 3 where it belongs."""
    folder = Path(repo.container) / folder_name("/srv")
    folder.mkdir(parents=True)
    spelled = [text_of(item).replace('"n":1', '"n":1e-05') for item in RECORDS]
    return v3_file(folder / file_name(1760000000000, "old"), *spelled, "torn", end="")


@pytest.fixture
def session(repo: JsonlSessionRepo, path: Path) -> Iterator[Session]:
    with repo.open("old") as session:
        yield session


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def names_beside(path: Path) -> list[str]:
    return [child.name for child in path.parent.iterdir()]


# -- before the first write -----------------------------------------------------------------------


def test_opening_and_reading_change_nothing_on_disk(repo: JsonlSessionRepo, path: Path) -> None:
    before, when = path.read_bytes(), path.stat().st_mtime_ns
    for _ in range(2):
        with repo.open("old") as session:
            assert [entry.seq for entry in session.find_entries(order="asc")] == [1, 2]
            assert session.get_name() == "name"
            assert session.get_stats().message_count == 1
            assert session.get_stats().usage.input == 10
            assert session.scan_usage() == []  # the ledger itself reads empty
            session.commit([])
    assert (path.read_bytes(), path.stat().st_mtime_ns, names_beside(path)) == (before, when, [path.name])


def test_metadata_and_listing(repo: JsonlSessionRepo, path: Path) -> None:
    [listed] = repo.list()
    assert (listed.id, listed.cwd, listed.created_at) == ("old", "/srv", 1760000000000)
    assert listed.path == str(path)
    with repo.open(listed) as session:
        assert session.metadata == listed


def test_ids_are_stable_while_the_handle_lives(session: Session) -> None:
    ids = [entry.id for entry in session.find_entries()]
    assert [entry.id for entry in session.find_entries()] == ids
    session.set_value(N, 1)
    assert [entry.id for entry in session.find_entries()] == ids
    branch = session.branch("main")
    assert branch is not None
    assert branch.tip_id() == ids[0]


# -- the first write ------------------------------------------------------------------------------


def test_the_first_write_rewrites_the_file(repo: JsonlSessionRepo, path: Path, session: Session) -> None:
    before = load(path)
    ids = [entry.id for entry in session.find_entries(order="asc")]
    result = session.commit([set_value(N, 1), say("new", ids[1])])
    assert (result.first_seq, result.seqs) == (NEXT, (NEXT, NEXT + 1))
    assert result.stats.message_count == 2
    assert result.stats.usage.input == 10
    header, *lines = lines_of(path)
    assert header == {
        "v": 4,
        "kind": "header",
        "id": "old",
        "storageVersion": 1,
        "createdAt": 1760000000000,
        "cwd": "/srv",
        "nextSeq": NEXT + 2,
    }
    assert [line["seq"] for line in lines[:-1]] == list(range(1, NEXT - 1))
    usage, first, second = lines[-1]
    assert (usage["kind"], usage["adjustment"], usage["details"]) == ("usage", True, {"source": "v3-import"})
    assert usage["usage"] == USAGE
    assert [usage["seq"], first["seq"], second["seq"]] == [NEXT - 1, NEXT, NEXT + 1]
    assert names_beside(path) == [path.name]
    found = load(path)
    assert [entry.id for entry in found.entries] == [*ids, "new"]
    del found.entries[-1]
    found.values = [value for value in found.values if value.namespace != "app"]
    found.header = before.header
    found.usage_rows = before.usage_rows
    assert expectation(found) == expectation(before)
    assert '"n":1e-05' in path.read_text()
    assert '"other":"kept"' in path.read_text()


def test_after_the_upgrade_it_is_a_session_like_any_other(
    repo: JsonlSessionRepo, path: Path, session: Session
) -> None:
    session.set_value(N, 1)
    size = path.stat().st_size
    session.set_value(N, 2)
    session.set_value(SCOPED, 3)
    assert path.read_bytes()[:size].count(b"v3-import") == 1
    entries, stats = session.find_entries(), session.get_stats()
    [row] = session.scan_usage()
    assert (row.adjustment, row.details, row.usage) == (True, {"source": "v3-import"}, stats.usage)
    session.close()
    with repo.open("old") as again:
        assert again.find_entries() == entries
        assert again.get_stats() == stats
        assert again.scan_usage() == [row]
        assert stored(again, SCOPED) == 3
        assert again.storage.next_seq() == NEXT + 3


def test_an_ephemeral_first_write_upgrades_the_main_file_first(
    repo: JsonlSessionRepo, path: Path, session: Session
) -> None:
    result = session.commit(
        [set_value(SCOPED, 1), append_list(value_list("f", scope=ephemeral_scope("op")), 2)]
    )
    assert result.seqs == (NEXT, NEXT + 1)
    header, *lines = lines_of(path)
    assert lines[-1]["kind"] == "usage"
    assert lines[-1]["seq"] == NEXT - 1
    assert header["nextSeq"] == NEXT
    session.close()
    with repo.open("old") as again:
        assert stored(again, SCOPED) == 1
        assert again.storage.next_seq() == NEXT + 2


def test_a_failed_scoped_write_leaves_the_upgrade_and_no_caller_write(
    path: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Path, "mkdir", _denied)
        with pytest.raises(StorageError):
            session.set_value(SCOPED, 1)
    assert lines_of(path)[-1]["kind"] == "usage"
    assert session.get_value(SCOPED) is None
    assert session.set_value(SCOPED, 1).seqs == (NEXT,)


def test_a_retirement_may_come_first(repo: JsonlSessionRepo, path: Path, session: Session) -> None:
    assert session.commit([retire_scope(ephemeral_scope("op"))]).seqs == (NEXT,)
    session.close()
    with repo.open("old") as again:
        assert again.storage.next_seq() == NEXT + 1


def test_an_empty_commit_does_not_upgrade(path: Path, session: Session) -> None:
    before = path.read_bytes()
    result = session.commit([])
    assert (result.first_seq, result.seqs) == (NEXT, ())
    assert path.read_bytes() == before
    assert session.set_value(N, 1).first_seq == NEXT


def test_a_refused_commit_does_not_upgrade(path: Path, session: Session) -> None:
    before = path.read_bytes()
    with pytest.raises(LookupError):
        session.commit([say("x", "nobody")])
    with pytest.raises(ValueError, match="taken"):
        session.commit([say(session.find_entries()[0].id)])
    assert path.read_bytes() == before


def _denied(*_: object, **__: object) -> None:
    raise PermissionError(errno.EACCES, "Permission denied")


def _full(*_: object, **__: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    "target", [(os, "write", _full), (Path, "replace", _denied), (os, "write", "interrupt")]
)
@pytest.mark.parametrize("place", [N, SCOPED], ids=["session", "scoped"])
def test_when_the_rewrite_fails_the_old_file_stands(
    path: Path, session: Session, monkeypatch: pytest.MonkeyPatch, target: Any, place: Any
) -> None:
    owner, name, failure = target
    before = path.read_bytes()

    def interrupt(*_: object) -> int:
        raise KeyboardInterrupt

    for _ in range(2):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, interrupt if failure == "interrupt" else failure)
            with pytest.raises((StorageError, KeyboardInterrupt)):
                session.set_value(place, 1)
        assert path.read_bytes() == before
        assert names_beside(path) == [path.name]
        assert session.get_value(place) is None
        assert session.scan_usage() == []
    assert session.set_value(place, 2).seqs == (NEXT,)  # the same number serves the next try
    assert len(session.scan_usage()) == 1


def test_an_interrupt_after_the_rewrite_leaves_the_new_file(
    repo: JsonlSessionRepo, path: Path, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        replace(self, target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            session.set_value(N, 1)
    assert stored(session, N) == 1
    assert session.set_value(N, 2).seqs == (NEXT + 1,)
    session.close()
    with repo.open("old") as again:
        assert stored(again, N) == 2


def test_a_file_that_somebody_else_changed_is_not_overwritten(path: Path, session: Session) -> None:
    with path.open("ab") as file:
        file.write(b"x")
    before = path.read_bytes()
    with pytest.raises(TransactionConflictError):
        session.set_value(N, 1)
    assert path.read_bytes() == before
    assert names_beside(path) == [path.name]


def test_a_leftover_of_a_killed_upgrade_is_in_nobodys_way(
    repo: JsonlSessionRepo, path: Path, session: Session
) -> None:
    left = path.with_name(path.name + ".tmp")
    left.write_text("half")
    assert [found.id for found in repo.list()] == ["old"]
    session.set_value(N, 1)
    assert names_beside(path) == [path.name]


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [1, 2, ...])
def test_formats_1_and_2_are_refused_by_name_and_not_listed(
    repo: JsonlSessionRepo, path: Path, version: Any, caplog: pytest.LogCaptureFixture
) -> None:
    [metadata] = repo.list()
    v3_file(path, *RECORDS, version=version)
    before = path.read_bytes()
    with pytest.raises(UnsupportedStorageVersionError, match="--lenient"):
        repo.open(metadata)
    assert repo.list() == []
    assert "--lenient" in caplog.text
    assert path.read_bytes() == before


def test_a_damaged_file_is_listed_and_refused(repo: JsonlSessionRepo, path: Path) -> None:
    v3_file(path, *RECORDS, "broken", message("z", "a"))
    before = path.read_bytes()
    with pytest.raises(CorruptStorageError) as raised:
        repo.open("old")
    assert raised.value.line == 8
    assert [found.id for found in repo.list()] == ["old"]
    assert path.read_bytes() == before


# -- forks and copies --------------------------------------------------------------------------------


def test_a_closed_file_can_be_forked_by_old_ids(repo: JsonlSessionRepo, path: Path) -> None:
    before = path.read_bytes()
    with repo.fork("old", ForkBranch(entry_id="a")) as copy:
        [entry] = copy.find_entries()
        assert entry.seq == 1
        assert copy.get_stats().usage.input == 0
        assert copy.get_label(entry.id) == "first"
        assert copy.storage.next_seq() >= NEXT - 1
        assert copy.metadata.parent_session_id == "old"
    with repo.fork("old", ForkTree()) as copy:
        assert len(copy.find_entries()) == 2
    with pytest.raises(ForkError, match="'i'"):
        repo.fork("old", ForkBranch(entry_id="i"))
    assert path.read_bytes() == before


def test_an_open_file_that_was_not_upgraded_refuses_to_fork(repo: JsonlSessionRepo, session: Session) -> None:
    with pytest.raises(ForkError, match="format 3"):
        repo.fork(session.metadata, ForkTree())
    session.set_value(N, 1)
    with repo.fork(session.metadata, ForkTree()) as copy:
        assert [entry.id for entry in copy.find_entries()] == [entry.id for entry in session.find_entries()]


@pytest.mark.parametrize("is_open", [False, True])
def test_a_copy_carries_the_ledger_row_of_the_upgrade(
    repo: JsonlSessionRepo, path: Path, is_open: bool
) -> None:
    handle = repo.open("old") if is_open else None
    [metadata] = repo.list()
    with repo.snapshot(metadata) as image, JsonlSessionRepo(repo.container + "-copy") as other:
        copied: SessionMetadata = other.load(image)
        with other.open(copied) as copy:
            [row] = copy.scan_usage()
            assert row.usage == copy.get_stats().usage
            assert copy.storage.next_seq() == NEXT
            assert copy.get_name() == "name"
    if handle is not None:
        handle.close()
    assert b"v3-import" not in path.read_bytes()
