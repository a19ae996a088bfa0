"""Proof that rows hold what their columns are declared to hold.

SQLite stores any value in any column. What this library wrote is of the column's type; a database
that was damaged, or made by somebody else, may hold anything, and no reader expects that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Union

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    CompoundSelect,
    Delete,
    Insert,
    Label,
    Null,
    Select,
    TypeDecorator,
    Update,
)

from sessionstore.errors import CorruptStorageError
from sessionstore.sql.dbapi import Row

Kinds = frozenset[type]
"""The types that a value may be of; empty where anything goes."""


def row_check(statement: Any) -> Callable[[Sequence[Row]], None] | None:
    """What raises ``CorruptStorageError`` for rows that ``statement`` cannot have; None: nothing can."""
    kinds = _kinds_of(statement)
    if not any(kinds):
        return None
    wanted: Any = list[tuple[tuple(Union[tuple(some)] if some else Any for some in kinds)]]  # type: ignore[misc]  # noqa: UP007  # found at run time
    # Only for a structure does msgspec keep what it has found out of a type.
    result = msgspec.defstruct("Result", [("rows", wanted)], array_like=True)

    def check(rows: Sequence[Row]) -> None:
        try:
            msgspec.convert((rows,), result)
        except msgspec.ValidationError as error:
            raise CorruptStorageError(f"the database holds a value of a wrong type: {error}") from None

    return check


def _kinds_of(statement: Any) -> list[Kinds]:
    if isinstance(statement, CompoundSelect):
        # An arm may have something else in a column than the first one.
        arms = [_kinds_of(arm) for arm in statement.selects]
        return [
            frozenset().union(*column) if all(column) else frozenset() for column in zip(*arms, strict=True)
        ]
    if isinstance(statement, (Insert, Update, Delete)):
        return [_kinds(description["expr"]) for description in statement.returning_column_descriptions]
    if isinstance(statement, Select):
        return [_kinds(column) for column in statement.selected_columns]
    return _kinds_of(statement.element)  # in brackets


def _kinds(column: ColumnElement[Any]) -> Kinds:
    named = column.element if isinstance(column, Label) else column
    if isinstance(named, Null):
        return frozenset({type(None)})
    type_ = column.type.impl_instance if isinstance(column.type, TypeDecorator) else column.type
    try:
        kind = type_.python_type
    except NotImplementedError:
        return frozenset()
    if kind is object:
        return frozenset()  # such as NULL in an arm that has no such column
    kind = int if kind is bool else kind
    if kind not in (int, str):
        return frozenset()
    return frozenset({kind} if isinstance(column, Column) and not column.nullable else {kind, type(None)})
