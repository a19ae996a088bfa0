"""What ``sessionstore db upgrade|current|check`` do, and where the migrations are.

Alembic is imported inside the functions: a server that only opens stores never loads it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import URL, Connection, Engine, create_engine, inspect
from sqlalchemy.pool import NullPool

from sessionstore.errors import SchemaVersionError, StorageError
from sessionstore.sql.drivers import missing_driver_of, parsed_url, shown, with_driver
from sessionstore.sql.models import Base
from sessionstore.sql.schema import (
    HEAD_REVISION,
    TABLES,
    SchemaState,
    driver_errors_understood,
    exclusive_transaction,
    schema_state,
)
from sessionstore.sql.types import ExactText, JsonText

if TYPE_CHECKING:
    from alembic.autogenerate.api import AutogenContext
    from alembic.config import Config
    from alembic.migration import MigrationContext

Database: TypeAlias = Engine | URL | str | PathLike[str]
"""One database: an engine on it, its URL, or the path of a SQLite file."""


def upgrade(target: Database) -> str:
    """Bring the schema of one database to this release's; the revision that it then has.

    A database without a schema gets it. Tables that equal this release's but bear no stamp are
    stamped. Raises :class:`~sessionstore.errors.SchemaVersionError` when the database was made by
    a newer release or another application.
    """
    from alembic import command
    from alembic.util import CommandError

    with _connection(target) as connection:
        config = _config(connection)
        try:
            with exclusive_transaction(connection):
                if _unstamped(connection) and not _differences(connection):
                    command.stamp(config, "head")
                else:
                    _refuse_foreign_tables(connection)
                    command.upgrade(config, "head")
        except CommandError as error:
            raise SchemaVersionError(
                f"{_shown(connection)}: cannot be upgraded: {error}; when a newer release made the schema, "
                f"install that one"
            ) from error
    return HEAD_REVISION


def current(target: Database) -> str | None:
    """The revision that one database is stamped with; None when it has none."""
    with _connection(target, create=False) as connection:
        return ", ".join(_migration_context(connection).get_current_heads()) or None


def check(target: Database) -> list[str]:
    """What keeps one database from being this release's schema, a line each; empty when nothing.

    Other tables in the same database are none of its business.
    """
    with _connection(target, create=False) as connection:
        try:
            state = schema_state(connection.connection.cursor(), connection.dialect, _shown(connection))
        except SchemaVersionError as error:
            problems = [str(error)]
        else:
            problems = [] if state is SchemaState.CURRENT else [f"{_shown(connection)}: {state.value}"]
        if _our_tables(connection):
            problems += _differences(connection)
        return problems


def script_location() -> Path:
    """The folder of the migrations: inside the installed package, else beside a checkout's."""
    package = Path(__file__).parent
    for folder in (package / "_alembic", package.parents[1] / "alembic"):
        if (folder / "env.py").is_file():
            return folder
    raise StorageError(f"the migrations are missing from this installation: no _alembic in {package}")


def database_url(url: URL | str | PathLike[str]) -> URL:
    """The SQLAlchemy URL of one database, the driver filled in where the URL names none.

    A ``PathLike`` is the path of a SQLite file, taken as it is.

    Raises :class:`~sessionstore.errors.InvalidUrlError` for what is no single SQL database.
    """
    if isinstance(url, PathLike):
        return URL.create("sqlite", database=fspath(url))
    return with_driver(parsed_url(url))


def migration_engine(url: URL | str | PathLike[str], *, create: bool = True) -> Engine:
    """An engine for one piece of work on a schema; ``create`` lets SQLite make a missing file.

    Raises :class:`~sessionstore.errors.InvalidUrlError` as :func:`database_url` does, and
    ``MissingDriverError`` when the driver is not installed.
    """
    parsed = database_url(url)
    path = parsed.database
    if not create and parsed.drivername == "sqlite" and path and not path.startswith((":memory:", "file:")):
        existing = f"{Path(path).absolute().as_uri()}?mode=rw"
        return create_engine(parsed, poolclass=NullPool, creator=lambda: sqlite3.connect(existing, uri=True))
    if parsed.drivername == "postgresql+psycopg":
        # Else a database in SQL_ASCII answers in bytes, before it can be refused for that.
        return _engine(parsed, client_encoding="utf8")
    return _engine(parsed)


def _engine(url: URL, **connect: str) -> Engine:
    try:
        return create_engine(url, poolclass=NullPool, connect_args=connect)
    except ModuleNotFoundError as error:
        raise missing_driver_of(url) from error


def alembic_options() -> dict[str, Any]:
    """How Alembic compares, renders and changes our tables: the same for every command."""
    return {
        "target_metadata": Base.metadata,
        "render_as_batch": True,  # SQLite changes tables by copying them
        "include_name": _is_ours,
        "render_item": _render_type,
    }


def _is_ours(name: str | None, kind: str, _parents: object) -> bool:
    """Leave other tables of the same database out of every comparison."""
    return kind != "table" or name in Base.metadata.tables


def _render_type(kind: str, item: object, autogenerate: AutogenContext) -> str | bool:
    if kind == "type" and isinstance(item, ExactText | JsonText):
        name = type(item).__name__
        autogenerate.imports.add(f"from {type(item).__module__} import {name}")
        return repr(item)
    return False  # as Alembic would


def _differences(connection: Connection) -> list[str]:
    from alembic.autogenerate import compare_metadata

    return [
        repr(difference) for difference in compare_metadata(_migration_context(connection), Base.metadata)
    ]


def _unstamped(connection: Connection) -> bool:
    """Whether our tables are there without a revision, as ``create_all`` of the models makes them."""
    return bool(_our_tables(connection)) and not _migration_context(connection).get_current_heads()


def _refuse_foreign_tables(connection: Connection) -> None:
    """Let a creation that was cut off be completed, and nobody else's tables be taken for ours."""
    if not _unstamped(connection):
        return
    try:
        schema_state(connection.connection.cursor(), connection.dialect, _shown(connection))
    except SchemaVersionError as error:
        raise SchemaVersionError(
            f"{_shown(connection)}: {', '.join(sorted(_our_tables(connection)))} without a revision and not "
            f"as this release makes them: another application's? give the store a database of its own"
        ) from error


def _our_tables(connection: Connection) -> set[str]:
    return set(TABLES).intersection(inspect(connection).get_table_names())


def _migration_context(connection: Connection) -> MigrationContext:
    from alembic.migration import MigrationContext

    return MigrationContext.configure(connection, opts=alembic_options())


def _config(connection: Connection) -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(script_location()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


@contextmanager
def _connection(target: Database, *, create: bool = True) -> Generator[Connection]:
    """A connection to a database; one made from a URL is closed with its engine at the end."""
    if isinstance(target, Engine):
        with driver_errors_understood(target, _shown(target)), target.connect() as connection:
            yield connection
        return
    engine = migration_engine(target, create=create)
    with driver_errors_understood(engine, _shown(engine)), engine.connect() as connection:
        yield connection


def _shown(of: Connection | Engine) -> str:
    return shown(of.engine.url)
