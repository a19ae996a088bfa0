"""What is read of a long session does not grow with it, on servers that have no statistics of it yet."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from sessionstore import SessionRepo, open_repository
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.queries import Order
from sessionstore.records import EntryRecord
from sessionstore.sql.branch_statements import BranchStatements
from sessionstore.sql.dbapi import Values
from sessionstore.sql.dialects import PostgresqlDialect
from sessionstore.sql.prepared import Prepared
from sessionstore.sql.statements import Statements
from sessionstore.usage import SessionStats

pytestmark = pytest.mark.slow

ENTRIES = 20_000
ORDERS: tuple[Order, ...] = ("asc", "desc")


def _long_session(repo: SessionRepo) -> str:
    ids = [f"e{number}" for number in range(ENTRIES + 1)]
    records = (
        EntryRecord(
            ids[seq],
            ids[seq - 1] if seq > 1 else None,
            seq,
            0,
            "message",
            None,
            '{"message":{"role":"user"}}',
        )
        for seq in range(1, ENTRIES + 1)
    )
    header = ImageHeader("long", 0, ENTRIES + 1, SessionStats(message_count=ENTRIES))
    return repo.load(SessionImage(header, records)).id


def _plan(raw: psycopg.Connection[Any], statement: Prepared, values: Values) -> str:
    return "\n".join(row[0] for row in raw.execute(f"EXPLAIN {statement.sql}", statement.bind(values)))


def test_postgresql_looks_entries_up_one_by_one(postgresql_url: str) -> None:
    with open_repository(postgresql_url) as repo:
        session_id = _long_session(repo)
    dialect = PostgresqlDialect()
    statements, branches = Statements(dialect), BranchStatements(dialect)
    branch = (session_id, f"e{ENTRIES}", 2**62, 0, 50, 0, 50)
    with psycopg.connect(
        make_url(postgresql_url).set(drivername="postgresql").render_as_string(False)
    ) as raw:
        heads = [branches.head(order, payload=True, stops=False, filtered=False) for order in ORDERS]
        plans = [_plan(raw, head, branch) for head in heads]
        ids = [f"e{number}" for number in range(500)]
        plans.append(_plan(raw, *statements.find_ids.of((session_id,), ids)))
        plans.append(_plan(raw, *statements.entries_by_id.of((session_id,), ids)))
    for plan in plans:
        # A hash, a merge or a scan would be of all entries of the session.
        assert not any(word in plan for word in ("Hash", "Merge", "Seq Scan on entries")), plan
        assert "id = ANY" not in plan
