"""A session as a bounded stream of records with their numbers.

Fork, copy, import, export, upgrade and verify all read images and load them. What makes an image
holds at most a batch of payloads in memory; what loads one writes batch by batch and publishes the
session at the end, complete, or not at all.

A store gives a :class:`SessionSnapshot`: an image that stays at its boundary and can be asked for
a part of itself, structure first and payloads later, which is what a fork needs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from sessionstore import json_text
from sessionstore.address import Place
from sessionstore.entries import EntryStructure
from sessionstore.plan import check_settled
from sessionstore.records import EntryRecord, Record, ValueRecord
from sessionstore.usage import SessionStats


class ImageHeader(msgspec.Struct, frozen=True):
    """What a session has beside its records. Times are Unix ms.

    ``next_seq`` is the lowest number that the next write may get. ``stats`` are given, not added
    up from the records: a fork carries entries and no ledger, a format-3 file figures and no rows.
    """

    id: str
    created_at: int
    next_seq: int
    stats: SessionStats
    parent_session_id: str | None = None
    cwd: str | None = None
    legacy_parent_session_path: str | None = None


class SessionImage:
    """A header and its records: each kind in ascending ``seq``, a parent before its children.

    ``records`` can be read once. Records of live ephemeral scopes carry their ``scope_id``;
    retirements are no records: what they ended is not in the image.
    """

    def __init__(self, header: ImageHeader, records: Iterable[Record]) -> None:
        self.header: Final = header
        self.records: Final = iter(records)


def _always(_: Place) -> bool:
    return True


class Selection(msgspec.Struct, frozen=True):
    """A part of a session.

    Entries are all of them, or (``whole_tree`` false) the path from ``tip`` to its root, or none
    (``tip`` None). ``takes_value`` and ``takes_list`` are asked for each place, those of ephemeral
    scopes too; neither may read the snapshot. With ``ephemeral`` false the maker says that they
    refuse all of those, which spares a store to ask.
    """

    whole_tree: bool = True
    tip: str | None = None
    takes_value: Callable[[Place], bool] = _always
    takes_list: Callable[[Place], bool] = _always
    usage_rows: bool = True
    ephemeral: bool = True


WHOLE_SESSION: Final = Selection()
"""Everything, live ephemeral scopes included."""


class Survey(msgspec.Struct, frozen=True):
    """What is to be known of entries before they are copied."""

    message_count: int
    found: set[str]
    """Those of the ids asked for that are among them."""


class SessionSnapshot(SessionImage, ABC):
    """A session as of one boundary between two commits; commits go on meanwhile.

    Every read is of this boundary, any number of times, while the ``with`` block that gave the
    snapshot is open. Only :meth:`read` touches payloads of entries, and holds at most a batch of
    them; at most 150 bytes for each entry of the session may be kept to find a path. Iterators are
    to be used one after the other.
    """

    def __init__(self, header: ImageHeader) -> None:
        super().__init__(header, self._everything())

    def _everything(self) -> Iterator[Record]:
        yield from self.read(WHOLE_SESSION)

    @abstractmethod
    def read(self, selection: Selection) -> Iterator[Record]:
        """The records of a part: each kind in ascending ``seq``."""

    @abstractmethod
    def value(self, place: Place) -> ValueRecord | None:
        """The value at a place, or None."""

    @abstractmethod
    def value_places(self) -> Iterator[Place]:
        """The places of session scope that hold a value, in no particular order."""

    @abstractmethod
    def list_places(self) -> Iterator[Place]:
        """The places of session scope that hold a list that is not empty, each once."""

    @abstractmethod
    def structure(self) -> Iterator[EntryStructure]:
        """Every entry without its payload, in ascending ``seq``."""

    @abstractmethod
    def path(self, start: str) -> Iterator[EntryStructure]:
        """The path from ``start`` to its root, newest first, without payloads.

        Consumed no further than needed. Raises ``UnknownEntryError`` at the call for an unknown
        ``start``.
        """

    def survey(self, start: str | None, ids: Collection[str]) -> Survey:
        """Count the messages on the path from ``start`` to its root, and find ``ids`` on it.

        Without ``start`` the same of the whole tree. Raises ``UnknownEntryError`` for an unknown
        ``start``. A store that can tell without visiting each entry overrides this.
        """
        messages = 0
        found: set[str] = set()
        for entry in self.structure() if start is None else self.path(start):
            messages += entry.type == "message"
            if entry.id in ids:
                found.add(entry.id)
        return Survey(messages, found)

    def entry_id(self, given: str) -> str:
        """The id in this snapshot of the entry that callers call ``given``.

        They differ where the stored session is of an older format whose ids are not kept.
        """
        return given

    def check_forkable(self) -> None:
        """Raise ``ForkError`` when the session cannot be forked in the state that it is in."""


# -- entries that come in as text are settled too (model.md section 1) --------------------------


def settled_record(record: Record) -> Record:
    """The same record; a pending assistant message raises ``InvalidValueError``."""
    if isinstance(record, EntryRecord) and record.type == "message" and _in_doubt(record.payload):
        _check(json_text.decode(record.payload), record.id)
    return record


def settled_lines(lines: bytes) -> bytes:
    """The same lines, each an entry of a format-4 file; ``InvalidValueError`` as for a record."""
    if _in_doubt(lines.decode("latin-1")):  # a character for each byte, whatever they are
        for line in lines.split(b"\n"):
            if _in_doubt(line.decode("latin-1")):
                entry = json_text.decode(line)
                _check(entry, entry.get("id"))
    return lines


def _in_doubt(text: str) -> bool:
    """Whether JSON text may hold the word, written out or escaped; most does not and is not decoded."""
    return "pending" in text or ("\\" in text and "\\u00" in text)


def _check(entry: Any, id: object) -> None:
    message = entry.get("message")
    if isinstance(message, Mapping):
        check_settled(cast("Mapping[str, Any]", message), f"entry {id!r}")
