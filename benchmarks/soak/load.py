"""The load: agents in threads, as tasks and in processes of their own, all on one store.

Each agent makes a session, streams turns into it, opens it again, forks it, lists, and deletes what
is older than its last few sessions: what is there is always the same amount.
"""

from __future__ import annotations

import asyncio
import os
import threading
import traceback
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from multiprocessing import get_context
from typing import Any

from benchmarks.work import FRAME, Conversation
from sessionstore import (
    ForkBranch,
    ForkTree,
    Session,
    SessionRepo,
    Write,
    aio,
    ephemeral_scope,
    open_repository,
    retire_scope,
    set_value,
    value_list,
)
from sessionstore.builtin import branch_tip, lane_config, lane_state

THREADS = 2
TASKS = 2
PROCESSES = 1
AGENTS = THREADS + TASKS + PROCESSES * THREADS
"""One place in the counters for each."""

TURNS = 6
FRAMES = 8
KEPT = 4
"""Sessions that an agent keeps."""

PATIENCE = {"busy_timeout": 60.0}
"""Several writers of one SQLite file never pause here, and SQLite does not queue those who wait."""

FORKS = (ForkBranch("main"), ForkTree(include_application_state=True))
BEGINNING: list[Write[Any]] = [
    set_value(branch_tip("main"), None),
    set_value(lane_config("main"), {}),
    set_value(lane_state("main"), {}),
]

Count = Callable[[], None]
"""To be called after each commit."""


def open_store(url: str) -> SessionRepo:
    """The repository of the store under load."""
    return open_repository(url, **_options(url))


def _options(url: str) -> dict[str, Any]:
    return PATIENCE if url.startswith("sqlite") else {}


class Load:
    """The load on the store at ``url``. ``commits`` and ``failures`` may be read while it runs."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._context = get_context("spawn")
        self._counts: Any = self._context.Array("Q", AGENTS, lock=False)
        self._stop: Any = self._context.Event()
        self.failures: list[str] = []
        self._processes: list[Any] = []

    @property
    def commits(self) -> int:
        """The commits of all agents so far."""
        return sum(self._counts)

    @property
    def pids(self) -> list[int]:
        """The processes under load, this one first."""
        return [os.getpid(), *(process.pid for process in self._processes)]

    @contextmanager
    def running(self, repo: SessionRepo, *, with_processes: bool) -> Generator[None, None, None]:
        """Run the agents; at the end each finishes its session, and what failed is in ``failures``."""
        places = iter(range(AGENTS))
        counters = [_counter(self._counts, next(places)) for _ in range(THREADS + TASKS)]
        works = [partial(_work, repo, self._stop, done) for done in counters[:THREADS]]
        works.append(partial(_work_as_tasks, self._url, self._stop, counters[THREADS:]))
        agents = [threading.Thread(target=self._guarded, args=[work]) for work in works]
        if with_processes:
            arguments = [(self._url, self._stop, self._counts, [*islice(places, THREADS)])] * PROCESSES
            self._processes = [self._context.Process(target=_work_in_process, args=a) for a in arguments]
        for each in (*self._processes, *agents):
            each.start()
        try:
            yield
        finally:
            self._stop.set()
            for each in (*agents, *self._processes):
                each.join()
            codes = [process.exitcode for process in self._processes]
            self.failures += [f"a process ended with {code}" for code in codes if code]

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Exception:  # noqa: BLE001  # told at the end
            self.failures.append(traceback.format_exc())


def _counter(counts: Any, place: int) -> Count:
    def add() -> None:
        counts[place] += 1  # nobody else writes here

    return add


def _work(repo: SessionRepo, stop: Any, done: Count) -> None:
    kept: deque[str] = deque()
    for number in count():
        _one_session(repo, kept, number, done)
        if stop.is_set():
            return


def _one_session(repo: SessionRepo, kept: deque[str], number: int, done: Count) -> None:
    talk = Conversation()
    with repo.create(cwd="/work") as session:
        kept.append(session.metadata.id)
        session.commit(BEGINNING)
        done()
        for turn in range(TURNS):
            _stream(session, talk, turn, done)
    with repo.open(kept[-1]) as session:
        _read(session)
    with repo.fork(kept[-1], FORKS[number % 2]) as copy:
        _stream(copy, talk, TURNS, done)
        _read(copy)
    repo.delete(copy.metadata)
    assert kept[0] in {session.id for session in repo.list()}
    if len(kept) > KEPT:
        repo.delete(kept.popleft())


def _stream(session: Session, talk: Conversation, turn: int, done: Count) -> None:
    scope = ephemeral_scope(f"operation-{turn}")
    frames = value_list("app.frames", scope=scope)
    for _ in range(FRAMES):
        session.append_list(frames, FRAME)
        done()
    assert len(session.read_list(frames)) == FRAMES
    session.commit([*talk.turn(), retire_scope(scope)])
    done()


def _read(session: Session) -> None:
    main = session.branch("main")
    assert main is not None
    path = main.find_entries(limit=TURNS)
    assert len(path) == TURNS
    assert session.get_entry(path[0].id) is not None
    assert session.get_stats().message_count >= TURNS
    assert len(session.find_entries()) >= TURNS


def _work_as_tasks(url: str, stop: Any, counters: list[Count]) -> None:
    async def work() -> None:
        async with aio.open_repository(url, **_options(url)) as repo:
            await asyncio.gather(*(_work_as_task(repo, stop, done) for done in counters))

    asyncio.run(work())


async def _work_as_task(repo: aio.AsyncSessionRepo, stop: Any, done: Count) -> None:
    kept: deque[str] = deque()
    while not stop.is_set():
        talk = Conversation()
        async with repo.create(cwd="/work") as session:
            kept.append(session.metadata.id)
            await session.commit(BEGINNING)
            done()
            for turn in range(TURNS):
                scope = ephemeral_scope(f"operation-{turn}")
                frames = value_list("app.frames", scope=scope)
                for _ in range(FRAMES):
                    await session.append_list(frames, FRAME)
                    done()
                await session.commit([*talk.turn(), retire_scope(scope)])
                done()
            assert len(await session.find_entries()) == TURNS
        async with repo.fork(kept[-1], FORKS[0]) as copy:
            assert (await copy.get_stats()).message_count == TURNS
        await repo.delete(copy.metadata)
        if len(kept) > KEPT:
            await repo.delete(kept.popleft())


def _work_in_process(url: str, stop: Any, counts: Any, places: list[int]) -> None:
    failed = threading.Event()

    def work(place: int) -> None:
        kept: deque[str] = deque()
        try:
            for number in count():
                with open_store(url) as repo:  # anew for each session
                    _one_session(repo, kept, number, _counter(counts, place))
                if stop.is_set():
                    return
        except BaseException:  # noqa: BLE001  # the exit status tells
            traceback.print_exc()
            failed.set()

    agents = [threading.Thread(target=work, args=[place]) for place in places]
    for agent in agents:
        agent.start()
    for agent in agents:
        agent.join()
    if failed.is_set():
        raise SystemExit(1)
