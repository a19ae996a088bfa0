"""The order in which the calls of one session are admitted."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

from sessionstore.aio.workers import Workers, called_back, turn
from sessionstore.line import Line, Ticket
from sessionstore.session import Session, SessionMutation

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
        # Commits on the storage work below the mutation line. This is their own order.
        self._below = Line(f"session {session.metadata.id!r}")

    async def read(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a sync read after the writes that were called before."""
        if not self._session.idle:
            await called_back(self._session.on_passed)
        if not self._below.idle:
            await called_back(self._below.on_passed)
        return await self._workers.run(partial(call, *args, **kwargs))

    async def write(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a sync call that makes one mutation of the session."""
        return await self._once_granted(self._take_ticket(), partial(call, *args, **kwargs))

    def enqueue(self, call: Callable[[], R]) -> asyncio.Task[R]:
        """The same, in a task of its own, with its place in line taken now."""
        return asyncio.create_task(self._once_granted(self._take_ticket(), call))

    def _take_ticket(self) -> Ticket:
        return self._session.take_ticket(asyncio.current_task())

    async def _once_granted(self, ticket: Ticket, call: Callable[[], R]) -> R:
        await turn(ticket)
        return await self._workers.run(call, ticket)

    async def begin(self) -> SessionMutation:
        """A mutation that its caller holds open."""
        ticket = self._session.take_ticket(asyncio.current_task(), open_ended=True)
        await turn(ticket)
        return await self._workers.run(self._session.begin_mutation, ticket, undo=SessionMutation.end)

    async def write_below(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a sync commit on the session's storage."""
        return await self._once_granted(self._below.enqueue(), partial(call, *args, **kwargs))
