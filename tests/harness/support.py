"""An operation as an agent server runs it, in the steps that the tests look at."""

from __future__ import annotations

from typing import Any

from sessionstore import NewMessageEntry as NewMessage
from sessionstore import (
    Session,
    SessionMutation,
    SessionScope,
    Write,
    append_list,
    ephemeral_scope,
    insert_entry,
    set_value,
    value,
)
from sessionstore.harness import (
    branch_tip,
    lane_state,
    operation_cleanup_writes,
    operation_meta,
    operation_preparation,
    operation_result,
    operation_state,
    operation_tool_args,
    operation_tool_memo,
    pending_assistant_frames,
    pending_entry,
    pending_tool_output,
)

OP = "op-1"
SCOPE = ephemeral_scope(OP)
RESPONSE = "response-1"
FRAMES = pending_assistant_frames(OP, RESPONSE)
OUTPUT = pending_tool_output(OP, "call-1")
MEMO = operation_tool_memo(OP, "call-1", "page")
LANE = lane_state("main")

AWAITING: dict[str, Any] = {"phase": "streaming", "responseId": RESPONSE}


def begin(session: Session, operation: str = OP) -> None:
    """Commit the coordination of an operation that waits for a response."""
    session.commit(
        [
            set_value(operation_meta(operation), {"kind": "prompt"}),
            set_value(operation_state(operation), AWAITING),
            set_value(operation_tool_args(operation, "step", 0), {"path": "a"}),
            set_value(operation_tool_args(operation, "step", 1), {"path": "b"}),
            set_value(operation_preparation(operation, "task"), {"found": 3}),
            set_value(pending_entry(f"{operation}-entry"), {"text": "draft"}),
            set_value(LANE, {"currentOperationId": operation, "lastOperationId": None, "inbox": ["next"]}),
        ]
    )


def stream(session: Session) -> None:
    """Commit progress: frames, a tool's output, a memo."""
    session.commit([append_list(FRAMES, "Hel"), append_list(FRAMES, "lo")])
    session.commit([set_value(OUTPUT, "partial"), set_value(MEMO, {"page": 2})])


def settle(session: Session) -> None:
    """Commit the response's entry; the state moves on and nothing ephemeral is deleted."""
    session.commit(
        [
            insert_entry(NewMessage("reply", None, {"role": "assistant", "content": "Hello"})),
            set_value(branch_tip("main"), "reply"),
            set_value(operation_state(OP), {"phase": "tools"}),
        ]
    )


def terminal_writes(mutation: SessionMutation) -> list[Write[SessionScope]]:
    """What ends the operation: its result, the lane's state, and the cleanup."""
    lane = mutation.get_value(LANE)
    assert lane is not None
    return [
        set_value(operation_result(OP), {"outcome": "done"}),
        set_value(LANE, {**lane.value, "currentOperationId": None, "lastOperationId": OP}),
        *operation_cleanup_writes(mutation, OP, [f"{OP}-entry"]),
    ]


def finish(mutation: SessionMutation) -> None:
    mutation.commit(terminal_writes(mutation))


def frames_in(session: Session) -> list[Any]:
    return [element.value for element in session.read_list(FRAMES)]


def session_values(session: Session) -> set[tuple[str, str]]:
    """Namespace and key of every session-scoped value of the operations' namespaces."""
    namespaces = (
        "pi.op.meta",
        "pi.op.state",
        "pi.op.tool_args",
        "pi.op.preparation",
        "pi.pending.entry",
        "pi.result",
        "pi.lane.state",
    )
    return {
        (namespace, found.address.key)
        for namespace in namespaces
        for found in session.scan_values(value(namespace))
    }
