"""The options of reads and scans, checked once, and what they mean (model.md section 5)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from sessionstore.entries import ENTRY_TYPES, EntryStructure, EntryType
from sessionstore.errors import InvalidQueryError
from sessionstore.records import ElementRecord, EntryRecord

Order: TypeAlias = Literal["asc", "desc"]

DEFAULT_LIST_LIMIT: Final = 1_000
MAX_LIST_LIMIT: Final = 10_000
"""Elements of one list page; a larger limit is clamped to it."""

LARGEST_SEQ: Final = 2**63 - 1
"""No store keeps a larger number; cursors and bounds beyond it mean the same as it."""

_BRANCH_ORDERS: Final[dict[str, Order]] = {
    "newest_first": "desc",
    "desc": "desc",
    "oldest_first": "asc",
    "asc": "asc",
}


class ListQuery(msgspec.Struct, frozen=True):
    """A page of a list: ``seq > cursor`` ascending, ``seq < cursor`` descending."""

    cursor: int | None
    order: Order
    limit: int
    stop_at_tag: str | None


class ScanQuery(msgspec.Struct, frozen=True):
    """A scan of all entries or of the ledger by ``seq``; bounds are inclusive."""

    from_seq: int
    to_seq: int
    order: Order
    limit: int | None
    type: EntryType | None = None
    custom_type: str | None = None


class BranchQuery(msgspec.Struct, frozen=True):
    """A scan of the path from ``start`` to its root, in read order."""

    start: str
    order: Order
    stop_at_type: EntryType | None
    stop_at_id: str | None
    type: EntryType | None
    custom_type: str | None
    limit: int | None
    cursor: int | None


def list_query(
    *,
    cursor: int | None = None,
    order: str = "asc",
    limit: int | None = None,
    stop_at_tag: str | None = None,
) -> ListQuery:
    """Check the options of ``read_list``; ``InvalidQueryError`` names the one that is wrong."""
    if limit is None:
        limit = DEFAULT_LIST_LIMIT
    if _integer(limit, "limit") < 1:
        raise InvalidQueryError(f"limit of a list read must be positive, not {limit}")
    return ListQuery(
        _seq(cursor, "cursor"),
        _order(order),
        min(limit, MAX_LIST_LIMIT),
        _optional_text(stop_at_tag, "stop_at_tag"),
    )


def scan_query(
    *,
    type: str | None = None,
    custom_type: str | None = None,
    from_seq: int | None = None,
    to_seq: int | None = None,
    order: str = "asc",
    limit: int | None = None,
) -> ScanQuery:
    """Check the options of ``scan_entries`` and ``scan_usage``."""
    lowest = _seq(from_seq, "from_seq")
    highest = _seq(to_seq, "to_seq")
    return ScanQuery(
        0 if lowest is None else lowest,
        LARGEST_SEQ if highest is None else highest,
        _order(order),
        _limit(limit),
        _type(type, "type"),
        _optional_text(custom_type, "custom_type"),
    )


def find_query(
    *,
    type: str | None = None,
    custom_type: str | None = None,
    order: str = "desc",
    limit: int | None = None,
    cursor: int | None = None,
) -> ScanQuery:
    """Check the options of ``find_entries``: a scan whose exclusive cursor is a bound."""
    at = _seq(cursor, "cursor")
    descending = _order(order) == "desc"
    return scan_query(
        type=type,
        custom_type=custom_type,
        from_seq=None if at is None or descending else at + 1,
        to_seq=None if at is None or not descending else at - 1,
        order=order,
        limit=limit,
    )


def branch_query(
    start: str,
    *,
    stop_at_type: str | None = None,
    stop_at_id: str | None = None,
    type: str | None = None,
    custom_type: str | None = None,
    order: str = "newest_first",
    limit: int | None = None,
    cursor: int | None = None,
) -> BranchQuery:
    """Check the options of ``scan_branch``."""
    if not isinstance(start, str):
        raise InvalidQueryError(f"start must be an entry id, not a {_name(start)}")
    if order not in tuple(_BRANCH_ORDERS):  # a tuple, since what is no str may have no hash
        raise InvalidQueryError(f"order must be one of {', '.join(_BRANCH_ORDERS)}; got {order!r}")
    return BranchQuery(
        start,
        _BRANCH_ORDERS[order],
        _type(stop_at_type, "stop_at_type"),
        _optional_text(stop_at_id, "stop_at_id"),
        _type(type, "type"),
        _optional_text(custom_type, "custom_type"),
        _limit(limit),
        _seq(cursor, "cursor"),
    )


_Node = TypeVar("_Node", EntryRecord, EntryStructure)


def select_branch(path: Iterable[_Node], query: BranchQuery) -> Iterator[_Node]:
    """What ``query`` returns of a path that comes in its read order.

    Stop after the first match, inclusive; then filter; then the cursor; then the limit. ``path``
    is consumed no further than needed.
    """
    selected = iter(path)
    # Each step only where it is asked for: a long path without any of them runs at the speed of a list.
    if query.stop_at_type is not None or query.stop_at_id is not None:
        selected = _up_to_stop(selected, query)
    if query.type is not None or query.custom_type is not None:
        selected = (node for node in selected if _passes(node, query))
    if query.cursor is not None:
        selected = _beyond(selected, query.cursor, query.order)
    return islice(selected, query.limit)


def _up_to_stop(path: Iterable[_Node], query: BranchQuery) -> Iterator[_Node]:
    for node in path:
        yield node
        if node.id == query.stop_at_id or node.type == query.stop_at_type:
            return


def _passes(node: _Node, query: BranchQuery) -> bool:
    return (query.type is None or node.type == query.type) and (
        query.custom_type is None or node.custom_type == query.custom_type
    )


def _beyond(path: Iterable[_Node], cursor: int, order: Order) -> Iterator[_Node]:
    if order == "asc":
        return (node for node in path if node.seq > cursor)
    return (node for node in path if node.seq < cursor)


class Numbered(Protocol):
    """A row that is kept in the order of its number."""

    @property
    def seq(self) -> int:
        """The number of the write that made it."""
        ...


class ScannableEntry(Numbered, Protocol):
    """An entry as a scan sees it."""

    @property
    def type(self) -> EntryType:
        """See ``EntryRecord``."""
        ...

    @property
    def custom_type(self) -> str | None:
        """See ``EntryRecord``."""
        ...


_Row = TypeVar("_Row", bound=Numbered)
_Entry = TypeVar("_Entry", bound=ScannableEntry)

_by_seq: Final = attrgetter("seq")


def list_page(elements: Sequence[_Row], query: ListQuery) -> Sequence[_Row]:
    """One page of a list that is in memory, without reading the rest; :func:`up_to_tag` then ends it."""
    if query.order == "asc":
        start = 0 if query.cursor is None else bisect_right(elements, query.cursor, key=_by_seq)
        return elements[start : start + query.limit]
    end = len(elements)
    if query.cursor is not None:
        end = bisect_left(elements, query.cursor, key=_by_seq)
    return elements[max(0, end - query.limit) : end][::-1]


def scan_rows(rows: Sequence[_Row], query: ScanQuery) -> Iterator[_Row]:
    """What a scan without filters returns of rows that are in memory; the limit cuts the work."""
    places = range(
        bisect_left(rows, query.from_seq, key=_by_seq), bisect_right(rows, query.to_seq, key=_by_seq)
    )
    ordered = map(rows.__getitem__, places if query.order == "asc" else reversed(places))
    return islice(ordered, query.limit)


def scan_entries(entries: Sequence[_Entry], query: ScanQuery) -> Iterator[_Entry]:
    """The same for entries, filtered."""
    if query.type is None and query.custom_type is None:
        return scan_rows(entries, query)
    unlimited = msgspec.structs.replace(query, limit=None)
    passing = (
        entry
        for entry in scan_rows(entries, unlimited)
        if (query.type is None or entry.type == query.type)
        and (query.custom_type is None or entry.custom_type == query.custom_type)
    )
    return islice(passing, query.limit)


def up_to_tag(page: list[ElementRecord], tag: str | None) -> list[ElementRecord]:
    """End a page right after the first element in read order that bears ``tag``."""
    if tag is not None:
        for index, element in enumerate(page):
            if element.tag == tag:
                return page[: index + 1]
    return page


def _integer(given: object, what: str) -> int:
    if isinstance(given, bool) or not isinstance(given, int):
        raise InvalidQueryError(f"{what} must be an int, not a {_name(given)}")
    return given


def _limit(limit: int | None) -> int | None:
    if limit is not None and _integer(limit, "limit") < 0:
        raise InvalidQueryError(f"limit must not be negative; got {limit}")
    return None if limit is None else min(limit, LARGEST_SEQ)


def _seq(given: int | None, what: str) -> int | None:
    if given is None:
        return None
    return max(-1, min(_integer(given, what), LARGEST_SEQ))


def _order(order: str) -> Order:
    if order == "asc":
        return "asc"
    if order == "desc":
        return "desc"
    raise InvalidQueryError(f"order must be 'asc' or 'desc'; got {order!r}")


def _type(given: str | None, what: str) -> EntryType | None:
    if given is None or given in ENTRY_TYPES:
        return given
    raise InvalidQueryError(f"{what} must be one of {', '.join(ENTRY_TYPES)}; got {given!r}")


def _optional_text(given: Any, what: str) -> str | None:
    if given is not None and not isinstance(given, str):
        raise InvalidQueryError(f"{what} must be a str, not a {_name(given)}")
    return given


def _name(given: object) -> str:
    return type(given).__name__
