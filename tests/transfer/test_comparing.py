"""``compare_stores`` says what differs, and finds every field that a record has."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from sessionstore import MemorySessionRepo
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.records import ElementRecord, EntryRecord, Record, UsageRecord, ValueRecord
from sessionstore.transfer import Progress, compare_stores
from sessionstore.usage import SessionStats

HEADER = ImageHeader("s", 1_700_000_000_000, 100, SessionStats(2), "parent", "/work", "/old/path.jsonl")
RECORDS: dict[str, Record] = {
    "entry": EntryRecord("e1", None, 1, 5, "message", None, '{"message":{"role":"user","n":1e-05}}'),
    "child": EntryRecord("e2", "e1", 2, 5, "message", None, '{"message":{"role":"user"}}'),
    "usage row": UsageRecord("u1", 3, "e1", False, "{}", None),
    "value": ValueRecord("", "app", "k", 4, "1"),
    "list element": ElementRecord("op", "app", "k", 5, "2", "full"),
}


def store(records: dict[str, Record], header: ImageHeader = HEADER) -> MemorySessionRepo:
    repo = MemorySessionRepo()
    repo.load(SessionImage(header, list(records.values())))
    return repo


def compared(records: dict[str, Record], header: ImageHeader = HEADER) -> list[str]:
    [verdict] = compare_stores(store(RECORDS), store(records, header))
    assert verdict.session_id == "s"
    return verdict.problems


def test_equal_sessions() -> None:
    assert compared(RECORDS) == []


@pytest.mark.parametrize(
    ("kind", "field", "other"),
    [
        ("entry", "timestamp", 6),
        ("entry", "payload", '{"message":{"role":"user","n":0.00001}}'),
        ("entry", "id", "e3"),
        ("usage row", "id", "u2"),
        ("usage row", "entry_id", None),
        ("usage row", "adjustment", True),
        ("usage row", "usage", "[]"),
        ("usage row", "details", "null"),
        ("value", "scope_id", "op"),
        ("value", "namespace", "app2"),
        ("value", "key", ""),
        ("value", "value", "1.0"),
        ("list element", "scope_id", "op2"),
        ("list element", "value", "3"),
        ("list element", "tag", None),
    ],
)
def test_a_different_field_is_named(kind: str, field: str, other: Any) -> None:
    changed = RECORDS | {kind: msgspec.structs.replace(RECORDS[kind], **{field: other})}
    seq = RECORDS[kind].seq
    assert compared(changed) == [f"the {kind} with number {seq} differs in {field}"]


@pytest.mark.parametrize(
    ("field", "other"),
    [
        ("created_at", 1),
        ("next_seq", 101),
        ("stats", SessionStats(3)),
        ("parent_session_id", None),
        ("legacy_parent_session_path", None),
    ],
)
def test_a_different_header_is_told(field: str, other: Any) -> None:
    [problem] = compared(RECORDS, msgspec.structs.replace(HEADER, **{field: other}))
    assert problem.startswith(f"{field} differs")


@pytest.mark.parametrize("kind", ["usage row", "value", "list element"])
def test_a_record_of_one_store_only(kind: str) -> None:
    fewer = {name: record for name, record in RECORDS.items() if name != kind}
    seq = RECORDS[kind].seq
    assert compared(fewer) == [f"the {kind} with number {seq} is only in the first store"]
    [verdict] = compare_stores(store(fewer), store(RECORDS))
    assert verdict.problems == [f"the {kind} with number {seq} is only in the second store"]


def test_a_session_of_one_store_only() -> None:
    other = msgspec.structs.replace(HEADER, id="t")
    first, second = compare_stores(store(RECORDS), store(RECORDS, other))
    assert (first.session_id, first.problems) == ("s", ["is only in the first store"])
    assert (second.session_id, second.problems) == ("t", ["is only in the second store"])


def test_the_same_id_in_another_working_directory_is_another_session() -> None:
    elsewhere = msgspec.structs.replace(HEADER, cwd="/elsewhere")
    assert [verdict.cwd for verdict in compare_stores(store(RECORDS), store(RECORDS, elsewhere))] == [
        "/elsewhere",
        "/work",
    ]


def test_progress_is_told_of_sessions_and_records() -> None:
    class Counting(Progress):
        def __init__(self) -> None:
            self.begun: list[str] = []
            self.records = 0

        def begin(self, name: str) -> None:
            self.begun.append(name)

        def advance(self) -> None:
            self.records += 1

    progress = Counting()
    assert len(list(compare_stores(store(RECORDS), store(RECORDS), progress))) == 1
    assert (progress.begun, progress.records) == (["s"], 2 * len(RECORDS))
