"""``check_image``: each thing that can be wrong with a session is found, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from sessionstore.image import ImageHeader, SessionImage
from sessionstore.records import ElementRecord, EntryRecord, Record, UsageRecord, ValueRecord
from sessionstore.transfer.checking import MAX_PROBLEMS, check_image
from sessionstore.usage import SessionStats, Usage, UsageCost

USAGE = (
    '{"input":1,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":3,'
    '"cost":{"input":0.1,"output":0.2,"cacheRead":0,"cacheWrite":0,"total":0.30000000000000004}}'
)
SUM = Usage(input=1, output=2, total_tokens=3, cost=UsageCost(input=0.1, output=0.2, total=0.1 + 0.2))

HEADER = ImageHeader("s", 1_700_000_000_000, 100, SessionStats(1, SUM))
ENTRY = EntryRecord("e1", None, 1, 5, "message", None, '{"message":{"role":"user","content":"hi"}}')
CHILD = EntryRecord("e2", "e1", 2, 5, "custom", "note", "{}")
ROW = UsageRecord("u1", 3, "e1", False, USAGE, None)
VALUE = ValueRecord("", "app", "k", 4, "1")
FIRST = ElementRecord("op", "app", "k", 5, '"\\ud800"', "full")
SECOND = ElementRecord("", "app", "k", 7, "null", None)


def good() -> list[Record]:
    return [ENTRY, CHILD, ROW, VALUE, FIRST, SECOND]


def problems(records: list[Record], header: ImageHeader = HEADER) -> list[str]:
    return check_image(SessionImage(header, records))[1]


def replaced(record: Record, **fields: Any) -> list[Record]:
    """The good records, one of them changed."""
    return [msgspec.structs.replace(item, **fields) if item is record else item for item in good()]


def test_a_good_session_has_no_problems_and_all_records_are_counted() -> None:
    told: list[None] = []
    assert check_image(SessionImage(HEADER, good()), lambda: told.append(None)) == (6, [])
    assert len(told) == 6


def test_kinds_may_come_in_any_order_between_each_other() -> None:
    assert problems([FIRST, VALUE, ENTRY, SECOND, ROW, CHILD]) == []


@pytest.mark.parametrize(
    ("records", "told"),
    [
        (lambda: replaced(CHILD, parent_id="nobody"), ["entry 'e2': the parent 'nobody' does not exist"]),
        (lambda: replaced(CHILD, parent_id="e2"), ["entry 'e2': the parent 'e2' does not exist before it"]),
        (lambda: replaced(CHILD, parent_id="u1"), ["entry 'e2': the parent 'u1' does not exist"]),
        (lambda: replaced(ROW, id="e1"), ["usage 'e1': the id is used more than once"]),
        (lambda: replaced(CHILD, id="e1", parent_id=None), ["entry 'e1': the id is used more than once"]),
        (lambda: replaced(CHILD, seq=1), ["entry 'e2': the number 1 comes after 1", "the number 1 is used"]),
        (lambda: replaced(ENTRY, seq=0), ["entry 'e1': 0 is no number of a write"]),
        (lambda: replaced(VALUE, seq=3), ["the number 3 is used more than once"]),
        (lambda: replaced(SECOND, seq=100), ["the next number is 100, but 100 is used already"]),
        (lambda: replaced(CHILD, custom_type=None), ["entry 'e2': a custom type belongs to custom entries"]),
        (lambda: replaced(ENTRY, custom_type="x"), ["entry 'e1': a custom type belongs to custom entries"]),
        (lambda: replaced(ENTRY, payload='{"message":'), ["entry 'e1': the stored text is not JSON"]),
        (lambda: replaced(ENTRY, payload="{}"), ["entry 'e1': malformed payload"]),
        (lambda: replaced(ENTRY, payload='{"message":[]}'), ["entry 'e1': a message must be an object"]),
        (
            lambda: replaced(ENTRY, payload='{"message":{"role":"assistant","stopReason":"pending"}}'),
            ["entry 'e1': an assistant message whose stopReason is pending"],
        ),
        (lambda: replaced(VALUE, value="nan"), ["value 'app' key 'k': the stored text is not JSON"]),
        (
            lambda: replaced(VALUE, value="[" * 513 + "]" * 513),
            ["value 'app' key 'k': the stored text is not"],
        ),
        (
            lambda: replaced(SECOND, value=""),
            ["element 7 of list 'app' key 'k': the stored text is not JSON"],
        ),
        (lambda: replaced(ROW, details="{"), ["details of usage 'u1': the stored text is not JSON"]),
        (lambda: replaced(VALUE, namespace=""), ["namespace of value '' key 'k' must not be empty"]),
        (lambda: replaced(VALUE, key="k" * 1025), ["key of value"]),
        (lambda: replaced(FIRST, scope_id="s" * 181), ["scope id has 181 characters"]),
        (lambda: replaced(FIRST, tag=""), ["tag of element 5 of list 'app' key 'k' in scope 'op' must not"]),
        (lambda: [*good()[:4], msgspec.structs.replace(VALUE, seq=6), *good()[4:]], ["exists twice"]),
        (lambda: replaced(ROW, usage='{"input":1}'), ["usage 'u1'", "the statistics are not the sum"]),
        (lambda: replaced(ROW, usage=USAGE.replace("3", "4")), ["the statistics are not the sum"]),
        (lambda: [ENTRY, CHILD, VALUE], ["the statistics are not the sum of the ledger"]),
        (lambda: [ROW, VALUE], ["the statistics count 1 messages, there are 0"]),
    ],
)
def test_what_is_wrong_is_told(records: Callable[[], list[Record]], told: list[str]) -> None:
    found = problems(records())
    assert len(found) == len(told), found
    for problem, expected in zip(found, told, strict=True):
        assert expected in problem


def test_the_ledger_is_added_from_left_to_right() -> None:
    costs = (0.1, 0.2, 0.3)
    rows: list[Record] = [
        UsageRecord(
            f"u{index}", index + 1, None, False, USAGE.replace("0.30000000000000004", str(cost)), None
        )
        for index, cost in enumerate(costs)
    ]
    left = UsageCost(input=0.1 + 0.1 + 0.1, output=0.2 + 0.2 + 0.2, total=(0.1 + 0.2) + 0.3)
    right = msgspec.structs.replace(left, total=0.1 + (0.2 + 0.3))
    assert left != right
    total = Usage(input=3, output=6, total_tokens=9, cost=left)
    assert problems(rows, msgspec.structs.replace(HEADER, stats=SessionStats(0, total))) == []
    total = msgspec.structs.replace(total, cost=right)
    assert len(problems(rows, msgspec.structs.replace(HEADER, stats=SessionStats(0, total)))) == 1


def test_a_flood_of_problems_is_counted_not_told() -> None:
    many: list[Record] = [
        ElementRecord("", "app", "k", index + 10, "x", None) for index in range(MAX_PROBLEMS + 30)
    ]
    found = problems([*good(), *many], msgspec.structs.replace(HEADER, next_seq=1_000))
    assert len(found) == MAX_PROBLEMS + 1
    assert found[-1] == "30 more problems"
