"""Sessions on a cluster in which every node may be written, and may be gone."""

from __future__ import annotations

import secrets
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from threading import Event

import pytest
from server.galera import GaleraCluster
from server.processes import COUNTER, MARKS, assert_written, increment_once, write_turn
from server.support import Attempts, ask, contents, wait_until

from sessionstore import (
    CommitOutcomeUnknownError,
    ForkTree,
    Session,
    SessionExistsError,
    SessionNotFoundError,
    StorageError,
    TransactionConflictError,
    open_repository,
)
from sessionstore.repository import SessionRepo
from sessionstore.sql.container import CONFLICT_ATTEMPTS
from sessionstore.sql.dialects import MariadbDialect

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),  # the first test starts the cluster
    pytest.mark.xdist_group("galera"),
]

CAUSAL = {"connect_args": {"init_command": "SET SESSION wsrep_sync_wait = 7"}}
"""Options by which every statement sees what was committed before through any node."""


@pytest.fixture
def urls(galera_cluster: GaleraCluster) -> Iterator[list[str]]:
    """One new database, through each node in turn."""
    name = f"sessionstore_test_{secrets.token_hex(8)}"
    ask(galera_cluster.nodes[0].server_url, f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
    return [node.url(name) for node in galera_cluster.nodes]


@pytest.fixture
def repos(urls: list[str]) -> Iterator[list[SessionRepo]]:
    """A repository on each node."""
    repos = [open_repository(url, **CAUSAL) for url in urls]
    yield repos
    for repo in repos:
        with suppress(StorageError):
            repo.close()


def same_everywhere(urls: list[str]) -> dict[str, list[tuple[object, ...]]]:
    """Wait until the nodes hold the same rows; what they hold."""

    def answer() -> dict[str, list[tuple[object, ...]]] | None:
        first, *others = [contents(url) for url in urls]
        return first if all(other == first for other in others) else None

    return wait_until(answer, "the nodes hold the same rows")


def before_commit(monkeypatch: pytest.MonkeyPatch, callback: Callable[[], object]) -> None:
    """Call ``callback`` before each COMMIT of a write transaction, but not before those in itself."""
    commit = MariadbDialect.commit
    busy = False

    def commit_later(self: MariadbDialect, raw: object, done: list[object]) -> None:
        nonlocal busy
        if not busy:
            busy = True
            try:
                callback()
            finally:
                busy = False
        commit(self, raw, done)

    monkeypatch.setattr(MariadbDialect, "commit", commit_later)


# Writing through several nodes --------------------------------------------------------------


def test_nodes_that_are_first_used_at_once_get_one_schema(urls: list[str]) -> None:
    with ThreadPoolExecutor(len(urls)) as threads:

        def use(number: int) -> None:
            with open_repository(urls[number]) as repo:
                repo.create(id=f"s{number}").close()

        list(threads.map(use, range(len(urls))))
    rows = same_everywhere(urls)
    assert [row[0] for row in rows["sessions"]] == ["s0", "s1", "s2"]
    for url in urls:
        assert ask(url, "SELECT version_num FROM alembic_version") == [("0001",)]


def test_sessions_written_through_two_nodes_converge(urls: list[str], repos: list[SessionRepo]) -> None:
    turns = 5
    repos[0].create(id="s0").close()
    for number in range(1, 16):
        repos[number % 2].create(id=f"s{number}").close()
    sessions = [repos[number % 2].open(f"s{number}") for number in range(16)]

    def write(session: Session) -> list[int]:
        return [number for turn in range(turns) for number in write_turn(session, turn)]

    with ThreadPoolExecutor(len(sessions)) as threads:
        given = list(threads.map(write, sessions))
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in given)
    same_everywhere(urls)
    for repo in repos:
        assert len(repo.list()) == len(sessions)
    reader = repos[2]
    for session in sessions:
        id = session.metadata.id
        assert reader.check_session(id) == []
        with reader.open(id) as opened:
            assert_written(opened, turns)
    fork = reader.fork("s0", ForkTree(), id="fork")
    assert fork.scan_branch("m4") == sessions[0].scan_branch("m4")


def test_what_one_node_committed_is_seen_through_another(repos: list[SessionRepo]) -> None:
    """With wsrep_sync_wait, which the deployment notes name."""
    for number in range(30):
        id = f"s{number}"
        with repos[number % 3].create(id=id) as session:
            session.append_list(MARKS, id)
        with repos[(number + 1) % 3].open(id) as session:
            assert [mark.value for mark in session.read_list(MARKS)] == [id]
            session.append_list(MARKS, "again")
        repos[(number + 2) % 3].delete(id)
        with pytest.raises(SessionNotFoundError):
            repos[number % 3].open(id)


# Certification ------------------------------------------------------------------------------


def test_a_certification_conflict_is_retried(
    urls: list[str], repos: list[SessionRepo], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = repos[0].create(id="a")
    other = repos[1].open("a")
    attempts = Attempts(monkeypatch, urls[0])
    between = iter(["other 1", "other 2"])

    def overtake() -> None:
        for mark in between:
            other.append_list(MARKS, mark)
            attempts.count -= 1
            break

    before_commit(monkeypatch, overtake)
    assert session.append_list(MARKS, "mine").seqs == (3,)
    assert attempts.count == 3
    assert [mark.value for mark in session.read_list(MARKS)] == ["other 1", "other 2", "mine"]
    same_everywhere(urls)


def test_certification_conflicts_that_do_not_end_surface(
    urls: list[str], repos: list[SessionRepo], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = repos[0].create(id="a")
    other = repos[1].open("a")
    before_commit(monkeypatch, lambda: other.append_list(MARKS, "other"))
    with pytest.raises(TransactionConflictError, match="Nothing was written; try again"):
        session.append_list(MARKS, "mine")
    monkeypatch.undo()
    assert [mark.value for mark in session.read_list(MARKS)] == ["other"] * CONFLICT_ATTEMPTS
    assert session.append_list(MARKS, "mine").seqs == (CONFLICT_ATTEMPTS + 1,)
    same_everywhere(urls)


def test_a_mutation_overtaken_on_another_node_is_a_conflict(
    repos: list[SessionRepo], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = repos[0].create(id="a")
    other = repos[1].open("a")
    once = iter([1])
    before_commit(monkeypatch, lambda: next(once, None) and other.append_list(MARKS, "other"))
    with pytest.raises(TransactionConflictError, match="somebody else committed first"):
        increment_once(session)
    assert session.get_value(COUNTER) is None
    increment_once(session)
    found = other.get_value(COUNTER)
    assert found is not None
    assert (found.value, found.seq) == (1, 2)


def test_an_id_that_is_taken_on_another_node_meanwhile_exists(
    urls: list[str], repos: list[SessionRepo], monkeypatch: pytest.MonkeyPatch
) -> None:
    repos[0].create(id="first").close()
    once = iter([1])
    before_commit(monkeypatch, lambda: next(once, None) and repos[1].create(id="a"))
    with pytest.raises(SessionExistsError):
        repos[0].create(id="a")
    same_everywhere(urls)


def test_increments_through_two_nodes_lose_nothing(repos: list[SessionRepo]) -> None:
    sessions = [repos[0].create(id="a"), repos[1].open("a")]

    def increment(session: Session) -> int:
        done = 0
        for _ in range(50):
            with suppress(TransactionConflictError):
                increment_once(session)
                done += 1
        return done

    with ThreadPoolExecutor(2) as threads:
        done = sum(threads.map(increment, sessions))
    found = sessions[0].get_value(COUNTER)
    assert found is not None
    assert found.value == done


# Nodes that are gone ------------------------------------------------------------------------


def test_a_node_without_its_peers_writes_nothing_and_says_so(
    galera_cluster: GaleraCluster, urls: list[str], repos: list[SessionRepo]
) -> None:
    session = repos[0].create(id="a")
    session.append_list(MARKS, "before")
    alone, *peers = galera_cluster.nodes
    for node in peers:
        node.signal(signal.SIGSTOP)
    try:
        with pytest.raises(CommitOutcomeUnknownError, match="read the session before you write again"):
            session.append_list(MARKS, "at the parting")
        with pytest.raises(StorageError, match="not yet prepared"):
            session.append_list(MARKS, "alone")
        with pytest.raises(StorageError, match="not yet prepared"):
            session.read_list(MARKS)
    finally:
        for node in peers:
            node.signal(signal.SIGCONT)
    for node in (alone, *peers):
        node.wait()
    marks = [mark.value for mark in session.read_list(MARKS)]
    assert marks in (["before"], ["before", "at the parting"])
    assert session.append_list(MARKS, "after").seqs == (len(marks) + 1,)
    same_everywhere(urls)


def test_a_killed_node_loses_no_acknowledged_commit(
    galera_cluster: GaleraCluster, urls: list[str], repos: list[SessionRepo]
) -> None:
    """Eight sessions are written through the node that is killed, eight through another."""
    victim, *_ = galera_cluster.nodes
    ids = [f"s{number:02}" for number in range(16)]
    acknowledged: dict[str, list[str]] = {id: [] for id in ids}
    unsure: dict[str, str] = {}
    sessions = {id: repos[number % 2].create(id=id) for number, id in enumerate(ids)}
    over = Event()

    def write(number: int) -> None:
        id = ids[number]
        turn = 0
        while not over.is_set():
            turn += 1
            mark = f"{id}-{turn}"
            try:
                sessions[id].append_list(MARKS, mark)
            except StorageError:
                assert number % 2 == 0, "the other nodes go on"
                unsure[id] = mark
                return
            acknowledged[id].append(mark)

    def each_wrote(count: int, of: list[str]) -> None:
        so_far = {id: len(acknowledged[id]) for id in of}
        wait_until(lambda: all(len(acknowledged[id]) >= so_far[id] + count for id in of), "everybody writes")

    with ThreadPoolExecutor(len(ids)) as threads, ExitStack() as ending:
        ending.callback(over.set)
        writers = [threads.submit(write, number) for number in range(len(ids))]
        each_wrote(20, ids)
        victim.kill()
        for writer in writers[::2]:
            writer.result(60)
        each_wrote(5, ids[1::2])
        over.set()
        for writer in writers:
            writer.result(60)

    survivors = urls[1:]
    same_everywhere(survivors)
    for id in ids:
        session = repos[2].open(id)
        marks = session.read_list(MARKS, limit=10_000)
        found = [mark.value for mark in marks]
        assert found[: len(acknowledged[id])] == acknowledged[id]
        assert found[len(acknowledged[id]) :] in ([], [unsure.get(id)])
        assert [mark.seq for mark in marks] == list(range(1, len(found) + 1))
        assert session.append_list(MARKS, "through a survivor").seqs == (len(found) + 1,)

    victim.start()
    victim.wait()
    same_everywhere(urls)
    with open_repository(urls[0], **CAUSAL) as repo, repo.open(ids[0]) as session:
        session.append_list(MARKS, "through the one that came back")
    same_everywhere(urls)
