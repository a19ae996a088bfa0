"""Snapshots of files: asked for structure and for parts, as forks do."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies
from jsonl.support import (
    USAGE,
    Loaded,
    append_line,
    entry,
    message,
    read_image,
    record,
    set_line,
    sidecar,
    text_of,
    usage_line,
    v3_file,
    v4_file,
    v4_header,
)

from sessionstore.address import Place
from sessionstore.errors import ForkError, UnknownEntryError
from sessionstore.ids import Uuid7Generator
from sessionstore.image import Selection, SessionImage, SessionSnapshot
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.index import IdTable, MintedIds
from sessionstore.jsonl.source import find_header, snapshot_of
from sessionstore.records import ValueRecord
from sessionstore.usage import Usage, UsageFold, add_usage, usage_from_json


@contextmanager
def snapshot(path: Path) -> Iterator[SessionSnapshot]:
    with ExitStack() as opening:
        source = opening.enter_context(SourceFile(str(path)))
        yield snapshot_of(source, find_header(source), opening, Uuid7Generator())


def part(snapshot: SessionSnapshot, selection: Selection) -> Loaded:
    return read_image(SessionImage(snapshot.header, snapshot.read(selection)))


def tree(path: Path) -> Path:
    return v4_file(
        path,
        [entry(1, "a"), entry(2, "b", "a"), set_line(3, "a", "pi.branch.tip", "main")],
        entry(4, "c", "a", type="custom", customType="t", message=...),
        [entry(5, "d", "c"), entry(6, "e", "b")],
        [append_line(7, 1), append_line(8, 2, key="k")],
        set_line(9, "b", "pi.branch.tip", "main"),
        set_line(10, 1, key="gone"),
        {"kind": "value", "op": "delete", "seq": 11, "namespace": "app", "key": "gone"},
        {"kind": "list", "op": "delete", "seq": 12, "namespace": "app", "key": "k"},
        usage_line(13, "u"),
    )


def test_structure_and_paths(tmp_path: Path) -> None:
    with snapshot(tree(tmp_path / "a")) as found:
        structure = list(found.structure())
        assert [(node.id, node.parent_id, node.seq) for node in structure] == [
            ("a", None, 1),
            ("b", "a", 2),
            ("c", "a", 4),
            ("d", "c", 5),
            ("e", "b", 6),
        ]
        assert [(node.type, node.custom_type) for node in structure][2] == ("custom", "t")
        assert list(found.path("e")) == [structure[4], structure[1], structure[0]]
        assert list(found.path("d")) == [structure[3], structure[2], structure[0]]
        with pytest.raises(UnknownEntryError):
            found.path("u")


def test_parts(tmp_path: Path) -> None:
    with snapshot(tree(tmp_path / "a")) as found:
        chosen = part(
            found,
            Selection(
                whole_tree=False,
                tip="e",
                takes_value=lambda place: place.namespace == "app",
                takes_list=lambda place: place.key == "",
                usage_rows=False,
            ),
        )
        assert [item.id for item in chosen.entries] == ["a", "b", "e"]
        assert chosen.values == []
        assert [item.seq for item in chosen.elements] == [7]
        assert chosen.usage_rows == []
        nothing = part(found, Selection(whole_tree=False))
        assert nothing.entries == []
        assert [row.id for row in nothing.usage_rows] == ["u"]
        assert len(part(found, Selection()).entries) == 5
        with pytest.raises(UnknownEntryError):
            list(found.read(Selection(whole_tree=False, tip="nobody")))


def test_single_values_and_places(tmp_path: Path) -> None:
    path = tree(tmp_path / "a")
    sidecar(path, "op", set_line(20, "scoped", scopeId="op"), append_line(21, 1, scopeId="op"))
    with snapshot(path) as found:
        tip = Place("", "pi.branch.tip", "main")
        assert found.value(tip) == ValueRecord(*tip, 9, '"b"')
        assert found.value(Place("", "app", "gone")) is None
        scoped = Place("op", "app", "")
        assert found.value(scoped) == ValueRecord(*scoped, 20, '"scoped"')
        assert found.value(Place("op", "app", "other")) is None
        assert list(found.value_places()) == [tip]
        assert list(found.list_places()) == [Place("", "app", "")]
        assert found.entry_id("a") == "a"
        scopes = {value.scope_id for value in part(found, Selection()).values}
        assert scopes == {"", "op"}
        assert part(found, Selection(takes_list=lambda place: not place.scope_id)).elements[0].seq == 7


def test_an_older_file_can_be_asked_the_same(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        message("a", None, "assistant", usage=USAGE),
        record("session_info", "s", "a", name="n"),
        record("custom", "c", "s", customType="t"),
        message("aside", "a"),
        message("d", "c"),
    )
    with snapshot(path) as found:
        new = found.entry_id
        structure = list(found.structure())
        assert [(node.id, node.parent_id, node.seq) for node in structure] == [
            (new("a"), None, 1),
            (new("c"), new("a"), 2),
            (new("aside"), new("a"), 3),
            (new("d"), new("c"), 4),
        ]
        assert structure[1].custom_type == "t"
        assert list(found.path(new("d"))) == [structure[3], structure[1], structure[0]]
        chosen = part(
            found, Selection(whole_tree=False, tip=new("d"), takes_value=lambda place: not place.key)
        )
        assert [item.seq for item in chosen.entries] == [1, 2, 4]
        assert [value.namespace for value in chosen.values] == ["pi.session.name"]
        tip = Place("", "pi.branch.tip", "main")
        assert found.value(tip) == ValueRecord(*tip, 6, f'"{new("d")}"')
        assert found.value(Place("", "x", "")) is None
        assert set(found.value_places()) == {tip, Place("", "pi.session.name", "")}
        assert list(found.list_places()) == []
        assert part(found, Selection()).usage_rows == []  # its ledger reads empty until the upgrade
        assert found.header.stats.usage.input == 10
        assert found.header.next_seq == 7
        for unknown in ("nobody", "s", "old"):
            with pytest.raises(ForkError, match=unknown):
                found.entry_id(unknown)
        with pytest.raises(UnknownEntryError):
            found.path("a")
        assert len(part(found, Selection(whole_tree=False)).entries) == 0


def peak_of(path: Path) -> int:
    tracemalloc.start()
    try:
        with snapshot(path) as found:
            tip = list(found.structure())[-1].id
            tracemalloc.reset_peak()
            for _ in found.read(Selection(whole_tree=False, tip=tip)):
                pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def chained(count: int, size: int) -> Iterator[tuple[str, str | None, str]]:
    ids = Uuid7Generator()
    parent = None
    for _ in range(count):
        id = ids.next()
        yield id, parent, "x" * size
        parent = id


def big_v4(path: Path, count: int, size: int) -> Path:
    with path.open("w") as file:
        file.write(text_of(v4_header()) + "\n")
        for seq, (id, parent, text) in enumerate(chained(count, size), 1):
            file.write(text_of(entry(seq, id, parent, message={"role": "user", "content": text})) + "\n")
    return path


def big_v3(path: Path, count: int, size: int) -> Path:
    return v3_file(path, *(message(id, parent, content=text) for id, parent, text in chained(count, size)))


@pytest.mark.parametrize("make", [big_v4, big_v3])
def test_payloads_in_memory_do_not_grow_and_the_index_is_small(tmp_path: Path, make: Any) -> None:
    count = 6_000
    few = peak_of(make(tmp_path / "few", 50, 300))
    many = peak_of(make(tmp_path / "many", count, 300))
    block = 3 << 20  # what is read at once, and its lines
    assert many - few < 150 * count + block
    assert peak_of(make(tmp_path / "large", 60, 1 << 18)) - few < 4 * block  # of a file of 16 MB


# -- what the index is made of -----------------------------------------------------------------------


@given(strategies.lists(strategies.text(), unique=True))
def test_the_id_table_numbers_ids_in_order(ids: list[str]) -> None:
    table = IdTable()
    for number, id in enumerate(ids):
        assert id not in table
        table.add(id)
        assert table.find(id) == number
    assert len(table) == len(ids)
    assert [table.find(id) for id in ids] == list(range(len(ids)))
    assert all(id in table for id in ids)
    assert None not in table


def test_the_id_table_grows(tmp_path: Path) -> None:
    table = IdTable()
    ids = [f"id-{number}" for number in range(5_000)]
    for id in ids:
        table.add(id)
    random.Random(1).shuffle(ids)
    assert all(id == f"id-{table.find(id)}" for id in ids)
    assert "id-5000" not in table


def test_minted_ids_come_back_as_they_were() -> None:
    ids = ["0199c7e8-57dc-7000-8000-000000000001", "0199C7E8-57DC-7000-8000-000000000001", "x", "", "0" * 32]
    minted = MintedIds()
    for id in ids:
        minted.append(id)
    assert [minted[number] for number in range(len(ids))] == ids


figures = strategies.integers(0, 10**6) | strategies.floats(0, 1e6)
costs = strategies.fixed_dictionaries(
    dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), figures)
)
usages = strategies.fixed_dictionaries(
    dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), figures) | {"cost": costs},
    optional={"cacheWrite1h": figures | strategies.none(), "reasoning": figures, "other": strategies.none()},
)


@given(strategies.lists(usages))
def test_the_fold_over_texts_is_the_fold_over_usages(rows: list[dict[str, Any]]) -> None:
    fold, total = UsageFold(), Usage()
    for row in rows:
        fold.add(text_of(row).encode(), "usage")
        total = add_usage(total, usage_from_json(row, "usage"))
    assert fold.total() == total
    assert repr(fold.total()) == repr(total)
