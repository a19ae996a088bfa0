"""From a database URL to a container."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

from sqlalchemy import event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from sessionstore.errors import InvalidUrlError
from sessionstore.sql.container import SqlContainer
from sessionstore.sql.dialects.mariadb import SESSION_SETUP
from sessionstore.sql.driver_errors import missing_driver
from sessionstore.sql.engine_container import EngineContainer, memory_engine, server_engine
from sessionstore.sql.sqlite_container import SqliteFileContainer
from sessionstore.sql.sqlite_files import Durability

_DRIVERS: Final = {
    # database: driver names (the first is the default), and what to install
    "postgresql": (("psycopg",), "postgres"),
    "mariadb": (("pymysql", "mysqldb"), "mariadb"),
    "mysql": (("pymysql", "mysqldb"), "mariadb"),
}
_MODULES: Final = {"psycopg": "psycopg", "pymysql": "PyMySQL", "mysqldb": "mysqlclient"}


def container_of_url(
    url: str, *, create_schema: bool, durability: Durability, busy_timeout: float, **engine_options: Any
) -> SqlContainer:
    """The container that a URL names; connects to nothing.

    Raises ``InvalidUrlError`` and ``MissingDriverError``; neither message shows a password.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        # The text is not repeated: where it cannot be parsed, nobody knows what of it is the password.
        raise InvalidUrlError(
            "the database URL cannot be read: DIALECT+DRIVER://USER:PASSWORD@HOST/DATABASE"
        ) from None
    database, _, driver = parsed.drivername.partition("+")
    if durability not in ("full", "normal"):
        raise ValueError(f"durability must be 'full' or 'normal'; got {durability!r}")
    if database == "sqlite":
        if driver not in ("", "pysqlite"):
            raise InvalidUrlError(f"{_shown(parsed)}: SQLite is opened with the driver of Python's library")
        if engine_options:
            raise TypeError(f"SQLite takes no engine options: {', '.join(engine_options)}")
        return _sqlite(parsed, create_schema, durability, busy_timeout)
    return _server(parsed, database, driver, create_schema, engine_options)


def _sqlite(url: URL, create_schema: bool, durability: Durability, busy_timeout: float) -> SqlContainer:
    if url.host or url.username or url.password or url.port:
        raise InvalidUrlError(
            f"{_shown(url)}: a SQLite URL has no host; sqlite:///relative.db has three slashes, "
            "sqlite:////absolute.db four"
        )
    if url.query:
        raise InvalidUrlError(
            f"{_shown(url)}: a SQLite URL takes no parameters; "
            "for a path with a question mark give the path itself"
        )
    if url.database in (None, "", ":memory:"):
        return EngineContainer(memory_engine(), owned=True, create_schema=create_schema)
    return SqliteFileContainer(
        Path(os.path.realpath(url.database)),
        durability=durability,
        busy_timeout=busy_timeout,
        create_schema=create_schema,
    )


def _server(
    url: URL, database: str, driver: str, create_schema: bool, engine_options: dict[str, Any]
) -> SqlContainer:
    drivers, extra = _DRIVERS.get(database, ((), ""))
    driver = driver or next(iter(drivers), "")
    if driver not in drivers:
        known = ", ".join(f"{name}+{one}" for name, (ours, _) in _DRIVERS.items() for one in ours)
        raise InvalidUrlError(f"{_shown(url)}: {url.drivername} is not known; known are sqlite, {known}")
    if not url.database:
        raise InvalidUrlError(f"{_shown(url)}: names no database")
    settings: dict[str, Any] = dict(engine_options.pop("connect_args", {}))
    # Whatever the URL says: another encoding cannot carry every text.
    settings |= {"client_encoding": "utf8"} if database == "postgresql" else {"charset": "utf8mb4"}
    try:
        engine = server_engine(
            url.set(drivername=f"{database}+{driver}"), connect_args=settings, **engine_options
        )
    except ImportError:
        raise missing_driver(_MODULES[driver], extra) from None
    if database != "postgresql":
        # Not as the driver's init_command, which is the user's.
        event.listen(engine, "connect", _set_up_session)
    return EngineContainer(engine, owned=True, create_schema=create_schema)


def _set_up_session(raw: Any, _record: object) -> None:
    cursor = raw.cursor()
    cursor.execute(SESSION_SETUP)
    cursor.close()


def _shown(url: URL) -> str:
    return url.render_as_string(hide_password=True)
