"""What other processes of a test do; a module of its own, since they have to import it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from multiprocessing.synchronize import Barrier
from typing import Any, TypeVar

from children import children

from sessionstore import (
    NewMessageEntry,
    NewUsageRow,
    Session,
    TransactionConflictError,
    append_list,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    open_repository,
    retire_scope,
    set_value,
    value,
    value_list,
)

PROCESSES = 4
START_SECONDS = 60
END_SECONDS = 110

COUNTER = value("app.counter", type=int)
MARKS = value_list("app.marks", type=str)

T = TypeVar("T")


class Workers:
    """Processes that are started once and run what is asked of them, all at the same time."""

    def __init__(self, stack: ExitStack, processes: int = PROCESSES) -> None:
        """``stack`` ends the processes."""
        context = children()
        self._manager = stack.enter_context(context.Manager())
        self._pool = stack.enter_context(context.Pool(processes))
        self._processes = processes

    def run(self, work: Callable[..., T], *arguments: Sequence[Any]) -> list[T]:
        """Run ``work(barrier, *of_one)`` in a process for each of ``arguments``; what each returned.

        The barrier is that of all of them.
        """
        found: list[T] = self.run_different(*[(work, of_one) for of_one in arguments])
        return found

    def run_different(self, *works: tuple[Callable[..., Any], Sequence[Any]]) -> list[Any]:
        """The same for works that differ, each with its arguments."""
        assert len(works) <= self._processes
        barrier = self._manager.Barrier(len(works))
        calls = [self._pool.apply_async(work, (barrier, *of_one)) for work, of_one in works]
        return [call.get(END_SECONDS) for call in calls]


def increment(barrier: Barrier, url: str, id: str, times: int) -> tuple[int, int]:
    """Add one to a value so many times through mutations: how often it worked, and how often not."""
    done = overtaken = 0
    with open_repository(url) as repo, repo.open(id) as session:
        barrier.wait(START_SECONDS)
        for _ in range(times):
            try:
                increment_once(session)
                done += 1
            except TransactionConflictError:
                overtaken += 1
    return done, overtaken


def increment_once(session: Session) -> None:
    """Read the counter and write it, one higher."""
    with session.begin_mutation() as mutation:
        stored = mutation.get_value(COUNTER)
        mutation.commit([set_value(COUNTER, (0 if stored is None else stored.value) + 1)])


def write_sessions(barrier: Barrier, url: str, ids: list[str], times: int) -> dict[str, list[int]]:
    """Write each of these sessions in a thread of its own; the numbers that each was given."""
    with open_repository(url) as repo:
        sessions = [repo.open(id) for id in ids]
        started = threading.Barrier(len(ids))

        def write(session: Session) -> list[int]:
            started.wait(START_SECONDS)
            return [number for turn in range(times) for number in write_turn(session, turn)]

        barrier.wait(START_SECONDS)
        with ThreadPoolExecutor(len(ids)) as threads:
            return dict(zip(ids, threads.map(write, sessions), strict=True))


TURN_NUMBERS = 8
"""How many numbers one :func:`write_turn` takes."""


def write_turn(session: Session, turn: int) -> tuple[int, ...]:
    """One turn of an agent: stream into a scope, then settle it in one mutation."""
    scope = ephemeral_scope(f"op-{turn}")
    frames = value_list("app.frames", scope=scope)
    numbers = [number for part in "abc" for number in session.append_list(frames, part).seqs]
    with session.begin_mutation() as mutation:
        text = "".join(element.value for element in mutation.read_list(frames))
        entry = NewMessageEntry(
            f"m{turn}", f"m{turn - 1}" if turn else None, {"role": "user", "content": text}
        )
        settled = mutation.commit(
            [
                insert_entry(entry),
                set_value(COUNTER, turn),
                append_list(MARKS, str(turn)),
                insert_usage(NewUsageRow(f"u{turn}", USAGE, entry_id=entry.id)),
                retire_scope(scope),
            ]
        )
    return (*numbers, *settled.seqs)


USAGE = {
    "input": 1,
    "output": 2,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 3,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.3},
}


def assert_written(session: Session, turns: int) -> None:
    """Check that exactly so many turns are there, and everything that follows from them."""
    path = session.scan_branch(f"m{turns - 1}", order="oldest_first")
    assert [entry.id for entry in path] == [f"m{turn}" for turn in range(turns)]
    assert {entry.message["content"] for entry in path if entry.type == "message"} == {"abc"}
    assert [mark.value for mark in session.read_list(MARKS)] == [str(turn) for turn in range(turns)]
    stored = session.get_value(COUNTER)
    assert stored is not None
    assert stored.value == turns - 1
    for turn in range(turns):
        assert session.read_list(value_list("app.frames", scope=ephemeral_scope(f"op-{turn}"))) == []
    stats = session.get_stats()
    assert (stats.message_count, stats.usage.total_tokens) == (turns, 3 * turns)
    assert session.storage.next_seq() == TURN_NUMBERS * turns + 1
