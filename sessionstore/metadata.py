"""What a repository says of a session without opening it."""

from __future__ import annotations

from typing import Final

import msgspec

from sessionstore.errors import InvalidAddressError, SessionNotFoundError
from sessionstore.text import check_encodable_id

STORAGE_VERSION: Final = 1
"""The version that every store writes into its session header or row."""


class SessionMetadata(msgspec.Struct, frozen=True, kw_only=True):
    """A session's header. Times are Unix ms.

    ``container`` names the container without credentials: a real path, ``dialect://host/database``,
    or a process-local token of a memory repository. ``path`` is the session's own file, where it
    has one. ``modified_at`` is the time of the last commit (JSONL: of the file's last change).
    """

    id: str
    created_at: int
    container: str
    storage_version: int = STORAGE_VERSION
    parent_session_id: str | None = None
    cwd: str | None = None
    path: str | None = None
    modified_at: int | None = None
    legacy_parent_session_path: str | None = None


def check_session_id(id: object) -> str:
    """Return ``id`` when it is well formed and at most 180 characters percent-encoded.

    Raises :class:`~sessionstore.errors.InvalidAddressError` otherwise.
    """
    return check_encodable_id(id, "session id", error=InvalidAddressError)


def not_found(id: str, container: str) -> SessionNotFoundError:
    """The error for a session that ``container`` does not have."""
    return SessionNotFoundError(f"no session {id!r} in {container}")
