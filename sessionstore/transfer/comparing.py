"""Whether two snapshots are of equal sessions: proven without keeping either of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import zip_longest
from typing import Any, Final

import msgspec

from sessionstore.image import WHOLE_SESSION, ImageHeader, SessionSnapshot
from sessionstore.records import ElementRecord, EntryRecord, Record, UsageRecord, ValueRecord
from sessionstore.transfer.numbered import by_number, mints_ids

_KINDS: Final[tuple[tuple[type[Record], str], ...]] = (
    (EntryRecord, "entry"),
    (UsageRecord, "usage row"),
    (ValueRecord, "value"),
    (ElementRecord, "list element"),
)


def differences(first: SessionSnapshot, second: SessionSnapshot, on_record: Callable[[], None]) -> list[str]:
    """What is not equal in two sessions: header fields, and the first different record of each kind.

    Payloads are compared as the text that they are, so a number that is spelled otherwise is a
    difference. Where the ids of entries are minted at every reading (format 3) they are compared
    by the numbers of their entries. Empty when the sessions are equal.
    """
    found = [*_header_differences(first.header, second.header)]
    numbered = mints_ids(first) or mints_ids(second)
    left, right = _Side(first, numbered), _Side(second, numbered)
    digests, other_digests = left.digests(on_record), right.digests(on_record)
    for kind, name in _KINDS:
        if digests[kind] != other_digests[kind]:
            found.append(_first_difference(name, left.of(kind), right.of(kind)))
    return found


def _header_differences(header: ImageHeader, other: ImageHeader) -> Iterator[str]:
    for name in header.__struct_fields__:
        mine, theirs = getattr(header, name), getattr(other, name)
        if mine != theirs:
            both = "" if name == "stats" else f": {mine!r} and {theirs!r}"
            yield f"{name} differs{both}"


class _Side:
    """One of the two sessions."""

    def __init__(self, snapshot: SessionSnapshot, numbered: bool) -> None:
        self._snapshot = snapshot
        self._translate = by_number(snapshot) if numbered else None

    def _records(self) -> Iterator[Record]:
        records = self._snapshot.read(WHOLE_SESSION)
        return records if self._translate is None else map(self._translate, records)

    def digests(self, on_record: Callable[[], None]) -> dict[type[Record], bytes]:
        """One digest for each kind, since stores may interleave the kinds in different ways."""
        hashes = {kind: sha256() for kind, _ in _KINDS}
        for record in self._records():
            hashes[type(record)].update(_encode(record))
            on_record()
        return {kind: digest.digest() for kind, digest in hashes.items()}

    def of(self, kind: type[Record]) -> Iterator[Record]:
        """The records of one kind."""
        return (record for record in self._records() if isinstance(record, kind))


_encode: Final[Callable[[Any], bytes]] = msgspec.msgpack.Encoder().encode


def _first_difference(name: str, left: Iterator[Record], right: Iterator[Record]) -> str:
    for mine, theirs in zip_longest(left, right):
        if mine != theirs:
            if mine is None or (theirs is not None and theirs.seq < mine.seq):
                return f"the {name} with number {theirs.seq} is only in the second store"
            if theirs is None or mine.seq < theirs.seq:
                return f"the {name} with number {mine.seq} is only in the first store"
            names = mine.__struct_fields__
            fields = [field for field in names if getattr(mine, field) != getattr(theirs, field)]
            return f"the {name} with number {mine.seq} differs in {', '.join(fields)}"
    raise AssertionError("equal records have equal digests")
