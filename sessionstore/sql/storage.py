"""The store of one session in a database."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, starmap

import msgspec

from sessionstore.address import Place
from sessionstore.entries import CommitResult, EntryStructure
from sessionstore.errors import SessionNotFoundError
from sessionstore.ids import Clock
from sessionstore.image import SessionSnapshot
from sessionstore.metadata import not_found
from sessionstore.plan import CommitPlan
from sessionstore.queries import LARGEST_SEQ, BranchQuery, ListQuery, ScanQuery
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.sql.applying import Applied, SessionKey, apply_plan
from sessionstore.sql.branch_reader import BranchReader
from sessionstore.sql.container import SqlContainer
from sessionstore.sql.dbapi import Row, Values
from sessionstore.sql.link import Link
from sessionstore.sql.prepared import Prepared
from sessionstore.sql.rows import after_prefix, is_storable, totals_of
from sessionstore.sql.single_write import write_at_once
from sessionstore.sql.snapshot import open_snapshot
from sessionstore.sql.sqlite_files import DatabaseMissingError
from sessionstore.sql.statements import LARGEST_LIST
from sessionstore.storage import StorageBase, unknown_entry
from sessionstore.usage import SessionStats


class SqlStorage(StorageBase):
    """Reads and commits of one session, over the connections of its container."""

    def __init__(
        self,
        container: SqlContainer,
        session: SessionKey,
        clock: Clock,
        release: Callable[[], None] | None = None,
    ) -> None:
        """``release`` is called once at the end: a session with a file of its own closes it."""
        super().__init__(f"session {session.id!r}")
        self._container = container
        self._statements = container.statements
        self._session = session
        self._clock = clock
        self._on_release = release

    # -- commits -------------------------------------------------------------------------------

    def _apply(self, plan: CommitPlan, expected_seq: int | None) -> CommitResult:
        if not plan.steps:
            next_seq, stats = self._state()
            return CommitResult(next_seq, (), self._clock(), stats)
        applied = write_at_once(
            self._container, self._session, plan, clock=self._clock, expected_seq=expected_seq
        ) or self._write(plan, expected_seq)
        first_seq, timestamp, stats = applied
        return CommitResult(first_seq, plan.seqs(first_seq), timestamp, stats)

    def _write(self, plan: CommitPlan, expected_seq: int | None) -> Applied:
        def work(link: Link) -> Applied:
            return apply_plan(
                link,
                self._statements,
                self._session,
                plan,
                timestamp=self._clock(),
                expected_seq=expected_seq,
            )

        try:
            return self._container.write_together(work)
        except DatabaseMissingError:
            raise self._gone() from None

    def _gone(self) -> SessionNotFoundError:
        return not_found(self._session.id, self._session.container)

    def _next_seq(self) -> int:
        return self._state()[0]

    def _stats(self) -> SessionStats:
        return self._state()[1]

    def _state(self) -> tuple[int, SessionStats]:
        rows = self._rows(self._statements.session_state, (self._session.id, self._session.created_at))
        if not rows:
            raise self._gone()
        next_seq, message_count, totals = rows[0]
        return next_seq, SessionStats(message_count, totals_of(totals))

    # -- reads ---------------------------------------------------------------------------------

    def _rows(self, statement: Prepared, values: Values) -> list[Row]:
        try:
            return self._container.query(statement, values)
        except DatabaseMissingError:
            raise self._gone() from None

    def _value(self, place: Place) -> ValueRecord | None:
        rows = self._rows(self._statements.get_value, (self._session.id, *place))
        return ValueRecord(*place, *rows[0]) if rows else None

    def _values(self, prefix: Place) -> list[ValueRecord]:
        high = after_prefix(prefix.key)
        statement = self._statements.scan_values(bounded=high is not None)
        bounds = () if high is None else (high,)
        return list(starmap(ValueRecord, self._rows(statement, (self._session.id, *prefix, *bounds))))

    def _elements(self, place: Place, query: ListQuery) -> list[ElementRecord]:
        cursor = query.cursor
        if cursor is None:
            cursor = -1 if query.order == "asc" else LARGEST_SEQ
        values = (self._session.id, *place, cursor, query.limit)
        return [
            ElementRecord(*place, *row) for row in self._rows(self._statements.read_list(query.order), values)
        ]

    def _entries_by_id(self, ids: Sequence[str]) -> dict[str, EntryRecord]:
        wanted = [id for id in dict.fromkeys(ids) if is_storable(id)]
        found: dict[str, EntryRecord] = {}
        for start in range(0, len(wanted), LARGEST_LIST):
            some = wanted[start : start + LARGEST_LIST]
            for row in self._rows(*self._statements.entries_by_id.of((self._session.id,), some)):
                found[row[0]] = EntryRecord(*row)
        return found

    def _branch(self, query: BranchQuery) -> Iterator[EntryRecord]:
        return starmap(EntryRecord, self._path(query, payload=True))

    def _branch_structure(self, query: BranchQuery) -> Iterator[EntryStructure]:
        return starmap(EntryStructure, self._path(query, payload=False))

    def _path(self, query: BranchQuery, *, payload: bool) -> Iterator[Row]:
        if not is_storable(query.start):
            raise unknown_entry(query.start)
        if query.stop_at_id is not None and not is_storable(query.stop_at_id):
            query = msgspec.structs.replace(query, stop_at_id=None)
        if query.custom_type is not None and not is_storable(query.custom_type):
            query = msgspec.structs.replace(query, custom_type=None, limit=0)
        reader = BranchReader(
            self._rows, self._container.branch_statements, self._session.id, query, payload=payload
        )
        return chain.from_iterable(reader.pages())

    def _entries(self, query: ScanQuery) -> list[EntryRecord]:
        filters = tuple(text for text in (query.type, query.custom_type) if text is not None)
        if not all(map(is_storable, filters)):
            return []
        statement = self._statements.scan_entries(
            query.order, by_type=query.type is not None, by_custom_type=query.custom_type is not None
        )
        rows = self._rows(statement, (*self._bounds(query), *filters))
        return list(starmap(EntryRecord, rows))

    def _usage_rows(self, query: ScanQuery) -> list[UsageRecord]:
        rows = self._rows(self._statements.scan_usage(query.order), self._bounds(query))
        return list(starmap(UsageRecord, rows))

    def _bounds(self, query: ScanQuery) -> tuple[str, int, int, int]:
        limit = LARGEST_SEQ if query.limit is None else query.limit
        return self._session.id, query.from_seq, query.to_seq, limit

    # -- lifecycle -----------------------------------------------------------------------------

    @contextmanager
    def snapshot(self) -> Generator[SessionSnapshot]:
        """See :meth:`StorageBase.snapshot`."""
        session = self._session
        with ExitStack() as boundary:
            boundary.enter_context(self._gate.visit())
            boundary.enter_context(self.commit_turn())
            opening = open_snapshot(self._container, session.id, self._gone, boundary)
            try:
                with opening as (snapshot, metadata):
                    if metadata.created_at != session.created_at:
                        raise self._gone()
                    yield snapshot
            except DatabaseMissingError:
                raise self._gone() from None

    def _release(self) -> None:
        if self._on_release is not None:
            self._on_release()
