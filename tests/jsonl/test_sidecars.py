"""Reading sidecars beside a main file: jsonl.md section 3 (writing them: test_scopes.py)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from jsonl.support import (
    append_line,
    entry,
    load,
    retire_line,
    set_line,
    sidecar,
    text_of,
    usage_line,
    v4_file,
)

from sessionstore.errors import CorruptStorageError, StorageError, UnsupportedStorageVersionError
from sessionstore.jsonl.sidecars import list_sidecars, sidecar_path, sidecar_scope


def scoped(seq: int, value: Any, scope_id: str = "op", key: str = "") -> dict[str, Any]:
    return set_line(seq, value, key=key, scopeId=scope_id)


def scoped_append(seq: int, value: Any, scope_id: str = "op", **change: Any) -> dict[str, Any]:
    return append_line(seq, value, scopeId=scope_id, **change)


def refused(path: Path, damaged: Path, line: int | None) -> None:
    before = damaged.read_bytes()
    with pytest.raises(CorruptStorageError) as raised:
        load(path)
    assert (raised.value.path, raised.value.line) == (str(damaged), line)
    assert damaged.read_bytes() == before


# -- names ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scope_id", "name"),
    [
        ("op-1", "scope-op-1.scope"),
        (".", "scope-..scope"),
        ("..", "scope-...scope"),
        ("a/b\\c:d", "scope-a%2Fb%5Cc%3Ad.scope"),
        ("é %", "scope-%C3%A9%20%25.scope"),
        ("-_.!~*'()", "scope--_.!~*'().scope"),
        ("CON", "scope-CON.scope"),
        ("x" * 180, f"scope-{'x' * 180}.scope"),
    ],
)
def test_the_name_of_a_sidecar(tmp_path: Path, scope_id: str, name: str) -> None:
    main = tmp_path / "s.jsonl"
    assert sidecar_path(str(main), scope_id) == tmp_path / "s.jsonl.scopes" / name
    assert sidecar_scope(name) == scope_id


@pytest.mark.parametrize(
    "name",
    [
        "scope-.scope",
        "scope-a",
        "a.scope",
        "scope-a.scope.tmp",
        "scope-a b.scope",
        "scope-%61.scope",
        "scope-%c3%a9.scope",
        "scope-%FF.scope",
        "scope-%ED%A0%BD.scope",
        "scope-%00.scope",
        "scope-%.scope",
        f"scope-{'x' * 181}.scope",
        "Scope-a.scope",
    ],
)
def test_other_names_are_unrelated(name: str) -> None:
    assert sidecar_scope(name) is None


def test_unrelated_files_are_neither_read_nor_removed(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", entry(1, "e"))
    sidecar(path, "op", scoped(2, 1))
    directory = Path(f"{path}.scopes")
    for name in ("notes.txt", "scope-%61.scope", "scope-b.scope.tmp", "op.scope"):
        (directory / name).write_text("garbage")
    (directory / "sub").mkdir()
    assert [value.seq for value in load(path).values] == [2]
    assert len(list(directory.iterdir())) == 6
    assert [file.name for file in list_sidecars(str(path)).leftovers] == ["scope-b.scope.tmp"]


def test_a_directory_that_cannot_be_listed_is_a_failure(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", entry(1, "e"))
    Path(f"{path}.scopes").write_text("no directory")
    with pytest.raises(StorageError, match=r"a\.scopes"):
        load(path)


# -- what is read ------------------------------------------------------------------------------------


def test_live_records_carry_their_scope_and_are_merged_by_number(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", set_line(1, "main"), set_line(5, "main", key="k"))
    sidecar(path, "op", scoped(2, "op"), [scoped_append(3, "x", tag="t"), scoped_append(4, "y")])
    sidecar(path, "q", scoped(6, "q", "q"))
    loaded = load(path)
    assert [(value.seq, value.scope_id, value.value) for value in loaded.values] == [
        (1, "", '"main"'),
        (2, "op", '"op"'),
        (5, "", '"main"'),
        (6, "q", '"q"'),
    ]
    assert [(item.seq, item.scope_id, item.value, item.tag) for item in loaded.elements] == [
        (3, "op", '"x"', "t"),
        (4, "op", '"y"', None),
    ]
    assert loaded.header.next_seq == 7


def test_deletes_apply_within_their_scope(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", set_line(1, 1), append_line(2, 1))
    sidecar(
        path,
        "op",
        scoped(3, 1),
        scoped_append(4, 1),
        {"kind": "value", "op": "delete", "seq": 5, "namespace": "app", "key": "", "scopeId": "op"},
        {"kind": "list", "op": "delete", "seq": 6, "namespace": "app", "key": "", "scopeId": "op"},
        scoped_append(7, 2),
    )
    loaded = load(path)
    assert [value.seq for value in loaded.values] == [1]
    assert [item.seq for item in loaded.elements] == [2, 7]


def test_records_at_or_below_the_last_retirement_are_dead(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", retire_line(3, "op"), retire_line(6, "op"))
    sidecar(path, "op", scoped(2, 1, key="a"), scoped(5, 1, key="b"), scoped(7, 1, key="c"))
    loaded = load(path)
    assert [value.key for value in loaded.values] == ["c"]
    assert loaded.header.next_seq == 8


def test_dead_records_raise_the_next_number(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", retire_line(9, "op"))
    sidecar(path, "other", scoped(20, 1, "other"))
    sidecar(path, "op", scoped(8, 1))
    assert load(path).header.next_seq == 21
    path = v4_file(tmp_path / "b", retire_line(5, "op"), nextSeq=3)
    sidecar(path, "op", scoped(4, 1))
    assert load(path).header.next_seq == 6


def test_a_torn_transaction_does_not_raise_the_mark(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", entry(1, "e"))
    sidecar(path, "op", scoped(2, 1), text_of(scoped(9, 1)), end="")
    loaded = load(path)
    assert loaded.header.next_seq == 3
    assert [value.seq for value in loaded.values] == [2]


# -- damage ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "",
        set_line(3, 1),
        scoped(3, 1, "other"),
        scoped(2, 1),
        entry(3, "e"),
        usage_line(3, "u"),
        retire_line(3, "op"),
        {**scoped(3, 1), "op": "add"},
        {name: item for name, item in scoped(3, 1).items() if name != "value"},
        [scoped(3, 1), scoped(4, 1, "other")],
        scoped(3, 1, key="a\0"),
    ],
    ids=text_of,
)
def test_a_damaged_line_fails_with_path_and_line(tmp_path: Path, line: Any) -> None:
    path = v4_file(tmp_path / "a", entry(1, "e"), set_line(90, 1, key="k"))
    refused(path, sidecar(path, "op", scoped(2, 1), line, scoped(60, 1)), 3)


@pytest.mark.parametrize(
    "line", ["not json", "", set_line(3, 1), scoped(3, 1, "other"), scoped(2, 1)], ids=text_of
)
def test_a_damaged_line_below_a_dead_record_is_excused(tmp_path: Path, line: Any) -> None:
    path = v4_file(tmp_path / "a", retire_line(9, "op"))
    sidecar(path, "op", scoped(2, 1), line, scoped(8, 1), scoped(10, "new"))
    loaded = load(path)
    assert [(value.seq, value.value) for value in loaded.values] == [(10, '"new"')]


def test_a_damaged_line_below_a_live_record_only_is_not_excused(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", retire_line(9, "op"))
    refused(path, sidecar(path, "op", scoped(2, 1), "not json", scoped(10, 1)), 3)


def test_a_damaged_last_line_is_not_excused(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", retire_line(9, "op"))
    refused(path, sidecar(path, "op", scoped(2, 1), "not json"), 3)


def test_the_first_of_several_damaged_lines_is_named(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", retire_line(9, "op"))
    damaged = sidecar(path, "op", "excused", scoped(2, 1), "first", "second", scoped(10, 1))
    refused(path, damaged, 4)


@pytest.mark.parametrize(
    "change",
    [{"sessionId": "other"}, {"scopeId": "other"}, {"kind": "header"}, {"sessionId": 1}, {"v": "4"}],
    ids=str,
)
def test_a_wrong_header_fails_unless_what_follows_is_dead(tmp_path: Path, change: dict[str, Any]) -> None:
    path = v4_file(tmp_path / "a", retire_line(9, "op"))
    refused(path, sidecar(path, "op", scoped(10, 1), **change), 1)
    sidecar(path, "op", scoped(8, 1), scoped(10, "new"), **change)
    assert [value.value for value in load(path).values] == ['"new"']


@pytest.mark.parametrize("content", [b"", b"torn header"], ids=repr)
def test_a_sidecar_without_a_header_fails(tmp_path: Path, content: bytes) -> None:
    path = v4_file(tmp_path / "a", entry(1, "e"))
    damaged = sidecar(path, "op")
    damaged.write_bytes(content)
    refused(path, damaged, 1)


@pytest.mark.parametrize("change", [{"v": 5}, {"storageVersion": 2}], ids=str)
def test_another_version_is_refused_dead_or_not(tmp_path: Path, change: dict[str, Any]) -> None:
    path = v4_file(tmp_path / "a", retire_line(9, "op"))
    sidecar(path, "op", scoped(2, 1), **change)
    with pytest.raises(UnsupportedStorageVersionError, match=r"scope-op\.scope"):
        load(path)


# -- numbers across files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("main", "transaction"),
    [
        ([set_line(2, 1)], scoped(2, 1)),
        ([[set_line(2, 1), set_line(5, 1)]], scoped(3, 1)),
        ([set_line(3, 1)], [scoped(2, 1), scoped(5, 1)]),
        ([[set_line(2, 1), set_line(4, 1)]], [scoped(3, 1), scoped(5, 1)]),
        ([set_line(2, 1), retire_line(4, "op")], [scoped(3, 1), scoped(5, 1)]),
    ],
    ids=text_of,
)
def test_numbers_used_twice_and_transactions_that_enclose_each_other(
    tmp_path: Path, main: list[Any], transaction: Any
) -> None:
    path = v4_file(tmp_path / "a", *main)
    refused(path, sidecar(path, "op", transaction), None)


def test_numbers_used_twice_in_two_sidecars(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", entry(1, "e"))
    sidecar(path, "a", scoped(2, 1, "a"), [scoped(4, 1, "a"), scoped(6, 1, "a")])
    refused(path, sidecar(path, "b", scoped(3, 1, "b"), scoped(5, 1, "b")), None)


def test_dead_transactions_may_overlap(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", set_line(2, 1), retire_line(3, "op"))
    sidecar(path, "op", scoped(2, 1), scoped(4, "new"))
    assert [value.seq for value in load(path).values] == [2, 4]


def test_transactions_side_by_side_are_fine(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", [set_line(1, 1), set_line(2, 1)], set_line(5, 1), set_line(9, 1))
    sidecar(path, "op", [scoped(3, 1), scoped(4, 1)], [scoped(6, 1), scoped(8, 1)], scoped(10, 1))
    assert load(path).header.next_seq == 11
