"""From a store URL to a repository."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any

from sessionstore.errors import InvalidUrlError
from sessionstore.repository import SessionRepo

KNOWN_URLS = (
    "memory://, jsonl:DIR, sqlite:///FILE, sqlite://, sqlite+dir:DIR, "
    "postgresql+psycopg://…, mariadb+pymysql://…, mysql+pymysql://…, or a path of a SQLite file"
)


def open_repository(url: str | PathLike[str], **options: Any) -> SessionRepo:
    """The repository of a store URL; a ``PathLike`` is the path of a SQLite container.

    ``options`` go to the repository's constructor. Makes nothing on disk and connects to nothing.
    Raises :class:`~sessionstore.errors.InvalidUrlError` for an unknown URL.
    """
    if not isinstance(url, str):
        return _sqlite_file(fspath(url), options)
    scheme, colon, rest = url.partition(":")
    if not colon:
        raise InvalidUrlError(f"{url!r} is no store URL; known are {KNOWN_URLS}")
    match scheme:
        case "memory" if rest == "//":
            from sessionstore.memory import MemorySessionRepo

            return MemorySessionRepo(**options)
        case "sqlite+dir":
            from sessionstore.sql.directory import SqliteDirectorySessionRepo

            return SqliteDirectorySessionRepo(_directory(rest, url), **options)
        case _ if scheme.split("+")[0] in _DATABASES:
            from sessionstore.sql.repo import SqlSessionRepo

            return SqlSessionRepo.from_url(url, **options)
        case _:
            raise InvalidUrlError(f"the store URL scheme {scheme!r} is not known; known are {KNOWN_URLS}")


_DATABASES = frozenset({"sqlite", "postgresql", "mariadb", "mysql"})


def _sqlite_file(path: str | bytes, options: dict[str, Any]) -> SessionRepo:
    from sessionstore.sql.repo import SqlSessionRepo

    return SqlSessionRepo.from_path(path, **options)


def _directory(rest: str, url: str) -> str:
    """The path of a directory URL, character by character: ``///abs``, ``/abs`` or ``rel``."""
    path = rest[2:] if rest.startswith("//") else rest
    if not path or (rest.startswith("//") and not path.startswith("/")):
        raise InvalidUrlError(f"{url!r} names no directory")
    return path
