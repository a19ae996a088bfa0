"""The sessions that this process has open, each at most once and until it shuts down."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from examples.server import lanes
from examples.server.model import ScriptedModel
from examples.server.operations import Operations
from sessionstore import SessionMutation
from sessionstore.aio import AsyncSession, AsyncSessionRepo

MAIN = "main"


class Chats:
    """Opens sessions when they are asked for.

    One process writes a session. Behind several of them, send all requests for one session to the
    same one (see the README of this folder).
    """

    def __init__(self, repository: AsyncSessionRepo, model: ScriptedModel) -> None:
        self.repository = repository
        self._model = model
        self._open: dict[str, asyncio.Task[Operations]] = {}

    @asynccontextmanager
    async def new(self, name: str | None) -> AsyncIterator[AsyncSession]:
        """A new session with a branch to talk on, open in the ``with`` block only.

        Its first request may go to another process.
        """
        async with self.repository.create() as session:

            def begin(mutation: SessionMutation) -> None:
                lanes.make_lane(mutation, MAIN, None)

            await session.mutate_sync(begin)
            if name is not None:
                await session.set_name(name)
            yield session

    async def get(self, id: str) -> Operations:
        """The session ``id``, opened unless it is. Raises ``SessionNotFoundError``."""
        opening = self._open.get(id)
        if opening is None:
            opening = self._open[id] = asyncio.create_task(self._opened(id))
        # Several requests may wait for it; one that is cancelled does not stop it.
        return await asyncio.shield(opening)

    async def _opened(self, id: str) -> Operations:
        try:
            return Operations(await self.repository.open(id), self._model)
        except BaseException:
            del self._open[id]
            raise

    async def delete(self, id: str) -> None:
        """Delete a session and everything in it."""
        chat = await self.get(id)
        await chat.stop()
        await chat.session.close()
        self._open.pop(id, None)
        await self.repository.delete(id)

    async def stop(self) -> None:
        """Stop all operations. What has not ended can be resumed by the next process."""
        opened = await asyncio.gather(*self._open.values(), return_exceptions=True)
        await asyncio.gather(*(chat.stop() for chat in opened if isinstance(chat, Operations)))

    async def shut_down(self) -> None:
        """Stop all operations and close everything."""
        await self.stop()
        await self.repository.close()
