"""What is particular to the JSONL repository: paths, names, listing by header, leftovers."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonl.support import T0, VECTORS, entry, set_line, stored, v4_file

from sessionstore import (
    CorruptStorageError,
    ForeignSessionError,
    ForkTree,
    SessionExistsError,
    SessionMetadata,
    SessionNotFoundError,
    SessionStoreError,
    StorageError,
    UnsupportedStorageVersionError,
    ephemeral_scope,
    open_repository,
    value,
    value_list,
    wire,
)
from sessionstore.jsonl import JsonlSessionRepo
from sessionstore.jsonl.paths import encoded_id, file_name, folder_name

N = value("app", "n")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "root"


@pytest.fixture
def repo(root: Path) -> Iterator[JsonlSessionRepo]:
    with JsonlSessionRepo(root, clock=lambda: T0) as repo:
        yield repo


def path_of(metadata: SessionMetadata) -> Path:
    return Path(str(metadata.path))


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        (None, "----"),
        ("", "----"),
        ("/", "----"),
        ("//", "-----"),
        ("/srv/app", "--srv-app--"),
        ("\\srv", "--srv--"),
        ("srv/", "--srv---"),
        ("Z:\\temp", "--Z--temp--"),
        ("/a/../b", "--a-..-b--"),
        ("/é x", "--é x--"),
        ("/" + "x" * 196, f"--{'x' * 196}--"),
        ("/" + "x" * 197, f"--~~{hashlib.sha256(b'/' + b'x' * 197).hexdigest()}--"),
        ("/" + "é" * 99, f"--~~{hashlib.sha256(('/' + 'é' * 99).encode()).hexdigest()}--"),
    ],
)
def test_the_folder_of_a_cwd(cwd: str | None, name: str) -> None:
    assert folder_name(cwd) == name
    assert len(name.encode()) <= 200


def test_the_file_of_a_session() -> None:
    assert file_name(1760000000123, "a/b é") == "2025-10-09T08-53-20-123Z_a%2Fb%20%C3%A9.jsonl"
    assert file_name(0, "x_y") == "1970-01-01T00-00-00-000Z_x_y.jsonl"
    assert encoded_id("2025-10-09T08-53-20-123Z_x_y.jsonl") == "x_y"
    assert encoded_id("notes.jsonl") is None


def test_nothing_is_made_before_the_first_session(root: Path) -> None:
    with JsonlSessionRepo(root) as repo:
        assert repo.list() == []
        for call in (repo.get, repo.open, repo.delete):
            with pytest.raises(SessionNotFoundError):
                call("x")
    assert not root.exists()


@pytest.mark.parametrize("form", ["jsonl:{}", "jsonl://{}", "jsonl:{}/"])
def test_urls(root: Path, form: str) -> None:
    with open_repository(form.format(root), fsync=True) as repo:
        assert isinstance(repo, JsonlSessionRepo)
        assert repo.container == str(root)


def test_a_url_is_taken_character_by_character(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with open_repository("jsonl:a%20b?c#d") as repo, repo.create(id="s"):
        assert (tmp_path / "a%20b?c#d").is_dir()


def test_the_container_is_the_real_path(tmp_path: Path, root: Path) -> None:
    root.mkdir()
    (tmp_path / "link").symlink_to(root)
    with JsonlSessionRepo(tmp_path / "link") as one, JsonlSessionRepo(root) as two:
        assert one.container == two.container == str(root)
        with one.create(id="s") as session:
            metadata = session.metadata
        two.open(metadata).close()


# -- listing -----------------------------------------------------------------------------------------


def test_listing_reads_header_lines_only(
    repo: JsonlSessionRepo, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        with repo.create(id=f"s{n}", cwd="/srv") as session:
            metadata = session.metadata
        with path_of(metadata).open("ab") as file:
            file.write(b"x" * 100_000)
    size = 0
    read = os.read

    def counted(fd: int, count: int) -> bytes:
        nonlocal size
        data = read(fd, count)
        size += len(data)
        return data

    monkeypatch.setattr(os, "read", counted)
    assert len(repo.list()) == 5
    assert 0 < size <= 5 * 4096


def test_a_header_longer_than_a_page_is_listed(repo: JsonlSessionRepo) -> None:
    with repo.create(id="s", cwd="/" + "x/" * 10_000) as session:
        metadata = session.metadata
    assert repo.list() == [metadata]


def test_what_is_no_session_is_passed_over(
    repo: JsonlSessionRepo, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    repo.create(id="s", cwd="/srv").close()
    folder = root / folder_name("/srv")
    (folder / "empty.jsonl").write_text("")
    (folder / "notes.jsonl").write_text("hello\n")
    (folder / "torn.jsonl").write_text('{"v":4,"kind":"header"')
    (folder / "data.txt").write_text("x")
    (folder / "x.jsonl.tmp").write_text("x")
    (folder / "folder.jsonl.scopes").mkdir()
    (root / "stray.jsonl").write_text("x")
    caplog.set_level(logging.WARNING)
    assert [found.id for found in repo.list()] == ["s"]
    assert caplog.records == []


def test_a_single_file_that_cannot_be_read_is_passed_over_with_a_warning(
    repo: JsonlSessionRepo, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    repo.create(id="s", cwd="/srv").close()
    folder = root / folder_name("/srv")
    (folder / "folder.jsonl").mkdir()
    v4_file(folder / "future.jsonl", v=5)
    assert [found.id for found in repo.list()] == ["s"]
    assert "folder.jsonl" in caplog.text
    assert "future.jsonl" in caplog.text


def test_a_root_that_cannot_be_read_is_an_error(repo: JsonlSessionRepo, root: Path) -> None:
    root.write_text("no folder")
    with pytest.raises(StorageError, match="root"):
        repo.list()
    with pytest.raises(StorageError, match="root"):
        repo.get("x")
    with pytest.raises(StorageError):
        repo.create(id="x")


def test_a_folder_that_cannot_be_read_is_an_error(
    repo: JsonlSessionRepo, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.create(id="s", cwd="/srv").close()
    scandir = os.scandir

    def refuse(path: Any) -> Any:
        if Path(path) != root:
            raise PermissionError(errno.EACCES, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    for call in (repo.list, lambda: repo.list(cwd="/srv"), lambda: repo.get("s")):
        with pytest.raises(StorageError, match="Permission denied"):
            call()


def test_cwds_that_share_a_folder_are_kept_apart(repo: JsonlSessionRepo) -> None:
    with repo.create(id="one", cwd="/a/b") as one, repo.create(id="two", cwd="/a-b") as two:
        assert path_of(one.metadata).parent == path_of(two.metadata).parent
    assert [found.id for found in repo.list(cwd="/a/b")] == ["one"]
    assert [found.id for found in repo.list(cwd="/a-b")] == ["two"]


def test_one_id_in_two_cwds_of_one_folder(root: Path) -> None:
    now = T0
    with JsonlSessionRepo(root, clock=lambda: now) as repo:
        repo.create(id="s", cwd="/a/b").close()
        with pytest.raises(SessionExistsError):  # the very same path
            repo.create(id="s", cwd="/a-b")
        now += 1
        repo.create(id="s", cwd="/a-b").close()
        with pytest.raises(SessionExistsError):
            repo.create(id="s", cwd="/a-b")
        with pytest.raises(SessionStoreError, match=r"'/a-b'.*'/a/b'|'/a/b'.*'/a-b'"):
            repo.open("s")
        for metadata in repo.list():
            repo.open(metadata).close()
            repo.delete(metadata)


def test_modified_at_is_the_time_of_the_file(repo: JsonlSessionRepo) -> None:
    with repo.create(id="s") as session:
        os.utime(path_of(session.metadata), ns=(0, 1_234_567_890_123_456_789))
    assert repo.get("s").modified_at == 1_234_567_890_123
    assert repo.list()[0].modified_at == 1_234_567_890_123


# -- files that other tools named -------------------------------------------------------------------------


def test_a_session_file_of_another_name_is_a_session(repo: JsonlSessionRepo, root: Path) -> None:
    folder = root / "somewhere"
    folder.mkdir(parents=True)
    path = v4_file(folder / "mine.jsonl", set_line(1, 1, key="n"), id="odd", cwd="/srv")
    [listed] = repo.list()
    assert (listed.id, listed.path) == ("odd", str(path))
    for reference in (listed, "odd"):
        with repo.open(reference) as session:
            assert stored(session, N) == 1
            session.set_value(value("app", "m"), 2)
    with repo.snapshot(listed) as image:
        assert len(list(image.records)) == 2
    assert repo.check_container() == [
        f"{path}: holds session 'odd', which belongs in {root / folder_name('/srv') / file_name(T0, 'odd')}"
    ]
    repo.delete(listed)
    assert repo.list() == []


def test_a_file_called_after_another_id_is_opened_by_what_list_gives(
    repo: JsonlSessionRepo, root: Path
) -> None:
    """By its id it is not found: that would mean to read the header of every file for an id that is new."""
    with repo.create(id="s", cwd="/srv") as session:
        metadata = session.metadata
    v4_file(path_of(metadata), set_line(1, 1, key="n"), id="other")
    [listed] = repo.list()
    assert listed.id == "other"
    for id in ("s", "other"):
        with pytest.raises(SessionNotFoundError):
            repo.get(id)
    with repo.open(listed) as session:
        assert stored(session, N) == 1
    [problem] = repo.check_container()
    assert "holds session 'other', which belongs in" in problem
    repo.delete(listed)
    assert repo.list() == []


def test_a_session_where_it_belongs_hides_its_copies(
    repo: JsonlSessionRepo, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with repo.create(id="s", cwd="/srv") as session:
        metadata = session.metadata
    copy = path_of(metadata).with_name("copy.jsonl")
    copy.write_bytes(path_of(metadata).read_bytes())
    assert repo.list() == [metadata]
    assert repo.get("s") == metadata
    assert "copy.jsonl is passed over" in caplog.text
    with pytest.raises(ForeignSessionError):
        repo.open(msgspec.structs.replace(metadata, path=str(copy)))


def test_a_header_that_is_not_of_the_name_is_not_the_session(repo: JsonlSessionRepo, root: Path) -> None:
    with repo.create(id="s", cwd="/srv") as session:
        metadata = session.metadata
    v4_file(path_of(metadata), id="other")
    for call in (repo.open, repo.delete, lambda ref: repo.snapshot(ref).__enter__()):
        with pytest.raises(SessionNotFoundError):
            call(metadata)
    with pytest.raises(SessionNotFoundError):
        repo.get("s")
    assert path_of(metadata).exists()


@pytest.mark.parametrize("content", ["", "garbage\n", '{"v":5,"kind":"header"}\n'])
def test_a_header_that_cannot_be_read_is_never_overwritten(
    repo: JsonlSessionRepo, root: Path, content: str
) -> None:
    with repo.create(id="s", cwd="/srv") as session:
        metadata = session.metadata
    path_of(metadata).write_text(content)
    with pytest.raises((CorruptStorageError, UnsupportedStorageVersionError)):
        repo.open(metadata)
    with pytest.raises((CorruptStorageError, UnsupportedStorageVersionError)):
        repo.delete(metadata)
    with pytest.raises(SessionExistsError):
        repo.create(id="s", cwd="/srv")
    with JsonlSessionRepo(root, clock=lambda: T0 + 5) as later, pytest.raises(SessionExistsError):
        later.create(id="s", cwd="/srv")
    assert path_of(metadata).read_text() == content


@pytest.mark.parametrize("content", ["", "garbage\n", '{"v":5,"kind":"header"}\n', None])
def test_a_file_that_cannot_be_read_is_not_a_missing_session(
    repo: JsonlSessionRepo, root: Path, content: str | None
) -> None:
    """By bare id too: the error names the file, as it does for metadata."""
    with repo.create(id="s", cwd="/srv") as session:
        path = path_of(session.metadata)
    if content is None:  # reading it fails with an OSError, whoever runs this
        path.unlink()
        path.mkdir()
    else:
        path.write_text(content)
    for call in (repo.open, repo.get, repo.delete, lambda id: repo.fork(id, ForkTree())):
        with pytest.raises(SessionStoreError, match=re.escape(str(path))) as raised:
            call("s")
        assert not isinstance(raised.value, SessionNotFoundError)
    assert repo.list() == []
    with repo.create(id="s", cwd="/other"), pytest.raises(SessionExistsError):
        repo.create(id="s", cwd="/srv")
    assert repo.get("s").cwd == "/other"


# -- making and deleting ------------------------------------------------------------------------------------


def test_a_create_that_fails_leaves_nothing(
    repo: JsonlSessionRepo, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    for owner, name in ((os, "write"), (Path, "hardlink_to"), (os, "fstat")):
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, fail)
            with pytest.raises(StorageError):
                repo.create(id="s", cwd="/srv")
        assert not root.exists() or list(root.iterdir()) == []
    repo.create(id="s", cwd="/srv").close()


def test_a_file_system_without_hard_links(repo: JsonlSessionRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    with repo.create(id="s") as session:
        assert [path.name for path in path_of(session.metadata).parent.iterdir()] == [
            path_of(session.metadata).name
        ]
        session.set_value(N, 1)


def test_folders_come_and_go_under_creates_and_deletes(root: Path) -> None:
    failures: list[BaseException] = []

    def churn(name: str) -> None:
        try:
            with JsonlSessionRepo(root) as repo:
                for n in range(40):
                    with repo.create(id=f"{name}{n}", cwd="/srv") as session:
                        session.set_value(N, n)
                    repo.delete(session.metadata)
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    threads = [threading.Thread(target=churn, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert list(root.iterdir()) == []


def test_reopening_sees_the_clock_of_the_creation(root: Path) -> None:
    with JsonlSessionRepo(root, clock=lambda: 0) as repo:
        with repo.create(id="s") as session:
            metadata = session.metadata
        assert repo.get("s").created_at == 0
        repo.open(metadata).close()


# -- verify ------------------------------------------------------------------------------------------------


def test_a_whole_session_has_no_problems(repo: JsonlSessionRepo) -> None:
    with repo.create(id="s") as session:
        session.set_value(N, 1)
        session.set_value(value("app", scope=ephemeral_scope("op")), 1)
    assert repo.check_container() == []
    assert repo.check_session("s") == []
    assert repo.repair_session("s") == []


def test_leftovers_are_no_problem_and_a_repair_settles_them(repo: JsonlSessionRepo) -> None:
    with repo.create(id="s") as session:
        session.set_value(value("app", scope=ephemeral_scope("op")), 1)
        metadata = session.metadata
    path = path_of(metadata)
    whole = path.read_bytes() + b'{"kind":"scope","op":"retire","seq":2,"scopeId":"op"}\n'
    path.write_bytes(whole + b"torn")
    assert repo.check_session(metadata) == []
    assert path.read_bytes() == whole + b"torn"  # checking changes nothing
    assert repo.repair_session(metadata) == []
    assert path.read_bytes() == whole
    assert list(Path(f"{path}.scopes").iterdir()) == []


def test_damage_is_told_with_its_line(repo: JsonlSessionRepo) -> None:
    with repo.create(id="s") as session:
        metadata = session.metadata
    path = v4_file(path_of(metadata), entry(1, "e"), "broken", cwd="")
    [problem] = repo.check_session(metadata)
    assert problem.startswith(f"{path}: line 3: ")


def test_files_that_are_no_sessions_are_told(repo: JsonlSessionRepo, root: Path) -> None:
    repo.create(id="s").close()
    (root / "----" / "notes.jsonl").write_text("hello\n")
    [problem] = repo.check_container()
    assert "notes.jsonl: line 1" in problem


def test_a_file_that_is_being_written_is_no_problem(repo: JsonlSessionRepo, root: Path) -> None:
    repo.create(id="s").close()
    (root / "----" / "x.jsonl.123.tmp").write_text("half")
    assert repo.check_container() == []


# -- vectors on the store -----------------------------------------------------------------------------------


SCOPED = sorted(VECTORS.glob("scoped/*.jsonl"))


@pytest.mark.parametrize("vector", SCOPED, ids=lambda path: path.stem)
def test_scoped_vectors_hold_on_the_store(repo: JsonlSessionRepo, root: Path, vector: Path) -> None:
    expected = json.loads(vector.with_suffix(".expect.json").read_text(encoding="utf-8"))
    header = json.loads(vector.read_text(encoding="utf-8").split("\n")[0])
    path = root / folder_name(header["cwd"]) / file_name(header["createdAt"], header["id"])
    path.parent.mkdir(parents=True)
    path.write_bytes(vector.read_bytes())
    scopes = Path(f"{path}.scopes")
    scopes.mkdir()
    for file in Path(f"{vector}.scopes").iterdir():
        (scopes / file.name).write_bytes(file.read_bytes())
    if "error" in expected:
        with pytest.raises(SessionStoreError) as raised:
            repo.open("scoped")
        assert type(raised.value).__name__ == expected["error"]
        return
    with repo.open("scoped") as session:
        assert session.storage.next_seq() == expected["next_seq"]
        for scope_id, wanted in [(None, expected["session"]), *expected["scopes"].items()]:
            scope = None if scope_id is None else ephemeral_scope(scope_id)
            _check_places(session, scope, wanted)
        assert sorted(path.name for path in scopes.iterdir()) == [
            f"scope-{scope_id}.scope" for scope_id in expected["sidecars"]
        ]
        assert session.set_value(N, 1).seqs == (expected["next_seq"],)


def _check_places(session: Any, scope: Any, wanted: dict[str, Any]) -> None:
    for name, item in wanted["values"].items():
        found = session.get_value(value(*name.split("|"), scope=scope))
        assert (None if found is None else [found.seq, found.value]) == item
    for name, items in wanted["lists"].items():
        elements = session.read_list(value_list(*name.split("|"), scope=scope))
        assert [[element.seq, element.value, element.tag] for element in elements] == items


OTHERS = sorted([*VECTORS.glob("v3/*.jsonl"), *VECTORS.glob("v4/*.jsonl")])


@pytest.mark.parametrize("vector", OTHERS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_vectors_hold_on_the_store(repo: JsonlSessionRepo, root: Path, vector: Path) -> None:
    expected = json.loads(vector.with_suffix(".expect.json").read_text(encoding="utf-8"))
    folder = root / "--vectors--"
    folder.mkdir(parents=True)
    (folder / vector.name).write_bytes(vector.read_bytes())
    listed = repo.list()
    assert len(listed) == expected["listed"]
    if expected.get("error"):
        with pytest.raises(SessionStoreError):
            repo.open(listed[0])
        return
    with repo.open(listed[0]) as session:
        entries = session.find_entries(order="asc")
        names = {found.id: f"#{found.seq}" for found in entries}

        def renamed(data: Any) -> Any:
            if isinstance(data, str):
                return names.get(data, data)
            if isinstance(data, list):
                return [renamed(item) for item in data]
            return {name: renamed(item) for name, item in data.items()} if isinstance(data, dict) else data

        assert [renamed(wire.entry_to_json(found)) for found in entries] == expected["entries"]
        assert wire.stats_to_json(session.get_stats()) == expected["stats"]
        assert [renamed(wire.usage_row_to_json(row)) for row in session.scan_usage()] == expected["usage"]
        for namespace, values in expected["values"].items():
            found_values = [
                {"key": renamed(found.address.key), "seq": found.seq, "value": renamed(found.value)}
                for found in session.scan_values(value(namespace))
            ]
            assert found_values == values
        _check_places(
            session,
            None,
            {
                "values": {},
                "lists": {
                    name: [[item["seq"], item["value"], item.get("tag")] for item in items]
                    for name, items in expected["lists"].items()
                },
            },
        )
        metadata = wire.metadata_to_json(session.metadata)
        assert {name: metadata.get(name) for name in expected["metadata"]} == expected["metadata"]
