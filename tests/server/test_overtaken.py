"""Two writers of one session, which the host must not allow: every loss is told, and nothing is lost."""

from __future__ import annotations

import pytest
from server.processes import COUNTER, MARKS, Workers, increment, increment_once

from sessionstore import (
    SessionNotFoundError,
    TransactionConflictError,
    append_list,
    open_repository,
    set_value,
)

pytestmark = pytest.mark.needs("sql", "multi_process")


def test_a_mutation_that_was_overtaken_writes_nothing(store_url: str) -> None:
    with open_repository(store_url) as repo, open_repository(store_url) as other:
        session = repo.create(id="a")
        overtaker = other.open("a")
        with session.begin_mutation() as mutation:
            assert mutation.get_value(COUNTER) is None
            overtaker.append_list(MARKS, "between")
            with pytest.raises(TransactionConflictError, match=r"number 1 was expected to be next, it is 2"):
                mutation.commit([set_value(COUNTER, 1), append_list(MARKS, "lost")])
        assert session.get_value(COUNTER) is None
        assert [mark.value for mark in session.read_list(MARKS)] == ["between"]
        increment_once(session)
        stored = overtaker.get_value(COUNTER)
        assert stored is not None
        assert (stored.value, stored.seq) == (1, 2)


def test_a_commit_that_depends_on_nothing_gets_a_later_number(store_url: str) -> None:
    with open_repository(store_url) as repo, open_repository(store_url) as other:
        handles = [repo.create(id="a"), other.open("a")]
        numbers = [handles[turn % 2].append_list(MARKS, str(turn)).first_seq for turn in range(6)]
        assert numbers == [1, 2, 3, 4, 5, 6]


def test_a_late_write_to_a_deleted_session_does_not_bring_it_back(store_url: str) -> None:
    with open_repository(store_url) as repo, open_repository(store_url) as other:
        session = repo.create(id="a")
        session.append_list(MARKS, "old")
        other.delete("a")
        for _ in range(2):
            with pytest.raises(SessionNotFoundError):
                session.append_list(MARKS, "late")
        assert other.list() == []
        with other.create(id="a") as anew:
            assert anew.read_list(MARKS) == []
            with pytest.raises(SessionNotFoundError):
                session.append_list(MARKS, "later")
            assert anew.append_list(MARKS, "new").first_seq == 1


@pytest.mark.parametrize("times", [150, pytest.param(500, marks=pytest.mark.slow)])
def test_every_loss_of_an_increment_is_an_error(store_url: str, workers: Workers, times: int) -> None:
    with open_repository(store_url) as repo:
        repo.create(id="a").close()
        told = workers.run(increment, (store_url, "a", times), (store_url, "a", times))
        successes = sum(done for done, _ in told)
        assert all(done + overtaken == times for done, overtaken in told)
        with repo.open("a") as session:
            stored = session.get_value(COUNTER)
            assert stored is not None
            assert stored.value == successes
            assert stored.seq == successes  # a failed commit takes no number here
