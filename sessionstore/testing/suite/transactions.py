"""Transactions: all or none, order, numbers, timestamps (model.md section 4, rules 2, 3, 6, 7, 8)."""

from __future__ import annotations

from typing import Any

from sessionstore.address import value, value_list
from sessionstore.entries import NewMessageEntry
from sessionstore.errors import (
    DuplicateIdError,
    InvalidValueError,
    MissingParentError,
    TransactionConflictError,
)
from sessionstore.scope import ephemeral_scope
from sessionstore.storage import Storage
from sessionstore.testing.cases import ManualClock, StorageGroup
from sessionstore.testing.checks import calling, check, equal, ids_of, refuses, unchanged, values_of
from sessionstore.testing.material import message, note, say, spend
from sessionstore.writes import (
    Write,
    append_list,
    delete_list,
    delete_value,
    insert_entry,
    retire_scope,
    set_value,
)

group = StorageGroup("transactions")

_V, _W = value("app", "v"), value("app", "w")
_L = value_list("app", "l")
_SCOPE = ephemeral_scope("op")


@group.case
def every_write_takes_the_next_number(store: Storage) -> None:
    """Every write takes the next number, in order, whatever its kind; deletes of absent places too."""
    writes: list[Write[Any]] = [
        delete_value(_V),
        delete_list(_L),
        say("e"),
        set_value(_V, 1),
        spend("u"),
        append_list(_L, 1),
        set_value(_V, 2),
        retire_scope(_SCOPE),
        note("n", "e"),
        delete_value(_W),
    ]
    result = store.commit(writes)
    equal(list(result.seqs), list(range(result.first_seq, result.first_seq + len(writes))), "numbers")
    stored = store.get_value(_V)
    assert stored is not None
    equal(stored.seq, result.seqs[6])
    equal([entry.seq for entry in store.scan_entries()], [result.seqs[2], result.seqs[8]])
    equal([row.seq for row in store.scan_usage()], [result.seqs[4]])
    equal([element.seq for element in store.read_list(_L)], [result.seqs[5]])


@group.case
def numbers_strictly_increase(store: Storage) -> None:
    """Numbers strictly increase in admission order, over kinds, scopes and refused commits."""
    scoped = value_list("app", scope=_SCOPE)
    last = 0
    for round_ in range(10):
        commits: list[list[Write[Any]]] = [
            [say(f"e{round_}")],
            [append_list(scoped, round_)],
            [delete_value(_V), delete_value(_V)],
            [retire_scope(_SCOPE)],
            [spend(f"u{round_}"), set_value(_V, round_)],
        ]
        for writes in commits:
            result = store.commit(writes)
            check(result.first_seq > last, f"{result.first_seq} should be beyond {last}")
            equal(result.seqs[0], result.first_seq, "first_seq")
            last = result.seqs[-1]
        refuses(DuplicateIdError, calling(lambda round_: store.commit([say(f"e{round_}")]), round_))


@group.case
def the_result_tells_what_was_committed(store: Storage) -> None:
    """The result holds first_seq, one seq for each write, the timestamp and the statistics."""
    result = store.commit([say("a"), spend("u", 5, 0.25), note("b", "a"), say("c", "b")])
    equal(len(result.seqs), 4)
    equal(result.stats, store.get_stats())
    equal((result.stats.message_count, result.stats.usage.input), (2, 5))
    equal({entry.timestamp for entry in store.scan_entries()}, {result.timestamp})


@group.case
def an_empty_commit_writes_nothing(store: Storage) -> None:
    """An empty commit is legal, writes nothing and gives the next number as first_seq."""
    empty: list[Write[Any]] = []
    first = store.commit(empty)
    equal(first.seqs, ())
    equal(store.commit(empty).first_seq, first.first_seq, "first_seq of another empty commit")
    written = store.commit([set_value(_V, 1)])
    equal(written.first_seq, first.first_seq, "the number that an empty commit told")
    after = store.commit(empty)
    check(after.first_seq > written.seqs[-1], "first_seq should be beyond what was written")
    equal(after.stats, store.get_stats())
    equal(store.next_seq(), after.first_seq, "the next number")


@group.case
def a_failed_transaction_leaves_no_trace(store: Storage) -> None:
    """A refused write in the middle of a mixed commit: no write, no sibling, no number seen."""
    store.commit([say("root"), set_value(_V, "old"), append_list(_L, "old"), spend("paid", 1)])
    around_before: list[Write[Any]] = [
        say("x", "root"),
        set_value(_V, "new"),
        delete_list(_L),
        append_list(_L, "new"),
        spend("y", 100),
        retire_scope(_SCOPE),
    ]
    around_after: list[Write[Any]] = [set_value(_W, "new"), note("z", "root")]
    bad: list[tuple[type[Exception], Write[Any]]] = [
        (DuplicateIdError, say("root")),
        (DuplicateIdError, spend("root")),
        (DuplicateIdError, say("paid")),
        (DuplicateIdError, say("x")),
        (MissingParentError, say("q", "nobody")),
        (InvalidValueError, set_value(_W, float("nan"))),
        (InvalidValueError, note("q", data=object())),
        (InvalidValueError, spend("q", float("inf"))),
        (
            InvalidValueError,
            insert_entry(NewMessageEntry("q", None, message(role="assistant", stopReason="pending"))),
        ),
    ]
    for error, write in bad:
        with unchanged(store, _V, _W, _L):
            refuses(error, calling(lambda write: store.commit([*around_before, write, *around_after]), write))
    equal(ids_of(store.scan_entries()), ["root"])
    store.commit([*around_before, *around_after])
    equal(
        ids_of(store.scan_entries()), ["root", "x", "z"], "entries after the same writes without the bad one"
    )


@group.case
def what_is_no_write_is_refused(store: Storage) -> None:
    """``commit`` takes writes only."""
    for given in ("write", None, ("set", 1), {"kind": "set"}):
        wrong: Any = [set_value(_V, 1), given]
        with unchanged(store, _V):
            refuses(InvalidValueError, calling(store.commit, wrong))


@group.case
def set_then_set_keeps_the_last(store: Storage) -> None:
    """Within a transaction a later set of a value replaces an earlier one."""
    result = store.commit([set_value(_V, 1), set_value(_W, 0), set_value(_V, 2)])
    stored = store.get_value(_V)
    assert stored is not None
    equal((stored.value, stored.seq), (2, result.seqs[2]))
    equal(values_of(store.scan_values(value("app"))), [2, 0])


@group.case
def set_and_delete_apply_in_order(store: Storage) -> None:
    """Set then delete leaves nothing; delete then set leaves the set."""
    store.commit([set_value(_V, 1), delete_value(_V)])
    equal(store.get_value(_V), None)
    store.commit([set_value(_V, 2)])
    store.commit([delete_value(_V), set_value(_V, 3), set_value(_W, 3), delete_value(_W)])
    stored = store.get_value(_V)
    assert stored is not None
    equal(stored.value, 3)
    equal(store.get_value(_W), None)
    store.commit([set_value(_V, 4), delete_value(_V), set_value(_V, 5), delete_value(_V)])
    equal(store.scan_values(value("app")), [])


@group.case
def delete_then_append_makes_a_fresh_list(store: Storage) -> None:
    """Delete then append makes a fresh list; append then delete leaves nothing."""
    store.commit([append_list(_L, "old", "mark")])
    result = store.commit([append_list(_L, "lost"), delete_list(_L), append_list(_L, 1), append_list(_L, 2)])
    equal([(e.value, e.seq, e.tag) for e in store.read_list(_L)], [
        (1, result.seqs[2], None),
        (2, result.seqs[3], None),
    ])  # fmt: skip
    store.commit([append_list(_L, 3), delete_list(_L)])
    equal(store.read_list(_L), [])


@group.case
def one_transaction_holds_many_writes(store: Storage) -> None:
    """Thousands of writes of all kinds in one transaction."""
    writes: list[Write[Any]] = []
    for n in range(600):
        writes += [
            note(f"e{n}", f"e{n - 1}" if n else None),
            spend(f"u{n}", 1),
            set_value(value("app.many", f"{n % 50:02}"), n),
            append_list(_L, n),
        ]
    result = store.commit(writes)
    equal(len(result.seqs), 2400)
    equal(result.stats.usage.input, 600)
    equal(values_of(store.scan_values(value("app.many"))), list(range(550, 600)))
    equal(values_of(store.read_list(_L)), list(range(600)))
    equal(len(store.scan_entries()), 600)


@group.case
def values_are_captured_at_commit(store: Storage) -> None:
    """Changing a value after the commit changes nothing; changing it before does."""
    given = {"list": [1], "text": "a"}
    write = set_value(_V, given)
    given["list"].append(2)  # type: ignore[attr-defined]  # a list, for all that mypy sees
    entry_message: dict[str, Any] = message(parts=[1])
    insert = insert_entry(NewMessageEntry("m", None, entry_message))
    store.commit([write, insert])
    given["text"] = "b"
    entry_message["parts"].append(2)
    stored = store.get_value(_V)
    assert stored is not None
    equal(stored.value, {"list": [1, 2], "text": "a"})
    stored.value["list"].clear()
    again = store.get_value(_V)
    assert again is not None
    equal(again.value["list"], [1, 2], "a value that a reader changed")
    entry = store.get_entries(["m"])["m"]
    equal(getattr(entry, "message", {}).get("parts"), [1], "the message")


@group.case
def an_overtaken_transaction_is_refused(store: Storage) -> None:
    """A transaction that expects a number and would get another one changes nothing."""
    expected = store.next_seq()
    store.commit([set_value(_V, "fast")])
    with unchanged(store, _V, _W):
        refuses(
            TransactionConflictError,
            lambda: store.commit([set_value(_V, "slow"), set_value(_W, 1)], expected_seq=expected),
        )
        refuses(
            TransactionConflictError,
            lambda: store.commit([set_value(value("app", scope=_SCOPE), 1)], expected_seq=expected),
        )
    result = store.commit([set_value(_V, "again")], expected_seq=store.next_seq())
    equal(store.next_seq(), result.seqs[-1] + 1, "the next number")


@group.clock_case
def the_timestamp_is_the_clock_at_commit(store: Storage, clock: ManualClock) -> None:
    """All entries of a transaction bear the store's clock at commit, in Unix ms."""
    clock.now = 1_750_000_000_123
    result = store.commit([say("a"), say("b", "a")])
    equal(result.timestamp, 1_750_000_000_123)
    clock.now += 5
    equal(store.commit([set_value(_V, 1)]).timestamp, 1_750_000_000_128)
    equal({entry.timestamp for entry in store.scan_entries()}, {1_750_000_000_123})


@group.clock_case
def the_clock_may_stand_still(store: Storage, clock: ManualClock) -> None:
    """Commits at the same millisecond keep their order."""
    frozen = clock.now
    for n in range(5):
        store.commit([say(f"e{n}", f"e{n - 1}" if n else None), append_list(_L, n)])
    equal([entry.timestamp for entry in store.scan_entries()], [frozen] * 5)
    equal(ids_of(store.scan_branch("e4")), ["e4", "e3", "e2", "e1", "e0"])
    equal(values_of(store.read_list(_L)), [0, 1, 2, 3, 4])


@group.clock_case
def the_clock_may_go_back(store: Storage, clock: ManualClock) -> None:
    """A clock that goes back by an hour between commits disturbs no order and no number."""
    first = store.commit([say("a"), append_list(_L, 0)])
    clock.now -= 3_600_000
    second = store.commit([say("b", "a"), append_list(_L, 1)])
    equal(second.timestamp, first.timestamp - 3_600_000)
    check(second.first_seq > first.seqs[-1], "numbers should go on increasing")
    equal(ids_of(store.scan_entries()), ["a", "b"])
    equal(ids_of(store.scan_branch("b")), ["b", "a"])
    equal([entry.timestamp for entry in store.scan_entries()], [first.timestamp, second.timestamp])
