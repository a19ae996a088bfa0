"""No read of the hot paths sorts or walks a table: proven on SQLite's own query plans."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest

from sessionstore.queries import Order
from sessionstore.sql.branch_statements import BranchStatements
from sessionstore.sql.dialects import SqliteDialect
from sessionstore.sql.prepared import Prepared
from sessionstore.sql.schema import create_schema
from sessionstore.sql.statements import Statements

DIALECT = SqliteDialect()
STATEMENTS = Statements(DIALECT)
BRANCHES = BranchStatements(DIALECT)
ORDERS: tuple[Order, ...] = ("asc", "desc")


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    raw = sqlite3.connect(":memory:")
    create_schema(raw.cursor(), DIALECT.compiler)
    yield raw
    raw.close()


def plan(database: sqlite3.Connection, statement: Prepared) -> list[str]:
    values = [None] * statement.sql.count("?")
    return [row[3] for row in database.execute(f"EXPLAIN QUERY PLAN {statement.sql}", values)]


def assert_ranges_only(lines: list[str]) -> None:
    """Every table is searched by an index or key, and nothing is sorted."""
    for line in lines:
        assert "TEMP B-TREE" not in line, lines
        # A recursion, its result, and a subquery's are scanned; those are no tables of ours.
        scans_table = line.startswith("SCAN ") and line.split()[1] not in ("chain", "CONSTANT")
        assert not scans_table or line.split()[1].startswith(("anon_", "(")), lines


@pytest.mark.parametrize("order", ORDERS)
def test_list_pages_run_on_the_primary_key(database: sqlite3.Connection, order: Order) -> None:
    lines = plan(database, STATEMENTS.read_list(order))
    assert_ranges_only(lines)
    sign = ">" if order == "asc" else "<"
    # A page without a cursor is the same statement, with a bound that every number passes.
    assert lines == [
        (
            "SEARCH list_values USING PRIMARY KEY "
            f"(session_id=? AND scope_id=? AND namespace=? AND key=? AND seq{sign}?)"
        )
    ]


@pytest.mark.parametrize("bounded", [False, True])
def test_prefix_scans_run_on_the_primary_key(database: sqlite3.Connection, bounded: bool) -> None:
    lines = plan(database, STATEMENTS.scan_values(bounded=bounded))
    assert_ranges_only(lines)
    assert "USING PRIMARY KEY (session_id=? AND scope_id=? AND namespace=? AND key>?" in lines[0]
    assert ("key<?" in lines[0]) is bounded


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("filtered", [False, True])
def test_scans_of_entries_and_ledger_run_on_the_number(
    database: sqlite3.Connection, order: Order, filtered: bool
) -> None:
    for statement in (
        STATEMENTS.scan_entries(order, by_type=filtered, by_custom_type=filtered),
        STATEMENTS.scan_usage(order),
    ):
        lines = plan(database, statement)
        assert_ranges_only(lines)
        assert "(session_id=? AND seq>? AND seq<?)" in lines[0]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("payload", [False, True])
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("size", [1, 2, 256])
def test_arms_of_a_path_read_one_range_each(
    database: sqlite3.Connection, order: Order, payload: bool, filtered: bool, size: int
) -> None:
    statement, count = BRANCHES.arms(order, payload=payload, filtered=filtered).at_least(size)
    lines = plan(database, statement)
    assert_ranges_only(lines)
    ranges = [line for line in lines if line.startswith("SEARCH entries USING")]
    assert len(ranges) == count
    assert all("(session_id=? AND segment_seq=? AND seq>? AND seq<?)" in line for line in ranges)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("payload", [False, True])
@pytest.mark.parametrize("stops", [False, True])
@pytest.mark.parametrize("filtered", [False, True])
def test_the_head_of_a_path_searches_only(
    database: sqlite3.Connection, order: Order, payload: bool, stops: bool, filtered: bool
) -> None:
    lines = plan(database, BRANCHES.head(order, payload=payload, stops=stops, filtered=filtered))
    assert_ranges_only(lines)
    assert any("(session_id=? AND segment_seq=? AND seq>? AND seq<?)" in line for line in lines)


def test_new_ids_and_parents_are_looked_up_by_key(database: sqlite3.Connection) -> None:
    statement, _ = STATEMENTS.find_ids.of(("s",), ["a", "b", "c"])
    lines = plan(database, statement)
    assert_ranges_only(lines)
    assert any("entries USING PRIMARY KEY (session_id=? AND id=?)" in line for line in lines)
    assert any("usage_ledger USING PRIMARY KEY (session_id=? AND id=?)" in line for line in lines)
    assert any("last USING" in line and "segment_seq=? AND seq>? AND seq<?" in line for line in lines)


@pytest.mark.parametrize(("places", "scopes"), [(1, 1), (3, 0), (0, 2), (200, 30)])
def test_deleting_places_and_scopes_at_once_searches_each(
    database: sqlite3.Connection, places: int, scopes: int
) -> None:
    for what in ("values", "lists"):
        statement, _, _ = STATEMENTS.delete_places(what, places, scopes)
        assert_ranges_only(plan(database, statement))


def test_a_page_of_sessions_starts_where_the_last_one_ended(database: sqlite3.Connection) -> None:
    lines = plan(database, STATEMENTS.list_sessions(after=True, limited=True))
    assert lines[0].startswith("SEARCH sessions USING INDEX")
    assert "created_at<?" in lines[0]
    # Sessions of the same millisecond alone are put in order of their ids.
    assert lines[1:] == ["USE TEMP B-TREE FOR RIGHT PART OF ORDER BY"]
