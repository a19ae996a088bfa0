"""Reservations: work on one id never overlaps (repository.md section 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from sessionstore.address import value
from sessionstore.errors import (
    SessionAlreadyOpenError,
    SessionExistsError,
    SessionNotFoundError,
)
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.records import EntryRecord, Record
from sessionstore.repository import SessionRepo
from sessionstore.testing.cases import RepositoryFactory, RepositoryGroup, trying
from sessionstore.testing.checks import calling, check, equal, refuses
from sessionstore.testing.material import fresh_id, say, spend
from sessionstore.testing.threads import Stop, Worker, race
from sessionstore.usage import SessionStats

group = RepositoryGroup("reservations")

_N = value("app", "n")


def _image(id: str, records: Iterator[Record], created_at: int = 5) -> SessionImage:
    header = ImageHeader(id, created_at, 100, SessionStats(message_count=1), None, f"/{id}")
    return SessionImage(header, records)


def _entry(id: str, seq: int) -> EntryRecord:
    return EntryRecord(id, None, seq, 1, "message", None, '{"message":{"role":"user","content":"hi"}}')


@group.case()
def an_id_is_reserved_while_its_session_is_made(factory: RepositoryFactory) -> None:
    """While work on an id is under way, whoever comes second fails at once."""
    id = fresh_id()
    with trying(factory.open()) as repo, Stop() as stop:

        def records() -> Iterator[Record]:
            yield _entry("e", 1)
            stop.arrive()

        loading = Worker(lambda: repo.load(_image(id, records())))
        stop.wait_reached()
        refuses(SessionExistsError, lambda: repo.create(id=id, cwd=f"/{id}"), id)
        refuses(SessionExistsError, lambda: repo.load(_image(id, iter(()))), id)
        check(id not in [metadata.id for metadata in repo.list()], "a session half made should not be listed")
        refuses(SessionNotFoundError, lambda: repo.get(id))
        stop.release()
        loading.result()
        with trying(repo.open(id)) as session:
            equal(list(session.get_entries(["e"])), ["e"])


@group.case("container_wide_ids")
def a_reserved_id_is_not_opened_or_deleted(factory: RepositoryFactory) -> None:
    """Open and delete of a reserved id are ``SessionAlreadyOpenError``."""
    id = fresh_id()
    with trying(factory.open()) as repo, Stop() as stop:

        def records() -> Iterator[Record]:
            stop.arrive()
            yield _entry("e", 1)

        loading = Worker(lambda: repo.load(_image(id, records())))
        stop.wait_reached()
        refuses(SessionAlreadyOpenError, lambda: repo.open(id), id)
        refuses(SessionAlreadyOpenError, lambda: repo.delete(id), id)
        stop.release()
        loading.result()
        repo.delete(id)


@group.case()
def a_load_that_fails_leaves_nothing(factory: RepositoryFactory) -> None:
    """A session that could not be made whole does not exist, and its id is free."""
    id = fresh_id()

    def records() -> Iterator[Record]:
        yield _entry("a", 1)
        raise LookupError("the source broke")

    with trying(factory.open()) as repo:
        before = len(repo.list())
        refuses(LookupError, lambda: repo.load(_image(id, records())), "the source broke")
        refuses(SessionNotFoundError, lambda: repo.get(id))
        equal(len(repo.list()), before, "sessions listed")
        with trying(repo.create(id=id)) as session:
            equal(session.find_entries(), [])


def _race_on(calls: list[Callable[[], object]], *losing: type[Exception]) -> list[object]:
    """What those calls gave that succeeded; the others have to have failed with ``losing``."""
    won: list[object] = []
    for worker in race(calls):
        if worker.failed is None:
            won.append(worker.result())
        else:
            check(isinstance(worker.failed, losing), f"a loser should get {losing}, not {worker.failed!r}")
    return won


@group.case()
def one_of_many_creates_wins(factory: RepositoryFactory) -> None:
    """Of concurrent creates of one id exactly one succeeds."""
    with trying(factory.open()) as repo:
        for _ in range(3):
            id = fresh_id()
            won = _race_on([calling(lambda id: repo.create(id=id), id)] * 6, SessionExistsError)
            equal(len(won), 1, "creates that succeeded")
            with trying(repo.create()) as session:
                session.set_value(_N, "works")


@group.case()
def one_of_many_opens_wins(factory: RepositoryFactory) -> None:
    """Of concurrent opens of one session exactly one succeeds."""
    with trying(factory.open()) as repo:
        id = fresh_id()
        repo.create(id=id).close()
        for _ in range(3):
            won: list[Any] = _race_on([lambda: repo.open(id)] * 6, SessionAlreadyOpenError)
            equal(len(won), 1, "opens that succeeded")
            won[0].close()


@group.case()
def one_of_many_deletes_wins(factory: RepositoryFactory) -> None:
    """Of concurrent deletes of one session exactly one succeeds."""
    with trying(factory.open()) as repo:
        for _ in range(3):
            id = fresh_id()
            repo.create(id=id).close()
            won = _race_on([calling(repo.delete, id)] * 6, SessionAlreadyOpenError, SessionNotFoundError)
            equal(len(won), 1, "deletes that succeeded")
            refuses(SessionNotFoundError, calling(repo.get, id))


@group.case()
def create_open_and_delete_do_not_overlap(factory: RepositoryFactory) -> None:
    """Create, open and delete of one id at the same moment: each wholly or not at all."""
    expected = (SessionExistsError, SessionAlreadyOpenError, SessionNotFoundError)
    id = fresh_id()

    def create(repo: SessionRepo) -> None:
        with trying(repo.create(id=id)) as session:
            equal(session.find_entries(), [], "entries of a new session")
            session.commit([say("e"), spend("u", 1)])

    def open_(repo: SessionRepo) -> None:
        with trying(repo.open(id)) as session:
            equal(len(session.find_entries()), session.get_stats().usage.input)

    with trying(factory.open()) as repo:
        calls: list[Callable[[], object]] = [
            lambda: create(repo),
            lambda: open_(repo),
            lambda: repo.delete(id),
        ] * 3
        for _ in range(4):
            _race_on(calls, *expected)
        _race_on([lambda: repo.delete(id)], SessionNotFoundError)
        with trying(repo.create(id=id)) as session:
            equal(session.get_stats(), SessionStats())
