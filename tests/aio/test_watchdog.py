"""The loop is never blocked: a watchdog looks at its thread while many sessions are written."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from aio.support import PLAN, STEPS, in_loop

import sessionstore
from sessionstore import append_list, set_value
from sessionstore.aio import AsyncSession, AsyncSessionMutation, AsyncSessionRepo, open_repository

SESSIONS = 24
ROUNDS = 6
LIBRARY = Path(sessionstore.__file__).parent

# What of the library may be executed in the thread of a loop: taking and leaving places in lines,
# handing over, and making addresses and writes. Nothing that reads, writes, encodes or waits.
ALLOWED_FILES = {
    "line.py",
    "session.py",
    "mutation.py",
    "address.py",
    "writes.py",
    "scope.py",
    "text.py",
    "metadata.py",
}
FORBIDDEN_FUNCTIONS = {"wait", "drain", "commit", "_close_once", "close_all"}


class Watchdog(threading.Thread):
    """Samples what the loop's thread executes, and how long a callback of it waits to be run."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(name="watchdog", daemon=True)
        self._loop = loop
        self._watched = threading.get_ident()
        self._over = threading.Event()
        self.samples = 0
        self.found: set[str] = set()

    def run(self) -> None:
        while not self._over.is_set():
            answered = threading.Event()
            self._loop.call_soon_threadsafe(answered.set)
            while not answered.wait(0.0005):
                self._look(sys._current_frames().get(self._watched))
            self.samples += 1

    def _look(self, frame: FrameType | None) -> None:
        while frame is not None:
            path, function = Path(frame.f_code.co_filename), frame.f_code.co_name
            if LIBRARY in path.parents and not self._allowed(path, function):
                self.found.add(f"{path.relative_to(LIBRARY)}: {function}")
            frame = frame.f_back

    @staticmethod
    def _allowed(path: Path, function: str) -> bool:
        if path.parent.name == "aio":
            return True
        return path.name in ALLOWED_FILES and function not in FORBIDDEN_FUNCTIONS

    def end(self) -> None:
        self._over.set()
        self.join()


@contextmanager
def watched() -> Iterator[Watchdog]:
    watchdog = Watchdog(asyncio.get_running_loop())
    watchdog.start()
    try:
        yield watchdog
    finally:
        # The loop has to answer until the watchdog has stopped asking.
        ending = threading.Thread(target=watchdog.end)
        ending.start()


async def _load(session: AsyncSession) -> None:
    branch = await session.create_branch("main")

    async def change(mutation: AsyncSessionMutation) -> None:
        found = await mutation.get_value(PLAN)
        await mutation.commit([set_value(PLAN, 1 if found is None else found.value + 1)])

    for number in range(ROUNDS):
        await branch.append_message({"role": "user", "content": "x" * 20_000})
        await asyncio.gather(
            session.mutate(change),
            session.append_list(STEPS, number),
            session.read_list(STEPS),
            session.find_entries(),
        )
        await session.storage.commit([append_list(STEPS, number)])
    await session.close()


@in_loop
async def test_the_loop_s_thread_never_works_or_waits_for_a_store(store_url: str) -> None:
    repo: AsyncSessionRepo = open_repository(store_url)
    with watched() as watchdog:
        sessions = await asyncio.gather(*(repo.create(id=f"s{n}") for n in range(SESSIONS)))
        await asyncio.gather(*map(_load, sessions))
        async with repo.open("s0") as again:
            assert len(await again.read_list(STEPS)) == 2 * ROUNDS
        await repo.close()
    while watchdog.is_alive():
        await asyncio.sleep(0.001)
    assert watchdog.samples > 10
    assert watchdog.found == set()


@in_loop
async def test_the_watchdog_sees_a_loop_that_works_for_a_store() -> None:
    repo = open_repository("memory://")
    session = await repo.create()
    with watched() as watchdog:
        while not watchdog.found:
            session._session.set_value(PLAN, ["x"] * 300_000)  # as no user can
            await asyncio.sleep(0)
    while watchdog.is_alive():
        await asyncio.sleep(0.001)
    await repo.close()
