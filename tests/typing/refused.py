"""Calls that a type checker has to refuse; read by mypy and pyright, never run.

Each line that must be an error names its kind (the table in test_typing.py), and no other line is one.
"""

from __future__ import annotations

from accepted import COUNT, FRAMES, NOTES, OPERATION, OTHER_FRAMES, PROGRESS, SETTINGS

from sessionstore import (
    EphemeralScope,
    NewMessageEntry,
    Scope,
    Session,
    SessionMutation,
    SessionScope,
    Storage,
    Value,
    ValueList,
    Write,
    append_list,
    delete_value,
    ephemeral_scope,
    insert_entry,
    retire_scope,
    set_value,
    value,
)

MESSAGE = insert_entry(NewMessageEntry("e", None, {"role": "user"}))


def mixed_scopes(session: Session, mutation: SessionMutation, storage: Storage) -> None:
    session.commit([set_value(COUNT, 1), append_list(FRAMES, "x")])  # refused: transaction
    session.commit([append_list(FRAMES, "x"), set_value(COUNT, 1)])  # refused: transaction
    session.commit([append_list(FRAMES, "x"), retire_scope(OPERATION)])  # refused: transaction
    session.commit([MESSAGE, append_list(FRAMES, "x")])  # refused: transaction
    session.commit((set_value(COUNT, 1), append_list(FRAMES, "x")))  # refused: transaction
    mutation.commit([set_value(COUNT, 1), append_list(FRAMES, "x")])  # refused: transaction
    mutation.commit([append_list(FRAMES, "x"), retire_scope(OPERATION)])  # refused: transaction
    storage.commit([set_value(COUNT, 1), append_list(FRAMES, "x")])  # refused: transaction
    storage.commit([append_list(FRAMES, "x"), retire_scope(OPERATION)])  # refused: transaction


def mixed_scopes_held_in_a_variable(session: Session, given: list[Write[Scope]]) -> None:
    mixed = [set_value(COUNT, 1), append_list(FRAMES, "x")]
    session.commit(mixed)  # refused: transaction
    retiring = [append_list(FRAMES, "x"), retire_scope(OPERATION)]
    session.commit(retiring)  # refused: transaction
    session.commit(given)  # refused: transaction


def the_union_of_scopes(session: Session, either: Value[int, Scope], frames: ValueList[str, Scope]) -> None:
    session.commit([set_value(either, 1)])  # refused: transaction
    session.commit([delete_value(either)])  # refused: transaction
    session.commit([append_list(frames, "x")])  # refused: transaction
    session.commit([set_value(either, 1), set_value(COUNT, 1)])  # refused: transaction


def a_scope_that_is_not_known(session: Session, name: str | None) -> None:
    scope = ephemeral_scope(name) if name else None
    session.commit([set_value(value("app", "n", type=int, scope=scope), 1)])  # refused: unknown scope


def a_scope_is_not_widened_by_a_write(write: Write[SessionScope]) -> None:
    wide: Write[Scope] = write  # refused: assignment
    other: Write[EphemeralScope] = write  # refused: assignment
    print(wide, other)


def the_other_scope(count: Value[int], progress: Value[int, EphemeralScope]) -> None:
    session_scoped: Value[int, SessionScope] = progress  # refused: assignment
    ephemeral: Value[int, EphemeralScope] = count  # refused: assignment
    print(session_scoped, ephemeral)


def a_widened_type(a: Value[int], notes: ValueList[str]) -> None:
    b: Value[int | str] = a  # refused: assignment
    c: Value[object] = a  # refused: assignment
    d: Value[bool] = a  # refused: assignment
    e: ValueList[str | int] = notes  # refused: assignment
    print(b, c, d, e)


def a_wrong_value(session: Session) -> None:
    set_value(COUNT, "one")  # refused: value
    set_value(SETTINGS, {"model": "m"})  # refused: value
    set_value(PROGRESS, COUNT)  # refused: value
    append_list(NOTES, 1)  # refused: value
    append_list(FRAMES, None)  # refused: value
    append_list(NOTES, "x", tag=1)  # refused: argument
    session.set_value(COUNT, "one")  # refused: value
    session.append_list(NOTES, 1)  # refused: value


def a_wrong_kind(session: Session) -> None:
    set_value(NOTES, "x")  # refused: argument
    append_list(COUNT, 1)  # refused: argument
    session.get_value(NOTES)  # refused: argument
    session.read_list(COUNT)  # refused: argument
    session.retire_scope(COUNT.scope)  # refused: argument
    retire_scope("operation")  # refused: argument
    session.commit(set_value(COUNT, 1))  # refused: no sequence
    session.commit([COUNT])  # refused: no write


def a_result_has_its_type(session: Session) -> None:
    text: str = session.read_list(NOTES)[0].seq  # refused: assignment
    number: int = session.read_list(OTHER_FRAMES)[0].value  # refused: assignment
    last: int = session.get_value(COUNT).value  # refused: absence
    print(text, number, last)
