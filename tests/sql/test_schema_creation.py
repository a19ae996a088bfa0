"""First use: what makes the schema, what accepts one, and what is refused untouched."""

from __future__ import annotations

import secrets
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from legs import STORE_KINDS, StoreKind
from servers import administration
from sql.schema_catalogs import TABLES, catalog
from sql.schema_processes import in_processes
from sqlalchemy import Engine, NullPool, create_engine, event, inspect, make_url

from sessionstore.errors import SchemaVersionError
from sessionstore.sql import migrations
from sessionstore.sql.models import Base
from sessionstore.sql.schema import (
    HEAD_REVISION,
    SchemaState,
    create_schema,
    creation_lock,
    ensure_schema,
    schema_state,
    schema_statements,
)

DATABASES = [
    kind for kind in STORE_KINDS if "sql" in kind.capabilities and "session_file" not in kind.capabilities
]
each_database = pytest.mark.parametrize("store_kind", DATABASES, indirect=True, ids=lambda kind: kind.name)


@pytest.fixture
def engine(store_url: str) -> Iterator[Engine]:
    engine = create_engine(store_url, poolclass=NullPool)
    yield engine
    engine.dispose()


def run(engine: Engine, *statements: str) -> None:
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


def revisions(engine: Engine) -> list[str]:
    with engine.connect() as connection:
        return list(connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars())


@each_database
def test_first_use_creates_the_schema_once(engine: Engine) -> None:
    assert ensure_schema(engine)
    made = catalog(engine)
    assert not ensure_schema(engine)
    assert catalog(engine) == made
    assert revisions(engine) == [HEAD_REVISION]
    assert set(inspect(engine).get_table_names()) == {*TABLES, "alembic_version"}


@each_database
def test_an_empty_database_stays_empty_when_creation_is_off(engine: Engine) -> None:
    with pytest.raises(SchemaVersionError, match="sessionstore db upgrade"):
        ensure_schema(engine, create=False)
    assert inspect(engine).get_table_names() == []
    ensure_schema(engine)
    assert not ensure_schema(engine, create=False)


@each_database
@pytest.mark.parametrize("revision", ["0000", "9999", "1a2b3c4d5e6f"])
def test_another_revision_is_refused_with_the_command_and_left_alone(engine: Engine, revision: str) -> None:
    ensure_schema(engine)
    run(engine, f"UPDATE alembic_version SET version_num = '{revision}'")
    before = catalog(engine)
    with pytest.raises(SchemaVersionError, match=rf"at revision {revision}.*`sessionstore db upgrade \S+`"):
        ensure_schema(engine)
    assert catalog(engine) == before
    assert revisions(engine) == [revision]


@each_database
def test_a_second_history_in_the_same_version_table_is_accepted(engine: Engine) -> None:
    ensure_schema(engine)
    run(engine, "INSERT INTO alembic_version VALUES ('their_own')")
    assert not ensure_schema(engine)


@each_database
def test_another_applications_history_alone_is_refused(engine: Engine) -> None:
    run(
        engine,
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)",
        "INSERT INTO alembic_version VALUES ('their_own')",
    )
    with pytest.raises(SchemaVersionError, match="their_own"):
        ensure_schema(engine)
    assert inspect(engine).get_table_names() == ["alembic_version"]


@each_database
def test_a_stamp_without_the_tables_is_refused(engine: Engine) -> None:
    ensure_schema(engine)
    run(engine, "DROP TABLE usage_ledger")
    with pytest.raises(SchemaVersionError, match="without usage_ledger"):
        ensure_schema(engine)
    assert "usage_ledger" not in inspect(engine).get_table_names()


@each_database
@pytest.mark.parametrize("version_table", [False, True], ids=["no version table", "empty version table"])
def test_somebody_elses_table_of_our_name_is_refused_and_kept(engine: Engine, version_table: bool) -> None:
    run(engine, "CREATE TABLE sessions (token INT)", "INSERT INTO sessions VALUES (7)")
    if version_table:
        run(engine, "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    before = catalog(engine)
    with pytest.raises(SchemaVersionError, match="has sessions but no revision"):
        ensure_schema(engine)
    with pytest.raises(SchemaVersionError, match="database of its own"):
        migrations.upgrade(engine)
    assert catalog(engine) == before
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT token FROM sessions").scalar() == 7


@each_database
def test_a_users_other_tables_are_none_of_our_business(engine: Engine) -> None:
    run(engine, "CREATE TABLE users (id INT PRIMARY KEY)", "INSERT INTO users VALUES (1)")
    assert ensure_schema(engine)
    assert migrations.check(engine) == []
    assert set(inspect(engine).get_table_names()) == {*TABLES, "alembic_version", "users"}


@each_database
def test_tables_made_from_the_models_are_stamped_by_upgrade_only(engine: Engine) -> None:
    Base.metadata.create_all(engine)
    with pytest.raises(SchemaVersionError, match="but no revision in alembic_version"):
        ensure_schema(engine)
    assert migrations.current(engine) is None
    assert migrations.upgrade(engine) == HEAD_REVISION
    assert not ensure_schema(engine)


@pytest.mark.slow
@each_database
def test_the_first_use_of_eight_processes_makes_one_schema(
    store_kind: StoreKind, new_store_url: Callable[[], str]
) -> None:
    urls = [new_store_url() for _ in range(3 if "server" in store_kind.capabilities else 20)]
    migrated = [new_store_url() for _ in range(2)]
    made = in_processes(8, urls, migrated)
    assert [sum(of_one) for of_one in zip(*made, strict=True)] == [1] * len(urls)
    for url in (*urls, *migrated):
        assert_whole(url)


def assert_whole(url: str) -> None:
    engine = create_engine(url, poolclass=NullPool)
    assert migrations.check(engine) == []
    assert revisions(engine) == [HEAD_REVISION]


# Other databases of the server have locks of their own.
ADVISORY_LOCKS = (
    "SELECT count(*) FROM pg_locks JOIN pg_database ON pg_database.oid = pg_locks.database "
    "WHERE locktype = 'advisory' AND datname = current_database()"
)


def test_the_lock_holds_on_an_engine_that_commits_by_itself(postgresql_url: str) -> None:
    engine = create_engine(postgresql_url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    seen: list[int] = []

    @event.listens_for(engine, "before_cursor_execute")
    def _watch(*_: object) -> None:
        with administration(postgresql_url) as execute:
            seen.append(execute(ADVISORY_LOCKS)[0][0])

    migrations.upgrade(engine)
    assert set(seen[-5:]) == {1}
    with administration(postgresql_url) as execute:
        assert execute(ADVISORY_LOCKS)[0][0] == 0


def test_who_waited_for_the_lock_sees_what_its_holder_made(new_database: Callable[[str], str]) -> None:
    urls = []
    for level in ("repeatable read", "serializable"):
        option = f"-c default_transaction_isolation={level}".replace("e r", "e\\ r")
        url = make_url(new_database("postgresql")).update_query_dict({"options": option})
        urls.append(url.render_as_string(hide_password=False))
    made = in_processes(2, urls, [])
    assert [sum(of_one) for of_one in zip(*made, strict=True)] == [1, 1]


def test_a_look_at_a_schema_that_is_being_made_waits_for_its_end(mariadb_url: str) -> None:
    engine = create_engine(mariadb_url, poolclass=NullPool)
    version, sessions, *rest = schema_statements(engine.dialect)
    with ThreadPoolExecutor(1) as thread, engine.connect() as maker, engine.connect() as looker:
        with creation_lock(maker.connection.cursor(), engine.dialect):
            maker.exec_driver_sql(sessions)  # as the reader of a list that grows may see it: no version table
            look = thread.submit(schema_state, looker.connection.cursor(), engine.dialect, "here")
            waiting = (
                "SELECT COUNT(*) FROM information_schema.processlist "
                "WHERE db = DATABASE() AND state = 'User lock'"
            )
            while not maker.exec_driver_sql(waiting).scalar():
                assert not look.done(), look.result()
            for statement in (version, *rest):
                maker.exec_driver_sql(statement)
            maker.commit()
        assert look.result() is SchemaState.CURRENT


# A creation that was cut off ----------------------------------------------------------------


def test_a_cut_off_creation_is_completed_where_ddl_is_not_transactional(
    new_database: Callable[[str], str], mariadb_url: str
) -> None:
    whole = create_engine(mariadb_url, poolclass=NullPool)
    ensure_schema(whole)
    expected = catalog(whole)
    statements = schema_statements(whole.dialect)
    for done in range(2, len(statements)):
        for complete in (ensure_schema, migrations.upgrade):
            engine = create_engine(new_database("mariadb"), poolclass=NullPool)
            run(engine, *statements[:done])
            complete(engine)
            assert catalog(engine) == expected
            assert revisions(engine) == [HEAD_REVISION]


def test_a_migration_that_was_cut_off_can_be_run_again(mariadb_url: str) -> None:
    engine = create_engine(mariadb_url, poolclass=NullPool)

    @event.listens_for(engine, "before_cursor_execute")
    def _cut(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        if "CREATE TABLE list_values" in statement or "TABLE IF NOT EXISTS list_values" in statement:
            raise ConnectionError("cut")

    with pytest.raises(ConnectionError):
        migrations.upgrade(engine)
    assert "entries" in inspect(engine).get_table_names()
    assert revisions(engine) == []
    event.remove(engine, "before_cursor_execute", _cut)
    assert migrations.upgrade(engine) == HEAD_REVISION
    assert_whole(mariadb_url)


@pytest.mark.parametrize("leg", ["sqlite", "postgresql"])
def test_a_migration_that_was_cut_off_leaves_nothing(
    leg: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"sqlite:///{tmp_path}/cut.db" if leg == "sqlite" else request.getfixturevalue("postgresql_url")
    engine = create_engine(url, poolclass=NullPool)

    @event.listens_for(engine, "before_cursor_execute")
    def _cut(_conn: object, _cursor: object, statement: str, *_: object) -> None:
        if "CREATE TABLE list_values" in statement:
            raise ConnectionError("cut")

    with pytest.raises(ConnectionError):
        migrations.upgrade(engine)
    assert inspect(engine).get_table_names() == []


# Encodings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_postgresql_database_that_is_not_utf8_is_refused(postgresql_server_url: str, encoding: str) -> None:
    name = f"sessionstore_test_{secrets.token_hex(8)}"
    url = make_url(postgresql_server_url).set(database=name)
    engine = create_engine(url, poolclass=NullPool, connect_args={"client_encoding": "utf8"})
    with administration(postgresql_server_url) as execute:
        execute(
            f"CREATE DATABASE {name} ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        )
        try:
            with pytest.raises(SchemaVersionError, match=rf"keeps text as {encoding}.*encoding UTF8"):
                ensure_schema(engine)
            with pytest.raises(SchemaVersionError, match=rf"keeps text as {encoding}"):
                migrations.upgrade(url)
            assert inspect(engine).get_table_names() == []
        finally:
            execute(f"DROP DATABASE {name}")


def test_a_sqlite_file_in_utf16_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "utf16.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("PRAGMA encoding = 'UTF-16le'; CREATE TABLE theirs (a)")
    engine = create_engine(f"sqlite:///{path}", poolclass=NullPool)
    for use in (ensure_schema, migrations.upgrade):
        with pytest.raises(SchemaVersionError, match="keeps text as UTF-16le"):
            use(engine)
    assert inspect(engine).get_table_names() == ["theirs"]


# On a cursor, as the one-file-per-session layout uses it ------------------------------------


def test_creation_is_part_of_the_callers_transaction(tmp_path: Path) -> None:
    dialect = create_engine("sqlite://").dialect
    with closing(sqlite3.connect(tmp_path / "a.db", isolation_level=None)) as connection:
        cursor = connection.cursor()
        for end, left in (("ROLLBACK", SchemaState.EMPTY), ("COMMIT", SchemaState.CURRENT)):
            cursor.execute("BEGIN IMMEDIATE")
            assert schema_state(cursor, dialect, "a.db") is SchemaState.EMPTY
            create_schema(cursor, dialect)
            cursor.execute(end)
            assert schema_state(cursor, dialect, "a.db") is left


def test_first_use_does_not_load_alembic(tmp_path: Path) -> None:
    program = (
        "import sys; from sqlalchemy import create_engine; "
        "from sessionstore.sql.schema import ensure_schema; "
        f"assert ensure_schema(create_engine('sqlite:///{tmp_path}/a.db')); "
        "assert not [name for name in sys.modules if name.startswith('alembic')]"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_password_never_shows(postgresql_url: str) -> None:
    url = make_url(postgresql_url).set(password="hunter2")
    engine = create_engine(url, poolclass=NullPool)
    with pytest.raises(SchemaVersionError, match="has no schema yet") as refused:
        ensure_schema(engine, create=False)
    assert "hunter2" not in str(refused.value)
