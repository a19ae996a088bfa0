"""The branch index: which segment an entry belongs to (sql.md section 3).

A segment is a run in which each entry's parent is the one before. It is named by the ``seq`` of
its first entry, and that entry's parent says at which point of an older segment it starts. A path
is therefore a few ranges of ``seq``, each within one segment. ``depth``, the number of ancestors,
tells how long a range is without reading it.

Numbers grow along every path, since a parent is always written before its children.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

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

    def __init__(self, known: Mapping[str, Node] = MappingProxyType({})) -> None:
        """``known`` holds the parents that were written before."""
        self._depths = {id: node.depth for id, node in known.items()}
        self._segment_ends = {id: node.segment_seq for id, node in known.items() if node.ends_segment}

    def place(self, id: str, parent_id: str | None, seq: int) -> tuple[int, int]:
        """``(segment_seq, depth)`` of one more entry, given in the order of writing.

        Raises ``MissingParentError`` when the parent is neither known nor placed before.
        """
        segment_seq, depth = seq, 0
        if parent_id is not None:
            above = self._depths.get(parent_id)
            if above is None:
                raise MissingParentError(
                    f"the parent {parent_id!r} of entry {id!r} does not exist in this session"
                )
            depth = above + 1
            segment_seq = self._segment_ends.pop(parent_id, seq)
        self._depths[id] = depth
        self._segment_ends[id] = segment_seq
        return segment_seq, depth
