"""What Python users have today, doing the same work: only run when asked for with ``--against``.

Each peer keeps its own defaults. Their calls are awaited in a running loop, where they belong; the
store is called in the same loop, in turn with them.
"""

from __future__ import annotations

import asyncio
import gc
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from benchmarks.big import big_session, tip_of
from benchmarks.context import Context
from benchmarks.places import file_places
from benchmarks.timing import Sample
from benchmarks.work import MESSAGE, USAGE, Conversation
from sessionstore import Session, SessionRepo, open_repository


class Peer(ABC):
    """A store of conversations as its users use it, on a SQLite file."""

    name: ClassVar[str]

    @abstractmethod
    async def start(self, path: Path, history: int) -> None:
        """Open it, with one session of ``history`` messages."""

    @abstractmethod
    async def turn(self) -> object:
        """Append one message, with its usage where there is a place for that."""

    @abstractmethod
    async def newest(self) -> object:
        """Read the newest 50 messages, or as few as it can."""

    @abstractmethod
    async def create(self) -> object:
        """Make a session and write its first message: some make it by that."""

    @abstractmethod
    async def delete(self) -> object:
        """Delete the session that was made last."""

    @abstractmethod
    async def stop(self) -> None:
        """Close it."""


class _OpenAi(Peer):
    def __init__(self) -> None:
        self._made = 0
        self._last: Any = None

    async def turn(self) -> object:
        return await self._session.add_items([MESSAGE])

    async def newest(self) -> object:
        return await self._session.get_items(limit=50)

    async def create(self) -> object:
        self._made += 1
        self._last = self._open(f"session-{self._made}")
        return await self._last.add_items([MESSAGE])

    async def delete(self) -> object:
        return await self._last.clear_session()

    async def start(self, path: Path, history: int) -> None:
        self._path = path
        self._session = self._open("session-0")
        for done in range(0, history, 1000):
            await self._session.add_items([MESSAGE] * min(1000, history - done))
        await self._session.get_items(limit=1)

    @abstractmethod
    def _open(self, id: str) -> Any: ...


class OpenAiSqlAlchemy(_OpenAi):
    """``SQLAlchemySession`` of openai-agents, over aiosqlite."""

    name = "openai-agents SQLAlchemySession"

    async def start(self, path: Path, history: int) -> None:
        from sqlalchemy.ext.asyncio import create_async_engine

        self._engine = create_async_engine(f"sqlite+aiosqlite:///{path}")
        await super().start(path, history)

    def _open(self, id: str) -> Any:
        from agents.extensions.memory import SQLAlchemySession

        return SQLAlchemySession(id, engine=self._engine, create_tables=True)

    async def stop(self) -> None:
        await self._engine.dispose()


class OpenAiSqlite(_OpenAi):
    """``SQLiteSession`` of openai-agents."""

    name = "openai-agents SQLiteSession"

    def _open(self, id: str) -> Any:
        from agents import SQLiteSession

        return SQLiteSession(id, self._path)

    async def stop(self) -> None:
        self._session.close()


class GoogleAdk(Peer):
    """``DatabaseSessionService`` of google-adk, over aiosqlite."""

    name = "google-adk DatabaseSessionService"

    async def start(self, path: Path, history: int) -> None:
        from google.adk.sessions import DatabaseSessionService

        self._service = DatabaseSessionService(f"sqlite+aiosqlite:///{path}")
        self._session = await self._service.create_session(app_name="app", user_id="user", session_id="s")
        self._last: Any = None
        if history:
            await self.turn()
            _multiply_events(path, history)
            self._session = await self._get(history)

    async def turn(self) -> object:
        return await self._service.append_event(self._session, _event())

    async def newest(self) -> object:
        return await self._get(50)

    async def _get(self, events: int) -> Any:
        from google.adk.sessions.base_session_service import GetSessionConfig

        return await self._service.get_session(
            app_name="app", user_id="user", session_id="s", config=GetSessionConfig(num_recent_events=events)
        )

    async def create(self) -> object:
        self._last = await self._service.create_session(app_name="app", user_id="user")
        return await self._service.append_event(self._last, _event())

    async def delete(self) -> object:
        return await self._service.delete_session(app_name="app", user_id="user", session_id=self._last.id)

    async def stop(self) -> None:
        await self._service.close()


def _event() -> Any:
    from google.adk.events import Event
    from google.genai.types import Content, GenerateContentResponseUsageMetadata, Part

    return Event(
        author="agent",
        invocation_id="invocation",
        content=Content(role="model", parts=[Part(text=MESSAGE["content"][0]["text"])]),
        usage_metadata=GenerateContentResponseUsageMetadata(
            prompt_token_count=USAGE["input"],
            candidates_token_count=USAGE["output"],
            total_token_count=USAGE["totalTokens"],
        ),
    )


def _multiply_events(path: Path, count: int) -> None:
    """Give the session ``count`` events like its first one, without waiting for as many calls."""
    raw = sqlite3.connect(path)
    columns = [name for _, name, *_ in raw.execute("PRAGMA table_info(events)")]
    chosen = ", ".join("id || '-' || number" if name == "id" else f'"{name}"' for name in columns)
    raw.execute(
        "WITH RECURSIVE numbers(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers LIMIT ?) "
        f"INSERT INTO events SELECT {chosen} FROM numbers, (SELECT * FROM events LIMIT 1)",
        (count,),
    )
    raw.commit()
    raw.close()


class LangGraph(Peer):
    """``SqliteSaver`` of langgraph: a checkpoint holds the whole state, so all messages so far."""

    name = "langgraph SqliteSaver"

    async def start(self, path: Path, history: int) -> None:
        from langgraph.checkpoint.sqlite import SqliteSaver

        self._connection = sqlite3.connect(path, check_same_thread=False)
        self._saver = SqliteSaver(self._connection)
        self._saver.setup()
        self._messages: list[Any] = [MESSAGE] * history
        self._made = 0
        self._config = self._put({"configurable": {"thread_id": "thread-0", "checkpoint_ns": ""}})

    def _put(self, config: Any) -> Any:
        from langgraph.checkpoint.base import empty_checkpoint

        state = {"messages": self._messages, "usage": USAGE}
        checkpoint = {**empty_checkpoint(), "channel_values": state}
        return self._saver.put(config, checkpoint, {"source": "loop", "step": 1}, {})  # type: ignore[arg-type]  # a plain dict of its fields

    async def turn(self) -> object:
        self._messages.append(MESSAGE)
        self._config = self._put(self._config)
        return self._config

    async def newest(self) -> object:
        return self._saver.get_tuple({"configurable": {"thread_id": "thread-0", "checkpoint_ns": ""}})

    async def create(self) -> object:
        self._made += 1
        messages, self._messages = self._messages, [MESSAGE]
        try:
            return self._put({"configurable": {"thread_id": f"thread-{self._made}", "checkpoint_ns": ""}})
        finally:
            self._messages = messages

    async def delete(self) -> object:
        return self._saver.delete_thread(f"thread-{self._made}")

    async def stop(self) -> None:
        self._connection.close()


PEERS: dict[str, tuple[type[Peer], ...]] = {
    "openai-agents": (OpenAiSqlAlchemy, OpenAiSqlite),
    "google-adk": (GoogleAdk,),
    "langgraph": (LangGraph,),
}
"""By the names of ``--against``."""

AIMS = {OpenAiSqlAlchemy: "0.09", OpenAiSqlite: "0.8", GoogleAdk: "0.07"}


def run(context: Context) -> None:
    """The peers that were asked for, beside the store on SQLite with ``synchronous=FULL``."""
    if any(place.name == "sqlite" for place in file_places(context)):
        for asked in context.against:
            for peer in PEERS.get(asked, ()):
                _beside(context, peer)


def _beside(context: Context, kind: type[Peer]) -> None:
    times = context.times(f"SQLite beside {kind.name}")
    for history in (0, 1000) if context.quick else (0, 1000, 100_000):
        with context.folder() as folder:
            asyncio.run(_compare(context, kind, folder, history, times.add))
    context.show(times)


async def _compare(
    context: Context, kind: type[Peer], folder: Path, history: int, add: Callable[..., None]
) -> None:
    peer = kind()
    await peer.start(folder / "peer.db", history)
    try:
        with open_repository(folder / "ours.db") as repo:
            ours = _Ours(repo, history)
            where = f"{history:,} messages before"
            rounds = context.rounds(200, 40)
            for name, one, other in (
                ("one turn", ours.turn, peer.turn),
                ("newest 50", ours.newest, peer.newest),
                ("new session, first turn", ours.create, peer.create),
                ("delete a session", ours.delete, peer.delete),
            ):
                if history and name not in ("one turn", "newest 50"):
                    continue
                if name.startswith("delete"):
                    first, second = await _in_turn(one, other, 10, ours.create, peer.create)
                else:
                    first, second = await _in_turn(one, other, rounds)
                aim = AIMS.get(kind, "") if name == "one turn" else ""
                add(f"{name}, {where}", first, kind.name, second, aim=aim)
            ours.close()
    finally:
        await peer.stop()


class _Ours:
    def __init__(self, repo: SessionRepo, history: int) -> None:
        self._repo = repo
        metadata = big_session(repo, history)
        self._session = repo.open(metadata)
        self._talk = Conversation(tip_of(history) if history else None)
        if not history:
            self._session.commit(self._talk.turn())
        self._last: Session | None = None

    def turn(self) -> object:
        return self._session.commit(self._talk.turn())

    def newest(self) -> object:
        return self._session.scan_branch(self._talk.tip or "", limit=50)

    def create(self) -> object:
        with self._repo.create() as self._last:
            return self._last.commit(Conversation().turn())

    def delete(self) -> object:
        assert self._last is not None
        return self._repo.delete(self._last.metadata)

    def close(self) -> None:
        self._session.close()


async def _in_turn(
    ours: Callable[[], object],
    peer: Callable[[], Awaitable[object]],
    rounds: int,
    before_ours: Callable[[], object] = lambda: None,
    before_peer: Callable[[], Awaitable[object]] | None = None,
) -> tuple[Sample, Sample]:
    first: list[float] = []
    second: list[float] = []
    gc.collect()
    for number in range(rounds + 5):
        before_ours()
        start = perf_counter()
        ours()
        middle = perf_counter()
        if before_peer is not None:
            await before_peer()
        again = perf_counter()
        await peer()
        end = perf_counter()
        if number >= 5:
            first.append(middle - start)
            second.append(end - again)
    return Sample(first), Sample(second)
