"""From the arguments of a command to a repository and a session in it."""

from __future__ import annotations

import os
from pathlib import Path

from sessionstore.errors import InvalidUrlError, SessionNotFoundError
from sessionstore.metadata import SessionMetadata
from sessionstore.opening import open_repository
from sessionstore.repository import SessionRepo


def open_store(url: str) -> SessionRepo:
    """The repository of a store URL, or of the path of a SQLite file that exists.

    Raises ``InvalidUrlError`` for anything else.
    """
    path = sqlite_file(url)
    return open_repository(url if path is None else path)


def sqlite_file(url: str) -> Path | None:
    """The existing file that is meant, when ``url`` is a path and no URL."""
    path = Path(url)
    if ":" in url and not path.exists():
        return None
    if path.is_dir():
        raise InvalidUrlError(f"{url!r} is a folder: write jsonl:{url} or sqlite+dir:{url}")
    return path if path.is_file() else None


def shown_url(url: str) -> str:
    """A store URL without its password."""
    if url.partition(":")[0].partition("+")[0] in {"memory", "jsonl", "sqlite"}:
        return url

    from sessionstore.sql.drivers import parsed_url, shown

    return shown(parsed_url(url))


def as_text(argument: str) -> str:
    """An argument as the UTF-8 that was typed, whatever the locale; a path must not go this way."""
    try:
        return os.fsencode(argument).decode("utf-8")
    except UnicodeError:
        return argument


def find_session(repo: SessionRepo, id: str, cwd: str | None) -> SessionMetadata:
    """The session of an id; ``cwd`` chooses where several working directories have it.

    Raises ``SessionNotFoundError``.
    """
    id = as_text(id)
    if cwd is None:
        return repo.get(id)
    for session in repo.list(cwd=cwd):
        if session.id == id:
            return session
    raise SessionNotFoundError(f"no session {id!r} of the working directory {cwd!r} in {repo.container}")
