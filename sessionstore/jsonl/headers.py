"""The first line of a file: format 4, the older formats 1 to 3, and scope sidecars."""

from __future__ import annotations

from typing import Final

import msgspec

from sessionstore import json_text
from sessionstore.errors import InvalidAddressError, UnsupportedStorageVersionError
from sessionstore.image import ImageHeader
from sessionstore.jsonl.codec import LineError, Members, decode_text, split_members
from sessionstore.jsonl.times import LARGEST_TIME, parse_time
from sessionstore.metadata import STORAGE_VERSION, check_session_id
from sessionstore.records import LARGEST_INTEGER
from sessionstore.text import check_optional_text

FORMAT: Final = 4
"""The format that is written."""

OLD_FORMATS: Final = (1, 2, 3)

BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class FileHeader(msgspec.Struct, frozen=True):
    """The header of a session file. Times are Unix ms; ``cwd`` is None where there is none.

    ``parent_path`` is the file that an older format names as the parent session, or the path that
    stayed unresolved in an upgrade. ``settings`` are the members in which a format-1 header may
    carry the configuration, as JSON texts.
    """

    format: int
    id: str
    created_at: int
    cwd: str | None
    parent_session_id: str | None = None
    parent_path: str | None = None
    next_seq: int = 1
    settings: dict[str, str] = {}
    version_as_text: bool = False


def read_header(line: bytes, path: str, *, lenient: bool = False) -> FileHeader:
    """The header that the first line of ``path`` is; a byte-order mark before it is accepted.

    Raises :class:`LineError` when it is none, ``UnsupportedStorageVersionError`` for a version
    that is not read: formats 1 and 2 unless ``lenient``, and everything newer.
    """
    members = Members(split_members(decode_text(line.removeprefix(BYTE_ORDER_MARK))))
    if members.is_text("kind", "header"):
        return _read_current(members, path)
    if members.is_text("type", "session"):
        format = _old_format(members, path, lenient)
        if format < 3 and not lenient:
            raise UnsupportedStorageVersionError(
                f"{path} is a session of format {format}, which is only converted: "
                "use 'sessionstore import --lenient'"
            )
        return _read_old(members, format)
    raise LineError("not the header of a session")


def _read_current(members: Members, path: str) -> FileHeader:
    for name, known in (("v", FORMAT), ("storageVersion", STORAGE_VERSION)):
        version = members.get(name, int)
        if version != known:
            raise UnsupportedStorageVersionError(
                f"{path} has {name} {version}; this release reads {known} only"
            )
    next_seq = members.optional("nextSeq", int)
    if next_seq is not None and not 1 <= next_seq <= LARGEST_INTEGER:
        raise LineError("nextSeq is out of range")
    parent_id = members.optional("parentSessionId", str)
    return FileHeader(
        FORMAT,
        _session_id(members.get("id", str)),
        _time(members.get("createdAt", int), "createdAt"),
        _text(members, "cwd"),
        None if parent_id is None else _session_id(parent_id),
        _text(members, "legacyParentSessionPath"),
        next_seq or 1,
    )


def _old_format(members: Members, path: str, lenient: bool) -> int:
    text = members.optional_text("version")
    if text is None:
        return 1
    if lenient and text[0] == '"':
        text = members.get("version", str)
    if not (text.isascii() and text.isdigit()):
        raise LineError("version of the session is not a number")
    if int(text[:9]) not in OLD_FORMATS:
        raise UnsupportedStorageVersionError(
            f"{path} is a session of format {text:.9}; this release reads formats 1 to {FORMAT}"
        )
    return int(text)


def _read_old(members: Members, format: int) -> FileHeader:
    parent = _text(members, "parentSession")
    settings: dict[str, str] = {}
    if format == 1:
        parent = parent or _text(members, "branchedFrom")
        settings = members.only("provider", "modelId", "thinkingLevel")
    try:
        created_at = parse_time(members.get("timestamp", str))
    except ValueError as error:
        raise LineError(f"timestamp: {error}") from None
    return FileHeader(
        format,
        _session_id(members.get("id", str)),
        _time(created_at, "timestamp"),
        _text(members, "cwd"),
        parent_path=parent,
        settings=settings,
        version_as_text=(members.optional_text("version") or "").startswith('"'),
    )


def _session_id(id: str) -> str:
    try:
        return check_session_id(id)
    except InvalidAddressError as error:
        raise LineError(str(error)) from None


def _text(members: Members, name: str) -> str | None:
    text = members.optional(name, str)
    if not text:
        return None
    try:
        return check_optional_text(text, name, limit=None)
    except InvalidAddressError as error:
        raise LineError(str(error)) from None


def _time(timestamp: int, name: str) -> int:
    if not 0 <= timestamp <= LARGEST_TIME:
        raise LineError(f"{name} is out of range")
    return timestamp


def header_line(header: ImageHeader, *, next_seq: int | None = None) -> str:
    """The text of a format-4 header; ``next_seq`` is the high-water mark of a rewritten file."""
    members = {
        "v": str(FORMAT),
        "kind": '"header"',
        "id": json_text.encode(header.id, "id"),
        "storageVersion": str(STORAGE_VERSION),
        "createdAt": str(header.created_at),
        "cwd": json_text.encode(header.cwd or "", "cwd"),
    }
    for name, text in (
        ("parentSessionId", header.parent_session_id),
        ("legacyParentSessionPath", header.legacy_parent_session_path),
    ):
        if text is not None:
            members[name] = json_text.encode(text, name)
    if next_seq is not None:
        members["nextSeq"] = str(next_seq)
    return json_text.join_members(members)


class ScopeHeader(msgspec.Struct, frozen=True):
    """The header of a sidecar."""

    session_id: str
    scope_id: str


def read_scope_header(line: bytes, path: str) -> ScopeHeader:
    """The header that the first line of a sidecar is. Errors as for :func:`read_header`."""
    members = Members(split_members(decode_text(line)))
    if not members.is_text("kind", "scope_header"):
        raise LineError("not the header of a scope")
    for name, known in (("v", FORMAT), ("storageVersion", STORAGE_VERSION)):
        version = members.get(name, int)
        if version != known:
            raise UnsupportedStorageVersionError(
                f"{path} has {name} {version}; this release reads {known} only"
            )
    return ScopeHeader(members.get("sessionId", str), members.get("scopeId", str))


def scope_header_line(header: ScopeHeader) -> str:
    """The text of a sidecar's header."""
    return json_text.join_members(
        {
            "v": str(FORMAT),
            "kind": '"scope_header"',
            "sessionId": json_text.encode(header.session_id, "sessionId"),
            "scopeId": json_text.encode(header.scope_id, "scopeId"),
            "storageVersion": str(STORAGE_VERSION),
        }
    )
