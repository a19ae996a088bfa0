"""What the other processes of a test do; a module of its own, since they have to import it."""

from __future__ import annotations

from multiprocessing.synchronize import Barrier
from time import perf_counter

from server.processes import COUNTER, MARKS, START_SECONDS, increment_once

from sessionstore import SessionStoreError, open_repository
from sessionstore.records import ElementRecord

PROCESSES = 8


def use_first(barrier: Barrier, number: int, urls: list[str]) -> None:
    """Use each of these containers, which nobody has made, at the same moment as the others do.

    Half of the processes look at what is there before they create a session.
    """
    for url in urls:
        with open_repository(url) as repo:
            barrier.wait(START_SECONDS)
            if number % 2:
                assert len(repo.list()) < PROCESSES
            with repo.create(id=f"p{number}") as session:
                increment_once(session)


def increment_after_the_first(
    barrier: Barrier, url: str, id: str, times: int, is_first: bool
) -> tuple[int, list[str]]:
    """Increment a value that both processes have read, one of them once before the other begins.

    How often it worked, and the kinds of error that there were.
    """
    done, errors = 0, list[str]()
    with open_repository(url) as repo, repo.open(id) as session:
        barrier.wait(START_SECONDS)
        if is_first:
            increment_once(session)
            done += 1
        barrier.wait(START_SECONDS)
        for _ in range(times - done):
            try:
                increment_once(session)
                done += 1
            except SessionStoreError as error:
                errors.append(type(error).__name__)
    return done, errors


def mark_and_increment(_: Barrier, url: str, id: str, mark: str) -> tuple[int, list[str], int | None]:
    """Open a session and write it: the first number given, and the marks and the value found before."""
    with open_repository(url) as repo, repo.open(id) as session:
        marks = [found.value for found in session.read_list(MARKS)]
        stored = session.get_value(COUNTER)
        first_seq = session.append_list(MARKS, mark).first_seq
        increment_once(session)
        return first_seq, marks, None if stored is None else stored.value


def read_with_a_pause(barrier: Barrier, url: str, id: str) -> list[str]:
    """The marks of a session, read as a stream that stands still while the other process appends."""
    with open_repository(url) as repo, repo.snapshot(id) as image:
        marks = (record.value for record in image.records if isinstance(record, ElementRecord))
        begun = [next(marks) for _ in range(10)]
        barrier.wait(START_SECONDS)
        barrier.wait(START_SECONDS)
        return [*begun, *marks]


def append_during_the_pause(barrier: Barrier, url: str, id: str, times: int) -> list[float]:
    """Append marks while the other process stands still; how many seconds each of them took."""
    seconds: list[float] = []
    with open_repository(url) as repo, repo.open(id) as session:
        barrier.wait(START_SECONDS)
        for number in range(times):
            start = perf_counter()
            session.append_list(MARKS, f"later {number}")
            seconds.append(perf_counter() - start)
        barrier.wait(START_SECONDS)
    return seconds
