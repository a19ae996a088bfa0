"""SQLite files: how they are opened, made, named and removed, and what is left when that fails."""

from __future__ import annotations

import errno
import gc
import hashlib
import logging
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine
from sqlalchemy.pool import NullPool, StaticPool

from sessionstore import (
    CorruptStorageError,
    ForeignSessionError,
    ForkTree,
    NewMessageEntry,
    SessionExistsError,
    SessionNotFoundError,
    StorageBusyError,
    StorageError,
    append_list,
    insert_entry,
    set_value,
    value,
    value_list,
)
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.opening import open_repository
from sessionstore.repository import SessionRepo
from sessionstore.sql import sqlite_building, sqlite_files
from sessionstore.sql.directory import SqliteDirectorySessionRepo, session_file_name
from sessionstore.sql.repo import SqlSessionRepo
from sessionstore.sql.sqlite_files import wal_of
from sessionstore.testing.platform import open_descriptors
from sessionstore.usage import SessionStats

V = value("app", "k")
MIB = 1 << 20
Layout = Callable[[Path], SessionRepo]


def container(folder: Path) -> SessionRepo:
    return SqlSessionRepo.from_path(folder / "sessions.db")


def directory(folder: Path) -> SessionRepo:
    return SqliteDirectorySessionRepo(folder)


each_layout = pytest.mark.parametrize("layout", [container, directory])


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# Paths ----------------------------------------------------------------------------------------


@each_layout
@pytest.mark.parametrize(
    "name", ["a b", "100%", "%41", "a?b=c", "#x", "é", "a;b", "mode=memory", "~", "a'b\"c"]
)
def test_odd_paths_are_taken_character_by_character(tmp_path: Path, layout: Layout, name: str) -> None:
    folder = tmp_path / name
    with layout(folder) as repo:
        with repo.create(id="s") as session:
            session.set_value(V, 1)
        assert [found.id for found in repo.list()] == ["s"]
        assert repo.container.startswith(str(folder))
    with layout(folder) as repo, repo.open("s") as session:
        stored = session.get_value(V)
        assert stored is not None
        assert stored.value == 1
    assert [path.name for path in tmp_path.iterdir()] == [name]


@each_layout
def test_nothing_but_create_makes_a_file(tmp_path: Path, layout: Layout) -> None:
    folder = tmp_path / "absent"
    with layout(folder) as repo:
        assert repo.list() == []
        for missing in (repo.get, repo.open, repo.delete):
            with pytest.raises(SessionNotFoundError):
                missing("s")
        with pytest.raises(SessionNotFoundError), repo.snapshot("s"):
            pass
    assert files(tmp_path) == []


@each_layout
def test_reading_changes_no_byte_of_the_main_file(tmp_path: Path, layout: Layout) -> None:
    with layout(tmp_path) as repo, repo.create(id="s") as session:
        session.set_value(V, 1)
    (main,) = [path for path in tmp_path.iterdir() if path.suffix in (".db", ".sqlite")]
    before = main.read_bytes(), main.stat().st_mtime_ns
    with layout(tmp_path) as repo:
        repo.list()
        repo.get("s")
        with repo.snapshot("s") as snapshot:
            assert len(list(snapshot.records)) == 1
    assert (main.read_bytes(), main.stat().st_mtime_ns) == before


@each_layout
def test_the_journal_mode_is_wal_and_reading_leaves_another_one(tmp_path: Path, layout: Layout) -> None:
    with layout(tmp_path) as repo:
        repo.create(id="s").close()
    (main,) = [path for path in tmp_path.iterdir() if path.suffix in (".db", ".sqlite")]
    assert mode_of(main) == "wal"
    raw = sqlite3.connect(main, isolation_level=None)
    raw.execute("PRAGMA journal_mode = DELETE")
    raw.close()
    with layout(tmp_path) as repo:
        repo.list()
        repo.get("s")
        assert mode_of(main) == "delete"


def mode_of(path: Path) -> str:
    raw = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return str(raw.execute("PRAGMA journal_mode").fetchone()[0])
    finally:
        raw.close()


READ_AS_NOBODY = """
import os, sys
sys.path.insert(0, {root!r})
# Imported before the rights are given up: the interpreter may be in a folder of root's.
import sessionstore.sql.directory, sessionstore.sql.repo
from sessionstore.opening import open_repository
os.setgid(65534); os.setuid(65534)
with open_repository({url!r}) as repo:
    print([found.id for found in repo.list()], repo.get("s").id)
    with repo.snapshot("s") as snapshot:
        print(len(list(snapshot.records)))
"""


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="needs root to become nobody")
@pytest.mark.parametrize("scheme", ["sqlite:///{}/sessions.db", "sqlite+dir://{}"])
def test_a_database_in_a_folder_that_may_not_be_written_can_be_read(scheme: str) -> None:
    root = Path(__file__).parents[2]
    with TemporaryFolder() as folder:
        url = scheme.format(folder)
        with open_repository(url) as repo, repo.create(id="s") as session:
            session.set_value(V, 1)
        before = files(folder)
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        program = READ_AS_NOBODY.format(root=str(root), url=url)
        ran = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
        )
        assert (ran.stdout, ran.returncode) == ("['s'] s\n1\n", 0), ran.stderr
        assert files(folder) == before


class TemporaryFolder:
    """A folder that everybody may enter, which pytest's are not."""

    def __enter__(self) -> Path:
        self._path = Path(f"/tmp/sessionstore-{os.getpid()}-{threading.get_ident()}")
        self._path.mkdir(mode=0o755)
        self._path.chmod(0o755)
        return self._path

    def __exit__(self, *_: object) -> None:
        for path in self._path.iterdir():
            path.unlink()
        self._path.rmdir()


# Failures -------------------------------------------------------------------------------------


@each_layout
@pytest.mark.parametrize("step", ["_write", "_publish", "_sync"])
def test_a_failed_create_leaves_nothing(
    tmp_path: Path, layout: Layout, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    folder = tmp_path / "new" / "folder"
    with layout(folder) as repo:
        with monkeypatch.context() as broken:
            broken.setattr(sqlite_building, step, full)
            with pytest.raises(StorageError, match="No space left"):
                repo.create(id="s")
        if step != "_sync":
            assert files(tmp_path) == []
            repo.create(id="s").close()
            assert [found.id for found in repo.list()] == ["s"]


@each_layout
def test_a_failed_load_leaves_nothing(tmp_path: Path, layout: Layout) -> None:
    def records() -> Iterator[Any]:
        yield from ()
        raise RuntimeError("the source broke")

    folder = tmp_path / "new"
    with layout(folder) as repo:
        with pytest.raises(RuntimeError, match="the source broke"):
            repo.load(SessionImage(ImageHeader("s", 1, 1, SessionStats()), records()))
        assert files(tmp_path) == []
        repo.create(id="s").close()


def test_what_a_killed_process_leaves_is_invisible_and_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / ".0123456789abcdef.new").write_bytes(b"half")
    with directory(tmp_path) as repo:
        assert repo.list() == []
        repo.create(id="s").close()
        assert [found.id for found in repo.list()] == ["s"]


@each_layout
def test_a_log_without_its_database_is_not_read_into_a_new_one(tmp_path: Path, layout: Layout) -> None:
    with layout(tmp_path) as repo:
        session = repo.create(id="s")
        session.set_value(V, "old")
        (main,) = [path for path in tmp_path.iterdir() if path.suffix in (".db", ".sqlite")]
        log = main.with_name(main.name + "-wal")
        left = log.read_bytes()
        assert left
        session.close()
    main.unlink()
    log.write_bytes(left)
    with layout(tmp_path) as repo, repo.create(id="s") as session:
        assert session.get_value(V) is None


@each_layout
def test_a_file_system_without_hard_links_shows_no_file_that_is_not_whole(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    moved: list[Any] = []
    rename = os.rename

    def move(source: Any, target: Any) -> None:
        assert not Path(target).exists()  # who found an empty file would make it a database, and lose it
        moved.append(target)
        rename(source, target)

    for name, function in (("link", unsupported), ("rename", move), ("replace", move)):
        monkeypatch.setattr(os, name, function)
    with layout(tmp_path) as repo:
        with repo.create(id="s") as session:
            session.set_value(V, 1)
        with pytest.raises(SessionExistsError):
            repo.create(id="s")
        repo.delete("s")
        assert repo.list() == []
    assert len(moved) == 1


def test_fifty_lock_timeouts_in_a_row_leave_no_handle(tmp_path: Path) -> None:
    for layout in (SqlSessionRepo.from_path, SqliteDirectorySessionRepo):
        folder = tmp_path / layout.__name__
        place = folder / "s.db" if layout == SqlSessionRepo.from_path else folder
        with layout(place, busy_timeout=0.01) as repo, repo.create(id="s") as session:
            (path,) = [path for path in folder.iterdir() if path.suffix in (".db", ".sqlite")]
            session.set_value(V, 0)
            with closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(StorageBusyError):
                    session.set_value(V, -1)
                gc.collect()  # what tests before have left
                before = open_descriptors()
                for _ in range(25):
                    with pytest.raises(StorageBusyError):
                        session.set_value(V, -1)
                    with pytest.raises(StorageBusyError):
                        session.mutate(lambda mutation: mutation.commit([set_value(V, -1)]))
                assert open_descriptors() == before
                other.execute("ROLLBACK")
            assert session.set_value(V, 1).seqs == (2,)


@each_layout
def test_a_file_that_is_no_database_is_an_error_and_stays(
    tmp_path: Path, layout: Layout, caplog: pytest.LogCaptureFixture
) -> None:
    junk = b"this is no database at all, whatever its name says" * 20
    name = "sessions.db" if layout is container else "s.sqlite"
    (tmp_path / name).write_bytes(junk)
    with layout(tmp_path) as repo:
        for use in (repo.get, repo.open, repo.delete):
            with pytest.raises(CorruptStorageError):
                use("s")
        if layout is container:
            with pytest.raises(CorruptStorageError):
                repo.list()
        else:
            with caplog.at_level(logging.WARNING, "sessionstore"):
                assert repo.list() == []
            assert "s.sqlite" in caplog.text
            with pytest.raises(SessionExistsError):
                repo.create(id="s")
    assert (tmp_path / name).read_bytes() == junk


def test_writing_to_a_database_that_was_removed_is_not_lost_silently(tmp_path: Path) -> None:
    for layout in (container, directory):
        folder = tmp_path / layout.__name__
        with layout(folder) as repo:
            session = repo.create(id="s")
            session.set_value(V, 1)
            for path in folder.iterdir():
                path.unlink()
            with pytest.raises(SessionNotFoundError):
                session.set_value(V, 2)
            with pytest.raises(SessionNotFoundError):
                session.get_value(V)
            assert repo.list() == []


def test_a_lock_that_stays_is_busy_after_the_timeout_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with SqlSessionRepo.from_path(path, busy_timeout=0.05) as repo, repo.create() as session:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageBusyError):
            session.set_value(V, 1)
        assert session.get_value(V) is None
        other.execute("ROLLBACK")
        other.close()
        session.set_value(V, 2)


# Connections ----------------------------------------------------------------------------------


def pragma(path: Path, durability: Any) -> tuple[int, ...]:
    with SqlSessionRepo.from_path(path, durability=durability) as repo, repo.create():
        lease = repo._sql.lease_for_writing()
        try:
            names = ("synchronous", "foreign_keys", "busy_timeout", "journal_size_limit")
            return tuple(lease.raw.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        finally:
            lease.give_back()


def test_what_writable_connections_are_set_to(tmp_path: Path) -> None:
    assert pragma(tmp_path / "full.db", "full") == (2, 1, 5000, 8 * MIB)
    assert pragma(tmp_path / "normal.db", "normal") == (1, 1, 5000, 8 * MIB)
    with pytest.raises(ValueError, match="durability"):
        SqlSessionRepo.from_url(f"sqlite:///{tmp_path}/x.db", durability="none")  # type: ignore[arg-type]  # the point


def test_a_log_that_grew_beside_a_long_read_is_cut_when_it_starts_anew(tmp_path: Path) -> None:
    log = tmp_path / "x.db-wal"
    with SqlSessionRepo.from_path(tmp_path / "x.db") as repo, repo.create() as session:
        with closing(sqlite3.connect(tmp_path / "x.db")) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM sessions").fetchall()
            for number in range(24):
                session.set_value(value("app", f"k{number}"), "x" * (MIB // 2))
        assert log.stat().st_size > 10 * MIB
        for number in range(3):
            session.set_value(V, number)
        assert log.stat().st_size <= 8 * MIB


@each_layout
def test_closing_leaves_no_connection(tmp_path: Path, layout: Layout) -> None:
    with layout(tmp_path) as repo:
        sessions = [repo.create() for _ in range(3)]
        sessions[0].set_value(V, 1)
        repo.list()
    held = [str(link.readlink()) for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    assert not [path for path in held if path.startswith(str(tmp_path))]
    assert not [name for name in files(tmp_path) if name.endswith(("-wal", "-shm"))]


def test_a_database_in_memory_shows_readers_what_was_committed_only() -> None:
    with open_repository("sqlite://") as repo, repo.create(id="s") as session:
        session.set_value(V, 1)
        began, read = threading.Event(), threading.Event()
        seen: list[Any] = []

        def look() -> None:
            began.wait(10)
            seen.append(session.get_value(V))
            read.set()

        thread = threading.Thread(target=look)
        thread.start()

        def clock() -> int:  # called inside the transaction, where the reader has to wait
            began.set()
            assert not read.wait(0.2)
            return 5

        session.storage._clock = clock  # type: ignore[attr-defined]  # the SQL store's own
        session.set_value(V, 2)
        thread.join(10)
        assert seen[0].value == 2
        session.storage._clock = lambda: 6  # type: ignore[attr-defined]  # as above
        with repo.snapshot("s") as snapshot:  # a copy: writing goes on while it is read
            session.set_value(V, 3)
            assert [record.value for record in snapshot.records] == ["2"]  # type: ignore[union-attr]  # a value


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"poolclass": NullPool},
        {"isolation_level": "AUTOCOMMIT"},
        {"connect_args": {"isolation_level": None}},
        {"connect_args": {"isolation_level": "EXCLUSIVE"}},
    ],
)
def test_a_users_engine_is_used_as_it_is_and_never_disposed(tmp_path: Path, options: dict[str, Any]) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/own.db", **options)
    pool = engine.pool
    with SqlSessionRepo(engine) as repo:
        assert repo.container == str(tmp_path / "own.db")
        with repo.create(id="s") as session:
            session.commit([insert_entry(NewMessageEntry("e", None, {"role": "user"})), set_value(V, 1)])
            with pytest.raises(ValueError, match="taken"):
                session.commit([set_value(V, 2), insert_entry(NewMessageEntry("e", None, {"role": "user"}))])
            stored = session.get_value(V)
            assert stored is not None
            assert stored.value == 1
    assert engine.pool is pool
    with engine.connect() as connection:  # what was committed is seen by every other connection
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM entries").scalar() == 1
    engine.dispose()


def test_a_users_engine_on_one_connection_is_shared_safely() -> None:
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    items = value_list("app")
    with SqlSessionRepo(engine) as repo, repo.create() as session:

        def work() -> None:
            for number in range(20):
                session.storage.commit([append_list(items, number)])
                session.read_list(items)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        seqs = [element.seq for element in session.read_list(items)]
        assert len(seqs) == 80
        assert seqs == sorted(set(seqs))
    engine.dispose()


# Sixteen writers ------------------------------------------------------------------------------


def test_many_threads_on_many_sessions_of_one_file_never_meet_a_lock(tmp_path: Path) -> None:
    items = value_list("app")
    failures: list[BaseException] = []
    with container(tmp_path) as repo:
        sessions = [repo.create() for _ in range(16)]

        def work(number: int) -> None:
            try:
                for step in range(15):
                    sessions[(number + step) % 16].storage.commit([append_list(items, step)])
            except BaseException as failure:  # noqa: BLE001 - told by the test
                failures.append(failure)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert failures == []
        for session in sessions:
            assert [element.seq for element in session.read_list(items)] == list(range(1, 16))


# One file for each session --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("abc-DEF_0", "abc-DEF_0.sqlite"),
        ("CON", "CON.sqlite"),
        ("../../x", "~LgAuAC8ALgAuAC8AeAA.sqlite"),
        ("é", "~6QA.sqlite"),
        (".", "~LgA.sqlite"),
        ("~x", "~fgB4AA.sqlite"),
        ("😀", "~PdgA3g.sqlite"),
    ],
)
def test_the_name_of_a_sessions_file(id: str, name: str) -> None:
    assert session_file_name(id) == name


def test_a_long_name_is_a_digest() -> None:
    fits, passes = "." * 70, "." * 71
    assert len(session_file_name(fits)) <= 200
    assert session_file_name(passes).startswith("~")
    assert not session_file_name(passes).startswith("~~")
    long = "." * 150
    assert session_file_name(long) == f"~~{hashlib.sha256(long.encode()).hexdigest()}.sqlite"


@pytest.mark.parametrize("id", ["../../x", "CON", "a?b=c", "100%", "#x", "é", ".", "..", "a/b", "." * 180])
def test_no_id_leaves_the_folder(tmp_path: Path, id: str) -> None:
    root = tmp_path / "root"
    with directory(root) as repo:
        metadata = repo.create(id=id).metadata
        repo.close()
    with directory(root) as repo:
        assert [found.id for found in repo.list()] == [id]
        assert Path(str(metadata.path)).parent == root
        repo.delete(metadata)
        assert repo.list() == []
    assert files(tmp_path) == ["root"]


def test_the_id_is_read_from_the_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with directory(tmp_path) as repo:
        repo.create(id="real").close()
        (tmp_path / "real.sqlite").rename(tmp_path / "other.sqlite")
        with caplog.at_level(logging.WARNING, "sessionstore"):
            assert repo.list() == []
        assert "other.sqlite" in caplog.text
        for use in (repo.get, repo.open, repo.delete):
            for id in ("real", "other"):
                with pytest.raises(SessionNotFoundError):
                    use(id)
        assert repo.check_container() != []
    assert (tmp_path / "other.sqlite").exists()


def test_metadata_with_another_path_is_foreign(tmp_path: Path) -> None:
    import msgspec

    with directory(tmp_path) as repo:
        metadata = repo.create(id="s").metadata
        repo.close()
    with directory(tmp_path) as repo:
        moved = msgspec.structs.replace(metadata, path=str(tmp_path / "x.sqlite"))
        for use in (repo.open, repo.delete):
            with pytest.raises(ForeignSessionError):
                use(moved)
        repo.open(metadata).close()


def test_a_folder_behind_a_link_has_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for layout in (container, directory):
        with layout(tmp_path / "link") as repo, repo.create(id=layout.__name__) as session:
            assert session.metadata.container.startswith(str(tmp_path / "real"))


def test_a_root_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with directory(tmp_path / "file") as repo, pytest.raises(StorageError):
        repo.list()


def test_deleting_removes_the_file_and_its_log(tmp_path: Path) -> None:
    with directory(tmp_path) as repo:
        session = repo.create(id="s")
        session.set_value(V, 1)
        session.close()
        keeper = sqlite3.connect(f"file:{tmp_path}/s.sqlite?mode=ro", uri=True)
        keeper.execute("SELECT * FROM sessions").fetchall()
        repo.delete("s")
        keeper.close()
        assert files(tmp_path) == []


@each_layout
def test_a_database_keeps_its_log_when_another_is_made_at_the_same_place(
    tmp_path: Path, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever finds no database removes a log that lies there, while somebody else makes and uses one."""
    acknowledged, looked_at = threading.Event(), threading.Event()

    def use() -> None:
        with layout(tmp_path) as repo, suppress(SessionExistsError), repo.create(id="s") as session:
            session.set_value(V, 1)
            acknowledged.set()
            looked_at.wait(10)

    user = threading.Thread(target=use)

    def removing(path: Path) -> Path:
        if user.ident is None:
            user.start()
            acknowledged.wait(1)  # or until it is clear that it has to wait
        return wal_of(path)

    monkeypatch.setattr(sqlite_building, "wal_of", removing)
    with layout(tmp_path) as repo:
        with suppress(SessionExistsError):
            repo.create(id="s" if layout is directory else "other").close()
        assert not acknowledged.is_set() or any(tmp_path.rglob("*-wal"))
        looked_at.set()
        user.join()
    with layout(tmp_path) as repo, repo.open("s") as session:
        assert (session.get_value(V) is not None) == acknowledged.is_set()


@pytest.mark.parametrize("opener", ["open_for_reading", "open_existing"])
def test_a_file_that_vanishes_while_it_is_opened_is_missing(
    tmp_path: Path, opener: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """SQLite tells what it happens to meet, an I/O error among others, of a file that somebody deletes."""

    def vanishing(path: Path, *_: object) -> None:
        path.unlink(missing_ok=True)
        raise sqlite3.OperationalError("disk I/O error")

    # What waits in the log of an open session keeps the list from reading the file without one.
    with directory(tmp_path) as owner, owner.create(id="s") as session, directory(tmp_path) as repo:
        session.set_value(V, 1)
        monkeypatch.setattr(sqlite_files, opener, vanishing)
        if opener == "open_for_reading":
            assert repo.list() == []
            assert caplog.messages == []
        else:
            with pytest.raises(SessionNotFoundError):
                repo.open("s").get_value(V)
        monkeypatch.undo()


WORK: dict[str, Callable[[SessionRepo], object]] = {
    "get": lambda repo: repo.get("s"),
    "open": lambda repo: repo.open("s").close(),
    "delete": lambda repo: repo.delete("s"),
    "check": lambda repo: repo.check_session("s"),
    "repair": lambda repo: repo.repair_session("s"),
    "fork": lambda repo: repo.fork("s", ForkTree()).close(),
}


@each_layout
@pytest.mark.parametrize("work", WORK)
def test_a_session_whose_file_vanishes_at_any_point_is_not_there(
    tmp_path: Path, layout: Layout, work: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process deletes the file between two looks at it."""
    looks = 0
    at = 0
    look = sqlite_files._stat

    def vanishing(path: Path | str) -> os.stat_result:
        nonlocal looks
        looks += 1
        if looks == at:
            for left in tmp_path.rglob("s.sqlite*" if layout is directory else "*.db*"):
                left.unlink()
        return look(path)

    monkeypatch.setattr(sqlite_files, "_stat", vanishing)
    while True:
        with layout(tmp_path) as repo:
            repo.create(id="s").close()
        looks, at = 0, at + 1
        with layout(tmp_path) as repo:
            try:
                WORK[work](repo)
            except SessionNotFoundError:
                continue
            if looks < at:
                break
    assert at > 1


# os.fork --------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no os.fork()")
@each_layout
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_leaves_the_parents_connections_whole(tmp_path: Path, layout: Layout) -> None:
    with layout(tmp_path) as repo, repo.create(id="s") as session:
        session.set_value(V, 1)
        repo.list()
        child = os.fork()
        if child == 0:
            refused = False
            try:
                session.set_value(V, 2)
            except RuntimeError:
                refused = True
            os._exit(0 if refused else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        session.set_value(V, 3)
        stored = session.get_value(V)
        assert stored is not None
        assert stored.value == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no os.fork()")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_forked_while_a_database_is_made_keeps_nobody_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It inherits the descriptor of the folder that its parent has locked at that moment."""
    waiting, ending = os.pipe()
    children: list[int] = []

    def forking(path: Path) -> Path:
        if path.name == session_file_name("s") and not children:
            child = os.fork()
            if child == 0:
                os.close(ending)
                os.read(waiting, 1)
                os._exit(0)
            children.append(child)
        return wal_of(path)

    monkeypatch.setattr(sqlite_building, "wal_of", forking)
    with directory(tmp_path) as repo:
        repo.create(id="s").close()
        deleting = threading.Thread(target=repo.delete, args=("s",))
        deleting.start()
        deleting.join(2)
        had_to_wait = deleting.is_alive()
        os.close(ending)
        os.waitpid(children[0], 0)
        os.close(waiting)
        deleting.join()
    assert not had_to_wait
