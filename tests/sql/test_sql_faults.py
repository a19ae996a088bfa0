"""Each statement of each piece of work fails once, by its number, on every SQL store.

What comes of it: the work happened as a whole, if need be at another try, or an error of ours and
nothing of it. Only a COMMIT whose answer is lost may leave it open which of the two. The handle
goes on, no number is used twice and no connection is kept.
"""

from __future__ import annotations

import gc
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pymysql
import pytest
from legs import StoreKind
from server.support import pool_of, wait_until
from sql.driver_faults import FAULTS, KINDS, Fault, Statements, install

from sessionstore import (
    CommitOutcomeUnknownError,
    ForkTree,
    NewMessageEntry,
    NewUsageRow,
    Session,
    SessionRepo,
    SessionStoreError,
    StorageError,
    append_list,
    delete_list,
    delete_value,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    open_repository,
    retire_scope,
    set_value,
    value,
    value_list,
)
from sessionstore.sql import sqlite_files
from sessionstore.sql.dialects.base import SqlDialect
from sessionstore.sql.link import Link
from sessionstore.usage import Usage

pytestmark = pytest.mark.needs("sql")

OP = ephemeral_scope("op")
N, M, L = value("app", "n"), value("app", "m"), value_list("app", "l")
SCOPED, FRAMES = value("app", "n", scope=OP), value_list("app", "f", scope=OP)
PROBE = value("probe")

Stores = Callable[[], tuple[SessionRepo, Session]]


def say(id: str, parent: str | None) -> Any:
    return insert_entry(NewMessageEntry(id, parent, {"role": "user", "content": id}))


def fill(session: Session) -> None:
    session.commit([say("a", None), say("b", "a"), set_value(N, 1), append_list(L, 1)])
    session.commit([set_value(SCOPED, 1), append_list(FRAMES, 1)])


def mixed(_: SessionRepo, session: Session) -> None:
    session.commit(
        [
            say("c", "b"),
            say("d", "a"),
            insert_usage(NewUsageRow("u", Usage(input=3))),
            set_value(M, 2),
            delete_value(N),
            delete_list(L),
            append_list(L, 2, tag="t"),
            retire_scope(OP),
        ]
    )


def scoped(_: SessionRepo, session: Session) -> None:
    session.commit([set_value(SCOPED, 2), append_list(FRAMES, 2)])


def one_value(_: SessionRepo, session: Session) -> None:
    session.set_value(N, 2)


def one_element(_: SessionRepo, session: Session) -> None:
    session.append_list(L, 2)


def create(repo: SessionRepo, _: Session) -> None:
    repo.create(id="t", cwd="/t").close()


def fork(repo: SessionRepo, _: Session) -> None:
    repo.fork("s", ForkTree(), id="t").close()


def delete(repo: SessionRepo, _: Session) -> None:
    repo.delete("other")


def read(repo: SessionRepo, session: Session) -> None:
    assert len(list(session.storage.scan_branch("b"))) == 2
    assert [element.value for element in session.read_list(L)] == [1]
    assert session.get_value(N) is not None
    assert {found.id for found in repo.list()} <= {"s", "other"}  # a file that cannot be read is passed over


WORKS: dict[str, Callable[[SessionRepo, Session], None]] = {
    work.__name__: work for work in (mixed, scoped, one_value, one_element, create, fork, delete, read)
}


def seen(session: Session) -> Any:
    places = (N, M, SCOPED)
    return (
        [(entry.id, entry.parent_id, entry.seq) for entry in session.storage.scan_entries()],
        [(row.id, row.seq) for row in session.scan_usage()],
        [found and (found.value, found.seq) for found in map(session.get_value, places)],
        [[(e.value, e.seq, e.tag) for e in session.read_list(place)] for place in (L, FRAMES)],
        session.get_stats(),
    )


def everything(repo: SessionRepo, session: Session) -> Any:
    return seen(session), sorted(found.id for found in repo.list())


@pytest.fixture
def statements(monkeypatch: pytest.MonkeyPatch) -> Statements:
    return install(monkeypatch)


@pytest.fixture
def stores(new_store_url: Callable[[], str], statements: Statements) -> Iterator[Stores]:
    """Make stores that are filled the same; of a server one after the other in one database."""
    open_repos: list[SessionRepo] = []
    url = new_store_url()

    def make() -> tuple[SessionRepo, Session]:
        if open_repos:
            for session in open_repos[-1].list():
                open_repos[-1].delete(session)
        else:
            open_repos.append(open_repository(url))
        repo = open_repos[-1]
        session = repo.create(id="s")
        fill(session)
        repo.create(id="other").close()
        return repo, session

    yield make
    for repo in open_repos:
        repo.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", WORKS)
def test_each_statement_fails_once(
    stores: Stores,
    statements: Statements,
    store_kind: StoreKind,
    name: str,
    kind: str,
) -> None:
    fault = FAULTS[store_kind.name].get(kind)
    if fault is None:
        return
    work = WORKS[name]
    repo, session = stores()
    before = everything(repo, session)
    work(repo, session)  # what is done once only is done by now
    session.close()
    repo, session = stores()
    with statements.counted():
        work(repo, session)
    whole = everything(repo, session)
    count = statements.count
    assert count > 0
    session.close()
    for at in range(1, count + 1):
        repo, session = stores()
        check(repo, session, work, fault, at, statements, (before, whole), f"statement {at} of {count}")
        session.close()
        if store_kind.leg:
            assert pool_of(repo).checkedout() == 0


def _interrupted(raw: Any, run: Callable[[], Any]) -> Any:
    """The statement was sent, and its answer has not been read."""
    run()
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", WORKS)
def test_each_statement_is_interrupted_once(stores: Stores, statements: Statements, name: str) -> None:
    """The answer that nobody has read is not taken for that of the next statement."""
    work = WORKS[name]
    repo, session = stores()
    before = everything(repo, session)
    work(repo, session)
    session.close()
    repo, session = stores()
    with statements.counted():
        work(repo, session)
    count = statements.count
    states = before, everything(repo, session)
    session.close()
    for at in range(1, count + 1):
        repo, session = stores()
        with statements.counted(at, _interrupted), pytest.raises(KeyboardInterrupt):
            work(repo, session)
        # The server may be at it still.
        wait_until(lambda repo=repo, session=session: everything(repo, session) in states, f"statement {at}")
        number = session.set_value(PROBE, at).first_seq
        assert session.storage.next_seq() == number + 1
        found = session.get_value(PROBE)
        assert found is not None
        assert found.value == at
        session.close()
    gc.collect()  # what the errors have kept; others count descriptors


def test_what_the_caller_was_interrupted_by_before_is_no_interrupt(
    stores: Stores, statements: Statements
) -> None:
    _, session = stores()

    def fail(raw: Any, run: Callable[[], Any]) -> Any:
        raise _driver_error(raw)

    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        with statements.counted(1, fail), pytest.raises(StorageError):
            session.commit([set_value(N, 2), append_list(L, 2)])


def test_an_interrupt_that_a_driver_cannot_clean_up_after_is_raised(
    stores: Stores, statements: Statements, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As psycopg raises that it cannot leave its pipeline."""

    @contextmanager
    def together(link: Link) -> Iterator[None]:
        try:
            yield
        except KeyboardInterrupt:
            raise _driver_error(link.raw)  # noqa: B904  # as it comes from a driver

    _, session = stores()
    with monkeypatch.context() as patch:
        patch.setattr(Link, "together", together)
        with statements.counted(1, _interrupted), pytest.raises(KeyboardInterrupt):
            session.commit([set_value(N, 2), append_list(L, 2)])
    found = session.get_value(N)
    assert found is not None
    assert found.value == 1
    session.set_value(N, 3)


class _LeftCursor:
    """A cursor whose driver was interrupted and cannot tell where it is, as PyMySQL cannot."""

    def __init__(self, cursor: Any) -> None:
        self._cursor = cursor
        self.execute = cursor.execute

    def fetchmany(self, _: int) -> None:
        raise KeyboardInterrupt

    def close(self) -> None:
        self._cursor.close()
        raise AttributeError("'NoneType' object has no attribute 'read'")


def test_a_stream_that_is_interrupted_raises_nothing_else(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo, session = stores()
    with monkeypatch.context() as patch:
        for dialect in (SqlDialect, *SqlDialect.__subclasses__()):
            if made := vars(dialect).get("streaming_cursor"):
                patch.setattr(
                    dialect, "streaming_cursor", lambda self, raw, made=made: _LeftCursor(made(self, raw))
                )
        with repo.snapshot(session.metadata) as image, pytest.raises(KeyboardInterrupt):
            list(image.records)
    session.set_value(N, 3)
    assert everything(repo, session)


def _driver_error(raw: Any) -> Exception:
    if isinstance(raw, sqlite3.Connection):
        return sqlite3.OperationalError()
    return psycopg.DataError() if isinstance(raw, psycopg.Connection) else pymysql.err.DataError()


def check(
    repo: SessionRepo,
    session: Session,
    work: Callable[[SessionRepo, Session], None],
    fault: Fault,
    at: int,
    statements: Statements,
    states: tuple[Any, Any],
    where: str,
) -> None:
    error: SessionStoreError | None = None
    with statements.counted(at, fault):
        try:
            work(repo, session)
        except SessionStoreError as raised:
            error = raised
    before, whole = states
    found = everything(repo, session)
    if isinstance(error, CommitOutcomeUnknownError):
        # The server may be at it still.
        wait_until(lambda: everything(repo, session) in states, where)
    else:
        assert found == (whole if error is None else before), f"{where}: {error!r}"
        number = session.storage.next_seq()
        assert session.set_value(PROBE, 1).seqs == (number,)
    number = session.set_value(PROBE, 2).first_seq
    seqs = [record.seq for record in _records(session)]
    assert max(seqs) == number, where
    assert len(set(seqs)) == len(seqs), where
    if error is not None and not isinstance(error, CommitOutcomeUnknownError):
        work(repo, session)  # it can be tried again


def _records(session: Session) -> list[Any]:
    with session.storage.snapshot() as image:
        return list(image.records)


# -- the real thing ------------------------------------------------------------------------------


@pytest.mark.needs("files")
def test_a_database_that_is_full_keeps_what_it_has(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = 0
    connect = sqlite3.connect

    def limited(*args: Any, **options: Any) -> sqlite3.Connection:
        raw = connect(*args, **options)
        if pages:
            raw.execute(f"PRAGMA max_page_count = {pages}").fetchall()
        return raw

    monkeypatch.setattr(sqlite_files.sqlite3, "connect", limited)
    with open_repository(store_url) as repo, repo.create(id="s") as session:
        fill(session)
    pages = 40
    with open_repository(store_url) as repo, repo.open("s") as session:
        written = fill_up(session)
        assert 0 < written < 100
        before = seen(session)
        assert [element.value for element in session.read_list(L)] == [1, *range(written)]
        number = session.storage.next_seq()
        with pytest.raises(StorageError, match="full"):
            session.commit([say("late", "b"), set_value(M, "x" * 100_000)])
        assert seen(session) == before
    pages = 0
    with open_repository(store_url) as repo, repo.open("s") as session:
        assert seen(session) == before
        assert session.set_value(M, "x" * 100_000).seqs == (number,)
        assert repo.check_session(session.metadata) == []


def fill_up(session: Session) -> int:
    """Commit until the database is full; the number of commits that happened."""
    for written in range(200):
        try:
            session.commit([set_value(value("big", str(written)), "x" * 4000), append_list(L, written)])
        except StorageError:
            return written
    raise AssertionError("the database took everything")
