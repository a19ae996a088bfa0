"""Reads a path range by range, with as few statements and rows as the query needs.

The first statement finds the ranges and reads that of the start; each further one reads up to 256
ranges. What stops, cursors and limits would drop is not fetched; the caller applies them all the
same, so fetching more than needed is never wrong.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from sessionstore.errors import CorruptStorageError
from sessionstore.queries import LARGEST_SEQ, BranchQuery
from sessionstore.sql.branch_statements import CHAIN_PAGE, LARGEST_ARMS, UNBOUND_ROWS, BranchStatements
from sessionstore.sql.dbapi import Row, Values
from sessionstore.sql.prepared import Prepared, filled
from sessionstore.storage import unknown_entry

RunQuery: TypeAlias = Callable[[Prepared, Values], list[Row]]
"""Runs one statement against committed state."""

FIRST_BATCH: Final = 64
LARGEST_BATCH: Final = 1000
BATCH_CHARACTERS: Final = 1_000_000
"""Rows and characters of payload of one batch; the first one is read before the size is known."""

_SEQ = itemgetter(2)


class _Range(NamedTuple):
    """A run of the path within one segment, up to its newest entry."""

    last_id: str
    depth: int
    high: int
    segment_seq: int
    stop_seq: int | None


class Arm(NamedTuple):
    """What is to be read of a range."""

    segment_seq: int
    low: int
    high: int
    limit: int


class BranchReader:
    """One scan of a path; :meth:`pages` gives rows of entries in read order."""

    def __init__(
        self,
        run: RunQuery,
        statements: BranchStatements,
        session_id: str,
        query: BranchQuery,
        *,
        payload: bool,
        in_batches: bool = False,
    ) -> None:
        """Find the path. Raises ``UnknownEntryError`` when the start does not exist."""
        self._run = run
        self._statements = statements
        self._session_id = session_id
        self._query = query
        self._payload = payload
        self._descending = query.order == "desc"
        self._filter: tuple[str, ...] = ()
        if query.type is not None or query.custom_type is not None:
            self._filter = (query.type or "", query.custom_type or "")
        self._limit = LARGEST_SEQ if query.limit is None else query.limit
        self._stops = self._looks_for_stop()
        # A range is cut at the cursor on its newer side when descending, on its older side else.
        cursor = query.cursor
        self._below = cursor if self._descending and cursor is not None else LARGEST_SEQ
        self._low = cursor + 1 if not self._descending and cursor is not None else 0
        self._complete = False
        own_limit = 0 if in_batches else self._limit
        if self._stops and not statements.ends_at_stops:
            own_limit = min(own_limit, UNBOUND_ROWS)
        self._ranges, self._own = self._head(query.start, own_limit, self._limit)
        if not self._ranges:
            raise unknown_entry(query.start)
        self._cut_at: int | None = None
        """The number of the last row of the start's own range, where the range goes on behind it."""
        if self._own and own_limit < self._limit and len(self._own) == own_limit:
            self._cut_at = self._own[-1][2]
        self._drop_beyond_stop()

    def _looks_for_stop(self) -> bool:
        """Whether statements end at a stop; not so where they read few rows, which end sooner.

        A far stop is found by walking there. Whoever applies the query again sees a near one.
        """
        query = self._query
        if query.stop_at_type is None and query.stop_at_id is None:
            return False
        is_first_page = self._descending and query.cursor is None and not self._filter
        return not (is_first_page and self._limit <= UNBOUND_ROWS)

    def _drop_beyond_stop(self) -> None:
        """Of the start's own range, where the statement did not end at the stop.

        A stop that a filter leaves out is not seen by whoever applies the query again.
        """
        stop = self._ranges[0].stop_seq
        if stop is not None and not self._statements.ends_at_stops:
            self._own = [row for row in self._own if (row[2] >= stop if self._descending else row[2] <= stop)]

    def pages(self) -> Iterator[list[Row]]:
        """Rows in read order, a page for each statement."""
        return self._newest_first() if self._descending else self._oldest_first()

    def _newest_first(self) -> Iterator[list[Row]]:
        page = self._own
        left = self._limit - len(page)
        yield page
        done = 1
        if self._cut_at is not None:
            self._ranges[0] = self._ranges[0]._replace(high=self._cut_at - 1)
            done = 0
        while left > 0:
            # A batch is filled before it is read; the number of statements is bounded by that.
            while len(self._ranges) - done < LARGEST_ARMS and self._find_more():
                pass
            if done == len(self._ranges):
                return
            ranges = self._ranges[done : done + LARGEST_ARMS]
            done += len(ranges)
            page = self._read([self._arm(found, left) for found in ranges])
            left -= len(page)
            yield page

    def _oldest_first(self) -> Iterator[list[Row]]:
        while self._find_more():
            pass
        if len(self._ranges) == 1:
            yield self._own
            if self._cut_at is not None:
                self._low = self._cut_at + 1
                yield self._read([self._arm(self._ranges[0], self._limit - len(self._own))])
            return
        own = self._own if self._limit == LARGEST_SEQ and not self._stops else None
        ranges = self._ranges if own is None else self._ranges[1:]
        arms = self._arms_from_root(ranges)
        left = self._limit
        while arms and left > 0:
            page = self._read([arm._replace(limit=left) for arm in arms[:LARGEST_ARMS]])
            del arms[:LARGEST_ARMS]
            left -= len(page)
            yield page
        if own is not None:
            yield own

    def batches(self) -> Iterator[list[Row]]:
        """Rows of the whole path in read order, in batches of bounded size however long it is.

        For a reader without limit, cursor, stop and filter that was made to read in batches.
        """
        pending = self.counted_arms()
        rows = FIRST_BATCH
        while pending:
            page, pending = self._next_batch(pending, rows)
            yield page
            size = sum(len(row[-1] or "") for row in page) // len(page) + 1
            rows = max(1, min(LARGEST_BATCH, BATCH_CHARACTERS // size))

    def counted_arms(self) -> list[Arm]:
        """Every range of the path in read order; the limit of each is its number of entries."""
        while self._find_more():
            pass
        older = [found.depth for found in self._ranges[1:]] + [-1]
        arms = [
            self._arm(found, found.depth - depth) for found, depth in zip(self._ranges, older, strict=True)
        ]
        return arms if self._descending else arms[::-1]

    def _next_batch(self, pending: list[Arm], rows: int) -> tuple[list[Row], list[Arm]]:
        taken: list[Arm] = []
        for arm in pending[:LARGEST_ARMS]:
            if rows == 0:
                break
            taken.append(arm._replace(limit=min(arm.limit, rows)))
            rows -= taken[-1].limit
        page = self._read(taken)
        rest = pending[len(taken) :]
        cut = pending[len(taken) - 1]
        if cut.limit > taken[-1].limit:
            last = page[-1][2]
            bounds = {"high": last - 1} if self._descending else {"low": last + 1}
            rest.insert(0, cut._replace(limit=cut.limit - taken[-1].limit, **bounds))
        return page, rest

    def _arms_from_root(self, ranges: Sequence[_Range]) -> list[Arm]:
        """Arms from the root on, up to the first stop and as many as the limit can need."""
        arms: list[Arm] = []
        sure = 0
        older_depth = -1
        for found in reversed(ranges):
            if sure >= self._limit:
                break
            arm = self._arm(found, self._limit)
            arms.append(arm)
            if found.stop_seq is not None:
                break
            if not self._filter and arm.low == found.segment_seq:
                sure += found.depth - older_depth
            older_depth = found.depth
        return arms

    def _arm(self, found: _Range, limit: int) -> Arm:
        low, high = max(found.segment_seq, self._low), min(found.high, self._below - 1)
        if found.stop_seq is not None:
            if self._descending:
                low = max(low, found.stop_seq)
            else:
                high = min(high, found.stop_seq)
        return Arm(found.segment_seq, low, high, limit)

    def _read(self, arms: list[Arm]) -> list[Row]:
        arms = [arm for arm in arms if arm.low <= arm.high]
        if not arms:
            return []
        by_size = self._statements.arms(self._query.order, payload=self._payload, filtered=bool(self._filter))
        statement, size = by_size.at_least(len(arms))
        if size > len(arms):
            arms.append(arms[-1]._replace(limit=0))  # what fills up must not give rows twice
        values = [bound for arm in filled(arms, size) for bound in arm]
        rows = self._run(statement, (self._session_id, *self._filter, *values))
        # Ranges come in any order on some databases; numbers grow along the path.
        rows.sort(key=_SEQ, reverse=self._descending)
        return rows

    def _head(self, start: str, limit: int, cover: int) -> tuple[list[_Range], list[Row]]:
        query = self._query
        statement = self._statements.head(
            query.order, payload=self._payload, stops=self._stops, filtered=bool(self._filter)
        )
        values = (
            self._session_id,
            start,
            self._below,
            # A stop beyond the cursor would still end the scan.
            -1 if self._stops else self._low - 1,
            cover if self._descending and not self._filter else LARGEST_SEQ,
            self._low,
            limit,
            *((query.stop_at_type or "", query.stop_at_id or "") if self._stops else ()),
            *self._filter,
        )
        rows = self._run(statement, values)
        rows.sort(key=_SEQ)
        count = bisect_left(rows, 0, key=_SEQ)
        own = rows[count:]
        if self._descending:
            own.reverse()
        ranges = [_range_of(row) for row in reversed(rows[:count])]
        self._complete = len(ranges) < CHAIN_PAGE
        return ranges, own

    def _find_more(self) -> bool:
        """Follow the path further back; False when the ranges known so far are all."""
        if self._complete:
            return False
        ranges, _ = self._head(self._ranges[-1].last_id, 0, LARGEST_SEQ)
        self._ranges += ranges[1:]
        return len(ranges) > 1


def _range_of(row: Row) -> _Range:
    id, depth, _, high, segment_seq, stop_seq = row[:6]
    try:
        return _Range(id, int(depth), high, int(segment_seq), None if stop_seq is None else int(stop_seq))
    except (TypeError, ValueError):
        raise CorruptStorageError(f"the branch index of entry {id!r} is damaged") from None
