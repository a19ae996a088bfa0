"""What happens in an operation, told to everybody who listens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple


class Event(NamedTuple):
    """One event: ``seq`` is the number of the commit's last write, which orders and resumes streams."""

    kind: str
    seq: int
    data: dict[str, Any]

    def as_sse(self) -> str:
        """The event as server-sent events have it."""
        return f"id: {self.seq}\nevent: {self.kind}\ndata: {json.dumps(self.data)}\n\n"


class Feed:
    """Passes events on. Whoever does not keep up only uses memory: nobody waits for a listener."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[Event | None]] = set()

    def publish(self, event: Event) -> None:
        """Tell all who listen."""
        for queue in self._listeners:
            queue.put_nowait(event)

    def end(self) -> None:
        """Tell all who listen that nothing follows."""
        for queue in self._listeners:
            queue.put_nowait(None)

    @contextmanager
    def listening(self) -> Iterator[AsyncIterator[Event]]:
        """Everything from now on, until :meth:`end`."""
        queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield _events(queue)
        finally:
            self._listeners.discard(queue)


async def _events(queue: asyncio.Queue[Event | None]) -> AsyncIterator[Event]:
    while True:
        event = await queue.get()
        if event is None:
            return
        yield event
