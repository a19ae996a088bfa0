"""Proves and rebuilds what a database derives from the records of a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sessionstore.errors import MissingParentError, SessionNotFoundError
from sessionstore.records import UsageRecord, usage_of
from sessionstore.sql.branch_index import Placement
from sessionstore.sql.container import SqlContainer
from sessionstore.sql.dbapi import Row
from sessionstore.sql.link import Link
from sessionstore.usage import Usage, add_usage, sum_text

_TOLD: Final = 20


class _Misplaced(NamedTuple):
    id: str
    found: tuple[int, int]
    right: tuple[int, int]


def check_index(rows: Iterable[Row]) -> list[str]:
    """What is wrong with the branch index, a line each; ``rows`` are those of ``all_places``."""
    problems: list[str] = []
    more = 0
    for id, found, right in _misplaced(rows):
        if len(problems) == _TOLD:
            more += 1
            continue
        problems.append(
            f"entry {id!r}: the branch index says segment {found[0]} and depth {found[1]}, "
            f"its ancestors say {right[0]} and {right[1]}"
        )
    return [*problems, f"{more} more entries are wrong in the branch index"] if more else problems


def _misplaced(rows: Iterable[Row]) -> Iterator[_Misplaced]:
    placement = Placement()
    for id, parent_id, seq, segment_seq, depth, _ in rows:
        try:
            right = placement.place(id, parent_id, seq)
        except MissingParentError:  # a fault of the records, which others tell; here a root
            right = placement.place(id, None, seq)
        if right != (segment_seq, depth):
            yield _Misplaced(id, (segment_seq, depth), right)


def rebuild_derived(container: SqlContainer, id: str, missing: SessionNotFoundError) -> list[str]:
    """Rebuild the branch index, the statistics and the next number from the records, in one transaction.

    Tells what was changed, a line each.
    """
    statements = container.statements

    def work(link: Link) -> list[str]:
        locked = link.rows(statements.lock_session_header, (id,))
        if not locked:
            raise missing
        state = link.rows(statements.session_state, (id, locked[0][1]))[0]
        done: list[str] = []
        misplaced = list(_misplaced(link.stream(statements.all_places, (id,))))
        if misplaced:
            link.run_many(statements.place_entry, [(*wrong.right, id, wrong.id) for wrong in misplaced])
            done.append(f"rebuilt the branch index: {len(misplaced)} entries were wrong in it")
        messages = sum(row[5] == "message" for row in link.stream(statements.all_places, (id,)))
        totals = Usage()
        for row in link.stream(statements.all_usage, (id,)):
            totals = add_usage(totals, usage_of(UsageRecord(*row)))
        highest = max((seq for (seq,) in link.rows(statements.highest_seqs, (id,) * 4) if seq), default=0)
        derived = (max(state[0], highest + 1), messages, sum_text(totals))
        if derived != tuple(state):
            link.run(statements.set_derived, (*derived, id))
        if derived[0] != state[0]:
            done.append(f"raised the next number from {state[0]} to {derived[0]}")
        if derived[1:] != tuple(state[1:]):
            done.append("rebuilt the statistics")
        return done

    return container.write(work, streams=True)
