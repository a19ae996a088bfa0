"""What two stores say to the same call, in a form that is equal exactly when they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from sessionstore.address import value, value_list
from sessionstore.errors import (
    SessionAlreadyOpenError,
    SessionExistsError,
    SessionNotFoundError,
    SessionStoreError,
)
from sessionstore.metadata import SessionMetadata
from sessionstore.repository import SessionRepo
from sessionstore.session import Branch, Session
from sessionstore.storage import Storage
from sessionstore.transfer.comparing import differences

_PAGE = 3
_ABOUT_A_SESSION = (SessionExistsError, SessionAlreadyOpenError, SessionNotFoundError)

Address: TypeAlias = tuple[str, str, Any]
"""Namespace, key and scope, of values and lists alike."""


def outcome(call: Callable[[], object], containers: Iterable[str], session_ids: Iterable[str]) -> str:
    """What ``call`` gave, or the class of the error that it raised and what the error names.

    That is the whole message but for what the contract leaves to the store: how a container is
    called, and where in it a session is kept.
    """
    try:
        return f"gave {plain(call())}"
    except _ABOUT_A_SESSION as error:
        named = [id for id in session_ids if repr(id) in str(error)]
        return f"raised {type(error).__name__} of {named}"
    except Exception as error:  # noqa: BLE001  # what is no error of the contract is a disagreement too
        text = str(error)
        for container in containers:
            text = text.replace(container, "<container>")
        known = "" if isinstance(error, SessionStoreError) else "unexpected "
        return f"raised {known}{type(error).__name__}: {text}"


def plain(result: object) -> str:
    """A result in full: order of keys, and the spelling and type of every number, included."""
    match result:
        case Session():
            return f"session {plain(result.metadata)}"
        case Branch():
            return f"branch {result.name!r}"
        case SessionMetadata():
            return repr(
                (
                    result.id,
                    result.created_at,
                    result.storage_version,
                    result.parent_session_id,
                    result.cwd,
                    result.legacy_parent_session_path,
                )
            )
        case list():
            return f"[{', '.join(map(plain, result))}]"
        case _:
            return repr(result)


def everything(store: Storage, places: Iterable[Address]) -> Iterator[tuple[str, str]]:
    """What the reads of a store give: all entries and rows, and values and lists at these places."""
    entries = store.scan_entries()
    yield "entries", repr(entries)
    ids = [entry.id for entry in entries]
    yield "entries by id", repr(store.get_entries(ids[::-1]))
    parents = {entry.parent_id for entry in entries}
    for leaf in (id for id in ids if id not in parents):
        yield f"branch of {leaf!r}", repr(store.scan_branch(leaf))
        yield f"structure of {leaf!r}", repr(store.scan_branch_structure(leaf, order="oldest_first"))
    if entries:
        middle, leaf = entries[len(entries) // 2].seq, ids[-1]
        yield "entries from the middle", repr(store.scan_entries(from_seq=middle))
        yield "entries up to the middle", repr(store.scan_entries(to_seq=middle, order="desc"))
        yield "branch before the middle", repr(store.scan_branch(leaf, cursor=middle))
        yield "branch after the middle", repr(store.scan_branch(leaf, cursor=middle, order="oldest_first"))
    rows = store.scan_usage()
    yield "usage", repr(rows)
    if rows:
        middle = rows[len(rows) // 2].seq
        yield "usage from the middle", repr(store.scan_usage(from_seq=middle))
        yield "usage up to the middle", repr(store.scan_usage(to_seq=middle, order="desc"))
    yield "stats", repr(store.get_stats())
    yield "next number", repr(store.next_seq())
    for namespace, key, scope in places:
        address = value(namespace, key, scope=scope)
        yield f"value {address}", repr(store.get_value(address))
        yield f"values from {address}", repr(store.scan_values(value(namespace, key[:1], scope=scope)))
        yield f"list {address}", repr(_paged(store, value_list(namespace, key, scope=scope)))


def _paged(store: Storage, address: Any) -> list[Any]:
    """A list read page by page, and the same backwards."""
    found: list[Any] = []
    for order in ("asc", "desc"):
        cursor = None
        while page := store.read_list(address, cursor=cursor, order=order, limit=_PAGE):
            found.append(page)
            if page[-1].seq == cursor:  # a cursor that is not exclusive would never end
                break
            cursor = page[-1].seq
    return found


def check_same_session(model: SessionRepo, subject: SessionRepo, id: str) -> None:
    """Raise ``AssertionError`` unless both stores hold the same records and header of a session."""
    with model.snapshot(id) as first, subject.snapshot(id) as second:
        found = differences(first, second, lambda: None)
    assert not found, f"session {id!r}: {'; '.join(found)}"
