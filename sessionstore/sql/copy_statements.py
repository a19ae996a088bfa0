"""The statements that copy entries from one session to another, and count what is to be copied."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Insert,
    Select,
    bindparam,
    func,
    insert,
    select,
    union_all,
)

from sessionstore.sql.dialects import SqlDialect
from sessionstore.sql.prepared import BySize, Prepared
from sessionstore.sql.statements import ENTRIES

_RANGE_NAMES = ("segment_seq", "low", "high")


class CopyStatements:
    """Those of one dialect; each is compiled when it is first asked for."""

    def __init__(self, dialect: SqlDialect) -> None:
        self._compiler = dialect.compiler

    @cached_property
    def copy_tree(self) -> Prepared:
        """``destination, source, next_seq``: all entries below a number, index included."""
        statement = select(
            bindparam("destination", type_=ENTRIES.c.session_id.type),
            *(ENTRIES.c[name] for name in ENTRIES.columns.keys()[1:]),
        ).where(ENTRIES.c.session_id == bindparam("source"), ENTRIES.c.seq < bindparam("next_seq"))
        return Prepared(_copied(statement), ("destination", "source", "next_seq"), self._compiler)

    @cached_property
    def copy_ranges(self) -> BySize:
        """``destination, source, root_seq`` and for each range ``segment_seq, low, high``.

        A path alone is one segment, that of its root.
        """
        return BySize(self._copy_ranges)

    def _copy_ranges(self, size: int) -> Prepared:
        kept = [name for name in ENTRIES.columns.keys()[1:] if name not in ("segment_seq", "depth")]
        names = ["destination", "source", "root_seq"]
        arms: list[Select[*tuple[Any, ...]]] = []
        for number in range(size):
            own = [f"{name}_{number}" for name in _RANGE_NAMES]
            names += own
            arms.append(
                select(
                    bindparam("destination", type_=ENTRIES.c.session_id.type),
                    *(ENTRIES.c[name] for name in kept),
                    bindparam("root_seq", type_=ENTRIES.c.segment_seq.type),
                    ENTRIES.c.depth,
                ).where(ENTRIES.c.session_id == bindparam("source"), *_in_range(*own))
            )
        return Prepared(_copied(arms[0] if size == 1 else union_all(*arms)), names, self._compiler)

    @cached_property
    def count_messages(self) -> BySize:
        """``session_id`` and for each range ``segment_seq, low, high`` -> the messages of each."""
        return BySize(self._count_messages)

    def _count_messages(self, size: int) -> Prepared:
        names = ["session_id"]
        arms: list[Select[*tuple[Any, ...]]] = []
        for number in range(size):
            own = [f"{name}_{number}" for name in _RANGE_NAMES]
            names += own
            arms.append(
                select(func.count()).where(
                    ENTRIES.c.session_id == bindparam("session_id"),
                    *_in_range(*own),
                    ENTRIES.c.type == "message",
                )
            )
        return Prepared(arms[0] if size == 1 else union_all(*arms), names, self._compiler)


def _in_range(segment_seq: str, low: str, high: str) -> tuple[ColumnElement[bool], ...]:
    return (
        ENTRIES.c.segment_seq == bindparam(segment_seq),
        ENTRIES.c.seq >= bindparam(low),
        ENTRIES.c.seq <= bindparam(high),
    )


def _copied(source: Select[*tuple[Any, ...]] | CompoundSelect[*tuple[Any, ...]]) -> Insert:
    return insert(ENTRIES).from_select(ENTRIES.columns.keys(), source)
