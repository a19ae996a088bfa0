"""What the other processes of a test do; a module of its own, since they have to import it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from multiprocessing.synchronize import Barrier
from time import perf_counter
from typing import TypeVar

from server.processes import COUNTER, MARKS, START_SECONDS, increment_once

from sessionstore import (
    NewMessageEntry,
    SessionStoreError,
    append_list,
    insert_entry,
    open_repository,
    set_value,
)
from sessionstore.records import ElementRecord, EntryRecord, ValueRecord
from sessionstore.repository import SessionRepo
from sessionstore.scope import SessionScope
from sessionstore.writes import Write

PROCESSES = 8

T = TypeVar("T")


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


# A reader that stands still ----------------------------------------------------------------------

APPENDS = 5
"""How many turns are appended each time that the reader stands still."""

STOPS = 6
"""How often that is in each kind of read."""


def read_with_a_pause(barrier: Barrier, url: str, id: str) -> list[str]:
    """The marks of a session, read as a stream that stands still while the other process appends."""
    with open_repository(url) as repo, repo.snapshot(id) as image:
        marks = (record.value for record in image.records if isinstance(record, ElementRecord))
        begun = [next(marks) for _ in range(10)]
        stand_still(barrier)
        return [*begun, *marks]


def append_during_the_pause(
    barrier: Barrier, url: str, id: str, turns: Sequence[Sequence[int]], size: int
) -> float:
    """Append these turns, some each time that the other process stands still; how long the slowest took."""
    slowest = 0.0
    with open_repository(url) as repo, repo.open(id) as session:
        for some in turns:
            barrier.wait(START_SECONDS)
            for turn in some:
                start = perf_counter()
                session.commit(turn_writes(turn, size))
                slowest = max(slowest, perf_counter() - start)
            barrier.wait(START_SECONDS)
    return slowest


def turn_writes(turn: int, size: int = 0) -> list[Write[SessionScope]]:
    """One commit, of which a reader has to see all or nothing."""
    return [
        append_list(MARKS, f"{turn} begins {'x' * size}"),
        insert_entry(NewMessageEntry(f"m{turn}", f"m{turn - 1}" if turn else None, {"role": "user"})),
        set_value(COUNTER, turn),
        append_list(MARKS, f"{turn} ends"),
    ]


def stand_still(barrier: Barrier) -> None:
    """Wait while the other process appends."""
    barrier.wait(START_SECONDS)
    barrier.wait(START_SECONDS)


def read_standing_still(barrier: Barrier, url: str, id: str, name: str, turns: int) -> list[list[str]]:
    """What a read gave each time that it stood still in its midst, farther on each time."""
    read = READS[name]
    found: list[list[str]] = []
    with open_repository(url) as repo:
        _steps_of(lambda: read(repo, id, turns))  # what is made ready once does not count
        for stop in range(STOPS):
            at = _steps_of(lambda: read(repo, id, turns)) * (stop + 1) // (STOPS + 1)
            found.append(_stopping(lambda: read(repo, id, turns), at, lambda: stand_still(barrier)))
    return found


def _page(repo: SessionRepo, id: str, _: int) -> list[str]:
    with repo.open(id) as session:
        return [mark.value for mark in session.read_list(MARKS)]


def _branch(repo: SessionRepo, id: str, turns: int) -> list[str]:
    with repo.open(id) as session:
        return [entry.id for entry in session.scan_branch(f"m{turns - 1}", order="oldest_first")]


def _entries(repo: SessionRepo, id: str, _: int) -> list[str]:
    with repo.open(id) as session:
        return [entry.id for entry in session.storage.scan_entries()]


def _image(repo: SessionRepo, id: str, _: int) -> list[str]:
    entries, values, elements = list[str](), list[str](), list[str]()
    with repo.snapshot(id) as image:
        for record in image.records:  # in order within each kind only
            match record:
                case EntryRecord():
                    entries.append(record.id)
                case ValueRecord():
                    values.append(record.value)
                case ElementRecord():
                    elements.append(json.loads(record.value))
                case _:
                    raise TypeError(record)
    return [*entries, *values, *elements]


def _listed(repo: SessionRepo, _: str, __: int) -> list[str]:
    return [metadata.id for metadata in repo.list()]


READS: dict[str, Callable[[SessionRepo, str, int], list[str]]] = {
    "page": _page,
    "branch": _branch,
    "entries": _entries,
    "image": _image,
    "listing": _listed,
}
"""Reads from the opening to the end, of the first so many turns where a read has a start."""


def _steps_of(call: Callable[[], object]) -> int:
    """How many functions a call enters and leaves, those of the drivers included."""
    steps = 0

    def step(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(step)
    try:
        call()
    finally:
        sys.setprofile(None)
    return steps


def _stopping(call: Callable[[], T], at: int, stop: Callable[[], object]) -> T:
    """Run ``call``, and ``stop`` in it at one of its steps."""
    steps = 0

    def step(*_: object) -> None:
        nonlocal steps
        steps += 1
        if steps == at:
            sys.setprofile(None)
            stop()

    sys.setprofile(step)
    try:
        result = call()
    finally:
        sys.setprofile(None)
    assert steps == at, f"the call took {steps} steps, and should have stopped at {at}"
    return result
