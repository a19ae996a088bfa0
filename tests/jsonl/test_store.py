"""The append path of the JSONL store: jsonl.md section 2."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonl.support import (
    T0,
    entry,
    load,
    say,
    set_line,
    stored,
    text_of,
    usage_line,
    v4_file,
)

from sessionstore import (
    CorruptStorageError,
    Session,
    SessionMetadata,
    SessionNotFoundError,
    StorageError,
    TransactionConflictError,
    append_list,
    delete_list,
    delete_value,
    ephemeral_scope,
    insert_usage,
    retire_scope,
    set_value,
    value,
    value_list,
)
from sessionstore.entries import NewUsageRow
from sessionstore.jsonl import JsonlSessionRepo
from sessionstore.testing.platform import open_descriptors

N, LOG = value("app", "n"), value_list("app", "log")


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[JsonlSessionRepo]:
    with JsonlSessionRepo(tmp_path / "root", clock=lambda: T0) as repo:
        yield repo


@pytest.fixture
def session(repo: JsonlSessionRepo) -> Iterator[Session]:
    with repo.create(id="s", cwd="/srv") as session:
        yield session


def file_of(session: Session | SessionMetadata) -> Path:
    metadata = session if isinstance(session, SessionMetadata) else session.metadata
    assert metadata.path is not None
    return Path(metadata.path)


def lines_of(session: Session) -> list[Any]:
    return [json.loads(line) for line in file_of(session).read_text(encoding="utf-8").split("\n")[:-1]]


def placed(repo: JsonlSessionRepo, tmp_path: Path, *lines: Any, **header: Any) -> SessionMetadata:
    """A session whose file is made by hand, where it belongs."""
    with repo.create(id="s", cwd="/srv") as session:
        metadata = session.metadata
    v4_file(file_of(metadata), *lines, **header)
    return metadata


# -- what is written -----------------------------------------------------------------------------


def test_the_file_of_a_new_session(session: Session) -> None:
    assert file_of(session).relative_to(session.metadata.container) == Path(
        "--srv--/2025-10-09T08-53-20-000Z_s.jsonl"
    )
    assert lines_of(session) == [
        {"v": 4, "kind": "header", "id": "s", "storageVersion": 1, "createdAt": T0, "cwd": "/srv"}
    ]


def test_one_transaction_is_one_line(session: Session) -> None:
    session.set_value(N, 1)
    session.commit(
        [say("e"), set_value(N, 2), append_list(LOG, "x", "full"), delete_value(N), delete_list(LOG)]
    )
    session.commit([])
    session.retire_scope(ephemeral_scope("op"))
    assert lines_of(session)[1:] == [
        {"kind": "value", "op": "set", "seq": 1, "namespace": "app", "key": "n", "value": 1},
        [
            {
                "kind": "entry",
                "id": "e",
                "parentId": None,
                "type": "message",
                "message": {"role": "user", "content": "e"},
                "seq": 2,
                "timestamp": T0,
            },
            {"kind": "value", "op": "set", "seq": 3, "namespace": "app", "key": "n", "value": 2},
            {
                "kind": "list",
                "op": "append",
                "seq": 4,
                "namespace": "app",
                "key": "log",
                "value": "x",
                "tag": "full",
            },
            {"kind": "value", "op": "delete", "seq": 5, "namespace": "app", "key": "n"},
            {"kind": "list", "op": "delete", "seq": 6, "namespace": "app", "key": "log"},
        ],
        {"kind": "scope", "op": "retire", "seq": 7, "scopeId": "op"},
    ]


def test_an_append_is_one_write_of_one_line(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.set_value(N, 0)
    written: list[bytes] = []
    write = os.write

    def noted(fd: int, data: bytes) -> int:
        written.append(bytes(data))
        return write(fd, data)

    opened: list[object] = []
    monkeypatch.setattr(os, "write", noted)
    monkeypatch.setattr(os, "open", lambda *args, **_: opened.append(args))
    session.commit([set_value(N, "é\u2028"), append_list(LOG, 1)])
    assert len(written) == 1
    assert written[0].count(b"\n") == 1
    assert written[0].endswith(b"]\n")
    assert opened == []


@pytest.mark.parametrize("fsync", [False, True])
def test_fsync_comes_before_the_commit_returns(
    tmp_path: Path, fsync: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    sync = os.fsync

    def noted(fd: int) -> None:
        synced.append(fd)
        sync(fd)

    monkeypatch.setattr(os, "fsync", noted)
    with JsonlSessionRepo(tmp_path, fsync=fsync) as repo, repo.create(cwd="/x") as session:
        created = len(synced)
        session.set_value(N, 1)
        session.set_value(N, 2)
        appended = len(synced) - created
        session.set_value(value("app", scope=ephemeral_scope("op")), 1)
        scoped = len(synced) - created - appended
    if fsync:
        assert created >= 3  # the file and the folders that name it
        assert appended == 2
        assert scoped >= 2
    else:
        assert synced == []


def test_a_session_without_a_cwd(repo: JsonlSessionRepo) -> None:
    with repo.create(id="s") as session:
        assert session.metadata.cwd is None
        assert file_of(session).parent.name == "----"
        assert lines_of(session)[0]["cwd"] == ""
    with repo.open("s") as session:
        assert session.metadata.cwd is None


def test_what_was_committed_is_read_back(repo: JsonlSessionRepo, session: Session) -> None:
    session.commit([say("e"), set_value(N, {"b": -0.0, "a": 2**70}), append_list(LOG, "\ud83d\0\u2028", "t")])
    session.commit([insert_usage(NewUsageRow("u", _usage(), True, details=None))])
    before = (session.find_entries(), session.get_value(N), session.read_list(LOG), session.scan_usage())
    stats, next_seq = session.get_stats(), session.storage.next_seq()
    session.close()
    with repo.open("s") as again:
        assert (
            again.find_entries(),
            again.get_value(N),
            again.read_list(LOG),
            again.scan_usage(),
        ) == before
        assert str(stored(again, N)["b"]) == "-0.0"
        assert (again.get_stats(), again.storage.next_seq()) == (stats, next_seq)


def _usage() -> dict[str, Any]:
    cost = {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3}
    return {
        "input": 1,
        "output": 2,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": 3,
        "cost": cost,
        "other": [1],
    }


def test_numbers_keep_their_spelling_through_reopening_and_loading(
    repo: JsonlSessionRepo, tmp_path: Path
) -> None:
    lines = [
        text_of(set_line(1, "§")).replace('"§"', "1e-05"),
        text_of(entry(2, "e", message={"role": "user", "n": "§"}, other="§")).replace('"§"', "0.00001"),
        text_of(usage_line(3, "u", details="§")).replace('"§"', "1E5"),
    ]
    metadata = placed(repo, tmp_path, *lines)
    with repo.open(metadata) as session:
        session.set_value(N, 1)
    assert file_of(metadata).read_text().split("\n")[1:4] == lines
    with JsonlSessionRepo(tmp_path / "other") as other, repo.snapshot(metadata) as image:
        copy = file_of(other.load(image))
        found = load(copy)
    assert found.values[0].value == "1e-05"
    assert '"other":0.00001' in found.entries[0].payload
    assert found.usage_rows[0].details == "1E5"


# -- torn tails and failed writes ------------------------------------------------------------------


@pytest.mark.parametrize("tail", ['{"kind"', text_of(set_line(2, "torn")), "[", "\n\ud83d"[1:]], ids=repr)
def test_a_torn_tail_is_cut_off_when_the_session_is_opened(
    repo: JsonlSessionRepo, tmp_path: Path, tail: str
) -> None:
    metadata = placed(repo, tmp_path, set_line(1, 1))
    path = file_of(metadata)
    whole = path.read_bytes()
    path.write_bytes(whole + tail.encode("utf-8", "surrogatepass"))
    with repo.open(metadata) as session:
        assert path.read_bytes() == whole
        assert session.set_value(N, 2).seqs == (2,)
    assert [item["seq"] for item in map(json.loads, path.read_text().split("\n")[1:-1])] == [1, 2]


def test_damage_in_the_middle_leaves_the_file_as_it_is(repo: JsonlSessionRepo, tmp_path: Path) -> None:
    metadata = placed(repo, tmp_path, set_line(1, 1), "broken", set_line(2, 1))
    path = file_of(metadata)
    path.write_bytes(path.read_bytes() + b"torn")
    before = path.read_bytes()
    with pytest.raises(CorruptStorageError) as raised:
        repo.open(metadata)
    assert (raised.value.path, raised.value.line) == (str(path), 3)
    assert path.read_bytes() == before
    assert [found.id for found in repo.list()] == ["s"]  # its header is whole


class Failing:
    """Stands for ``os.write``: fails for the data of commits in a given way."""

    def __init__(self, written: int | None, error: BaseException | None) -> None:
        self._write = os.write
        self._written = written
        self._error = error

    def __call__(self, fd: int, data: bytes) -> int:
        done = self._write(fd, data[: self._written]) if self._written else 0
        if self._error is not None:
            raise self._error
        return done


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("written", "error"),
    [
        (None, FULL),
        (20, FULL),
        (20, None),
        (10_000, FULL),
        (10_000, KeyboardInterrupt()),
        (7, KeyboardInterrupt()),
    ],
    ids=[
        "nothing",
        "a part, then an error",
        "a short write",
        "all, then an error",
        "all, interrupted",
        "a part, interrupted",
    ],
)
@pytest.mark.parametrize("scoped", [False, True])
def test_a_failed_append_is_cut_back(
    repo: JsonlSessionRepo,
    session: Session,
    monkeypatch: pytest.MonkeyPatch,
    written: int | None,
    error: BaseException | None,
    scoped: bool,
) -> None:
    place = value("app", "n", scope=ephemeral_scope("op")) if scoped else N
    session.set_value(place, 1)
    files = {
        path: path.read_bytes() for path in Path(session.metadata.container).rglob("*") if path.is_file()
    }
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", Failing(written, error))
        with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else StorageError):
            session.set_value(place, 2)
    assert {path: path.read_bytes() for path in files} == files
    assert stored(session, place) == 1
    assert session.set_value(place, 3).seqs == (2,)
    session.close()
    with repo.open("s") as again:
        assert stored(again, place) == 3


def test_an_append_that_cannot_be_undone_ends_the_handle(
    repo: JsonlSessionRepo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.set_value(N, 1)

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", Failing(9, FULL))
        patched.setattr(os, "ftruncate", fail)
        with pytest.raises(StorageError):
            session.set_value(N, 2)
    with pytest.raises(StorageError, match="could not be undone"):
        session.set_value(N, 3)
    assert stored(session, N) == 1
    session.close()
    with repo.open("s") as again:  # the torn tail goes
        assert again.set_value(N, 4).seqs == (2,)


def test_a_failed_fsync_is_cut_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with JsonlSessionRepo(tmp_path, fsync=True) as repo, repo.create() as session:
        session.set_value(N, 1)
        before = file_of(session).read_bytes()
        calls = 0
        sync = os.fsync

        def fail(fd: int) -> None:
            nonlocal calls
            calls += 1
            if calls == 1:
                raise OSError(errno.EIO, "Input/output error")
            sync(fd)

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", fail)
            with pytest.raises(StorageError):
                session.set_value(N, 2)
        assert file_of(session).read_bytes() == before
        assert session.set_value(N, 3).seqs == (2,)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the platform has no /dev/full")
def test_a_full_device_is_told_as_such(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    session.set_value(N, 1)
    full = os.open("/dev/full", os.O_WRONLY)
    write = os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda _, data: write(full, data))
        with pytest.raises(StorageError, match="No space left"):
            session.set_value(N, 2)
    os.close(full)
    assert session.set_value(N, 3).seqs == (2,)


# -- other hands on the file -------------------------------------------------------------------------


def test_a_file_that_vanished_is_an_error_and_stays_gone(session: Session) -> None:
    session.set_value(N, 1)
    path = file_of(session)
    path.unlink()
    for place in (N, value("a", scope=ephemeral_scope("o"))):
        with pytest.raises(SessionNotFoundError, match="'s'"):
            session.set_value(place, 2)
    assert not path.exists()
    assert not Path(f"{path}.scopes").exists()


@pytest.mark.parametrize("first_write", [False, True])
def test_a_file_that_was_replaced_is_an_error(session: Session, tmp_path: Path, first_write: bool) -> None:
    if not first_write:
        session.set_value(N, 1)
    path = file_of(session)
    other = tmp_path / "other"
    other.write_bytes(path.read_bytes())
    other.replace(path)
    before = path.read_bytes()
    with pytest.raises(TransactionConflictError):
        session.set_value(N, 2)
    assert path.read_bytes() == before


@pytest.mark.parametrize("change", ["longer", "shorter"])
def test_a_file_that_somebody_else_changed_is_an_error(session: Session, change: str) -> None:
    session.set_value(N, 1)
    path = file_of(session)
    content = path.read_bytes()
    with path.open("r+b") as file:
        if change == "longer":
            file.seek(0, 2)
            file.write(text_of(set_line(2, "other")).encode() + b"\n")
        else:
            file.truncate(len(content) - 5)
    before = path.read_bytes()
    for place in (N, value("app", scope=ephemeral_scope("op"))):
        with pytest.raises(TransactionConflictError):
            session.set_value(place, 2)
    assert path.read_bytes() == before


def test_reading_goes_on_where_nothing_can_be_written(repo: JsonlSessionRepo, tmp_path: Path) -> None:
    metadata = placed(repo, tmp_path, set_line(1, 1, key="n"))
    path = file_of(metadata)
    path.write_bytes(path.read_bytes() + b"torn")

    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    opening = os.open
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            os,
            "open",
            lambda path, flags, *more: refuse() if flags & os.O_WRONLY else opening(path, flags, *more),
        )
        session = repo.open(metadata)
        assert stored(session, N) == 1
        with pytest.raises(StorageError, match="Permission denied"):
            session.set_value(N, 2)
    assert path.read_bytes().endswith(b"torn")
    assert session.set_value(N, 3).seqs == (2,)  # cuts the tail off first
    assert b"torn" not in path.read_bytes()
    session.close()


def test_no_descriptor_is_left(repo: JsonlSessionRepo, session: Session) -> None:
    before = open_descriptors()
    for name in "abc":
        with repo.create(id=name) as other:
            other.set_value(N, 1)
            other.set_value(value("app", scope=ephemeral_scope("op")), 1)
            with repo.snapshot(other.metadata) as image:
                assert len(list(image.records)) == 2
        with repo.snapshot(name) as image:
            assert len(list(image.records)) == 2
    assert open_descriptors() == before


def test_commits_of_deletes_and_retirements_alone(session: Session) -> None:
    assert session.commit([retire_scope(ephemeral_scope("op"))]).seqs == (1,)
    assert session.commit([delete_value(N), delete_list(LOG)]).seqs == (2, 3)
    assert session.storage.next_seq() == 4
