"""Branch scans and entry scans: order, stop, filter, cursor, limit (model.md section 5)."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from sessionstore.entries import (
    EntryStructure,
    NewBranchSummaryEntry,
    NewCompactionEntry,
    NewCustomEntry,
    NewEntry,
    NewMessageEntry,
)
from sessionstore.errors import InvalidQueryError, UnknownEntryError
from sessionstore.storage import Storage
from sessionstore.testing.cases import StorageGroup
from sessionstore.testing.checks import calling, check, equal, ids_of, refuses
from sessionstore.testing.material import message, note, say, spend
from sessionstore.writes import Write, insert_entry

group = StorageGroup("branches")


class _Tree:
    """A tree that is written to a store, and the naive model of what its scans give."""

    def __init__(self, store: Storage) -> None:
        self._store = store
        self.nodes: dict[str, EntryStructure] = {}

    def add(self, *entries: NewEntry) -> None:
        """Insert entries in one transaction."""
        writes: list[Write[Any]] = [insert_entry(entry) for entry in entries]
        result = self._store.commit(writes)
        for entry, seq in zip(entries, result.seqs, strict=True):
            custom_type = entry.custom_type if isinstance(entry, NewCustomEntry) else None
            self.nodes[entry.id] = EntryStructure(
                entry.id, entry.parent_id, seq, result.timestamp, entry.type, custom_type
            )

    def path(self, start: str) -> Iterator[EntryStructure]:
        """The path to the root, newest first."""
        id: str | None = start
        while id is not None:
            yield self.nodes[id]
            id = self.nodes[id].parent_id

    def expected(self, start: str, options: Mapping[str, Any]) -> list[EntryStructure]:
        """What ``scan_branch`` has to give, step by step as the contract says it."""
        ordered = list(self.path(start))
        ascending = options.get("order", "newest_first") in ("asc", "oldest_first")
        if ascending:
            ordered.reverse()
        stopped: list[EntryStructure] = []
        for node in ordered:
            stopped.append(node)
            if node.id == options.get("stop_at_id") or node.type == options.get("stop_at_type"):
                break
        cursor = options.get("cursor")
        kept = [
            node
            for node in stopped
            if options.get("type") in (None, node.type)
            and options.get("custom_type") in (None, node.custom_type)
            and (cursor is None or (node.seq > cursor if ascending else node.seq < cursor))
        ]
        return kept[: options.get("limit")]

    def compare(self, start: str, **options: Any) -> None:
        """Compare both kinds of scan with the model."""
        expected = self.expected(start, options)
        what = f"scan_branch({start!r}, {options})"
        equal(ids_of(self._store.scan_branch(start, **options)), ids_of(expected), what)
        equal(self._store.scan_branch_structure(start, **options), expected, f"structure of {what}")


def _mixed_chain(store: Storage) -> _Tree:
    """A chain of ten entries of every type."""
    tree = _Tree(store)
    tree.add(
        NewMessageEntry("e0", None, message()),
        NewCustomEntry("e1", "e0", "a"),
        NewMessageEntry("e2", "e1", message()),
        NewCompactionEntry("e3", "e2", "", [], 0, False),
    )
    tree.add(NewCustomEntry("e4", "e3", "b"), NewMessageEntry("e5", "e4", message()))
    tree.add(NewBranchSummaryEntry("e6", "e5", None, "", False))
    tree.add(NewCompactionEntry("e7", "e6", "", [], 0, False), NewCustomEntry("e8", "e7", "a"))
    tree.add(NewMessageEntry("e9", "e8", message()))
    return tree


@group.case
def newest_first_is_the_default(store: Storage) -> None:
    """The path from start to its root, newest first by default; both spellings of both orders."""
    tree = _mixed_chain(store)
    newest = [f"e{n}" for n in range(9, -1, -1)]
    equal(ids_of(store.scan_branch("e9")), newest)
    for order in ("newest_first", "desc", "oldest_first", "asc"):
        tree.compare("e9", order=order)
        tree.compare("e4", order=order)
        tree.compare("e0", order=order)
    equal(ids_of(store.scan_branch("e9", order="asc")), newest[::-1])


@group.case
def a_stop_is_inclusive(store: Storage) -> None:
    """The scan stops after the first entry in read order that matches, inclusive."""
    _mixed_chain(store)
    equal(ids_of(store.scan_branch("e9", stop_at_type="compaction")), ["e9", "e8", "e7"])
    equal(ids_of(store.scan_branch("e9", stop_at_type="compaction", order="asc")), ["e0", "e1", "e2", "e3"])
    equal(ids_of(store.scan_branch("e9", stop_at_id="e5")), ["e9", "e8", "e7", "e6", "e5"])
    equal(ids_of(store.scan_branch("e9", stop_at_id="e2", order="asc")), ["e0", "e1", "e2"])
    equal(ids_of(store.scan_branch("e9", stop_at_id="e9")), ["e9"])
    equal(len(store.scan_branch("e9", stop_at_id="nobody")), 10, "entries with a stop that never comes")


@group.case
def either_stop_ends_the_scan(store: Storage) -> None:
    """With both stops given the first match of either ends the scan."""
    _mixed_chain(store)
    equal(ids_of(store.scan_branch("e9", stop_at_type="compaction", stop_at_id="e8")), ["e9", "e8"])
    equal(ids_of(store.scan_branch("e9", stop_at_type="compaction", stop_at_id="e5")), ["e9", "e8", "e7"])


@group.case
def a_stop_entry_that_fails_the_filter_is_not_returned(store: Storage) -> None:
    """Stop comes before filter, and the filter applies to the stop entry too."""
    _mixed_chain(store)
    equal(ids_of(store.scan_branch("e9", stop_at_type="compaction", type="message")), ["e9"])
    equal(ids_of(store.scan_branch("e9", stop_at_id="e4", custom_type="a")), ["e8"])
    equal(ids_of(store.scan_branch("e9", stop_at_id="e4", custom_type="b")), ["e4"])
    equal(ids_of(store.scan_branch("e9", stop_at_type="compaction", type="compaction", order="asc")), ["e3"])


@group.case
def filters_by_type_and_custom_type(store: Storage) -> None:
    """``type`` and ``custom_type`` filter, together or alone."""
    _mixed_chain(store)
    equal(ids_of(store.scan_branch("e9", type="custom")), ["e8", "e4", "e1"])
    equal(ids_of(store.scan_branch("e9", custom_type="a")), ["e8", "e1"])
    equal(ids_of(store.scan_branch("e9", type="custom", custom_type="b")), ["e4"])
    equal(store.scan_branch("e9", type="message", custom_type="a"), [])
    equal(store.scan_branch("e9", custom_type="A"), [])


@group.case
def cursor_and_limit_come_last(store: Storage) -> None:
    """Then the exclusive cursor, then the limit; 0 gives nothing, None all."""
    tree = _mixed_chain(store)
    seq = {id: node.seq for id, node in tree.nodes.items()}
    equal(ids_of(store.scan_branch("e9", limit=2)), ["e9", "e8"])
    equal(ids_of(store.scan_branch("e9", cursor=seq["e4"], limit=2)), ["e3", "e2"])
    equal(ids_of(store.scan_branch("e9", cursor=seq["e4"], limit=2, order="asc")), ["e5", "e6"])
    equal(ids_of(store.scan_branch("e9", type="message", limit=2, cursor=seq["e9"])), ["e5", "e2"])
    equal(store.scan_branch("e9", limit=0), [])
    equal(len(store.scan_branch("e9", limit=None)), 10)
    equal(len(store.scan_branch("e9", limit=2**70)), 10)
    equal(
        ids_of(store.scan_branch("e9", stop_at_type="compaction", cursor=seq["e4"])),
        [],
        "entries beyond a cursor that lies beyond the stop",
    )


@group.case
def every_combination_of_options(store: Storage) -> None:
    """Order, stop, filter, cursor and limit combined, against the contract word by word."""
    tree = _mixed_chain(store)
    seq = {id: node.seq for id, node in tree.nodes.items()}
    stops: list[dict[str, Any]] = [
        {},
        {"stop_at_type": "compaction"},
        {"stop_at_id": "e4"},
        {"stop_at_id": "e0"},
    ]
    filters: list[dict[str, Any]] = [{}, {"type": "message"}, {"custom_type": "a"}, {"type": "compaction"}]
    cursors: list[dict[str, Any]] = [{}, {"cursor": seq["e3"]}, {"cursor": seq["e8"]}, {"cursor": 0}]
    limits: list[dict[str, Any]] = [{}, {"limit": 1}, {"limit": 3}]
    for order, stop, filter_, cursor, limit in product(("desc", "asc"), stops, filters, cursors, limits):
        tree.compare("e8", order=order, **stop, **filter_, **cursor, **limit)


@group.case
def an_unknown_start_is_an_error(store: Storage) -> None:
    """An unknown start is an error, with any options; a usage id is unknown."""
    store.commit([say("e"), spend("row")])
    for start in ("nobody", "row", "", "\0", "\ud800", "E", "e "):
        for options in ({}, {"limit": 0}, {"order": "asc", "cursor": 0, "limit": 1}):
            given: dict[str, Any] = options
            refuses(
                UnknownEntryError,
                calling(lambda start, given: store.scan_branch(start, **given), start, given),
            )
            refuses(
                UnknownEntryError,
                calling(lambda start, given: store.scan_branch_structure(start, **given), start, given),
            )


@group.case
def structure_is_the_same_without_payloads(store: Storage) -> None:
    """``scan_branch_structure`` gives id, parent, seq, timestamp, type and custom type."""
    _mixed_chain(store)
    entries = store.scan_branch("e9")
    structure = store.scan_branch_structure("e9")
    equal(
        [(n.id, n.parent_id, n.seq, n.timestamp, n.type, n.custom_type) for n in structure],
        [(e.id, e.parent_id, e.seq, e.timestamp, e.type, e.custom_type) for e in entries],
    )


@group.case
def bad_options_of_branch_scans_are_errors(store: Storage) -> None:
    """Limits, cursors, orders and types are checked, never clamped."""
    store.commit([say("e")])
    bad: list[dict[str, Any]] = [
        {"limit": -1},
        {"limit": True},
        {"limit": 1.5},
        {"limit": "1"},
        {"cursor": 1.5},
        {"cursor": True},
        {"order": "up"},
        {"order": None},
        {"type": "note"},
        {"stop_at_type": "note"},
        {"type": ""},
        {"custom_type": 1},
        {"stop_at_id": 1},
    ]
    for options in bad:
        named = next(iter(options))
        refuses(InvalidQueryError, calling(lambda options: store.scan_branch("e", **options), options), named)
        refuses(
            InvalidQueryError,
            calling(lambda options: store.scan_branch_structure("e", **options), options),
            named,
        )
    wrong: Any = 5
    refuses(InvalidQueryError, lambda: store.scan_branch(wrong), "start")


@group.case
def a_divergence_shares_what_lies_before_it(store: Storage) -> None:
    """Branches that leave the tree at an old entry see the common past and nothing of each other."""
    tree = _Tree(store)
    tree.add(*[NewCustomEntry(f"t{n}", f"t{n - 1}" if n else None, "trunk") for n in range(12)])
    for leave in (10, 5, 0, 5, 11):
        name = f"b{len(tree.nodes)}"
        tree.add(NewCustomEntry(f"{name}.0", f"t{leave}", "side"))
        tree.add(
            NewCustomEntry(f"{name}.1", f"{name}.0", "side"), NewCustomEntry(f"{name}.2", f"{name}.1", "x")
        )
    for start in tree.nodes:
        for order in ("desc", "asc"):
            tree.compare(start, order=order)
            tree.compare(start, order=order, custom_type="side")
            tree.compare(start, order=order, stop_at_id="t3", limit=4)


@group.case
def a_tree_of_many_divergences(store: Storage) -> None:
    """A random tree with hundreds of divergences, each read compared with a naive walk."""
    chance = random.Random(20_260_203)  # a fixed seed: the same tree each time
    tree = _Tree(store)
    types = ["message", "custom", "compaction", "branch_summary"]
    ids: list[str] = []
    while len(ids) < 400:
        batch: list[NewEntry] = []
        for _ in range(chance.randint(1, 6)):
            id = f"n{len(ids)}"
            # Mostly the tip, often somewhere old, seldom a new root: what agents do, and worse.
            roll = chance.random()
            parent = None if not ids or roll < 0.02 else ids[-1] if roll < 0.6 else chance.choice(ids)
            batch.append(_random_entry(chance.choice(types), id, parent, chance))
            ids.append(id)
        tree.add(*batch)
    seqs = [node.seq for node in tree.nodes.values()]
    for start in chance.sample(ids, 60):
        tree.compare(start)
        options: dict[str, Any] = {"order": chance.choice(["asc", "desc"])}
        if chance.random() < 0.5:
            options["limit"] = chance.randint(0, 9)
        if chance.random() < 0.5:
            options["cursor"] = chance.choice(seqs)
        if chance.random() < 0.4:
            options["stop_at_id"] = chance.choice(ids)
        if chance.random() < 0.3:
            options["stop_at_type"] = chance.choice(types)
        if chance.random() < 0.4:
            options["type"] = chance.choice(types)
        elif chance.random() < 0.3:
            options["custom_type"] = chance.choice(["a", "b"])
        tree.compare(start, **options)
    for start in ids[::37]:
        tree.compare(start, order="asc")
        tree.compare(start, limit=3)


def _random_entry(type: str, id: str, parent: str | None, chance: random.Random) -> NewEntry:
    if type == "message":
        return NewMessageEntry(id, parent, message())
    if type == "compaction":
        return NewCompactionEntry(id, parent, "", [], 0, False)
    if type == "branch_summary":
        return NewBranchSummaryEntry(id, parent, parent, "", True)
    return NewCustomEntry(id, parent, chance.choice("ab"))


@group.case
def many_children_of_one_entry(store: Storage) -> None:
    """An entry with hundreds of children, in one transaction and in many."""
    tree = _Tree(store)
    tree.add(NewCustomEntry("root", None, "x"), NewCustomEntry("mid", "root", "x"))
    tree.add(*[NewCustomEntry(f"a{n}", "mid", "x") for n in range(200)])
    for n in range(30):
        tree.add(NewCustomEntry(f"b{n}", "mid", "x"), NewCustomEntry(f"c{n}", f"b{n}", "x"))
    for start in ("a0", "a199", "b0", "c0", "c29", "mid"):
        tree.compare(start)
        tree.compare(start, order="asc")


@group.case
def divergences_from_divergences(store: Storage) -> None:
    """A branch that leaves a branch that leaves a branch, sixty times over, forth and back."""
    tree = _Tree(store)
    tree.add(NewCustomEntry("d0", None, "x"))
    tip = "d0"
    for n in range(1, 61):
        tree.add(NewCustomEntry(f"d{n}", tip, "x"), NewCustomEntry(f"s{n}", tip, "side"))
        tip = f"d{n}" if n % 2 else f"s{n}"
    for start in (tip, "d60", "s60", "s31", "d30", "s1"):
        tree.compare(start)
        tree.compare(start, order="asc", limit=7)
        tree.compare(start, custom_type="side")


@group.case
def a_divergence_within_one_transaction(store: Storage) -> None:
    """Entries of one transaction that diverge from each other and from what was committed."""
    tree = _Tree(store)
    tree.add(NewCustomEntry("a", None, "x"))
    tree.add(
        NewCustomEntry("b", "a", "x"),
        NewCustomEntry("c", "a", "x"),
        NewCustomEntry("d", "b", "x"),
        NewCustomEntry("e", "c", "x"),
        NewCustomEntry("f", "b", "x"),
        NewCustomEntry("g", None, "x"),
        NewCustomEntry("h", "g", "x"),
        NewCustomEntry("i", "a", "x"),
    )
    tree.add(NewCustomEntry("j", "d", "x"), NewCustomEntry("k", "f", "x"), NewCustomEntry("l", "h", "x"))
    for start in tree.nodes:
        tree.compare(start)
        tree.compare(start, order="asc")


@group.case
def a_long_branch_is_paged(store: Storage) -> None:
    """Paging by cursor reads a branch of thousands of entries once, in both orders."""
    tree = _Tree(store)
    for start in range(0, 3000, 500):
        batch = range(start, start + 500)
        tree.add(*[NewCustomEntry(f"e{n}", f"e{n - 1}" if n else None, "x") for n in batch])
    for order in ("desc", "asc"):
        read: list[str] = []
        cursor = None
        while page := store.scan_branch_structure("e2999", order=order, limit=700, cursor=cursor):
            read.extend(ids_of(page))
            cursor = page[-1].seq
        equal(read, ids_of(tree.expected("e2999", {"order": order})), f"pages in order {order}")


@group.case
def a_path_never_changes(store: Storage) -> None:
    """Later entries, wherever they attach, change nothing in the path of an earlier one."""
    store.commit([note("a"), note("b", "a"), note("c", "b")])
    before = store.scan_branch("c")
    store.commit([note("x", "a"), note("y", "c"), note("z", "b"), note("r")])
    equal(store.scan_branch("c"), before)


@group.case
def entries_are_scanned_by_seq(store: Storage) -> None:
    """``scan_entries``: the whole session by seq, inclusive bounds, filters, order, limit."""
    tree = _mixed_chain(store)
    store.commit([spend("row")])
    tree.add(NewCustomEntry("side", "e2", "a"))
    nodes = list(tree.nodes.values())
    seq = {id: node.seq for id, node in tree.nodes.items()}
    equal(ids_of(store.scan_entries()), ids_of(nodes))
    equal(ids_of(store.scan_entries(order="desc")), ids_of(nodes[::-1]))
    equal(ids_of(store.scan_entries(type="custom")), ["e1", "e4", "e8", "side"])
    equal(ids_of(store.scan_entries(custom_type="a", order="desc")), ["side", "e8", "e1"])
    equal(ids_of(store.scan_entries(type="compaction", custom_type="a")), [])
    equal(ids_of(store.scan_entries(from_seq=seq["e3"], to_seq=seq["e5"])), ["e3", "e4", "e5"])
    equal(ids_of(store.scan_entries(from_seq=seq["e3"], type="message", limit=1)), ["e5"])
    equal(ids_of(store.scan_entries(to_seq=seq["e5"], order="desc", type="message")), ["e5", "e2", "e0"])
    equal(store.scan_entries(limit=0), [])
    equal(store.scan_entries(from_seq=seq["e5"], to_seq=seq["e3"]), [])
    equal(len(store.scan_entries(from_seq=-(2**70), to_seq=2**70, limit=2**70)), 11)


@group.case
def bad_options_of_entry_scans_are_errors(store: Storage) -> None:
    """The options of entry scans are checked in the same way."""
    bad: list[dict[str, Any]] = [
        {"limit": -1},
        {"limit": True},
        {"limit": 2.0},
        {"from_seq": "0"},
        {"to_seq": True},
        {"order": "newest_first"},
        {"type": "note"},
        {"custom_type": 1},
    ]
    for options in bad:
        refuses(
            InvalidQueryError,
            calling(lambda options: store.scan_entries(**options), options),
            next(iter(options)),
        )
    check(store.scan_entries() == [], "the session should be empty")
