"""What other processes of a test do; a module of its own, since they have to import it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import Any, TypeVar

from sessionstore import (
    Session,
    TransactionConflictError,
    open_repository,
    set_value,
    value,
    value_list,
)

START_SECONDS = 60
END_SECONDS = 110

COUNTER = value("app.counter", type=int)
MARKS = value_list("app.marks", type=str)

T = TypeVar("T")


def in_processes(work: Callable[..., T], *arguments: Sequence[Any]) -> list[T]:
    """Run ``work(barrier, *of_one)`` in a process for each of ``arguments``; what each returned.

    The barrier is that of all the processes.
    """
    context = get_context("spawn")
    with context.Manager() as manager:
        barrier = manager.Barrier(len(arguments))
        with context.Pool(len(arguments)) as pool:
            calls = [pool.apply_async(work, (barrier, *of_one)) for of_one in arguments]
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
