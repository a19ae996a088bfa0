"""Entries: what they carry, their ids and their parents (model.md sections 1 and 4)."""

from __future__ import annotations

from typing import Any

from sessionstore.address import value
from sessionstore.entries import (
    ABSENT,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    Entry,
    MessageEntry,
    NewBranchSummaryEntry,
    NewCompactionEntry,
    NewCustomEntry,
    NewMessageEntry,
)
from sessionstore.errors import (
    DuplicateIdError,
    InvalidAddressError,
    InvalidValueError,
    MissingParentError,
)
from sessionstore.storage import Storage
from sessionstore.testing.cases import StorageGroup
from sessionstore.testing.checks import (
    NOTHING,
    calling,
    check,
    equal,
    identical_json,
    ids_of,
    refuses,
    unchanged,
)
from sessionstore.testing.material import figures, message, note, say, spend
from sessionstore.usage import Usage, UsageCost
from sessionstore.writes import insert_entry, set_value

group = StorageGroup("entries")

_MARK = value("app.mark")


def _one(store: Storage, id: str) -> Entry:
    found = store.get_entries([id])
    equal(list(found), [id], "entries found")
    return found[id]


@group.case
def a_message_is_kept_whole(store: Storage) -> None:
    """A message is kept whole, unknown fields and their order too."""
    given = {
        "zeta": [1, {"b": None, "a": 1.5}],
        "role": "assistant",
        "stopReason": "stop",
        "content": [{"type": "text", "text": "x"}],
        "": "an empty name",
    }
    result = store.commit([insert_entry(NewMessageEntry("m", None, given))])
    entry = _one(store, "m")
    check(isinstance(entry, MessageEntry), "a message entry should come back")
    assert isinstance(entry, MessageEntry)
    identical_json(entry.message, given, "message")
    equal((entry.id, entry.parent_id, entry.type), ("m", None, "message"))
    equal((entry.seq, entry.timestamp), (result.seqs[0], result.timestamp))
    equal(entry.custom_type, None, "custom_type of a message")


@group.case
def terminate_is_true_or_absent(store: Storage) -> None:
    """A message entry has ``terminate: true`` or no such field."""
    store.commit(
        [
            insert_entry(NewMessageEntry("plain", None, message())),
            insert_entry(NewMessageEntry("end", "plain", message(), terminate=True)),
            insert_entry(NewMessageEntry("false", "end", message(), terminate=False)),
        ]
    )
    found = store.get_entries(["plain", "end", "false"])
    equal(
        [entry.terminate for entry in found.values() if isinstance(entry, MessageEntry)],
        [None, True, None],
        "terminate",
    )


@group.case
def a_compaction_comes_back_with_every_field(store: Storage) -> None:
    """A compaction has summary, retainedTail, tokensBefore, details, usage and fromHook."""
    store.commit(
        [
            say("root"),
            insert_entry(
                NewCompactionEntry(
                    "full",
                    "root",
                    "what was said",
                    [message("kept", extra=1), message("too")],
                    12345,
                    True,
                    details={"a": [1]},
                    usage=figures(7, 0.5, reasoning=2),
                )
            ),
            insert_entry(NewCompactionEntry("bare", "full", "", [], 0.5, False)),
            insert_entry(NewCompactionEntry("null", "bare", "x", [], 0, False, details=None)),
        ]
    )
    found = store.get_entries(["full", "bare", "null"])
    full, bare, null = found["full"], found["bare"], found["null"]
    assert isinstance(full, CompactionEntry)
    assert isinstance(bare, CompactionEntry)
    assert isinstance(null, CompactionEntry)
    equal((full.summary, full.tokens_before, full.from_hook), ("what was said", 12345, True))
    identical_json(full.retained_tail, [message("kept", extra=1), message("too")], "retained tail")
    identical_json(full.details, {"a": [1]}, "details")
    expected = Usage(input=7, total_tokens=7, cost=UsageCost(input=0.5, total=0.5), reasoning=2)
    equal(full.usage, expected, "usage of a compaction")
    equal((bare.retained_tail, bare.tokens_before, bare.from_hook), (NOTHING, 0.5, False))
    check(bare.details is ABSENT and bare.usage is None, "what was not given should be absent")
    equal(null.details, None, "details that are null")
    equal(store.get_stats().usage, Usage(), "the ledger, of which the usage of an entry is no row")


@group.case
def a_branch_summary_comes_back_with_every_field(store: Storage) -> None:
    """A branch summary has fromId (an entry id or null), summary, details, usage and fromHook."""
    store.commit(
        [
            say("root"),
            insert_entry(
                NewBranchSummaryEntry(
                    "full", "root", "root", "left it", True, details=[None], usage=Usage(output=3)
                )
            ),
            insert_entry(NewBranchSummaryEntry("bare", "root", None, "", False)),
        ]
    )
    found = store.get_entries(["full", "bare"])
    full, bare = found["full"], found["bare"]
    assert isinstance(full, BranchSummaryEntry)
    assert isinstance(bare, BranchSummaryEntry)
    equal((full.from_id, full.summary, full.from_hook), ("root", "left it", True))
    equal((full.details, full.usage), ([None], Usage(output=3)))
    equal((bare.from_id, bare.summary, bare.from_hook), (None, "", False))
    check(bare.details is ABSENT and bare.usage is None, "what was not given should be absent")


@group.case
def custom_data_that_is_absent_is_not_null(store: Storage) -> None:
    """``data`` of a custom entry that is absent is not the same as null."""
    store.commit([note("absent"), note("null", data=None), note("some", custom_type="app.x", data={"n": 1})])
    found = store.get_entries(["absent", "null", "some"])
    absent, null, some = found["absent"], found["null"], found["some"]
    assert isinstance(absent, CustomEntry)
    assert isinstance(null, CustomEntry)
    assert isinstance(some, CustomEntry)
    check(absent.data is ABSENT, "data that was not given should be ABSENT")
    check(null.data is None, "data that was null should be None")
    identical_json(some.data, {"n": 1}, "data")
    equal((absent.custom_type, some.custom_type), ("note", "app.x"), "custom types")


@group.case
def only_custom_entries_have_a_custom_type(store: Storage) -> None:
    """``custom_type`` is there exactly on custom entries."""
    store.commit(
        [
            say("a"),
            insert_entry(NewCompactionEntry("b", "a", "", [], 0, False)),
            insert_entry(NewBranchSummaryEntry("c", "b", None, "", False)),
            note("d", "c", "app.note"),
        ]
    )
    structure = store.scan_branch_structure("d", order="oldest_first")
    equal(
        [(node.type, node.custom_type) for node in structure],
        [("message", None), ("compaction", None), ("branch_summary", None), ("custom", "app.note")],
    )


@group.case
def a_pending_assistant_message_is_refused(store: Storage) -> None:
    """A message of role assistant with stopReason pending is refused before anything is written."""
    pending = message(role="assistant", stopReason="pending")
    with unchanged(store, _MARK):
        refuses(
            InvalidValueError,
            lambda: store.commit(
                [set_value(_MARK, 1), say("before"), insert_entry(NewMessageEntry("p", "before", pending))]
            ),
            "'p'",
            "pending",
        )
    store.commit(
        [
            insert_entry(NewMessageEntry("user", None, message(stopReason="pending"))),
            insert_entry(NewMessageEntry("done", None, message(role="assistant", stopReason="stop"))),
            insert_entry(NewMessageEntry("none", None, message(role="assistant"))),
        ]
    )
    equal(len(store.get_entries(["user", "done", "none"])), 3, "messages that are not pending")


@group.case
def what_is_no_message_is_refused(store: Storage) -> None:
    """A message is an object with a role."""
    wrong: list[Any] = ["text", None, [], {}, {"role": None}, {"role": 1}, {"content": "no role"}]
    for given in wrong:
        with unchanged(store):
            refuses(
                InvalidValueError,
                calling(lambda given: store.commit([insert_entry(NewMessageEntry("m", None, given))]), given),
                "'m'",
            )


@group.case
def what_is_no_compaction_or_summary_is_refused(store: Storage) -> None:
    """The fields of compactions and branch summaries have their types."""
    wrong: list[Any] = [
        NewCompactionEntry("e", None, 1, [], 0, False),  # type: ignore[arg-type]  # that is the test
        NewCompactionEntry("e", None, "", {}, 0, False),  # type: ignore[arg-type]
        NewCompactionEntry("e", None, "", [], "0", False),  # type: ignore[arg-type]
        NewCompactionEntry("e", None, "", [], True, False),
        NewCompactionEntry("e", None, "", [], float("nan"), False),
        NewCompactionEntry("e", None, "", [], 0, 1),  # type: ignore[arg-type]
        NewCompactionEntry("e", None, "", [], 0, False, usage={"input": 1}),
        NewBranchSummaryEntry("e", None, 5, "", False),  # type: ignore[arg-type]
        NewBranchSummaryEntry("e", None, None, None, False),  # type: ignore[arg-type]
        NewBranchSummaryEntry("e", None, None, "", None),  # type: ignore[arg-type]
    ]
    for entry in wrong:
        with unchanged(store):
            refuses(ValueError, calling(lambda entry: store.commit([insert_entry(entry)]), entry), "'e'")


@group.case
def an_entry_id_is_used_once(store: Storage) -> None:
    """A second use of an entry id fails, and the first entry stays as it was."""
    store.commit([say("taken", text="first")])
    with unchanged(store, _MARK):
        refuses(
            DuplicateIdError,
            lambda: store.commit([set_value(_MARK, 1), say("new"), say("taken", text="second")]),
            "'taken'",
        )
    with unchanged(store):
        refuses(DuplicateIdError, lambda: store.commit([say("twice"), say("twice")]), "'twice'")


@group.case
def entries_and_usage_rows_share_their_ids(store: Storage) -> None:
    """Entry ids and usage ids are one name space: a second use of either kind fails."""
    store.commit([say("entry"), spend("row")])
    for writes in ([spend("entry")], [say("row")], [say("x"), spend("x")], [spend("y"), say("y")]):
        with unchanged(store):
            refuses(DuplicateIdError, calling(store.commit, writes))


@group.case
def a_parent_exists_before(store: Storage) -> None:
    """A parent was committed before, or comes earlier in the same transaction."""
    store.commit([say("a")])
    store.commit([say("b", "a"), say("c", "b"), say("d", "a")])
    equal(
        {entry.id: entry.parent_id for entry in store.scan_entries()},
        {"a": None, "b": "a", "c": "b", "d": "a"},
    )
    for writes, missing in (
        ([say("x", "nobody")], "'nobody'"),
        ([say("x", "later"), say("later")], "'later'"),
        ([say("x", "x")], "'x'"),
    ):
        with unchanged(store):
            refuses(MissingParentError, calling(store.commit, writes), missing)


@group.case
def a_usage_row_is_no_parent(store: Storage) -> None:
    """A usage id is not a parent, committed or in the same transaction."""
    store.commit([spend("row")])
    with unchanged(store):
        refuses(MissingParentError, lambda: store.commit([say("x", "row")]), "'row'")
        refuses(MissingParentError, lambda: store.commit([spend("r2"), say("x", "r2")]), "'r2'")


@group.case
def a_session_may_have_many_roots(store: Storage) -> None:
    """An entry without a parent is a root; there may be several."""
    store.commit([say("a"), say("b"), say("a1", "a"), say("b1", "b")])
    equal(ids_of(store.scan_branch("a1")), ["a1", "a"])
    equal(ids_of(store.scan_branch("b1")), ["b1", "b"])


@group.case
def ids_and_custom_types_keep_the_text_rules(store: Storage) -> None:
    """Ids and custom types are non-empty, without U+0000 or lone surrogates, of at most 255 bytes."""
    longest = "é" * 127 + "x"
    store.commit([note(longest, custom_type=longest), spend(longest[:-1] + "y")])
    equal(ids_of(store.scan_entries(custom_type=longest)), [longest])
    for bad in ("", "\0", "a\0b", "\ud800", "a\udc00b", "x" * 256, "é" * 128, "😀" * 64):
        for write in (note(bad), spend(bad), note("n", custom_type=bad), say("n", bad)):
            with unchanged(store):
                refuses(InvalidAddressError, calling(lambda write: store.commit([write]), write))


@group.case
def ids_are_text(store: Storage) -> None:
    """Ids of another type are refused and named by what they are."""
    for bad in (1, b"x", None, ["a"]):
        entry = NewCustomEntry(bad, None, "note")  # type: ignore[arg-type]  # that is the test
        with unchanged(store):
            refuses(
                InvalidAddressError,
                calling(lambda entry: store.commit([insert_entry(entry)]), entry),
                type(bad).__name__,
            )


@group.case
def get_entries_keeps_the_order_asked_for(store: Storage) -> None:
    """Entries that exist come in the order asked for; ids that do not exist are left out."""
    store.commit([say(id) for id in ("a", "b", "c", "d")])
    equal(list(store.get_entries(["c", "nobody", "a", "d", ""])), ["c", "a", "d"])
    equal(list(store.get_entries(["b", "a", "b"])), ["b", "a"], "an id asked for twice")
    equal(store.get_entries([]), {}, "no ids")
    equal(store.get_entries(["\0", "\ud800", "x" * 3000]), {}, "ids that nothing can have")


@group.case
def a_usage_id_is_not_read_as_an_entry(store: Storage) -> None:
    """``get_entries`` gives entries only."""
    store.commit([spend("row"), say("entry")])
    equal(list(store.get_entries(["row", "entry"])), ["entry"])


@group.case
def any_number_of_ids_can_be_read(store: Storage) -> None:
    """``get_entries`` takes 40,000 ids."""
    count = 1200
    store.commit([note(f"e{index}", data=index) for index in range(count)])
    wanted = [f"e{index}" for index in range(39_999, -1, -1)]
    found = store.get_entries(wanted)
    equal(list(found), wanted[-count:], "the entries found among 40,000 ids")
    data = [entry.data for entry in found.values() if isinstance(entry, CustomEntry)]
    equal(data, list(range(count - 1, -1, -1)), "their payloads")


@group.case
def entries_are_given_as_new_objects(store: Storage) -> None:
    """What a reader does to an entry changes nothing for the next reader."""
    store.commit([insert_entry(NewMessageEntry("m", None, message(list=[1])))])
    first = _one(store, "m")
    assert isinstance(first, MessageEntry)
    first.message["list"].append(2)
    second = _one(store, "m")
    assert isinstance(second, MessageEntry)
    equal(second.message["list"], [1])


@group.case
def many_entries_in_one_transaction(store: Storage) -> None:
    """A transaction may hold hundreds of entries, each the parent of the next."""
    writes = [say("e0")] + [say(f"e{n}", f"e{n - 1}") for n in range(1, 1000)]
    result = store.commit(writes)
    equal(len(result.seqs), 1000)
    equal(ids_of(store.scan_branch("e999", order="oldest_first")), [f"e{n}" for n in range(1000)])
