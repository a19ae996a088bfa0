"""What Alembic runs: on a connection of the caller's, on a URL, or offline (``--sql``)."""

from __future__ import annotations

import os
from contextlib import nullcontext
from logging.config import fileConfig
from typing import Any

from alembic import context
from sqlalchemy import Connection

from sessionstore.sql.drivers import shown
from sessionstore.sql.migrations import alembic_options, database_url, migration_engine
from sessionstore.sql.schema import check_encoding, exclusive_transaction

DEFAULT_URL = "sqlite:///sessions.db"


def configured_url() -> str:
    """The database: ``-x url=…``, else the environment, else a file in the current folder.

    It never passes through the ini file's parser, to which ``%`` would mean something.
    """
    given = context.get_x_argument(as_dictionary=True).get("url")
    return given or os.environ.get("SESSIONSTORE_URL") or DEFAULT_URL


def run_offline() -> None:
    context.configure(
        url=database_url(configured_url()),
        literal_binds=True,
        transactional_ddl=True,  # the script does all or nothing; MariaDB commits at each DDL statement
        **alembic_options(),
    )
    with context.begin_transaction():
        context.run_migrations()


def run_online(connection: Connection) -> None:
    own = nullcontext() if connection.in_transaction() else exclusive_transaction(connection)
    with own:
        where = shown(connection.engine.url)
        check_encoding(connection.connection.cursor(), connection.dialect, where)
        transactional = connection.dialect.name in {"sqlite", "postgresql"}
        context.configure(connection=connection, transactional_ddl=transactional, **alembic_options())
        context.run_migrations()


def main() -> None:
    given: Any = context.config.attributes.get("connection")
    if context.config.config_file_name is not None and given is None:
        fileConfig(context.config.config_file_name, disable_existing_loggers=False)
    if context.is_offline_mode():
        run_offline()
    elif given is not None:
        run_online(given)
    else:
        with migration_engine(configured_url()).connect() as connection:
            run_online(connection)


main()
