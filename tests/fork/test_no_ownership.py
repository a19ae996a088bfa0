"""Nothing stores, renews or asks who owns a session (repository.md section 3)."""

from __future__ import annotations

import re
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from fork.owner import commit_turn, configure

from sessionstore import ForkTree, SessionRepo, open_repository
from sessionstore.sql.models import Base

OWNERSHIP = re.compile(
    r"lease|lock|fence|fencing|heartbeat|takeover|tombstone|quarantine|owner|holder|writer|claim"
    r"|epoch|lend|expire|expiry|deadline|renew|alive|host|\bpid\b|process|token|generation",
    re.IGNORECASE,
)


def test_no_name_in_the_schema_means_ownership() -> None:
    names = [
        name
        for table in Base.metadata.tables.values()
        for name in (table.name, *(column.name for column in table.columns))
    ]
    assert "sessions" in names
    assert "next_seq" in names
    assert [name for name in names if OWNERSHIP.search(name)] == []


def test_no_migration_makes_a_name_that_means_ownership() -> None:
    revisions = Path(__file__).parents[2] / "alembic" / "versions"
    made = [
        name
        for revision in revisions.glob("*.py")
        for name in re.findall(r"""["']([a-z_]+)["']""", revision.read_text(encoding="utf-8"))
    ]
    assert "sessions" in made
    assert [name for name in made if OWNERSHIP.search(name)] == []


@pytest.fixture
def repo(store_url: str) -> Iterator[SessionRepo]:
    with open_repository(store_url) as repo:
        yield repo


def live(repo: SessionRepo) -> None:
    """Everything that could begin, renew or end an ownership."""
    with repo.create(cwd="/work") as session:
        configure(session)
        for number in range(1, 6):
            commit_turn(session, number)
    with repo.open(session.metadata) as again:
        commit_turn(again, 6)
        with repo.fork(again.metadata, ForkTree()) as copy:
            commit_turn(copy, 7)
    repo.fork(session.metadata, ForkTree()).close()
    repo.list()


def test_no_timer_and_no_thread_is_started(repo: SessionRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    start = threading.Thread.start

    def telling(thread: threading.Thread) -> None:
        started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", telling)
    before = threading.enumerate()
    live(repo)
    assert started == []
    assert threading.enumerate() == before


@pytest.mark.needs("sql")
def test_only_the_tables_of_the_schema_are_there(repo: SessionRepo, store_url: str) -> None:
    """And in a folder only databases: no lock file, no marker of a process."""
    live(repo)
    folder = Path(repo.container)
    if not folder.exists():
        return
    files = [folder] if folder.is_file() else sorted(folder.iterdir())
    databases = [path for path in files if not path.name.endswith(("-wal", "-shm"))]
    assert all(path.name.endswith((".db", ".sqlite")) for path in databases)
    for path in databases:
        with closing(sqlite3.connect(path)) as database:
            tables = {
                name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
        assert tables == {*Base.metadata.tables, "alembic_version"}


class Statements:
    """What this process has SQLite do, on every connection."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.texts: list[str] = []
        connect = sqlite3.connect

        def tracing(*args: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*args, **options)
            connection.set_trace_callback(self.texts.append)
            return connection

        monkeypatch.setattr(sqlite3, "connect", tracing)
        monkeypatch.setattr(sqlite3.dbapi2, "connect", tracing)

    def during(self, work: Callable[[], object]) -> list[str]:
        self.texts.clear()
        work()
        return [re.sub(r"\s+", " ", text).strip() for text in self.texts]


@pytest.mark.needs("sql", "files")
def test_an_ordinary_commit_is_one_write_transaction(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = Statements(monkeypatch)
    with open_repository(store_url) as repo, repo.create() as session:
        configure(session)
        commit_turn(session, 1)
        seen = statements.during(lambda: commit_turn(session, 2))
    assert [text for text in seen if text.startswith("BEGIN")] == ["BEGIN IMMEDIATE"]
    begin, end = seen.index("BEGIN IMMEDIATE"), seen.index("COMMIT")
    written = [text for text in seen if re.match(r"INSERT|UPDATE|DELETE|REPLACE", text)]
    assert written
    assert all(begin < seen.index(text) < end for text in written)
    assert seen.count("COMMIT") == 1


@pytest.mark.needs("sql", "files")
def test_open_close_and_reading_write_nothing(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    statements = Statements(monkeypatch)
    with open_repository(store_url) as repo:
        with repo.create() as session:
            configure(session)

        def come_and_go() -> None:
            with repo.open(session.metadata) as again:
                again.get_name()
            with repo.snapshot(session.metadata) as snapshot:
                assert list(snapshot.structure()) == []
            repo.list()

        seen = statements.during(come_and_go)
    assert seen
    assert [text for text in seen if re.match(r"INSERT|UPDATE|DELETE|REPLACE|CREATE|BEGIN IMM", text)] == []


@pytest.mark.needs("files")
def test_a_commit_writes_to_the_session_and_nothing_else(repo: SessionRepo) -> None:
    """No other file changes, appears or goes, whoever opens, commits and closes."""
    with repo.create(cwd="/work") as session, repo.create(cwd="/work") as other:
        configure(session)
        configure(other)
        commit_turn(session, 1)
        folder = Path(repo.container)
        folder = folder if folder.is_dir() else folder.parent
        before = {path: path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file()}
        commit_turn(session, 2)
        after = {path: path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file()}
        assert after.keys() == before.keys()
        changed = {path for path in after if after[path] != before[path]}
        own = session.metadata.path or repo.container
        assert all(str(path).startswith(own) for path in changed)


def test_no_module_of_the_library_names_a_lease(request: pytest.FixtureRequest) -> None:
    """Neither a class, a function, an attribute nor a parameter."""
    package = Path(sys.modules["sessionstore"].__file__ or "").parent
    stand_in = re.compile(
        r"\b\w*(heartbeat|fencing|takeover|tombstone|quarantine|writer_lease|lease_id)\w*\b"
    )
    found = [
        f"{path.relative_to(package)}: {match.group()}"
        for path in package.rglob("*.py")
        for match in stand_in.finditer(path.read_text(encoding="utf-8").lower())
    ]
    assert found == []
