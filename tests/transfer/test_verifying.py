"""``verify_store`` asks the store about what only it can see, and repairs only when told to."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from sessionstore import CorruptStorageError, MemorySessionRepo, ephemeral_scope, value
from sessionstore.image import SessionSnapshot
from sessionstore.repository import SessionRef
from sessionstore.transfer import Verdict, verify_store


class FaultyRepo(MemorySessionRepo):
    """A store whose derived data of session ``bad`` is wrong until it is repaired."""

    def __init__(self) -> None:
        super().__init__()
        self.faults = ["the index lacks entry 'e1'"]
        self.unreadable = False
        self.repaired: list[str] = []

    def _check_container(self) -> list[str]:
        return ["one file is no session"]

    def _check_session(self, session: SessionRef) -> list[str]:
        return list(self.faults) if self._id(session) == "bad" else []

    def _repair_session(self, session: SessionRef) -> list[str]:
        self.repaired.append(self._id(session))
        self.unreadable = False
        self.faults = []
        return ["the index was rebuilt"]

    @contextmanager
    def _snapshot(self, session: SessionRef) -> Generator[SessionSnapshot, None, None]:
        if self.unreadable and self._id(session) == "bad":
            raise CorruptStorageError("no JSON", path="/x.jsonl", line=7)
        with super()._snapshot(session) as snapshot:
            yield snapshot

    @staticmethod
    def _id(session: SessionRef) -> str:
        return session if isinstance(session, str) else session.id


@pytest.fixture
def repo() -> FaultyRepo:
    repo = FaultyRepo()
    for id in ("good", "bad"):
        with repo.create(id=id) as session:
            session.create_branch("main").append_message({"role": "user", "content": id})
    return repo


def by_id(verdicts: list[Verdict]) -> dict[str | None, Verdict]:
    return {verdict.session_id: verdict for verdict in verdicts}


def test_container_sessions_and_derived_data_are_checked(repo: FaultyRepo) -> None:
    found = by_id(list(verify_store(repo)))
    assert found[None].problems == ["one file is no session"]
    assert found["good"] == Verdict("good", records=2)
    assert found["bad"].problems == ["the index lacks entry 'e1'"]
    assert repo.repaired == []


def test_repair_touches_what_is_wrong_and_nothing_else(repo: FaultyRepo) -> None:
    found = by_id(list(verify_store(repo, repair=True)))
    assert repo.repaired == ["bad"]
    assert found["bad"] == Verdict("bad", records=2, repairs=["the index was rebuilt"])
    assert found["good"] == Verdict("good", records=2)


def test_a_session_that_cannot_be_read_is_told_and_does_not_stop_the_others(repo: FaultyRepo) -> None:
    repo.unreadable = True
    found = by_id(list(verify_store(repo)))
    assert found["bad"].problems == ["/x.jsonl: line 7: no JSON", "the index lacks entry 'e1'"]
    assert found["good"].problems == []
    assert by_id(list(verify_store(repo, repair=True)))["bad"].problems == []


def test_what_cannot_be_repaired_stays_a_problem(repo: FaultyRepo) -> None:
    with repo.open("bad"):
        verdict = by_id(list(verify_store(repo, repair=True)))["bad"]
    assert verdict.problems[0] == "the index lacks entry 'e1'"
    assert verdict.problems[1].startswith("cannot be repaired: session 'bad' is open")
    assert repo.repaired == []


def test_a_live_scope_is_no_problem_whoever_began_it(repo: FaultyRepo) -> None:
    with repo.open("good") as session:
        session.set_value(value("app.progress", scope=ephemeral_scope("gone")), 1)
    found = by_id(list(verify_store(repo, repair=True)))
    assert found["good"].problems == []
    with repo.open("good") as session:
        assert session.get_value(value("app.progress", scope=ephemeral_scope("gone"))) is not None
