"""Closing that is interrupted or fails: what the next close does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessionstore.address import value
from sessionstore.errors import RepositoryClosedError, SessionClosedError
from sessionstore.memory import MemorySessionRepo
from sessionstore.memory.storage import MemoryStorage
from sessionstore.testing import GatedStorage, Worker, session_over
from sessionstore.testing.material import stopping_type
from sessionstore.testing.threads import Stop
from sessionstore.writes import set_value

N = value("app", "n")


def test_a_close_that_was_interrupted_is_finished_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[str] = []
    monkeypatch.setattr(MemoryStorage, "_release", lambda _: released.append("released"))
    with MemorySessionRepo() as repo:
        session, gated = session_over(repo.create(), GatedStorage)
        interrupt: Any = KeyboardInterrupt()
        gated.fail_at("before_close", interrupt)
        with pytest.raises(KeyboardInterrupt):
            session.close()
        assert released == []
        with pytest.raises(SessionClosedError):
            session.set_value(N, 1)
        session.close()
        assert released == ["released"]
        repo.open(session.metadata).close()


def test_a_store_is_released_once(monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[str] = []
    monkeypatch.setattr(MemoryStorage, "_release", lambda _: released.append("released"))
    with MemorySessionRepo() as repo:
        session = repo.create()
        session.storage.close()
        session.storage.close()
        session.close()
    assert released == ["released"]


def test_a_repository_whose_close_was_interrupted_is_closed_by_the_next() -> None:
    repo = MemorySessionRepo()
    sessions = [repo.create() for _ in range(3)]
    storage: Any = sessions[1].storage
    close: Callable[[], None] = storage.close

    def interrupted() -> None:
        storage.close = close
        raise KeyboardInterrupt

    storage.close = interrupted
    with pytest.raises(KeyboardInterrupt):
        repo.close()
    with pytest.raises(RepositoryClosedError):
        repo.create()
    repo.close()
    repo.close()
    for session in sessions:
        with pytest.raises(SessionClosedError):
            session.get_value(N)


def test_a_release_that_fails_is_told_with_the_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: MemorySessionRepo) -> None:
        raise OSError("the container is gone")

    monkeypatch.setattr(MemorySessionRepo, "_release", fail)
    alone = MemorySessionRepo()
    for _ in range(2):
        with pytest.raises(OSError, match="the container is gone"):
            alone.close()
    repo = MemorySessionRepo()
    storage: Any = repo.create().storage

    def fail_too() -> None:
        raise ValueError("the session too")

    storage.close = fail_too
    for _ in range(2):
        with pytest.raises(ExceptionGroup) as raised:
            repo.close()
        assert [str(error) for error in raised.value.exceptions] == [
            "the session too",
            "the container is gone",
        ]


def test_a_commit_that_runs_is_waited_for_by_a_close_of_the_store_alone() -> None:
    with MemorySessionRepo() as repo, Stop() as stop:
        session = repo.create()
        slow = value("app", "slow", type=stopping_type(stop))
        committing = Worker(lambda: session.storage.commit([set_value(slow, "x")]))
        stop.wait_reached()
        closing = Worker(session.storage.close).wait_draining()
        stop.release()
        assert committing.result().seqs == (1,)
        closing.result()
        with pytest.raises(SessionClosedError):
            session.get_value(N)
