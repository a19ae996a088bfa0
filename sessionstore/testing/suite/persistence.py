"""What is there when a container is opened again (model.md sections 3 and 4, repository.md)."""

from __future__ import annotations

from typing import Any

from sessionstore.address import Value, ValueList, value, value_list
from sessionstore.entries import NewCompactionEntry, NewMessageEntry, NewUsageRow
from sessionstore.scope import ephemeral_scope
from sessionstore.session import Session
from sessionstore.testing.cases import RepositoryFactory, RepositoryGroup, trying
from sessionstore.testing.checks import NOTHING, check, equal, identical_json, ids_of, picture, values_of
from sessionstore.testing.material import figures, nested, note, say, spend
from sessionstore.testing.suite.texts import SIMILAR
from sessionstore.writes import (
    Write,
    append_list,
    delete_list,
    delete_value,
    insert_entry,
    insert_usage,
    retire_scope,
    set_value,
)

group = RepositoryGroup("persistence")

_SCOPE = ephemeral_scope("op/1 é")
_PLACES: tuple[Value[Any, Any] | ValueList[Any, Any], ...] = (
    value("app", "k"),
    value("app", "gone"),
    value("app", "k", scope=_SCOPE),
    value("app", "k", scope=ephemeral_scope("other")),
    value_list("app", "l"),
    value_list("app", "gone"),
    value_list("app", "l", scope=_SCOPE),
    value_list("app", "l", scope=ephemeral_scope("other")),
)


def _history(session: Session) -> None:
    """A bit of everything."""
    session.commit(
        [
            say("a"),
            insert_entry(NewMessageEntry("b", "a", {"role": "assistant", "x": [None, 2**70, -0.0]}, True)),
            insert_entry(NewCompactionEntry("c", "b", "s", [{"role": "user"}], 5, True, details={})),
            note("d", "a", "app.n", data=None),
            insert_usage(NewUsageRow("u1", figures(1, 0.1, reasoning=0), True, "b", ["why"])),
            spend("u2", 2, 0.2),
        ]
    )
    session.commit([set_value(value("app", "k"), {"z": 1, "a": [1.0]}), set_value(value("app", "gone"), 1)])
    session.commit([append_list(value_list("app", "l"), n, "mark" if n == 1 else None) for n in range(4)])
    session.commit([append_list(value_list("app", "gone"), 1), delete_value(value("app", "gone"))])
    session.commit([delete_list(value_list("app", "gone"))])
    for scope in (_SCOPE, ephemeral_scope("other")):
        session.commit([set_value(value("app", "k", scope=scope), "old")])
        session.commit([append_list(value_list("app", "l", scope=scope), "old", "mark")])
    session.retire_scope(_SCOPE)
    session.commit([append_list(value_list("app", "l", scope=_SCOPE), "new")])
    session.create_branch("main", "c")
    session.set_name("the name")
    session.set_label("d", "the label")
    session.commit([spend("u3", 4, 0.3)])


@group.case("persistent")
def everything_is_there_again(factory: RepositoryFactory) -> None:
    """Entries, values, lists, tags, scopes, ledger, statistics, branches: the same after reopening."""
    with trying(factory.open()) as repo:
        with trying(repo.create(cwd="/x y", parent_session_id="parent")) as session:
            _history(session)
            before = _everything(session)
        stored = repo.get(session.metadata.id)
    with trying(factory.open()) as repo:
        equal(repo.get(stored.id), stored, "metadata")
        with trying(repo.open(stored)) as session:
            for now, was in zip(_everything(session), before, strict=True):
                equal(now, was, "what was read before")
            equal(session.get_stats().usage.cost.total, 0.1 + 0.2 + 0.3, "the cost")
            equal(values_of(session.read_list(value_list("app", "l", scope=_SCOPE))), ["new"])
            equal(session.get_value(value("app", "k", scope=_SCOPE)), None)


def _everything(session: Session) -> list[object]:
    branch = session.branch("main")
    assert branch is not None
    return [
        *picture(session.storage, *_PLACES),
        branch.find_entries(),
        session.get_name(),
        session.get_label("d"),
        session.read_list(value_list("app", "l"), stop_at_tag="mark", order="desc"),
        session.scan_values(value("app")),
        session.storage.next_seq(),
    ]


@group.case("persistent")
def numbers_go_on_after_reopening(factory: RepositoryFactory) -> None:
    """No number is used twice, not after a reopen, whatever the last writes were."""
    scoped = value_list("app", scope=_SCOPE)
    last_writes: list[list[Write[Any]]] = [
        [note("e")],
        [set_value(value("app"), 1)],
        [delete_value(value("app", "absent"))],
        [append_list(value_list("app"), 1)],
        [delete_list(value_list("app", "absent"))],
        [spend("u")],
        [append_list(scoped, 1), append_list(scoped, 2)],
        [retire_scope(_SCOPE)],
        [retire_scope(ephemeral_scope("nothing"))],
        [append_list(scoped, 3)],
        [delete_list(scoped)],
    ]
    with trying(factory.open()) as repo:
        metadata = repo.create().metadata
    last = 0
    for writes in last_writes:
        with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
            check(session.storage.next_seq() > last, f"the next number should be beyond {last}")
            result = session.storage.commit(writes)
            check(result.first_seq > last, f"{result.first_seq} should be beyond {last}")
            last = result.seqs[-1]


@group.case("persistent")
def closing_the_repository_keeps_scopes(factory: RepositoryFactory) -> None:
    """Only a committed retirement ends a scope: close keeps it, and reopening finds no other."""
    scopes = [ephemeral_scope(f"op {text}") for text in SIMILAR]
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        metadata = session.metadata
        for n, scope in enumerate(scopes):
            session.append_list(value_list("app", scope=scope), n)
        session.retire_scope(scopes[0])
    with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
        found = [values_of(session.read_list(value_list("app", scope=scope))) for scope in scopes]
        equal(found, [NOTHING] + [[n] for n in range(1, len(scopes))])
        session.append_list(value_list("app", scope=scopes[0]), "again")
        session.commit([retire_scope(scope) for scope in scopes[1::2]])
    with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
        found = [values_of(session.read_list(value_list("app", scope=scope))) for scope in scopes]
        equal(found, [["again"], *([] if n % 2 else [n] for n in range(1, len(scopes)))])


@group.case("persistent")
def a_lifetime_after_retirement_survives_alone(factory: RepositoryFactory) -> None:
    """Of a scope that was retired and written again only the new lifetime is there after reopening."""
    place, log = value("app", "v", scope=_SCOPE), value_list("app", "l", scope=_SCOPE)
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        metadata = session.metadata
        session.commit([set_value(place, "S10"), append_list(log, "S20")])
        session.retire_scope(_SCOPE)
        session.commit([append_list(log, "S40")])
    for _ in range(2):
        with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
            equal((session.get_value(place), values_of(session.read_list(log))), (None, ["S40"]))
    with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
        session.retire_scope(_SCOPE)
    with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
        equal((session.get_value(place), session.read_list(log)), (None, NOTHING))


@group.case("persistent")
def awkward_json_survives_reopening(factory: RepositoryFactory) -> None:
    """Big integers, -0.0, lone surrogates, U+0000, key order, 512 levels and megabytes survive."""
    given: list[Any] = [
        [2**53 + 1, 2**64, 2**70, 10**4299, -0.0, 1e308, 5e-324, 1e-5, 1.0],
        ["\0", "\ud800", "a\udfffb", "\u2028\u2029\x85\ufeff", "\\u0000", "\r\n", "😀"],
        {"z": 1, "a": 2, "": 3, "10": 4, "9": 5, "\0": 6, "\ud83d": 7},
        nested(512),
        "é\ud800\0" * 50_000,
    ]
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        metadata = session.metadata
        for n, one in enumerate(given):
            session.commit([set_value(value("app", str(n)), one), append_list(value_list("app"), one)])
            session.set_value(value("app", str(n), scope=_SCOPE), one)
            if n != 3:
                session.commit([note(f"e{n}", data=one)])
    with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
        elements = values_of(session.read_list(value_list("app")))
        for n, one in enumerate(given):
            for scope in (None, _SCOPE):
                stored = session.get_value(value("app", str(n), scope=scope))
                identical_json(getattr(stored, "value", None), one, "value")
            identical_json(elements[n], one, "element")
            if n != 3:
                entry = session.get_entry(f"e{n}")
                identical_json(getattr(entry, "data", None), one, "data")


@group.case("persistent")
def refused_writes_leave_nothing_on_disk(factory: RepositoryFactory) -> None:
    """A refused write in the middle of a mixed commit leaves nothing that a reopen could find."""
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        metadata = session.metadata
        session.commit([say("root"), set_value(value("app"), "old")])
        for bad in (say("root"), say("x", "nobody"), set_value(value("app", "nan"), float("nan"))):
            try:
                session.commit([say("new"), set_value(value("app"), "new"), retire_scope(_SCOPE), bad])
            except (ValueError, LookupError):
                continue
            raise AssertionError("a bad write should have been refused")
    with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
        equal(ids_of(session.find_entries()), ["root"])
        equal(values_of(session.scan_values(value("app"))), ["old"])
        session.commit([say("new", "root")])


@group.case("persistent")
def many_reopenings_change_nothing(factory: RepositoryFactory) -> None:
    """Opening and closing without writing leaves the session as it was."""
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        metadata = session.metadata
        _history(session)
        before = _everything(session)
    for _ in range(3):
        with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
            equal(_everything(session), before)


@group.case("persistent")
def deletion_is_for_good(factory: RepositoryFactory) -> None:
    """A deleted session is not there when the container is opened again."""
    with trying(factory.open()) as repo:
        with trying(repo.create(cwd="/deleted")) as session:
            _history(session)
        with trying(repo.create(cwd="/kept")) as kept:
            _history(kept)
        repo.delete(session.metadata)
    with trying(factory.open()) as repo:
        equal(repo.list(cwd="/deleted"), [])
        with trying(repo.open(kept.metadata)) as again:
            equal(len(again.find_entries()), 4)


@group.case("persistent")
def the_clock_may_go_back_and_stand_still_over_reopenings(factory: RepositoryFactory) -> None:
    """What was written by a clock that was later ahead is read and numbered on as by any other."""
    clock, start = factory.clock, factory.clock.now
    log = value_list("app", "l")
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        metadata = session.metadata
    times: list[int] = []
    last = 0
    try:
        for n, step in enumerate((0, -3_600_000, 0, -3_600_000, 7_200_000, 0)):
            clock.now += step
            times.append(clock.now)
            with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
                result = session.commit([say(f"e{n}", f"e{n - 1}" if n else None), append_list(log, n)])
                equal(result.timestamp, clock.now)
                check(result.first_seq > last, "numbers should go on increasing")
                last = result.seqs[-1]
        with trying(factory.open()) as repo, trying(repo.open(metadata)) as session:
            equal([entry.timestamp for entry in session.find_entries()], times[::-1])
            equal(ids_of(session.find_entries()), [f"e{n}" for n in range(6)][::-1])
            equal(values_of(session.read_list(log)), list(range(6)))
            equal(repo.check_session(metadata), [])
    finally:
        clock.now = start
