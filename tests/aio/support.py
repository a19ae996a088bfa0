"""What the tests of the async facade share: a loop for a test, and commits that stop in a worker."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import Future
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, ParamSpec, Self

from sessionstore import MemorySessionRepo, value, value_list
from sessionstore.aio import AsyncSession, AsyncSessionRepo

P = ParamSpec("P")

PATIENCE = 60.0
"""Seconds after which something that should happen counts as hanging."""

PLAN = value("app.plan")
STEPS = value_list("app.steps")


def in_loop(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Run an async test in a loop of its own, for at most PATIENCE."""

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        async def limited() -> None:
            async with asyncio.timeout(PATIENCE):
                await test(*args, **kwargs)

        asyncio.run(limited())

    return run


@asynccontextmanager
async def a_session(max_workers: int = 8) -> AsyncIterator[AsyncSession]:
    repo = AsyncSessionRepo(MemorySessionRepo(), max_workers=max_workers)
    async with repo, repo.create() as session:
        yield session


async def started(call: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
    """A task that has made its call: it runs until it waits for something."""
    task = asyncio.ensure_future(call)
    await asyncio.sleep(0)
    return task


async def turns_of_the_loop(count: int = 50) -> None:
    """Give the loop time for whatever it could do now."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(happened: Callable[[], bool]) -> None:
    """Wait for what threads do by themselves and soon."""
    async with asyncio.timeout(PATIENCE):
        while not happened():
            await asyncio.sleep(0.001)


class Gate:
    """Stops the first call of a sync function in its worker until it is opened."""

    def __init__(self, owner: object, name: str) -> None:
        self._reached: Future[None] = Future()
        self._open = threading.Event()
        self._owner = owner
        self._name = name
        self._original = getattr(owner, name)
        self._guard = threading.Lock()
        self.calls = 0

    def _stopping(self, *args: Any, **kwargs: Any) -> Any:
        with self._guard:
            self.calls += 1
            first = self.calls == 1
        if first:
            self._reached.set_result(None)
            assert self._open.wait(PATIENCE), "the gate was never opened"
        return self._original(*args, **kwargs)

    async def reached(self) -> None:
        await asyncio.shield(asyncio.wrap_future(self._reached))

    def open(self) -> None:
        self._open.set()

    def __enter__(self) -> Self:
        setattr(self._owner, self._name, self._stopping)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.open()
        setattr(self._owner, self._name, self._original)


def commits_of(session: AsyncSession) -> Gate:
    """Stops the next commit of ``session`` while it has its turn, right before it is applied."""
    return Gate(session._session.storage, "_apply")


async def plan_of(session: AsyncSession) -> Any:
    found = await session.get_value(PLAN)
    return None if found is None else found.value


async def steps_of(session: AsyncSession) -> list[Any]:
    return [element.value for element in await session.read_list(STEPS)]
