"""A session as a bounded stream of records with their numbers.

Fork, copy, import, export, upgrade and verify all read images and load them. What makes an image
holds at most a batch of payloads in memory; what loads one writes batch by batch and publishes the
session at the end, complete, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from sessionstore.records import Record
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


class SessionImage(msgspec.Struct, frozen=True):
    """A header and its records: each kind in ascending ``seq``, a parent before its children.

    ``records`` can be read once. Records of live ephemeral scopes carry their ``scope_id``;
    retirements are no records: what they ended is not in the image.
    """

    header: ImageHeader
    records: Iterator[Record]
