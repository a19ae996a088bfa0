"""What a client of the example server can do."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from example.process import Listener, ServerProcess, lane
from example.test_crash import scoped_records

from examples.server.app import create_app
from sessionstore import open_repository

pytestmark = pytest.mark.slow

FRAMES = 3000


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/chat.db"


@pytest.fixture
def server(url: str) -> Iterator[ServerProcess]:
    with ServerProcess(url) as server:
        yield server


def contents(messages: list[dict[str, Any]]) -> list[str]:
    return [message["message"]["content"] for message in messages]


def test_an_answer_is_streamed_and_becomes_a_message(server: ServerProcess) -> None:
    session = server.new_session()
    operation = server.prompt(session, "good morning")
    server.wait_for_end(session)
    assert contents(server.messages(session)) == ["good morning", "You said: good morning"]
    about = server.get(f"/sessions/{session}")
    assert about["stats"]["messageCount"] == 2
    usage = about["stats"]["usage"]
    assert (usage["input"], usage["output"], usage["totalTokens"]) == (2, 4, 6)
    assert usage["cost"]["total"] == pytest.approx(6e-6)
    assert server.get(f"{lane(session)}/operation")["operationId"] is None
    assert operation


def test_listeners_who_come_late_miss_nothing(url: str) -> None:
    with ServerProcess(url, pace_ms=2) as server:
        session = server.new_session()
        server.prompt(session, "count 200")
        listeners = []
        for number in range(4):
            listener = Listener(server, session)
            listener.wait(lambda events, n=number: len(events) > 1 + 5 * n)
            listeners.append(listener)
        for listener in listeners:
            listener.join()
            kinds = [event.kind for event in listener.events]
            assert kinds[0] == "snapshot"
            assert kinds[-2:] == ["entry", "end"]
            first, *frames = listener.events[:-2]
            counts = [event.data["count"] for event in frames]
            assert counts == list(range(first.data["count"] + 1, 201))


def test_a_branch_continues_from_an_earlier_entry(server: ServerProcess) -> None:
    session = server.new_session()
    server.prompt(session, "one")
    server.wait_for_end(session)
    first_answer = server.messages(session)[-1]["id"]
    server.prompt(session, "two")
    server.wait_for_end(session)
    made = server.post(f"/sessions/{session}/branches", {"name": "other", "at": first_answer})
    assert [branch["name"] for branch in made["branches"]] == ["main", "other"]
    server.prompt(session, "three", "other")
    server.wait_for_end(session, "other")
    assert contents(server.messages(session, "other")) == ["one", "You said: one", "three", "You said: three"]
    assert contents(server.messages(session))[2:] == ["two", "You said: two"]
    tree = server.get(f"/sessions/{session}/tree")["entries"]
    assert sum(entry["parentId"] == first_answer for entry in tree) == 2


def test_messages_are_paged_from_the_newest_on(server: ServerProcess) -> None:
    session = server.new_session()
    for number in range(3):
        server.prompt(session, f"m{number}")
        server.wait_for_end(session)
    pages = []
    before: dict[str, Any] = {}
    while True:
        page = server.get(f"{lane(session)}/messages", limit=4, **before)
        pages.append(contents(page["messages"]))
        if page["before"] is None:
            break
        before = {"before": page["before"]}
    assert pages == [
        ["You said: m2", "m2", "You said: m1", "m1"],
        ["You said: m0", "m0"],
    ]


def test_forks_of_a_branch_and_of_the_tree(server: ServerProcess) -> None:
    session = server.new_session()
    server.prompt(session, "one")
    server.wait_for_end(session)
    server.prompt(session, "two")
    server.wait_for_end(session)
    answer = server.messages(session)[1]["id"]
    cut = server.post(f"/sessions/{session}/fork", {"entry_id": answer})
    whole = server.post(f"/sessions/{session}/fork", {"tree": True})
    assert contents(server.messages(cut["id"])) == ["one", "You said: one"]
    assert len(server.messages(whole["id"])) == 4
    assert cut["parentSessionId"] == whole["parentSessionId"] == session
    server.prompt(cut["id"], "three")
    server.wait_for_end(cut["id"])
    assert len(server.messages(cut["id"])) == 4


def test_an_aborted_operation_leaves_no_scope_whatever_its_writer_does(
    server: ServerProcess, url: str
) -> None:
    session = server.new_session()
    server.prompt(session, f"count {FRAMES}")
    listener = Listener(server, session)
    listener.wait(lambda events: len(events) > 20)
    server.post(f"{lane(session)}/abort")
    # The next one begins while the writer of the first may still be at it.
    server.prompt(session, "next")
    server.wait_for_end(session)
    listener.join()
    assert listener.events[-1].kind == "end"
    assert listener.events[-1].data["outcome"] == "aborted"
    assert contents(server.messages(session)) == [
        f"count {FRAMES}",
        "next",
        "You said: next",
    ]
    server.stop()
    with open_repository(url) as repo:
        assert scoped_records(session, repo) == []


def test_a_shutdown_interrupts_and_the_next_process_resumes(url: str) -> None:
    with ServerProcess(url, pace_ms=5) as server:
        session = server.new_session()
        server.prompt(session, "count 300")
        listener = Listener(server, session)
        listener.wait(lambda events: len(events) > 20)
        server.stop()
    with ServerProcess(url) as server:
        shown = server.get(f"{lane(session)}/operation")
        assert not shown["running"]
        assert shown["text"].startswith(listener.text)
        server.post(f"{lane(session)}/resume")
        server.wait_for_end(session)
        assert contents(server.messages(session))[1] == "".join(f"{n} " for n in range(1, 301))


def test_errors_are_told_by_their_status(server: ServerProcess) -> None:
    session = server.new_session()
    client = server.client
    assert client.get("/sessions/unknown").status_code == 404
    assert client.get(f"{lane(session, 'unknown')}/events").status_code == 404
    assert client.get(f"{lane(session, 'unknown')}/messages").status_code == 404
    assert client.post(f"/sessions/{session}/branches", json={"name": "main"}).status_code == 409
    assert client.post(f"/sessions/{session}/branches", json={"name": ""}).status_code == 422
    unknown = {"name": "b", "at": "unknown"}
    assert client.post(f"/sessions/{session}/branches", json=unknown).status_code == 404
    assert client.post(f"{lane(session)}/resume").status_code == 409
    assert client.post(f"{lane(session)}/abort").status_code == 409
    assert client.post(f"/sessions/{session}/fork", json={"branch": "unknown"}).status_code == 404
    assert client.get("/sessions", params={"before": "nonsense"}).status_code == 422
    told = client.get("/sessions/unknown").json()
    assert told["error"] == "SessionNotFoundError"


def test_a_deleted_session_is_gone(server: ServerProcess) -> None:
    session = server.new_session()
    server.prompt(session, f"count {FRAMES}")
    assert server.client.delete(f"/sessions/{session}").status_code == 204
    assert server.client.get(f"/sessions/{session}").status_code == 404
    assert server.get("/sessions")["sessions"] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no os.fork()")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")  # that is the point
def test_workers_that_are_forked_after_the_app_was_made_open_their_own_repository(tmp_path: Path) -> None:
    urls = [f"sqlite:///{tmp_path}/{name}.db" for name in ("first", "second")]
    apps = [create_app(url) for url in urls]  # in the parent, as a server that loads the app first does

    async def use(app: Any) -> None:
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://worker") as client,
        ):
            made = await client.post("/sessions", json={})
            assert made.status_code == 201
            listed = await client.get("/sessions")
            assert [found["id"] for found in listed.json()["sessions"]] == [made.json()["id"]]

    children = []
    for app in apps:
        child = os.fork()
        if child == 0:
            try:
                anyio.run(use, app)
            except BaseException:  # noqa: BLE001  # the exit code tells
                traceback.print_exc()
                os._exit(1)
            os._exit(0)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert codes == [0, 0]


def test_several_processes_share_a_store_when_each_session_has_one_owner(url: str) -> None:
    with ServerProcess(url, pace_ms=2) as first, ServerProcess(url, pace_ms=2) as second:
        sessions = [first.new_session() for _ in range(4)]
        owners = dict(zip(sessions, [first, second, first, second], strict=True))
        listeners = []
        for session, owner in owners.items():
            owner.prompt(session, "count 150")
            listeners.append(Listener(owner, session))
        for listener in listeners:
            listener.wait(lambda events: len(events) > 10)
        # Lists and forks need no owner, while others write.
        for server, session in zip((first, second), reversed(sessions), strict=False):
            assert {found["id"] for found in server.get("/sessions")["sessions"]} >= set(sessions)
            assert owners[session] is not server
            fork = server.post(f"/sessions/{session}/fork", {"branch": "main"})["id"]
            assert contents(server.messages(fork))[0] == "count 150"
        for listener in listeners:
            listener.join()
        for session, owner in owners.items():
            assert len(owner.messages(session)) == 2
