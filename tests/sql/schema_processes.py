"""What the other processes of a test run; a module of its own, since they have to import it."""

from __future__ import annotations

from multiprocessing.synchronize import Barrier
from typing import Any

from children import children
from sqlalchemy import NullPool, create_engine

from sessionstore.sql import migrations
from sessionstore.sql.schema import ensure_schema

START_SECONDS = 60


def use_first(number: int, barrier: Barrier, urls: list[str], migrated: list[str]) -> list[bool]:
    """Open each database at the same moment as the other processes do: which ones did this one make?

    On the databases in ``migrated`` half of the processes run the migrations instead.
    """
    made = []
    for url in urls:
        engine = create_engine(url, poolclass=NullPool)
        barrier.wait(START_SECONDS)
        made.append(ensure_schema(engine))
    for url in migrated:
        engine = create_engine(url, poolclass=NullPool)
        barrier.wait(START_SECONDS)
        if number % 2:
            ensure_schema(engine)
        else:
            migrations.upgrade(engine)
    return made


def in_processes(count: int, urls: list[str], migrated: list[str]) -> list[list[bool]]:
    """Run :func:`use_first` in ``count`` processes; the first error of any of them is raised."""
    context = children()
    barrier = context.Barrier(count)
    results: Any = context.SimpleQueue()
    processes = [
        context.Process(target=_report, args=(results, number, barrier, urls, migrated))
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


def _report(results: Any, number: int, barrier: Barrier, urls: list[str], migrated: list[str]) -> None:
    try:
        results.put(use_first(number, barrier, urls, migrated))
    except Exception as error:  # noqa: BLE001  # whatever it is, the test has to hear of it
        barrier.abort()
        results.put(f"process {number}: {type(error).__name__}: {error}")
