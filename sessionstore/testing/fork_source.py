"""The session that the conformance cases of forks fork, and what a fork of it is to hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import msgspec

from sessionstore.address import value, value_list
from sessionstore.builtin import (
    branch_tip,
    entry_label,
    lane_config,
    lane_state,
    operation_meta,
    operation_result,
    operation_state,
    operation_tool_memo,
    pending_assistant_frames,
    pending_entry,
    session_name,
)
from sessionstore.entries import NewBranchSummaryEntry, NewCompactionEntry
from sessionstore.errors import (
    SessionNotFoundError,
    SessionStoreError,
)
from sessionstore.fork import Fork
from sessionstore.records import (
    IDLE_LANE_STATE,
    ElementRecord,
    EntryRecord,
    Record,
    ValueRecord,
)
from sessionstore.repository import SessionRef, SessionRepo
from sessionstore.scope import SessionScope, ephemeral_scope
from sessionstore.session import Session
from sessionstore.testing.cases import RepositoryFactory
from sessionstore.testing.checks import equal, refuses
from sessionstore.testing.material import message, note, say, spend
from sessionstore.usage import Usage
from sessionstore.writes import (
    Write,
    append_list,
    insert_entry,
    set_value,
)

PLAN: Final = value("app.plan")
LOG: Final = value_list("app.log")
NOTES: Final = value_list("app.log", "notes")
OP: Final = ephemeral_scope("op1")


# -- the source ------------------------------------------------------------------------------


def configured(branch: str, tip: str | None) -> list[Write[SessionScope]]:
    """Give a branch a tip and a lane on which an operation runs."""
    return [
        set_value(branch_tip(branch), tip),
        set_value(lane_config(branch), {"model": {"provider": "p", "modelId": branch}}),
        set_value(
            lane_state(branch),
            {"currentOperationId": "op1", "lastOperationId": "op0", "inbox": [{"text": branch}]},
        ),
    ]


def fill(session: Session) -> None:
    """A session with something of everything.

    The tree, in the order of its numbers: a - b, then c under b, x under b, d under c, y under x,
    e under d. ``main`` stands at e, ``side`` at y, ``data`` (no lane) at c, ``empty`` at nothing.
    """
    session.commit([say("a"), note("b", "a"), *configured("main", "b")])
    session.commit([say("c", "b"), spend("u1", 5), set_value(branch_tip("main"), "c")])
    session.commit([say("x", "b"), *configured("side", "x")])
    session.commit(
        [
            insert_entry(NewCompactionEntry("d", "c", "so far", [message("kept")], 12, False)),
            insert_entry(NewBranchSummaryEntry("y", "x", "d", "left", True, details={"k": 1})),
            set_value(branch_tip("side"), "y"),
            set_value(branch_tip("data"), "c"),
            *configured("empty", None),
        ]
    )
    session.commit([say("e", "d"), spend("u2", 7, entry_id="e"), set_value(branch_tip("main"), "e")])
    session.commit(
        [
            set_value(session_name, "the name"),
            *(set_value(entry_label(id), f"label of {id}") for id in ("b", "e", "x", "gone")),
            set_value(operation_result("op0"), {"ok": True}),
            set_value(operation_meta("op1"), {"kind": "prompt"}),
            set_value(operation_state("op1"), {"step": 1}),
            set_value(pending_entry("next"), {"role": "user"}),
            set_value(PLAN, {"steps": [1, 2]}),
            append_list(LOG, "one", "full"),
            append_list(NOTES, {"n": 1}),
            append_list(LOG, "two"),
            set_value(value("pi2"), "not built in"),
        ]
    )
    session.commit(
        [
            set_value(operation_tool_memo("op1", "call", "memo"), 1),
            append_list(pending_assistant_frames("op1", "r"), "frame"),
            set_value(value("app.scratch", scope=OP), "progress"),
            append_list(value_list("app.log", scope=OP), "scoped"),
        ]
    )


def entries_of(path: str) -> Callable[[Record], bool]:
    """The entries with these ids, of one letter each."""
    return lambda record: isinstance(record, EntryRecord) and record.id in path


def application_state(record: Record) -> bool:
    """Session-scoped values and lists of the application."""
    return (
        isinstance(record, (ValueRecord, ElementRecord))
        and not record.scope_id
        and record.namespace in ("app.plan", "app.log", "pi2")
    )


def values_at(*kept: tuple[str, str]) -> Callable[[Record], bool]:
    """The values of these namespaces and keys."""
    return lambda record: isinstance(record, ValueRecord) and (record.namespace, record.key) in kept


def lane_of(branch: str) -> tuple[tuple[str, str], ...]:
    """Namespaces and keys of a branch's tip, configuration and state."""
    return tuple((kind, branch) for kind in ("pi.branch.tip", "pi.lane.config", "pi.lane.state"))


NAME: Final = ("pi.session.name", "")


def records_of(repo: SessionRepo, session: SessionRef) -> list[Record]:
    """Every record of a session by number."""
    with repo.snapshot(session) as snapshot:
        return sorted(snapshot.records, key=lambda record: record.seq)


def picked(source: Iterable[Record], *rules: Callable[[Record], bool]) -> list[Record]:
    """What a fork is to hold of ``source``: what any rule takes, lanes idle."""
    return [
        msgspec.structs.replace(record, value=IDLE_LANE_STATE)
        if isinstance(record, ValueRecord) and record.namespace == "pi.lane.state"
        else record
        for record in source
        if any(rule(record) for rule in rules)
    ]


def with_tip(records: list[Record], branch: str, tip: str) -> list[Record]:
    """The same records with another tip of a branch, as JSON text."""
    return [
        msgspec.structs.replace(record, value=tip) if values_at(("pi.branch.tip", branch))(record) else record
        for record in records
    ]


def holds(repo: SessionRepo, fork: Session, expected: list[Record]) -> None:
    """The fork holds exactly these records, and the statistics of what was copied."""
    equal(records_of(repo, fork.metadata), expected, "records of the fork")
    messages = sum(isinstance(record, EntryRecord) and record.type == "message" for record in expected)
    equal(fork.get_stats().message_count, messages, "message count of the fork")
    equal(fork.get_stats().usage, Usage(), "usage of the fork")
    equal(fork.scan_usage(), [], "ledger of the fork")
    equal(repo.check_session(fork.metadata), [], "what is wrong with the fork")


def check_forked(
    factory: RepositoryFactory, fork: Fork, expected: Callable[[list[Record]], list[Record]]
) -> None:
    """Fork a filled source, open and then closed: both times exactly ``expected`` comes of it."""
    with factory.open() as repo:
        with repo.create() as source:
            fill(source)
            metadata = source.metadata
            before = records_of(repo, metadata)
            with repo.fork(metadata, fork) as copy:
                holds(repo, copy, expected(before))
        with repo.fork(metadata, fork) as copy:
            holds(repo, copy, expected(before))
        equal(records_of(repo, metadata), before, "records of the source")


def refused(
    repo: SessionRepo,
    source: SessionRef,
    fork: Fork,
    error: type[SessionStoreError],
    *mentions: str,
) -> None:
    """The fork fails, leaves nothing, and its id is free again."""
    before = [found.id for found in repo.list()]
    id = repo.id_generator.next()
    refuses(error, lambda: repo.fork(source, fork, id=id), *mentions)
    equal([found.id for found in repo.list()], before, "sessions after a fork that failed")
    refuses(SessionNotFoundError, lambda: repo.get(id))
    repo.create(id=id).close()
    repo.delete(id)
