"""Core statements compiled once, to run on a driver's own cursor.

SQLAlchemy's ``execute`` costs twice what the driver does. A statement is therefore compiled to the
driver's SQL with positional parameters, and the conversions that its column types ask for are
looked up at the same time. Where a dialect needs none, values and rows pass through untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import Boolean, CompoundSelect, Select
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.dml import Delete, Insert, Update
from sqlalchemy.types import TypeEngine

from sessionstore.sql.column_types import row_check
from sessionstore.sql.dbapi import Row, Values
from sessionstore.sql.types import ExactText, is_mysql_family

Statement: TypeAlias = Select[*tuple[Any, ...]] | CompoundSelect[*tuple[Any, ...]] | Insert | Update | Delete
Converter: TypeAlias = Callable[[Any], Any]
T = TypeVar("T")


class Prepared:
    """A compiled statement. ``sql`` has one placeholder for each value of :meth:`bind`."""

    __slots__ = ("_check_result", "_constants", "_convert_result", "_pick", "_slots", "sql")

    def __init__(
        self,
        statement: Statement,
        names: Sequence[str],
        dialect: Dialect,
        expanded: Expansion | None = None,
    ) -> None:
        """Compile ``statement``, whose bound parameters are called ``names``.

        Every execution gives its values in the order of ``names``, however often and in whatever
        order the SQL text repeats them; the values of an ``expanded`` list come last.
        """
        if expanded is None:
            compiled = statement.compile(dialect=dialect)
        else:
            compiled = _expand(statement, names, expanded).compile(
                dialect=dialect, compile_kwargs={"render_postcompile": True}
            )
            names = (*names, *(f"{expanded.name}_{number + 1}" for number in range(expanded.size)))
        assert isinstance(compiled, SQLCompiler)
        self.sql = str(compiled)
        order = compiled.positiontup or []
        unused = set(names) - set(order)
        if unused:
            raise ValueError(f"{sorted(unused)} are no parameters of {self.sql}")
        # Such as the OFFSET 0 that SQLite's LIMIT is written with.
        constants = [name for name in dict.fromkeys(order) if name not in names]
        self._constants = tuple(compiled.binds[name].value for name in constants)
        listed = None if expanded is None else compiled.binds[expanded.name]
        bound = [compiled.binds.get(name, listed) for name in order]
        places = {name: place for place, name in enumerate((*names, *constants))}
        self._init_bind(
            [places[name] for name in order],
            [None if parameter is None else _bind_converter(parameter.type, dialect) for parameter in bound],
        )
        self._check_result = row_check(statement) if dialect.name == "sqlite" else None
        self._convert_result = _row_converter(_result_types(statement), dialect)

    def _init_bind(self, order: list[int], converters: list[Converter | None]) -> None:
        self._slots = list(zip(order, converters, strict=True)) if any(converters) else None
        self._pick: Callable[[Values], Values] | None
        if order == list(range(len(order))):
            self._pick = None
        elif len(order) == 1:
            (only,) = order
            self._pick = lambda values: (values[only],)
        else:
            self._pick = itemgetter(*order)

    def bind(self, values: Values) -> Values:
        """The parameters of one execution, for the driver."""
        if self._constants:
            values = (*values, *self._constants)
        if self._slots is not None:
            return tuple(
                values[place] if convert is None or values[place] is None else convert(values[place])
                for place, convert in self._slots
            )
        return values if self._pick is None else self._pick(values)

    def bind_many(self, rows: Iterable[Values]) -> Iterable[Values]:
        """The parameters of an ``executemany``."""
        if self._slots is None and self._pick is None and not self._constants:
            return rows
        return [self.bind(values) for values in rows]

    def result(self, rows: Sequence[Row]) -> list[Row]:
        """Fetched rows as Python values. Raises ``CorruptStorageError`` for a value of a wrong type."""
        if self._check_result is not None and rows:
            self._check_result(rows)
        if self._convert_result is not None:
            return self._convert_result(rows)
        return rows if isinstance(rows, list) else list(rows)


class Expansion(NamedTuple):
    """How many values an expanding parameter stands for."""

    name: str
    size: int


class BySize:
    """A statement compiled for 1, 2, 4, 8… repetitions of one of its parts.

    Shorter input is filled up with its last item (see :func:`filled`), so that few texts exist
    and the driver prepares each of them once.
    """

    __slots__ = ("_build", "_built")

    def __init__(self, build: Callable[[int], Prepared]) -> None:
        self._build = build
        self._built: dict[int, Prepared] = {}

    def at_least(self, count: int) -> tuple[Prepared, int]:
        """The statement for ``count`` or a few more repetitions, and how many it takes."""
        size = 1 << (count - 1).bit_length()
        statement = self._built.get(size)
        if statement is None:
            statement = self._built[size] = self._build(size)
        return statement, size


def filled(items: Sequence[T], size: int) -> Sequence[T]:
    """``items``, with the last one repeated up to ``size``."""
    missing = size - len(items)
    return [*items, *([items[-1]] * missing)] if missing else items


def _expand(statement: Statement, names: Sequence[str], expanded: Expansion) -> Statement:
    assert isinstance(statement, (Select, CompoundSelect))  # only these have IN lists here
    return statement.params({**dict.fromkeys(names), expanded.name: [""] * expanded.size})


def _bind_converter(type_: TypeEngine[Any], dialect: Dialect) -> Converter | None:
    if isinstance(type_, ExactText):
        # The same as the type's own conversion, without its two calls for each value.
        return str.encode if is_mysql_family(dialect) else None
    if isinstance(type_, Boolean):
        return None  # every driver takes a bool as it is
    return type_.dialect_impl(dialect).bind_processor(dialect)


def _row_converter(
    types: Sequence[TypeEngine[Any]], dialect: Dialect
) -> Callable[[Sequence[Row]], list[Row]] | None:
    converters = [_result_converter(type_, dialect) for type_ in types]
    if not any(converters):
        return None

    def convert(rows: Sequence[Row]) -> list[Row]:
        return [
            tuple(
                item if change is None or item is None else change(item)
                for item, change in zip(row, converters, strict=True)
            )
            for row in rows
        ]

    return convert


def _result_converter(type_: TypeEngine[Any], dialect: Dialect) -> Converter | None:
    if isinstance(type_, ExactText):
        return bytes.decode if is_mysql_family(dialect) else None
    # The drivers describe their columns in ways that no type of ours depends on.
    return type_.dialect_impl(dialect).result_processor(dialect, None)


def _result_types(statement: Statement) -> list[TypeEngine[Any]]:
    if isinstance(statement, (Select, CompoundSelect)):
        return [column.type for column in statement.selected_columns]
    return [description["type"] for description in statement.returning_column_descriptions]
