"""The commit line and closing, with threads (model.md section 4 rule 8, repository.md section 1)."""

from __future__ import annotations

import threading
from typing import Any

from sessionstore.address import value, value_list
from sessionstore.errors import DuplicateIdError, SessionClosedError
from sessionstore.storage import Storage
from sessionstore.testing.cases import StorageGroup
from sessionstore.testing.checks import calling, check, equal, ids_of, refuses, values_of
from sessionstore.testing.interrupts import interrupt
from sessionstore.testing.material import note, say, spend, stopping_type
from sessionstore.testing.threads import Stop, Worker, race
from sessionstore.writes import Write, append_list, set_value

group = StorageGroup("lines")

_L = value_list("app", "l")


@group.case
def commits_are_admitted_in_the_order_of_the_calls(store: Storage) -> None:
    """First come, first served: while one commit is under way the others keep their order."""
    with Stop() as stop:
        first = Worker(lambda: store.commit([set_value(value("app", "slow", type=stopping_type(stop)), "x")]))
        stop.wait_reached()
        queued: list[Worker[Any]] = [
            Worker(lambda n: store.commit([append_list(_L, n)]), n).wait_queued() for n in range(8)
        ]
        stop.release()
        numbers = [worker.result().first_seq for worker in [first, *queued]]
    equal(numbers, sorted(numbers), "numbers in the order of the calls")
    equal(values_of(store.read_list(_L)), list(range(8)))


@group.case
def a_failed_commit_lets_the_next_in(store: Storage) -> None:
    """A commit that is refused leaves the line to the next."""
    store.commit([say("taken")])
    with Stop() as stop:
        slow = value("app", "slow", type=stopping_type(stop))
        first = Worker(lambda: store.commit([set_value(slow, "x"), say("taken")]))
        stop.wait_reached()
        second = Worker(lambda: store.commit([append_list(_L, 1)])).wait_queued()
        stop.release()
        first.error(DuplicateIdError)
        second.result()
    equal(values_of(store.read_list(_L)), [1])


@group.case
def commits_from_many_threads_are_one_sequence(store: Storage) -> None:
    """Commits of many threads are all there, once, and take numbers without overlap."""

    def write(name: int) -> list[int]:
        seqs: list[int] = []
        for n in range(25):
            writes: list[Write[Any]] = [
                append_list(_L, (name, n)),
                note(f"{name}-{n}"),
                spend(f"u{name}-{n}", 1),
            ]
            seqs.extend(store.commit(writes).seqs)
        return seqs

    workers = race([calling(write, name) for name in range(6)])
    seqs = [seq for worker in workers for seq in worker.result()]
    equal(len(set(seqs)), 6 * 25 * 3, "different numbers")
    elements = values_of(store.read_list(_L))
    for name in range(6):
        equal([n for who, n in elements if who == name], list(range(25)), f"elements of thread {name}")
    equal(store.get_stats().usage.input, 150)
    equal(len(store.scan_entries()), 150)


@group.case
def a_transaction_is_seen_wholly_or_not_at_all(store: Storage) -> None:
    """A reader beside a writer sees each transaction wholly or not at all."""
    ended = threading.Event()

    def write() -> None:
        try:
            for n in range(60):
                store.commit([*(append_list(_L, n) for _ in range(10)), note(f"a{n}"), note(f"b{n}")])
        finally:
            ended.set()

    def read() -> int:
        reads = 0
        while not ended.is_set() or not reads:
            elements = values_of(store.read_list(_L, limit=10_000))
            equal(
                [elements.count(n) for n in set(elements)],
                [10] * (len(elements) // 10),
                "elements of each commit",
            )
            found = set(store.get_entries([f"{name}{n}" for n in range(60) for name in "ab"]))
            halves = [n for n in range(60) if (f"a{n}" in found) != (f"b{n}" in found)]
            equal(halves, [], "commits of which one entry was seen")
            equal(len(store.scan_entries()) % 2, 0, "an odd number of entries")
            reads += 1
        return reads

    reader = Worker(read)
    Worker(write).result()
    check(reader.result() > 0, "the reader should have read")


@group.case
def a_slow_reader_never_blocks_a_writer(store: Storage) -> None:
    """While a reader stops in the middle of a page, commits go on."""
    store.commit([append_list(_L, f"element {n}") for n in range(3)])
    with Stop() as stop:
        slow = value_list("app", "l", type=stopping_type(stop))
        reader = Worker(lambda: store.read_list(slow))
        stop.wait_reached()
        for n in range(3, 6):
            Worker(lambda n: store.commit([append_list(_L, f"element {n}")]), n).result()
        stop.release()
        page = values_of(reader.result())
    equal(page[:3], [f"element {n}" for n in range(3)], "the page that the slow reader got")
    equal(len(store.read_list(_L)), 6)


@group.case
def readers_do_not_wait_for_a_commit_under_way(store: Storage) -> None:
    """Reads see committed state only, and need not wait for a commit that is under way."""
    place = value("app", "k")
    store.commit([set_value(place, "before"), note("e")])
    with Stop() as stop:
        writes: list[Write[Any]] = [
            set_value(place, "after"),
            set_value(value("app", "slow", type=stopping_type(stop)), "x"),
        ]
        writer = Worker(lambda: store.commit(writes))
        stop.wait_reached()
        stored = Worker(lambda: store.get_value(place)).result()
        equal(None if stored is None else stored.value, "before")
        equal(ids_of(Worker(store.scan_entries).result()), ["e"])
        stop.release()
        writer.result()
    stored = store.get_value(place)
    equal(None if stored is None else stored.value, "after")


@group.case
def close_waits_for_the_commit_that_runs(store: Storage) -> None:
    """Close lets the commit that runs finish, refuses what was only queued, and can be repeated."""
    with Stop() as stop:
        slow = value("app", "slow", type=stopping_type(stop))
        running = Worker(lambda: store.commit([set_value(slow, "x")]))
        stop.wait_reached()
        queued = Worker(lambda: store.commit([append_list(_L, 1)])).wait_queued()
        closing = Worker(store.close).wait_draining()
        queued.error(SessionClosedError)
        closing.still_waits()
        stop.release()
        check(len(running.result().seqs) == 1, "the commit that ran should have ended well")
        closing.result()
    store.close()


@group.case
def a_closed_store_refuses_everything(store: Storage) -> None:
    """After close every call fails with ``SessionClosedError``."""
    store.commit([say("e")])
    store.close()
    empty: list[Write[Any]] = []
    for call in (
        lambda: store.commit([set_value(value("app"), 1)]),
        lambda: store.commit(empty),
        lambda: store.get_value(value("app")),
        lambda: store.scan_values(value("app")),
        lambda: store.read_list(_L),
        lambda: store.get_entries(["e"]),
        lambda: store.scan_branch("e"),
        lambda: store.scan_branch_structure("e"),
        store.scan_entries,
        store.scan_usage,
        store.get_stats,
        store.next_seq,
    ):
        refuses(SessionClosedError, call)


@group.case
def an_error_that_is_kept_does_not_hold_up_a_close(store: Storage) -> None:
    """Errors of refused calls may be kept: they keep nothing of the store alive."""
    kept: list[Exception] = []
    with Stop() as stop:
        slow = value("app", "slow", type=stopping_type(stop))
        running = Worker(lambda: store.commit([set_value(slow, "x")]))
        stop.wait_reached()
        closing = Worker(store.close).wait_draining()
        kept.append(refuses(SessionClosedError, lambda: store.read_list(_L)))
        kept.append(refuses(SessionClosedError, lambda: store.commit([append_list(_L, 1)])))
        stop.release()
        running.result()
        closing.result()
    equal(len(kept), 2)


@group.case
def an_interrupted_commit_happened_wholly_or_not_at_all(store: Storage) -> None:
    """``KeyboardInterrupt`` at any point of a commit: all or nothing, and the next call works."""
    place, last = value("app", "k"), value("app", "z")
    store.commit([set_value(place, 0), set_value(last, 0), note("e0")])
    done, point, interrupted = 0, 1, True
    while interrupted:
        attempt = done + 1
        writes: list[Write[Any]] = [
            set_value(place, attempt),
            note(f"e{attempt}", f"e{done}"),
            append_list(_L, attempt),
            spend(f"u{attempt}", 1),
            set_value(last, attempt),
        ]
        interrupted = interrupt(calling(store.commit, writes), point)
        seen = [getattr(store.get_value(one), "value", None) for one in (place, last)]
        check(seen in ([done] * 2, [attempt] * 2), f"point {point}: a commit was seen in part, {seen}")
        done = int(str(seen[0]))
        what = f"after an interrupt at point {point}"
        equal(values_of(store.read_list(_L, order="desc", limit=1)), [done] if done else [], what)
        equal(store.get_stats().usage.input, done, what)
        equal(ids_of(store.scan_entries(order="desc", limit=1)), [f"e{done}"], what)
        store.commit([set_value(value("app", "next"), point)])
        point += _STRIDE
    check(point > 10 * _STRIDE, f"a commit should have more than {point} points")
    equal(values_of(store.read_list(_L)), list(range(1, done + 1)), "elements of commits that happened")
    equal(len(store.scan_branch(f"e{done}")), done + 1, "entries of commits that happened")


_STRIDE = 7
"""Of the hundreds of points every seventh is tried here."""
