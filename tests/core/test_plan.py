"""Folding a transaction: what is left by table is what the writes would leave one after the other."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionstore.address import Place, value, value_list
from sessionstore.entries import (
    ABSENT,
    NewBranchSummaryEntry,
    NewCompactionEntry,
    NewCustomEntry,
    NewMessageEntry,
    NewUsageRow,
)
from sessionstore.errors import (
    DuplicateIdError,
    InvalidAddressError,
    InvalidScopeError,
    InvalidValueError,
    MixedScopeError,
)
from sessionstore.memory.state import SessionState
from sessionstore.plan import CommitPlan, ListDeletion, Retirement, ValueDeletion, plan_commit
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.scope import SESSION_SCOPE, ephemeral_scope
from sessionstore.testing.material import figures, message, note, say, spend
from sessionstore.usage import Usage, UsageCost
from sessionstore.writes import (
    AppendList,
    DeleteList,
    DeleteValue,
    RetireScope,
    SetValue,
    Write,
    append_list,
    delete_list,
    delete_value,
    insert_entry,
    insert_usage,
    retire_scope,
    set_value,
)

SCOPES = [None, ephemeral_scope("op"), ephemeral_scope("other")]
KEYS = ["", "a", "b"]


def plan(*writes: Write[Any]) -> CommitPlan:
    return plan_commit(list(writes))


# -- the fold against a model that knows no fold ---------------------------------------------


def writes_in(scope: Any) -> st.SearchStrategy[Write[Any]]:
    keys = st.sampled_from(KEYS)
    values = [keys.map(lambda key: value("n", key, scope=scope)), st.integers(0, 9)]
    lists = keys.map(lambda key: value_list("n", key, scope=scope))
    kinds = [
        st.builds(set_value, *values),
        values[0].map(delete_value),
        st.builds(append_list, lists, st.integers(0, 9), st.none() | st.just("t")),
        lists.map(delete_list),
    ]
    if scope is None:
        kinds.append(st.sampled_from(SCOPES[1:]).map(retire_scope))
    return st.one_of(kinds)


transactions = st.sampled_from(SCOPES).flatmap(lambda scope: st.lists(writes_in(scope), max_size=12))
Seen = tuple[dict[Any, Any], dict[Any, Any]]


def one_after_the_other(writes: Sequence[Write[Any]], seen: Seen, first_seq: int) -> None:
    """What the contract says, write by write, in plain dicts."""
    values, lists = seen
    for seq, write in enumerate(writes, first_seq):
        match write:
            case SetValue(address=address, value=given_):
                values[address.place] = (seq, given_)
            case DeleteValue(address=address):
                values.pop(address.place, None)
            case AppendList(address=address, element=element, tag=tag):
                lists.setdefault(address.place, []).append((seq, element, tag))
            case DeleteList(address=address):
                lists.pop(address.place, None)
            case RetireScope(retired=scope):
                for table in (values, lists):
                    for place in [place for place in table if place.scope_id == scope.id]:
                        del table[place]


def seen_in(state: SessionState) -> Seen:
    return (
        {place: (record.seq, int(record.value)) for place, record in state.values.items()},
        {
            place: [(element.seq, int(element.value), element.tag) for element in elements]
            for place, elements in state.lists.items()
        },
    )


@given(st.lists(transactions, max_size=5))
def test_the_net_plan_is_the_steps_one_after_the_other(history: list[list[Write[Any]]]) -> None:
    folded = SessionState()
    expected: Seen = ({}, {})
    for writes in history:
        first_seq = folded.next_seq
        one_after_the_other(writes, expected, first_seq)
        if writes:
            folded.apply(plan_commit(writes).numbered(first_seq, 5))
        assert folded.next_seq == first_seq + len(writes)
        assert seen_in(folded) == expected


@given(transactions)
def test_a_plan_is_the_sum_of_the_plans_of_its_writes(writes: list[Write[Any]]) -> None:
    together, singly = SessionState(), SessionState()
    if writes:
        together.apply(plan_commit(writes).numbered(1, 0))
    for seq, write in enumerate(writes, 1):
        singly.apply(plan_commit([write]).numbered(seq, 0))
    assert seen_in(together) == seen_in(singly)


@given(transactions, st.integers(1, 2**40))
def test_steps_are_every_write_in_order(writes: list[Write[Any]], first_seq: int) -> None:
    made = plan_commit(writes)
    numbered = made.numbered(first_seq, 77)
    assert made.count == len(writes)
    assert numbered.seqs(first_seq) == tuple(step.seq for step in numbered.steps)
    assert [step.seq for step in made.steps] == list(range(len(writes)))
    kinds = {SetValue: ValueRecord, DeleteValue: ValueDeletion, AppendList: ElementRecord}
    kinds |= {DeleteList: ListDeletion, RetireScope: Retirement}
    assert [type(step) for step in numbered.steps] == [kinds[type(write)] for write in writes]
    for part in (numbered.value_sets, numbered.appends):
        assert all(record in numbered.steps for record in part)
    assert [record.seq for record in numbered.appends] == sorted(record.seq for record in numbered.appends)


# -- what a plan tells -----------------------------------------------------------------------


def test_an_empty_plan() -> None:
    empty = plan()
    assert (empty.count, empty.scope_id, empty.seqs(7)) == (0, "", ())
    assert empty.numbered(7, 0) == empty


def test_the_parts_of_a_mixed_transaction() -> None:
    made = plan(
        say("a", "old"),
        spend("u", 1, 0.5),
        set_value(value("n", "x"), 1),
        set_value(value("n", "x"), 2),
        delete_value(value("n", "y")),
        append_list(value_list("n"), "lost"),
        delete_list(value_list("n")),
        append_list(value_list("n"), "kept"),
        note("b", "a"),
        retire_scope(ephemeral_scope("op")),
        retire_scope(ephemeral_scope("op")),
    ).numbered(100, 5)
    assert [entry.seq for entry in made.entries] == [100, 108]
    assert {entry.timestamp for entry in made.entries} == {5}
    assert [row.seq for row in made.usage_rows] == [101]
    assert made.usages == [Usage(input=1, total_tokens=1, cost=UsageCost(input=0.5, total=0.5))]
    assert [(record.seq, record.value) for record in made.value_sets] == [(103, "2")]
    assert made.value_deletes == [Place("", "n", "y")]
    assert made.list_deletes == [Place("", "n", "")]
    assert [(record.seq, record.value) for record in made.appends] == [(107, '"kept"')]
    assert made.retired == ["op"]
    assert (made.new_ids, made.outside_parents, made.message_count) == (["a", "u", "b"], ["old"], 1)
    assert made.count == 11


def test_parents_from_outside() -> None:
    assert plan(say("a"), say("b", "a"), say("c", "x"), say("d", "x")).outside_parents == ["x"]
    assert plan(say("a", "later"), say("later")).outside_parents == ["later"]
    assert plan(say("a", "a")).outside_parents == ["a"]
    assert plan(spend("u"), say("a", "u")).outside_parents == ["u"], "a usage row is no parent"


@pytest.mark.parametrize(
    "writes",
    [[say("a"), say("a")], [say("a"), spend("a")], [spend("a"), say("a")], [spend("a"), spend("a")]],
    ids=range(4),
)
def test_an_id_twice_in_one_transaction(writes: list[Write[Any]]) -> None:
    with pytest.raises(DuplicateIdError, match="'a'"):
        plan_commit(writes)


SESSION = [
    set_value(value("n"), 1),
    delete_value(value("n")),
    append_list(value_list("n"), 1),
    delete_list(value_list("n")),
    say("a"),
    spend("u"),
    retire_scope(ephemeral_scope("op")),
]
SCOPED = [
    set_value(value("n", scope=SCOPES[1]), 1),
    delete_value(value("n", scope=SCOPES[1])),
    append_list(value_list("n", scope=SCOPES[1]), 1),
    delete_list(value_list("n", scope=SCOPES[1])),
]


@pytest.mark.parametrize("one", SESSION, ids=range(7))
@pytest.mark.parametrize("other", SCOPED, ids=range(4))
def test_one_scope_each(one: Write[Any], other: Write[Any]) -> None:
    elsewhere = set_value(value("n", scope=SCOPES[2]), 1)
    for writes in ([one, other], [other, one], [other, elsewhere], [elsewhere, one]):
        with pytest.raises(MixedScopeError, match=r"'op'|'other'"):
            plan_commit(writes)
    assert plan_commit(SCOPED).scope_id == "op"


def test_what_is_no_write() -> None:
    wrong: list[Any] = [None, "write", ("set", 1), object(), Write(SESSION_SCOPE)]
    for given_ in wrong:
        with pytest.raises(InvalidValueError, match="commit takes writes"):
            plan_commit([given_])
    address: Any = value_list("n")
    with pytest.raises(InvalidAddressError, match="SetValue takes a Value"):
        plan(set_value(address, 1))
    other: Any = value("n")
    with pytest.raises(InvalidAddressError, match="AppendList takes a ValueList"):
        plan(append_list(other, 1))
    for scope in (SESSION_SCOPE, "op", None):
        given_ = scope
        with pytest.raises(InvalidScopeError, match="retire_scope"):
            plan(retire_scope(given_))
    with pytest.raises(InvalidValueError, match="new entry"):
        plan(insert_entry(wrong[1]))
    with pytest.raises(InvalidValueError, match="NewUsageRow"):
        plan(insert_usage(wrong[1]))


# -- captured payloads -----------------------------------------------------------------------


def payload_of(entry: Any) -> str:
    record = plan(insert_entry(entry)).entries[0]
    assert isinstance(record, EntryRecord)
    return record.payload


@pytest.mark.parametrize(
    ("entry", "payload"),
    [
        (NewMessageEntry("e", None, {"role": "user", "x": 1}), '{"message":{"role":"user","x":1}}'),
        (NewMessageEntry("e", None, {"role": "user"}, True), '{"message":{"role":"user"},"terminate":true}'),
        (NewMessageEntry("e", None, {"role": "user"}, False), '{"message":{"role":"user"}}'),
        (NewCustomEntry("e", None, "t"), "{}"),
        (NewCustomEntry("e", None, "t", None), '{"data":null}'),
        (NewCustomEntry("e", None, "t", ABSENT), "{}"),
        (
            NewCompactionEntry("e", None, "s", [], 5, True),
            '{"summary":"s","retainedTail":[],"tokensBefore":5,"fromHook":true}',
        ),
        (
            NewBranchSummaryEntry("e", None, None, "s", False, details=[1]),
            '{"fromId":null,"summary":"s","details":[1],"fromHook":false}',
        ),
    ],
    ids=range(8),
)
def test_a_payload_is_one_object_in_json_names(entry: Any, payload: str) -> None:
    assert payload_of(entry) == payload


def test_usage_of_an_entry_is_in_its_payload_and_not_in_the_ledger() -> None:
    made = plan(insert_entry(NewCompactionEntry("e", None, "s", [], 5, True, usage=figures(7))))
    assert '"usage":{"input":7,' in made.entries[0].payload
    assert (made.usage_rows, made.usages) == ([], [])


def test_a_row_keeps_its_spelling_and_its_details() -> None:
    row = plan(insert_usage(NewUsageRow("u", figures(1, extra=[1]), True, "e", None))).usage_rows[0]
    assert isinstance(row, UsageRecord)
    assert (row.entry_id, row.adjustment, row.details) == ("e", True, "null")
    assert row.usage.endswith(',"extra":[1]}')
    assert plan(insert_usage(NewUsageRow("u", Usage()))).usage_rows[0].details is None


def test_a_message_is_checked() -> None:
    for given_ in ({}, {"role": 1}, [], None, message(role="assistant", stopReason="pending")):
        wrong: Any = given_
        with pytest.raises(InvalidValueError, match="entry 'e'"):
            payload_of(NewMessageEntry("e", None, wrong))


@pytest.mark.parametrize("place", [0, 1, 40])
def test_one_of_many_messages_is_captured_as_it_would_be_alone(place: int) -> None:
    odd = NewMessageEntry("odd", None, OrderedDict(role="user", content=("half \ud800", 2**70)), True)
    many: list[Write[Any]] = [insert_entry(NewMessageEntry(f"e{n}", None, message(n=n))) for n in range(41)]
    many[place] = insert_entry(odd)
    found = plan_commit(many)
    assert [record.payload for record in found.entries] == [plan(write).entries[0].payload for write in many]
    assert '"terminate":true' in found.entries[place].payload

    for wrong in (message(n=float("nan")), message(n={1}), message(n={1: 2}), {"role": 1}, None):
        bad: Any = wrong
        many[place] = insert_entry(NewMessageEntry("odd", None, bad))
        with pytest.raises(InvalidValueError, match="entry 'odd'"):
            plan_commit(many)


def test_a_write_of_a_class_of_the_callers_own_is_what_its_base_is() -> None:
    class Mine(SetValue[Any], frozen=True):
        """A value that is set for a reason."""

    plain = set_value(value("app", "n"), 1)
    mine = Mine(plain.scope, plain.address, plain.value)
    assert plan_commit([mine]) == plan_commit([plain])
