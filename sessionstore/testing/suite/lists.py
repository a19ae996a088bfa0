"""Lists: append, pages, cursors, tags (model.md sections 5 and 6)."""

from __future__ import annotations

from typing import Any

from sessionstore.address import value_list
from sessionstore.errors import InvalidAddressError, InvalidQueryError, InvalidValueError
from sessionstore.storage import Storage
from sessionstore.testing.cases import StorageGroup
from sessionstore.testing.checks import calling, check, equal, refuses, unchanged, values_of
from sessionstore.testing.material import say
from sessionstore.writes import append_list, delete_list

group = StorageGroup("lists")

_LOG = value_list("app.log", "k")


def _fill(store: Storage, count: int, tags: dict[int, str] | None = None) -> list[int]:
    """Append 0, 1, 2… and give the numbers of the elements."""
    tags = tags or {}
    seqs: list[int] = []
    for start in range(0, count, 3):  # several transactions, with other numbers between them
        batch = range(start, min(start + 3, count))
        result = store.commit([append_list(_LOG, n, tags.get(n)) for n in batch])
        seqs.extend(result.seqs)
        store.commit([append_list(value_list("app.other"), 0)])
    return seqs


@group.case
def an_absent_list_reads_as_an_empty_page(store: Storage) -> None:
    """Absent and empty both read as an empty page."""
    equal(store.read_list(_LOG), [])
    equal(store.read_list(_LOG, order="desc", cursor=5, limit=1, stop_at_tag="t"), [])
    store.commit([append_list(_LOG, 1)])
    store.commit([delete_list(_LOG)])
    equal(store.read_list(_LOG), [])


@group.case
def elements_carry_seq_value_and_tag(store: Storage) -> None:
    """Elements come with ``seq``, ``value`` and ``tag``, in the order of their append."""
    result = store.commit(
        [append_list(_LOG, {"a": 1}), append_list(_LOG, None, "mark"), append_list(_LOG, "z")]
    )
    found = store.read_list(_LOG)
    equal(values_of(found), [{"a": 1}, None, "z"])
    equal([element.seq for element in found], list(result.seqs))
    equal([element.tag for element in found], [None, "mark", None])


@group.case
def ascending_is_the_default(store: Storage) -> None:
    """The default order is ascending; descending is its reverse."""
    _fill(store, 7)
    equal(values_of(store.read_list(_LOG)), list(range(7)))
    equal(values_of(store.read_list(_LOG, order="asc")), list(range(7)))
    equal(values_of(store.read_list(_LOG, order="desc")), list(range(6, -1, -1)))


@group.case
def a_cursor_is_exclusive(store: Storage) -> None:
    """Ascending gives ``seq > cursor``, descending ``seq < cursor``; any number is a cursor."""
    seqs = _fill(store, 8)
    for cursor in [0, -5, *range(seqs[0] - 1, seqs[-1] + 2), 10**6, 2**70]:
        up = [n for n, seq in enumerate(seqs) if seq > cursor]
        down = [n for n, seq in reversed(list(enumerate(seqs))) if seq < cursor]
        equal(values_of(store.read_list(_LOG, cursor=cursor)), up, f"ascending from {cursor}")
        equal(
            values_of(store.read_list(_LOG, cursor=cursor, order="desc")), down, f"descending from {cursor}"
        )


@group.case
def order_comes_before_limit(store: Storage) -> None:
    """A descending page holds the newest elements, not the reverse of the oldest."""
    _fill(store, 9)
    equal(values_of(store.read_list(_LOG, limit=4)), [0, 1, 2, 3])
    equal(values_of(store.read_list(_LOG, order="desc", limit=4)), [8, 7, 6, 5])
    equal(values_of(store.read_list(_LOG, limit=1)), [0])


@group.case
def paging_reaches_every_element_once(store: Storage) -> None:
    """Paging on from the last seq of a page reads the whole list, in both orders."""
    _fill(store, 20)
    for order, expected in (("asc", list(range(20))), ("desc", list(range(19, -1, -1)))):
        read: list[int] = []
        cursor = None
        while page := store.read_list(_LOG, cursor=cursor, order=order, limit=3):
            read.extend(values_of(page))
            cursor = page[-1].seq
        equal(read, expected, f"pages in order {order}")


@group.case
def later_appends_appear_on_later_pages(store: Storage) -> None:
    """A cursor is a number, not a snapshot."""
    _fill(store, 3)
    page = store.read_list(_LOG, limit=2)
    store.commit([append_list(_LOG, "later")])
    equal(values_of(store.read_list(_LOG, cursor=page[-1].seq)), [2, "later"])


@group.case
def a_limit_is_1000_by_default_and_10000_at_most(store: Storage) -> None:
    """A page holds 1,000 elements by default and never more than 10,000."""
    store.commit([append_list(_LOG, n) for n in range(10_002)])
    equal(len(store.read_list(_LOG)), 1_000, "elements by default")
    equal(len(store.read_list(_LOG, limit=9_999)), 9_999)
    equal(len(store.read_list(_LOG, limit=10_000)), 10_000)
    equal(len(store.read_list(_LOG, limit=10_001)), 10_000, "elements of a page that asks for more")
    equal(len(store.read_list(_LOG, limit=2**70, order="desc")), 10_000)
    equal(store.read_list(_LOG, limit=2**70, order="desc")[0].value, 10_001)


@group.case
def bad_limits_are_errors(store: Storage) -> None:
    """0, negative and non-integer limits are errors; so are such cursors and unknown orders."""
    store.commit([append_list(_LOG, 1)])
    bad: list[Any] = [0, -1, 1.0, 2.5, "1", True, False, [1]]
    for limit in bad:
        refuses(InvalidQueryError, calling(lambda limit: store.read_list(_LOG, limit=limit), limit), "limit")
    cursors: list[Any] = [1.0, "1", True, [1]]
    for cursor in cursors:
        refuses(
            InvalidQueryError, calling(lambda cursor: store.read_list(_LOG, cursor=cursor), cursor), "cursor"
        )
    orders: list[Any] = ["", "ASC", "newest_first", None, 1]
    for order in orders:
        refuses(InvalidQueryError, calling(lambda order: store.read_list(_LOG, order=order), order), "order")
    wrong: Any = 5
    refuses(InvalidQueryError, lambda: store.read_list(_LOG, stop_at_tag=wrong), "stop_at_tag")


@group.case
def a_list_is_deleted_whole(store: Storage) -> None:
    """The only removal is of the whole list; deleting an absent one is legal."""
    _fill(store, 5)
    store.commit([delete_list(_LOG)])
    equal(store.read_list(_LOG), [])
    store.commit([delete_list(_LOG)])
    result = store.commit([append_list(_LOG, "fresh")])
    found = store.read_list(_LOG)
    equal(values_of(found), ["fresh"])
    equal(found[0].seq, result.seqs[0])
    equal(len(store.read_list(value_list("app.other"))), 2, "elements of another list")


@group.case
def lists_do_not_mix(store: Storage) -> None:
    """Lists of other keys and namespaces are apart."""
    places = [value_list("a", "x"), value_list("a", "y"), value_list("b", "x"), value_list("a")]
    store.commit([append_list(place, (n, round_)) for round_ in range(3) for n, place in enumerate(places)])
    for n, place in enumerate(places):
        equal(values_of(store.read_list(place)), [[n, 0], [n, 1], [n, 2]])


@group.case
def a_tag_keeps_the_text_rules(store: Storage) -> None:
    """A tag is non-empty text with the rules and the limit of a namespace."""
    longest = "é" * 127 + "x"
    store.commit([append_list(_LOG, 0, longest), append_list(_LOG, 1, " "), append_list(_LOG, 2, "T")])
    equal([element.tag for element in store.read_list(_LOG)], [longest, " ", "T"])
    bad: list[Any] = ["", "\0", "a\0", "\ud800", "x" * 256, "é" * 128, 1, b"t"]
    for tag in bad:
        with unchanged(store, _LOG):
            refuses(
                InvalidAddressError,
                calling(lambda tag: store.commit([append_list(_LOG, "x", tag)]), tag),
                "app.log",
            )


@group.case
def stop_at_tag_ends_the_page_at_the_marker(store: Storage) -> None:
    """The page ends right after the first element in read order that bears the tag, inclusive."""
    _fill(store, 9, {2: "mark", 6: "mark", 4: "other"})
    equal(values_of(store.read_list(_LOG, stop_at_tag="mark")), [0, 1, 2])
    equal(values_of(store.read_list(_LOG, stop_at_tag="mark", order="desc")), [8, 7, 6])
    equal(values_of(store.read_list(_LOG, stop_at_tag="other")), [0, 1, 2, 3, 4])
    equal(values_of(store.read_list(_LOG, stop_at_tag="other", order="desc")), [8, 7, 6, 5, 4])


@group.case
def stop_at_tag_starts_at_the_cursor(store: Storage) -> None:
    """Only elements beyond the cursor count: before the marker, at it, and after it."""
    seqs = _fill(store, 9, {4: "mark"})
    up = {seqs[1]: [2, 3, 4], seqs[3]: [4], seqs[4]: [5, 6, 7, 8], seqs[6]: [7, 8]}
    for cursor, expected in up.items():
        equal(values_of(store.read_list(_LOG, cursor=cursor, stop_at_tag="mark")), expected)
    down = {seqs[7]: [6, 5, 4], seqs[5]: [4], seqs[4]: [3, 2, 1, 0], seqs[2]: [1, 0]}
    for cursor, expected in down.items():
        page = store.read_list(_LOG, cursor=cursor, order="desc", stop_at_tag="mark")
        equal(values_of(page), expected)


@group.case
def stop_at_tag_never_looks_past_the_page(store: Storage) -> None:
    """Without a hit in the page the page is what it would have been; the caller pages on."""
    _fill(store, 9, {5: "mark"})
    equal(values_of(store.read_list(_LOG, stop_at_tag="mark", limit=3)), [0, 1, 2], "limit before the marker")
    equal(values_of(store.read_list(_LOG, stop_at_tag="mark", limit=6)), [0, 1, 2, 3, 4, 5], "limit at it")
    equal(values_of(store.read_list(_LOG, stop_at_tag="mark", limit=7)), [0, 1, 2, 3, 4, 5], "limit after it")
    page = store.read_list(_LOG, stop_at_tag="mark", limit=2, order="desc")
    equal(values_of(page), [8, 7])
    page = store.read_list(_LOG, stop_at_tag="mark", limit=2, order="desc", cursor=page[-1].seq)
    equal(values_of(page), [6, 5])


@group.case
def stop_at_tag_without_any_marker(store: Storage) -> None:
    """A tag that nothing bears changes no page."""
    _fill(store, 5, {1: "mark"})
    equal(values_of(store.read_list(_LOG, stop_at_tag="nothing")), [0, 1, 2, 3, 4])
    equal(values_of(store.read_list(_LOG, stop_at_tag="MARK", order="desc")), [4, 3, 2, 1, 0])
    equal(values_of(store.read_list(_LOG, stop_at_tag="mark ")), [0, 1, 2, 3, 4])


@group.case
def a_marker_may_be_first_or_last(store: Storage) -> None:
    """A marker as the first and as the last element of a list."""
    _fill(store, 4, {0: "first", 3: "last"})
    equal(values_of(store.read_list(_LOG, stop_at_tag="first")), [0])
    equal(values_of(store.read_list(_LOG, stop_at_tag="first", order="desc")), [3, 2, 1, 0])
    equal(values_of(store.read_list(_LOG, stop_at_tag="last")), [0, 1, 2, 3])
    equal(values_of(store.read_list(_LOG, stop_at_tag="last", order="desc")), [3])


@group.case
def markers_of_one_transaction_stop_at_the_first(store: Storage) -> None:
    """Two markers in one transaction: each order stops at its own first."""
    store.commit([append_list(_LOG, n, "mark" if n in (1, 2) else None) for n in range(4)])
    equal(values_of(store.read_list(_LOG, stop_at_tag="mark")), [0, 1])
    equal(values_of(store.read_list(_LOG, stop_at_tag="mark", order="desc")), [3, 2])


@group.case
def tags_are_not_interpreted(store: Storage) -> None:
    """The store returns tags as given and never interprets the element."""
    tags = ["tag", "Tag", "tag ", "á", "a\u0301", "👍", "🎉", "%", "null", "0"]
    store.commit([append_list(_LOG, {"tag": "x"}, tag) for tag in tags])
    equal([element.tag for element in store.read_list(_LOG)], tags)
    for index, tag in enumerate(tags):
        equal(len(store.read_list(_LOG, stop_at_tag=tag)), index + 1, f"elements up to the tag {tag!r}")


@group.case
def elements_are_validated_and_typed(store: Storage) -> None:
    """Elements are validated strictly on append and typed on read, and errors name the address."""
    pairs = value_list("app.pairs", "k", type=tuple[int, str])
    store.commit([append_list(pairs, (1, "a"))])
    equal(values_of(store.read_list(pairs)), [(1, "a")])
    wrong: Any = (1, 2)
    with unchanged(store, pairs):
        refuses(InvalidValueError, lambda: store.commit([append_list(pairs, wrong)]), "app.pairs", "'k'")
    refuses(InvalidValueError, lambda: store.read_list(value_list("app.pairs", "k", type=int)), "app.pairs")


@group.case
def elements_are_new_objects(store: Storage) -> None:
    """Changing an element that was given or read changes nothing in the store."""
    element = {"n": [1]}
    store.commit([append_list(_LOG, element)])
    element["n"].append(2)
    read = store.read_list(_LOG)
    read[0].value["n"].append(3)
    equal(values_of(store.read_list(_LOG)), [{"n": [1]}])


@group.case
def a_long_list_is_paged_from_any_place(store: Storage) -> None:
    """Pages in the middle of a long list are right in both orders."""
    seqs = list(store.commit([append_list(_LOG, n) for n in range(5000)]).seqs)
    page = store.read_list(_LOG, cursor=seqs[2499], limit=3)
    equal(values_of(page), [2500, 2501, 2502])
    page = store.read_list(_LOG, cursor=seqs[2500], limit=3, order="desc")
    equal(values_of(page), [2499, 2498, 2497])


@group.case
def appends_share_a_transaction_with_entries(store: Storage) -> None:
    """Session-scoped appends commit together with entries."""
    result = store.commit([append_list(_LOG, 1), say("e"), append_list(_LOG, 2)])
    equal([element.seq for element in store.read_list(_LOG)], [result.seqs[0], result.seqs[2]])
    check("e" in store.get_entries(["e"]), "the entry should be there")
