"""The built-in addresses (harness.md section 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sessionstore import InvalidAddressError, InvalidBranchError, Value, ValueList, ephemeral_scope, harness

OP = ephemeral_scope("op")

ADDRESSES: list[tuple[Any, str, str, str, str]] = [
    (harness.branch_tip("b"), "value", "", "pi.branch.tip", "b"),
    (harness.lane_config("b"), "value", "", "pi.lane.config", "b"),
    (harness.lane_state("b"), "value", "", "pi.lane.state", "b"),
    (harness.operation_result("op"), "value", "", "pi.result", "op"),
    (harness.operation_meta("op"), "value", "", "pi.op.meta", "op"),
    (harness.operation_state("op"), "value", "", "pi.op.state", "op"),
    (harness.operation_tool_args("op", "s", 3), "value", "", "pi.op.tool_args", "op:s:3"),
    (harness.operation_preparation("op", "t"), "value", "", "pi.op.preparation", "op:t"),
    (harness.pending_entry("e"), "value", "", "pi.pending.entry", "e"),
    (harness.session_name, "value", "", "pi.session.name", ""),
    (harness.entry_label("e"), "value", "", "pi.entry.label", "e"),
    (harness.operation_tool_memo("op", "i", "n"), "value", "op", "pi.op.tool_memo", "op:i:n"),
    (harness.pending_tool_output("op", "i"), "value", "op", "pi.pending.tool_output", "op:i"),
    (harness.pending_assistant_frames("op", "r"), "list", "op", "pi.pending.assistant_frame", "op:r"),
]


@pytest.mark.parametrize(("address", "kind", "scope_id", "namespace", "key"), ADDRESSES, ids=str)
def test_each_constructor_binds_what_the_table_says(
    address: Value[Any, Any] | ValueList[Any, Any], kind: str, scope_id: str, namespace: str, key: str
) -> None:
    assert address.kind == kind
    assert (address.place.scope_id, address.namespace, address.key) == (scope_id, namespace, key)


WITH_A_PART: dict[str, Callable[[str], object]] = {
    "operation of tool args": lambda part: harness.operation_tool_args(part, "s", 0),
    "step of tool args": lambda part: harness.operation_tool_args("op", part, 0),
    "operation of a preparation": lambda part: harness.operation_preparation(part, "t"),
    "operation of a memo": lambda part: harness.operation_tool_memo(part, "i", "n"),
    "invocation of a memo": lambda part: harness.operation_tool_memo("op", part, "n"),
    "operation of tool output": lambda part: harness.pending_tool_output(part, "i"),
    "operation of frames": lambda part: harness.pending_assistant_frames(part, "r"),
    "operation of the tool args prefix": harness.operation_tool_args_prefix,
    "step of the tool args prefix": lambda part: harness.operation_tool_args_prefix("op", part),
    "operation of the preparation prefix": harness.operation_preparation_prefix,
}


@pytest.mark.parametrize("part", WITH_A_PART)
def test_every_key_part_but_the_last_refuses_a_colon(part: str) -> None:
    make = WITH_A_PART[part]
    make("a")
    with pytest.raises(InvalidAddressError):
        make("a:b")
    with pytest.raises(InvalidAddressError):
        make("")


@pytest.mark.parametrize(
    "address",
    [
        harness.operation_tool_args("op", "s", "a:b"),
        harness.operation_preparation("op", "a:b"),
        harness.operation_tool_memo("op", "i", "a:b"),
        harness.pending_tool_output("op", "a:b"),
        harness.pending_assistant_frames("op", "a:b"),
        harness.operation_state("a:b"),
    ],
    ids=str,
)
def test_the_last_key_part_may_hold_a_colon(address: Value[Any, Any]) -> None:
    assert address.key.endswith("a:b")


def test_there_are_exactly_three_scan_prefixes() -> None:
    names = {name for name in harness.__all__ if name.endswith("_prefix")}
    assert names == {
        "branch_tip_inventory_prefix",
        "operation_tool_args_prefix",
        "operation_preparation_prefix",
    }
    assert harness.branch_tip_inventory_prefix().key == ""
    assert harness.operation_tool_args_prefix("op").key == "op:"
    assert harness.operation_tool_args_prefix("op", "s").key == "op:s:"
    assert harness.operation_preparation_prefix("op").key == "op:"


def test_branch_names_are_checked() -> None:
    for make in (harness.branch_tip, harness.lane_config, harness.lane_state):
        with pytest.raises(InvalidBranchError):
            make("")
