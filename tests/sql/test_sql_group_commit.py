"""Commits of several sessions that wait for one SQLite container and share its transaction."""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sql import counting

from sessionstore import (
    DuplicateIdError,
    ForkTree,
    NewMessageEntry,
    Session,
    SessionNotFoundError,
    StorageBusyError,
    StorageError,
    TransactionConflictError,
    append_list,
    insert_entry,
    set_value,
    value,
    value_list,
)
from sessionstore.opening import open_repository
from sessionstore.sql import grouping
from sessionstore.sql.repo import SqlSessionRepo
from sessionstore.testing.interrupts import interrupt
from sessionstore.testing.threads import Stop, Worker

N, LOG = value("app", "n", type=int), value_list("app", "log", type=int)
MESSAGE = {"role": "user", "content": "hello"}
MEMBERS = 4


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SqlSessionRepo]:
    counting.install(monkeypatch)
    with SqlSessionRepo.from_path(tmp_path / "s.db") as repo:
        yield repo


@pytest.fixture
def sessions(repo: SqlSessionRepo) -> list[Session]:
    return [repo.create(id=f"s{number}") for number in range(MEMBERS)]


@contextmanager
def writer_elsewhere(repo: SqlSessionRepo) -> Iterator[None]:
    """Another thread of this process has the turn to write inside the block."""
    turn = repo._sql._lock.acquire()  # type: ignore[attr-defined]  # of the SQLite containers
    try:
        yield
    finally:
        turn.release()


def queued(calls: list[Callable[[], Any]]) -> list[Worker[Any]]:
    """Start calls so that they wait for the turn in this order."""
    return [Worker(call).wait_queued() for call in calls]


def together(repo: SqlSessionRepo, calls: list[Callable[[], Any]]) -> list[Worker[Any]]:
    """Run calls that all wait when the turn becomes free; returns when all have ended."""
    with writer_elsewhere(repo):
        workers = queued(calls)
    for worker in workers:
        worker.wait_ended()
    return workers


def setting(session: Session, number: int) -> Callable[[], Any]:
    return lambda: session.commit([set_value(N, number), append_list(LOG, number)])


def settings(sessions: list[Session]) -> list[Callable[[], Any]]:
    return [setting(session, number) for number, session in enumerate(sessions)]


def held(session: Session) -> tuple[int | None, list[int]]:
    stored = session.get_value(N)
    return None if stored is None else stored.value, [element.value for element in session.read_list(LOG)]


def count(seen: list[str], word: str) -> int:
    return sum(sql.startswith(word) for sql in seen)


# One transaction ------------------------------------------------------------------------------


def test_commits_that_wait_share_one_transaction_each_in_a_savepoint(
    repo: SqlSessionRepo, sessions: list[Session]
) -> None:
    with counting.statements() as seen:
        workers = together(repo, settings(sessions))
    assert [worker.result().seqs for worker in workers] == [(1, 2)] * MEMBERS
    assert [held(session) for session in sessions] == [(n, [n]) for n in range(MEMBERS)]
    assert count(seen, "BEGIN") == count(seen, "COMMIT") == 1
    assert count(seen, "SAVEPOINT") == count(seen, "RELEASE") == MEMBERS


def test_nobody_is_told_before_the_shared_commit(repo: SqlSessionRepo, sessions: list[Session]) -> None:
    stop = Stop()

    def arrive(_: sqlite3.Connection, sql: str) -> None:
        if sql == "COMMIT":
            stop.arrive()

    with counting.listening(arrive), stop:
        with writer_elsewhere(repo):
            workers = queued(settings(sessions))
        stop.wait_reached()
        for worker in workers:
            worker.still_waits()
        assert [held(session) for session in sessions] == [(None, [])] * MEMBERS
    for worker in workers:
        worker.result()


def test_a_lone_commit_is_one_plain_transaction_in_its_own_thread(
    repo: SqlSessionRepo, sessions: list[Session]
) -> None:
    together(repo, settings(sessions))
    threads = threading.active_count()
    for _ in range(2):
        with counting.statements() as seen:
            sessions[0].append_list(LOG, 7)
        assert [sql.split()[0] for sql in seen] == ["BEGIN", "UPDATE", "INSERT", "COMMIT"]
    assert threading.active_count() == threads


def test_who_comes_while_a_shared_transaction_runs_is_taken_in(
    repo: SqlSessionRepo, sessions: list[Session]
) -> None:
    late: list[Worker[Any]] = []

    def join(_: sqlite3.Connection, sql: str) -> None:
        if sql.startswith("SAVEPOINT") and not late:
            late.extend(queued([setting(sessions[3], 3)]))

    with counting.listening(join), counting.statements() as seen:
        together(repo, settings(sessions[:3]))
        late[0].result()
    assert count(seen, "COMMIT") == 1
    assert held(sessions[3]) == (3, [3])


def test_a_transaction_takes_so_many_and_no_more(
    repo: SqlSessionRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grouping, "LARGEST_GROUP", 3)
    sessions = [repo.create() for _ in range(7)]
    with counting.statements() as seen:
        for worker in together(repo, settings(sessions)):
            worker.result()
    assert count(seen, "COMMIT") == 3
    assert count(seen, "SAVEPOINT") == 6
    assert [held(session) for session in sessions] == [(n, [n]) for n in range(7)]


def test_what_is_no_commit_runs_alone(repo: SqlSessionRepo, sessions: list[Session]) -> None:
    sessions[3].close()
    calls: list[Callable[[], Any]] = [
        lambda: repo.delete("s3"),
        lambda: repo.create(id="new").close(),
        lambda: repo.fork("s0", ForkTree(), id="copy").close(),
    ]
    with counting.statements() as seen:
        workers = together(repo, [setting(sessions[0], 0), *calls, setting(sessions[1], 1)])
    for worker in workers:
        worker.result()
    transactions = "\n".join(seen).split("BEGIN IMMEDIATE")[1:]
    assert len(transactions) == 4
    for transaction in transactions:
        alone = "DELETE FROM sessions" in transaction or "INSERT INTO sessions" in transaction
        assert alone != ("SAVEPOINT" in transaction)


def test_on_an_engine_of_the_users_and_in_memory() -> None:
    with open_repository("sqlite://") as repo:
        assert isinstance(repo, SqlSessionRepo)
        sessions = [repo.create() for _ in range(MEMBERS)]
        for worker in together(repo, settings(sessions)):
            worker.result()
        assert [held(session) for session in sessions] == [(n, [n]) for n in range(MEMBERS)]


# Members that fail ----------------------------------------------------------------------------


def overtaken(session: Session) -> Any:
    return session.storage.commit([set_value(N, 99), append_list(LOG, 99)], expected_seq=7777)


def duplicate(session: Session) -> Any:
    return session.commit([set_value(N, 99), insert_entry(NewMessageEntry("taken", None, MESSAGE))])


@pytest.mark.parametrize("place", range(MEMBERS))
@pytest.mark.parametrize(
    ("fail", "error"), [(overtaken, TransactionConflictError), (duplicate, DuplicateIdError)]
)
def test_a_member_that_fails_takes_no_other_down(
    repo: SqlSessionRepo,
    sessions: list[Session],
    place: int,
    fail: Callable[[Session], Any],
    error: type[Exception],
) -> None:
    failing = sessions[place]
    failing.commit([insert_entry(NewMessageEntry("taken", None, MESSAGE))])
    calls = settings(sessions)
    calls[place] = lambda: fail(failing)
    workers = together(repo, calls)
    for number, (session, worker) in enumerate(zip(sessions, workers, strict=True)):
        if number == place:
            worker.error(error)
            assert held(session) == (None, [])
            assert session.storage.next_seq() == 2
        else:
            assert worker.result().seqs == (1, 2)
            assert held(session) == (number, [number])


def test_a_member_whose_session_was_deleted_takes_no_other_down(
    repo: SqlSessionRepo, sessions: list[Session], tmp_path: Path
) -> None:
    with SqlSessionRepo.from_path(tmp_path / "s.db") as other:
        other.delete("s2")
    workers = together(repo, settings(sessions))
    workers[2].error(SessionNotFoundError)
    for number in (0, 1, 3):
        workers[number].result()
        assert held(sessions[number]) == (number, [number])


def test_one_that_waits_too_long_does_not_happen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counting.install(monkeypatch)
    with SqlSessionRepo.from_path(tmp_path / "s.db", busy_timeout=0.05) as repo:
        sessions = [repo.create(), repo.create()]
        with writer_elsewhere(repo):
            for session in sessions:
                with pytest.raises(StorageBusyError):
                    session.set_value(N, 1)
        for session in sessions:
            assert held(session) == (None, [])
            session.set_value(N, 2)


# Lost transactions ----------------------------------------------------------------------------


def sqlite_error(code: int) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("injected")
    error.sqlite_errorcode = code
    return error


class Fault:
    """Fails the first so many statements of a kind, as SQLite does, with the transaction undone or not."""

    def __init__(self, start: str, code: int, *, undo: bool, times: int = 1, skip: int = 0) -> None:
        self._start, self._code, self._undo = start, code, undo
        self._skip, self._left = skip, times

    def __call__(self, raw: sqlite3.Connection, sql: str) -> None:
        if not sql.startswith(self._start) or not self._left:
            return
        if self._skip:
            self._skip -= 1
            return
        self._left -= 1
        if self._undo:
            sqlite3.Cursor(raw).execute("ROLLBACK")
        raise sqlite_error(self._code)


@pytest.mark.parametrize(
    "fault",
    [
        lambda: Fault("COMMIT", sqlite3.SQLITE_BUSY, undo=False),
        lambda: Fault("COMMIT", sqlite3.SQLITE_FULL, undo=True),
        lambda: Fault("COMMIT", sqlite3.SQLITE_IOERR, undo=True),
        lambda: Fault("INSERT", sqlite3.SQLITE_FULL, undo=True, skip=6),
        lambda: Fault("RELEASE", sqlite3.SQLITE_IOERR, undo=True, skip=3),
        lambda: Fault("ROLLBACK TO", sqlite3.SQLITE_IOERR, undo=False),
    ],
    ids=["busy", "full", "io", "undone in a member", "undone at a release", "no way back"],
)
def test_after_a_lost_transaction_its_members_run_again_singly(
    repo: SqlSessionRepo, sessions: list[Session], fault: Callable[[], Fault]
) -> None:
    calls = settings(sessions)
    failing = repo.create()
    calls.append(lambda: overtaken(failing))
    with counting.listening(fault()), counting.statements() as seen:
        workers = together(repo, calls)
    workers.pop().error(TransactionConflictError)
    assert [worker.result().seqs for worker in workers] == [(1, 2)] * MEMBERS
    assert [held(session) for session in sessions] == [(n, [n]) for n in range(MEMBERS)]
    again = "\n".join(seen).split("BEGIN IMMEDIATE")[2:]
    assert len(again) == MEMBERS + 1
    assert not any("SAVEPOINT" in transaction for transaction in again)


def test_where_no_commit_succeeds_each_is_told_and_nothing_is_written(
    repo: SqlSessionRepo, sessions: list[Session]
) -> None:
    with counting.listening(Fault("COMMIT", sqlite3.SQLITE_FULL, undo=True, times=100)):
        workers = together(repo, settings(sessions))
    for worker in workers:
        assert "disk is full" in str(worker.error(StorageError))
    assert [held(session) for session in sessions] == [(None, [])] * MEMBERS
    for session in sessions:
        assert session.set_value(N, 1).first_seq == 1


# Interrupts -----------------------------------------------------------------------------------


def test_an_interrupt_of_the_one_who_has_the_turn_loses_nobody(
    repo: SqlSessionRepo, sessions: list[Session]
) -> None:
    mine, others = sessions[0], sessions[1:]
    caller = threading.get_ident()
    workers: list[Worker[Any]] = []
    rounds = shared = 0

    def start_others(_: sqlite3.Connection, sql: str) -> None:
        # Once the caller has the turn. Not library code: no interrupt comes in here.
        if sql.startswith("BEGIN") and threading.get_ident() == caller and not workers:
            workers.extend(queued([setting(session, rounds) for session in others]))

    def settle(point: int) -> None:
        nonlocal before, shared
        for worker in workers:
            worker.result()
        if workers:
            shared += 1
            for session in others:
                n, log = held(session)
                assert n == log[-1] == rounds, f"point {point}"
                assert len(log) == len(set(log)) == shared, f"point {point}: a commit was made twice"
        n, log = held(mine)
        assert len(log) in (before, before + 1), f"point {point}"
        assert n == (log[-1] if log else None)
        before = len(log)
        workers.clear()

    before = 0
    interrupted = True
    with counting.listening(start_others):
        while interrupted:
            rounds += 1
            interrupted = interrupt(setting(mine, rounds), rounds)
            settle(rounds)
    assert shared > 30
    assert rounds - shared > 10


def test_an_interrupt_of_one_who_waits_leaves_it_in_or_out(
    repo: SqlSessionRepo, sessions: list[Session]
) -> None:
    mine, leading, other = sessions[:3]
    line = repo._sql._lock._line  # type: ignore[attr-defined]  # of the SQLite containers

    def interrupted_at(point: int) -> tuple[bool, list[int]]:
        """Whether there is such a point, and what is held right after; the caller waits as the second."""
        over = threading.Event()
        turn = repo._sql._lock.acquire()  # type: ignore[attr-defined]  # of the SQLite containers
        workers = queued([setting(leading, point)])

        def let_them_in() -> None:
            while len(line._waiting) < 2 and not over.wait(0.0005):
                pass  # unless its interrupt comes before
            workers.extend(queued([setting(other, point)]))
            turn.release()

        opening = Worker(let_them_in)
        try:
            came = interrupt(setting(mine, point), point)
            seen = held(mine)
        finally:
            over.set()
            opening.result()
        for worker in workers:
            worker.result()
        assert held(mine) == seen, f"point {point}: it happened after it had ended"
        assert seen[0] == (seen[1][-1] if seen[1] else None)
        assert held(leading)[1] == held(other)[1] == list(range(1, point + 1))
        return came, seen[1]

    before: list[int] = []
    point, came = 0, True
    while came:
        point += 1
        came, log = interrupted_at(point)
        assert log in (before, [*before, point])
        before = log
    assert point > 50


def interrupting(when: Callable[[], object], then: Callable[[], object]) -> Worker[None]:
    """A thread that sends the main thread a real interrupt."""

    def run() -> None:
        when()
        ident = threading.main_thread().ident
        assert ident is not None
        signal.pthread_kill(ident, signal.SIGINT)
        then()

    return Worker(run)


@pytest.fixture
def interruptible() -> Iterator[None]:
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


def wait_for(condition: Callable[[], bool]) -> None:
    waiting = threading.Event()
    while not condition():
        waiting.wait(0.0005)


@pytest.mark.usefixtures("interruptible")
def test_interrupted_while_it_waits_a_commit_takes_no_part(
    repo: SqlSessionRepo, sessions: list[Session]
) -> None:
    line = repo._sql._lock._line  # type: ignore[attr-defined]  # of the SQLite containers
    with writer_elsewhere(repo):
        workers = queued(settings(sessions[:2]))
        helper = interrupting(lambda: wait_for(lambda: len(line._waiting) == 3), lambda: None)
        with pytest.raises(KeyboardInterrupt):
            sessions[2].set_value(N, 2)
        helper.result()
    for worker in workers:
        worker.result()
    assert held(sessions[2]) == (None, [])
    sessions[2].set_value(N, 3)


@pytest.mark.usefixtures("interruptible")
def test_interrupted_while_it_is_run_a_commit_ends_when_the_transaction_does(
    repo: SqlSessionRepo, sessions: list[Session]
) -> None:
    line = repo._sql._lock._line  # type: ignore[attr-defined]  # of the SQLite containers
    stop = Stop()

    def arrive(_: sqlite3.Connection, sql: str) -> None:
        if sql == "COMMIT":
            stop.arrive()

    turn = repo._sql._lock.acquire()  # type: ignore[attr-defined]  # of the SQLite containers
    with counting.listening(arrive), stop:
        workers = queued(settings(sessions[:2]))

        def when() -> None:
            wait_for(lambda: len(line._waiting) == 3)
            turn.release()
            stop.wait_reached()

        def then() -> None:
            # It has left its first wait and waits again, for the end.
            wait_for(lambda: grouping._Member.leave.__code__ in main_codes())
            stop.release()

        helper = interrupting(when, then)
        with pytest.raises(KeyboardInterrupt):
            sessions[2].commit([set_value(N, 2), append_list(LOG, 2)])
        assert held(sessions[2]) == (2, [2])
        helper.result()
    for worker in workers:
        worker.result()


def main_codes() -> list[object]:
    frame = sys._current_frames().get(threading.main_thread().ident or 0)  # see Worker._frame
    codes: list[object] = []
    while frame is not None:
        codes.append(frame.f_code)
        frame = frame.f_back
    return codes


def test_an_error_that_is_kept_leaves_no_statement_on_the_connection(
    repo: SqlSessionRepo, sessions: list[Session]
) -> None:
    unfetched: list[Any] = []

    def interrupted(link: Any) -> None:
        unfetched.append(link.ask(repo._sql.statements.take_numbers, (1, 0, 1, "s0", created_at)))
        raise KeyboardInterrupt

    created_at = sessions[0].metadata.created_at
    with pytest.raises(KeyboardInterrupt):
        repo._sql.write(interrupted)
    for worker in together(repo, settings(sessions)):
        worker.result()
    assert [held(session) for session in sessions] == [(n, [n]) for n in range(MEMBERS)]


# os.fork --------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no os.fork()")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_inherits_no_queue(repo: SqlSessionRepo, sessions: list[Session]) -> None:
    with writer_elsewhere(repo):
        workers = queued(settings(sessions))
        child = os.fork()
        if child == 0:
            repo._sql.write_together(lambda link: link.raw.execute("SELECT 1").fetchall())
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for worker in workers:
        worker.result()
    assert [held(session) for session in sessions] == [(n, [n]) for n in range(MEMBERS)]


# Many -----------------------------------------------------------------------------------------


def test_many_sessions_with_members_that_fail_lose_and_repeat_nothing(repo: SqlSessionRepo) -> None:
    sessions = [repo.create() for _ in range(16)]

    def work(session: Session) -> None:
        for number in range(40):
            if number % 7 == 3:
                with pytest.raises(TransactionConflictError):
                    overtaken(session)
            seqs = session.commit([set_value(N, number), append_list(LOG, number)]).seqs
            assert seqs == (2 * number + 1, 2 * number + 2)

    with counting.statements() as seen, ThreadPoolExecutor(16) as threads:
        list(threads.map(work, sessions))
    assert count(seen, "COMMIT") < 16 * 40 / 2
    for session in sessions:
        assert held(session) == (39, list(range(40)))
        assert repo.check_session(session.metadata) == []
