"""How many statements reach the driver: per commit, and per path that is read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sql import counting

from sessionstore import (
    NewMessageEntry,
    NewUsageRow,
    append_list,
    delete_list,
    delete_value,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    retire_scope,
    set_value,
    value,
    value_list,
)
from sessionstore.sql.repo import SqlSessionRepo
from sessionstore.storage import Storage

MESSAGE = {"role": "user", "content": "hello"}
USAGE = {
    "input": 1,
    "output": 2,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 3,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3},
}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Storage]:
    counting.install(monkeypatch)
    with SqlSessionRepo.from_path(tmp_path / "s.db") as repo, repo.create() as session:
        session.storage.commit([insert_entry(NewMessageEntry("root", None, MESSAGE))])
        yield session.storage


def count(work: Callable[[], Any]) -> int:
    with counting.statements() as seen:
        work()
    return len(seen)


def entries(number: int, prefix: str = "n", parent: str | None = "root") -> list[Any]:
    ids = [f"{prefix}{index}" for index in range(number)]
    return [
        insert_entry(NewMessageEntry(id, before, MESSAGE))
        for id, before in zip(ids, [parent, *ids[:-1]], strict=True)
    ]


def kinds(number: int, tag: str) -> dict[str, tuple[int, list[Any]]]:
    """Writes of every mix, ``number`` of each kind, with the (table, insert or delete) pairs they need."""
    scopes = [ephemeral_scope(f"{tag}-{index}") for index in range(number)]
    new_entries = entries(number, f"{tag}e")
    usage = [insert_usage(NewUsageRow(f"{tag}u{index}", USAGE)) for index in range(number)]
    sets = [set_value(value("app", f"{tag}s{index}"), index) for index in range(number)]
    deletes = [delete_value(value("app", f"{tag}d{index}")) for index in range(number)]
    appends = [append_list(value_list("app", f"{tag}a{index}"), index) for index in range(number)]
    clears = [delete_list(value_list("app", f"{tag}c{index}")) for index in range(number)]
    retires = [retire_scope(scope) for scope in scopes]
    return {
        "entries": (1, new_entries),
        "list": (1, appends),
        "turn": (3, [*entries(number, f"{tag}t"), *usage, *sets]),
        "retire": (2, retires),
        "retire and delete": (2, [*deletes, *clears, *retires]),
        "everything": (
            6,
            [
                *entries(number, f"{tag}x"),
                *[insert_usage(NewUsageRow(f"{tag}y{index}", USAGE)) for index in range(number)],
                *sets,
                *deletes,
                *appends,
                *clears,
                *retires,
            ],
        ),
    }


@pytest.mark.parametrize("mix", sorted(kinds(1, "")))
def test_a_commit_takes_as_many_statements_as_its_pairs_and_five(store: Storage, mix: str) -> None:
    counts = []
    for number in (1, 250):
        pairs, writes = kinds(number, f"{mix}{number}")[mix]
        counts.append(count(lambda writes=writes: store.commit(writes)))
        assert counts[-1] <= pairs + 5
    assert counts[0] == counts[1]


def test_the_counts_of_the_two_common_commits(store: Storage) -> None:
    assert count(lambda: store.commit(kinds(1, "a")["list"][1])) == 4
    assert count(lambda: store.commit(kinds(1, "b")["turn"][1])) == 8


def test_a_divergence_at_an_old_entry_costs_what_an_append_does(store: Storage) -> None:
    store.commit(entries(500))
    append = count(lambda: store.commit(entries(1, "append", "n499")))
    divergence = count(lambda: store.commit(entries(1, "other", "n3")))
    assert divergence <= append + 2


def divergent_path(store: Storage, divergences: int) -> str:
    """The end of a path that leaves its segment so many times: each second entry goes another way."""
    writes: list[Any] = []
    parent = "root"
    for index in range(divergences):
        pair = (f"left{index}", f"right{index}")
        writes += [insert_entry(NewMessageEntry(id, parent, MESSAGE)) for id in pair]
        parent = f"right{index}"
    store.commit(writes)
    return parent


@pytest.mark.parametrize("divergences", [0, 1, 2, 199, 200, 201, 256, 257, 513, 989, 990, 991, 2100])
def test_a_path_takes_one_statement_and_one_for_two_hundred_divergences(
    store: Storage, divergences: int
) -> None:
    end = divergent_path(store, divergences)
    path = [f"right{index}" for index in reversed(range(divergences))] + ["root"]
    most = 1 + math.ceil(divergences / 200)
    for order in ("desc", "asc"):
        with counting.statements() as seen:
            found = [entry.id for entry in store.scan_branch_structure(end, order=order)]
        assert found == (path if order == "desc" else path[::-1])
        assert len(seen) <= most, (order, len(seen))


@pytest.mark.parametrize("options", [{"limit": 3}, {"stop_at_id": "right990"}, {"limit": 3, "cursor": 2000}])
def test_what_cuts_a_scan_cuts_its_statements(store: Storage, options: dict[str, Any]) -> None:
    end = divergent_path(store, 1000)
    assert count(lambda: store.scan_branch(end, **options)) <= 2


def test_forty_thousand_ids_take_a_statement_for_8192(store: Storage) -> None:
    assert count(lambda: store.get_entries([f"absent{index}" for index in range(40_000)])) == 5
