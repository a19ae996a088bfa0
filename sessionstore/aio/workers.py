"""How a call of the event loop gets to a thread and back: one hand-over each way.

The loop itself never blocks here. Waiting for a turn, for earlier calls or for a worker parks no
thread: whoever makes it happen calls back, and the callback wakes the loop.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import Any, Final, TypeVar

from sessionstore.line import Ticket, current_owner, granted_ticket

R = TypeVar("R")

DEFAULT_WORKERS: Final = 16
"""How many calls of one repository run at the same time, unless told otherwise."""

_log = logging.getLogger("sessionstore")


class Workers:
    """The threads of one repository: made when calls need them, at most ``limit``.

    May be used from several loops, one after the other or at the same time.
    """

    def __init__(self, limit: int) -> None:
        self._executor = ThreadPoolExecutor(limit, thread_name_prefix="sessionstore")
        self._urgent = ThreadPoolExecutor(limit, thread_name_prefix="sessionstore_urgent")
        self._pid = os.getpid()
        self._guard = threading.Lock()
        self._shut = False
        self._unfinished: dict[Future[None], str | None] = {}

    @property
    def usable(self) -> bool:
        """Whether there are threads: not after :meth:`shut_down`, nor in a child of ``os.fork()``."""
        return not self._shut and os.getpid() == self._pid

    async def run(
        self,
        call: Callable[[], R],
        ticket: Ticket | None = None,
        *,
        urgent: bool = False,
        id: str | None = None,
        undo: Callable[[R], object] | None = None,
    ) -> R:
        """Run ``call`` in a worker and wait for its outcome; see :meth:`start`.

        A call that is cancelled before a worker has taken it does not happen; one that a worker
        has taken runs to its end all the same. Then ``undo`` is given what it made, because nobody
        else will use it, and until that is done :meth:`finished` waits for it under ``id``.
        """
        future = self.start(call, ticket, urgent=urgent)
        try:
            return await outcome_of(future)
        except asyncio.CancelledError:
            future.cancel()  # in vain once a worker has it
            if id is not None or undo is not None:
                self.leave(id, future, undo)
            raise
        finally:
            del future  # an error holds this frame, which must not hold the error

    def start(
        self, call: Callable[[], R], ticket: Ticket | None = None, *, urgent: bool = False
    ) -> Future[R]:
        """Hand ``call`` over, in the context of the running task.

        ``ticket`` is a turn that has come, for the mutation or commit that ``call`` makes. It ends
        with the call unless that has taken it. An ``urgent`` call is one that calls which already
        have a worker may be waiting for: it does not queue for one of the same.
        """
        future = self._submit(_in_context(ticket, call), self._urgent if urgent else self._executor)
        if ticket is not None:
            future.add_done_callback(partial(_release_if_cancelled, ticket))
        return future

    def _submit(self, call: Callable[[], R], executor: ThreadPoolExecutor) -> Future[R]:
        if self.usable:
            with self._guard:
                if not self._shut:
                    return executor.submit(call)
        # What is called is closed, or came through a fork: it refuses at once, without any I/O.
        future: Future[R] = Future()
        _settle(future, call)
        return future

    def leave(self, id: str | None, future: Future[R], undo: Callable[[R], object] | None = None) -> None:
        """Let ``future`` end by itself; calls about ``id`` come after it."""
        over: Future[None] = Future()
        self._unfinished[over] = id

        def finish(_: object = None) -> None:
            self._unfinished.pop(over, None)
            over.set_result(None)

        def ended(done: Future[R]) -> None:
            if undo is None or done.cancelled() or done.exception() is not None:
                finish()
            else:
                undoing = self._submit(partial(_undo, undo, done.result()), self._executor)
                undoing.add_done_callback(finish)

        future.add_done_callback(ended)

    async def finished(self, id: str) -> None:
        """Wait for what cancelled calls about ``id`` left to be done."""
        for over, about in list(self._unfinished.items()):
            if about == id:
                await called_back(over.add_done_callback)

    def finish(self) -> None:
        """Wait for everything that cancelled calls left to be done. Blocks; not for a worker."""
        for over in list(self._unfinished):
            over.result()

    async def run_apart(self, call: Callable[[], R]) -> R:
        """Run ``call`` as :meth:`run` does, in a thread of its own.

        For what waits until calls in the workers have ended.
        """
        future: Future[R] = Future()
        job = _in_context(None, call)
        threading.Thread(target=_settle, args=(future, job), name="sessionstore-close").start()
        return await outcome_of(future)

    def shut_down(self) -> None:
        """Let the calls that are queued end, then the threads. Blocks; may be called again."""
        with self._guard:
            self._shut = True
        self._executor.shutdown()
        self._urgent.shutdown()


def run_here(call: Callable[[], R]) -> R:
    """Run a sync call that never blocks on behalf of the running task."""
    return _in_context(None, call)()


async def turn(ticket: Ticket) -> None:
    """Wait for ``ticket``'s turn; a cancelled waiter leaves the line.

    Raises ``SessionClosedError`` when the session closes first.
    """
    try:
        if not ticket.settled:
            await called_back(ticket.on_settled, ticket.release)
        ticket.check()
    except BaseException:
        ticket.release()
        raise


async def outcome_of(future: Future[R]) -> R:
    """Wait for ``future``, which goes on when this is cancelled.

    ``asyncio.wrap_future`` would keep it, and so a turn that nobody uses any more, in a cycle.
    """
    try:
        if not future.done():
            await called_back(future.add_done_callback)
        return future.result()
    finally:
        del future  # an error holds this frame, which must not hold the error


async def called_back(
    register: Callable[[Callable[..., object]], bool | None],
    give_up: Callable[[], object] | None = None,
) -> None:
    """Wait until the callback that ``register`` takes is called, in whatever thread.

    Returns at once when ``register`` says False: nothing is going to call. When the loop has been
    closed by then, with the waiting task in it, ``give_up`` is called instead.
    """
    waiter = asyncio.get_running_loop().create_future()

    def wake() -> None:
        if not waiter.done():
            waiter.set_result(None)

    if register(calling_in_loop(wake, give_up)) is not False:
        await waiter


def calling_in_loop(
    callback: Callable[[], object], give_up: Callable[[], object] | None = None
) -> Callable[..., None]:
    """What calls ``callback`` in the running loop from any thread, or ``give_up`` once it is closed."""
    loop = asyncio.get_running_loop()

    def call(*_: object) -> None:
        try:
            loop.call_soon_threadsafe(callback)
        except RuntimeError:
            if give_up is not None:
                give_up()

    return call


def _in_context(ticket: Ticket | None, call: Callable[[], R]) -> Callable[[], R]:
    owner = asyncio.current_task() if ticket is None else ticket.owner
    job = partial(_on_behalf_of, owner, ticket, call)
    return partial(copy_context().run, job)


def _on_behalf_of(owner: Hashable | None, ticket: Ticket | None, call: Callable[[], R]) -> R:
    current_owner.set(owner)
    granted_ticket.set(ticket)
    try:
        return call()
    finally:
        # Whoever takes the turn resets the variable and ends it; nobody has if this is still set.
        if ticket is not None and granted_ticket.get() is not None:
            ticket.release()


def _release_if_cancelled(ticket: Ticket, future: Future[Any]) -> None:
    if future.cancelled():
        ticket.release()


def _undo(undo: Callable[[R], object], made: R) -> None:
    try:
        undo(made)
    except Exception:  # noqa: BLE001  # nobody is left to be told; whoever comes next finds out
        _log.exception("what a cancelled call made could not be undone")


def _settle(future: Future[R], call: Callable[[], R]) -> None:
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001  # it belongs to whoever awaits, as in any executor
        future.set_exception(error)
    else:
        future.set_result(result)
