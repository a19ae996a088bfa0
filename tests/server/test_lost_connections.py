"""Connections that break: before a statement, in the middle, at COMMIT, and a server that is gone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from server.processes import COUNTER, MARKS, increment_once
from server.proxy import Proxy, When, proxy_to
from server.support import (
    Attempts,
    contents,
    database_kind,
    kill_connections,
    pool_of,
    returns_every_connection,
)

from sessionstore import (
    CommitOutcomeUnknownError,
    ForkTree,
    Session,
    SessionExistsError,
    SessionNotFoundError,
    StorageError,
    append_list,
    insert_entry,
    open_repository,
    set_value,
)
from sessionstore.entries import NewCustomEntry
from sessionstore.repository import SessionRepo
from sessionstore.sql.container import STALE_ATTEMPTS

pytestmark = pytest.mark.needs("server")

WRITES = [insert_entry(NewCustomEntry("e", None, "note")), set_value(COUNTER, 1), append_list(MARKS, "one")]


@pytest.fixture
def wire(store_url: str) -> Iterator[tuple[Proxy, str]]:
    with proxy_to(store_url) as found:
        yield found


@pytest.fixture
def proxy(wire: tuple[Proxy, str]) -> Proxy:
    return wire[0]


@pytest.fixture
def repo(wire: tuple[Proxy, str]) -> Iterator[SessionRepo]:
    """A repository whose connections go through the proxy."""
    # Statements go to a PostgreSQL server in words, so that the proxy can read them.
    words = {"connect_args": {"prepare_threshold": None}} if database_kind(wire[1]) == "postgresql" else {}
    with open_repository(wire[1], **words) as repo:
        yield repo


@pytest.fixture
def session(repo: SessionRepo) -> Session:
    return repo.create(id="a")


def is_written(session: Session) -> bool:
    """Whether WRITES are there; they are there together."""
    found = {
        bool(session.get_entries(["e"])),
        session.get_value(COUNTER) is not None,
        [mark.value for mark in session.read_list(MARKS)] == ["one"],
    }
    assert len(found) == 1, found
    return found.pop()


# At COMMIT ----------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_that_breaks_at_commit_is_an_unknown_outcome(
    store_url: str,
    proxy: Proxy,
    repo: SessionRepo,
    session: Session,
    when: When,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attempts = Attempts(monkeypatch, store_url)
    with returns_every_connection(repo):
        proxy.cut_at_commit(when)
        with pytest.raises(CommitOutcomeUnknownError, match="read the session before you write again"):
            session.commit(WRITES)
        assert (attempts.count, proxy.cuts) == (1, 1)
        assert is_written(session) is (when == "after")
        expected = 4 if when == "after" else 1
        assert session.append_list(MARKS, "next").first_seq == expected
    assert len(contents(store_url)["list_values"]) == (2 if when == "after" else 1)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_mutation_of_unknown_outcome_lets_the_next_one_in(
    proxy: Proxy, session: Session, when: When
) -> None:
    proxy.cut_at_commit(when)
    with pytest.raises(CommitOutcomeUnknownError):
        increment_once(session)
    increment_once(session)
    stored = session.get_value(COUNTER)
    assert stored is not None
    assert stored.value == (2 if when == "after" else 1)


@pytest.mark.parametrize("when", ["before", "after"])
def test_lifecycle_calls_of_unknown_outcome_can_be_looked_at(
    proxy: Proxy, repo: SessionRepo, session: Session, when: When
) -> None:
    done = when == "after"
    session.commit(WRITES)

    proxy.cut_at_commit(when)
    with pytest.raises(CommitOutcomeUnknownError):
        repo.create(id="b")
    if done:
        with pytest.raises(SessionExistsError):
            repo.create(id="b")
    else:
        repo.create(id="b").close()

    proxy.cut_at_commit(when)
    with pytest.raises(CommitOutcomeUnknownError):
        repo.fork("a", ForkTree(), id="c")
    assert ("c" in [metadata.id for metadata in repo.list()]) is done
    if done:
        with repo.open("c") as fork:
            assert fork.get_entry("e") == session.get_entry("e")
            assert fork.storage.next_seq() == session.storage.next_seq()
    else:
        repo.fork("a", ForkTree(), id="c").close()

    proxy.cut_at_commit(when)
    with pytest.raises(CommitOutcomeUnknownError):
        repo.delete("c")
    if done:
        with pytest.raises(SessionNotFoundError):
            repo.delete("c")
    else:
        repo.delete("c")
    assert {metadata.id for metadata in repo.list()} == {"a", "b"}


# Before COMMIT ------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_connection_that_breaks_before_commit_is_replaced(
    store_url: str, proxy: Proxy, repo: SessionRepo, when: When, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = Attempts(monkeypatch, store_url)
    words = [proxy.begin, "FROM entries", "INSERT INTO entries", "INSERT INTO list_values"]
    for cuts, word in enumerate(words, start=1):
        session = repo.create()
        attempts.count = 0
        with returns_every_connection(repo):
            proxy.cut_at(word, when)
            # Where statements are sent together, COMMIT may be among what was lost.
            try:
                assert session.commit(WRITES).seqs == (1, 2, 3)
                assert attempts.count == 2
            except CommitOutcomeUnknownError:
                assert attempts.count == 1
                if not is_written(session):
                    assert session.commit(WRITES).seqs == (1, 2, 3)
        assert proxy.cuts == cuts
        assert is_written(session)


def test_reads_are_repeated_on_another_connection(proxy: Proxy, session: Session) -> None:
    session.commit(WRITES)
    for number in range(3):
        proxy.cut_at("FROM scalar_values", "before" if number % 2 else "after")
        stored = session.get_value(COUNTER)
        assert stored is not None
        assert stored.value == 1
    assert proxy.cuts == 3


def test_a_snapshot_that_breaks_is_an_error_and_the_next_one_works(
    proxy: Proxy, repo: SessionRepo, session: Session
) -> None:
    session.commit(WRITES)
    proxy.cut_at("FROM list_values", "before")
    with returns_every_connection(repo):
        with pytest.raises(StorageError) as broken, repo.snapshot("a") as snapshot:
            list(snapshot.records)
        assert not isinstance(broken.value, CommitOutcomeUnknownError)
        with repo.snapshot("a") as snapshot:
            assert len(list(snapshot.records)) == 3


# Connections that died in the pool ----------------------------------------------------------


def fill_pool(session: Session, count: int) -> None:
    """Have ``count`` connections in use at the same time, so that they are in the pool afterwards."""
    barrier = threading.Barrier(count, timeout=30)

    def read(_: int) -> None:
        with session.storage.snapshot():
            barrier.wait()

    # A boundary is taken on the commit line, for a moment only: the snapshots stay open together.
    with ThreadPoolExecutor(count) as threads:
        list(threads.map(read, range(count)))


def test_a_pool_of_dead_connections_is_not_noticed(
    store_url: str, repo: SessionRepo, session: Session
) -> None:
    session.commit(WRITES)
    calls: list[Callable[[], object]] = [
        lambda: is_written(session),
        lambda: session.append_list(MARKS, "two"),
        lambda: increment_once(session),
        repo.list,
        lambda: repo.create(id="b").close(),
        lambda: repo.fork("a", ForkTree(), id="c").close(),
        lambda: repo.delete("c"),
    ]
    for call in calls:
        fill_pool(session, 8)
        assert pool_of(repo).checkedin() == 8
        assert kill_connections(store_url) == 8
        call()
        assert pool_of(repo).checkedout() == 0
    assert [mark.value for mark in session.read_list(MARKS)] == ["one", "two"]
    assert {metadata.id for metadata in repo.list()} == {"a", "b"}


# A server that is gone ----------------------------------------------------------------------


def test_a_server_that_hangs_up_on_everybody_is_given_up(
    store_url: str, proxy: Proxy, repo: SessionRepo, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = Attempts(monkeypatch, store_url)
    before = contents(store_url)
    with returns_every_connection(repo):
        proxy.cut_at(proxy.begin, "before", times=1000)
        with pytest.raises(StorageError, match="connection") as refused:
            session.commit(WRITES)
        assert type(refused.value) is StorageError
        assert attempts.count <= STALE_ATTEMPTS
        assert contents(store_url) == before
        proxy.cut_at("nothing that is said", "before")
        assert session.commit(WRITES).seqs == (1, 2, 3)


def test_a_server_that_cannot_be_reached_is_named(
    store_url: str, proxy: Proxy, repo: SessionRepo, session: Session
) -> None:
    proxy.refusing = True
    proxy.cut_all()
    for call in (
        lambda: session.commit(WRITES),
        lambda: session.get_value(COUNTER),
        session.begin_mutation,
        repo.list,
        lambda: repo.create(id="b"),
        lambda: repo.open("c"),
        lambda: repo.delete("c"),
        lambda: repo.fork("a", ForkTree()),
    ):
        with pytest.raises(StorageError, match=rf":{proxy.port}/") as refused:
            call()
        assert not isinstance(refused.value, CommitOutcomeUnknownError)
    assert pool_of(repo).checkedout() == 0
    proxy.refusing = False
    assert session.commit(WRITES).seqs == (1, 2, 3)
    repo.create(id="b")
    assert {metadata.id for metadata in repo.list()} == {"a", "b"}
