"""From records to what callers see, and what damaged records are called."""

from __future__ import annotations

from typing import Any

import pytest

from sessionstore.address import Place, value, value_list
from sessionstore.entries import (
    ABSENT,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    EntryStructure,
    MessageEntry,
)
from sessionstore.errors import CorruptStorageError, InvalidValueError
from sessionstore.records import (
    ElementRecord,
    EntryRecord,
    UsageRecord,
    ValueRecord,
    element_of,
    entry_of,
    place_of,
    stored_value_of,
    structure_of,
    usage_row_of,
)
from sessionstore.usage import Usage

USAGE = (
    '{"input":1,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":1,'
    '"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}'
)


def record(type_: Any, payload: str, custom_type: str | None = None) -> EntryRecord:
    return EntryRecord("e", "p", 5, 77, type_, custom_type, payload)


@pytest.mark.parametrize(
    ("given_", "entry"),
    [
        (
            record("message", '{"message":{"role":"user","n":1e-05}}'),
            MessageEntry("e", "p", 5, 77, {"role": "user", "n": 1e-05}),
        ),
        (
            record("message", '{"terminate":true,"message":{"role":"user"}}'),
            MessageEntry("e", "p", 5, 77, {"role": "user"}, True),
        ),
        (record("message", '{"message":{},"terminate":false}'), MessageEntry("e", "p", 5, 77, {}, None)),
        (record("custom", "{}", "t"), CustomEntry("e", "p", 5, 77, "t", ABSENT)),
        (record("custom", '{"data":null}', "t"), CustomEntry("e", "p", 5, 77, "t", None)),
        (
            record("compaction", '{"summary":"s","retainedTail":[{}],"tokensBefore":1.5,"fromHook":true}'),
            CompactionEntry("e", "p", 5, 77, "s", [{}], 1.5, True),
        ),
        (
            record(
                "branch_summary",
                f'{{"fromId":null,"summary":"s","details":0,"usage":{USAGE},"fromHook":false}}',
            ),
            BranchSummaryEntry("e", "p", 5, 77, None, "s", False, 0, Usage(input=1, total_tokens=1)),
        ),
    ],
    ids=range(7),
)
def test_entries(given_: EntryRecord, entry: Any) -> None:
    assert entry_of(given_) == entry
    assert structure_of(given_) == EntryStructure("e", "p", 5, 77, given_.type, given_.custom_type)


@pytest.mark.parametrize(
    "given_",
    [
        record("message", "{"),
        record("message", ""),
        record("message", "{}"),
        record("message", "[]"),
        record("message", "null"),
        record("custom", "5", "t"),
        record("compaction", '{"summary":"s"}'),
        record("branch_summary", '{"fromId":null,"summary":"s","fromHook":false,"usage":{}}'),
        record("note", "{}"),
    ],
    ids=range(9),
)
def test_damaged_entries_are_named(given_: EntryRecord) -> None:
    with pytest.raises(CorruptStorageError, match="entry 'e'"):
        entry_of(given_)


def test_usage_rows() -> None:
    row = usage_row_of(UsageRecord("u", 5, "e", True, USAGE, "null"))
    assert (row.id, row.seq, row.entry_id, row.adjustment, row.details) == ("u", 5, "e", True, None)
    assert row.usage == Usage(input=1, total_tokens=1)
    assert usage_row_of(UsageRecord("u", 5, None, False, USAGE, None)).details is ABSENT
    for damaged in (
        UsageRecord("u", 5, None, False, "{}", None),
        UsageRecord("u", 5, None, False, USAGE, "{"),
    ):
        with pytest.raises(CorruptStorageError, match="usage 'u'"):
            usage_row_of(damaged)


def test_values_and_elements() -> None:
    number = value("n", "k", type=int)
    stored = stored_value_of(number, ValueRecord("", "n", "k", 5, "7"))
    assert (stored.address, stored.value, stored.seq) == (number, 7, 5)
    element = element_of(value_list("n", "k", type=int), ElementRecord("", "n", "k", 5, "7", "t"))
    assert (element.value, element.seq, element.tag) == (7, 5, "t")
    with pytest.raises(InvalidValueError, match="'n' key 'k'"):
        stored_value_of(number, ValueRecord("", "n", "k", 5, '"7"'))
    with pytest.raises(CorruptStorageError, match="'n' key 'k'"):
        stored_value_of(number, ValueRecord("", "n", "k", 5, "7}"))
    assert place_of(ValueRecord("op", "n", "k", 5, "7")) == Place("op", "n", "k")
