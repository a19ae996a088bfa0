"""A session of a database as of one boundary, read in bounded memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import chain, islice, starmap

from sessionstore.address import Place
from sessionstore.entries import EntryStructure
from sessionstore.errors import SessionNotFoundError
from sessionstore.image import ImageHeader, Selection, SessionSnapshot, Survey
from sessionstore.metadata import SessionMetadata
from sessionstore.queries import branch_query
from sessionstore.records import (
    ElementRecord,
    EntryRecord,
    Record,
    UsageRecord,
    ValueRecord,
    place_of,
)
from sessionstore.sql.applying import find_nodes
from sessionstore.sql.branch_index import Node
from sessionstore.sql.branch_reader import BranchReader
from sessionstore.sql.branch_statements import LARGEST_ARMS
from sessionstore.sql.container import SqlContainer
from sessionstore.sql.dbapi import Row
from sessionstore.sql.link import Link
from sessionstore.sql.prepared import BySize, Prepared, filled
from sessionstore.sql.rows import check_version, is_storable, metadata_of, totals_of
from sessionstore.sql.statements import HEADER_COLUMNS, LARGEST_LIST, ListStatement
from sessionstore.usage import SessionStats


class SqlSnapshot(SessionSnapshot):
    """Reads inside one read-only transaction, which its maker holds open."""

    def __init__(self, container: SqlContainer, link: Link, header: ImageHeader) -> None:
        super().__init__(header)
        self._link = link
        self._statements = container.statements
        self._branch_statements = container.branch_statements
        self._id = header.id

    def index_rows(self) -> Iterator[Row]:
        """Rows of ``all_places``: every entry with its place in the branch index, by number."""
        return self._link.stream(self._statements.all_places, (self._id,))

    def ranges(self, start: str) -> list[tuple[int, int, int]]:
        """The path from ``start`` to its root as ``(segment_seq, low, high)``, the root's first."""
        reader = self._reader(start, order="oldest_first", payload=False)
        return [(arm.segment_seq, arm.low, arm.high) for arm in reader.counted_arms()]

    def read(self, selection: Selection) -> Iterator[Record]:
        """See :meth:`SessionSnapshot.read`."""
        link, all_of = self._link, self._statements
        if selection.whole_tree:
            yield from starmap(EntryRecord, link.stream(all_of.all_entries, (self._id,)))
        elif selection.tip is not None:
            path = self._reader(selection.tip, order="oldest_first", payload=True)
            yield from starmap(EntryRecord, chain.from_iterable(path.batches()))
        if selection.usage_rows:
            yield from starmap(UsageRecord, link.stream(all_of.all_usage, (self._id,)))
        taken = self._namespaces(selection, self.value_places, selection.takes_value)
        for value in starmap(ValueRecord, self._rows_in(taken, all_of.values_in, all_of.all_values)):
            if selection.takes_value(place_of(value)):
                yield value
        taken = self._namespaces(selection, self.list_places, selection.takes_list)
        for element in starmap(ElementRecord, self._rows_in(taken, all_of.elements_in, all_of.all_elements)):
            if selection.takes_list(place_of(element)):
                yield element

    def _namespaces(
        self,
        selection: Selection,
        places: Callable[[], Iterator[Place]],
        takes: Callable[[Place], bool],
    ) -> list[str] | None:
        """Namespaces outside of which nothing is taken; None where all have to be read."""
        if selection.ephemeral:
            return None
        found = {place.namespace for place in places() if takes(place)}
        return sorted(found) if len(found) <= LARGEST_LIST else None

    def _rows_in(
        self, namespaces: list[str] | None, some: ListStatement, all_rows: Prepared
    ) -> Iterator[Row]:
        if namespaces is None:
            return self._link.stream(all_rows, (self._id,))
        return self._link.stream(*some.of((self._id, ""), namespaces)) if namespaces else iter(())

    def value(self, place: Place) -> ValueRecord | None:
        """See :meth:`SessionSnapshot.value`."""
        rows = self._link.rows(self._statements.get_value, (self._id, *place))
        return ValueRecord(*place, *rows[0]) if rows else None

    def value_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.value_places`."""
        return starmap(Place, self._link.stream(self._statements.value_places, (self._id, "")))

    def list_places(self) -> Iterator[Place]:
        """See :meth:`SessionSnapshot.list_places`."""
        return starmap(Place, self._link.stream(self._statements.list_places, (self._id, "")))

    def structure(self) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.structure`."""
        return starmap(EntryStructure, self._link.stream(self._statements.all_structure, (self._id,)))

    def path(self, start: str) -> Iterator[EntryStructure]:
        """See :meth:`SessionSnapshot.path`."""
        reader = self._reader(start, order="newest_first", payload=False)
        return starmap(EntryStructure, chain.from_iterable(reader.batches()))

    def survey(self, start: str | None, ids: Collection[str]) -> Survey:
        """See :meth:`SessionSnapshot.survey`; counted in the database, range by range."""
        nodes = self._nodes(ids)
        if start is None:
            return Survey(self.header.stats.message_count, set(nodes))
        ranges = self.ranges(start)
        counted = [
            self._link.rows(statement, (self._id, *bounds))
            for statement, bounds in by_ranges(self._branch_statements.copying.count_messages, ranges)
        ]
        highest = {segment_seq: high for segment_seq, _, high in ranges}
        found = {id for id, node in nodes.items() if node.seq <= highest.get(node.segment_seq, -1)}
        return Survey(sum(count for rows in counted for (count,) in rows), found)

    def _nodes(self, ids: Collection[str]) -> dict[str, Node]:
        nodes: dict[str, Node] = {}
        wanted = iter(filter(is_storable, ids))
        while some := list(islice(wanted, LARGEST_LIST)):
            nodes.update(find_nodes(self._link, self._statements, self._id, some)[1])
        return nodes

    def _reader(self, start: str, *, order: str, payload: bool) -> BranchReader:
        query = branch_query(start, order=order)
        return BranchReader(
            self._link.rows, self._branch_statements, self._id, query, payload=payload, in_batches=True
        )


@contextmanager
def open_snapshot(
    container: SqlContainer,
    id: str,
    missing: Callable[[], SessionNotFoundError],
    boundary: AbstractContextManager[object] | None = None,
    *,
    path: str | None = None,
) -> Generator[tuple[SqlSnapshot, SessionMetadata]]:
    """A snapshot of one session, and its metadata, for the length of the block.

    The first read, which fixes what is seen, happens inside ``boundary``: for an open session its
    commit line. The session and its storage version are checked in the same transaction.
    """
    with container.snapshot() as link:
        with boundary or nullcontext():
            rows = link.rows(container.statements.session_image, (id,))
        if not rows:
            raise missing()
        count = len(HEADER_COLUMNS)
        metadata = metadata_of(rows[0][:count], container.name, path)
        check_version(metadata)
        next_seq, message_count, totals = rows[0][count:]
        header = ImageHeader(
            id,
            metadata.created_at,
            next_seq,
            SessionStats(message_count, totals_of(totals)),
            metadata.parent_session_id,
            metadata.cwd,
            metadata.legacy_parent_session_path,
        )
        yield SqlSnapshot(container, link, header), metadata


def by_ranges(
    statement: BySize, ranges: Sequence[tuple[int, int, int]]
) -> Iterator[tuple[Prepared, tuple[int, ...]]]:
    """A statement for every so many ranges, with their bounds: the last of its values."""
    for start in range(0, len(ranges), LARGEST_ARMS):
        some = list(ranges[start : start + LARGEST_ARMS])
        prepared, size = statement.at_least(len(some))
        if size > len(some):
            some.append((0, 0, -1))  # what fills up holds nothing, so that nothing is met twice
        yield prepared, tuple(bound for found in filled(some, size) for bound in found)
