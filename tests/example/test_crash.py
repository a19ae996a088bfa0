"""The example server is killed while it streams, and started again, on every store that persists."""

from __future__ import annotations

from typing import Any

import pytest
from example.process import Listener, ServerProcess, lane

from sessionstore import Session, open_repository
from sessionstore.harness import (
    operation_progress,
    operation_result,
    operation_state,
    pending_assistant_frames,
    pending_tool_output,
)
from sessionstore.records import ElementRecord, ValueRecord

pytestmark = [pytest.mark.needs("persistent"), pytest.mark.slow]

COUNT = 900
STEPS = 400
ACKNOWLEDGED = 30
"""How many frames each client has received before the server is killed."""

COUNTED = "".join(f"{n} " for n in range(1, COUNT + 1))


def scoped_records(session_id: str, repo: Any) -> list[ValueRecord | ElementRecord]:
    """Everything that is live in any ephemeral scope of a session."""
    with repo.snapshot(session_id) as snapshot:
        return [
            record
            for record in snapshot.records
            if isinstance(record, (ValueRecord, ElementRecord)) and record.scope_id
        ]


def said(message: dict[str, Any]) -> tuple[str, str, str]:
    return message["id"], message["message"]["role"], message["message"]["content"]


def test_a_killed_server_loses_nothing_that_it_acknowledged(store_url: str) -> None:
    with ServerProcess(store_url, pace_ms=3) as server:
        # Turns that are committed before the crash.
        settled = server.new_session()
        for text in ("hello there", "tool 2", "count 3"):
            server.prompt(settled, text)
            assert server.wait_for_end(settled)[-1].kind in ("end", "snapshot")
        before = [said(message) for message in server.messages(settled)]
        assert len(before) == 2 + 4 + 2
        usage = server.get(f"/sessions/{settled}")["stats"]
        aborted = server.new_session()
        aborted_operation = server.prompt(aborted, f"count {COUNT}")
        listener = Listener(server, aborted)
        listener.wait(lambda events: len(events) > 3)
        server.post(f"{lane(aborted)}/abort")
        # Several sessions stream, one works with a tool, at the moment of the crash.
        counting = [server.new_session() for _ in range(4)]
        working = server.new_session()
        operations = {id: server.prompt(id, f"count {COUNT}") for id in counting}
        operations[working] = server.prompt(working, f"tool {STEPS}")
        listeners = {id: Listener(server, id) for id in operations}
        for id in counting:
            listeners[id].wait(lambda events: sum(e.kind == "frame" for e in events) >= ACKNOWLEDGED)
        listeners[working].wait(lambda events: sum(e.kind == "tool" for e in events) >= ACKNOWLEDGED)
        server.kill()
        for stream in listeners.values():
            stream.join()
            assert stream.count("end") == 0, "this one was over before the crash"

    with ServerProcess(store_url) as server:
        # Every committed turn is there.
        assert [said(message) for message in server.messages(settled)] == before
        assert server.get(f"/sessions/{settled}")["stats"] == usage
        # Every interrupted one shows the frames that were acknowledged.
        for id in counting:
            shown = server.get(f"{lane(id)}/operation")
            assert (shown["operationId"], shown["running"]) == (operations[id], False)
            assert COUNTED.startswith(shown["text"])
            assert shown["text"].startswith(listeners[id].text)
            assert shown["count"] == len(shown["text"].split()) >= ACKNOWLEDGED
            # Nothing else begins on the branch meanwhile.
            refused = server.client.post(f"{lane(id)}/prompts", json={"text": "next"})
            assert refused.status_code == 409
        shown = server.get(f"{lane(working)}/operation")
        steps = int(shown["tool"].split(" of ")[0])
        last_step = [e for e in listeners[working].events if e.kind == "tool"][-1].data["step"]
        assert STEPS > steps >= last_step >= ACKNOWLEDGED
        # A fork of an interrupted session is idle, and takes no progress along.
        fork = server.post(f"/sessions/{counting[0]}/fork", {"branch": "main"})["id"]
        copied = server.get(f"{lane(fork)}/operation")
        assert (copied["operationId"], copied["text"]) == (None, "")
        assert [text for _, _, text in map(said, server.messages(fork))] == [f"count {COUNT}"]
        # Resumed, each goes on where it was.
        for id, operation in operations.items():
            assert server.post(f"{lane(id)}/resume")["operationId"] == operation
        for id in operations:
            assert server.wait_for_end(id)
        for id in counting:
            assert [text for _, _, text in map(said, server.messages(id))] == [f"count {COUNT}", COUNTED]
            assert server.get(f"/sessions/{id}")["stats"]["messageCount"] == 2
        assert [text for _, _, text in map(said, server.messages(working))] == [
            f"tool {STEPS}",
            "Let me count.",
            f"counted to {STEPS}",
            f"The tool says: counted to {STEPS}",
        ]
        everybody = {settled, aborted, *counting, working, fork}
        assert set(_listed(server)) == everybody
        server.stop()

    operations[aborted] = aborted_operation
    with open_repository(store_url) as repo:
        for id, operation in operations.items():
            # No scope of a finished operation is left.
            assert scoped_records(id, repo) == []
            with repo.open(id) as session:
                _check_ended(session, operation, "aborted" if id == aborted else "done")
                # And a late writer cannot bring one back.
                _write_late(session, operation)
            assert scoped_records(id, repo) == []


def _check_ended(session: Session, operation: str, outcome: str) -> None:
    assert session.get_value(operation_state(operation)) is None
    result = session.get_value(operation_result(operation))
    assert result is not None
    assert result.value["outcome"] == outcome


def _write_late(session: Session, operation: str) -> None:
    frames = pending_assistant_frames(operation, "response")
    for fence in (None, {"responseId": "response"}):
        progress = operation_progress(session, operation, fence)
        assert progress.append_list(frames, {"text": "late"}) is None
        assert progress.set_value(pending_tool_output(operation, "call"), "late") is None
        assert progress.dropped == 2


def _listed(server: ServerProcess) -> list[str]:
    """All sessions, by pages of three."""
    ids: list[str] = []
    times: list[int] = []
    before = None
    while True:
        page = server.get("/sessions", limit=3, **({} if before is None else {"before": before}))
        ids += [found["id"] for found in page["sessions"]]
        times += [found["createdAt"] for found in page["sessions"]]
        assert len(page["sessions"]) <= 3
        before = page["before"]
        if before is None:
            assert times == sorted(times, reverse=True)
            assert len(set(ids)) == len(ids)
            return ids
