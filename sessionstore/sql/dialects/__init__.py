"""The databases that the store knows: one module for each."""

from __future__ import annotations

from sqlalchemy import Engine

from sessionstore.errors import InvalidUrlError
from sessionstore.sql.dialects.base import SqlDialect
from sessionstore.sql.dialects.mariadb import MariadbDialect
from sessionstore.sql.dialects.postgresql import PostgresqlDialect
from sessionstore.sql.dialects.sqlite import SqliteDialect

__all__ = ["MariadbDialect", "PostgresqlDialect", "SqlDialect", "SqliteDialect", "dialect_of"]


def dialect_of(engine: Engine) -> SqlDialect:
    """The dialect that an engine needs.

    Raises :class:`~sessionstore.errors.InvalidUrlError` for a database or a driver that the store
    does not know, and ``MissingDriverError`` when the driver is not installed.
    """
    match engine.dialect.name, engine.dialect.driver:
        case "sqlite", "pysqlite":
            return SqliteDialect()
        case "postgresql", "psycopg" if not engine.dialect.is_async:
            return PostgresqlDialect()
        case "mysql" | "mariadb", "pymysql":
            return MariadbDialect("pymysql")
        case "mysql" | "mariadb", "mysqldb":
            return MariadbDialect("MySQLdb")
        case name, driver:
            raise InvalidUrlError(
                f"the store does not work with {name}+{driver}; it knows sqlite, "
                "postgresql+psycopg, mariadb+pymysql, mysql+pymysql and mysql+mysqldb"
            )
