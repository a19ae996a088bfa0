"""Applies one checked plan inside a write transaction that somebody has begun.

What the statements do, in this order: lock the session's row and take the numbers; prove new ids
and outside parents; delete, then insert, one batch for each table; write the totals. Of these the
first two are sent together where the driver can, and all the rest needs no answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

from sessionstore.address import Place
from sessionstore.metadata import not_found
from sessionstore.plan import CommitPlan
from sessionstore.sql.branch_index import Node, Placement
from sessionstore.sql.dbapi import Values
from sessionstore.sql.link import Answer, Link
from sessionstore.sql.prepared import filled
from sessionstore.sql.rows import element_row, entry_rows, totals_of, usage_row, value_row
from sessionstore.sql.statements import LARGEST_DELETE, LARGEST_LIST, Deletable, Statements
from sessionstore.storage import conflict_error
from sessionstore.usage import SessionStats, sum_text

T = TypeVar("T")


class SessionKey(NamedTuple):
    """Which session: an id may be taken again after a deletion, then at another time."""

    id: str
    created_at: int
    container: str


class Applied(NamedTuple):
    """What came of a plan."""

    first_seq: int
    timestamp: int
    """Unix ms."""
    stats: SessionStats


def apply_plan(
    link: Link,
    statements: Statements,
    session: SessionKey,
    plan: CommitPlan,
    *,
    timestamp: int,
    expected_seq: int | None,
) -> Applied:
    """Write a plan that is not empty; whoever began the transaction commits it or rolls it back.

    ``timestamp`` is Unix ms. Raises ``SessionNotFoundError``, ``TransactionConflictError`` when
    ``expected_seq`` is not the first number, ``StorageError`` when there are no numbers left,
    ``DuplicateIdError`` and ``MissingParentError``.
    """
    head = _lock(link, statements, session, plan, timestamp)
    searches = _search(link, statements, session.id, [*plan.new_ids, *plan.outside_parents])
    found = head.rows()
    if not found:
        raise not_found(session.id, session.container)
    next_seq, message_count, totals = found[0]
    took_numbers = _takes_numbers_at_once(link, plan)
    if took_numbers:
        next_seq -= plan.count
        message_count -= plan.message_count
    if expected_seq is not None and expected_seq != next_seq:
        raise conflict_error(expected_seq, next_seq)
    plan.check_numbers(next_seq)
    taken, parents = _nodes(searches)
    plan.prove(parents, taken)
    _write(link, statements, session.id, plan, _Numbering(next_seq, timestamp, parents))
    stats = plan.counted(SessionStats(message_count, totals_of(totals)))
    if not took_numbers:
        if plan.usages:
            totals = sum_text(stats.usage)
        link.run(
            statements.advance_session,
            (next_seq + plan.count, stats.message_count, timestamp, totals, session.id),
        )
    return Applied(next_seq, timestamp, stats)


class _Numbering(NamedTuple):
    first_seq: int
    timestamp: int
    parents: dict[str, Node]


def _takes_numbers_at_once(link: Link, plan: CommitPlan) -> bool:
    """Whether the row is written when it is locked; with usage it must be written at the end anyway."""
    return link.dialect.update_returns and not plan.usages


def _lock(
    link: Link, statements: Statements, session: SessionKey, plan: CommitPlan, timestamp: int
) -> Answer:
    if _takes_numbers_at_once(link, plan):
        values = (plan.count, plan.message_count, timestamp, session.id, session.created_at)
        return link.ask(statements.take_numbers, values)
    return link.ask(statements.lock_session, (session.id, session.created_at))


def _search(link: Link, statements: Statements, session_id: str, ids: Sequence[str]) -> list[Answer]:
    return [
        link.ask(*statements.find_ids.of((session_id,), ids[start : start + LARGEST_LIST]))
        for start in range(0, len(ids), LARGEST_LIST)
    ]


def find_nodes(
    link: Link, statements: Statements, session_id: str, ids: Sequence[str]
) -> tuple[set[str], dict[str, Node]]:
    """Which of ``ids`` are taken, by an entry or by a ledger row, and where the entries stand."""
    return _nodes(_search(link, statements, session_id, ids))


def _nodes(searches: Sequence[Answer]) -> tuple[set[str], dict[str, Node]]:
    taken: set[str] = set()
    entries: dict[str, Node] = {}
    for search in searches:
        for id, seq, segment_seq, depth, ends_segment in search.rows():
            taken.add(id)
            if seq is not None:
                entries[id] = Node(seq, segment_seq, depth, bool(ends_segment))
    return taken, entries


def _write(
    link: Link, statements: Statements, session_id: str, plan: CommitPlan, numbering: _Numbering
) -> None:
    first_seq, timestamp, parents = numbering
    if plan.value_deletes or plan.retired:
        _delete(link, statements, "values", session_id, places=plan.value_deletes, scopes=plan.retired)
    if plan.list_deletes or plan.retired:
        _delete(link, statements, "lists", session_id, places=plan.list_deletes, scopes=plan.retired)
    if plan.entries:
        rows = entry_rows(session_id, plan.entries, Placement(parents), first_seq, timestamp)
        link.run_many(statements.insert_entries, rows)
    if plan.value_sets:
        link.run_many(
            statements.set_values, [value_row(session_id, value, first_seq) for value in plan.value_sets]
        )
    if plan.appends:
        link.run_many(
            statements.append_elements,
            [element_row(session_id, element, first_seq) for element in plan.appends],
        )
    if plan.usage_rows:
        link.run_many(
            statements.insert_usage, [usage_row(session_id, row, first_seq) for row in plan.usage_rows]
        )


def _delete(
    link: Link,
    statements: Statements,
    what: Deletable,
    session_id: str,
    *,
    places: Sequence[Place],
    scopes: Sequence[str],
) -> None:
    """Delete single places and whole scopes: as few statements as the driver lets it be."""
    if not scopes and len(places) == 1:
        link.run(statements.delete_place[what], (session_id, *places[0]))
        return
    if link.dialect.batches_deletes and (not scopes or max(len(places), len(scopes)) > LARGEST_DELETE):
        if places:
            link.run_many(statements.delete_place[what], [(session_id, *place) for place in places])
        if scopes:
            whole_scope, _, _ = statements.delete_places(what, 0, 1)
            link.run_many(whole_scope, [(session_id, scope_id) for scope_id in scopes])
        return
    while places or scopes:
        some_places, places = places[:LARGEST_DELETE], places[LARGEST_DELETE:]
        some_scopes, scopes = scopes[:LARGEST_DELETE], scopes[LARGEST_DELETE:]
        statement, place_count, scope_count = statements.delete_places(
            what, len(some_places), len(some_scopes)
        )
        values: Values = (
            session_id,
            *(part for place in _filled(some_places, place_count) for part in place),
            *_filled(some_scopes, scope_count),
        )
        link.run(statement, values)


def _filled(items: Sequence[T], size: int) -> Sequence[T]:
    return filled(items, size) if items else items
