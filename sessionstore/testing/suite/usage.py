"""The usage ledger and the statistics (model.md sections 1 and 4)."""

from __future__ import annotations

from functools import reduce
from typing import Any

from sessionstore.entries import ABSENT, NewCompactionEntry, NewUsageRow
from sessionstore.errors import InvalidAddressError, InvalidQueryError, InvalidValueError
from sessionstore.storage import Storage
from sessionstore.testing.cases import StorageGroup
from sessionstore.testing.checks import calling, check, equal, identical_json, ids_of, refuses, unchanged
from sessionstore.testing.material import figures, note, say, spend
from sessionstore.usage import SessionStats, Usage, UsageCost, add_usage
from sessionstore.writes import insert_entry, insert_usage

group = StorageGroup("usage")


@group.case
def a_new_session_has_no_statistics(store: Storage) -> None:
    """Without entries and rows everything is zero and optional fields are absent."""
    equal(store.get_stats(), SessionStats())
    equal(store.scan_usage(), [])


@group.case
def a_row_comes_back_with_every_field(store: Storage) -> None:
    """A row has id, seq, usage, entry_id, adjustment and details; unknown figures are kept."""
    given = {
        "input": 1,
        "output": 2,
        "cacheRead": 3,
        "cacheWrite": 4,
        "totalTokens": 10,
        "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0.3, "cacheWrite": 0.4, "total": 1.0},
        "cacheWrite1h": 5,
        "reasoning": 6,
        "provider": {"tier": "x"},
    }
    result = store.commit(
        [
            say("e"),
            insert_usage(NewUsageRow("full", given, True, "e", {"why": None})),
            insert_usage(NewUsageRow("bare", figures())),
            insert_usage(NewUsageRow("null", Usage(), details=None)),
        ]
    )
    full, bare, null = store.scan_usage()
    equal((full.id, full.seq, full.adjustment, full.entry_id), ("full", result.seqs[1], True, "e"))
    expected = Usage(1, 2, 3, 4, 10, UsageCost(0.1, 0.2, 0.3, 0.4, 1.0), 5, 6, {"provider": {"tier": "x"}})
    equal(full.usage, expected)
    identical_json(full.details, {"why": None}, "details")
    equal((bare.adjustment, bare.entry_id, bare.usage), (False, None, Usage()))
    check(bare.details is ABSENT, "details that were not given should be ABSENT")
    check(null.details is None, "details that are null should be None")


@group.case
def statistics_equal_the_ledger_after_every_commit(store: Storage) -> None:
    """After every commit the statistics equal what the ledger adds up to."""
    costs = [0.1, 0.2, 0.3, 1e16, -1e16, 0.7, 3]
    for n, cost in enumerate(costs):
        result = store.commit([spend(f"u{n}a", n, cost), note(f"n{n}"), spend(f"u{n}b", 1, cost / 3)])
        rows = store.scan_usage()
        folded = reduce(add_usage, (row.usage for row in rows), Usage())
        equal(store.get_stats().usage, folded, f"the sum after {len(rows)} rows")
        equal(result.stats, store.get_stats(), "the statistics of the result")


@group.case
def totals_are_a_left_fold(store: Storage) -> None:
    """Totals are a left fold in ``seq`` order, floats included, within and over transactions."""
    store.commit([spend("a", 0.1, 0.1), spend("b", 0.2, 0.2), spend("c", 0.3, 0.3)])
    equal(store.get_stats().usage.cost.total, (0.1 + 0.2) + 0.3, "0.1 + 0.2 + 0.3 from the left")
    check((0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3), "the order should matter for these figures")
    store.commit([spend("d", 0, 1e16)])
    store.commit([spend("e", 0, 1.0)])
    store.commit([spend("f", 0, -1e16)])
    equal(store.get_stats().usage.cost.total, 0.1 + 0.2 + 0.3 + 1e16 + 1.0 - 1e16)
    equal(repr(store.get_stats().usage.input), repr(0.1 + 0.2 + 0.3 + 0), "the input")


@group.case
def integer_figures_stay_integers(store: Storage) -> None:
    """A sum of integers is an integer, beyond 2**53 too."""
    store.commit([spend("a", 2**53), spend("b", 1), spend("c", 2**64)])
    total = store.get_stats().usage.input
    equal(total, 2**53 + 1 + 2**64)
    check(type(total) is int, "a sum of integers should be an integer")


@group.case
def optional_figures_appear_once_any_row_had_them(store: Storage) -> None:
    """An optional usage field is present in the sum once any row had it, zero included."""
    store.commit([spend("a", 1)])
    usage = store.get_stats().usage
    equal((usage.reasoning, usage.cache_write_1h), (None, None))
    store.commit([spend("b", 1, reasoning=0)])
    usage = store.get_stats().usage
    equal((usage.reasoning, usage.cache_write_1h), (0, None))
    store.commit([spend("c", 1), spend("d", 1, reasoning=4, cacheWrite1h=2), spend("e", 1, cacheWrite1h=3)])
    usage = store.get_stats().usage
    equal((usage.reasoning, usage.cache_write_1h), (4, 5))


@group.case
def adjustments_count_like_any_row(store: Storage) -> None:
    """Adjustments are rows; negative figures are legal."""
    store.commit([spend("a", 10, 1.5), insert_usage(NewUsageRow("fix", figures(-4, -0.5), adjustment=True))])
    usage = store.get_stats().usage
    equal((usage.input, usage.cost.total), (6, 1.0))


@group.case
def only_message_entries_are_counted(store: Storage) -> None:
    """``message_count`` counts message entries only."""
    store.commit(
        [
            say("a"),
            note("b", "a"),
            insert_entry(NewCompactionEntry("c", "b", "", [], 0, False)),
            say("d", "c"),
        ]
    )
    equal(store.get_stats().message_count, 2)
    equal(store.commit([say("e", "d")]).stats.message_count, 3)
    refuses(ValueError, lambda: store.commit([say("f", "e"), say("a")]))
    equal(store.get_stats().message_count, 3, "messages after a refused commit")


@group.case
def usage_is_given_as_a_mapping_or_an_object(store: Storage) -> None:
    """Usage accepts a mapping in JSON names or a ``Usage``."""
    store.commit(
        [
            insert_usage(NewUsageRow("a", figures(5, 0.5, reasoning=1))),
            insert_usage(NewUsageRow("b", Usage(5, 0, 0, 0, 5, UsageCost(0.5, total=0.5), reasoning=1))),
        ]
    )
    mapping, object_ = store.scan_usage()
    equal(mapping.usage, object_.usage)


@group.case
def malformed_usage_is_refused(store: Storage) -> None:
    """A figure that is missing or no finite number is refused and named; nothing changes."""
    good = figures(1)
    bad: list[tuple[Any, str]] = [
        (None, "'u'"),
        ([], "'u'"),
        ({}, "'u'"),
        ({**good, "input": None}, "input"),
        ({**good, "output": "1"}, "output"),
        ({**good, "cacheRead": True}, "cacheRead"),
        ({**good, "totalTokens": float("nan")}, "totalTokens"),
        ({**good, "reasoning": "x"}, "reasoning"),
        ({**good, "cost": 5}, "cost"),
        ({**good, "cost": {"input": 1}}, "cost"),
        ({key: figure for key, figure in good.items() if key != "cacheWrite"}, "cacheWrite"),
        (Usage(input=float("inf")), "'u'"),
    ]
    for usage, named in bad:
        with unchanged(store):
            refuses(
                InvalidValueError,
                calling(lambda usage: store.commit([say("e"), insert_usage(NewUsageRow("u", usage))]), usage),
                named,
            )


@group.case
def a_sum_beyond_numbers_is_refused(store: Storage) -> None:
    """A row whose sum no double can hold is refused, and the ledger stays as it was."""
    store.commit([spend("big", 1, 1e308)])
    for usage in (figures(1, 1e308), figures(10**400), figures(0, reasoning=10**400)):
        with unchanged(store):
            refuses(
                InvalidValueError,
                calling(lambda usage: store.commit([say("e"), insert_usage(NewUsageRow("u", usage))]), usage),
            )
    store.commit([spend("small", 1, 1)])


@group.case
def malformed_rows_are_refused(store: Storage) -> None:
    """A row's other fields have their types."""
    adjustment: Any = 1
    entry_id: Any = 5
    with unchanged(store):
        refuses(
            ValueError,
            lambda: store.commit([insert_usage(NewUsageRow("u", figures(), adjustment))]),
            "'u'",
        )
        refuses(
            InvalidAddressError,
            lambda: store.commit([insert_usage(NewUsageRow("u", figures(), entry_id=entry_id))]),
        )


@group.case
def the_ledger_is_scanned_by_seq(store: Storage) -> None:
    """``scan_usage``: inclusive from_seq and to_seq, order, then limit; 0 gives nothing, None all."""
    seqs = [store.commit([say(f"e{n}"), spend(f"u{n}", n)]).seqs[1] for n in range(6)]
    equal(ids_of(store.scan_usage()), [f"u{n}" for n in range(6)])
    equal(ids_of(store.scan_usage(order="desc")), [f"u{n}" for n in range(5, -1, -1)])
    equal(ids_of(store.scan_usage(from_seq=seqs[2], to_seq=seqs[4])), ["u2", "u3", "u4"])
    equal(ids_of(store.scan_usage(from_seq=seqs[2] + 1, to_seq=seqs[4] - 1)), ["u3"])
    equal(ids_of(store.scan_usage(from_seq=seqs[2], order="desc", limit=2)), ["u5", "u4"])
    equal(ids_of(store.scan_usage(to_seq=seqs[2], limit=2)), ["u0", "u1"])
    equal(store.scan_usage(limit=0), [])
    equal(store.scan_usage(from_seq=seqs[4], to_seq=seqs[2]), [])
    equal(len(store.scan_usage(from_seq=-1, to_seq=2**70, limit=2**70)), 6)


@group.case
def bad_options_of_ledger_scans_are_errors(store: Storage) -> None:
    """Limits, bounds and orders of usage reads are checked, never clamped."""
    bad: list[dict[str, Any]] = [
        {"limit": -1},
        {"limit": True},
        {"limit": 1.0},
        {"from_seq": "1"},
        {"to_seq": 1.5},
        {"from_seq": False},
        {"order": "newest_first"},
        {"order": None},
    ]
    for options in bad:
        refuses(
            InvalidQueryError,
            calling(lambda options: store.scan_usage(**options), options),
            next(iter(options)),
        )


@group.case
def a_long_ledger_adds_up(store: Storage) -> None:
    """Thousands of rows over several transactions."""
    for batch in range(4):
        store.commit([spend(f"u{batch}-{n}", 1, 0.1) for n in range(500)])
    expected = 0.0
    for _ in range(2000):
        expected += 0.1
    usage = store.get_stats().usage
    equal((usage.input, usage.cost.total), (2000, expected))
    equal(len(store.scan_usage()), 2000)
