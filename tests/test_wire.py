"""The JSON forms of sessionstore.wire."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sessionstore.entries import ABSENT, CompactionEntry, CustomEntry, MessageEntry, UsageRow
from sessionstore.errors import InvalidValueError
from sessionstore.metadata import SessionMetadata
from sessionstore.plan import plan_commit
from sessionstore.records import entry_of
from sessionstore.usage import SessionStats, Usage, UsageCost
from sessionstore.wire import (
    entry_from_json,
    entry_to_json,
    metadata_to_json,
    new_entry_from_json,
    stats_from_json,
    stats_to_json,
    usage_row_from_json,
    usage_row_to_json,
)
from sessionstore.writes import insert_entry

USAGE = {
    "input": 10,
    "output": 5,
    "cacheRead": 1,
    "cacheWrite": 2,
    "totalTokens": 18,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0.01, "cacheWrite": 0.02, "total": 0.33},
}
HEAD = {"id": "e1", "parentId": None, "seq": 3, "timestamp": 1700000000000}
MESSAGE = {**HEAD, "type": "message", "message": {"role": "user", "x": {"unknown": [None, 2**70]}}}
COMPACTION = {
    **HEAD,
    "type": "compaction",
    "summary": "s",
    "retainedTail": [{"role": "user"}],
    "tokensBefore": 9,
    "fromHook": False,
}
SUMMARY = {**HEAD, "type": "branch_summary", "fromId": None, "summary": "b", "fromHook": True}
CUSTOM = {**HEAD, "type": "custom", "customType": "note"}

FORMS: dict[str, dict[str, Any]] = {
    "message": MESSAGE,
    "child": {**MESSAGE, "parentId": "e0"},
    "terminating message": {**MESSAGE, "terminate": True},
    "lone surrogate": {**MESSAGE, "message": {"role": "user", "content": "\ud83d \0"}},
    "compaction": COMPACTION,
    "compaction with all fields": {**COMPACTION, "details": {"k": 1}, "usage": {**USAGE, "extra": [1]}},
    "compaction with null details": {**COMPACTION, "details": None},
    "branch summary": SUMMARY,
    "branch summary with all fields": {**SUMMARY, "fromId": "e9", "details": 0, "usage": USAGE},
    "custom without data": CUSTOM,
    "custom with null data": {**CUSTOM, "data": None},
    "custom with data": {**CUSTOM, "data": {"b": 1, "a": -0.0}},
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_an_entry_survives_both_ways(form: dict[str, Any]) -> None:
    entry = entry_from_json(form)
    assert entry_to_json(entry) == form
    assert entry_from_json(json.loads(json.dumps(entry_to_json(entry)))) == entry


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_new_entry_commits_to_the_same_form(form: dict[str, Any]) -> None:
    new = {name: item for name, item in form.items() if name not in ("seq", "timestamp")}
    plan = plan_commit([insert_entry(new_entry_from_json(new))])
    committed = entry_of(plan.numbered(3, 1700000000000).entries[0])
    assert entry_to_json(committed) == form


def test_absent_and_null_data_differ() -> None:
    absent, null = entry_from_json(CUSTOM), entry_from_json({**CUSTOM, "data": None})
    assert isinstance(absent, CustomEntry)
    assert isinstance(null, CustomEntry)
    assert absent.data is ABSENT
    assert null.data is None
    assert "data" not in entry_to_json(absent)


def test_names_on_the_python_side() -> None:
    compaction = entry_from_json({**COMPACTION, "usage": USAGE})
    assert isinstance(compaction, CompactionEntry)
    assert compaction.retained_tail == [{"role": "user"}]
    assert compaction.usage is not None
    assert compaction.usage.cost == UsageCost(0.1, 0.2, 0.01, 0.02, 0.33)
    message = entry_from_json({**MESSAGE, "terminate": True})
    assert isinstance(message, MessageEntry)
    assert message.terminate is True


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"type": "hologram"}, "type"),
        ({"type": None}, "type"),
        ({"id": 7}, "id"),
        ({"parentId": 7}, "parentId"),
        ({"seq": True}, "seq"),
        ({"seq": "1"}, "seq"),
        ({"timestamp": 1.5}, "timestamp"),
        ({"message": [1]}, "message"),
        ({"message": None}, "message"),
        ({"terminate": "yes"}, "terminate"),
        ({"type": "custom", "customType": None}, "customType"),
        ({"type": "compaction"}, "summary"),
        ({**COMPACTION, "tokensBefore": "many"}, "tokensBefore"),
        ({**COMPACTION, "retainedTail": {}}, "retainedTail"),
        ({**COMPACTION, "fromHook": None}, "fromHook"),
        ({**COMPACTION, "usage": {"input": 1}}, "usage"),
        ({**SUMMARY, "fromId": 1}, "fromId"),
    ],
)
def test_a_malformed_entry_is_refused_by_field(change: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidValueError, match=named):
        entry_from_json({**MESSAGE, **change})


@pytest.mark.parametrize("data", [None, [], "text"])
def test_what_is_no_object_is_refused(data: Any) -> None:
    for read in (entry_from_json, new_entry_from_json, usage_row_from_json, stats_from_json):
        with pytest.raises(InvalidValueError, match="object"):
            read(data)


def test_a_new_entry_is_refused_by_field() -> None:
    with pytest.raises(InvalidValueError, match="usage"):
        new_entry_from_json({**COMPACTION, "usage": [1]})
    with pytest.raises(InvalidValueError, match="type"):
        new_entry_from_json({**MESSAGE, "type": "note"})


@pytest.mark.parametrize(
    "form",
    [
        {"id": "u1", "seq": 5, "adjustment": False, "usage": USAGE},
        {"id": "u1", "seq": 5, "entryId": "e1", "adjustment": True, "usage": USAGE, "details": None},
        {
            "id": "u1",
            "seq": 5,
            "adjustment": True,
            "usage": {**USAGE, "cacheWrite1h": 0, "reasoning": 4, "provider": {"tier": "x"}},
            "details": {"why": "x"},
        },
    ],
)
def test_a_usage_row_survives_both_ways(form: dict[str, Any]) -> None:
    row = usage_row_from_json(form)
    assert usage_row_to_json(row) == form
    assert usage_row_from_json(usage_row_to_json(row)) == row


def test_a_usage_row_without_adjustment_is_none() -> None:
    row = usage_row_from_json({"id": "u1", "seq": 5, "usage": USAGE})
    assert row == UsageRow("u1", 5, row.usage, False)


def test_statistics_survive_both_ways() -> None:
    stats = SessionStats(3, Usage(input=1, cost=UsageCost(total=0.5), cache_write_1h=0))
    form = stats_to_json(stats)
    assert form["messageCount"] == 3
    assert form["usage"]["cacheWrite1h"] == 0
    assert "reasoning" not in form["usage"]
    assert stats_from_json(form) == stats


def test_metadata_leaves_out_what_it_does_not_have() -> None:
    assert metadata_to_json(SessionMetadata(id="s", created_at=1, container="memory:1")) == {
        "id": "s",
        "createdAt": 1,
        "storageVersion": 1,
        "container": "memory:1",
    }
    full = SessionMetadata(
        id="s",
        created_at=1,
        container="/data",
        parent_session_id="p",
        cwd="/srv",
        path="/data/s.jsonl",
        modified_at=2,
        legacy_parent_session_path="/old.jsonl",
    )
    assert metadata_to_json(full) == {
        "id": "s",
        "createdAt": 1,
        "storageVersion": 1,
        "container": "/data",
        "parentSessionId": "p",
        "cwd": "/srv",
        "path": "/data/s.jsonl",
        "modifiedAt": 2,
        "legacyParentSessionPath": "/old.jsonl",
    }
