"""The databases and drivers that a URL may name, and how a URL is shown to people."""

from __future__ import annotations

from typing import Final, NamedTuple

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from sessionstore.errors import InvalidUrlError, MissingDriverError
from sessionstore.sql.driver_errors import missing_driver


class _Server(NamedTuple):
    drivers: tuple[str, ...]
    """Names in URLs; the first is the default."""

    extra: str
    """What of ours to install for them."""


_SERVERS: Final = {
    "postgresql": _Server(("psycopg",), "postgres"),
    "mariadb": _Server(("pymysql", "mysqldb"), "mariadb"),
    "mysql": _Server(("pymysql", "mysqldb"), "mariadb"),
}
_PACKAGES: Final = {"psycopg": "psycopg", "pymysql": "PyMySQL", "mysqldb": "mysqlclient"}


def parsed_url(url: str | URL) -> URL:
    """A database URL, taken apart. Raises ``InvalidUrlError``, which shows nothing of it."""
    try:
        return make_url(url)
    except (ArgumentError, ValueError):  # the latter for a port that is no number
        # The text is not repeated: where it cannot be parsed, nobody knows what of it is the password.
        raise InvalidUrlError(
            "the database URL cannot be read: DIALECT+DRIVER://USER:PASSWORD@HOST/DATABASE"
        ) from None


def with_driver(url: URL) -> URL:
    """The URL with the driver filled in where it names none; SQLite's needs no name.

    Raises ``InvalidUrlError`` for a database or a driver that is not known.
    """
    database, _, driver = url.drivername.partition("+")
    if database == "sqlite":
        if driver not in ("", "pysqlite"):
            raise InvalidUrlError(f"{shown(url)}: SQLite is opened with the driver of Python's library")
        return url.set(drivername=database)
    server = _SERVERS.get(database)
    if server is None or driver not in ("", *server.drivers):
        known = ", ".join(f"{name}+{one}" for name, ours in _SERVERS.items() for one in ours.drivers)
        raise InvalidUrlError(f"{shown(url)}: {url.drivername} is not known; known are sqlite, {known}")
    return url.set(drivername=f"{database}+{driver or server.drivers[0]}")


def missing_driver_of(url: URL) -> MissingDriverError:
    """The error when the driver of a URL, which :func:`with_driver` gave, is not installed."""
    database, _, driver = url.drivername.partition("+")
    return missing_driver(_PACKAGES[driver], _SERVERS[database].extra)


def shown(url: URL) -> str:
    """A URL for messages: without a password, also one that is given as a parameter."""
    secret = [name for name in url.query if "pass" in name.lower()]
    return url.difference_update_query(secret).render_as_string(hide_password=True)
