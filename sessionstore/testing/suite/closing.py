"""Closing a repository (repository.md section 2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sessionstore.address import value
from sessionstore.errors import MutationError, RepositoryClosedError, SessionClosedError
from sessionstore.session import Session
from sessionstore.testing.cases import RepositoryFactory, RepositoryGroup, trying
from sessionstore.testing.checks import calling, check, equal, refuses
from sessionstore.testing.platform import open_descriptors
from sessionstore.testing.threads import Worker

group = RepositoryGroup("closing")

_N = value("app", "n")


@group.case()
def close_closes_every_session(factory: RepositoryFactory) -> None:
    """``close`` closes every open session, and refuses whatever comes later."""
    repo = factory.open()
    sessions = [repo.create() for _ in range(3)]
    metadata = sessions[0].metadata
    repo.close()
    for session in sessions:
        refuses(SessionClosedError, calling(lambda session: session.set_value(_N, 1), session))
        refuses(SessionClosedError, calling(lambda session: session.get_value(_N), session))
        session.close()
    calls: list[Callable[[], object]] = [
        repo.create,
        repo.list,
        lambda: repo.open(metadata),
        lambda: repo.open(metadata.id),
        lambda: repo.get(metadata.id),
        lambda: repo.delete(metadata),
        lambda: repo.snapshot(metadata).__enter__(),
    ]
    for call in calls:
        refuses(RepositoryClosedError, call)


@group.case()
def close_may_be_repeated(factory: RepositoryFactory) -> None:
    """Called again, ``close`` gives the same outcome."""
    repo = factory.open()
    repo.create()
    for _ in range(3):
        repo.close()
    with trying(factory.open_other()) as unused:
        unused.close()


@group.case()
def a_repository_is_a_context_manager(factory: RepositoryFactory) -> None:
    """Leaving the block closes the repository, after an error too."""
    repo = factory.open()
    session = repo.create()
    try:
        with repo:
            raise LookupError("from the block")
    except LookupError as error:
        check("from the block" in str(error), "the error of the block should come through")
    refuses(SessionClosedError, lambda: session.get_value(_N))
    refuses(RepositoryClosedError, repo.list)


@group.case()
def close_waits_for_running_mutations(factory: RepositoryFactory) -> None:
    """``close`` waits for the mutations that run, of all sessions, and refuses what was queued."""
    repo = factory.open()
    one, two = repo.create(), repo.create()
    mutations = [one.begin_mutation(), two.begin_mutation()]
    queued = Worker(lambda: one.set_value(_N, 1)).wait_queued()
    closing = Worker(repo.close).wait_draining()
    queued.error(SessionClosedError)
    refuses(RepositoryClosedError, lambda: Worker(repo.create).result())
    for session in (one, two):
        refuses(SessionClosedError, calling(lambda session: Worker(session.begin_mutation).result(), session))
    closing.still_waits()
    for mutation in mutations:
        mutation.commit([])
        mutation.end()
    closing.result()


@group.case()
def the_holder_of_a_mutation_cannot_close(factory: RepositoryFactory) -> None:
    """``close`` from the thread that holds a mutation raises, closes nothing, and works afterwards."""
    repo = factory.open()
    session, other = repo.create(), repo.create()
    with session.begin_mutation() as mutation:
        refuses(MutationError, repo.close)
        mutation.commit([])
    other.set_value(_N, 1)
    session.set_value(_N, 1)
    repo.create().close()
    repo.close()


def _break_close(session: Session, error: Exception) -> None:
    """Let the store of a session really close and then fail with ``error``."""
    storage: Any = session.storage
    close = storage.close

    def close_and_fail() -> None:
        close()
        raise error

    storage.close = close_and_fail


@group.case()
def a_close_that_fails_fails_the_same_each_time(factory: RepositoryFactory) -> None:
    """A session whose store fails to close tells so each time; its id is free again."""
    with trying(factory.open()) as repo:
        session = repo.create()
        failure = OSError("the disk is gone")
        _break_close(session, failure)
        for _ in range(3):
            check(refuses(OSError, session.close) is failure, "each close should raise the same error")
        refuses(SessionClosedError, lambda: session.get_value(_N))
        repo.open(session.metadata).close()


@group.case()
def one_failure_is_raised_as_it_is(factory: RepositoryFactory) -> None:
    """``close`` raises the one error that came, after closing all the others."""
    repo = factory.open()
    sessions = [repo.create() for _ in range(3)]
    failure = OSError("the disk is gone")
    _break_close(sessions[1], failure)
    for _ in range(3):
        check(refuses(OSError, repo.close) is failure, "each close should raise the one error")
    for session in sessions:
        refuses(SessionClosedError, calling(lambda session: session.get_value(_N), session))
    refuses(RepositoryClosedError, repo.list)


@group.case()
def all_failures_are_raised_together(factory: RepositoryFactory) -> None:
    """``close`` waits for all sessions whatever fails, and raises an ``ExceptionGroup`` of all errors."""
    repo = factory.open()
    sessions = [repo.create() for _ in range(4)]
    failures = [OSError("first"), ValueError("second"), RuntimeError("third")]
    for session, failure in zip(sessions[1:], failures, strict=True):
        _break_close(session, failure)
    for _ in range(2):
        raised = refuses(ExceptionGroup, repo.close)
        equal({str(error) for error in raised.exceptions}, {"first", "second", "third"})
    for session in sessions:
        refuses(SessionClosedError, calling(lambda session: session.get_value(_N), session))


@group.case()
def closes_at_the_same_time_have_one_outcome(factory: RepositoryFactory) -> None:
    """Threads that close at once all wait for the end, and all get the same error."""
    repo = factory.open()
    session = repo.create()
    failure = OSError("the disk is gone")
    _break_close(session, failure)
    mutation = session.begin_mutation()
    first = Worker(repo.close).wait_draining()
    others = [Worker(repo.close) for _ in range(3)]
    first.still_waits()
    mutation.end()
    for worker in [first, *others]:
        check(worker.error(OSError) is failure, "each close should raise the one error")


@group.case("descriptors")
def no_descriptor_is_left(factory: RepositoryFactory) -> None:
    """After close no connection or descriptor of the sessions is left."""

    def use() -> None:
        with trying(factory.open()) as repo:
            sessions = [repo.create() for _ in range(4)]
            for session in sessions:
                session.set_value(_N, 1)
                Worker(lambda session: session.get_value(_N), session).result()
            with repo.snapshot(sessions[0].metadata) as image:
                list(image.records)
            repo.list()

    use()  # whatever is opened once for the process is open now
    before = open_descriptors()
    for _ in range(3):
        use()
    equal(open_descriptors(), before, "open descriptors")


@group.case("descriptors")
def a_closed_session_leaves_no_descriptor(factory: RepositoryFactory) -> None:
    """Opening and closing a session again and again leaves nothing open while the repository is."""
    with trying(factory.open()) as repo:
        with trying(repo.create()) as session:
            metadata = session.metadata

        def use() -> None:
            with trying(repo.open(metadata)) as session:
                session.set_value(_N, 1)
                session.get_value(_N)

        for _ in range(3):
            use()
        before = open_descriptors()
        for _ in range(10):
            use()
        after = open_descriptors()
        check(after <= before, f"{before} descriptors should not have become {after}")
