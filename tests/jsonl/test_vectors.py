"""The vectors at the level of the readers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonl.support import VECTORS, expectation, load

from sessionstore.errors import SessionStoreError
from sessionstore.wire import stats_to_json

FILES = sorted([*VECTORS.glob("v3/*.jsonl"), *VECTORS.glob("v4/*.jsonl")])


def expected_of(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.with_suffix(".expect.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_vector_reads_as_expected(path: Path) -> None:
    expected = expected_of(path)
    before = path.read_bytes()
    if expected.get("error"):
        with pytest.raises(SessionStoreError):
            load(path)
    else:
        loaded = load(path)
        found = expectation(loaded)
        del expected["listed"]
        if path.parent.name == "v3":
            assert expected["usage"] == []  # before any write; an import carries the row of the upgrade
            [row] = found["usage"]
            assert row["usage"] == expected["stats"]["usage"]
            assert row["adjustment"] is True
            assert row["details"] == {"source": "v3-import"}
            assert row["seq"] == max([record.seq for record in [*loaded.entries, *loaded.values]]) + 1
            assert loaded.header.next_seq == row["seq"] + 1
            expected["usage"] = [row]
        assert found == expected
    assert path.read_bytes() == before


def test_there_are_vectors_of_both_formats() -> None:
    assert len(FILES) == 18


SCOPED = sorted(VECTORS.glob("scoped/*.jsonl"))


@pytest.mark.parametrize("path", SCOPED, ids=lambda path: path.stem)
def test_a_scoped_vector_reads_as_expected(path: Path) -> None:
    expected = expected_of(path)
    if "error" in expected:
        with pytest.raises(SessionStoreError) as raised:
            load(path)
        assert type(raised.value).__name__ == expected["error"]
        return
    loaded = load(path)
    assert loaded.header.next_seq == expected["next_seq"]
    for scope_id, scope in [("", expected["session"]), *expected["scopes"].items()]:
        values = {
            f"{record.namespace}|{record.key}": [record.seq, json.loads(record.value)]
            for record in loaded.values
            if record.scope_id == scope_id
        }
        lists: dict[str, list[Any]] = {}
        for element in loaded.elements:
            if element.scope_id == scope_id:
                lists.setdefault(f"{element.namespace}|{element.key}", []).append(
                    [element.seq, json.loads(element.value), element.tag]
                )
        assert values == {name: item for name, item in scope["values"].items() if item is not None}
        assert lists == {name: item for name, item in scope["lists"].items() if item}


def test_statistics_of_a_legacy_file_are_those_of_its_ledger_row() -> None:
    loaded = load(VECTORS / "v3" / "compaction.jsonl")
    usage = stats_to_json(loaded.header.stats)["usage"]
    assert json.loads(loaded.usage_rows[0].usage) == usage
