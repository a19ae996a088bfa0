"""The scripted agent of the demo, written as server code would be; run as a child process.

It takes commands as JSON lines on standard input, one for each token of a scripted model too, and
answers each on standard output once it is committed. Everything that recovery needs is in the
store: :func:`interrupted` and :func:`settle` work for whoever opens the session next.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from sessionstore import (
    CommitResult,
    NewMessageEntry,
    NewUsageRow,
    Session,
    Usage,
    UsageCost,
    ValueList,
    append_list,
    insert_entry,
    insert_usage,
    open_repository,
    set_value,
)
from sessionstore.builtin import (
    branch_tip,
    lane_config,
    lane_state,
    operation_meta,
    operation_result,
    operation_state,
    pending_assistant_frames,
    session_name,
)
from sessionstore.harness import operation_cleanup_writes
from sessionstore.scope import EphemeralScope

LANE: Final = "main"


class Response(msgspec.Struct, frozen=True):
    """A response that is being streamed: its operation, and where its frames go."""

    operation: str
    id: str

    @property
    def frames(self) -> ValueList[Any, EphemeralScope]:
        """The list that takes one element for each frame, in the operation's own scope."""
        return pending_assistant_frames(self.operation, self.id)


def set_up(session: Session) -> None:
    """Give a new session a name and one lane: a branch with a configuration and a state."""
    model = {"provider": "demo", "modelId": "scripted"}
    session.commit(
        [
            set_value(session_name, "demo"),
            set_value(branch_tip(LANE), None),
            set_value(lane_config(LANE), {"model": model, "thinkingLevel": "off", "activeToolNames": []}),
            set_value(lane_state(LANE), _lane(None, None)),
        ]
    )


def take_prompt(session: Session, prompt: str) -> Response:
    """Commit a user's message and the state of the operation that will answer it, together."""
    new_id = session.id_generator.next
    response = Response(operation=new_id(), id=new_id())
    entry_id = new_id()
    with session.begin_mutation() as mutation:
        tip = mutation.get_value(branch_tip(LANE))
        message = {"role": "user", "content": [{"type": "text", "text": prompt}]}
        mutation.commit(
            [
                insert_entry(NewMessageEntry(entry_id, None if tip is None else tip.value, message)),
                set_value(branch_tip(LANE), entry_id),
                set_value(operation_meta(response.operation), {"kind": "prompt", "lane": LANE}),
                set_value(
                    operation_state(response.operation),
                    {"phase": "streaming", "responseId": response.id, "input": len(prompt.split())},
                ),
                set_value(lane_state(LANE), _lane(response.operation, None)),
            ]
        )
    return response


def stream_frame(session: Session, response: Response, token: str) -> None:
    """Commit one frame: it survives the death of this process."""
    session.commit([append_list(response.frames, token)])


def interrupted(session: Session) -> Response | None:
    """The response that the lane's current operation waits for, as its state names it."""
    lane = session.get_value(lane_state(LANE))
    operation = None if lane is None else lane.value["currentOperationId"]
    if operation is None:
        return None
    state = session.get_value(operation_state(operation))
    return None if state is None else Response(operation, state.value["responseId"])


def frames(session: Session, response: Response) -> Iterator[str]:
    """The frames of a response that are in the store, page by page."""
    cursor = None
    while page := session.read_list(response.frames, cursor=cursor):
        yield from (element.value for element in page)
        cursor = page[-1].seq


def settle(session: Session, response: Response, stop_reason: str) -> CommitResult:
    """End the operation with what was streamed, in one transaction.

    The answer becomes an entry and the tip moves to it; its usage goes to the ledger; the result
    and the idle lane are written; the operation's state goes, and its scope is retired.
    """
    tokens = list(frames(session, response))
    entry_id = session.id_generator.next()
    with session.begin_mutation() as mutation:
        state = mutation.get_value(operation_state(response.operation))
        tip = mutation.get_value(branch_tip(LANE))
        assert state is not None  # it exists exactly while the operation runs
        assert tip is not None
        message = {
            "role": "assistant",
            "content": [{"type": "text", "text": "".join(tokens)}],
            "stopReason": stop_reason,
        }
        usage = _usage(state.value["input"], len(tokens))
        row = NewUsageRow(session.id_generator.next(), usage, entry_id=entry_id)
        return mutation.commit(
            [
                insert_entry(NewMessageEntry(entry_id, tip.value, message)),
                set_value(branch_tip(LANE), entry_id),
                insert_usage(row),
                set_value(operation_result(response.operation), {"stopReason": stop_reason}),
                set_value(lane_state(LANE), _lane(None, response.operation)),
                *operation_cleanup_writes(mutation, response.operation),
            ]
        )


def _lane(current: str | None, last: str | None) -> dict[str, Any]:
    return {"currentOperationId": current, "lastOperationId": last, "inbox": []}


def _usage(input: int, output: int) -> Usage:
    """Words and frames stand for tokens; the scripted model costs nothing."""
    return Usage(input=input, output=output, total_tokens=input + output, cost=UsageCost())


def serve() -> None:
    """Obey the commands on standard input until it ends."""
    commands = (json.loads(line) for line in sys.stdin)
    start = next(commands)
    with open_repository(start["url"]) as repo, repo.create(id=start["session"], cwd=start["cwd"]) as session:
        set_up(session)
        _answer({"ready": session.metadata.id})
        response: Response | None = None
        sent = 0
        for command in commands:
            match command:
                case {"prompt": prompt}:
                    response, sent = take_prompt(session, prompt), 0
                    _answer({"prompted": response.operation})
                case {"token": token} if response is not None:
                    stream_frame(session, response, token)
                    sent += 1
                    _answer({"frame": sent})
                case {"end": stop_reason} if response is not None:
                    settle(session, response, stop_reason)
                    _answer({"settled": response.operation})
                case _:
                    raise ValueError(f"unknown command {command!r}")


def _answer(data: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(data) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve()
