"""Many sessions of one database, written from many threads and processes at the same time."""

from __future__ import annotations

import pytest
from server.processes import (
    COUNTER,
    MARKS,
    PROCESSES,
    TURN_NUMBERS,
    Workers,
    assert_written,
    write_sessions,
    write_turn,
)
from server.support import hasty_options, lock_session, lock_value, rival

from sessionstore import ForkTree, open_repository

SESSIONS = 64


@pytest.mark.needs("sql", "multi_process")
@pytest.mark.parametrize("turns", [5, pytest.param(20, marks=pytest.mark.slow)])
def test_sixteen_threads_in_each_of_four_processes(store_url: str, workers: Workers, turns: int) -> None:
    ids = [f"s{number:02}" for number in range(SESSIONS)]
    with open_repository(store_url) as repo:
        for id in ids:
            repo.create(id=id).close()
        told = workers.run(
            write_sessions, *[(store_url, ids[number::PROCESSES], turns) for number in range(PROCESSES)]
        )
        numbers = {id: given for of_one in told for id, given in of_one.items()}
        assert sorted(numbers) == ids
        expected = list(range(1, TURN_NUMBERS * turns + 1))
        assert all(given == expected for given in numbers.values())
        assert {metadata.id for metadata in repo.list()} == set(ids)
        for id in ids:
            with repo.open(id) as session:
                assert_written(session, turns)
            assert repo.check_session(id) == []


@pytest.mark.needs("server")
def test_nobody_waits_for_the_lock_of_another_session(store_url: str) -> None:
    """Who would wait fails at once here."""
    with (
        open_repository(store_url, **hasty_options(store_url)) as repo,
        rival(store_url, isolation_level="READ COMMITTED") as holder,
    ):
        sessions = [repo.create(id=f"s{number}") for number in range(5)]
        for session in sessions:
            write_turn(session, 0)
        held = sessions[2]
        lock_session(holder, held.metadata.id)
        lock_value(holder, held.metadata.id, COUNTER)
        for session in sessions:
            if session is not held:
                write_turn(session, 1)
                session.delete_list(MARKS)
                session.delete_value(COUNTER)
        # Nobody who reads waits either, whatever it is.
        assert_written(held, 1)
        assert len(repo.list()) == len(sessions)
        with repo.snapshot(held.metadata) as snapshot:
            assert len(list(snapshot.records)) == 4
        for number, source in enumerate(sessions[:2]):
            repo.fork(source.metadata, ForkTree(), id=f"fork-{number}").close()
            repo.delete(f"fork-{number}")
        repo.fork(held.metadata, ForkTree(), id="fork-of-held").close()
        repo.create(id="new").close()
        holder.rollback()
        write_turn(held, 1)
        assert_written(held, 2)
