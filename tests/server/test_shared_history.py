"""Our tables in a database whose schema the application's own Alembic history makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from legs import StoreKind
from sqlalchemy import NullPool, create_engine, inspect

from sessionstore import open_repository
from sessionstore.sql import migrations
from sessionstore.sql.schema import HEAD_REVISION, TABLES

ENV = """
from alembic import context
from sqlalchemy import NullPool, create_engine

with create_engine(context.config.get_main_option("url"), poolclass=NullPool).connect() as connection:
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()
"""

OWN_REVISION = """
import sqlalchemy as sa
from alembic import op

revision = "a1"
down_revision = None
branch_labels = ("app",)


def upgrade():
    op.create_table("users", sa.Column("id", sa.Integer, primary_key=True))


def downgrade():
    op.drop_table("users")
"""


@pytest.fixture
def database_url(store_kind: StoreKind, store_url: str, tmp_path: Path) -> str:
    """One database: a server's, or a file."""
    return store_url if "server" in store_kind.capabilities else f"sqlite:///{tmp_path}/app.db"


@pytest.mark.needs("sql")
def test_the_versions_folder_joins_a_history(database_url: str, tmp_path: Path) -> None:
    own = tmp_path / "migrations"
    (own / "versions").mkdir(parents=True)
    (own / "env.py").write_text(ENV, encoding="utf-8")
    (own / "versions" / "a1_users.py").write_text(OWN_REVISION, encoding="utf-8")
    config = Config()
    config.set_main_option("script_location", str(own))
    config.set_main_option("path_separator", "newline")
    config.set_main_option(
        "version_locations", f"{own / 'versions'}\n{migrations.script_location() / 'versions'}"
    )
    config.set_main_option("url", database_url.replace("%", "%%"))

    command.upgrade(config, "heads")
    engine = create_engine(database_url, poolclass=NullPool)
    assert {*TABLES, "users"} <= set(inspect(engine).get_table_names())
    with engine.connect() as connection:
        stamps = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalars().all()
    assert sorted(stamps) == sorted(["a1", HEAD_REVISION])

    with open_repository(database_url, create_schema=False) as repo:
        repo.create(id="a").close()
    assert migrations.check(database_url) == []
    command.downgrade(config, "app@base")
    with open_repository(database_url, create_schema=False) as repo:
        assert [metadata.id for metadata in repo.list()] == ["a"]
