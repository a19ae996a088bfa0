"""The order in which the calls of one session are admitted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from sessionstore.aio.workers import Workers, called_back, turn
from sessionstore.line import Line, Ticket
from sessionstore.mutation import SessionMutation
from sessionstore.session import Session
from sessionstore.storage import StorageBase

R = TypeVar("R")
P = ParamSpec("P")


class Admission:
    """Lets the calls of one session go to the workers in the order in which they were made.

    A write takes its place on the mutation line when it is called, and waits there. A read goes
    after the writes that were called before it. Reads wait for nobody else: not for other reads,
    and not for a mutation that a task holds open or for what waits behind one, since its holder
    may need the read to get on. A write never waits for a read.
    """

    def __init__(self, session: Session, workers: Workers) -> None:
        self._session = session
        self._workers = workers
        storage = session.storage
        # Commits on the storage itself work below the mutation line, on the commit line.
        self._below = storage.line if isinstance(storage, StorageBase) else Line("the storage")

    async def read(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a sync read after the writes that were called before."""
        if not self._session.idle:
            await called_back(self._session.on_passed)
        # A sealed commit line is that of a store which is being closed and refuses reads.
        if not self._below.idle and not self._below.sealed:
            await called_back(self._below.on_passed)
        return await self._workers.run(partial(call, *args, **kwargs))

    async def write(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a sync call that makes one mutation of the session."""
        return await self._once_granted(self._take_ticket(), partial(call, *args, **kwargs))

    def enqueue(self, call: Callable[[], R]) -> asyncio.Task[R]:
        """The same, in a task of its own, with its place in line taken now."""
        ticket = self._take_ticket()
        begun = False

        async def work() -> R:
            nonlocal begun
            begun = True
            return await self._once_granted(ticket, call)

        def leave_unless_begun(_: object) -> None:
            # Cancelled before its first step, a task never comes to leave the line by itself.
            if not begun:
                ticket.release()

        task = asyncio.create_task(work())
        task.add_done_callback(leave_unless_begun)
        return task

    def _take_ticket(self, *, open_ended: bool = False) -> Ticket:
        # Not the task's own: one that was cancelled while a worker goes on may call again.
        owner = object()
        return self._session.take_ticket(owner, asker=asyncio.current_task(), open_ended=open_ended)

    async def _once_granted(self, ticket: Ticket, call: Callable[[], R], *, urgent: bool = False) -> R:
        await turn(ticket)
        return await self._workers.run(call, ticket, urgent=urgent)

    async def begin(self) -> tuple[SessionMutation, Ticket]:
        """A mutation that the running task holds open, and its turn."""
        ticket = self._take_ticket(open_ended=True)
        await turn(ticket)
        mutation = await self._workers.run(self._session.begin_mutation, ticket, undo=SessionMutation.end)
        ticket.pass_to(asyncio.current_task())
        return mutation, ticket

    async def close_below(self, close: Callable[[], None]) -> None:
        """Close the session's storage, which seals it at once."""
        await self._workers.run(close)

    async def write_below(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a sync commit on the session's storage."""
        ticket = self._below.enqueue()
        # Urgent: commits that wait behind this one may occupy every worker.
        return await self._once_granted(ticket, partial(call, *args, **kwargs), urgent=True)
