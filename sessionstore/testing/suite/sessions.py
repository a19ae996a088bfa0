"""Sessions: names, labels, branches, closing, processes (repository.md section 1)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

from sessionstore.address import value, value_list
from sessionstore.builtin import branch_tip, entry_label, session_name
from sessionstore.entries import ABSENT, CustomEntry, MessageEntry
from sessionstore.errors import (
    BranchExistsError,
    InvalidBranchError,
    InvalidQueryError,
    InvalidValueError,
    RepositoryClosedError,
    SessionClosedError,
    SessionStoreError,
    UnknownBranchError,
    UnknownEntryError,
)
from sessionstore.scope import ephemeral_scope
from sessionstore.session import Session
from sessionstore.testing.cases import RepositoryFactory, RepositoryGroup, trying
from sessionstore.testing.checks import (
    NOTHING,
    calling,
    check,
    equal,
    identical_json,
    ids_of,
    refuses,
    unchanged,
    values_of,
)
from sessionstore.testing.material import figures, message, note, say, spend
from sessionstore.testing.threads import race
from sessionstore.usage import Usage
from sessionstore.writes import Write, append_list, set_value

group = RepositoryGroup("sessions")

_N = value("app", "n")
_LOG = value_list("app", "log")


@group.session_case()
def a_new_session_is_empty(session: Session) -> None:
    """A new session has no entry, no value, no cost, no name and no branch."""
    equal(session.find_entries(), [])
    equal(session.find_entry(), None)
    equal(session.scan_usage(), [])
    equal(session.get_stats().usage, Usage())
    equal((session.get_name(), session.branch("main"), session.get_label("e")), (None, None, None))
    equal(session.scan_values(value("pi.branch.tip")), [])


@group.session_case()
def the_name_wraps_its_value(session: Session) -> None:
    """``set_name`` and ``get_name`` wrap ``pi.session.name``; None deletes."""
    session.set_name("first")
    session.set_name("Grüße 👍")
    equal(session.get_name(), "Grüße 👍")
    equal(getattr(session.get_value(session_name), "value", None), "Grüße 👍")
    session.set_name("")
    equal(session.get_name(), "", "a name that is empty")
    session.set_name(None)
    session.set_name(None)
    equal((session.get_name(), session.get_value(session_name)), (None, None))
    wrong: Any = 5
    refuses(InvalidValueError, lambda: session.set_name(wrong))


@group.session_case()
def labels_wrap_their_values(session: Session) -> None:
    """``set_label`` and ``get_label`` wrap ``pi.entry.label/{id}``; None deletes."""
    session.commit([say("a"), say("b", "a")])
    session.set_label("a", "start")
    session.set_label("b", "")
    equal((session.get_label("a"), session.get_label("b")), ("start", ""))
    equal(getattr(session.get_value(entry_label("a")), "value", None), "start")
    session.set_label("a", None)
    equal((session.get_label("a"), session.get_value(entry_label("a"))), (None, None))
    with unchanged(session.storage):
        refuses(UnknownEntryError, lambda: session.set_label("nobody", "x"), "'nobody'")
    equal(session.get_label("nobody"), None)


@group.session_case()
def a_branch_is_its_tip(session: Session) -> None:
    """A branch exists exactly when the value ``pi.branch.tip/{name}`` exists, null included."""
    session.commit([say("a")])
    session.set_value(branch_tip("by-value"), "a")
    session.set_value(branch_tip("null"), None)
    by_value, null = session.branch("by-value"), session.branch("null")
    assert by_value is not None
    assert null is not None
    equal((by_value.name, by_value.tip_id()), ("by-value", "a"))
    equal((null.tip_id(), null.find_entries(), null.find_entry()), (None, NOTHING, None))
    session.delete_value(branch_tip("by-value"))
    equal(session.branch("by-value"), None)
    refuses(UnknownBranchError, by_value.tip_id, "'by-value'")
    refuses(UnknownBranchError, lambda: by_value.append_message(message()))
    refuses(UnknownBranchError, by_value.find_entries)


@group.session_case()
def create_branch_fails_on_what_exists(session: Session) -> None:
    """``create_branch`` fails if the branch exists or ``at`` is unknown, and changes nothing."""
    session.commit([say("a"), spend("row")])
    session.create_branch("main")
    session.create_branch("side", "a")
    equal([getattr(session.branch(name), "tip_id", str)() for name in ("main", "side")], [None, "a"])
    tip = branch_tip("main")
    for call, error in (
        (lambda: session.create_branch("main", "a"), BranchExistsError),
        (lambda: session.create_branch("side"), BranchExistsError),
        (lambda: session.create_branch("new", "nobody"), UnknownEntryError),
        (lambda: session.create_branch("new", "row"), UnknownEntryError),
    ):
        with unchanged(session.storage, tip, branch_tip("side")):
            refuses(error, call)
    equal(session.branch("new"), None)


@group.session_case()
def branch_names_are_free_text(session: Session) -> None:
    """Names are non-empty, without U+0000; whatever else they hold, they are different."""
    names = ["main", "Main", "main ", "a/b", "../x", "100%", "_", "é", "e\u0301", "👍", "x" * 1024]
    session.commit([say(f"e{n}") for n in range(len(names))])
    for n, name in enumerate(names):
        session.create_branch(name, f"e{n}")
    for n, name in enumerate(names):
        branch = session.branch(name)
        assert branch is not None
        equal((branch.name, branch.tip_id()), (name, f"e{n}"))
    bad: list[Any] = ["", "\0", "a\0b", "\ud800", "x" * 1025, 5, None]
    for name in bad:
        refuses(InvalidBranchError, calling(session.create_branch, name))
        refuses(InvalidBranchError, calling(session.branch, name))


@group.session_case()
def appending_moves_the_tip(session: Session) -> None:
    """Appending inserts the entry under the tip and moves the tip, in one transaction."""
    branch = session.create_branch("main")
    first = branch.append_message(message("one"))
    second = branch.append_custom_entry("app.note", {"n": None})
    third = branch.append_custom_entry("app.note")
    fourth = branch.append_message(message("four", role="assistant"), usage=figures(4, 0.5))
    equal(branch.tip_id(), fourth)
    entries = branch.find_entries(order="oldest_first")
    equal([(e.id, e.parent_id) for e in entries], [
        (first, None), (second, first), (third, second), (fourth, third),
    ])  # fmt: skip
    check(isinstance(entries[0], MessageEntry), "a message should have been appended")
    data = [entry.data for entry in entries if isinstance(entry, CustomEntry)]
    identical_json(data[0], {"n": None}, "data")
    check(data[1] is ABSENT, "data that was not given should be ABSENT")
    rows = session.scan_usage()
    equal([(row.entry_id, row.usage.input, row.adjustment) for row in rows], [(fourth, 4, False)])
    stored = session.get_value(branch_tip("main"))
    assert stored is not None
    check(abs(stored.seq - entries[3].seq) <= 2, "entry, tip and usage should be one transaction")


@group.session_case()
def a_refused_append_leaves_the_tip(session: Session) -> None:
    """An append that fails inserts nothing, moves nothing, costs nothing."""
    branch = session.create_branch("main")
    branch.append_message(message())
    with unchanged(session.storage, branch_tip("main")):
        refuses(
            InvalidValueError,
            lambda: branch.append_message(message(role="assistant", stopReason="pending"), usage=figures(1)),
        )
        refuses(InvalidValueError, lambda: branch.append_message(message(), usage={"input": 1}))
        refuses(InvalidValueError, lambda: branch.append_custom_entry("note", float("nan")))
        refuses(ValueError, lambda: branch.append_custom_entry(""))


@group.session_case()
def branches_share_the_tree(session: Session) -> None:
    """Branches at one entry grow apart; each finds its own path."""
    main = session.create_branch("main")
    trunk = [main.append_custom_entry("t") for _ in range(3)]
    side = session.create_branch("side", trunk[1])
    left, right = main.append_custom_entry("l"), side.append_custom_entry("r")
    equal(ids_of(main.find_entries()), [left, *trunk[::-1]])
    equal(ids_of(side.find_entries()), [right, trunk[1], trunk[0]])
    equal(ids_of(side.find_entries(order="asc", limit=2)), trunk[:2])
    equal(ids_of(side.find_entries(custom_type="r")), [right])
    equal(ids_of(side.find_entries(stop_at_id=trunk[1])), [right, trunk[1]])
    found = side.find_entry(custom_type="t")
    equal(None if found is None else found.id, trunk[1])
    equal(side.find_entry(type="message"), None)


@group.session_case()
def appends_from_threads_make_one_chain(session: Session) -> None:
    """Appends of many threads to one branch make one chain that loses nothing."""
    branch = session.create_branch("main")
    workers = race([lambda: [branch.append_custom_entry("n") for _ in range(10)] for _ in range(4)])
    appended = {id for worker in workers for id in worker.result()}
    chain = branch.find_entries(order="asc")
    equal(set(ids_of(chain)), appended)
    equal([entry.parent_id for entry in chain], [None, *ids_of(chain)[:-1]])


@group.session_case()
def find_entries_is_newest_first(session: Session) -> None:
    """``find_entries``: the whole session, newest first by default, with an exclusive cursor."""
    session.commit([say("a"), note("b", "a", "x"), note("c", "a", "y"), say("d")])
    seq = {entry.id: entry.seq for entry in session.find_entries()}
    equal(ids_of(session.find_entries()), ["d", "c", "b", "a"])
    equal(ids_of(session.find_entries(order="asc")), ["a", "b", "c", "d"])
    equal(ids_of(session.find_entries(type="custom")), ["c", "b"])
    equal(ids_of(session.find_entries(custom_type="x")), ["b"])
    equal(ids_of(session.find_entries(limit=2)), ["d", "c"])
    equal(session.find_entries(limit=0), [])
    equal(ids_of(session.find_entries(cursor=seq["c"])), ["b", "a"])
    equal(ids_of(session.find_entries(cursor=seq["b"], order="asc", limit=1)), ["c"])
    equal(ids_of(session.find_entries(cursor=0)), [])
    equal(ids_of(session.find_entries(cursor=2**70)), ["d", "c", "b", "a"])
    found = session.find_entry(type="message", cursor=seq["d"])
    equal(None if found is None else found.id, "a")
    bad: list[dict[str, Any]] = [
        {"limit": -1},
        {"limit": True},
        {"cursor": "x"},
        {"order": "up"},
        {"type": "x"},
    ]
    for options in bad:
        refuses(InvalidQueryError, calling(lambda options: session.find_entries(**options), options))


@group.session_case()
def the_convenience_writers_write(session: Session) -> None:
    """set_value, delete_value, append_list, delete_list, retire_scope: one mutation each."""
    scope = ephemeral_scope("op")
    scoped, scoped_list = value("app", "n", scope=scope), value_list("app", "log", scope=scope)
    numbers = [
        session.set_value(_N, 1),
        session.set_value(scoped, 2),
        session.append_list(_LOG, "a", tag="t"),
        session.append_list(scoped_list, "b"),
    ]
    equal([len(result.seqs) for result in numbers], [1, 1, 1, 1])
    equal([getattr(session.get_value(place), "value", None) for place in (_N, scoped)], [1, 2])
    equal([element.tag for element in session.read_list(_LOG)], ["t"])
    session.retire_scope(scope)
    equal((session.get_value(scoped), session.read_list(scoped_list)), (None, NOTHING))
    session.delete_value(_N)
    session.delete_list(_LOG)
    equal((session.get_value(_N), session.read_list(_LOG)), (None, NOTHING))


@group.case()
def a_session_is_a_context_manager(factory: RepositoryFactory) -> None:
    """Leaving the block of a session closes it, after an error too; its data stays."""
    with trying(factory.open()) as repo:
        session = repo.create()
        try:
            with session:
                session.set_value(_N, 1)
                raise LookupError("from the block")
        except LookupError as error:
            check("from the block" in str(error), "the error of the block should come through")
        refuses(SessionClosedError, lambda: session.get_value(_N))
        with trying(repo.open(session.metadata)) as again:
            equal(getattr(again.get_value(_N), "value", None), 1)


@group.case()
def a_closed_session_refuses_everything(factory: RepositoryFactory) -> None:
    """Close is idempotent; later calls fail with ``SessionClosedError``."""
    with trying(factory.open()) as repo:
        session = repo.create()
        session.commit([say("e")])
        branch = session.create_branch("main", "e")
        session.close()
        session.close()
        nothing: list[Write[Any]] = []
        calls: list[Callable[[], object]] = [
            lambda: session.get_value(_N),
            lambda: session.scan_values(_N),
            lambda: session.read_list(_LOG),
            lambda: session.get_entry("e"),
            lambda: session.get_entries(["e"]),
            session.find_entries,
            session.find_entry,
            lambda: session.scan_branch("e"),
            session.get_stats,
            session.scan_usage,
            lambda: session.commit([set_value(_N, 1)]),
            lambda: session.commit(nothing),
            lambda: session.storage.commit([set_value(_N, 1)]),
            lambda: session.storage.get_value(_N),
            session.begin_mutation,
            lambda: session.mutate(lambda mutation: None),
            lambda: session.set_value(_N, 1),
            lambda: session.append_list(_LOG, 1),
            lambda: session.retire_scope(ephemeral_scope("op")),
            session.get_name,
            lambda: session.set_name("x"),
            lambda: session.get_label("e"),
            lambda: session.set_label("e", "x"),
            lambda: session.branch("main"),
            lambda: session.create_branch("new"),
            branch.tip_id,
            branch.find_entries,
            lambda: branch.append_message(message()),
        ]
        for call in calls:
            refuses(SessionClosedError, call)
        check(isinstance(session.metadata.id, str), "the metadata of a closed session should be readable")


@group.case()
def closing_retires_nothing(factory: RepositoryFactory) -> None:
    """Closing a session never retires a scope."""
    scope = ephemeral_scope("op")
    with trying(factory.open()) as repo:
        with trying(repo.create()) as session:
            session.set_value(value("app", scope=scope), "live")
            session.append_list(value_list("app", scope=scope), "frame")
        with trying(repo.open(session.metadata)) as again:
            equal(getattr(again.get_value(value("app", scope=scope)), "value", None), "live")
            equal(values_of(again.read_list(value_list("app", scope=scope))), ["frame"])


@group.case()
def a_mutation_does_not_outlive_its_session(factory: RepositoryFactory) -> None:
    """A mutation that ended with its session refuses, whatever is asked of it."""
    with trying(factory.open()) as repo:
        session = repo.create()
        with session.begin_mutation() as mutation:
            mutation.commit([set_value(_N, 1)])
        session.close()
        refuses(SessionStoreError, lambda: mutation.get_value(_N))
        refuses(SessionStoreError, lambda: mutation.commit([set_value(_N, 1)]))


@group.case()
def two_sessions_do_not_mix(factory: RepositoryFactory) -> None:
    """Two sessions with the same ids, addresses and scopes share nothing."""
    scope = ephemeral_scope("op")
    scoped = value("app", "n", scope=scope)
    with trying(factory.open()) as repo, trying(repo.create()) as one, trying(repo.create()) as two:
        for n, session in enumerate((one, two)):
            session.commit([say("e", text=str(n)), set_value(_N, n), append_list(_LOG, n), spend("u", n)])
            session.set_value(scoped, n)
            session.create_branch("main", "e")
        one.retire_scope(scope)
        one.delete_list(_LOG)
        one.delete_value(_N)
        equal(getattr(two.get_value(scoped), "value", None), 1)
        equal(values_of(two.read_list(_LOG)), [1])
        equal(getattr(two.get_value(_N), "value", None), 1)
        entry = two.get_entry("e")
        equal(getattr(entry, "message", {}).get("content"), "1")
        equal([session.get_stats().usage.input for session in (one, two)], [0, 1])
        equal((one.get_value(scoped), one.read_list(_LOG), one.get_value(_N)), (None, NOTHING, None))


@group.case("fork")
def a_forked_child_may_not_use_the_handle(factory: RepositoryFactory) -> None:
    """In a child made by ``os.fork()`` an inherited handle raises; the parent's stays whole."""
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        session.set_value(_N, 1)
        calls: list[tuple[type[Exception], Callable[[], object]]] = [
            (SessionClosedError, lambda: session.get_value(_N)),
            (SessionClosedError, lambda: session.set_value(_N, 2)),
            (SessionClosedError, session.begin_mutation),
            (SessionClosedError, lambda: session.storage.commit([set_value(_N, 3)])),
            (SessionClosedError, lambda: session.storage.read_list(_LOG)),
            (SessionClosedError, session.close),
            (SessionClosedError, session.storage.close),
            (RepositoryClosedError, repo.list),
            (RepositoryClosedError, repo.create),
            (RepositoryClosedError, lambda: repo.open(session.metadata)),
            (RepositoryClosedError, repo.close),
        ]
        for _ in range(2):
            equal(_outcomes_in_child(calls), "ok", "what happened in the child")
            session.append_list(_LOG, "parent")
            equal(getattr(session.get_value(_N), "value", None), 1, "the value that the parent reads")
        equal(values_of(session.read_list(_LOG)), ["parent", "parent"])


def _outcomes_in_child(calls: list[tuple[type[Exception], Callable[[], object]]]) -> str:
    """Run ``calls`` in a forked child; "ok", or what the first wrong one did."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Newer Pythons warn of forks beside threads. The child does next to nothing, and leaves.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        report = "the child failed"
        try:
            report = next(filter(None, (_wrong(error, call) for error, call in calls)), "ok")
        finally:
            os.write(writing, report.encode()[:4000])
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        report = pipe.read()
    os.waitpid(child, 0)
    return report


def _wrong(error: type[Exception], call: Callable[[], object]) -> str | None:
    try:
        refuses(error, call)
    except AssertionError as failure:
        return str(failure)
    return None
