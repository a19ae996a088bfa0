"""From a database URL to a container."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import URL

from sessionstore.errors import InvalidUrlError
from sessionstore.sql.container import SqlContainer
from sessionstore.sql.dialects.mariadb import SESSION_SETUP
from sessionstore.sql.drivers import missing_driver_of, parsed_url, shown, with_driver
from sessionstore.sql.engine_container import EngineContainer, memory_engine, server_engine
from sessionstore.sql.sqlite_container import SqliteFileContainer
from sessionstore.sql.sqlite_files import Durability


def container_of_url(
    url: str, *, create_schema: bool, durability: Durability, busy_timeout: float, **engine_options: Any
) -> SqlContainer:
    """The container that a URL names; connects to nothing.

    Raises ``InvalidUrlError`` and ``MissingDriverError``; neither message shows a password.
    """
    parsed = with_driver(parsed_url(url))
    if durability not in ("full", "normal"):
        raise ValueError(f"durability must be 'full' or 'normal'; got {durability!r}")
    if parsed.get_backend_name() == "sqlite":
        if engine_options:
            raise TypeError(f"SQLite takes no engine options: {', '.join(engine_options)}")
        return _sqlite(parsed, create_schema, durability, busy_timeout)
    return _server(parsed, create_schema, engine_options)


def _sqlite(url: URL, create_schema: bool, durability: Durability, busy_timeout: float) -> SqlContainer:
    if url.host or url.username or url.password or url.port:
        raise InvalidUrlError(
            f"{shown(url)}: a SQLite URL has no host; sqlite:///relative.db has three slashes, "
            "sqlite:////absolute.db four"
        )
    if url.query:
        raise InvalidUrlError(
            f"{shown(url)}: a SQLite URL takes no parameters; "
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


def _server(url: URL, create_schema: bool, engine_options: dict[str, Any]) -> SqlContainer:
    if not url.database:
        raise InvalidUrlError(f"{shown(url)}: names no database")
    settings: dict[str, Any] = dict(engine_options.pop("connect_args", {}))
    # Whatever the URL says: another encoding cannot carry every text.
    is_postgresql = url.get_backend_name() == "postgresql"
    settings |= {"client_encoding": "utf8"} if is_postgresql else {"charset": "utf8mb4"}
    try:
        engine = server_engine(url, connect_args=settings, **engine_options)
    except ImportError:
        raise missing_driver_of(url) from None
    if not is_postgresql:
        # Not as the driver's init_command, which is the user's.
        event.listen(engine, "connect", _set_up_session)
    return EngineContainer(engine, owned=True, create_schema=create_schema)


def _set_up_session(raw: Any, _record: object) -> None:
    cursor = raw.cursor()
    cursor.execute(SESSION_SETUP)
    cursor.close()
