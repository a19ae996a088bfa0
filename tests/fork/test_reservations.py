"""Reservations of a fork against other work on the same ids, in both orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from fork.owner import commit_turn, configure, turns_in

from sessionstore import (
    ForkTree,
    RepositoryClosedError,
    Session,
    SessionAlreadyOpenError,
    SessionClosedError,
    SessionExistsError,
    SessionMetadata,
    SessionNotFoundError,
    SessionRepo,
    open_repository,
)
from sessionstore.testing.threads import Stop, Worker

FORK = ForkTree(include_application_state=True)
ID = "wanted"


@pytest.fixture
def repo(store_url: str) -> Iterator[SessionRepo]:
    with open_repository(store_url) as repo:
        yield repo


@pytest.fixture
def source(repo: SessionRepo) -> SessionMetadata:
    with repo.create() as session:
        configure(session)
        commit_turn(session, 1)
        return session.metadata


@contextmanager
def stopped(
    monkeypatch: pytest.MonkeyPatch, repo: SessionRepo, hook: str, *, after: bool = False
) -> Iterator[Stop]:
    """Stop the next call of a backend's hook, before or after it does its work."""
    method: Callable[..., Any] = getattr(type(repo), hook)
    with Stop() as stop, monkeypatch.context() as patched:

        def stopping(*args: Any, **options: Any) -> Any:
            if after:
                result = method(*args, **options)
                stop.arrive()
                return result
            stop.arrive()
            return method(*args, **options)

        patched.setattr(type(repo), hook, stopping)
        yield stop


def other_work(repo: SessionRepo) -> dict[str, tuple[str, Callable[[], object]]]:
    return {
        "create": ("_create", lambda: repo.create(id=ID).close()),
        "open": ("_open", lambda: repo.open(ID).close()),
        "delete": ("_delete", lambda: repo.delete(ID)),
    }


@pytest.mark.parametrize("after", [False, True], ids=["before its work", "after its work"])
@pytest.mark.parametrize("work", ["create", "open", "delete"])
def test_a_fork_comes_second_to_other_work_on_its_id(
    repo: SessionRepo, source: SessionMetadata, work: str, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if work != "create":
        repo.create(id=ID).close()
    hook, call = other_work(repo)[work]
    with stopped(monkeypatch, repo, hook, after=after) as stop:
        working = Worker(call)
        stop.wait_reached()
        with pytest.raises(SessionExistsError, match=ID):
            repo.fork(source, FORK, id=ID)
        stop.release()
        working.result()
    if work == "delete":
        with repo.fork(source, FORK, id=ID) as copy:
            assert turns_in(copy, FORK) == 1
    else:
        with pytest.raises(SessionExistsError, match=ID):
            repo.fork(source, FORK, id=ID)


@pytest.mark.parametrize("after", [False, True], ids=["before its work", "after its work"])
@pytest.mark.parametrize("work", ["create", "open", "delete", "fork"])
def test_other_work_comes_second_to_a_fork(
    repo: SessionRepo, source: SessionMetadata, work: str, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = {name: call for name, (_, call) in other_work(repo).items()}
    calls["fork"] = lambda: repo.fork(source, FORK, id=ID).close()
    error = SessionExistsError if work in ("create", "fork") else SessionAlreadyOpenError
    with stopped(monkeypatch, repo, "_forked", after=after) as stop:
        forking: Worker[Session] = Worker(lambda: repo.fork(source, FORK, id=ID))
        stop.wait_reached()
        with pytest.raises(error, match=ID):
            calls[work]()
        stop.release()
        with forking.result() as copy:
            assert turns_in(copy, FORK) == 1
            with pytest.raises(error, match=ID):
                calls[work]()
    if work in ("open", "delete"):
        calls[work]()


@pytest.mark.parametrize("after", [False, True], ids=["before it is gone", "after it is gone"])
def test_a_source_that_is_being_deleted(
    repo: SessionRepo, source: SessionMetadata, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The source's reservation is nobody's business: it is there or it is not."""
    with stopped(monkeypatch, repo, "_delete", after=after) as stop:
        deleting = Worker(lambda: repo.delete(source))
        stop.wait_reached()
        if after:
            with pytest.raises(SessionNotFoundError):
                repo.fork(source, FORK, id=ID)
        else:
            with repo.fork(source, FORK, id=ID) as copy:
                assert turns_in(copy, FORK) == 1
        stop.release()
        deleting.result()
    assert [found.id for found in repo.list()] == ([] if after else [ID])


def test_a_source_that_is_being_opened(
    repo: SessionRepo, source: SessionMetadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stopped(monkeypatch, repo, "_open") as stop:
        opening = Worker(lambda: repo.open(source))
        stop.wait_reached()
        with repo.snapshot(source) as snapshot:
            assert snapshot.header.stats.message_count == 1
        stop.release()
        opening.result().close()


@pytest.mark.parametrize("hook", ["_forked", "_open"])
def test_closing_waits_for_a_fork_and_then_closes_what_came_of_it(
    repo: SessionRepo, source: SessionMetadata, hook: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stopped(monkeypatch, repo, hook) as stop:
        forking: Worker[Session] = Worker(lambda: repo.fork(source, FORK, id=ID))
        stop.wait_reached()
        closing = Worker(repo.close)
        closing.still_waits()
        with pytest.raises(RepositoryClosedError):
            repo.fork(source, FORK)
        stop.release()
        closing.result()
        copy = forking.result()
    with pytest.raises(SessionClosedError):
        copy.get_name()


def test_two_forks_of_one_source_at_once(
    repo: SessionRepo, source: SessionMetadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    with stopped(monkeypatch, repo, "_forked", after=True) as stop:
        first: Worker[Session] = Worker(lambda: repo.fork(source, FORK))
        stop.wait_reached()
        second: Worker[Session] = Worker(lambda: repo.fork(source, FORK))
        stop.release()
        with first.result() as one, second.result() as other:
            assert one.metadata.id != other.metadata.id
            assert turns_in(one, FORK) == turns_in(other, FORK) == 1


def test_a_closed_source_repository_fails_the_fork(
    new_store_url: Callable[[], str], source: SessionMetadata, repo: SessionRepo
) -> None:
    repo.close()
    with open_repository(new_store_url()) as there:
        with pytest.raises(RepositoryClosedError):
            there.fork(source, FORK, id=ID, source_repository=repo)
        with pytest.raises(RepositoryClosedError):
            there.fork(source.id, FORK, id=ID, source_repository=repo)
        assert there.list() == []
        there.create(id=ID).close()
