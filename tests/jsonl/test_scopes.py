"""Sidecars as the JSONL store writes them: jsonl.md section 3, sentence by sentence."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from faults import Calls
from jsonl.support import (
    T0,
    append_line,
    entry,
    retire_line,
    say,
    set_line,
    sidecar,
    stored,
    text_of,
    v4_file,
)

from sessionstore import (
    CorruptStorageError,
    ForkTree,
    Session,
    SessionMetadata,
    SessionNotFoundError,
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
from sessionstore.testing.platform import open_descriptors

OP = ephemeral_scope("op")
N, SCOPED, FRAMES = value("app", "n"), value("app", "n", scope=OP), value_list("app", "f", scope=OP)


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[JsonlSessionRepo]:
    with JsonlSessionRepo(tmp_path / "root", clock=lambda: T0) as repo:
        yield repo


@pytest.fixture
def session(repo: JsonlSessionRepo) -> Iterator[Session]:
    with repo.create(id="s", cwd="/srv") as session:
        yield session


def path_of(session: Session | SessionMetadata) -> Path:
    metadata = session if isinstance(session, SessionMetadata) else session.metadata
    return Path(str(metadata.path))


def scopes_of(session: Session | SessionMetadata) -> Path:
    return Path(f"{path_of(session)}.scopes")


def sidecar_of(session: Session | SessionMetadata, name: str = "op") -> Path:
    return scopes_of(session) / f"scope-{name}.scope"


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def names_in(path: Path) -> list[str]:
    return sorted(child.name for child in path.iterdir()) if path.exists() else []


@pytest.fixture
def made(repo: JsonlSessionRepo) -> SessionMetadata:
    """A closed session whose files are to be made by hand."""
    with repo.create(id="s", cwd="/srv") as session:
        return session.metadata


# -- routing -----------------------------------------------------------------------------------


def test_scoped_records_are_never_in_the_main_file(session: Session) -> None:
    session.set_value(N, 1)
    session.set_value(SCOPED, 2)
    session.commit([append_list(FRAMES, "a", "full"), append_list(FRAMES, "b")])
    session.set_value(N, 5)
    assert [line.get("seq") for line in lines_of(path_of(session))] == [None, 1, 5]
    assert lines_of(sidecar_of(session)) == [
        {"v": 4, "kind": "scope_header", "sessionId": "s", "scopeId": "op", "storageVersion": 1},
        {**set_line(2, 2, key="n"), "scopeId": "op"},
        [
            {**append_line(3, "a", key="f"), "scopeId": "op", "tag": "full"},
            {**append_line(4, "b", key="f"), "scopeId": "op"},
        ],
    ]


def test_the_directory_is_made_on_first_need(session: Session) -> None:
    session.set_value(N, 1)
    assert not scopes_of(session).exists()
    session.set_value(SCOPED, 1)
    assert names_in(scopes_of(session)) == ["scope-op.scope"]


@pytest.mark.parametrize("id", [".", "..", "a/b", "../../x", "CON", "é😀", "%", "x" * 180])
def test_each_live_scope_has_one_file(repo: JsonlSessionRepo, session: Session, id: str) -> None:
    places = [value("app", scope=ephemeral_scope(name)) for name in (id, "other")]
    for n, place in enumerate(places):
        session.set_value(place, n)
        session.set_value(place, n)
    assert len(names_in(scopes_of(session))) == 2
    session.close()
    with repo.open("s") as again:
        assert [stored(again, place) for place in places] == [0, 1]


def test_more_scopes_than_open_files(repo: JsonlSessionRepo, session: Session) -> None:
    places = [value("app", scope=ephemeral_scope(f"op{n}")) for n in range(100)]
    before = open_descriptors()
    for n in (1, 2):
        for place in places:
            session.set_value(place, n)
    assert open_descriptors() < before + 40
    session.close()
    with repo.open("s") as again:
        assert {stored(again, place) for place in places} == {2}
        assert again.storage.next_seq() == 201


def test_a_first_write_that_fails_leaves_no_sidecar(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    for name in ("write", "ftruncate"):
        with monkeypatch.context() as patched:
            patched.setattr(os, name, fail)
            if name == "ftruncate":
                continue
            with pytest.raises(StorageError):
                session.set_value(SCOPED, 1)
        assert names_in(scopes_of(session)) == []
        assert stored(session, SCOPED) is None
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        with pytest.raises(StorageError):
            session.set_value(SCOPED, 1)
    assert names_in(scopes_of(session)) == []
    assert session.set_value(SCOPED, 1).seqs == (1,)


def test_a_directory_that_cannot_be_made(session: Session) -> None:
    scopes_of(session).write_text("in the way")
    with pytest.raises((StorageError, TransactionConflictError)):
        session.set_value(SCOPED, 1)
    assert stored(session, SCOPED) is None


# -- retirement ----------------------------------------------------------------------------------


def test_a_retirement_is_a_main_file_record_and_unlinks_the_sidecar(
    repo: JsonlSessionRepo, session: Session
) -> None:
    session.set_value(SCOPED, 1)
    session.commit([say("e"), retire_scope(OP), set_value(N, 1)])
    assert lines_of(path_of(session))[-1][1] == retire_line(3, "op")
    assert names_in(scopes_of(session)) == []
    assert stored(session, SCOPED) is None
    session.close()
    with repo.open("s") as again:
        assert stored(again, SCOPED) is None
        assert again.storage.next_seq() == 5


def test_a_scope_can_be_used_again(repo: JsonlSessionRepo, session: Session) -> None:
    session.commit([append_list(FRAMES, "old")])
    session.retire_scope(OP)
    session.commit([append_list(FRAMES, "new")])
    session.set_value(SCOPED, "new")
    assert [line.get("seq") for line in lines_of(sidecar_of(session))] == [None, 3, 4]
    session.close()
    with repo.open("s") as again:
        assert [element.value for element in again.read_list(FRAMES)] == ["new"]
        assert stored(again, SCOPED) == "new"


def test_a_failed_unlink_fails_nothing(
    repo: JsonlSessionRepo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.set_value(SCOPED, "old")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", _denied)
        assert session.retire_scope(OP).seqs == (2,)
    assert names_in(scopes_of(session)) == ["scope-op.scope"]
    assert stored(session, SCOPED) is None
    session.set_value(N, 1)
    session.close()
    with repo.open("s") as again:  # the next open tries again
        assert names_in(scopes_of(again)) == []
        assert stored(again, SCOPED) is None
        assert again.storage.next_seq() == 4


def test_a_new_lifetime_is_not_hit_by_a_failed_unlink(
    repo: JsonlSessionRepo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.set_value(SCOPED, "old")
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", _denied)
        session.retire_scope(OP)
    session.set_value(SCOPED, "new")
    session.set_value(N, 1)
    session.close()
    for _ in range(2):
        with repo.open("s") as again:
            assert stored(again, SCOPED) == "new"
            assert again.storage.next_seq() == 5


def _denied(*_: object, **__: object) -> None:
    raise PermissionError(errno.EACCES, "Permission denied")


def test_close_keeps_sidecars_and_listing_ignores_them(repo: JsonlSessionRepo, session: Session) -> None:
    session.set_value(SCOPED, 1)
    session.close()
    assert names_in(scopes_of(session)) == ["scope-op.scope"]
    assert [found.id for found in repo.list()] == ["s"]
    with repo.open("s") as again:
        assert stored(again, SCOPED) == 1


# -- opening -----------------------------------------------------------------------------------------


def test_opening_unlinks_what_has_nothing_live_and_keeps_the_rest_whole(
    repo: JsonlSessionRepo, made: SessionMetadata
) -> None:
    path = v4_file(path_of(made), retire_line(5, "dead"), retire_line(6, "again"))
    sidecar(path, "dead", set_line(2, 1, scopeId="dead"))
    sidecar(path, "header-only")
    kept = sidecar(path, "again", set_line(3, "old", scopeId="again"), set_line(7, "new", scopeId="again"))
    content = kept.read_bytes()
    (scopes_of(made) / "notes.txt").write_text("unrelated")
    (scopes_of(made) / "scope-x.scope.tmp").write_text("never published")
    with repo.open(made) as session:
        assert names_in(scopes_of(made)) == ["notes.txt", "scope-again.scope"]
        assert kept.read_bytes() == content
        assert session.storage.next_seq() == 8
        assert stored(session, value("app", scope=ephemeral_scope("again"))) == "new"


def test_the_next_number_counts_what_is_then_deleted(repo: JsonlSessionRepo, made: SessionMetadata) -> None:
    path = v4_file(path_of(made), retire_line(9, "op"))
    sidecar(path, "op", set_line(8, 1, scopeId="op"))
    sidecar(path, "live", set_line(30, 1, scopeId="live"))
    with repo.open(made) as session:
        assert session.set_value(N, 1).seqs == (31,)


def test_a_torn_sidecar_is_repaired(repo: JsonlSessionRepo, made: SessionMetadata) -> None:
    path = v4_file(path_of(made), entry(1, "e"))
    torn = sidecar(
        path, "op", set_line(2, 1, key="n", scopeId="op"), text_of(set_line(3, 2, scopeId="op")), end=""
    )
    with repo.open(made) as session:
        assert torn.read_bytes().endswith(b'"scopeId":"op"}\n')
        assert session.set_value(SCOPED, 3).seqs == (3,)
    assert [line.get("seq") for line in lines_of(torn)] == [None, 2, 3]


@pytest.mark.parametrize(
    ("line", "change", "error"),
    [
        ("broken", {}, CorruptStorageError),
        (set_line(4, 1, scopeId="other"), {}, CorruptStorageError),
        (set_line(4, 1, scopeId="op"), {"sessionId": "other"}, CorruptStorageError),
        (set_line(4, 1, scopeId="op"), {"scopeId": "other"}, CorruptStorageError),
        (set_line(4, 1, scopeId="op"), {"storageVersion": 2}, UnsupportedStorageVersionError),
        (set_line(1, 1, scopeId="op"), {}, CorruptStorageError),
    ],
    ids=str,
)
def test_damage_in_a_sidecar_fails_the_open_and_touches_nothing(
    repo: JsonlSessionRepo, made: SessionMetadata, line: Any, change: dict[str, Any], error: type[Exception]
) -> None:
    path = v4_file(path_of(made), set_line(1, 1), retire_line(2, "dead"))
    sidecar(path, "dead", set_line(1, 1, scopeId="dead"))
    sidecar(path, "op", line, set_line(5, 1, scopeId="op"), **change)
    path.write_bytes(path.read_bytes() + b"torn")
    files = {file: file.read_bytes() for file in [path, *scopes_of(made).iterdir()]}
    with pytest.raises(error):
        repo.open(made)
    assert {file: file.read_bytes() for file in [path, *scopes_of(made).iterdir()]} == files


def test_a_dead_sidecar_of_another_session_is_not_removed(
    repo: JsonlSessionRepo, made: SessionMetadata
) -> None:
    path = v4_file(path_of(made), retire_line(9, "op"))
    foreign = sidecar(path, "op", set_line(8, 1, scopeId="op"), sessionId="other")
    with repo.open(made) as session:
        assert foreign.exists()
        assert stored(session, SCOPED) is None


# -- the life of a session ---------------------------------------------------------------------------


def test_delete_removes_the_directory_recursively(repo: JsonlSessionRepo, session: Session) -> None:
    session.set_value(SCOPED, 1)
    (scopes_of(session) / "sub").mkdir()
    (scopes_of(session) / "sub" / "file").write_text("x")
    session.close()
    repo.delete("s")
    assert not path_of(session).parent.exists()
    assert repo.list() == []


def test_a_failure_to_remove_the_directory_is_told_after_the_session_is_gone(
    repo: JsonlSessionRepo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.set_value(SCOPED, 1)
    session.close()
    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", _denied)
        with pytest.raises(StorageError, match=r"is deleted, but .*\.scopes"):
            repo.delete("s")
    assert not path_of(session).exists()
    assert repo.list() == []


def test_creating_removes_leftover_scopes_or_fails(
    repo: JsonlSessionRepo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.set_value(SCOPED, "old")
    session.close()
    path_of(session).unlink()
    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", _denied)
        with pytest.raises(StorageError, match=r"\.scopes"):
            repo.create(id="s", cwd="/srv")
    assert repo.list() == []
    with repo.create(id="s", cwd="/srv") as again:
        assert path_of(again) == path_of(session)
        assert not scopes_of(again).exists()
        assert stored(again, SCOPED) is None


def test_a_fork_has_no_scopes_and_no_retirements(repo: JsonlSessionRepo, session: Session) -> None:
    session.set_value(SCOPED, 1)
    session.retire_scope(ephemeral_scope("other"))
    next_seq = session.storage.next_seq()
    with repo.fork("s", ForkTree(include_application_state=True)) as copy:
        assert not scopes_of(copy).exists()
        assert "retire" not in path_of(copy).read_text()
        assert stored(copy, SCOPED) is None
        assert copy.storage.next_seq() >= next_seq
    session.close()
    sidecar_of(session).write_bytes(sidecar_of(session).read_bytes().replace(b'"seq":1', b'"seq":70'))
    with repo.fork("s", ForkTree()) as copy:
        assert copy.storage.next_seq() == 71


def test_loading_an_image_makes_the_sidecars_of_its_live_scopes(
    repo: JsonlSessionRepo, session: Session
) -> None:
    for n in range(40):
        session.commit(
            [append_list(value_list("app", "f", scope=ephemeral_scope(f"op{n}")), "x" * 1000, "t")]
        )
        session.set_value(N, n)
    with repo.snapshot("s") as image, JsonlSessionRepo(repo.container + "-copy") as other:
        copied = other.load(image)
        with other.open(copied) as copy:
            assert copy.storage.next_seq() == session.storage.next_seq()
            for n in range(40):
                [element] = copy.read_list(value_list("app", "f", scope=ephemeral_scope(f"op{n}")))
                assert (element.value, element.tag, element.seq) == ("x" * 1000, "t", 2 * n + 1)
            assert copy.set_value(N, 0).seqs == (81,)
        assert len(names_in(scopes_of(copied))) == 40


# -- other hands on the files -------------------------------------------------------------------------


def test_a_sidecar_that_somebody_else_made_is_an_error(session: Session) -> None:
    session.set_value(N, 1)
    sidecar(path_of(session), "other", set_line(2, 1, scopeId="other"))
    for place in (N, SCOPED):
        with pytest.raises(TransactionConflictError):
            session.set_value(place, 2)


def test_a_sidecar_that_somebody_else_changed_is_an_error(session: Session) -> None:
    session.set_value(SCOPED, 1)
    with sidecar_of(session).open("ab") as file:
        file.write(text_of(set_line(2, 1, scopeId="op")).encode() + b"\n")
    with pytest.raises(TransactionConflictError):
        session.set_value(SCOPED, 2)
    assert stored(session, SCOPED) == 1


def test_loading_that_fails_at_the_very_end_leaves_nothing(
    repo: JsonlSessionRepo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.set_value(SCOPED, 1)
    synced = 0
    sync = os.fsync

    def fail(fd: int) -> None:
        nonlocal synced
        synced += 1
        if synced == point:
            raise OSError(errno.EIO, "Input/output error")
        sync(fd)

    failures = 0
    for point in range(1, 20):
        target = Path(f"{repo.container}-copy{point}")
        with JsonlSessionRepo(target, fsync=True) as other, repo.snapshot("s") as image:
            synced = 0
            with monkeypatch.context() as patched:
                patched.setattr(os, "fsync", fail)
                try:
                    other.load(image)
                except StorageError:
                    failures += 1
                    assert [path for path in target.rglob("*") if path.is_file()] == []
                    continue
            assert len([path for path in target.rglob("*") if path.is_file()]) == 2
            break
    assert failures > 3


# -- sessions that are deleted meanwhile ---------------------------------------------------------


def test_a_sidecar_that_is_made_while_its_session_is_deleted_goes_with_it(tmp_path: Path) -> None:
    """Another process deletes the session before any one of the calls that make the sidecar."""
    at = 0
    while True:
        at += 1
        root = tmp_path / str(at)
        with JsonlSessionRepo(root) as repo, JsonlSessionRepo(root) as other:
            kept = repo.create(id="kept")  # so that the folder stays
            session = repo.create(id="s")
            session.set_value(N, 1)

            def delete(function: Any, *args: Any, other: JsonlSessionRepo = other, **options: Any) -> Any:
                other.delete("s")
                return function(*args, **options)

            calls = Calls(("stat", "mkdir", "open", "write", "fstat", "replace"), at, delete)
            with calls(), suppress(StorageError, SessionNotFoundError):
                session.append_list(FRAMES, 1)
        if not calls.hit:
            break
        assert [file for file in root.rglob("*") if file.is_file()] == [path_of(kept)], calls.hit
        assert not scopes_of(session).exists()
    assert at > 5
