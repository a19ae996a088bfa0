"""Whether two snapshots are of equal sessions: proven without keeping either of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import zip_longest
from typing import Any, Final

import msgspec

from sessionstore.image import WHOLE_SESSION, ImageHeader, SessionSnapshot
from sessionstore.records import ElementRecord, EntryRecord, Record, UsageRecord, ValueRecord

_KINDS: Final[tuple[tuple[type[Record], str], ...]] = (
    (EntryRecord, "entry"),
    (UsageRecord, "usage row"),
    (ValueRecord, "value"),
    (ElementRecord, "list element"),
)


def differences(first: SessionSnapshot, second: SessionSnapshot, on_record: Callable[[], None]) -> list[str]:
    """What is not equal in two sessions: header fields, and the first different record of each kind.

    Payloads are compared as the text that they are, so a number that is spelled otherwise is a
    difference. Empty when the sessions are equal.
    """
    found = [*_header_differences(first.header, second.header)]
    digests, other_digests = _digests(first, on_record), _digests(second, on_record)
    for kind, name in _KINDS:
        if digests[kind] != other_digests[kind]:
            found.append(_first_difference(name, _of(kind, first), _of(kind, second)))
    return found


def _header_differences(header: ImageHeader, other: ImageHeader) -> Iterator[str]:
    for name in header.__struct_fields__:
        mine, theirs = getattr(header, name), getattr(other, name)
        if mine != theirs:
            both = "" if name == "stats" else f": {mine!r} and {theirs!r}"
            yield f"{name} differs{both}"


def _digests(snapshot: SessionSnapshot, on_record: Callable[[], None]) -> dict[type[Record], bytes]:
    """One digest for each kind, since stores may interleave the kinds in different ways."""
    hashes = {kind: sha256() for kind, _ in _KINDS}
    for record in snapshot.read(WHOLE_SESSION):
        hashes[type(record)].update(_encode(record))
        on_record()
    return {kind: digest.digest() for kind, digest in hashes.items()}


_encode: Final[Callable[[Any], bytes]] = msgspec.msgpack.Encoder().encode


def _of(kind: type[Record], snapshot: SessionSnapshot) -> Iterator[Record]:
    return (record for record in snapshot.read(WHOLE_SESSION) if isinstance(record, kind))


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
