"""The wrappers of sessionstore.testing: they change nothing, record everything, stop where told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sessionstore.address import value, value_list
from sessionstore.entries import NewMessageEntry
from sessionstore.errors import DuplicateIdError, InvalidValueError, MutationError
from sessionstore.memory import MemorySessionRepo
from sessionstore.plan import ListDeletion, Retirement, ValueDeletion
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.scope import ephemeral_scope
from sessionstore.session import Session
from sessionstore.storage import Storage
from sessionstore.testing import (
    Case,
    GatedStorage,
    InstrumentedStorage,
    RepositoryStorages,
    StorageWrapper,
    UrlRepositories,
    Worker,
    session_over,
    storage_conformance,
)
from sessionstore.testing.gated import POINTS
from sessionstore.testing.material import say, spend
from sessionstore.testing.threads import race
from sessionstore.writes import (
    append_list,
    delete_list,
    delete_value,
    insert_entry,
    retire_scope,
    set_value,
)

SCOPE = ephemeral_scope("op")
V, L = value("app", "v"), value_list("app", "l")


@pytest.fixture
def session() -> Iterator[Session]:
    with MemorySessionRepo() as repo, repo.create() as session:
        yield session


WRAPPERS: list[Callable[[Storage], Storage]] = [StorageWrapper, InstrumentedStorage, GatedStorage]


@pytest.mark.parametrize("case", storage_conformance, ids=lambda case: f"{case.group}-{case.name}")
@pytest.mark.parametrize("wrap", WRAPPERS, ids=lambda wrap: wrap.__name__)
def test_a_wrapped_store_is_a_store(case: Case[Any], wrap: Callable[[Storage], Storage]) -> None:
    memory = UrlRepositories(lambda: "memory://", {"container_wide_ids"})
    case.run(RepositoryStorages(memory, wrap))


def test_every_kind_of_write_is_recorded_in_order(session: Session) -> None:
    store = InstrumentedStorage(session.storage)
    store.commit(
        [set_value(value("app", scope=SCOPE), 1), append_list(value_list("app", scope=SCOPE), 2, "t")]
    )
    result = store.commit(
        [
            say("e"),
            set_value(V, {"a": 1}),
            delete_value(V),
            append_list(L, None),
            delete_list(L),
            spend("u", 1),
            retire_scope(SCOPE),
            retire_scope(SCOPE),
        ]
    )
    first, second = store.commits
    assert [type(step) for step in first] == [ValueRecord, ElementRecord]
    assert [type(step) for step in second] == [
        EntryRecord,
        ValueRecord,
        ValueDeletion,
        ElementRecord,
        ListDeletion,
        UsageRecord,
        Retirement,
        Retirement,
    ]
    assert tuple(step.seq for step in second) == result.seqs
    assert first[1] == ElementRecord("op", "app", "", first[1].seq, "2", "t")
    assert second[0].timestamp == result.timestamp
    assert second[1] == ValueRecord("", "app", "v", result.seqs[1], '{"a":1}')
    assert second[6] == Retirement("op", result.seqs[6])
    assert store.steps == [*first, *second]


def test_failed_and_empty_commits_are_not_recorded(session: Session) -> None:
    store = InstrumentedStorage(session.storage)
    store.commit([say("e")])
    with pytest.raises(DuplicateIdError):
        store.commit([set_value(V, 1), say("e")])
    with pytest.raises(InvalidValueError):
        store.commit([set_value(V, float("nan"))])
    with pytest.raises(ValueError, match="scope"):
        store.commit([set_value(V, 1), set_value(value("app", scope=SCOPE), 1)])  # type: ignore[list-item]
    store.commit([])
    assert [[step.seq for step in steps] for steps in store.commits] == [[1]]


def test_what_is_recorded_does_not_change(session: Session) -> None:
    store = InstrumentedStorage(session.storage)
    given = {"list": [1]}
    store.commit(
        [set_value(V, given), insert_entry(NewMessageEntry("m", None, {"role": "user", "x": given}))]
    )
    given["list"].append(2)
    assert [getattr(step, "value", None) or getattr(step, "payload", None) for step in store.steps] == [
        '{"list":[1]}',
        '{"message":{"role":"user","x":{"list":[1]}}}',
    ]


def test_threads_are_recorded_in_the_order_of_the_numbers(session: Session) -> None:
    """The thread that commits first comes back last."""
    gated = GatedStorage(session.storage)
    store = InstrumentedStorage(gated)
    with gated.stop_at("after_commit") as stop:
        first = Worker(lambda: store.commit([append_list(L, "first")]))
        stop.wait_reached()
        store.commit([append_list(L, "second")])
        assert [step.value for step in store.steps if isinstance(step, ElementRecord)] == ['"second"']
    first.result()
    assert [step.value for step in store.steps if isinstance(step, ElementRecord)] == ['"first"', '"second"']
    race([lambda: [store.commit([append_list(L, n)]) for n in range(20)] for _ in range(4)])
    assert [step.seq for step in store.steps] == list(range(1, 83))


def test_a_store_that_commits_what_the_rules_refuse_is_found_out(session: Session) -> None:
    class Lenient(StorageWrapper):
        def around_commit(self, writes: Any, commit: Any) -> Any:
            return self.inner.commit([])

    with pytest.raises(AssertionError, match="refuse"):
        InstrumentedStorage(Lenient(session.storage)).commit([set_value(V, float("nan"))])


def test_a_commit_stops_before_and_after(session: Session) -> None:
    store = GatedStorage(session.storage)
    with store.stop_at("before_commit") as stop:
        worker = Worker(lambda: store.commit([set_value(V, 1)]))
        stop.wait_reached()
        assert store.get_value(V) is None
        store.commit([set_value(V, "overtaken")])  # only one call is held up
    worker.result()
    stored = store.get_value(V)
    assert stored is not None
    assert stored.value == 1
    with store.stop_at("after_commit") as stop:
        worker = Worker(lambda: store.commit([set_value(V, 2)]))
        stop.wait_reached()
        assert worker.running
        stored = store.get_value(V)
        assert stored is not None
        assert stored.value == 2
    worker.result()


def test_a_read_stops_before_and_after(session: Session) -> None:
    store = GatedStorage(session.storage)
    reads: list[Callable[[], object]] = [
        lambda: store.get_value(V),
        lambda: store.scan_values(V),
        lambda: store.read_list(L),
        lambda: store.get_entries([]),
        lambda: store.scan_branch("e"),
        lambda: store.scan_branch_structure("e"),
        store.scan_entries,
        store.scan_usage,
        store.get_stats,
    ]
    store.commit([say("e")])
    for read in reads:
        with store.stop_at("before_read") as stop:
            worker = Worker(read)
            stop.wait_reached()
        worker.result()
    with store.stop_at("after_read") as stop:
        reading = Worker(lambda: store.get_value(V))
        stop.wait_reached()
        store.commit([set_value(V, 1)])
    assert reading.result() is None


def test_calls_fail_where_told(session: Session) -> None:
    store = GatedStorage(session.storage)
    failure = OSError("the disk is gone")
    store.fail_at("before_commit", failure)
    with pytest.raises(OSError, match="the disk is gone"):
        store.commit([set_value(V, 1)])
    assert store.get_value(V) is None
    store.fail_at("after_commit", failure)
    with pytest.raises(OSError, match="the disk is gone"):
        store.commit([set_value(V, 2)])
    stored = store.get_value(V)
    assert stored is not None
    assert stored.value == 2
    store.fail_at("before_read", failure)
    with pytest.raises(OSError, match="the disk is gone"):
        store.get_value(V)
    store.get_value(V)


def test_stops_and_failures_are_served_in_the_order_asked_for(session: Session) -> None:
    store = GatedStorage(session.storage)
    store.fail_at("before_read", OSError("first"))
    with store.stop_at("before_read") as stop:
        store.fail_at("before_read", OSError("third"))
        with pytest.raises(OSError, match="first"):
            store.get_stats()
        second = Worker(store.get_stats)
        stop.wait_reached()
        with pytest.raises(OSError, match="third"):
            store.get_stats()
        store.get_stats()
        assert second.running
    second.result()


def test_unknown_points_are_refused(session: Session) -> None:
    store = GatedStorage(session.storage)
    wrong: Any = "during_commit"
    for call in (lambda: store.stop_at(wrong), lambda: store.fail_at(wrong, OSError())):
        with pytest.raises(ValueError, match="before_commit"):
            call()
    assert len(POINTS) == 6


def test_a_session_over_a_wrapper(session: Session) -> None:
    wrapped, gated = session_over(session, GatedStorage)
    with wrapped:
        branch = wrapped.create_branch("main")
        gated.fail_at("before_commit", OSError("the disk is gone"))
        with pytest.raises(OSError, match="the disk is gone"):
            branch.append_message({"role": "user"})
        assert branch.tip_id() is None
        with gated.stop_at("before_commit") as stop:
            appending = Worker(lambda: branch.append_message({"role": "user"}))
            stop.wait_reached()
            naming = Worker(lambda: wrapped.set_name("later")).wait_queued()
            assert wrapped.get_name() is None
        assert branch.tip_id() in (None, appending.result())
        naming.result()
        with wrapped.begin_mutation(), pytest.raises(MutationError):
            wrapped.set_name("nested")
    with pytest.raises(RuntimeError, match="closed"):
        session.get_name()


def test_a_gate_at_closing(session: Session) -> None:
    wrapped, gated = session_over(session, GatedStorage)
    gated.fail_at("after_close", OSError("the disk is gone"))
    for _ in range(2):
        with pytest.raises(OSError, match="the disk is gone"):
            wrapped.close()
