"""The lifetimes of an operation's state (harness.md section 2), on every store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from harness.support import (
    FRAMES,
    LANE,
    MEMO,
    OP,
    OUTPUT,
    SCOPE,
    begin,
    finish,
    frames_in,
    session_values,
    settle,
    stream,
    terminal_writes,
)

from sessionstore import (
    InvalidQueryError,
    MixedScopeError,
    Session,
    SessionRepo,
    append_list,
    delete_value,
    open_repository,
    set_value,
)
from sessionstore.harness import (
    operation_cleanup_writes,
    operation_meta,
    operation_result,
    operation_state,
    pending_assistant_frames,
    pending_entry,
)
from sessionstore.writes import DeleteValue, RetireScope


@pytest.fixture
def repo(store_url: str) -> Iterator[SessionRepo]:
    with open_repository(store_url) as repo:
        yield repo


@pytest.fixture
def session(repo: SessionRepo) -> Iterator[Session]:
    with repo.create(id="s") as session:
        yield session


def test_bulk_and_coordination_are_committed_apart(session: Session) -> None:
    begin(session)
    with pytest.raises(MixedScopeError):
        session.commit([set_value(operation_state(OP), {}), append_list(FRAMES, "x")])
    stream(session)
    assert frames_in(session) == ["Hel", "lo"]


def test_settling_leaves_residue_that_is_addressable_until_the_operation_ends(session: Session) -> None:
    begin(session)
    stream(session)
    settle(session)
    assert frames_in(session) == ["Hel", "lo"]
    assert session.get_value(OUTPUT) is not None
    session.mutate(finish)
    assert frames_in(session) == []
    assert session.get_value(OUTPUT) is None
    assert session.get_value(MEMO) is None


def test_the_terminal_transaction_has_exactly_one_retirement_and_deletes_no_ephemeral_state(
    session: Session,
) -> None:
    begin(session)
    stream(session)
    with session.begin_mutation() as mutation:
        writes = terminal_writes(mutation)
        mutation.commit(writes)
    assert [write.retired for write in writes if isinstance(write, RetireScope)] == [SCOPE]
    assert all(write.scope.kind == "session" for write in writes)
    deleted = [write.address for write in writes if isinstance(write, DeleteValue)]
    assert [(address.namespace, address.key) for address in deleted] == [
        ("pi.op.meta", OP),
        ("pi.op.state", OP),
        ("pi.op.tool_args", f"{OP}:step:0"),
        ("pi.op.tool_args", f"{OP}:step:1"),
        ("pi.op.preparation", f"{OP}:task"),
        ("pi.pending.entry", f"{OP}-entry"),
    ]


def test_what_is_left_is_the_result_and_an_idle_lane_with_its_inbox(session: Session) -> None:
    begin(session)
    stream(session)
    session.mutate(finish)
    assert session_values(session) == {("pi.result", OP), ("pi.lane.state", "main")}
    lane = session.get_value(LANE)
    assert lane is not None
    assert lane.value == {"currentOperationId": None, "lastOperationId": OP, "inbox": ["next"]}
    result = session.get_value(operation_result(OP))
    assert result is not None
    assert result.value == {"outcome": "done"}


def test_other_operations_and_unnamed_pending_entries_are_left_alone(session: Session) -> None:
    for other in ("op-10", "op"):  # one whose id begins with this one's, and the other way round
        begin(session, other)
    session.commit([append_list(pending_assistant_frames("op-10", "r"), "frame")])
    before = session_values(session)
    begin(session)
    session.set_value(pending_entry("unnamed"), {})
    session.mutate(finish)
    assert session_values(session) == before | {("pi.pending.entry", "unnamed"), ("pi.result", OP)}
    assert session.read_list(pending_assistant_frames("op-10", "r")) != []


def test_cleanup_without_anything_to_clean_still_retires(session: Session) -> None:
    writes = operation_cleanup_writes(session, OP)
    assert [type(write) for write in writes] == [DeleteValue, DeleteValue, RetireScope]
    session.commit(writes)


def test_cleanup_scans_no_ephemeral_state(session: Session) -> None:
    class Watched:
        """A reader that has scan_values and nothing else."""

        def __init__(self) -> None:
            self.scanned: list[Any] = []

        def scan_values(self, prefix: Any) -> Any:
            self.scanned.append(prefix)
            return session.scan_values(prefix)

    begin(session)
    stream(session)
    reader = Watched()
    operation_cleanup_writes(reader, OP, ["e"])
    assert [(scan.scope.kind, scan.namespace, scan.key) for scan in reader.scanned] == [
        ("session", "pi.op.tool_args", f"{OP}:"),
        ("session", "pi.op.preparation", f"{OP}:"),
    ]


def test_a_single_pending_entry_id_has_to_be_in_a_list(session: Session) -> None:
    with pytest.raises(InvalidQueryError):
        operation_cleanup_writes(session, OP, "entry")


def test_deleting_in_an_ephemeral_transaction_stays_legal(session: Session) -> None:
    begin(session)
    stream(session)
    session.commit([delete_value(OUTPUT), set_value(MEMO, {"page": 0})])
    assert session.get_value(OUTPUT) is None
    assert frames_in(session) == ["Hel", "lo"]


def test_close_never_retires_and_progress_is_found_through_the_state(repo: SessionRepo) -> None:
    with repo.create(id="closed") as session:
        begin(session)
        stream(session)
    with repo.open("closed") as session:
        state = session.get_value(operation_state(OP))
        assert state is not None
        frames = session.read_list(pending_assistant_frames(OP, state.value["responseId"]))
        assert [frame.value for frame in frames] == ["Hel", "lo"]
        assert session.get_value(OUTPUT) is not None


@pytest.mark.needs("persistent")
def test_a_fault_never_retires(store_url: str) -> None:
    with open_repository(store_url) as repo, repo.create(id="s") as session:
        begin(session)
        stream(session)

        def fail(_: object) -> None:
            raise RuntimeError("the agent broke")

        with pytest.raises(RuntimeError):
            session.mutate(fail)
    with open_repository(store_url) as repo, repo.open("s") as session:
        assert frames_in(session) == ["Hel", "lo"]
        assert session.get_value(operation_meta(OP)) is not None


def test_a_new_operation_of_the_same_id_sees_nothing_of_the_old(session: Session) -> None:
    begin(session)
    stream(session)
    session.mutate(finish)
    begin(session)
    session.commit([append_list(FRAMES, "new")])
    assert frames_in(session) == ["new"]
    assert session.get_value(MEMO) is None
