"""What the other processes of a test run; a module of its own, since they have to import it."""

from __future__ import annotations

from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import Any

from sqlalchemy import NullPool, create_engine

from sessionstore.sql import migrations
from sessionstore.sql.schema import ensure_schema

START_SECONDS = 60


def use_first(number: int, barrier: Barrier, urls: list[str]) -> list[bool]:
    """Open each database at the same moment as the other processes do: which ones did this one make?"""
    made = []
    for url in urls:
        engine = create_engine(url, poolclass=NullPool)
        barrier.wait(START_SECONDS)
        made.append(ensure_schema(engine))
    return made


def use_or_migrate(number: int, barrier: Barrier, urls: list[str]) -> list[bool]:
    """The same, but half of the processes run the migrations."""
    if number % 2:
        return use_first(number, barrier, urls)
    for url in urls:
        barrier.wait(START_SECONDS)
        migrations.upgrade(url)
    return []


def in_processes(
    count: int, work: Callable[[int, Barrier, list[str]], list[bool]], urls: list[str]
) -> list[list[bool]]:
    """Run ``work`` in ``count`` processes of their own; the first error of any of them is raised."""
    context = get_context("spawn")
    barrier = context.Barrier(count)
    results: Any = context.SimpleQueue()
    processes = [
        context.Process(target=_report, args=(results, work, number, barrier, urls))
        for number in range(count)
    ]
    for process in processes:
        process.start()
    outcomes = [results.get() for _ in processes]
    for process in processes:
        process.join()
    for outcome in outcomes:
        if isinstance(outcome, str):
            raise AssertionError(outcome)
    return outcomes


def _report(
    results: Any,
    work: Callable[[int, Barrier, list[str]], list[bool]],
    number: int,
    barrier: Barrier,
    urls: list[str],
) -> None:
    try:
        results.put(work(number, barrier, urls))
    except Exception as error:  # noqa: BLE001  # whatever it is, the test has to hear of it
        barrier.abort()
        results.put(f"process {number}: {type(error).__name__}: {error}")
