"""Rows that were tampered with: every kind of damage is found, what is derived is rebuilt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Table, create_engine, make_url, select, update
from sqlalchemy.pool import NullPool

from sessionstore import (
    NewMessageEntry,
    NewUsageRow,
    Session,
    append_list,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    json_text,
    open_repository,
    set_value,
    value,
    value_list,
)
from sessionstore.entries import NewCustomEntry
from sessionstore.sql.models import Base
from sessionstore.transfer import Verdict, verify_store
from sessionstore.usage import Usage, usage_to_json

pytestmark = pytest.mark.needs("sql")

SCOPE = ephemeral_scope("op-that-nobody-knows")
TABLES = Base.metadata.tables
TOTALS = json_text.encode(usage_to_json(Usage(input=1)), "usage")


def fill(session: Session) -> None:
    """Numbers 1 to 12; the paths to ``c`` and ``d`` divide below ``a``."""
    said = {"role": "user", "content": "x"}
    for id, parent in (("a", None), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "d")):
        session.commit([insert_entry(NewMessageEntry(id, parent, said))])
    session.commit([insert_entry(NewCustomEntry("f", "e", "note"))])
    for id in ("u", "v"):
        session.commit([insert_usage(NewUsageRow(id, Usage(input=3, output=1)))])
    session.commit([set_value(value("app", "k"), {"n": 1}), append_list(value_list("app", "l"), 1, tag="t")])
    session.commit(
        [set_value(value("app", "k", scope=SCOPE), 1), append_list(value_list("app", "l", scope=SCOPE), 2)]
    )


@contextmanager
def tampering(url: str) -> Iterator[Connection]:
    """A connection to the database of session ``s``."""
    if url.startswith("sqlite+dir:"):
        url = "sqlite:///" + str(Path(url.removeprefix("sqlite+dir://")) / "s.sqlite")
    engine = create_engine(make_url(url), poolclass=NullPool)
    with engine.begin() as connection:
        yield connection


@dataclass(frozen=True)
class Damage:
    """Columns of the row with an ``id`` or a number are set; ``told`` is a part of the problem."""

    table: str
    row: str | int
    change: dict[str, Any]
    told: str
    repaired: str = ""


def damage(table: str, row: str | int, told: str, repaired: str = "", **change: Any) -> Damage:
    return Damage(table, row, change, told, repaired)


DAMAGES = {
    "a parent that is missing": damage("entries", "c", "the parent 'x' does not exist", parent_id="x"),
    "a parent that comes later": damage("entries", "b", "the parent 'c' does not exist", parent_id="c"),
    "an entry below itself": damage("entries", "b", "the parent 'b' does not exist", parent_id="b"),
    "an id of both kinds": damage("usage_ledger", "u", "used more than once", id="a"),
    "a payload that is not JSON": damage("entries", "b", "not JSON", payload="{"),
    "a payload of another type": damage("entries", "b", "entry 'b'", payload='{"data":1}'),
    "a message without its role": damage("entries", "b", "entry 'b'", payload='{"message":7}'),
    "a custom entry without its type": damage("entries", "f", "custom type", custom_type=None),
    "a number that was used": damage("usage_ledger", "u", "3 is used more than once", seq=3),
    "a number of no write": damage("usage_ledger", "u", "0 is no number", seq=0),
    "a number beyond the next one": damage(
        "usage_ledger",
        "v",
        "the next number is 13, but 700 is used",
        "raised the next number from 13 to 701",
        seq=700,
    ),
    "a next number that is too low": damage(
        "sessions",
        "s",
        "the next number is 4, but 12 is used",
        "raised the next number from 4 to 13",
        next_seq=4,
    ),
    "a value that is not JSON": damage("scalar_values", 9, "not JSON", value="nul"),
    "a value of a scope that is not JSON": damage("scalar_values", 11, "not JSON", value="nul"),
    "an element that is not JSON": damage("list_values", 10, "not JSON", value=""),
    "an empty tag": damage("list_values", 10, "tag", tag=""),
    "an empty namespace": damage("scalar_values", 9, "namespace", namespace=""),
    "a row that is not JSON": damage("usage_ledger", "u", "usage", usage="-"),
    "a row that is none": damage("usage_ledger", "u", "usage", usage='{"input":"many"}'),
    "details that are not JSON": damage("usage_ledger", "u", "not JSON", details="}"),
    "a message count": damage(
        "sessions", "s", "count 9 messages, there are 5", "the statistics", message_count=9
    ),
    "totals": damage("sessions", "s", "not the sum of the ledger", "the statistics", usage=TOTALS),
    "totals that are not JSON": damage("sessions", "s", "", "the statistics", usage="?"),
    "a segment": damage(
        "entries", "c", "the branch index says segment 7", "the branch index: 1", segment_seq=7
    ),
    "a depth": damage("entries", "e", "and depth 9", "the branch index: 1", depth=9),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_found_and_what_is_derived_is_rebuilt(store_url: str, kind: str) -> None:
    found = DAMAGES[kind]
    with open_repository(store_url) as repo:
        with repo.create(id="s") as session:
            fill(session)
        whole = everything(store_url)
        assert verdict(store_url) == Verdict("s", records=12)
        with tampering(store_url) as connection:
            assert connection.execute(_update(found)).rowcount == 1
        damaged = everything(store_url)
        problems = verdict(store_url).problems
        assert [problem for problem in problems if found.told in problem], problems
        assert everything(store_url) == damaged
        repaired = verdict(store_url, repair=True)
        if not found.repaired:
            assert repaired.problems
            kept = [name for name in damaged if name != "sessions"]
            after = everything(store_url)
            assert without_index(after, kept) == without_index(damaged, kept)
            return
        assert repaired.problems == []
        assert [line for line in repaired.repairs if found.repaired in line], repaired.repairs
        assert verdict(store_url, repair=True) == Verdict("s", records=12)
        if found.row != "v":
            assert without_time(everything(store_url)) == without_time(whole)
        with repo.open("s") as session:
            assert session.set_value(value("app", "k"), 1).seqs == (701 if found.row == "v" else 13,)
            assert [entry.id for entry in session.storage.scan_branch("f")] == ["f", "e", "d", "a"]


def _update(found: Damage) -> Any:
    table = TABLES[found.table]
    column = table.c.id if isinstance(found.row, str) else table.c.seq
    return update(table).where(column == found.row).values(found.change)


def verdict(url: str, *, repair: bool = False) -> Verdict:
    with open_repository(url) as repo:
        container, found = verify_store(repo, repair=repair)
    assert container.problems == []
    return found


Rows = dict[str, list[dict[str, Any]]]


def everything(url: str) -> Rows:
    def rows(table: Table) -> list[dict[str, Any]]:
        found = [dict(row) for row in connection.execute(select(table)).mappings()]
        return sorted(found, key=lambda row: str([row.get("id"), row.get("seq")]))

    with tampering(url) as connection:
        return {table.name: rows(table) for table in Base.metadata.sorted_tables}


def without_index(rows: Rows, tables: list[str]) -> Rows:
    """What is no derived data."""
    derived = {"segment_seq", "depth"}
    return {
        name: [{column: row[column] for column in row if column not in derived} for row in rows[name]]
        for name in tables
    }


def without_time(rows: Rows) -> Rows:
    return {name: [{**row, "modified_at": 0} for row in found] for name, found in rows.items()}
