"""Transactions that others make impossible: run again whole, a bounded number of times, or refused."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from server.support import (
    Attempts,
    ask,
    change_session,
    contents,
    database_kind,
    hasty_options,
    lock_session,
    lock_value,
    patient_options,
    returns_every_connection,
    rival,
    wait_until_blocked,
)
from servers import administration
from sqlalchemy import create_engine, make_url

from sessionstore import (
    StorageError,
    TransactionConflictError,
    append_list,
    delete_list,
    ephemeral_scope,
    insert_entry,
    open_repository,
    retire_scope,
    set_value,
    value,
    value_list,
)
from sessionstore.entries import NewCustomEntry
from sessionstore.sql.container import CONFLICT_ATTEMPTS
from sessionstore.sql.repo import SqlSessionRepo

FIRST = value("app.state", "first", type=int)
SECOND = value("app.state", "second", type=int)
EVENTS = value_list("app.events")

on_servers = pytest.mark.needs("server")


@contextmanager
def refusing(url: str, code: str, times: int = 1000, *, at_commit: bool = False) -> Iterator[None]:
    """Have the server fail the first ``times`` transactions that set a value, with ``code``."""
    if database_kind(url) == "postgresql":
        event = "AFTER INSERT" if at_commit else "BEFORE INSERT"
        begin = [
            "CREATE SEQUENCE attempts",
            f"""CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('attempts') <= {times} THEN
                    RAISE EXCEPTION 'refused' USING ERRCODE = '{code}';
                END IF;
                RETURN NEW;
            END $$""",
            f"""CREATE {"CONSTRAINT" if at_commit else ""} TRIGGER refuse {event} ON scalar_values
                {"DEFERRABLE INITIALLY DEFERRED" if at_commit else ""}
                FOR EACH ROW EXECUTE FUNCTION refuse()""",
        ]
        end = ["DROP FUNCTION refuse CASCADE", "DROP SEQUENCE attempts"]
    else:
        begin = [
            "CREATE SEQUENCE attempts",
            f"""CREATE TRIGGER refuse BEFORE INSERT ON scalar_values FOR EACH ROW
                IF NEXTVAL(attempts) <= {times} THEN
                    SIGNAL SQLSTATE '40001' SET MYSQL_ERRNO = {code}, MESSAGE_TEXT = 'refused';
                END IF""",
        ]
        end = ["DROP TRIGGER refuse", "DROP SEQUENCE attempts"]
    with administration(url) as execute:
        for statement in begin:
            execute(statement)
        yield
        for statement in end:
            execute(statement)


CONFLICTS = {"postgresql": ("40001", "40P01", "55P03"), "mariadb": ("1213", "1205", "1020")}


# Conflicts that the server is made to report ------------------------------------------------


@on_servers
def test_a_conflict_is_retried_until_it_is_over(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_repository(store_url) as repo, repo.create(id="a") as session:
        attempts = Attempts(monkeypatch, store_url)
        for code in CONFLICTS[database_kind(store_url)]:
            attempts.count = 0
            first_seq = session.storage.next_seq()
            with refusing(store_url, code, CONFLICT_ATTEMPTS - 1):
                result = session.commit(
                    [set_value(FIRST, first_seq), insert_entry(NewCustomEntry(code, None, "note"))]
                )
            assert attempts.count == CONFLICT_ATTEMPTS
            assert result.seqs == (first_seq, first_seq + 1)
            stored = session.get_value(FIRST)
            assert stored is not None
            assert (stored.value, stored.seq) == (first_seq, first_seq)


@on_servers
def test_a_conflict_that_does_not_end_surfaces_and_leaves_nothing(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_repository(store_url) as repo, repo.create(id="a") as session:
        session.append_list(EVENTS, "first")
        before = contents(store_url)
        attempts = Attempts(monkeypatch, store_url)
        writes = [insert_entry(NewCustomEntry("e", None, "note")), set_value(FIRST, 1)]
        for code in CONFLICTS[database_kind(store_url)]:
            attempts.count = 0
            with (
                refusing(store_url, code),
                pytest.raises(TransactionConflictError, match="Nothing was written; try again"),
            ):
                session.commit(writes)
            assert attempts.count == CONFLICT_ATTEMPTS
            assert contents(store_url) == before
        assert session.commit(writes).seqs == (2, 3)


@on_servers
def test_the_error_of_a_conflict_shows_no_data(store_url: str) -> None:
    with open_repository(store_url) as repo, repo.create(id="a") as session:
        with (
            refusing(store_url, CONFLICTS[database_kind(store_url)][0]),
            pytest.raises(TransactionConflictError) as refused,
        ):
            session.set_value(value("secret.place", type=str), "secret text")
        assert "secret" not in str(refused.value)
        assert refused.value.__cause__ is None


@on_servers
def test_a_mutation_that_is_retried_is_still_compared(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_repository(store_url) as repo, open_repository(store_url) as other:
        session = repo.create(id="a")
        attempts = Attempts(monkeypatch, store_url)
        overtaker = other.open("a")
        with (
            refusing(store_url, CONFLICTS[database_kind(store_url)][0], 1),
            session.begin_mutation() as mutation,
        ):
            attempts.before = lambda number: number == 2 and overtaker.append_list(EVENTS, "overtaken")
            with pytest.raises(TransactionConflictError, match="somebody else committed first"):
                mutation.commit([set_value(FIRST, 1)])
        assert session.get_value(FIRST) is None
        assert [element.value for element in session.read_list(EVENTS)] == ["overtaken"]


def test_a_conflict_reported_by_commit_is_retried(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_repository(postgresql_url) as repo, repo.create(id="a") as session:
        attempts = Attempts(monkeypatch, postgresql_url)
        with refusing(postgresql_url, "40001", 2, at_commit=True):
            assert session.set_value(FIRST, 1).seqs == (1,)
        assert attempts.count == 3


def test_another_failure_of_commit_is_not_retried(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_repository(postgresql_url) as repo, repo.create(id="a") as session:
        before = contents(postgresql_url)
        attempts = Attempts(monkeypatch, postgresql_url)
        with refusing(postgresql_url, "23514", 1, at_commit=True), pytest.raises(StorageError) as refused:
            session.set_value(FIRST, 1)
        assert type(refused.value) is StorageError
        assert "23514" in str(refused.value)
        assert attempts.count == 1
        assert contents(postgresql_url) == before
        assert session.set_value(FIRST, 1).seqs == (1,)


# Conflicts with a second connection ---------------------------------------------------------


@on_servers
def test_a_deadlock_is_retried(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store waits for the first rival, the second waits for the store; then the circle closes."""
    patient, hasty = {}, {}
    if database_kind(store_url) == "postgresql":
        # Who looks for a deadlock first is undone: that is to be the store.
        patient = {"connect_args": {"options": "-c deadlock_timeout=1h"}}
        hasty = {"connect_args": {"options": "-c deadlock_timeout=10ms"}}
    with (
        open_repository(store_url, **hasty) as repo,
        repo.create(id="a") as session,
        ThreadPoolExecutor(2) as threads,
        rival(store_url, **patient) as holder,
        rival(store_url, **patient) as waiter,
    ):
        session.commit([set_value(FIRST, 0), set_value(SECOND, 0)])
        ask(store_url, "CREATE TABLE ballast (number INT)")
        attempts = Attempts(monkeypatch, store_url)

        lock_value(holder, "a", FIRST)
        # InnoDB undoes whoever has changed less.
        waiter.exec_driver_sql(f"INSERT INTO ballast VALUES {','.join(['(1)'] * 500)}")
        lock_value(waiter, "a", SECOND)
        commit = threads.submit(session.commit, [set_value(FIRST, 1), set_value(SECOND, 1)])
        wait_until_blocked(store_url, 1)
        lock = threads.submit(lock_session, waiter, "a")
        wait_until_blocked(store_url, 2)
        holder.rollback()

        lock.result()  # the deadlock is over, and the store was the one to give way
        wait_until_blocked(store_url, 1)
        waiter.rollback()
        assert commit.result().seqs == (3, 4)
        assert attempts.count == 2


@on_servers
def test_a_lock_that_is_held_for_a_while_is_waited_for(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        open_repository(store_url, **hasty_options(store_url)) as repo,
        repo.create(id="a") as session,
        rival(store_url) as holder,
    ):
        lock_session(holder, "a")
        attempts = Attempts(monkeypatch, store_url)
        attempts.before = lambda number: number == 4 and holder.rollback()
        assert session.set_value(FIRST, 1).seqs == (1,)
        assert attempts.count == 4


@on_servers
def test_fifty_lock_timeouts_leak_nothing(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        open_repository(store_url, **hasty_options(store_url)) as repo,
        repo.create(id="a") as session,
        rival(store_url) as holder,
    ):
        lock_session(holder, "a")
        before = contents(store_url)
        monkeypatch.setattr("sessionstore.sql.container._LONGEST_PAUSE", 0)
        attempts = Attempts(monkeypatch, store_url)
        with returns_every_connection(repo):
            for number in range(50):
                with pytest.raises(TransactionConflictError):
                    session.commit([set_value(FIRST, number), set_value(SECOND, number)])
        assert attempts.count == 50 * CONFLICT_ATTEMPTS
        assert contents(store_url) == before
        holder.rollback()
        assert session.set_value(FIRST, 50).seqs == (1,)


# Isolation levels ---------------------------------------------------------------------------


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_database_s_default_isolation_makes_no_conflicts(
    postgresql_url: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(postgresql_url, f"ALTER DATABASE {make_url(postgresql_url).database} "
        f"SET default_transaction_isolation = '{level}'")  # fmt: skip
    with (
        open_repository(postgresql_url) as repo,
        repo.create(id="a") as session,
        ThreadPoolExecutor(1) as threads,
        rival(postgresql_url) as holder,
    ):
        attempts = Attempts(monkeypatch, postgresql_url)
        change_session(holder, "a")
        commit = threads.submit(session.commit, [set_value(FIRST, 1), set_value(SECOND, 2)])
        wait_until_blocked(postgresql_url)
        holder.commit()
        assert commit.result().seqs == (1, 2)
        assert attempts.count == 1


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_serialization_failure_on_a_users_engine_is_retried(
    postgresql_url: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = create_engine(postgresql_url, isolation_level=level)
    with (
        SqlSessionRepo(engine) as repo,
        repo.create(id="a") as session,
        ThreadPoolExecutor(1) as threads,
        rival(postgresql_url) as holder,
    ):
        attempts = Attempts(monkeypatch, postgresql_url)
        change_session(holder, "a")
        commit = threads.submit(session.set_value, FIRST, 1)
        wait_until_blocked(postgresql_url)
        holder.commit()
        assert commit.result().seqs == (1,)
        assert attempts.count == 2
    engine.dispose()


def test_a_cycle_that_serializable_transactions_find_is_retried(
    postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither waits for the other: each reads what the other one writes."""
    engine = create_engine(postgresql_url, isolation_level="SERIALIZABLE")
    with (
        SqlSessionRepo(engine) as repo,
        repo.create(id="a") as session,
        ThreadPoolExecutor(1) as threads,
        rival(postgresql_url, isolation_level="SERIALIZABLE") as other,
        rival(postgresql_url) as holder,
    ):
        session.set_value(FIRST, 0)
        attempts = Attempts(monkeypatch, postgresql_url)
        lock_value(holder, "a", FIRST)
        assert other.exec_driver_sql("SELECT count(*) FROM scalar_values").scalar() == 1
        writes = [insert_entry(NewCustomEntry("e", None, "note")), set_value(FIRST, 1)]
        commit = threads.submit(session.commit, writes)
        wait_until_blocked(postgresql_url)
        other.exec_driver_sql(
            "INSERT INTO usage_ledger (session_id, id, seq, adjustment, usage) "
            "VALUES ('a', 'u', 0, false, '{}')"
        )
        other.commit()
        holder.rollback()
        assert commit.result().seqs == (2, 3)
        assert attempts.count == 2
    engine.dispose()


@pytest.mark.parametrize("level", ["READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"])
@on_servers
def test_a_users_engine_may_have_any_isolation_level(store_url: str, level: str) -> None:
    engine = create_engine(store_url, isolation_level=level)
    with SqlSessionRepo(engine) as repo, SqlSessionRepo(engine) as other:
        session = repo.create(id="a")
        handle = other.open("a")
        for number in range(3):
            assert session.append_list(EVENTS, number).first_seq == 2 * number + 1
            assert handle.append_list(EVENTS, number).first_seq == 2 * number + 2
        assert [element.seq for element in session.read_list(EVENTS)] == [1, 2, 3, 4, 5, 6]
    engine.dispose()


@on_servers
def test_no_session_waits_for_the_gap_beside_another_s_rows(store_url: str) -> None:
    """Not even where the user gives options of connections, which must not replace ours."""
    with (
        open_repository(store_url, **patient_options(store_url)) as repo,
        open_repository(store_url, **hasty_options(store_url)) as others,
        ThreadPoolExecutor(1) as threads,
        rival(store_url, isolation_level="READ COMMITTED") as holder,
    ):
        session = repo.create(id="m")
        neighbours = [others.create(id="l"), others.create(id="n")]
        session.set_value(FIRST, 0)
        lock_value(holder, "m", FIRST)
        commit = threads.submit(session.commit, [retire_scope(ephemeral_scope("op")), set_value(FIRST, 1)])
        wait_until_blocked(store_url)
        for neighbour in neighbours:
            neighbour.commit([retire_scope(ephemeral_scope("op")), set_value(FIRST, 2)])
            neighbour.commit([append_list(EVENTS, 3), delete_list(EVENTS), append_list(EVENTS, 4)])
        assert not commit.done()
        holder.rollback()
        assert commit.result().seqs == (2, 3)
