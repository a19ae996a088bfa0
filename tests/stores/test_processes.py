"""Several processes on one container."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable
from typing import Any

import pytest
from faults import Calls, failing, short_and_full
from legs import STORE_KINDS, StoreKind
from server.processes import COUNTER, MARKS, Workers
from sql import driver_faults
from stores.processes import (
    APPENDS,
    PROCESSES,
    READS,
    STOPS,
    append_during_the_pause,
    increment_after_the_first,
    mark_and_increment,
    read_standing_still,
    read_with_a_pause,
    turn_writes,
    use_first,
)

from sessionstore import (
    NewMessageEntry,
    Session,
    SessionStoreError,
    StorageError,
    TransactionConflictError,
    append_list,
    insert_entry,
    open_repository,
    set_value,
)
from sessionstore.repository import SessionRepo
from sessionstore.sql.sqlite_files import BUSY_TIMEOUT
from sessionstore.writes import Write


def each(*wanted: str, sql: bool) -> pytest.MarkDecorator:
    """The kinds of store that have what is wanted, and are databases or are not."""
    kinds = [
        kind
        for kind in STORE_KINDS
        if kind.capabilities.issuperset(wanted) and ("sql" in kind.capabilities) is sql
    ]
    return pytest.mark.parametrize("store_kind", kinds, indirect=True, ids=lambda kind: kind.name)


each_database = each("multi_process", sql=True)
each_other = each("multi_process", sql=False)

CONTAINERS = 20


@pytest.mark.slow
@pytest.mark.needs("multi_process")
def test_eight_processes_use_a_new_container_at_the_same_moment(
    new_store_url: Callable[[], str], workers: Workers
) -> None:
    urls = [new_store_url() for _ in range(CONTAINERS)]
    workers.run(use_first, *[(number, urls) for number in range(PROCESSES)])
    ids = [f"p{number}" for number in range(PROCESSES)]
    for url in urls:
        with open_repository(url) as repo:
            assert sorted(metadata.id for metadata in repo.list()) == ids
            assert repo.check_container() == []
            for id in ids:
                with repo.open(id) as session:
                    assert getattr(session.get_value(COUNTER), "value", None) == 1


@each_other
def test_a_second_process_that_writes_is_refused_every_time(store_url: str, workers: Workers) -> None:
    """Files keep what the first to write has written; the other hears of each of its losses."""
    times = 500
    with open_repository(store_url) as repo:
        repo.create(id="a").close()
        (done, errors), (late, refusals) = workers.run(
            increment_after_the_first, (store_url, "a", times, True), (store_url, "a", times, False)
        )
        assert (done, errors) == (times, [])
        assert (late, refusals) == (0, [TransactionConflictError.__name__] * times)
        with repo.open("a") as session:
            assert getattr(session.get_value(COUNTER), "value", None) == times
            assert session.storage.next_seq() == times + 1
        assert repo.check_session("a") == []


# A reader that pauses, and a writer that does not ------------------------------------------------

LARGE = 90_000
"""Characters of a turn: fifty of them are more than SQLite's log takes before it is to be folded."""


def turns_of(session: Session, count: int) -> None:
    for turn in range(count):
        session.commit(turn_writes(turn))


def marks_of(turns: int) -> list[str]:
    return [f"{turn} {what}" for turn in range(turns) for what in ("begins ", "ends")]


def ids_of(turns: int) -> list[str]:
    return [f"m{turn}" for turn in range(turns)]


@pytest.mark.needs("multi_process")
def test_a_stream_that_pauses_holds_up_no_writer(store_url: str, workers: Workers) -> None:
    begun, later = 200, 50
    with open_repository(store_url) as repo:
        with repo.create(id="a") as session:
            turns_of(session, begun)
        appended = range(begun, begun + later)
        found, slowest = workers.run_different(
            (read_with_a_pause, (store_url, "a")),
            (append_during_the_pause, (store_url, "a", [appended], LARGE)),
        )
        assert [json.loads(text) for text in found] == marks_of(begun)
        assert slowest < BUSY_TIMEOUT / 2
        assert_whole(repo, begun + later)


@pytest.mark.needs("multi_process")
@pytest.mark.parametrize("name", READS)
def test_a_read_that_pauses_anywhere_holds_up_no_writer(store_url: str, workers: Workers, name: str) -> None:
    begun, appended = 20, APPENDS * STOPS
    with open_repository(store_url) as repo:
        with repo.create(id="a") as session:
            turns_of(session, begun)
        turns = [range(first, first + APPENDS) for first in range(begun, begun + appended, APPENDS)]
        found, slowest = workers.run_different(
            (read_standing_still, (store_url, "a", name, begun)),
            (append_during_the_pause, (store_url, "a", turns, 0)),
        )
        assert slowest < BUSY_TIMEOUT / 2
        assert len(found) == STOPS
        for texts, some in zip(found, turns, strict=True):
            # What the read began with: where it stood still before its first look, what is there by then.
            assert texts in [expected(name, begun, turns) for turns in (some.start, some.stop)]
        assert_whole(repo, begun + appended)


def expected(name: str, begun: int, turns: int) -> list[str]:
    """What a read gives when so many turns are there, of which so many were there from the beginning."""
    match name:
        case "page":
            return marks_of(turns)
        case "branch":
            return ids_of(begun)
        case "entries":
            return ids_of(turns)
        case "image":
            return [*ids_of(turns), str(turns - 1), *marks_of(turns)]
        case _:
            return ["a"]


def assert_whole(repo: SessionRepo, turns: int) -> None:
    with repo.open("a") as session:
        assert [entry.id for entry in session.scan_branch(f"m{turns - 1}", order="oldest_first")] == ids_of(
            turns
        )
        assert getattr(session.get_value(COUNTER), "value", None) == turns - 1
        assert len(session.read_list(MARKS)) == 2 * turns
        assert session.storage.next_seq() == len(turn_writes(0)) * turns + 1
    assert repo.check_session("a") == []


# A write that fails in the middle, and another process at once -----------------------------------


def writes(id: str) -> list[Write[Any]]:
    return [
        append_list(MARKS, id),
        insert_entry(NewMessageEntry(id, None, {"role": "user"})),
        set_value(COUNTER, -1),
        append_list(MARKS, f"{id} again"),
    ]


@each_database
def test_another_process_writes_a_database_after_a_write_that_failed(
    store_kind: StoreKind, store_url: str, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    statements = driver_faults.install(monkeypatch)
    faults = [fault for name, fault in driver_faults.FAULTS[store_kind.name].items() if name in BREAKING]
    with open_repository(store_url) as repo, repo.create(id="a") as session:
        with statements.counted():
            session.commit(writes("first"))
        middle = statements.count // 2 + 1
        marks, number = ["first", "first again"], -1
        for fault in faults:
            with statements.counted(middle, fault), pytest.raises(StorageError):
                session.commit(writes("lost"))
            next_seq = session.storage.next_seq()
            assert workers.run(mark_and_increment, (store_url, "a", "theirs")) == [(next_seq, marks, number)]
            marks, number = [*marks, "theirs"], number + 1
        assert session.get_entry("lost") is None
        session.commit([insert_entry(NewMessageEntry("lost", None, {"role": "user"}))])
        assert [mark.value for mark in session.read_list(MARKS)] == marks
        assert repo.check_session("a") == []


BREAKING = ("full", "input or output")


@each_other
@pytest.mark.parametrize("is_undone", [True, False], ids=["cut back", "left torn"])
def test_another_process_writes_a_file_after_a_write_that_failed(
    store_url: str, workers: Workers, is_undone: bool
) -> None:
    undoing = Calls(["ftruncate"], 0 if is_undone else 1, failing(errno.EIO))
    with open_repository(store_url) as repo, repo.create(id="a") as session:
        session.commit(writes("first"))
        next_seq = session.storage.next_seq()
        with Calls(["write"], 1, short_and_full)(), undoing(), pytest.raises(StorageError):
            session.commit(writes("lost"))
        told = workers.run(mark_and_increment, (store_url, "a", "theirs"))
        assert told == [(next_seq, ["first", "first again"], -1)]
        with pytest.raises(SessionStoreError):  # they wrote to its file
            session.commit(writes("late"))
        session.close()
        with repo.open("a") as again:
            assert [mark.value for mark in again.read_list(MARKS)] == ["first", "first again", "theirs"]
            assert [entry.id for entry in again.find_entries()] == ["first"]
            assert again.storage.next_seq() == next_seq + 2
        assert repo.check_session("a") == []
