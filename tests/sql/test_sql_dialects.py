"""The SQL of each dialect, without a server; and what drivers' errors become."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

import pytest
from sqlalchemy import create_engine

from sessionstore.errors import (
    CorruptStorageError,
    InvalidUrlError,
    MissingDriverError,
    StorageBusyError,
    StorageError,
)
from sessionstore.sql.branch_statements import BranchStatements
from sessionstore.sql.dialects import MariadbDialect, PostgresqlDialect, SqlDialect, SqliteDialect, dialect_of
from sessionstore.sql.dialects import mariadb as mariadb_module
from sessionstore.sql.driver_errors import Kind, mariadb_failure, postgresql_failure, sqlite_failure
from sessionstore.sql.engine_container import container_name
from sessionstore.sql.prepared import Prepared
from sessionstore.sql.rows import after_prefix, is_storable
from sessionstore.sql.statements import Statements
from sessionstore.sql.urls import container_of_url

DIALECTS: dict[str, SqlDialect] = {
    dialect.name: dialect for dialect in (SqliteDialect(), PostgresqlDialect(), MariadbDialect())
}
each_dialect = pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)


def hot_statements(statements: Statements) -> Iterator[Prepared]:
    """What a commit sends."""
    yield statements.lock_session
    yield statements.advance_session
    yield statements.insert_entries
    yield statements.set_values
    yield statements.append_elements
    yield statements.insert_usage
    yield statements.delete_place["values"]
    yield statements.delete_place["lists"]
    yield statements.delete_places("values", 1, 1)[0]
    yield statements.find_ids.of(("s",), ["a", "b"])[0]


@each_dialect
def test_every_statement_names_the_session(dialect: SqlDialect) -> None:
    statements = Statements(dialect)
    for statement in hot_statements(statements):
        assert "session_id" in statement.sql or "sessions.id =" in statement.sql, statement.sql


@each_dialect
def test_values_are_parameters_and_never_text(dialect: SqlDialect) -> None:
    mark = "?" if dialect.name == "sqlite" else "%s"
    for statement in hot_statements(Statements(dialect)):
        assert mark in statement.sql
        assert not re.search(r"'[^']+'", statement.sql), statement.sql


def test_the_session_row_is_locked_by_the_first_statement() -> None:
    for name in ("postgresql", "mariadb"):
        assert Statements(DIALECTS[name]).lock_session.sql.rstrip().endswith("FOR UPDATE")
    # SQLite's lock is BEGIN IMMEDIATE.
    assert "FOR UPDATE" not in Statements(DIALECTS["sqlite"]).lock_session.sql


def test_numbers_are_taken_in_the_locking_statement_where_update_returns() -> None:
    for name in ("sqlite", "postgresql"):
        sql = Statements(DIALECTS[name]).take_numbers.sql
        assert sql.startswith("UPDATE sessions SET")
        assert "RETURNING" in sql
    assert not DIALECTS["mariadb"].update_returns


def test_upserts() -> None:
    for name in ("sqlite", "postgresql"):
        assert "ON CONFLICT (session_id, scope_id, namespace" in Statements(DIALECTS[name]).set_values.sql
    assert "ON DUPLICATE KEY UPDATE seq = VALUES(seq)" in Statements(DIALECTS["mariadb"]).set_values.sql


def test_no_prefix_scan_uses_like() -> None:
    for dialect in DIALECTS.values():
        for bounded in (False, True):
            assert "LIKE" not in Statements(dialect).scan_values(bounded=bounded).sql


def test_lists_of_ids_are_filled_up_to_powers_of_two() -> None:
    for name in ("sqlite", "mariadb"):
        found = Statements(DIALECTS[name]).entries_by_id
        assert found.of(("s",), ["a", "b", "c"])[0] is found.of(("s",), ["a", "b", "c", "d"])[0]
        assert found.of(("s",), ["a", "b", "c"])[1] == ("s", "a", "b", "c", "c")
    found = Statements(DIALECTS["postgresql"]).entries_by_id
    assert found.of(("s",), ["a", "b", "c"])[0] is found.of(("s",), ["a"] * 5000)[0]


def test_what_a_commit_inserts_passes_to_the_driver_untouched() -> None:
    for name in ("sqlite", "postgresql"):
        statements = Statements(DIALECTS[name])
        rows: Any = [("x",) * 10]
        for statement in (statements.insert_entries, statements.append_elements, statements.insert_usage):
            assert statement.bind_many(rows) is rows


def test_identities_are_bytes_on_mariadb() -> None:
    statement = Statements(DIALECTS["mariadb"]).get_value
    assert list(statement.bind(("s", "", "é", "k"))) == [b"s", b"", "é".encode(), b"k"]


def test_the_segment_index_is_named_to_mariadb() -> None:
    sql = BranchStatements(DIALECTS["mariadb"]).arms("desc", payload=True, filtered=False).at_least(1)[0].sql
    assert f"FORCE INDEX ({mariadb_module.SEGMENT_INDEX})" in sql


# Errors ---------------------------------------------------------------------------------------


class Reported(Exception):  # noqa: N818 - stands for what drivers raise
    """A PostgreSQL error as psycopg gives it."""

    def __init__(self, state: str | None, primary: str = "SECRET row") -> None:
        super().__init__(f"{primary}\nDETAIL:  Failing row contains (SECRET).")
        self.sqlstate = state
        self.diag = type("Diagnostics", (), {"message_primary": primary})()


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("40001", Kind.CONFLICT),
        ("40P01", Kind.CONFLICT),
        ("08006", Kind.LOST),
        ("57P01", Kind.LOST),
        ("23505", Kind.DUPLICATE),
        ("22021", Kind.FAILED),
        ("23514", Kind.FAILED),
    ],
)
def test_postgresql_states(state: str, kind: Kind) -> None:
    assert postgresql_failure(Reported(state), "db", connected=True).kind is kind


@pytest.mark.parametrize("state", ["22021", "22P02", "23502", "23505", "23514", "XX000"])
def test_no_row_of_postgresql_is_told(state: str) -> None:
    error = postgresql_failure(Reported(state), "db", connected=True).error
    assert "SECRET" not in str(error)
    assert state in str(error)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (1213, Kind.CONFLICT),
        (1205, Kind.CONFLICT),
        (1020, Kind.CONFLICT),
        (2006, Kind.LOST),
        (2013, Kind.LOST),
        (1062, Kind.DUPLICATE),
        (1406, Kind.FAILED),
    ],
)
def test_mariadb_codes(code: int, kind: Kind) -> None:
    assert mariadb_failure(Exception(code, "SECRET"), "db", connected=True).kind is kind


@pytest.mark.parametrize("code", [1062, 1264, 1366, 1406, 1153])
def test_no_row_of_mariadb_is_told(code: int) -> None:
    failure = mariadb_failure(Exception(code, "Data too long: 'SECRET'"), "db", connected=True)
    assert "SECRET" not in str(failure.error)


def test_a_packet_that_is_too_large_is_explained() -> None:
    assert "max_allowed_packet" in str(mariadb_failure(Exception(1153, "x"), "db", connected=True).error)
    sent = [("id", "x" * 2_000_000)]
    explained = DIALECTS["mariadb"].explain_loss(sent, lambda _: 1_000_000, "db")
    assert explained is not None
    assert "max_allowed_packet" in str(explained)
    assert DIALECTS["mariadb"].explain_loss(sent, lambda _: 64_000_000, "db") is None
    assert DIALECTS["mariadb"].explain_loss([("id", "small")], lambda _: 1, "db") is None


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (sqlite3.SQLITE_BUSY, StorageBusyError),
        (sqlite3.SQLITE_LOCKED, StorageBusyError),
        (sqlite3.SQLITE_NOTADB, CorruptStorageError),
        (sqlite3.SQLITE_CORRUPT, CorruptStorageError),
        (sqlite3.SQLITE_FULL, StorageError),
        (sqlite3.SQLITE_READONLY, StorageError),
        (sqlite3.SQLITE_IOERR, StorageError),
    ],
)
def test_sqlite_codes(code: int, error: type[Exception]) -> None:
    raised = sqlite3.OperationalError("what SQLite says")
    raised.sqlite_errorcode = code | (1 << 8)  # extended codes count as their primary one
    failure = sqlite_failure(raised, "/a/b.db")
    assert type(failure.error) is error
    assert "/a/b.db" in str(failure.error)


# URLs -----------------------------------------------------------------------------------------

OPTIONS: dict[str, Any] = {"create_schema": True, "durability": "full", "busy_timeout": 5.0}


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg2://u:SECRET@h/db",
        "postgresql+asyncpg://u:SECRET@h/db",
        "oracle://u:SECRET@h/db",
        "mysql+mysqlconnector://u:SECRET@h/db",
        "sqlite+aiosqlite:///x.db",
        "sqlite://u:SECRET@h/x.db",
        "sqlite:///x.db?mode=SECRET_ro",
        "mariadb+pymysql://u:SECRET@h",
        "postgresql://h?password=:SECRET",
        "nonsense SECRET",
        "postgresql://u:SECRET@h:port/db",
    ],
)
def test_urls_that_are_not_known_are_refused_without_their_password(url: str) -> None:
    with pytest.raises(InvalidUrlError) as refused:
        container_of_url(url, **OPTIONS)
    assert "SECRET@" not in str(refused.value)
    assert ":SECRET" not in unquote(str(refused.value))


def test_one_database_has_one_name() -> None:
    names = {
        container_of_url(url, **OPTIONS).name
        for url in (
            "mysql+pymysql://u:p@HOST/db",
            "mariadb+pymysql://other@host:3306/db",
            "mariadb://host/db?charset=utf8mb4",
        )
    }
    assert names == {"mariadb://host:3306/db"}
    name = container_of_url("postgresql://user:pass@db.example:6543/app", **OPTIONS).name
    assert name == "postgresql://db.example:6543/app"


def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr(mariadb_module, "import_module", missing)
    for driver in ("pymysql", "MySQLdb"):
        with pytest.raises(MissingDriverError, match=r"sessionstore\[mariadb\]"):
            MariadbDialect(driver)


def test_an_engine_of_another_driver_is_refused() -> None:
    engine = create_engine("sqlite+pysqlite://")
    assert dialect_of(engine).name == "sqlite"
    assert container_name(engine.url, DIALECTS["sqlite"]).startswith("sqlite:memory:")
    engine.dialect.driver = "pysqlcipher"
    with pytest.raises(InvalidUrlError, match="pysqlcipher"):
        dialect_of(engine)


# Texts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prefix", "after"),
    [
        ("", None),
        ("a", "b"),
        ("a\x7f", "a\x80"),
        ("\ud7ff", "\ue000"),
        ("a\U0010ffff", "b"),
        ("\U0010ffff\U0010ffff", None),
        ("\uffff", "\U00010000"),
    ],
)
def test_the_end_of_a_prefix_is_the_next_text_by_code_point(prefix: str, after: str | None) -> None:
    assert after_prefix(prefix) == after
    if after is not None:
        assert prefix + "\U0010ffff" < after
        after.encode()


def test_only_texts_that_a_database_can_hold_are_asked_of_it() -> None:
    assert all(map(is_storable, ["", "a", "é", "\U0010ffff"]))
    assert not any(map(is_storable, ["\ud800", "a\0b", "\0"]))
