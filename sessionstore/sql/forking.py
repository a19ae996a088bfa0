"""Copies entries from one session to another inside a database, without reading them."""

from __future__ import annotations

from sessionstore.image import Selection
from sessionstore.metadata import not_found
from sessionstore.sql.container import SqlContainer
from sessionstore.sql.link import Link
from sessionstore.sql.snapshot import SqlSnapshot, by_ranges


def copy_entries(
    link: Link, container: SqlContainer, source: SqlSnapshot, selection: Selection, destination: str
) -> None:
    """Copy the entries that ``selection`` takes of ``source`` into the session ``destination``.

    Entries never change, so those of the snapshot are the ones below its next number. Raises
    ``SessionNotFoundError`` when the source is no longer the session that the snapshot is of.
    """
    statements = container.branch_statements.copying
    header = source.header
    if selection.whole_tree:
        link.run(statements.copy_tree, (destination, header.id, header.next_seq))
    elif selection.tip is not None:
        ranges = source.ranges(selection.tip)
        root_seq = ranges[0][0]
        for statement, bounds in by_ranges(statements.copy_ranges, ranges):
            link.run(statement, (destination, header.id, root_seq, *bounds))
    # Asked last: where each statement sees its own moment, a deletion may have come between them.
    if not link.rows(container.statements.session_state, (header.id, header.created_at)):
        raise not_found(header.id, container.name)
