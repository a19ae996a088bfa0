"""The mutation line of a session, with threads (repository.md section 1)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sessionstore.address import value, value_list
from sessionstore.errors import (
    DuplicateIdError,
    MissingParentError,
    MutationError,
    SessionClosedError,
    TransactionConflictError,
)
from sessionstore.line import current_owner, granted_ticket
from sessionstore.mutation import SessionMutation
from sessionstore.scope import ephemeral_scope
from sessionstore.session import Session
from sessionstore.testing.cases import RepositoryFactory, RepositoryGroup, trying
from sessionstore.testing.checks import calling, check, equal, ids_of, refuses, unchanged, values_of
from sessionstore.testing.material import note, say, spend, stopping_type
from sessionstore.testing.threads import Stop, Worker, race
from sessionstore.writes import Write, append_list, delete_value, retire_scope, set_value

group = RepositoryGroup("mutations")

_N = value("app", "n", type=int)
_LOG = value_list("app", "log")


def _increment(mutation: SessionMutation) -> int:
    stored = mutation.get_value(_N)
    n = 1 if stored is None else stored.value + 1
    mutation.commit([set_value(_N, n)])
    return n


@group.session_case()
def a_mutation_reads_and_commits_once(session: Session) -> None:
    """A mutation has the readers and exactly one commit."""
    session.commit([say("e"), set_value(_N, 1), append_list(_LOG, 1), spend("u", 2)])
    with session.begin_mutation() as mutation:
        stored = mutation.get_value(_N)
        equal(None if stored is None else stored.value, 1)
        equal(values_of(mutation.scan_values(value("app"))), [1])
        equal(values_of(mutation.read_list(_LOG)), [1])
        entry = mutation.get_entry("e")
        equal(None if entry is None else entry.id, "e")
        equal(list(mutation.get_entries(["e"])), ["e"])
        equal(ids_of(mutation.find_entries()), ["e"])
        equal(ids_of(mutation.scan_branch("e")), ["e"])
        equal(ids_of(mutation.scan_branch_structure("e")), ["e"])
        equal(ids_of(mutation.scan_usage()), ["u"])
        equal(mutation.get_stats().usage.input, 2)
        result = mutation.commit([set_value(_N, 2), say("f", "e")])
        equal(len(result.seqs), 2)
        stored = mutation.get_value(_N)
        equal(None if stored is None else stored.value, 2, "a value read after the commit")


@group.session_case()
def a_second_commit_attempt_fails(session: Session) -> None:
    """A second commit attempt fails and writes nothing."""
    with session.begin_mutation() as mutation:
        mutation.commit([set_value(_N, 1)])
        refuses(MutationError, lambda: mutation.commit([set_value(_N, 2)]))
    stored = session.get_value(_N)
    equal(None if stored is None else stored.value, 1)


@group.session_case()
def a_refused_commit_was_an_attempt(session: Session) -> None:
    """A commit that was refused is the one attempt."""
    session.commit([say("taken")])
    bad: list[tuple[type[Exception], Write[Any]]] = [
        (DuplicateIdError, say("taken")),
        (MissingParentError, say("x", "nobody")),
        (ValueError, set_value(value("app"), float("nan"))),
    ]
    for error, write in bad:
        with session.begin_mutation() as mutation:
            refuses(error, calling(lambda mutation, write: mutation.commit([write]), mutation, write))
            refuses(MutationError, calling(lambda mutation: mutation.commit([set_value(_N, 1)]), mutation))
    equal(session.get_value(_N), None)


@group.session_case()
def an_empty_commit_was_an_attempt(session: Session) -> None:
    """A commit of nothing is the one attempt."""
    nothing: list[Write[Any]] = []
    with session.begin_mutation() as mutation:
        equal(mutation.commit(nothing).seqs, ())
        refuses(MutationError, lambda: mutation.commit([set_value(_N, 1)]))
    equal(session.get_value(_N), None)


@group.session_case()
def using_a_mutation_after_its_end_is_an_error(session: Session) -> None:
    """After ``end`` reads and commits fail; ``end`` may be called again."""
    session.commit([say("e")])
    mutation = session.begin_mutation()
    mutation.end()
    mutation.end()
    for call in (
        lambda: mutation.commit([set_value(_N, 1)]),
        lambda: mutation.get_value(_N),
        lambda: mutation.scan_values(_N),
        lambda: mutation.read_list(_LOG),
        lambda: mutation.get_entry("e"),
        lambda: mutation.get_entries(["e"]),
        mutation.find_entries,
        mutation.find_entry,
        lambda: mutation.scan_branch("e"),
        lambda: mutation.scan_branch_structure("e"),
        mutation.scan_usage,
        mutation.get_stats,
    ):
        refuses(MutationError, call)
    equal(session.get_value(_N), None)


@group.session_case()
def leaving_the_block_ends_the_mutation(session: Session) -> None:
    """Leaving the ``with`` block ends the mutation and lets the next in, after an error too."""
    for error in (None, ValueError("from the block"), KeyboardInterrupt()):
        kept: list[SessionMutation] = []
        try:
            with session.begin_mutation() as mutation:
                kept.append(mutation)
                if error is not None:
                    raise error
        except (ValueError, KeyboardInterrupt) as raised:
            check(raised is error, "the error of the block should come through")
        refuses(MutationError, calling(lambda kept: kept[0].get_value(_N), kept))
        Worker(lambda: session.mutate(_increment)).result()
    stored = session.get_value(_N)
    equal(None if stored is None else stored.value, 3)


@group.session_case()
def mutate_gives_what_the_callback_returns(session: Session) -> None:
    """``mutate`` is the same with a callback; its error ends the mutation and comes through."""
    equal(session.mutate(_increment), 1)

    def fail(mutation: SessionMutation) -> None:
        mutation.commit([set_value(_N, 5)])
        raise LookupError("from the callback")

    refuses(LookupError, lambda: session.mutate(fail), "from the callback")
    equal(session.mutate(_increment), 6, "a value committed before the callback failed")
    equal(session.mutate(lambda mutation: mutation.get_value(value("app", "none"))), None)


@group.session_case()
def mutations_exclude_each_other(session: Session) -> None:
    """Read-modify-write through mutations loses nothing among threads."""
    race([lambda: [session.mutate(_increment) for _ in range(20)] for _ in range(5)])
    stored = session.get_value(_N)
    equal(None if stored is None else stored.value, 100)


@group.session_case()
def mutations_are_admitted_first_come_first_served(session: Session) -> None:
    """Threads that wait for the line get it in the order in which they came."""
    with session.begin_mutation():
        workers = [
            Worker(
                lambda n: session.mutate(lambda mutation: mutation.commit([append_list(_LOG, n)])), n
            ).wait_queued()
            for n in range(10)
        ]
    for worker in workers:
        worker.result()
    equal(values_of(session.read_list(_LOG)), list(range(10)))


@group.session_case()
def tickets_decide_and_not_threads(session: Session) -> None:
    """Who took a place first is first, in whatever order the threads come to use their places."""
    with session.begin_mutation():
        tickets = [session.take_ticket(f"owner {n}") for n in range(6)]

        def write(n: int) -> None:
            granted_ticket.set(tickets[n])
            current_owner.set(f"owner {n}")
            session.append_list(_LOG, n)

        workers = [Worker(write, n).wait_queued() for n in reversed(range(6))]
    for worker in workers:
        worker.result()
    equal(values_of(session.read_list(_LOG)), list(range(6)))


@group.session_case()
def every_convenience_writer_is_a_mutation(session: Session) -> None:
    """Convenience writers wait for the mutation that runs, each in its turn."""
    session.commit([say("e")])
    scope = ephemeral_scope("op")
    writers: list[Callable[[], object]] = [
        lambda: session.commit([append_list(_LOG, "commit")]),
        lambda: session.set_value(_N, 2),
        lambda: session.delete_value(value("app", "other")),
        lambda: session.append_list(_LOG, "append"),
        lambda: session.delete_list(value_list("app", "other")),
        lambda: session.retire_scope(scope),
        lambda: session.set_name("name"),
        lambda: session.set_label("e", "label"),
        lambda: session.create_branch("main", "e"),
    ]
    with session.begin_mutation() as mutation:
        workers = [Worker(write).wait_queued() for write in writers]
        equal(mutation.get_value(_N), None)
        equal(mutation.read_list(_LOG), [])
        mutation.commit([append_list(_LOG, "first")])
    for worker in workers:
        worker.result()
    equal(values_of(session.read_list(_LOG)), ["first", "commit", "append"])
    equal((session.get_name(), session.get_label("e")), ("name", "label"))
    branch = session.branch("main")
    assert branch is not None
    with session.begin_mutation():
        appended = Worker(lambda: branch.append_message({"role": "user"})).wait_queued()
        custom = Worker(lambda: branch.append_custom_entry("note")).wait_queued()
        equal(branch.tip_id(), "e")
    expected = [custom.result(), appended.result(), "e"]
    equal(ids_of(branch.find_entries()), expected)


@group.session_case()
def a_nested_writer_raises_instead_of_hanging(session: Session) -> None:
    """Whoever holds the mutation can never be granted another: ``MutationError``, nothing changed."""
    session.commit([say("e")])
    branch = session.create_branch("main", "e")
    scope = ephemeral_scope("op")
    nested: list[Callable[[], object]] = [
        session.begin_mutation,
        lambda: session.mutate(_increment),
        lambda: session.commit([set_value(_N, 1)]),
        lambda: session.set_value(_N, 1),
        lambda: session.delete_value(_N),
        lambda: session.append_list(_LOG, 1),
        lambda: session.delete_list(_LOG),
        lambda: session.retire_scope(scope),
        lambda: session.set_name("x"),
        lambda: session.set_label("e", "x"),
        lambda: session.set_label("e", None),
        lambda: session.create_branch("other"),
        lambda: branch.append_message({"role": "user"}),
        lambda: branch.append_custom_entry("note"),
        session.close,
    ]

    def nest() -> None:
        with session.begin_mutation() as mutation:
            for call in nested:
                with unchanged(session.storage, _N, _LOG):
                    refuses(MutationError, call)
            mutation.commit([set_value(_N, 7)])

    Worker(nest).result()
    stored = session.get_value(_N)
    equal(None if stored is None else stored.value, 7, "what the mutation itself wrote")
    session.set_value(_N, 8)


@group.session_case()
def another_thread_may_end_the_mutation(session: Session) -> None:
    """A mutation may be handed to another thread, which commits and ends it."""
    mutation = session.begin_mutation()

    def finish() -> None:
        mutation.commit([set_value(_N, 1)])
        mutation.end()

    Worker(finish).result()
    session.set_value(_N, 2)


@group.session_case()
def a_thread_that_ends_takes_no_owner_with_it(session: Session) -> None:
    """The mutation of a thread that has ended is not taken for one of a thread that comes later."""
    mutation = Worker(session.begin_mutation).result()
    waiting = [Worker(lambda n: session.append_list(_LOG, n), n).wait_queued() for n in range(3)]
    mutation.end()
    for worker in waiting:
        worker.result()
    equal(values_of(session.read_list(_LOG)), [0, 1, 2])


@group.session_case()
def a_mutation_that_is_dropped_lets_the_next_in(session: Session) -> None:
    """A mutation that nobody holds any more does not keep the line."""
    session.begin_mutation()
    Worker(lambda: session.set_value(_N, 1)).result()


@group.session_case()
def end_waits_for_the_attempt(session: Session) -> None:
    """``end`` waits for the commit that is under way and only then lets the next in."""
    with Stop() as stop:
        slow = value("app", "slow", type=stopping_type(stop))
        mutation = session.begin_mutation()
        committing = Worker(lambda: mutation.commit([set_value(slow, "x"), append_list(_LOG, "first")]))
        stop.wait_reached()
        ending = Worker(mutation.end)
        after = Worker(lambda: session.append_list(_LOG, "second")).wait_queued()
        ending.still_waits()
        stop.release()
        equal(len(committing.result().seqs), 2)
        ending.result()
        after.result()
    equal(values_of(session.read_list(_LOG)), ["first", "second"])


@group.session_case()
def reads_do_not_wait_for_the_mutation(session: Session) -> None:
    """Reading beside a mutation sees what was committed before it."""
    session.set_value(_N, 1)
    with session.begin_mutation() as mutation:
        stored = Worker(lambda: session.get_value(_N)).result()
        equal(None if stored is None else stored.value, 1)
        mutation.commit([set_value(_N, 2)])
        stored = Worker(lambda: session.get_value(_N)).result()
        equal(None if stored is None else stored.value, 2)


@group.session_case()
def storage_commit_works_below_the_line(session: Session) -> None:
    """``session.storage.commit`` is atomic and in order while a mutation runs, and waits for none."""
    with session.begin_mutation():
        result = session.storage.commit([append_list(_LOG, 1), note("n")])
        Worker(lambda: session.storage.commit([append_list(_LOG, 2)])).result()
        equal(len(result.seqs), 2)
    equal(values_of(session.read_list(_LOG)), [1, 2])


@group.session_case()
def a_mutation_that_was_overtaken_fails(session: Session) -> None:
    """A mutation that finds at its commit that anybody committed since it began writes nothing."""
    session.set_value(_N, 1)
    mutation = session.begin_mutation()
    equal(getattr(mutation.get_value(_N), "value", None), 1)
    session.storage.commit([set_value(_N, 10)])
    refuses(TransactionConflictError, lambda: mutation.commit([set_value(_N, 2), say("x")]))
    refuses(MutationError, lambda: mutation.commit([set_value(_N, 2)]))
    mutation.end()
    equal(getattr(session.get_value(_N), "value", None), 10)
    equal(session.get_entry("x"), None)
    equal(session.mutate(_increment), 11, "what a retry gives")


@group.session_case()
def a_retry_is_checked_again(session: Session) -> None:
    """A retry after a conflict can be overtaken like the first attempt."""
    for _ in range(3):
        mutation = session.begin_mutation()
        session.storage.commit([delete_value(value("app", "anything"))])
        refuses(
            TransactionConflictError, calling(lambda mutation: mutation.commit([set_value(_N, 1)]), mutation)
        )
        mutation.end()
    equal(session.mutate(_increment), 1)


@group.session_case()
def any_commit_overtakes(session: Session) -> None:
    """Writes of any kind and scope overtake, retirements and deletes of nothing too."""
    scope = ephemeral_scope("op")
    overtakers: list[list[Write[Any]]] = [
        [say("e")],
        [spend("u")],
        [set_value(value("other", scope=scope), 1)],
        [retire_scope(scope)],
        [delete_value(value("nothing"))],
    ]
    for writes in overtakers:
        with session.begin_mutation() as mutation:
            session.storage.commit(writes)
            refuses(
                TransactionConflictError,
                calling(lambda mutation: mutation.commit([set_value(_N, 1)]), mutation),
            )
    nothing: list[Write[Any]] = []
    with session.begin_mutation() as mutation:
        session.storage.commit(nothing)
        mutation.commit([set_value(_N, 1)])


@group.session_case()
def a_failed_commit_below_does_not_overtake(session: Session) -> None:
    """A transaction that was refused has committed nothing, and conflicts with nobody."""
    session.commit([say("taken")])
    with session.begin_mutation() as mutation:
        refuses(DuplicateIdError, lambda: session.storage.commit([say("taken")]))
        refuses(ValueError, lambda: session.storage.commit([set_value(_N, True)]))
        mutation.commit([set_value(_N, 1)])


@group.case()
def close_waits_for_the_mutation_that_runs(factory: RepositoryFactory) -> None:
    """Close lets a running mutation finish, refuses what was only queued, and then ends everything."""
    with trying(factory.open()) as repo:
        session = repo.create()
        metadata = session.metadata
        mutation = session.begin_mutation()
        queued: list[Worker[Any]] = [
            Worker(lambda: session.mutate(_increment)).wait_queued(),
            Worker(lambda: session.append_list(_LOG, 1)).wait_queued(),
        ]
        closing = Worker(session.close).wait_draining()
        for worker in queued:
            worker.error(SessionClosedError)
        refuses(SessionClosedError, lambda: Worker(session.begin_mutation).result())
        refuses(SessionClosedError, lambda: Worker(lambda: session.set_value(_N, 1)).result())
        closing.still_waits()
        equal(mutation.get_value(_N), None, "a read of the mutation while the session closes")
        mutation.commit([set_value(_N, 5)])
        mutation.end()
        closing.result()
        refuses(SessionClosedError, lambda: session.get_value(_N))
        with trying(repo.open(metadata)) as again:
            equal(getattr(again.get_value(_N), "value", None), 5, "what the last mutation wrote")
            equal(again.read_list(_LOG), [])


@group.case()
def the_holder_may_end_while_others_close(factory: RepositoryFactory) -> None:
    """Several threads may close at once; all wait for the mutation, and all succeed."""
    with trying(factory.open()) as repo:
        session = repo.create()
        with session.begin_mutation() as mutation:
            first = Worker(session.close).wait_draining()
            others = [Worker(session.close) for _ in range(3)]
            refuses(MutationError, session.close)
            first.still_waits()
            mutation.commit([set_value(_N, 1)])
        for worker in [first, *others]:
            worker.result()
        session.close()


@group.session_case()
def a_waiting_thread_is_let_in_after_an_error(session: Session) -> None:
    """A mutation whose work fails does not hold up those who wait."""
    entered = threading.Event()
    fail = threading.Event()

    def failing(mutation: SessionMutation) -> None:
        entered.set()
        check(fail.wait(60), "the mutation was never told to fail")
        raise RuntimeError("work failed")

    first = Worker(lambda: session.mutate(failing))
    check(entered.wait(60), "the mutation never began")
    second = Worker(lambda: session.mutate(_increment)).wait_queued()
    fail.set()
    first.error(RuntimeError)
    equal(second.result(), 1)
