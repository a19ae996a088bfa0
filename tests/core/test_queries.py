"""Options of reads: what is refused, what is clamped, what they mean."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionstore.entries import EntryStructure
from sessionstore.errors import InvalidQueryError
from sessionstore.queries import (
    DEFAULT_LIST_LIMIT,
    LARGEST_SEQ,
    MAX_LIST_LIMIT,
    branch_query,
    find_query,
    list_query,
    scan_query,
    scan_rows,
    select_branch,
    up_to_tag,
)
from sessionstore.records import ElementRecord

NO_INTEGERS: list[Any] = [True, False, 1.0, "1", [1], b"2", object()]


def test_limits_of_lists() -> None:
    assert list_query().limit == DEFAULT_LIST_LIMIT == 1_000
    assert [list_query(limit=limit).limit for limit in (1, 9_999, 10_000, 10_001, 2**70)] == [
        1, 9_999, MAX_LIST_LIMIT, MAX_LIST_LIMIT, MAX_LIST_LIMIT,
    ]  # fmt: skip
    for limit in (0, -1, -(2**70)):
        with pytest.raises(InvalidQueryError, match="limit"):
            list_query(limit=limit)


@pytest.mark.parametrize("limit", NO_INTEGERS)
def test_limits_are_integers(limit: Any) -> None:
    for query in (list_query, scan_query, find_query):
        with pytest.raises(InvalidQueryError, match="limit must be an int"):
            query(limit=limit)
    with pytest.raises(InvalidQueryError, match="limit must be an int"):
        branch_query("e", limit=limit)


def test_limits_of_scans_are_never_clamped_and_zero_is_nothing() -> None:
    assert scan_query().limit is None
    assert scan_query(limit=0).limit == 0
    assert branch_query("e", limit=123_456).limit == 123_456
    assert scan_query(limit=2**70).limit == LARGEST_SEQ
    with pytest.raises(InvalidQueryError, match="negative"):
        scan_query(limit=-1)
    with pytest.raises(InvalidQueryError, match="negative"):
        branch_query("e", limit=-1)


@pytest.mark.parametrize("given_", NO_INTEGERS)
def test_numbers_are_integers(given_: Any) -> None:
    with pytest.raises(InvalidQueryError, match="cursor"):
        list_query(cursor=given_)
    with pytest.raises(InvalidQueryError, match="cursor"):
        branch_query("e", cursor=given_)
    with pytest.raises(InvalidQueryError, match="cursor"):
        find_query(cursor=given_)
    with pytest.raises(InvalidQueryError, match="from_seq"):
        scan_query(from_seq=given_)
    with pytest.raises(InvalidQueryError, match="to_seq"):
        scan_query(to_seq=given_)


def test_numbers_beyond_any_store_mean_its_ends() -> None:
    assert list_query(cursor=2**70).cursor == LARGEST_SEQ
    assert list_query(cursor=-(2**70)).cursor == -1
    query = scan_query(from_seq=-(2**70), to_seq=2**70)
    assert (query.from_seq, query.to_seq) == (-1, LARGEST_SEQ)


def test_orders() -> None:
    meanings = {"newest_first": "desc", "desc": "desc", "oldest_first": "asc", "asc": "asc"}
    for order, meaning in meanings.items():
        assert branch_query("e", order=order).order == meaning
    wrong: list[Any] = ["", "ASC", None, 1, "newest"]
    for order in wrong:
        for query in (list_query, scan_query, find_query):
            with pytest.raises(InvalidQueryError, match="order"):
                query(order=order)
        with pytest.raises(InvalidQueryError, match="order"):
            branch_query("e", order=order)
    with pytest.raises(InvalidQueryError, match="order"):
        list_query(order="newest_first")
    unhashable: Any = ["asc"]
    with pytest.raises(InvalidQueryError, match="order"):
        branch_query("e", order=unhashable)


def test_types_and_texts() -> None:
    for name in ("type", "stop_at_type"):
        options: dict[str, Any] = {name: "note"}
        with pytest.raises(InvalidQueryError, match=f"{name} must be one of message"):
            branch_query("e", **options)
    for name in ("custom_type", "stop_at_id"):
        options = {name: 5}
        with pytest.raises(InvalidQueryError, match=f"{name} must be a str"):
            branch_query("e", **options)
    wrong: Any = 5
    with pytest.raises(InvalidQueryError, match="start"):
        branch_query(wrong)
    with pytest.raises(InvalidQueryError, match="stop_at_tag"):
        list_query(stop_at_tag=wrong)


def test_the_cursor_of_find_is_exclusive() -> None:
    assert (find_query(cursor=5).from_seq, find_query(cursor=5).to_seq) == (0, 4)
    ascending = find_query(cursor=5, order="asc")
    assert (ascending.from_seq, ascending.to_seq) == (6, LARGEST_SEQ)
    assert find_query(cursor=0).to_seq == -1
    assert find_query().order == "desc"


def element(seq: int, tag: str | None) -> ElementRecord:
    return ElementRecord("", "n", "k", seq, "0", tag)


def test_a_page_ends_at_its_first_tag() -> None:
    page = [element(1, None), element(2, "a"), element(3, "b"), element(4, "a")]
    assert up_to_tag(page, None) == page
    assert up_to_tag(page, "a") == page[:2]
    assert up_to_tag(page, "b") == page[:3]
    assert up_to_tag(page, "c") == page
    assert up_to_tag([], "a") == []


# -- select_branch against the contract ------------------------------------------------------

TYPES = ["message", "custom", "compaction", "branch_summary"]


def node(seq: int, type_: Any, custom_type: str | None) -> EntryStructure:
    return EntryStructure(f"e{seq}", f"e{seq - 1}", seq, 0, type_, custom_type if type_ == "custom" else None)


paths = st.lists(st.tuples(st.sampled_from(TYPES), st.sampled_from(["a", "b"])), max_size=12).map(
    lambda kinds: [node(seq, *kind) for seq, kind in enumerate(kinds, 1)]
)
optional = st.none()


@given(
    path=paths,
    order=st.sampled_from(["asc", "desc"]),
    stop_at_type=optional | st.sampled_from(TYPES),
    stop_at_id=optional | st.sampled_from([f"e{n}" for n in range(14)]),
    type=optional | st.sampled_from(TYPES),
    custom_type=optional | st.sampled_from(["a", "b", "c"]),
    cursor=optional | st.integers(-1, 14),
    limit=optional | st.integers(0, 14),
)
def test_a_branch_is_ordered_stopped_filtered_and_cut(path: list[EntryStructure], **options: Any) -> None:
    query = branch_query("start", **options)
    ordered = path if query.order == "asc" else path[::-1]
    expected: list[EntryStructure] = []
    for one in ordered:
        beyond = options["cursor"] is None or (
            one.seq > options["cursor"] if query.order == "asc" else one.seq < options["cursor"]
        )
        if (
            options["type"] in (None, one.type)
            and options["custom_type"] in (None, one.custom_type)
            and beyond
        ):
            expected.append(one)
        if one.type == options["stop_at_type"] or one.id == options["stop_at_id"]:
            break
    assert list(select_branch(iter(ordered), query)) == expected[: options["limit"]]


@pytest.mark.parametrize(("limit", "stop"), list(product([0, 1, 3, None], ["e4", None])))
def test_a_path_is_read_no_further_than_needed(limit: int | None, stop: str | None) -> None:
    read: list[int] = []

    def path() -> Iterator[EntryStructure]:
        for seq in range(10, 0, -1):
            read.append(seq)
            yield node(seq, "message", None)

    found = list(select_branch(path(), branch_query("e10", limit=limit, stop_at_id=stop)))
    needed = min(10 if limit is None else limit, 7 if stop else 10)
    assert len(found) == needed
    assert len(read) == needed


def test_a_scan_of_rows_reads_no_more_than_its_limit() -> None:
    class Rows(list[ElementRecord]):
        read = 0

        def __getitem__(self, place: Any) -> Any:
            self.read += 1
            return super().__getitem__(place)

    rows = Rows(ElementRecord("", "n", "k", seq, "null", None) for seq in range(0, 2_000, 2))
    query = scan_query(from_seq=11, to_seq=1_001, order="desc", limit=3)
    assert [row.seq for row in scan_rows(rows, query)] == [1_000, 998, 996]
    assert rows.read < 40  # two searches by halves, and three rows
    assert [row.seq for row in scan_rows(rows, scan_query(to_seq=5))] == [0, 2, 4]
    assert list(scan_rows(rows, scan_query(limit=0))) == []
