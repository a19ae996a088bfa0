"""The transactions of a lane: a branch on which one operation runs at a time.

Each function takes the mutation that it is one step of. They are sync code: the server runs each in
a worker with :meth:`AsyncSession.mutate_sync`, reads and commit in one hand-over.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sessionstore import (
    BranchExistsError,
    CommitResult,
    IdGenerator,
    MessageEntry,
    NewMessageEntry,
    NewUsageRow,
    SessionMutation,
    SessionScope,
    UnknownBranchError,
    UnknownEntryError,
    Write,
    insert_entry,
    insert_usage,
    set_value,
)
from sessionstore.harness import (
    branch_tip,
    lane_config,
    lane_state,
    operation_cleanup_writes,
    operation_meta,
    operation_result,
    operation_state,
    operation_tool_args,
)

Message = dict[str, Any]
State = dict[str, Any]

IDLE: State = {"currentOperationId": None, "lastOperationId": None, "inbox": []}
MODEL = "scripted"


class LaneBusyError(Exception):
    """An operation runs on the lane, or waits to be resumed."""


class LaneIdleError(Exception):
    """No operation runs on the lane."""


class OperationMovedError(Exception):
    """The operation is no longer where its runner left it: somebody ended it meanwhile."""


def make_lane(mutation: SessionMutation, name: str, at: str | None) -> None:
    """Create a branch that is configured, so that operations run on it and forks take it."""
    if mutation.get_value(branch_tip(name)) is not None:
        raise BranchExistsError(f"the branch {name!r} exists already")
    if at is not None and mutation.get_entry(at) is None:
        raise UnknownEntryError(f"no entry {at!r} in this session")
    mutation.commit(
        [
            set_value(branch_tip(name), at),
            set_value(lane_config(name), {"model": MODEL}),
            set_value(lane_state(name), IDLE),
        ]
    )


def current_operation(mutation: SessionMutation, lane: str) -> str | None:
    """The operation of a lane that has not ended. Raises ``UnknownBranchError``."""
    operation: str | None = _lane(mutation, lane)["currentOperationId"]
    return operation


def begin(mutation: SessionMutation, ids: IdGenerator, lane: str, text: str) -> str:
    """Insert the prompt and begin an operation that waits for a response to it."""
    state = _lane(mutation, lane)
    if state["currentOperationId"] is not None:
        raise LaneBusyError(f"operation {state['currentOperationId']} is not over")
    operation = ids.next()
    prompt = NewMessageEntry(ids.next(), _tip(mutation, lane), {"role": "user", "content": text})
    mutation.commit(
        [
            *_append(lane, prompt),
            set_value(lane_state(lane), {**state, "currentOperationId": operation}),
            set_value(operation_meta(operation), {"kind": "prompt", "lane": lane}),
            set_value(operation_state(operation), _awaiting_response(ids)),
        ]
    )
    return operation


def settle_response(
    mutation: SessionMutation, ids: IdGenerator, operation: str, state: State, message: Message
) -> tuple[NewMessageEntry, CommitResult]:
    """Insert a response; the operation ends with it unless it calls a tool."""
    lane = _expect(mutation, operation, state)
    entry = NewMessageEntry(ids.next(), _tip(mutation, lane), message)
    words = len(str(message["content"]).split())
    writes = [
        *_append(lane, entry),
        insert_usage(
            NewUsageRow(ids.next(), _usage(_words_before(mutation, lane), words), entry_id=entry.id)
        ),
    ]
    calls = message.get("toolCalls")
    if calls:
        writes += [
            set_value(
                operation_state(operation),
                {"phase": "tool", "step": state["responseId"], "invocationId": calls[0]["id"]},
            ),
            set_value(operation_tool_args(operation, state["responseId"], 0), calls[0]["arguments"]),
        ]
    else:
        writes += _terminal(mutation, lane, operation, {"outcome": "done", "entryId": entry.id})
    return entry, mutation.commit(writes)


def settle_tool(
    mutation: SessionMutation, ids: IdGenerator, operation: str, state: State, content: str
) -> tuple[NewMessageEntry, CommitResult]:
    """Insert a tool's result, and wait for the response to it."""
    lane = _expect(mutation, operation, state)
    message = {"role": "toolResult", "toolCallId": state["invocationId"], "content": content}
    entry = NewMessageEntry(ids.next(), _tip(mutation, lane), message)
    next_state = set_value(operation_state(operation), _awaiting_response(ids))
    return entry, mutation.commit([*_append(lane, entry), next_state])


def abort(mutation: SessionMutation, lane: str) -> tuple[str, CommitResult]:
    """End the lane's operation, whatever it is doing. Its runner is told so by its next write."""
    operation = current_operation(mutation, lane)
    if operation is None:
        raise LaneIdleError(f"nothing runs on the branch {lane!r}")
    return operation, mutation.commit(_terminal(mutation, lane, operation, {"outcome": "aborted"}))


def conversation(mutation: SessionMutation, lane: str) -> list[Message]:
    """The messages of a lane, oldest first."""
    tip = _tip(mutation, lane)
    path = [] if tip is None else mutation.scan_branch(tip, type="message", order="oldest_first")
    return [entry.message for entry in path if isinstance(entry, MessageEntry)]


def _lane(mutation: SessionMutation, lane: str) -> State:
    found = mutation.get_value(lane_state(lane))
    if found is None:
        raise UnknownBranchError(f"no branch {lane!r} that operations run on")
    state: State = found.value
    return state


def _tip(mutation: SessionMutation, lane: str) -> str | None:
    found = mutation.get_value(branch_tip(lane))
    if found is None:
        raise UnknownBranchError(f"no branch {lane!r}")
    return found.value


def _expect(mutation: SessionMutation, operation: str, state: State) -> str:
    """The lane of an operation that is still in ``state``."""
    found, meta = (
        mutation.get_value(operation_state(operation)),
        mutation.get_value(operation_meta(operation)),
    )
    if found is None or meta is None or found.value != state:
        raise OperationMovedError(f"operation {operation} is not where it was")
    lane: str = meta.value["lane"]
    return lane


def _append(lane: str, entry: NewMessageEntry) -> list[Write[SessionScope]]:
    return [insert_entry(entry), set_value(branch_tip(lane), entry.id)]


def _awaiting_response(ids: IdGenerator) -> State:
    return {"phase": "response", "responseId": ids.next()}


def _terminal(
    mutation: SessionMutation, lane: str, operation: str, result: State
) -> Sequence[Write[SessionScope]]:
    """What ends an operation: its result, the lane's state, and all that was only its own."""
    idle = {**_lane(mutation, lane), "currentOperationId": None, "lastOperationId": operation}
    return [
        set_value(operation_result(operation), result),
        set_value(lane_state(lane), idle),
        *operation_cleanup_writes(mutation, operation),
    ]


def _words_before(mutation: SessionMutation, lane: str) -> int:
    return sum(len(str(message["content"]).split()) for message in conversation(mutation, lane))


def _usage(read: int, written: int) -> dict[str, Any]:
    """What the script costs: a word is a token, and a million of them one unit."""
    price = {"input": read / 1e6, "output": written / 1e6, "cacheRead": 0, "cacheWrite": 0}
    return {
        "input": read,
        "output": written,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": read + written,
        "cost": {**price, "total": sum(price.values())},
    }
