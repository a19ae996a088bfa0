"""A sync view over the async facade, so that what is written for sync stores exercises the facade.

The facade runs in a loop of its own thread. A thread that calls the view is one task there, always
the same, since who holds a mutation is a task; it waits for the call to end.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import CodeType, TracebackType
from typing import Any, Self, TypeVar

from sessionstore import SessionRepo
from sessionstore.aio import (
    AsyncBranch,
    AsyncSession,
    AsyncSessionMutation,
    AsyncSessionRepo,
    AsyncStorage,
    Opening,
)
from sessionstore.aio.workers import Workers, turn
from sessionstore.line import Line, Ticket, granted_ticket
from sessionstore.testing.threads import Worker

R = TypeVar("R")

Call = Callable[[], Awaitable[Any]]


class Loop:
    """A loop in a thread, and in it a task for each thread that calls."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._loop.run_forever, name="sync-view-loop")
        self._thread.start()
        self._calls: dict[threading.Thread, asyncio.Queue[tuple[Call, Future[Any]]]] = {}
        self._tasks: dict[threading.Thread, asyncio.Task[None]] = {}
        self._workers: dict[asyncio.Task[Any] | None, int] = {}

    def run(self, call: Callable[[], Awaitable[R]]) -> R:
        """Await ``call`` in the task of the calling thread."""
        if os.getpid() != self._pid:  # a child of a fork has no loop thread
            return asyncio.run(_awaited(call))
        outcome: Future[R] = Future()
        self._loop.call_soon_threadsafe(self._give, threading.current_thread(), call, outcome)
        return outcome.result()

    def _give(self, thread: threading.Thread, call: Call, outcome: Future[Any]) -> None:
        if thread not in self._tasks:
            self._calls[thread] = asyncio.Queue()
            self._tasks[thread] = self._loop.create_task(self._serve(self._calls[thread]))
        self._calls[thread].put_nowait((call, outcome))

    async def _serve(self, calls: asyncio.Queue[tuple[Call, Future[Any]]]) -> None:
        while True:
            call, outcome = await calls.get()
            try:
                result = await call()
            except Exception as error:  # noqa: BLE001  # raised in the calling thread
                outcome.set_exception(error)
            else:
                outcome.set_result(result)
                del result  # what the caller drops is dropped
            del call, outcome

    def note_worker(self, task: asyncio.Task[Any] | None, thread: int | None) -> None:
        """A call of ``task`` is being executed in this thread, or no longer in any."""
        if thread is None:
            self._workers.pop(task, None)
        else:
            self._workers[task] = thread

    def codes_for(self, thread: threading.Thread) -> list[CodeType]:
        """What is being executed on behalf of a thread: in its task, and in a worker.

        Waiting in the facade counts as the waiting of the sync call that it stands for.
        """
        task = self._tasks.get(thread)
        if task is None:
            return []
        codes = _codes_of_task(task)
        if turn.__code__ in codes:
            codes.append(Ticket.wait.__code__)
        if AsyncSession.close.__code__ in codes:
            codes.append(Line.drain.__code__)
        frame = sys._current_frames().get(self._workers.get(task, 0))
        while frame is not None:
            codes.append(frame.f_code)
            frame = frame.f_back
        return codes

    def close(self) -> None:
        """End the tasks and the loop."""
        asyncio.run_coroutine_threadsafe(self._end_tasks(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end_tasks(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


async def _awaited(call: Callable[[], Awaitable[R]]) -> R:
    return await call()


def _coroutine(call: Awaitable[R]) -> Awaitable[R]:
    # What stands between a coroutine and who awaits it would hide where the coroutine is.
    return call._opening if isinstance(call, Opening) else call


def _codes_of_task(task: asyncio.Task[Any]) -> list[CodeType]:
    codes: list[CodeType] = []
    awaited: Any = task.get_coro()
    while awaited is not None:
        code = getattr(awaited, "cr_code", None)
        if code is not None:
            codes.append(code)
        awaited = getattr(awaited, "cr_await", None)
    return codes


class _WatchedWorkers(Workers):
    """Notes in which thread the call of a task is executed."""

    def __init__(self, limit: int, loop: Loop) -> None:
        super().__init__(limit)
        self._loop = loop

    def _submit(self, call: Callable[[], R], executor: ThreadPoolExecutor) -> Future[R]:
        return super()._submit(self._noted(call), executor)

    async def run_apart(self, call: Callable[[], R]) -> R:
        return await super().run_apart(self._noted(call))

    def _noted(self, call: Callable[[], R]) -> Callable[[], R]:
        try:
            task = asyncio.current_task()
        except RuntimeError:  # handed over by a worker
            task = None

        def noted() -> R:
            self._loop.note_worker(task, threading.get_ident())
            try:
                return call()
            finally:
                self._loop.note_worker(task, None)

        return noted


class _Frame:
    """As much of a frame as is looked at: a code, and who called it."""

    def __init__(self, code: CodeType, back: Any) -> None:
        self.f_code = code
        self.f_back = back


@contextmanager
def sync_views(max_workers: int = 16) -> Iterator[Callable[[SessionRepo], Any]]:
    """Gives what puts a sync view over the async facade over a sync repository."""
    loop = Loop()
    own_frame = Worker._frame

    def frame(worker: Worker[Any]) -> Any:
        found: Any = own_frame(worker)
        for code in loop.codes_for(worker._thread):
            found = _Frame(code, found)
        return found

    def view(repository: SessionRepo) -> Any:
        facade = AsyncSessionRepo(repository, max_workers=max_workers)
        facade._workers = _WatchedWorkers(max_workers, loop)
        return RepoView(facade, loop)

    Worker._frame = frame  # type: ignore[method-assign]
    try:
        yield view
    finally:
        Worker._frame = own_frame  # type: ignore[method-assign]
        loop.close()


class View:
    """Calls the methods of an async object and waits for them; gives views of what they give."""

    _leave = "close"

    def __init__(self, target: Any, loop: Loop) -> None:
        self._target = target
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._target, name)
        if not callable(found):
            return _viewed(found, self._loop)

        def call(*args: Any, **kwargs: Any) -> Any:
            own = [_unwrapped(argument) for argument in args]
            named = {key: _unwrapped(argument) for key, argument in kwargs.items()}
            return _viewed(self._loop.run(lambda: _coroutine(found(*own, **named))), self._loop)

        return call

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        getattr(self, self._leave)()


class MutationView(View):
    """Of a mutation."""

    _leave = "end"


class SessionView(View):
    """Of a session."""

    def __getattr__(self, name: str) -> Any:
        sync = self._target._session
        if name == "take_ticket" or granted_ticket.get() is not None:
            return getattr(sync, name)  # tickets taken by hand belong to the sync session
        return super().__getattr__(name)

    def mutate(self, fn: Callable[[Any], R]) -> R:
        """The callback is sync code, so it runs in the calling thread."""
        with self.begin_mutation() as mutation:
            return fn(mutation)


class StorageView(View):
    """Of a storage; what a test changes of it, it changes of the sync storage."""

    @property
    def close(self) -> Callable[[], None]:
        """The sync one, which may be replaced by one that calls it."""
        return self._target._storage.close

    def __setattr__(self, name: str, value: object) -> None:
        owner = self if name in {"_target", "_loop"} else self._target._storage
        object.__setattr__(owner, name, value)


class RepoView(View):
    """Of a repository. What serves copies and checks is no part of the facade, but of the sync one."""

    def __getattr__(self, name: str) -> Any:
        if name in {"snapshot", "load", "check_session", "repair_session"}:
            return getattr(self._target._repository, name)
        return super().__getattr__(name)


VIEWS: dict[type[Any], type[View]] = {
    AsyncSessionRepo: RepoView,
    AsyncSession: SessionView,
    AsyncSessionMutation: MutationView,
    AsyncBranch: View,
    AsyncStorage: StorageView,
}


def _viewed(found: Any, loop: Loop) -> Any:
    view = VIEWS.get(type(found))
    return found if view is None else view(found, loop)


def _unwrapped(argument: Any) -> Any:
    return argument._target if isinstance(argument, View) else argument
