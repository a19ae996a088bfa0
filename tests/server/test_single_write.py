"""The commit of one value or element where one statement can be the whole of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from server.processes import COUNTER, MARKS
from server.support import (
    Attempts,
    ask,
    change_session,
    contents,
    kill_connections,
    rival,
    wait_until_blocked,
)
from sqlalchemy import create_engine, make_url

from sessionstore import (
    Session,
    SessionNotFoundError,
    TransactionConflictError,
    append_list,
    delete_value,
    ephemeral_scope,
    open_repository,
    set_value,
    value_list,
)
from sessionstore.repository import SessionRepo
from sessionstore.sql.dialects import PostgresqlDialect
from sessionstore.sql.repo import SqlSessionRepo
from sessionstore.sql.single_write import LARGEST_TEXT


@pytest.fixture
def repo(postgresql_url: str) -> Iterator[SessionRepo]:
    with open_repository(postgresql_url) as repo:
        yield repo


@pytest.fixture
def session(repo: SessionRepo) -> Session:
    return repo.create(id="a")


@pytest.fixture
def transactions(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The write transactions that were begun in words."""
    begun: list[object] = []
    begin = PostgresqlDialect.begin_write

    def begin_write(self: PostgresqlDialect, raw: object) -> None:
        begun.append(raw)
        begin(self, raw)

    monkeypatch.setattr(PostgresqlDialect, "begin_write", begin_write)
    return begun


def test_one_value_or_element_needs_no_transaction_in_words(
    session: Session, transactions: list[object]
) -> None:
    frames = value_list(MARKS.namespace, MARKS.key, scope=ephemeral_scope("operation"))
    results = [
        session.set_value(COUNTER, 1),
        session.set_value(COUNTER, 2),
        session.append_list(MARKS, "one", tag="tag"),
        session.append_list(frames, "half \ud800 of a pair, and \0"),
    ]
    assert transactions == []
    assert [result.seqs for result in results] == [(1,), (2,), (3,), (4,)]
    stored = session.get_value(COUNTER)
    assert stored is not None
    assert (stored.value, stored.seq) == (2, 2)
    assert [(mark.value, mark.seq, mark.tag) for mark in session.read_list(MARKS)] == [("one", 3, "tag")]
    assert [frame.value for frame in session.read_list(frames)] == ["half \ud800 of a pair, and \0"]


def test_the_result_is_that_of_a_transaction(session: Session, postgresql_url: str) -> None:
    main = session.create_branch("main")
    main.append_message({"role": "user", "content": "Hello"})
    result = session.append_list(MARKS, "one")
    assert result.stats == session.get_stats()
    assert result.stats.message_count == 1
    (row,) = contents(postgresql_url)["sessions"]
    assert result.timestamp in row
    assert session.append_list(MARKS, "two").first_seq == result.first_seq + 1


def test_everything_else_takes_a_transaction(session: Session, transactions: list[object]) -> None:
    session.commit([set_value(COUNTER, 1), append_list(MARKS, "one")])
    session.commit([delete_value(COUNTER)])
    session.append_list(MARKS, "x" * LARGEST_TEXT)
    assert len(transactions) == 3


def test_a_mutation_that_was_overtaken_writes_nothing(
    repo: SessionRepo, session: Session, postgresql_url: str
) -> None:
    with open_repository(postgresql_url) as other, session.begin_mutation() as mutation:
        other.open("a").append_list(MARKS, "overtaken")
        with pytest.raises(TransactionConflictError, match="somebody else committed first"):
            mutation.commit([append_list(MARKS, "late")])
    assert [mark.value for mark in session.read_list(MARKS)] == ["overtaken"]


def test_a_mutation_that_was_not_overtaken_writes(session: Session, transactions: list[object]) -> None:
    for number in range(3):
        with session.begin_mutation() as mutation:
            assert mutation.commit([set_value(COUNTER, number)]).first_seq == number + 1
    assert transactions == []


def test_a_deleted_session_does_not_come_back(session: Session, postgresql_url: str) -> None:
    with open_repository(postgresql_url) as other:
        other.delete("a")
        with pytest.raises(SessionNotFoundError):
            session.append_list(MARKS, "late")
        other.create(id="a").close()  # another session of the same name
        with pytest.raises(SessionNotFoundError):
            session.append_list(MARKS, "late")
    assert contents(postgresql_url)["list_values"] == []


def test_a_connection_that_the_server_has_left_is_replaced(
    session: Session, postgresql_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.append_list(MARKS, "one")
    assert kill_connections(postgresql_url) == 1
    attempts = Attempts(monkeypatch, postgresql_url)
    assert session.append_list(MARKS, "two").first_seq == 2
    assert attempts.count == 2  # a transaction on the dead connection, and one on a new one
    assert session.append_list(MARKS, "three").first_seq == 3
    assert attempts.count == 3


def test_an_engine_that_does_not_commit_by_itself_takes_transactions(
    postgresql_url: str, transactions: list[object]
) -> None:
    engine = create_engine(postgresql_url)
    with SqlSessionRepo(engine=engine) as repo, repo.create(id="a") as session:
        begun = len(transactions)
        assert session.append_list(MARKS, "one").first_seq == 1
        assert len(transactions) == begun + 1
    engine.dispose()
    with open_repository(postgresql_url) as repo:
        assert [mark.value for mark in repo.open("a").read_list(MARKS)] == ["one"]


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_serialization_failure_leads_to_a_transaction(
    postgresql_url: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(
        postgresql_url,
        f"ALTER DATABASE {make_url(postgresql_url).database} SET default_transaction_isolation = '{level}'",
    )
    with (
        open_repository(postgresql_url) as repo,
        repo.create(id="a") as session,
        ThreadPoolExecutor(1) as threads,
        rival(postgresql_url) as holder,
    ):
        attempts = Attempts(monkeypatch, postgresql_url)
        change_session(holder, "a")
        commit = threads.submit(session.set_value, COUNTER, 1)
        wait_until_blocked(postgresql_url)
        holder.commit()
        assert commit.result().seqs == (1,)
        assert attempts.count == 2


def test_no_number_is_lost_or_taken_twice(repo: SessionRepo, session: Session) -> None:
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda number: session.append_list(MARKS, str(number)), range(80)))
    assert sorted(result.first_seq for result in results) == list(range(1, 81))
    assert [mark.seq for mark in session.read_list(MARKS, limit=100)] == list(range(1, 81))
