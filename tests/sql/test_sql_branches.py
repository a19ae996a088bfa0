"""Paths against a walk over parents in Python: random trees, every option, every database."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import pytest

from sessionstore import NewCustomEntry, NewMessageEntry, UnknownEntryError, insert_entry, set_value, value
from sessionstore.opening import open_repository
from sessionstore.sql import branch_reader, branch_statements
from sessionstore.storage import Storage

pytestmark = pytest.mark.needs("sql")


class Tree:
    """A random tree in a store, and what is known of it."""

    def __init__(self, store: Storage, seed: int, size: int) -> None:
        self.store = store
        self.random = random.Random(seed)
        self.parents: dict[str, str | None] = {}
        self.seqs: dict[str, int] = {}
        self.types: dict[str, str] = {}
        while len(self.parents) < size:
            self._commit(self.random.choice([1, 1, 2, 7]))

    def _commit(self, count: int) -> None:
        writes: list[Any] = []
        names: list[str | None] = []
        for _ in range(count):
            id = f"e{len(self.parents)}"
            parent = self._some_parent()
            kind = self.random.choice(["message", "message", "custom"])
            entry = (
                NewMessageEntry(id, parent, {"role": "user", "id": id})
                if kind == "message"
                else NewCustomEntry(id, parent, self.random.choice(["a", "b"]), id)
            )
            self.parents[id] = parent
            self.types[id] = kind if isinstance(entry, NewMessageEntry) else entry.custom_type
            writes.append(insert_entry(entry))
            names.append(id)
            if self.random.random() < 0.3:  # numbers of entries have gaps
                writes.append(set_value(value("gap"), 1))
                names.append(None)
        for name, seq in zip(names, self.store.commit(writes).seqs, strict=True):
            if name is not None:
                self.seqs[name] = seq

    def _some_parent(self) -> str | None:
        ids = list(self.parents)
        choice = self.random.random()
        if not ids or choice < 0.02:
            return None
        return ids[-1] if choice < 0.7 else self.random.choice(ids)

    def path(self, start: str) -> list[str]:
        """Newest first."""
        path = [start]
        while (parent := self.parents[path[-1]]) is not None:
            path.append(parent)
        return path

    def expected(self, start: str, options: dict[str, Any]) -> list[str]:
        """The scan as model.md section 5 words it."""
        ascending = options.get("order") == "asc"
        path = self.path(start)[::-1] if ascending else self.path(start)
        for index, id in enumerate(path):
            custom = "custom" if self.types[id] != "message" else "message"
            if id == options.get("stop_at_id") or custom == options.get("stop_at_type"):
                path = path[: index + 1]
                break
        cursor = options.get("cursor")
        kept = (
            id
            for id in path
            if options.get("type") in (None, "custom" if self.types[id] != "message" else "message")
            and options.get("custom_type") in (None, self.types[id])
            and (cursor is None or (self.seqs[id] > cursor if ascending else self.seqs[id] < cursor))
        )
        return list(islice(kept, options.get("limit")))

    def some_options(self) -> dict[str, Any]:
        pick = self.random.choice
        ids = list(self.parents)
        seqs = list(self.seqs.values())
        drawn: dict[str, Any] = {
            "order": pick(["asc", "desc"]),
            "limit": pick([None, None, 0, 1, 3, 10, 1000]),
            "cursor": pick([None, pick(seqs), self.random.randrange(max(seqs) + 2)]),
            "stop_at_id": pick([None, None, pick(ids), "absent"]),
            "stop_at_type": pick([None, None, None, "custom", "message", "compaction"]),
            "type": pick([None, None, None, "custom", "message"]),
            "custom_type": pick([None, None, None, "a", "none"]),
        }
        return {name: option for name, option in drawn.items() if option is not None}


@pytest.fixture
def new_store(new_store_url: Callable[[], str]) -> Iterator[Callable[[], Storage]]:
    repo = open_repository(new_store_url())
    with repo:
        yield lambda: repo.create().storage


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("small_pages", [False, True])
def test_every_option_gives_what_a_walk_gives(
    new_store: Callable[[], Storage], monkeypatch: pytest.MonkeyPatch, seed: int, small_pages: bool
) -> None:
    if small_pages:  # as paths of thousands of divergences are read
        monkeypatch.setattr(branch_reader, "LARGEST_ARMS", 2)
        monkeypatch.setattr(branch_reader, "UNBOUND_ROWS", 3)
    tree = Tree(new_store(), seed, 150)
    for _ in range(120):
        start = tree.random.choice(list(tree.parents))
        options = tree.some_options()
        expected = tree.expected(start, options)
        found = tree.store.scan_branch(start, **options)
        assert [entry.id for entry in found] == expected, (start, options)
        assert [entry.seq for entry in found] == [tree.seqs[id] for id in expected]
        structure = tree.store.scan_branch_structure(start, **options)
        assert [entry.id for entry in structure] == expected, (start, options)


def test_a_chain_of_more_ranges_than_one_statement_finds(
    new_store: Callable[[], Storage], monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = 5
    monkeypatch.setattr(branch_statements, "CHAIN_PAGE", pages)
    monkeypatch.setattr(branch_reader, "CHAIN_PAGE", pages)
    # Compiled anew, with the smaller page.
    monkeypatch.setattr(branch_statements.BranchStatements, "head", _fresh_head)
    tree = Tree(new_store(), 11, 150)
    for _ in range(80):
        start = tree.random.choice(list(tree.parents)[-40:])
        options = tree.some_options()
        found = tree.store.scan_branch(start, **options)
        assert [entry.id for entry in found] == tree.expected(start, options), (start, options)


def _fresh_head(self: Any, order: Any, *, payload: bool, stops: bool, filtered: bool) -> Any:
    fresh = branch_statements.BranchStatements(self._dialect)
    return _HEAD(fresh, order, payload=payload, stops=stops, filtered=filtered)


_HEAD = branch_statements.BranchStatements.head


def test_a_page_that_begins_inside_an_older_range_misses_nothing(new_store: Callable[[], Storage]) -> None:
    store = new_store()
    trunk = [f"t{index}" for index in range(12)]
    parents = [None, *trunk[:-1]]
    seqs = store.commit(
        [
            insert_entry(NewMessageEntry(id, parent, {"role": "user"}))
            for id, parent in zip(trunk, parents, strict=True)
        ]
    ).seqs
    store.commit(
        [insert_entry(NewMessageEntry("tip", "t8", {"role": "user"}))]
    )  # leaves the trunk's end aside
    for at in (2, 5):
        older = store.scan_branch("tip", cursor=seqs[at], limit=2)
        assert [entry.id for entry in older] == trunk[at - 2 : at][::-1]
        newer = store.scan_branch("tip", cursor=seqs[at], limit=2, order="asc")
        assert [entry.id for entry in newer] == trunk[at + 1 : at + 3]


def test_texts_that_no_store_can_hold_match_nothing(new_store: Callable[[], Storage]) -> None:
    store = new_store()
    store.commit([insert_entry(NewMessageEntry("e", None, {"role": "user"}))])
    for odd in ("\ud800", "a\0b", "x" * 300):
        assert store.get_entries([odd, "e"]).keys() == {"e"}
        assert store.scan_branch("e", custom_type=odd) == []
        assert store.scan_entries(custom_type=odd) == []
        assert [entry.id for entry in store.scan_branch("e", stop_at_id=odd)] == ["e"]
        for limit in (0, None):
            with pytest.raises(UnknownEntryError):
                store.scan_branch(odd, limit=limit)


def test_a_snapshot_reads_a_path_in_batches(
    new_store_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(branch_reader, "FIRST_BATCH", 3)
    monkeypatch.setattr(branch_reader, "LARGEST_BATCH", 4)
    with open_repository(new_store_url()) as repo, repo.create() as session:
        tree = Tree(session.storage, 5, 120)
        with repo.snapshot(session.metadata) as snapshot:
            for start in list(tree.parents)[::7]:
                assert [entry.id for entry in snapshot.path(start)] == tree.path(start)
        assert repo.check_session(session.metadata) == []
