"""Several repositories on one container (repository.md sections 2 and 3).

The host decides who writes a session. Where these cases let two write one, they show that even
that fault of the host corrupts nothing.
"""

from __future__ import annotations

import uuid
from typing import Any

from sessionstore.address import value, value_list
from sessionstore.errors import (
    SessionExistsError,
    SessionNotFoundError,
    SessionStoreError,
    TransactionConflictError,
)
from sessionstore.repository import SessionRepo
from sessionstore.scope import ephemeral_scope
from sessionstore.session import Session
from sessionstore.testing.cases import RepositoryFactory, RepositoryGroup, trying
from sessionstore.testing.checks import NOTHING, calling, check, equal, ids_of, refuses, values_of
from sessionstore.testing.material import note, say
from sessionstore.testing.threads import race
from sessionstore.writes import Write, append_list, delete_value, retire_scope, set_value

group = RepositoryGroup("sharing")

_N = value("app", "n", type=int)
_LOG = value_list("app", "log")


@group.case("shared_container")
def two_repositories_have_the_same_container(factory: RepositoryFactory) -> None:
    """Metadata of one repository is that of the other: the container has one name."""
    with trying(factory.open()) as one, trying(factory.open()) as two:
        equal(one.container, two.container)
        with trying(one.create()) as session:
            session.set_value(_N, 1)
            metadata = session.metadata
        with trying(two.open(metadata)) as session:
            equal(getattr(session.get_value(_N), "value", None), 1)
        two.delete(metadata)
        refuses(SessionNotFoundError, lambda: one.open(metadata))


@group.case("shared_container")
def reading_overlaps_the_owner(factory: RepositoryFactory) -> None:
    """A reader lists and takes snapshots while the owner writes."""
    cwd = f"/{uuid.uuid4()}"
    with (
        trying(factory.open()) as owner,
        trying(factory.open()) as reader,
        trying(owner.create(cwd=cwd)) as session,
    ):
        for n in range(5):
            session.commit([append_list(_LOG, n), note(f"e{n}")])
            equal(ids_of(reader.list(cwd=cwd)), [session.metadata.id])
            with reader.snapshot(session.metadata) as image:
                equal(image.header.next_seq, session.storage.next_seq())
                session.commit([set_value(_N, n)])
                equal(len(list(image.records)), 2 * (n + 1) + (n > 0), "records at the boundary")
        equal(getattr(session.get_value(_N), "value", None), 4)


@group.case("shared_container")
def a_taken_id_is_taken_for_all(factory: RepositoryFactory) -> None:
    """An id that one repository created cannot be created by another."""
    id = f"id {uuid.uuid4()}"
    with trying(factory.open()) as one, trying(factory.open()) as two:
        with trying(one.create(id=id)) as session:
            refuses(SessionExistsError, lambda: two.create(id=id))
            session.set_value(_N, 1)
        refuses(SessionExistsError, lambda: two.create(id=id))
        with trying(two.open(id)) as session:
            equal(getattr(session.get_value(_N), "value", None), 1)


@group.case("shared_container")
def one_of_the_creates_of_many_repositories_wins(factory: RepositoryFactory) -> None:
    """Of concurrent creates of one id by several repositories exactly one succeeds."""
    repos = [factory.open() for _ in range(4)]
    try:
        for _ in range(3):
            id = f"id {uuid.uuid4()}"
            won = 0
            for worker in race([calling(_create, repo, id) for repo in repos]):
                if worker.failed is None:
                    won += 1
                else:
                    check(isinstance(worker.failed, SessionExistsError), f"unexpected {worker.failed!r}")
            equal(won, 1, "creates that succeeded")
    finally:
        for repo in repos:
            repo.close()


@group.case("shared_container")
def many_repositories_make_one_container(factory: RepositoryFactory) -> None:
    """Several repositories that create in a new container at the same moment all succeed."""
    repos = [factory.open() for _ in range(5)]
    try:
        made = [worker.result() for worker in race([calling(_create, repo) for repo in repos])]
        with trying(factory.open()) as repo:
            for id in made:
                with trying(repo.open(id)) as session:
                    equal(getattr(session.get_value(_N), "value", None), 1)
    finally:
        for repo in repos:
            repo.close()


def _create(repo: SessionRepo, id: str | None = None) -> str:
    with trying(repo.create(id=id)) as session:
        session.set_value(_N, 1)
        return session.metadata.id


def _open_twice(factory: RepositoryFactory) -> tuple[SessionRepo, SessionRepo, Session, Session]:
    one, two = factory.open(), factory.open()
    first = one.create()
    first.commit([say("e"), set_value(_N, 0)])
    return one, two, first, two.open(first.metadata)


def _overtake(factory: RepositoryFactory, writes: list[Write[Any]]) -> None:
    one, two, first, second = _open_twice(factory)
    with trying(one), trying(two):
        mutation = first.begin_mutation()
        mutation.get_value(_N)
        second.commit(writes)
        refuses(TransactionConflictError, lambda: mutation.commit([set_value(_N, 1), note("lost")]))
        mutation.end()
        equal(second.get_entry("lost"), None)


@group.case("shared_container")
def a_mutation_overtaken_by_another_handle_fails(factory: RepositoryFactory) -> None:
    """A mutation that finds at its commit that another handle committed since it began writes nothing."""
    _overtake(factory, [set_value(_N, 10)])
    _overtake(factory, [note("x")])
    _overtake(factory, [delete_value(value("app", "nothing"))])


@group.case("shared_container", "visible_across_handles")
def a_scoped_write_of_another_handle_overtakes(factory: RepositoryFactory) -> None:
    """Writes in ephemeral scopes and retirements overtake like any other."""
    scope = ephemeral_scope("op")
    _overtake(factory, [set_value(value("app", scope=scope), 1)])
    _overtake(factory, [retire_scope(scope)])


@group.case("shared_container", "visible_across_handles")
def what_one_handle_commits_the_other_reads(factory: RepositoryFactory) -> None:
    """Handles of one session in two repositories read each other's commits, and number on."""
    one, two, first, second = _open_twice(factory)
    with trying(one), trying(two):
        last = 0
        for n in range(6):
            writer, reader = (first, second) if n % 2 else (second, first)
            result = writer.commit(
                [set_value(_N, n), append_list(_LOG, n), note(f"n{n}", f"n{n - 1}" if n else "e")]
            )
            check(result.first_seq > last, "numbers should increase over both handles")
            last = result.seqs[-1]
            equal(getattr(reader.get_value(_N), "value", None), n)
            equal(len(reader.read_list(_LOG)), n + 1)
            equal(reader.get_stats(), result.stats)
            equal(len(reader.scan_branch(f"n{n}")), n + 2)


@group.case("shared_container", "visible_across_handles")
def increments_of_two_handles_lose_nothing_silently(factory: RepositoryFactory) -> None:
    """Read-modify-write through two handles: every loss is a clear error, and a retry makes it good."""
    one, two, first, second = _open_twice(factory)

    def increment(session: Session) -> int:
        conflicts = 0
        for _ in range(25):
            while True:
                try:
                    with session.begin_mutation() as mutation:
                        stored = mutation.get_value(_N)
                        assert stored is not None
                        mutation.commit([set_value(_N, stored.value + 1)])
                    break
                except TransactionConflictError:
                    conflicts += 1
        return conflicts

    with trying(one), trying(two):
        for worker in race([lambda: increment(first), lambda: increment(second)]):
            worker.result()
        equal(getattr(first.get_value(_N), "value", None), 50)


@group.case("shared_container")
def a_late_write_to_a_deleted_session_is_an_error(factory: RepositoryFactory) -> None:
    """A write through a handle whose session was deleted is ``SessionNotFoundError``; nothing comes back."""
    scope = ephemeral_scope("op")
    one, two, first, second = _open_twice(factory)
    with trying(one), trying(two):
        first.set_value(value("app", scope=scope), 1)
        second.close()
        two.delete(first.metadata)
        late: list[list[Write[Any]]] = [
            [set_value(_N, 5)],
            [note("late")],
            [set_value(value("app", scope=scope), 2)],
            [set_value(value("app", scope=ephemeral_scope("new")), 2)],
            [retire_scope(scope)],
        ]
        for writes in late:
            refuses(SessionNotFoundError, calling(first.commit, writes), first.metadata.id)
        refuses(SessionStoreError, lambda: first.mutate(lambda mutation: mutation.commit([set_value(_N, 6)])))
        first.close()
        refuses(SessionNotFoundError, lambda: two.get(first.metadata.id))
        refuses(SessionNotFoundError, lambda: two.open(first.metadata))
        equal([metadata.id for metadata in one.list() if metadata.id == first.metadata.id], [])


@group.case("shared_container")
def a_late_write_does_not_reach_the_successor(factory: RepositoryFactory) -> None:
    """A write through a handle of a deleted session never lands in a new session of the same id."""
    one, two, first, second = _open_twice(factory)
    with trying(one), trying(two):
        second.close()
        two.delete(first.metadata)
        factory.clock.now += 1000
        with trying(two.create(id=first.metadata.id, cwd=first.metadata.cwd)) as successor:
            refuses(SessionNotFoundError, lambda: first.set_value(_N, 5))
            refuses(SessionNotFoundError, lambda: first.append_list(_LOG, 5))
            equal((successor.find_entries(), successor.get_value(_N)), (NOTHING, None))
            successor.set_value(_N, 1)
            equal(getattr(successor.get_value(_N), "value", None), 1)


@group.case("shared_container")
def sessions_of_two_repositories_are_written_side_by_side(factory: RepositoryFactory) -> None:
    """Two repositories write sessions of their own in one container at the same time."""

    def write(session: Session, name: str) -> int:
        for n in range(20):
            session.commit([append_list(_LOG, f"{name}{n}"), note(f"{name}{n}")])
        return 0

    with (
        trying(factory.open()) as one,
        trying(factory.open()) as two,
        trying(one.create()) as first,
        trying(two.create()) as second,
    ):
        for worker in race([lambda: write(first, "a"), lambda: write(second, "b")]):
            worker.result()
        equal(values_of(first.read_list(_LOG)), [f"a{n}" for n in range(20)])
        equal(values_of(second.read_list(_LOG)), [f"b{n}" for n in range(20)])
