"""The HTTP interface: sessions, branches, prompts and what comes of them as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import FileResponse, JSONResponse, StreamingResponse
from pydantic import BaseModel

from examples.server import lanes
from examples.server.chats import MAIN, Chats
from examples.server.lanes import LaneBusyError, LaneIdleError
from examples.server.model import ScriptedModel
from examples.server.operations import Operations
from sessionstore import (
    BranchExistsError,
    ForkBranch,
    ForkError,
    ForkTree,
    SessionAlreadyOpenError,
    SessionExistsError,
    SessionMetadata,
    SessionMutation,
    SessionStoreError,
    StorageBusyError,
)
from sessionstore.aio import AsyncSession, open_repository
from sessionstore.harness import branch_tip_inventory_prefix
from sessionstore.wire import entry_to_json, metadata_to_json, stats_to_json

PAGE = Path(__file__).with_name("page.html")

# What an error means to a client: the first kind that it is decides.
STATUS: tuple[tuple[type[Exception], int], ...] = (
    (LaneBusyError, 409),
    (LaneIdleError, 409),
    (BranchExistsError, 409),
    (SessionExistsError, 409),
    (SessionAlreadyOpenError, 409),
    (LookupError, 404),
    (ForkError, 409),
    (StorageBusyError, 503),
    (ValueError, 422),
    (SessionStoreError, 500),
)


class NewSession(BaseModel):
    """A session to create."""

    name: str | None = None


class NewBranch(BaseModel):
    """A branch to create, at an entry or at the root."""

    name: str
    at: str | None = None


class Prompt(BaseModel):
    """What the user says."""

    text: str


class ForkRequest(BaseModel):
    """What to fork: a branch, cut at an entry or not, or the whole tree."""

    tree: bool = False
    branch: str = MAIN
    entry_id: str | None = None
    position: Literal["at", "before"] = "at"


def create_app(store_url: str, pace: float = 0.03) -> FastAPI:
    """The server over the store of a URL; ``pace`` is how long the model takes for a frame, in s.

    The repository is opened when the server starts, so in a worker process and after any fork.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        chats = app.state.chats = Chats(open_repository(store_url), ScriptedModel(pace))
        try:
            yield
        finally:
            await chats.shut_down()

    app = FastAPI(title="sessionstore chat", lifespan=lifespan)
    for kind in (SessionStoreError, LaneBusyError, LaneIdleError):
        app.add_exception_handler(kind, _explain)
    _add_session_routes(app)
    _add_branch_routes(app)
    return app


async def _explain(_: Request, error: Exception) -> JSONResponse:
    status = next(status for kind, status in STATUS if isinstance(error, kind))
    return JSONResponse({"error": type(error).__name__, "detail": str(error)}, status)


def _chats(request: Request) -> Chats:
    chats: Chats = request.app.state.chats
    return chats


async def _chat(id: str, request: Request) -> Operations:
    return await _chats(request).get(id)


AllChats = Annotated[Chats, Depends(_chats)]
OneChat = Annotated[Operations, Depends(_chat)]


def _add_session_routes(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def page() -> FileResponse:
        return FileResponse(PAGE)

    @app.post("/sessions", status_code=201)
    async def create(new: NewSession, chats: AllChats) -> dict[str, Any]:
        async with chats.new(new.name) as session:
            return await _described(session)

    @app.get("/sessions")
    async def list_sessions(
        chats: AllChats, limit: Annotated[int, Query(ge=1, le=1000)] = 50, before: str | None = None
    ) -> dict[str, Any]:
        mark = None if before is None else _position(before, chats.repository.container)
        found = await chats.repository.list(limit=limit, before=mark)
        following = f"{found[-1].created_at}:{found[-1].id}" if len(found) == limit else None
        return {"sessions": [metadata_to_json(metadata) for metadata in found], "before": following}

    @app.get("/sessions/{id}")
    async def describe(chat: OneChat) -> dict[str, Any]:
        return await _described(chat.session)

    @app.get("/sessions/{id}/tree")
    async def tree(chat: OneChat) -> dict[str, Any]:
        entries = await chat.session.find_entries(order="asc")
        return {"entries": [_summary(entry_to_json(entry)) for entry in entries]}

    @app.post("/sessions/{id}/fork", status_code=201)
    async def fork(id: str, what: ForkRequest, chats: AllChats) -> dict[str, Any]:
        wanted: ForkBranch | ForkTree = ForkTree()
        if not what.tree:
            wanted = ForkBranch(what.branch, entry_id=what.entry_id, position=what.position)
        async with chats.repository.fork(id, wanted) as session:
            return await _described(session)

    @app.delete("/sessions/{id}", status_code=204)
    async def delete(id: str, chats: AllChats) -> None:
        await chats.delete(id)


def _add_branch_routes(app: FastAPI) -> None:
    @app.post("/sessions/{id}/branches", status_code=201)
    async def create(new: NewBranch, chat: OneChat) -> dict[str, Any]:
        def make(mutation: SessionMutation) -> None:
            lanes.make_lane(mutation, new.name, new.at)

        await chat.session.mutate_sync(make)
        return await _described(chat.session)

    @app.get("/sessions/{id}/branches/{branch}/messages")
    async def messages(
        branch: str,
        chat: OneChat,
        limit: Annotated[int, Query(ge=1, le=1000)] = 50,
        before: Annotated[int | None, Query(ge=1)] = None,
    ) -> dict[str, Any]:
        found = await chat.session.branch(branch)
        if found is None:
            raise HTTPException(404, f"no branch {branch!r}")
        entries = await found.find_entries(type="message", limit=limit, cursor=before)
        following = entries[-1].seq if len(entries) == limit else None
        return {"messages": [entry_to_json(entry) for entry in entries], "before": following}

    @app.post("/sessions/{id}/branches/{branch}/prompts", status_code=202)
    async def prompt(branch: str, said: Prompt, chat: OneChat) -> dict[str, Any]:
        return {"operationId": await chat.prompt(branch, said.text)}

    @app.post("/sessions/{id}/branches/{branch}/resume", status_code=202)
    async def resume(branch: str, chat: OneChat) -> dict[str, Any]:
        return {"operationId": await chat.resume(branch)}

    @app.post("/sessions/{id}/branches/{branch}/abort")
    async def abort(branch: str, chat: OneChat) -> dict[str, Any]:
        return {"operationId": await chat.abort(branch)}

    @app.get("/sessions/{id}/branches/{branch}/operation")
    async def operation(branch: str, chat: OneChat) -> dict[str, Any]:
        return await chat.look(branch)

    @app.get("/sessions/{id}/branches/{branch}/events")
    async def events(branch: str, chat: OneChat) -> StreamingResponse:
        # Looked at before the answer begins, so that an unknown branch is a 404.
        await chat.look(branch)

        async def stream() -> AsyncIterator[str]:
            async for event in chat.listen(branch):
                yield event.as_sse()

        return StreamingResponse(
            stream(), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )


async def _described(session: AsyncSession) -> dict[str, Any]:
    tips = await session.scan_values(branch_tip_inventory_prefix())
    return {
        **metadata_to_json(session.metadata),
        "name": await session.get_name(),
        "stats": stats_to_json(await session.get_stats()),
        "branches": [{"name": tip.address.key, "tipId": tip.value} for tip in tips],
    }


def _summary(entry: dict[str, Any]) -> dict[str, Any]:
    """What a tree shows of an entry."""
    message = entry.get("message") or {}
    return {
        "id": entry["id"],
        "parentId": entry["parentId"],
        "type": entry["type"],
        "role": message.get("role"),
        "text": str(message.get("content", ""))[:200],
    }


def _position(before: str, container: str) -> SessionMetadata:
    created_at, _, id = before.partition(":")
    if not created_at.isdecimal() or not id:
        raise HTTPException(422, "before is what an earlier page gave")
    return SessionMetadata(id=id, created_at=int(created_at), container=container)
