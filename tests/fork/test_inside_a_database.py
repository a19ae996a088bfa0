"""Forks that copy entries inside their database: paths of many ranges, and sources that go meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fork.owner import commit_turn, configure, turn_id, turns_in

import sessionstore.sql.repo
from sessionstore import (
    ForkBranch,
    ForkTree,
    NewMessageEntry,
    SessionMetadata,
    SessionNotFoundError,
    SessionRepo,
    insert_entry,
    open_repository,
    set_value,
)
from sessionstore.builtin import branch_tip, entry_label
from sessionstore.sql.forking import copy_entries

pytestmark = pytest.mark.needs("sql")

DIVERGENCES = 700


@pytest.fixture
def repo(store_url: str) -> Iterator[SessionRepo]:
    with open_repository(store_url) as repo:
        yield repo


@pytest.fixture
def zigzag(repo: SessionRepo) -> SessionMetadata:
    """A path on which every entry has a sibling that was written before it: as many ranges as entries."""
    with repo.create() as session:
        configure(session)
        writes: list[Any] = []
        for number in range(1, DIVERGENCES + 1):
            parent = f"p{number - 1}" if number > 1 else None
            message = {"role": "user", "content": str(number)}
            writes += [
                insert_entry(NewMessageEntry(f"s{number}", parent, message)),
                insert_entry(NewMessageEntry(f"p{number}", parent, message)),
            ]
        labels = [set_value(entry_label(id), id) for id in ("s1", "p1", "s350", "p350", f"p{DIVERGENCES}")]
        session.commit([*writes, *labels, set_value(branch_tip("main"), f"p{DIVERGENCES}")])
        return session.metadata


@pytest.mark.parametrize("cut", [1, 2, 255, 256, 257, 400, DIVERGENCES])
def test_a_path_of_many_ranges_is_copied_exactly(
    repo: SessionRepo, zigzag: SessionMetadata, cut: int
) -> None:
    path = [f"p{number}" for number in range(1, cut + 1)]
    with repo.fork(zigzag, ForkBranch(entry_id=f"p{cut}")) as copy:
        assert [entry.id for entry in copy.scan_branch(f"p{cut}", order="asc")] == path
        assert [entry.id for entry in copy.find_entries(order="asc")] == path
        assert copy.get_stats().message_count == cut
        labelled = [stored.address.key for stored in copy.scan_values(entry_label("p").at_key(""))]
        assert labelled == sorted({"p1", "p350", f"p{DIVERGENCES}"} & set(path))
        main = copy.branch("main")
        assert main is not None
        added = main.append_message({"role": "user", "content": "more"})
        assert [entry.id for entry in main.find_entries(limit=2)] == [added, path[-1]]
        assert repo.check_session(copy.metadata) == []


def test_a_tree_of_many_ranges_is_copied_exactly(repo: SessionRepo, zigzag: SessionMetadata) -> None:
    with repo.open(zigzag) as source, repo.fork(zigzag, ForkTree()) as copy:
        assert copy.find_entries(order="asc") == source.find_entries(order="asc")
        for start in ("s1", "p1", "s257", f"p{DIVERGENCES}"):
            assert copy.scan_branch(start) == source.scan_branch(start)
        assert repo.check_session(copy.metadata) == []


@pytest.mark.needs("server")
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("fork", [ForkBranch(), ForkTree()], ids=["branch", "tree"])
def test_a_source_that_goes_while_its_entries_are_copied(
    repo: SessionRepo,
    store_url: str,
    when: str,
    replaced: bool,
    fork: ForkBranch | ForkTree,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a server a deletion can come between the statements of a fork; SQLite has one writer."""
    with repo.create() as session:
        configure(session)
        for number in range(1, 4):
            commit_turn(session, number)
    source = session.metadata

    def go() -> None:
        with open_repository(store_url, clock=lambda: source.created_at + 1_000) as elsewhere:
            elsewhere.delete(source)
            if replaced:
                with elsewhere.create(id=source.id) as other:
                    configure(other)
                    commit_turn(other, 1, "another")

    def copying(*args: Any) -> None:
        if when == "before":
            go()
        copy_entries(*args)

    class Link:
        """The source goes after its last entry was copied, before it is looked for again."""

        def __init__(self, link: Any) -> None:
            self._link = link

        def __getattr__(self, name: str) -> Any:
            return getattr(self._link, name)

        def rows(self, *args: Any) -> Any:
            go()
            return self._link.rows(*args)

    def copying_then_gone(link: Any, *args: Any) -> None:
        copy_entries(Link(link), *args)  # type: ignore[arg-type]

    monkeypatch.setattr(
        sessionstore.sql.repo, "copy_entries", copying if when == "before" else copying_then_gone
    )
    with pytest.raises(SessionNotFoundError, match=source.id):
        repo.fork(source, fork, id="destination")
    monkeypatch.undo()
    assert "destination" not in [found.id for found in repo.list()]
    repo.create(id="destination").close()


@pytest.mark.needs("server")
def test_a_source_that_goes_after_its_entries_were_copied(
    repo: SessionRepo, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other order: the fork is whole."""
    with repo.create() as session:
        configure(session)
        commit_turn(session, 1)
    source = session.metadata

    def copying_then_gone(*args: Any) -> None:
        copy_entries(*args)
        with open_repository(store_url) as elsewhere:
            elsewhere.delete(source)

    monkeypatch.setattr(sessionstore.sql.repo, "copy_entries", copying_then_gone)
    fork = ForkTree(include_application_state=True)
    with repo.fork(source, fork) as copy:
        assert turns_in(copy, fork) == 1
        assert copy.get_entry(turn_id(1)) is not None
