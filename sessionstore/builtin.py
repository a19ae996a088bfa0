"""The addresses that this library itself gives a meaning (harness.md section 1).

Namespace ``pi`` and all of ``pi.*`` are theirs. The store knows nothing of operations and lanes;
branches, session names, labels and forks build on these addresses.
"""

from __future__ import annotations

from typing import Any, Final

from sessionstore.address import Value, ValueList, value, value_list
from sessionstore.errors import InvalidAddressError, InvalidBranchError
from sessionstore.scope import EphemeralScope, SessionScope, ephemeral_scope
from sessionstore.text import KEY_LIMIT, check_text

BRANCH_TIP: Final = "pi.branch.tip"
LANE_CONFIG: Final = "pi.lane.config"
LANE_STATE: Final = "pi.lane.state"
OPERATION_RESULT: Final = "pi.result"
OPERATION_META: Final = "pi.op.meta"
OPERATION_STATE: Final = "pi.op.state"
OPERATION_TOOL_ARGS: Final = "pi.op.tool_args"
OPERATION_PREPARATION: Final = "pi.op.preparation"
OPERATION_TOOL_MEMO: Final = "pi.op.tool_memo"
PENDING_ENTRY: Final = "pi.pending.entry"
PENDING_TOOL_OUTPUT: Final = "pi.pending.tool_output"
PENDING_ASSISTANT_FRAME: Final = "pi.pending.assistant_frame"
SESSION_NAME: Final = "pi.session.name"
ENTRY_LABEL: Final = "pi.entry.label"

session_name: Final[Value[str, SessionScope]] = value(SESSION_NAME, type=str)
"""The name of the session."""


def is_builtin(namespace: str) -> bool:
    """Whether a namespace is reserved for built-in addresses; ``pi2`` is not."""
    return namespace == "pi" or namespace.startswith("pi.")


def check_branch_name(name: object) -> str:
    """Return a branch name that is non-empty, well formed and fits a key.

    Raises :class:`~sessionstore.errors.InvalidBranchError` otherwise.
    """
    return check_text(name, "branch name", limit=KEY_LIMIT, error=InvalidBranchError)


def branch_tip(branch: str) -> Value[str | None, SessionScope]:
    """The entry that a branch stands at, or null. A branch exists exactly when this value does."""
    return value(BRANCH_TIP, check_branch_name(branch), type=str | None)


def lane_config(lane: str) -> Value[Any, SessionScope]:
    """The agent configuration of a lane."""
    return value(LANE_CONFIG, check_branch_name(lane))


def lane_state(lane: str) -> Value[Any, SessionScope]:
    """The state of a lane: its current and last operation, and its inbox."""
    return value(LANE_STATE, check_branch_name(lane))


def operation_result(operation: str) -> Value[Any, SessionScope]:
    """The result that an operation's terminal transaction writes."""
    return value(OPERATION_RESULT, operation)


def operation_meta(operation: str) -> Value[Any, SessionScope]:
    """What an operation is; deleted by its terminal transaction."""
    return value(OPERATION_META, operation)


def operation_state(operation: str) -> Value[Any, SessionScope]:
    """Where an operation stands; it exists exactly while the operation runs."""
    return value(OPERATION_STATE, operation)


def operation_tool_args(operation: str, step: str, index: str | int) -> Value[Any, SessionScope]:
    """The arguments of one tool call of a step."""
    return value(OPERATION_TOOL_ARGS, _key(operation, step, str(index)))


def operation_preparation(operation: str, task: str) -> Value[Any, SessionScope]:
    """What a preparation task has produced."""
    return value(OPERATION_PREPARATION, _key(operation, task))


def pending_entry(entry: str) -> Value[Any, SessionScope]:
    """An entry that is prepared but not yet in the tree."""
    return value(PENDING_ENTRY, entry)


def entry_label(entry: str) -> Value[str, SessionScope]:
    """The label of an entry."""
    return value(ENTRY_LABEL, entry, type=str)


def operation_tool_memo(operation: str, invocation: str, name: str) -> Value[Any, EphemeralScope]:
    """A memo that a tool keeps while its operation runs."""
    key = _key(operation, invocation, name)
    return value(OPERATION_TOOL_MEMO, key, scope=ephemeral_scope(operation))


def pending_tool_output(operation: str, invocation: str) -> Value[Any, EphemeralScope]:
    """The whole output of a tool so far; each write replaces it."""
    key = _key(operation, invocation)
    return value(PENDING_TOOL_OUTPUT, key, scope=ephemeral_scope(operation))


def pending_assistant_frames(operation: str, response: str) -> ValueList[Any, EphemeralScope]:
    """The streamed frames of a response, one element for each frame."""
    key = _key(operation, response)
    return value_list(PENDING_ASSISTANT_FRAME, key, scope=ephemeral_scope(operation))


def branch_tip_inventory_prefix() -> Value[str | None, SessionScope]:
    """All branch tips, for ``scan_values`` only."""
    return value(BRANCH_TIP, type=str | None)


def operation_tool_args_prefix(operation: str, step: str | None = None) -> Value[Any, SessionScope]:
    """The tool arguments of an operation, or of one step, for ``scan_values`` only."""
    parts = (operation,) if step is None else (operation, step)
    return value(OPERATION_TOOL_ARGS, _key(*parts, ""))


def operation_preparation_prefix(operation: str) -> Value[Any, SessionScope]:
    """The preparations of an operation, for ``scan_values`` only."""
    return value(OPERATION_PREPARATION, _key(operation, ""))


def _key(*parts: str) -> str:
    """Join key parts by ``:``. An operation id with a colon could name another's state."""
    for part in parts[:-1]:
        check_text(part, "key part", limit=KEY_LIMIT)
        if ":" in part:
            raise InvalidAddressError(f"the key part {part!r} must not contain ':'")
    return ":".join(parts)
