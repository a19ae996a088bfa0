"""Forks of a session that another process is writing: every fork is the source as of one commit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fork.owner import Owner, commit_turn, configure, turn_id, turns_in
from fork.streams import wrap_streams

import sessionstore.repository
from sessionstore import (
    ForkBranch,
    ForkTree,
    MemorySessionRepo,
    Session,
    SessionMetadata,
    SessionNotFoundError,
    SessionRepo,
    open_repository,
)
from sessionstore.fork import Fork, ForkImage, fork_image
from sessionstore.image import SessionSnapshot
from sessionstore.testing.threads import Stop, Worker

pytestmark = [pytest.mark.needs("multi_process"), pytest.mark.slow]

FORKS: tuple[Fork, ...] = (
    ForkBranch(include_application_state=True),
    ForkTree(include_application_state=True),
    ForkBranch(),
    ForkTree(),
)


@pytest.fixture
def repo(store_url: str) -> Iterator[SessionRepo]:
    with open_repository(store_url) as repo:
        yield repo


@pytest.fixture
def source(repo: SessionRepo) -> SessionMetadata:
    with repo.create(cwd="/work") as session:
        configure(session)
        return session.metadata


@pytest.fixture
def another_repo(new_store_url: Callable[[], str]) -> Iterator[SessionRepo]:
    with open_repository(new_store_url()) as repo:
        yield repo


@contextmanager
def stopped_at_the_boundary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stop]:
    """Stop the next fork when its boundary is fixed and nothing has been written yet."""
    with Stop() as stop, monkeypatch.context() as patched:

        def stopping(source: SessionSnapshot, fork: Fork, id: str, created_at: int) -> ForkImage:
            image = fork_image(source, fork, id, created_at)
            stop.arrive()
            return image

        patched.setattr(sessionstore.repository, "fork_image", stopping)
        yield stop


@contextmanager
def stopped_in_the_stream(monkeypatch: pytest.MonkeyPatch, after: int) -> Iterator[Stop]:
    """Stop every fork that streams when it has taken ``after`` records."""
    with Stop() as stop, monkeypatch.context() as patched:

        def stopping(stream: Iterator[Any]) -> Iterator[Any]:
            for number, record in enumerate(stream):
                if number == after:
                    stop.arrive()
                yield record

        wrap_streams(stopping, patched.setattr)
        yield stop


def forked(copy: Session, fork: Fork) -> int:
    with copy:
        return turns_in(copy, fork)


def test_every_fork_is_a_prefix_of_the_commit_order(
    repo: SessionRepo, source: SessionMetadata, store_url: str
) -> None:
    with Owner(store_url, source) as owner:
        owner.run()
        last = 0
        for fork in FORKS * 3:
            before = owner.wait_for_more()
            turns = forked(repo.fork(source, fork), fork)
            # The owner may have had one more commit in the container than it had acknowledged.
            assert max(before, last) <= turns <= owner.turns + 1
            last = turns
        owner.wait_for_more()
        total = owner.stop()
    fork = ForkTree(include_application_state=True)
    assert forked(repo.fork(source, fork), fork) == total


def test_every_fork_into_another_container_is_a_prefix(
    repo: SessionRepo, another_repo: SessionRepo, source: SessionMetadata, store_url: str
) -> None:
    with Owner(store_url, source) as owner, MemorySessionRepo() as memory:
        owner.run()
        for fork in FORKS:
            for there in (another_repo, memory):
                before = owner.wait_for_more()
                turns = forked(there.fork(source, fork, source_repository=repo), fork)
                assert before <= turns <= owner.turns + 1


@pytest.mark.parametrize("fork", FORKS[:2], ids=["branch", "tree"])
def test_a_commit_before_the_boundary_is_in_and_one_after_it_is_not(
    repo: SessionRepo,
    source: SessionMetadata,
    store_url: str,
    fork: Fork,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Owner(store_url, source) as owner:
        before = owner.commit(3)
        with stopped_at_the_boundary(monkeypatch) as stop:
            forking = Worker(lambda: repo.fork(source, fork))
            stop.wait_reached()
            assert owner.commit(5) == before + 5
            stop.release()
            assert forked(forking.result(), fork) == before
        assert forked(repo.fork(source, fork), fork) == before + 5


@pytest.mark.parametrize("fork", FORKS[:2], ids=["branch", "tree"])
def test_the_owner_s_commits_go_on_while_a_fork_streams(
    repo: SessionRepo,
    another_repo: SessionRepo,
    source: SessionMetadata,
    store_url: str,
    fork: Fork,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Owner(store_url, source, payload=2_000) as owner:
        before = owner.commit(300)
        with stopped_in_the_stream(monkeypatch, after=5) as stop:
            forking = Worker(lambda: another_repo.fork(source, fork, source_repository=repo))
            stop.wait_reached()
            owner.run()
            during = owner.wait_for_more(20)
            owner.stop()
            assert forking.running
            stop.release()
            assert forked(forking.result(), fork) == before < during


def test_a_source_deleted_after_the_boundary(
    repo: SessionRepo, source: SessionMetadata, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fork is whole or not there at all, whichever the store can do."""
    with repo.open(source) as session:
        commit_turn(session, 1)
    with open_repository(store_url) as elsewhere, stopped_at_the_boundary(monkeypatch) as stop:
        forking = Worker(lambda: repo.fork(source, FORKS[0], id="destination"))
        stop.wait_reached()
        elsewhere.delete(source)
        stop.release()
        forking.wait_ended()
        if forking.failed is None:
            assert forked(forking.result(), FORKS[0]) == 1
        else:
            forking.error(SessionNotFoundError)
            assert repo.list() == []
            repo.create(id="destination").close()


def test_a_source_replaced_after_the_boundary(
    repo: SessionRepo, source: SessionMetadata, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new session of the same id is never taken for the one that was forked."""
    with repo.open(source) as session:
        commit_turn(session, 1)
    later = open_repository(store_url, clock=lambda: source.created_at + 1_000)
    with later as elsewhere, stopped_at_the_boundary(monkeypatch) as stop:
        forking = Worker(lambda: repo.fork(source, FORKS[0], id="destination"))
        stop.wait_reached()
        elsewhere.delete(source)
        with elsewhere.create(id=source.id, cwd="/work") as other:
            configure(other)
            commit_turn(other, 1, "another")
            commit_turn(other, 2, "another")
        stop.release()
        forking.wait_ended()
        if forking.failed is None:
            with forking.result() as copy:
                assert turns_in(copy, FORKS[0]) == 1
                entry = copy.get_entry(turn_id(1))
                assert entry is not None
                assert "another" not in str(entry)
        else:
            forking.error(SessionNotFoundError)


def test_the_owner_opens_and_closes_while_forks_run(
    repo: SessionRepo, source: SessionMetadata, store_url: str
) -> None:
    """Opening and closing write nothing that a fork could be in the way of, and the other way round."""
    with Owner(store_url, source) as owner:
        owner.run()
        owner.wait_for_more(5)
        for _ in range(5):
            with repo.fork(source, FORKS[0]) as copy:
                turns_in(copy, FORKS[0])
            with open_repository(store_url) as elsewhere:
                elsewhere.open(copy.metadata).close()
        owner.wait_for_more(5)


@pytest.mark.needs("files")
def test_a_live_file_is_forked_through_a_symlinked_folder(
    store_url: str, source: SessionMetadata, repo: SessionRepo, tmp_path: Path
) -> None:
    """The same container by another path: identity is the real one."""
    folder = Path(repo.container)
    link = tmp_path / "link"
    link.symlink_to(folder.parent)
    url = store_url.replace(str(folder.parent), str(link))
    assert url != store_url
    with Owner(store_url, source) as owner, open_repository(url) as linked:
        owner.commit(2)
        assert linked.container == repo.container
        assert linked.get(source.id) == repo.get(source.id)
        with linked.fork(source, FORKS[0]) as copy:
            assert turns_in(copy, FORKS[0]) == 2
            assert copy.metadata.container == repo.container
        with linked.open(copy.metadata.id) as again, linked.fork(again.metadata, FORKS[0]) as second:
            assert turns_in(second, FORKS[0]) == 2
            assert second.metadata.path is None or str(link) not in second.metadata.path
