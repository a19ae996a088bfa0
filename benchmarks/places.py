"""Where measurements write: fresh files, or fresh databases of a server, removed afterwards."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import URL, NullPool, create_engine, make_url

from benchmarks.context import Context

LOCAL_SERVERS = (
    "postgresql+psycopg://postgres@127.0.0.1:5432/postgres",
    "mariadb+pymysql://root@127.0.0.1:3306/test",
)
"""What is measured when no URL is given and something listens there."""


@dataclass(frozen=True)
class Place:
    """A kind of store; ``fresh`` gives the URL of an empty one for the length of a block."""

    name: str
    fresh: Callable[[], Any]


def places(context: Context) -> list[Place]:
    """The stores that were asked for, or all that this machine offers."""
    return [*file_places(context), *server_places(context)]


def file_places(context: Context) -> Iterator[Place]:
    """The stores that need no server."""
    for name, url in _FILE_STORES.items():
        if not context.urls or name in map(_kind, context.urls):
            yield Place(name, _files(context, url))


def server_places(context: Context) -> Iterator[Place]:
    """The servers that were asked for, or that listen on their standard local port."""
    asked = [url for url in context.urls if _kind(url) not in _FILE_STORES]
    for url in asked or [url for url in LOCAL_SERVERS if not context.urls and _listens(make_url(url))]:
        yield Place(_kind(url), _databases(make_url(url)))


_FILE_STORES = {
    "memory": "memory://",
    "sqlite": "sqlite:///{folder}/sessions.db",
    "sqlite+dir": "sqlite+dir:{folder}/sessions",
    "jsonl": "jsonl:{folder}/sessions",
}


def _kind(url: str) -> str:
    scheme = url.partition(":")[0]
    if scheme.startswith("sqlite") and scheme != "sqlite+dir":
        return "sqlite"
    return {"mysql": "mariadb"}.get(name := scheme.split("+")[0], name) if scheme != "sqlite+dir" else scheme


def _files(context: Context, template: str) -> Callable[[], Any]:
    @contextmanager
    def fresh() -> Generator[str]:
        with context.folder() as folder:
            yield template.format(folder=folder)

    return fresh


def _databases(server: URL) -> Callable[[], Any]:
    @contextmanager
    def fresh() -> Generator[str]:
        name = f"sessionstore_bench_{secrets.token_hex(4)}"
        _administer(server, f"CREATE DATABASE {name}")
        try:
            yield server.set(database=name).render_as_string(hide_password=False)
        finally:
            force = " WITH (FORCE)" if server.get_backend_name() == "postgresql" else ""
            _administer(server, f"DROP DATABASE {name}{force}")

    return fresh


def _administer(server: URL, statement: str) -> None:
    engine = create_engine(server, isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.exec_driver_sql(statement)


def _listens(url: URL) -> bool:
    try:
        socket.create_connection((url.host or "127.0.0.1", url.port or 0), timeout=1).close()
    except OSError:
        return False
    return True


def file_of(url: str) -> Path:
    """The database file of a ``sqlite:`` URL."""
    return Path(url.removeprefix("sqlite:///"))
