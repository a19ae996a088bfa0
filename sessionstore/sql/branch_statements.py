"""The two statements that a path is read with.

The *head* finds the ranges that a path consists of, by a recursion over segments, and reads the
range that the start itself lies in. *Arms* read the other ranges, many at a time. Neither sorts:
within a range the index gives the order, and ranges are put in order by the reader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    CTE,
    BigInteger,
    BindParameter,
    ColumnElement,
    CompoundSelect,
    FromClause,
    Integer,
    Label,
    ScalarSelect,
    Select,
    String,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    null,
    or_,
    select,
    union_all,
)
from sqlalchemy.sql.selectable import NamedFromClause

from sessionstore.queries import Order
from sessionstore.sql.copy_statements import CopyStatements
from sessionstore.sql.dialects import SqlDialect
from sessionstore.sql.prepared import BySize, Prepared
from sessionstore.sql.statements import ENTRIES, ENTRY_COLUMNS, STRUCTURE_COLUMNS
from sessionstore.sql.types import ExactText

UNBOUND_ROWS: Final = 200
"""Rows of the start's own range that a head reads where it cannot end at a stop by itself."""

CHAIN_PAGE: Final = 990
"""Ranges that one head finds. MariaDB and MySQL end a recursion after 1,000 rounds."""

LARGEST_ARMS: Final = 256
"""Ranges that one statement reads. SQLite takes 500 parts of a compound statement."""

HEAD_NAMES: Final = ("session_id", "start", "below", "floor", "cover", "low", "limit")
"""``below``: numbers from this one on count as not covered; ``floor``: the path is followed no
further than an entry of this number; ``cover``: how many entries the ranges have to hold;
``low``, ``limit``: lowest number and most entries of the start's own range."""

_JOINED: Final = ("id", "parent_id", "seq", "segment_seq", "depth")
_FILTER_NAMES: Final = ("type", "custom_type")
_STOP_NAMES: Final = ("stop_type", "stop_id")
_DIGITS: Final = ExactText(20)


class BranchStatements:
    """Heads and arms of one dialect, compiled at first use."""

    def __init__(self, dialect: SqlDialect) -> None:
        self._dialect = dialect
        self.ends_at_stops: Final = dialect.seeks_subqueries
        self.copying: Final = CopyStatements(dialect)
        self._heads: dict[tuple[Order, bool, bool, bool], Prepared] = {}
        self._arms: dict[tuple[Order, bool, bool], BySize] = {}

    def head(self, order: Order, *, payload: bool, stops: bool, filtered: bool) -> Prepared:
        """:data:`HEAD_NAMES` [stop_type, stop_id] [type, custom_type] -> two kinds of row.

        Entries come as their columns. Ranges have a negative ``seq``, -1 for that of the start;
        their columns are: id of the range's last entry, its depth as text, -1 - n, the number of
        its last entry, that of its segment as text, the number of the entry to stop at as text.
        """
        key = (order, payload, stops, filtered)
        found = self._heads.get(key)
        if found is None:
            names = [*HEAD_NAMES, *(_STOP_NAMES if stops else ()), *(_FILTER_NAMES if filtered else ())]
            found = self._heads[key] = Prepared(
                _Shape(self._dialect, order, payload, filtered).head(stops), names, self._dialect.compiler
            )
        return found

    def arms(self, order: Order, *, payload: bool, filtered: bool) -> BySize:
        """``session_id`` [type, custom_type] and for each range ``segment_seq, low, high, limit``."""
        key = (order, payload, filtered)
        found = self._arms.get(key)
        if found is None:
            found = self._arms[key] = BySize(lambda size: self._make_arms(order, payload, filtered, size))
        return found

    def _make_arms(self, order: Order, payload: bool, filtered: bool, size: int) -> Prepared:
        names = ["session_id", *(_FILTER_NAMES if filtered else ())]
        shape = _Shape(self._dialect, order, payload, filtered)
        arms: list[Select[*tuple[Any, ...]]] = []
        for number in range(size):
            own = [f"{name}_{number}" for name in ("segment_seq", "low", "high", "limit")]
            names += own
            segment_seq, low, high, limit = own
            arms.append(
                shape.range(
                    segment_seq=bindparam(segment_seq, type_=BigInteger()),
                    low=bindparam(low, type_=BigInteger()),
                    high=bindparam(high, type_=BigInteger()),
                    limit=limit,
                )
            )
        statement = arms[0] if size == 1 else union_all(*(select(arm.subquery()) for arm in arms))
        return Prepared(statement, names, self._dialect.compiler)


class _Shape(NamedTuple):
    """Builds the statements for one way to read a path."""

    dialect: SqlDialect
    order: Order
    payload: bool
    filtered: bool

    def head(self, stops: bool) -> CompoundSelect[*tuple[Any, ...]]:
        """Ranges and the start's own range; ``stops`` when an entry ends the scan."""
        chain = self._chain(stops)
        ranges = [
            chain.c.id,
            cast(chain.c.depth, _DIGITS).label("parent_id"),
            (literal_column("-1", Integer) - chain.c.round).label("seq"),
            chain.c.seq.label("timestamp"),
            cast(chain.c.segment_seq, _DIGITS).label("type"),
            cast(chain.c.stop_seq, _DIGITS).label("custom_type"),
            *([null().label("payload")] if self.payload else []),
        ]
        return union_all(select(*ranges), select(self._own_range(stops).subquery()))

    def _chain(self, stops: bool) -> CTE:
        """The ranges from the start's to the root's, or as far as they are needed."""
        session_id = _session_id()
        below = bindparam("below", type_=BigInteger())
        start = ENTRIES.alias("start")

        def columns(
            entry: FromClause, round: ColumnElement[int], base: ColumnElement[Any]
        ) -> list[Label[Any]]:
            stop: ColumnElement[Any] = cast(null(), BigInteger)
            if stops:
                stop = self._stop_seq(entry.c.segment_seq, entry.c.seq)
            return [
                round.label("round"),
                entry.c.id.label("id"),
                entry.c.segment_seq.label("segment_seq"),
                entry.c.seq.label("seq"),
                entry.c.depth.label("depth"),
                base.label("base_depth"),
                stop.label("stop_seq"),
            ]

        chain = (
            select(*columns(start, literal_column("0", Integer), case((start.c.seq < below, start.c.depth))))
            .where(start.c.session_id == session_id, start.c.id == bindparam("start"))
            .cte("chain", recursive=True)
        )
        first, is_first = self._single(
            ENTRIES.alias("first"), lambda entry: entry.c.seq == chain.c.segment_seq
        )
        parent, is_parent = self._single(
            ENTRIES.alias("parent"), lambda entry: entry.c.id == first.c.parent_id
        )
        # Covered so far: the depths between the first range that counts and the next range.
        base = case(
            (chain.c.base_depth.is_not(None), chain.c.base_depth), (parent.c.seq < below, parent.c.depth)
        )
        needed = [
            chain.c.round < literal_column(str(CHAIN_PAGE - 1), Integer),
            parent.c.seq > bindparam("floor", type_=BigInteger()),
            or_(
                chain.c.base_depth.is_(None),
                chain.c.base_depth - parent.c.depth < bindparam("cover", type_=BigInteger()),
            ),
        ]
        if stops and self.order == "desc":
            needed.append(chain.c.stop_seq.is_(None))
        step = (
            select(*columns(parent, chain.c.round + literal_column("1", Integer), base))
            .select_from(chain)
            .join(first, is_first)
            .join(parent, is_parent)
            .where(*needed)
        )
        return chain.union_all(step)

    def _single(
        self, entry: NamedFromClause, condition: Callable[[NamedFromClause], ColumnElement[bool]]
    ) -> tuple[FromClause, ColumnElement[bool]]:
        """One entry of the session to be joined, and on what."""
        in_session = and_(entry.c.session_id == _session_id(), condition(entry))
        return self.dialect.single_row(entry, _JOINED, in_session)

    def _stop_seq(self, segment_seq: ColumnElement[int], up_to: ColumnElement[int]) -> ScalarSelect[int]:
        """The first entry of a range, in read order, at which the scan stops."""
        entry = ENTRIES.alias("stop")
        return (
            self.dialect.along_segment(select(*[entry.c.seq]), entry)
            .where(
                entry.c.session_id == _session_id(),
                self.dialect.in_segment(entry, segment_seq, literal_column("0", BigInteger), up_to),
                or_(entry.c.type == bindparam("stop_type"), entry.c.id == bindparam("stop_id")),
            )
            .order_by(*self._in_order(entry))
            .limit(literal_column("1", Integer))
            .scalar_subquery()
        )

    def _own_range(self, stops: bool) -> Select[*tuple[Any, ...]]:
        """The range that the start lies in; for it alone the numbers are not known beforehand."""
        segment_seq, start_seq = _of_start("segment_seq"), _of_start("seq")
        low: ColumnElement[int] = bindparam("low", type_=BigInteger())
        high: ColumnElement[int] = start_seq
        # One bound on either side: of two, an index takes one and the rows up to the other are walked.
        if self.order == "desc":
            below = bindparam("below", type_=BigInteger())
            high = case((start_seq < below, start_seq), else_=below - literal_column("1", Integer))
        if stops and self.dialect.seeks_subqueries:
            stop = self._stop_seq(segment_seq, start_seq)
            if self.order == "desc":
                low = func.coalesce(stop, low)
            else:
                high = func.coalesce(stop, high)
        return self.range(segment_seq=segment_seq, low=low, high=high, limit="limit")

    def range(
        self,
        *,
        segment_seq: ColumnElement[int],
        low: ColumnElement[int],
        high: ColumnElement[int],
        limit: str,
    ) -> Select[*tuple[Any, ...]]:
        """Entries of one range in read order, ``limit`` being the name of a parameter."""
        columns = ENTRY_COLUMNS if self.payload else STRUCTURE_COLUMNS
        statement = (
            self.dialect.along_segment(select(*(ENTRIES.c[name] for name in columns)), ENTRIES)
            .where(
                ENTRIES.c.session_id == bindparam("session_id"),
                self.dialect.in_segment(ENTRIES, segment_seq, low, high),
            )
            .order_by(*self._in_order(ENTRIES))
            .limit(bindparam(limit, type_=BigInteger()))
        )
        if self.filtered:
            for name in _FILTER_NAMES:  # an empty filter lets everything pass
                wanted = bindparam(name, type_=ENTRIES.c[name].type)
                statement = statement.where(
                    or_(wanted == literal_column("''", String), ENTRIES.c[name] == wanted)
                )
        return statement

    def _in_order(self, entries: FromClause) -> list[ColumnElement[Any]]:
        columns = self.dialect.segment_order(entries)
        return [column if self.order == "asc" else column.desc() for column in columns]


def _session_id() -> BindParameter[str]:
    return bindparam("session_id", type_=ENTRIES.c.session_id.type)


def _of_start(name: str) -> ScalarSelect[int]:
    start = ENTRIES.alias("start")
    return (
        select(start.c[name])
        .where(start.c.session_id == _session_id(), start.c.id == bindparam("start"))
        .scalar_subquery()
    )
