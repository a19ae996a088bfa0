"""Alembic as people run it from the project's root, and the commands behind ``sessionstore db``."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import unquote

import pytest
from legs import STORE_KINDS
from sql.schema_catalogs import TABLES, catalog
from sqlalchemy import Engine, NullPool, create_engine, inspect

from sessionstore.errors import (
    CorruptStorageError,
    InvalidUrlError,
    MissingDriverError,
    SchemaVersionError,
    StorageError,
)
from sessionstore.sql import migrations
from sessionstore.sql.models import Base
from sessionstore.sql.schema import HEAD_REVISION, ensure_schema

ROOT = Path(__file__).parents[2]
DATABASES = [
    kind for kind in STORE_KINDS if "sql" in kind.capabilities and "session_file" not in kind.capabilities
]
each_database = pytest.mark.parametrize("store_kind", DATABASES, indirect=True, ids=lambda kind: kind.name)


@pytest.fixture
def engine(store_url: str) -> Iterator[Engine]:
    engine = create_engine(store_url, poolclass=NullPool)
    yield engine
    engine.dispose()


def alembic(*arguments: str, folder: Path = ROOT, url: str | None = None) -> str:
    """Run ``alembic …`` in a folder; what it prints, logging aside."""
    return alembic_commands(list(arguments), folder=folder, url=url)[0]


def alembic_commands(*commands: list[str], folder: Path = ROOT, url: str | None = None) -> list[str]:
    """Run several ``alembic`` command lines in one process, which takes a second to start."""
    environment = {name: setting for name, setting in os.environ.items() if name != "SESSIONSTORE_URL"}
    environment["PYTHONPATH"] = str(ROOT)
    if url is not None:
        environment["SESSIONSTORE_URL"] = url
    program = (
        f"from alembic.config import main\nfor command in {commands!r}:\n  main(command)\n  print('\\f')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\f")[:-1]


# The same schema by both ways ---------------------------------------------------------------


@each_database
def test_alembic_makes_what_first_use_makes(new_store_url: Callable[[], str]) -> None:
    by_alembic, by_use = (create_engine(new_store_url(), poolclass=NullPool) for _ in range(2))
    alembic("upgrade", "head", url=by_alembic.url.render_as_string(hide_password=False))
    ensure_schema(by_use)
    assert catalog(by_alembic) == catalog(by_use)
    assert migrations.current(by_alembic) == migrations.current(by_use) == HEAD_REVISION


@each_database
def test_the_alembic_commands(engine: Engine, store_url: str) -> None:
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE theirs (id INT)")
    commands = [["upgrade", "head"], ["check"], ["current"], ["history"], ["downgrade", "base"], ["current"]]
    upgraded, checked, current, history, downgraded, after = alembic_commands(*commands, url=store_url)
    assert upgraded.strip() == downgraded.strip() == after.strip() == ""
    assert "No new upgrade operations detected" in checked
    assert "0001 (head)" in current
    assert "-> 0001 (head)" in history
    assert set(inspect(engine).get_table_names()) == {"alembic_version", "theirs"}
    assert ensure_schema(engine)  # an empty version table is no history


@each_database
def test_the_offline_script_makes_the_same_schema(new_store_url: Callable[[], str]) -> None:
    by_script, by_use = (create_engine(new_store_url(), poolclass=NullPool) for _ in range(2))
    script = alembic("upgrade", "head", "--sql", url=by_script.url.render_as_string(hide_password=False))
    lines = [line for line in script.split("\n") if not line.startswith("--")]
    with by_script.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for statement in "\n".join(lines).split(";"):
            if statement.strip():
                connection.exec_driver_sql(statement.strip())
    ensure_schema(by_use)
    assert without_layout(catalog(by_script)) == without_layout(catalog(by_use))
    assert not ensure_schema(by_script)


def without_layout(found: dict[str, list[tuple[object, ...]]]) -> dict[str, list[tuple[object, ...]]]:
    """SQLite keeps the text of its DDL, and a script is printed with spaces for tabs."""
    return {
        name: [
            tuple(" ".join(item.split()) if isinstance(item, str) else item for item in row) for row in rows
        ]
        for name, rows in found.items()
    }


def test_sqlite_tables_have_no_row_ids_and_nothing_runs_by_itself(tmp_path: Path) -> None:
    engine = create_engine(f"sqlite:///{tmp_path}/a.db", poolclass=NullPool)
    ensure_schema(engine)
    found = catalog(engine)
    assert {row[0] for row in found["tables"] if row[3] == 1} == set(TABLES)
    assert {row[0] for row in found["objects"]} == {"table", "index"}
    assert {row[4] for row in found["index columns"]} == {"BINARY"}
    assert not any("COLLATE" in (row[3] or "") for row in found["objects"])


def test_postgresql_text_is_collated_by_code_point(postgresql_url: str) -> None:
    engine = create_engine(postgresql_url, poolclass=NullPool)
    ensure_schema(engine)
    found = catalog(engine)
    collations = {
        (row[0], row[1]): row[4] for row in found["columns"] if row[0] in TABLES and row[2] == "text"
    }
    json_columns = {"metadata", "usage", "payload", "value", "details"}
    assert {key for key, collation in collations.items() if collation != "C"} == {
        key for key in collations if key[1] in json_columns
    }
    assert len(collations) == 26
    assert found["triggers"] == []


def test_mariadb_tables_are_binary_whatever_the_database_is(mariadb_url: str) -> None:
    engine = create_engine(mariadb_url, poolclass=NullPool)
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER DATABASE CHARACTER SET latin1 COLLATE latin1_swedish_ci")
    ensure_schema(engine)
    found = catalog(engine)
    assert {row[1:] for row in found["tables"] if row[0] in TABLES} == {("InnoDB", "Dynamic", "utf8mb4_bin")}
    columns = [row for row in found["columns"] if row[0] in TABLES]
    assert {(row[2].partition("(")[0], row[6]) for row in columns if row[2].startswith(("varb", "long"))} == {
        ("varbinary", None),
        ("longtext", "utf8mb4_bin"),
    }
    assert {row[2].partition("(")[0] for row in columns} == {
        "varbinary",
        "longtext",
        "bigint",
        "int",
        "tinyint",
    }
    assert found["triggers"] == []


# What check sees ----------------------------------------------------------------------------


@each_database
@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ("DROP INDEX ix_sessions_created_at_id{on sessions}", "ix_sessions_created_at_id"),
        ("ALTER TABLE entries ADD COLUMN extra INT", "extra"),
        ("DROP TABLE usage_ledger", "usage_ledger"),
        ("UPDATE alembic_version SET version_num = '0000'", "0000"),
        ("DROP TABLE alembic_version", "no revision"),
    ],
)
def test_check_tells_what_differs(engine: Engine, change: str, seen: str) -> None:
    ensure_schema(engine)
    assert migrations.check(engine) == []
    on = " ON sessions" if engine.dialect.name == "mariadb" else ""
    with engine.begin() as connection:
        connection.exec_driver_sql(change.replace("{on sessions}", on))
    assert seen in "\n".join(migrations.check(engine))


@pytest.mark.parametrize(
    ("leg", "change"),
    [
        ("postgresql", "ALTER TABLE entries ALTER COLUMN seq TYPE INT"),
        ("postgresql", "ALTER TABLE entries ALTER COLUMN parent_id SET NOT NULL"),
        ("mariadb", "ALTER TABLE entries MODIFY id VARCHAR(255) NOT NULL"),
        ("mariadb", "ALTER TABLE entries MODIFY payload MEDIUMTEXT NOT NULL"),
    ],
)
def test_check_compares_types(leg: str, change: str, request: pytest.FixtureRequest) -> None:
    engine = create_engine(request.getfixturevalue(f"{leg}_url"), poolclass=NullPool)
    ensure_schema(engine)
    with engine.begin() as connection:
        connection.exec_driver_sql(change)
    assert len(migrations.check(engine)) == 1


@each_database
def test_check_and_current_of_an_empty_database(engine: Engine) -> None:
    assert migrations.current(engine) is None
    assert "none of our tables" in "\n".join(migrations.check(engine))
    assert inspect(engine).get_table_names() == []


@each_database
def test_upgrade_is_idempotent_and_refuses_the_future(store_url: str, engine: Engine) -> None:
    assert migrations.upgrade(store_url) == HEAD_REVISION
    before = catalog(engine)
    assert migrations.upgrade(store_url) == HEAD_REVISION
    assert catalog(engine) == before
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SchemaVersionError, match=r"9999.*newer release"):
        migrations.upgrade(store_url)
    assert catalog(engine) == before


# URLs and files -----------------------------------------------------------------------------


ODD_NAMES = ["100%.db", "%(here)s.db", "%%25.db", "a b.db", "é😀.db", "it's.db", "a=b&c.db", "a;b,c.db"]


def test_an_odd_path_in_the_environment_and_on_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "100% %(here)s a=b;c,d&e"
    folder.mkdir()
    alembic("upgrade", "head", url=f"sqlite:///{folder}/é 😀's.db")
    assert [path.name for path in folder.iterdir()] == ["é 😀's.db"]
    assert "0001 (head)" in alembic("-x", f"url=sqlite:///{folder}/é 😀's.db", "current")


@pytest.mark.parametrize("name", ODD_NAMES)
def test_an_odd_path_in_the_library(tmp_path: Path, name: str) -> None:
    """The URL reads as in SQLAlchemy, which decodes what is percent-encoded and keeps other ``%``."""
    url = f"sqlite:///{tmp_path}/{name}"
    migrations.upgrade(url)
    assert [path.name for path in tmp_path.iterdir()] == [unquote(name)]
    assert migrations.current(url) == HEAD_REVISION
    assert migrations.check(url) == []


def test_a_path_is_taken_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "%41?mode=ro#é.db"
    migrations.upgrade(path)
    assert [found.name for found in tmp_path.iterdir()] == [path.name]
    assert migrations.current(path) == HEAD_REVISION
    assert migrations.check(path) == []


def test_the_default_is_a_file_here_and_the_checkout_may_be_anywhere(tmp_path: Path) -> None:
    checkout = tmp_path / "100% %(odd)s [é]"
    checkout.mkdir()
    shutil.copy(ROOT / "alembic.ini", checkout)
    shutil.copytree(ROOT / "alembic", checkout / "alembic")
    alembic("upgrade", "head", folder=checkout)
    assert (checkout / "sessions.db").is_file()
    assert "0001 (head)" in alembic("current", folder=checkout)


def test_the_command_line_comes_before_the_environment(tmp_path: Path) -> None:
    alembic("-x", f"url=sqlite:///{tmp_path}/x.db", "upgrade", "head", url=f"sqlite:///{tmp_path}/env.db")
    assert [path.name for path in tmp_path.iterdir()] == ["x.db"]


def test_a_plain_database_name_gets_its_driver() -> None:
    drivers = {
        "sqlite:///a.db": "sqlite",
        "postgresql://h/d": "postgresql+psycopg",
        "postgresql+psycopg://h/d": "postgresql+psycopg",
        "mariadb://h/d": "mariadb+pymysql",
        "mysql://h/d": "mysql+pymysql",
        "mysql+mysqldb://h/d": "mysql+mysqldb",
    }
    assert {url: migrations.database_url(url).drivername for url in drivers} == drivers


@pytest.mark.parametrize(
    "url",
    [
        "memory://",
        "jsonl:///a",
        "sqlite+dir:///a",
        "oracle://h/d",
        "no url",
        "",
        "sqlite+aiosqlite:///a",
        "postgresql://h:port/d",
    ],
)
def test_what_is_no_single_database_is_refused(url: str) -> None:
    with pytest.raises(InvalidUrlError):
        migrations.upgrade(url)


def test_a_missing_driver_names_the_extra() -> None:
    with pytest.raises(MissingDriverError, match=r"sessionstore\[mariadb\]"):
        migrations.upgrade("mysql+mysqldb://nobody@127.0.0.1:1/none")


@pytest.mark.parametrize("look", [migrations.current, migrations.check])
def test_looking_makes_no_file(tmp_path: Path, look: Callable[[str], object]) -> None:
    with pytest.raises(StorageError, match="cannot be opened"):
        look(f"sqlite:///{tmp_path}/missing.db")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("use", [migrations.current, migrations.check, migrations.upgrade])
def test_a_file_that_is_no_database(tmp_path: Path, use: Callable[[str], object]) -> None:
    path = tmp_path / "text.db"
    path.write_text("This is not a database." * 100)
    with pytest.raises(CorruptStorageError, match="not a database"):
        use(f"sqlite:///{path}")
    assert path.read_text() == "This is not a database." * 100


def test_a_server_that_is_not_there_is_one_clear_error_without_the_password() -> None:
    with pytest.raises(StorageError) as refused:
        migrations.upgrade("postgresql://me:hunter2@127.0.0.1:1/none?connect_timeout=2")
    assert "hunter2" not in str(refused.value)


def test_a_database_that_may_only_be_read_can_be_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    migrations.upgrade(f"sqlite:///{path}")
    engine = create_engine(
        "sqlite://",
        poolclass=NullPool,
        creator=lambda: sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True),
    )
    assert migrations.current(engine) == HEAD_REVISION
    assert migrations.check(engine) == []
    assert not ensure_schema(engine)


# Where the migrations are, and users' own histories -----------------------------------------


def test_the_migrations_are_found_in_the_package_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "sessionstore" / "sql"
    package.mkdir(parents=True)
    monkeypatch.setattr(migrations, "__file__", str(package / "migrations.py"))
    with pytest.raises(StorageError, match="missing from this installation"):
        migrations.script_location()
    shutil.copytree(ROOT / "alembic", tmp_path / "alembic")
    assert migrations.script_location() == tmp_path / "alembic"
    shutil.copytree(ROOT / "alembic", package / "_alembic")
    assert migrations.script_location() == package / "_alembic"
    url = f"sqlite:///{tmp_path}/a.db"
    migrations.upgrade(url)
    assert migrations.check(url) == []


def test_the_head_that_the_library_needs_is_the_head_of_the_migrations() -> None:
    assert f"{HEAD_REVISION} (head)" in alembic("heads")


def test_a_revision_can_be_generated_from_the_models(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    shutil.copytree(ROOT / "alembic", checkout / "alembic", ignore=shutil.ignore_patterns("0001*"))
    shutil.copy(ROOT / "alembic.ini", checkout)
    alembic("revision", "--autogenerate", "-m", "everything", folder=checkout)
    alembic("upgrade", "head", folder=checkout)
    generated, used = checkout / "sessions.db", tmp_path / "used.db"
    ensure_schema(create_engine(f"sqlite:///{used}", poolclass=NullPool))
    assert columns(generated) == columns(used)


def columns(path: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            'SELECT m.name, c.cid, c.name, c.type, c."notnull", c.pk FROM sqlite_master m, '
            "pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2"
        ).fetchall()


def test_a_users_history_can_carry_ours_beside_its_own(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "env.py").write_text(
        "from sqlalchemy import create_engine\n"
        "from alembic import context\n"
        "from sessionstore.sql.models import Base\n"
        f"with create_engine('sqlite:///{tmp_path}/shared.db').connect() as connection:\n"
        "    context.configure(connection=connection, target_metadata=Base.metadata)\n"
        "    with context.begin_transaction():\n"
        "        context.run_migrations()\n"
        "    connection.commit()\n"
    )
    (theirs / "versions").mkdir()
    (theirs / "versions" / "mine.py").write_text(
        "from alembic import op\nimport sqlalchemy as sa\n"
        "revision, down_revision = 'mine', None\n"
        "def upgrade():\n    op.create_table('users', sa.Column('id', sa.Integer()))\n"
        "def downgrade():\n    op.drop_table('users')\n"
    )
    (tmp_path / "alembic.ini").write_text(
        "[alembic]\nscript_location = theirs\npath_separator = newline\n"
        f"version_locations = theirs/versions\n    {ROOT}/alembic/versions\n"
    )
    alembic("upgrade", "heads", folder=tmp_path)
    engine = create_engine(f"sqlite:///{tmp_path}/shared.db", poolclass=NullPool)
    assert not ensure_schema(engine)
    assert migrations.check(engine) == []


def test_every_name_follows_the_convention() -> None:
    names = {
        str(item.name)
        for table in Base.metadata.sorted_tables
        for item in (*table.constraints, *table.indexes)
    }
    assert names == {
        *(f"pk_{table}" for table in TABLES),
        *(f"fk_{table}_session_id_sessions" for table in TABLES if table != "sessions"),
        "uq_entries_session_id_seq",
        "uq_usage_ledger_session_id_seq",
        "ix_entries_session_id_segment_seq_seq",
        "ix_sessions_created_at_id",
    }
