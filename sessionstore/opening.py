"""From a store URL to a repository."""

from __future__ import annotations

from contextlib import AbstractContextManager
from os import PathLike, fspath
from typing import Any, Final

from sessionstore.errors import InvalidUrlError, StorageError
from sessionstore.foreign import set_file_reader
from sessionstore.image import SessionSnapshot
from sessionstore.metadata import SessionMetadata, not_found
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
        case "jsonl":
            from sessionstore.jsonl import JsonlSessionRepo

            return JsonlSessionRepo(_directory(rest, url), **options)
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


_SQLITE_SIGNATURE: Final = b"SQLite format 3\0"


def _read_session_file(path: str, metadata: SessionMetadata) -> AbstractContextManager[SessionSnapshot]:
    """What forks read a foreign session file with: the store whose kind of file it is."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123  # the path exactly as it was given
            signature = file.read(len(_SQLITE_SIGNATURE))
    except FileNotFoundError:
        raise not_found(metadata.id, path) from None
    except (OSError, ValueError) as error:
        raise StorageError(f"cannot read {path}: {error}") from error
    if signature == _SQLITE_SIGNATURE:
        from sessionstore.sql.directory import snapshot_of_session_file as read_database

        return read_database(path, metadata)
    from sessionstore.jsonl.foreign import snapshot_of_session_file as read_lines

    return read_lines(path, metadata)


set_file_reader(_read_session_file)
