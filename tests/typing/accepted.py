"""Calls that a type checker has to accept; read by mypy and pyright, never run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, assert_type

from sessionstore import (
    CommitResult,
    EphemeralScope,
    ListElement,
    NewCustomEntry,
    NewMessageEntry,
    NewUsageRow,
    Scope,
    Session,
    SessionMutation,
    SessionScope,
    Storage,
    StoredValue,
    Usage,
    Value,
    ValueList,
    Write,
    append_list,
    delete_list,
    delete_value,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    retire_scope,
    set_value,
    value,
    value_list,
)


@dataclass
class Settings:
    model: str
    budget: int


class Progress(TypedDict):
    done: int
    total: int


OPERATION = ephemeral_scope("operation-1")
OTHER_OPERATION = ephemeral_scope("operation-2")

COUNT = value("app", "count", type=int)
SETTINGS = value("app", "settings", type=Settings)
NOTES = value_list("app", "notes", type=str)
PROGRESS = value("app", "progress", type=Progress, scope=OPERATION)
FRAMES = value_list("app", "frames", type=str, scope=OPERATION)
OTHER_FRAMES = value_list("app", "frames", type=str, scope=OTHER_OPERATION)
PLAIN = value("app", "plain")
OPTIONAL: Value[int | None] = value("app", "optional", type=int | None)

USAGE = Usage(input=1, output=2, cache_read=0, cache_write=0, total_tokens=3)


def addresses_know_their_type_and_scope() -> None:
    assert_type(COUNT, Value[int, SessionScope])
    assert_type(SETTINGS, Value[Settings, SessionScope])
    assert_type(NOTES, ValueList[str, SessionScope])
    assert_type(PROGRESS, Value[Progress, EphemeralScope])
    assert_type(FRAMES, ValueList[str, EphemeralScope])
    assert_type(PLAIN, Value[Any, SessionScope])
    assert_type(value("app", scope=OPERATION), Value[Any, EphemeralScope])
    assert_type(value_list("app"), ValueList[Any, SessionScope])
    assert_type(value("app", type=list[int]), Value[list[int], SessionScope])
    assert_type(COUNT.scope, SessionScope)
    assert_type(FRAMES.scope, EphemeralScope)


def one_scope_is_the_default_of_an_annotation(address: Value[int]) -> None:
    assert_type(address, Value[int, SessionScope])
    same: Value[int, SessionScope] = COUNT
    assert_type(same.scope, SessionScope)


def writes_know_their_scope() -> None:
    assert_type(set_value(COUNT, 1), Write[SessionScope])
    assert_type(delete_value(PROGRESS), Write[EphemeralScope])
    assert_type(append_list(FRAMES, "x", tag="t"), Write[EphemeralScope])
    assert_type(delete_list(NOTES), Write[SessionScope])
    assert_type(insert_entry(NewCustomEntry("e", None, "app.note")), Write[SessionScope])
    assert_type(insert_usage(NewUsageRow("u", USAGE)), Write[SessionScope])
    assert_type(retire_scope(OPERATION), Write[SessionScope])


def reads_take_either_scope(store: Session | SessionMutation | Storage) -> None:
    assert_type(store.get_value(COUNT), StoredValue[int] | None)
    assert_type(store.get_value(PROGRESS), StoredValue[Progress] | None)
    assert_type(store.scan_values(SETTINGS), list[StoredValue[Settings]])
    assert_type(store.scan_values(PROGRESS), list[StoredValue[Progress]])
    assert_type(store.read_list(NOTES, limit=10), list[ListElement[str]])
    assert_type(store.read_list(FRAMES, order="desc", stop_at_tag="end"), list[ListElement[str]])


def an_address_of_a_scope_is_one_of_any_scope(session: Session) -> None:
    anywhere: list[Value[int, Scope]] = [COUNT, value("app", "count", type=int, scope=OPERATION)]
    for address in anywhere:
        assert_type(session.get_value(address), StoredValue[int] | None)
        assert_type(address.scope, Scope)


def values_have_their_type(session: Session) -> None:
    stored = session.get_value(SETTINGS)
    if stored is not None:
        assert_type(stored.value, Settings)
        assert_type(stored.seq, int)
    for element in session.read_list(NOTES):
        assert_type(element.value, str)
        assert_type(element.tag, str | None)


def a_session_transaction(store: Session | SessionMutation | Storage) -> None:
    result = store.commit(
        [
            insert_entry(NewMessageEntry("e", None, {"role": "user", "content": "hi"})),
            insert_usage(NewUsageRow("u", USAGE, entry_id="e")),
            set_value(COUNT, 1),
            append_list(NOTES, "noted"),
            delete_value(SETTINGS),
            delete_list(NOTES),
            retire_scope(OPERATION),
            retire_scope(OTHER_OPERATION),
        ]
    )
    assert_type(result, CommitResult)
    store.commit([set_value(COUNT, 1), retire_scope(OPERATION)])
    store.commit((set_value(SETTINGS, Settings("m", 1)), retire_scope(OPERATION)))
    store.commit([])


def an_ephemeral_transaction(store: Session | SessionMutation | Storage) -> None:
    store.commit([set_value(PROGRESS, Progress(done=1, total=2)), append_list(FRAMES, "frame")])
    store.commit([append_list(FRAMES, "a"), append_list(FRAMES, "b"), delete_value(PROGRESS)])


def writes_held_in_a_variable(store: Session) -> None:
    writes = [set_value(COUNT, 1), retire_scope(OPERATION)]
    store.commit(writes)
    annotated: list[Write[SessionScope]] = [append_list(NOTES, "x")]
    annotated.append(insert_entry(NewCustomEntry("e", None, "app.note", {"any": ["json", None]})))
    store.commit(annotated)


def generic_helpers_keep_the_scope(
    store: Session, given: Sequence[Write[SessionScope]], frames: Sequence[Write[EphemeralScope]]
) -> None:
    store.commit(given)
    store.commit([*given, retire_scope(OPERATION)])
    store.commit(frames)


def single_writes(session: Session) -> None:
    assert_type(session.set_value(COUNT, 1), CommitResult)
    session.set_value(PROGRESS, Progress(done=1, total=2))
    session.set_value(PLAIN, {"any": ["json", 1, None]})
    session.set_value(OPTIONAL, None)
    session.append_list(FRAMES, "x", tag="end")
    session.delete_value(PROGRESS)
    session.delete_list(FRAMES)
    session.retire_scope(OPERATION)


def a_mutation_returns_what_its_function_returns(session: Session) -> None:
    def count_up(mutation: SessionMutation) -> int:
        stored = mutation.get_value(COUNT)
        following = 1 if stored is None else stored.value + 1
        mutation.commit([set_value(COUNT, following)])
        return following

    assert_type(session.mutate(count_up), int)
