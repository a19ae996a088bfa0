"""Built-in addresses and the helpers that make an agent server's recovery right (harness.md).

An *operation* (one prompt run, one compaction) streams its bulk into the ephemeral scope of its id
and commits its coordination in session scope. A server goes through four steps:

1. It begins: one session transaction writes :func:`operation_meta`, :func:`operation_state` and
   :func:`lane_state`. The state names the effect that is awaited, a response id say.
2. It streams: :func:`operation_progress` gives a writer, fenced by that effect, for
   :func:`pending_assistant_frames` and :func:`pending_tool_output`.
3. It settles a step: it drains the writer, then one session transaction inserts the entry and
   moves the state on. It deletes nothing ephemeral: what is left is residue that nobody reads.
4. It ends: one transaction holds the result, the lane state and what
   :func:`operation_cleanup_writes` gives, the one retirement included.

After a crash the server reads :func:`lane_state` and :func:`operation_state`, and finds progress
only through the addresses that these name; :func:`read_back_to_tag` reads it. Nothing lists scopes.

Each helper takes sessions and readers of :mod:`sessionstore.aio` too and is awaited then.
"""

from sessionstore.builtin import (
    branch_tip,
    branch_tip_inventory_prefix,
    entry_label,
    lane_config,
    lane_state,
    operation_meta,
    operation_preparation,
    operation_preparation_prefix,
    operation_result,
    operation_state,
    operation_tool_args,
    operation_tool_args_prefix,
    operation_tool_memo,
    pending_assistant_frames,
    pending_entry,
    pending_tool_output,
    session_name,
)
from sessionstore.harness.cleanup import operation_cleanup_writes
from sessionstore.harness.progress import (
    AsyncOperationProgress,
    Fence,
    OperationProgress,
    operation_progress,
)
from sessionstore.harness.recovery import read_back_to_tag

__all__ = [
    "AsyncOperationProgress",
    "Fence",
    "OperationProgress",
    "branch_tip",
    "branch_tip_inventory_prefix",
    "entry_label",
    "lane_config",
    "lane_state",
    "operation_cleanup_writes",
    "operation_meta",
    "operation_preparation",
    "operation_preparation_prefix",
    "operation_progress",
    "operation_result",
    "operation_state",
    "operation_tool_args",
    "operation_tool_args_prefix",
    "operation_tool_memo",
    "pending_assistant_frames",
    "pending_entry",
    "pending_tool_output",
    "read_back_to_tag",
    "session_name",
]
