"""Between rows and what the rest of the library sees; payloads pass as they are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

import msgspec

from sessionstore import json_text
from sessionstore.errors import CorruptStorageError, InvalidValueError, UnsupportedStorageVersionError
from sessionstore.metadata import STORAGE_VERSION, SessionMetadata
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.sql.branch_index import Placement
from sessionstore.sql.dbapi import Row, Values
from sessionstore.usage import SessionStats, Usage, sum_text, usage_figures

FIRST_SEQ: Final = 1

_CWD: Final = "cwd"
_LEGACY_PARENT: Final = "legacyParentSessionPath"


def session_row(metadata: SessionMetadata, stats: SessionStats, next_seq: int) -> Values:
    """A row of ``sessions``, in the order of its columns."""
    extra: dict[str, Any] = {}
    if metadata.cwd is not None:
        extra[_CWD] = metadata.cwd
    if metadata.legacy_parent_session_path is not None:
        extra[_LEGACY_PARENT] = metadata.legacy_parent_session_path
    return (
        metadata.id,
        metadata.created_at,
        metadata.created_at if metadata.modified_at is None else metadata.modified_at,
        metadata.parent_session_id,
        metadata.storage_version,
        json_text.encode(extra, "metadata") if extra else None,
        stats.message_count,
        sum_text(stats.usage),
        next_seq,
    )


def entry_rows(
    session_id: str,
    entries: Iterable[EntryRecord],
    placement: Placement,
    first_seq: int = 0,
    timestamp: int = 0,
) -> list[Values]:
    """Rows of ``entries``, whose numbers and times (Unix ms) count from those given.

    Raises ``MissingParentError`` when ``placement`` does not know a parent.
    """
    place = placement.place
    rows: list[Values] = []
    for entry in entries:
        id, parent_id, seq = entry.id, entry.parent_id, entry.seq + first_seq
        segment_seq, depth = place(id, parent_id, seq)
        rows.append(
            (
                session_id,
                id,
                parent_id,
                seq,
                entry.type,
                entry.custom_type,
                entry.timestamp + timestamp,
                entry.payload,
                segment_seq,
                depth,
            )
        )
    return rows


def usage_row(session_id: str, row: UsageRecord, offset: int) -> Values:
    """A row of ``usage_ledger``."""
    return session_id, row.id, row.seq + offset, row.entry_id, row.adjustment, row.usage, row.details


def value_row(session_id: str, value: ValueRecord, offset: int) -> Values:
    """A row of ``scalar_values``."""
    return session_id, value.scope_id, value.namespace, value.key, value.seq + offset, value.value


def element_row(session_id: str, element: ElementRecord, offset: int) -> Values:
    """A row of ``list_values``."""
    return (
        session_id,
        element.scope_id,
        element.namespace,
        element.key,
        element.seq + offset,
        element.value,
        element.tag,
    )


def metadata_of(row: Row, container: str, path: str | None = None) -> SessionMetadata:
    """The metadata in a row of :data:`~sessionstore.sql.statements.HEADER_COLUMNS`."""
    id, created_at, modified_at, parent_session_id, storage_version, extra_text = row
    extra: dict[str, str] = {}
    if extra_text is not None:
        try:
            extra = msgspec.convert(json_text.decode(extra_text), dict[str, str])
        except msgspec.ValidationError as error:
            raise CorruptStorageError(f"session {id!r}: its metadata is no object of texts") from error
        except ValueError as error:
            raise CorruptStorageError(f"session {id!r}: its metadata is not JSON: {error}") from error
    return SessionMetadata(
        id=id,
        created_at=created_at,
        container=container,
        storage_version=storage_version,
        parent_session_id=parent_session_id,
        cwd=extra.get(_CWD),
        path=path,
        modified_at=modified_at,
        legacy_parent_session_path=extra.get(_LEGACY_PARENT),
    )


def check_version(metadata: SessionMetadata) -> None:
    """Raise ``UnsupportedStorageVersionError`` for a session of another storage version."""
    if metadata.storage_version != STORAGE_VERSION:
        raise UnsupportedStorageVersionError(
            f"session {metadata.id!r} in {metadata.container} has storage version "
            f"{metadata.storage_version}; this release reads {STORAGE_VERSION}"
        )


@lru_cache(maxsize=256)
def totals_of(text: str) -> Usage:
    """The totals that a text stands for; sessions that do not spend keep the same text."""
    try:
        return usage_figures(text, "totals of a session")
    except (InvalidValueError, ValueError) as error:
        raise CorruptStorageError(f"the totals of a session cannot be read: {error}") from error


def is_storable(text: str) -> bool:
    """Whether ``text`` can be in the database at all: no lone surrogate, no U+0000.

    What cannot be stored is asked of no driver: it matches nothing.
    """
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def after_prefix(prefix: str) -> str | None:
    """The least text above every text that starts with ``prefix``, by code point; None: there is none."""
    for end in range(len(prefix), 0, -1):
        last = ord(prefix[end - 1])
        if last < 0x10FFFF:
            # The code points D800 to DFFF are no characters; no stored text has one.
            return prefix[: end - 1] + chr(0xE000 if last == 0xD7FF else last + 1)
    return None
