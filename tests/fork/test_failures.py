"""A fork that fails, or whose process is killed, leaves nothing and blocks nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fork.owner import commit_turn, configure, turns_in
from fork.streams import wrap_streams
from fork.victim import FILE_STEPS, PUBLISHED, STEPS, killed_at, watch

from sessionstore import (
    ForkTree,
    SessionMetadata,
    SessionNotFoundError,
    SessionRepo,
    open_repository,
)

FORK = ForkTree(include_application_state=True)
TURNS = 40


@pytest.fixture
def repo(store_url: str) -> Iterator[SessionRepo]:
    with open_repository(store_url) as repo:
        yield repo


@pytest.fixture
def source(repo: SessionRepo) -> SessionMetadata:
    with repo.create(cwd="/work") as session:
        configure(session)
        for number in range(1, TURNS + 1):
            commit_turn(session, number)
        return session.metadata


class InjectedError(Exception):
    """Not one of the library's."""


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", [InjectedError, KeyboardInterrupt])
def test_a_fork_that_fails_leaves_nothing(
    repo: SessionRepo,
    source: SessionMetadata,
    new_store_url: Callable[[], str],
    step: str,
    kind: type[BaseException],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    with open_repository(new_store_url()) as there:
        there.create(id="other").close()
        before = _names(tmp_path)

        def fail(at: str) -> None:
            if at == step:
                raise kind(at)

        with monkeypatch.context() as patched:
            watch(type(there), fail, patched.setattr)
            with pytest.raises(kind, match=step):
                there.fork(source, FORK, id="destination", source_repository=repo)
        assert [found.id for found in there.list()] == ["other"]
        assert _names(tmp_path) == before
        with pytest.raises(SessionNotFoundError):
            there.get("destination")
        with there.fork(source, FORK, id="destination", source_repository=repo) as copy:
            assert turns_in(copy, FORK) == TURNS


def _names(folder: Path) -> set[str]:
    """The files of all stores, without what SQLite keeps beside an open database."""
    names = {str(path) for path in folder.rglob("*")}
    return {name for name in names if not name.endswith(("-wal", "-shm"))}


@pytest.mark.needs("persistent")
@pytest.mark.parametrize("inside", [True, False], ids=["same container", "another container"])
@pytest.mark.parametrize("step", STEPS)
def test_a_killed_fork_leaves_nothing_that_anybody_sees(
    repo: SessionRepo,
    source: SessionMetadata,
    store_url: str,
    new_store_url: Callable[[], str],
    step: str,
    inside: bool,
) -> None:
    there_url = store_url if inside else new_store_url()
    _kill_and_look(repo, source, store_url, there_url, step)


@pytest.mark.needs("session_file")
@pytest.mark.parametrize("step", FILE_STEPS)
def test_a_fork_killed_while_its_file_is_put_in_place(
    repo: SessionRepo, source: SessionMetadata, store_url: str, new_store_url: Callable[[], str], step: str
) -> None:
    _kill_and_look(repo, source, store_url, new_store_url(), step)


def _kill_and_look(
    repo: SessionRepo, source: SessionMetadata, source_url: str, there_url: str, step: str
) -> None:
    inside = source_url == there_url
    with open_repository(there_url) as there:
        there.create(id="other").close()
        origin: Any = {} if inside else {"source_repository": repo}
        expected = ["destination"] if step in PUBLISHED else []
        killed_at(step, there_url, source, None if inside else source_url, FORK, "destination")
        found = [session.id for session in there.list() if session.id not in ("other", source.id)]
        assert found == expected
        if not expected:
            with pytest.raises(SessionNotFoundError):
                there.get("destination")
            with pytest.raises(SessionNotFoundError):
                there.open("destination")
            there.fork(source, FORK, id="destination", **origin).close()
        with there.open("destination") as copy:
            assert turns_in(copy, FORK) == TURNS
            commit_turn(copy, TURNS + 1)
        assert there.check_session("destination") == []
        there.delete("destination")
        with repo.open(source) as session:
            assert turns_in(session, FORK) == TURNS


def test_the_records_of_a_source_that_cannot_be_read_fail_the_fork(
    repo: SessionRepo, source: SessionMetadata, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in the middle of the stream comes out as it is."""

    def failing(_: Iterator[Any]) -> Iterator[Any]:
        raise OSError(5, "the disk is gone")
        yield

    with repo.create(id="other"):
        before = [found.id for found in repo.list()]
        with monkeypatch.context() as patched:
            wrap_streams(failing, patched.setattr)
            with pytest.raises(OSError, match="the disk is gone"):
                repo.fork(source, FORK, id="destination")
        assert [found.id for found in repo.list()] == before
        with repo.fork(source, FORK, id="destination") as copy:
            assert turns_in(copy, FORK) == TURNS
