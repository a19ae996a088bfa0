"""The branch index: which segment an entry belongs to (sql.md section 3).

A segment is a run in which each entry's parent is the one before. It is named by the ``seq`` of
its first entry, and that entry's parent says at which point of an older segment it starts. A path
is therefore a few ranges of ``seq``, each within one segment. ``depth``, the number of ancestors,
tells how long a range is without reading it.

Numbers grow along every path, since a parent is always written before its children.
"""

from __future__ import annotations

import msgspec

from sessionstore.errors import MissingParentError


class Node(msgspec.Struct, frozen=True, gc=False):
    """Where an entry stands. ``ends_segment``: no later entry of its segment exists."""

    seq: int
    segment_seq: int
    depth: int
    ends_segment: bool


class Placement:
    """Gives each new entry its segment and depth, from what is known of the parents.

    A child continues the segment of its parent when the parent ends it, and else starts one: an
    append and a divergence both touch the new entry alone.
    """

    def __init__(self, known: dict[str, Node] | None = None) -> None:
        """``known`` holds the parents that were written before; it is extended."""
        self._known = {} if known is None else known
        self._continued: set[str] = set()

    def place(self, id: str, parent_id: str | None, seq: int) -> tuple[int, int]:
        """``(segment_seq, depth)`` of one more entry, given in the order of writing.

        Raises ``MissingParentError`` when the parent is neither known nor placed before.
        """
        segment_seq, depth = seq, 0
        if parent_id is not None:
            parent = self._known.get(parent_id)
            if parent is None:
                raise MissingParentError(
                    f"the parent {parent_id!r} of entry {id!r} does not exist in this session"
                )
            depth = parent.depth + 1
            if parent.ends_segment and parent_id not in self._continued:
                segment_seq = parent.segment_seq
                self._continued.add(parent_id)
        self._known[id] = Node(seq, segment_seq, depth, True)
        return segment_seq, depth
