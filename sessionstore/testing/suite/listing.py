"""Listing (repository.md section 2)."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from sessionstore.address import value
from sessionstore.errors import InvalidQueryError
from sessionstore.metadata import SessionMetadata
from sessionstore.repository import SessionRepo
from sessionstore.testing.cases import RepositoryFactory, RepositoryGroup, trying
from sessionstore.testing.checks import calling, check, equal, ids_of, refuses
from sessionstore.testing.threads import Worker, race

group = RepositoryGroup("listing")


def _create(repo: SessionRepo, factory: RepositoryFactory, cwd: str, offsets: dict[str, int]) -> list[str]:
    """Create sessions at times relative to now; the ids in the order in which they are to be listed."""
    start = factory.clock.now
    for id, offset in offsets.items():
        factory.clock.now = start + offset
        repo.create(id=id, cwd=cwd).close()
    factory.clock.now = start
    return [id for id, _ in sorted(offsets.items(), key=lambda item: (-item[1], item[0]))]


@group.case()
def the_newest_come_first_and_then_by_id(factory: RepositoryFactory) -> None:
    """List is by created_at descending, then by id ascending in code point order."""
    with trying(factory.open_other()) as repo:
        offsets = {
            "b": 0, "a": 0, "B": 0, "é": 0, "😀": 0, "\ufffd": 0, "ﬀ": 0, "~": 0, "a b": 0, "a%b": 0,
            "older": -5, "newer": 5, "newest": 3_600_000, "oldest": -3_600_000,
        }  # fmt: skip
        expected = _create(repo, factory, "/x", offsets)
        equal(ids_of(repo.list()), expected)
        equal(expected[-3:], ["😀", "older", "oldest"])


@group.case()
def sessions_are_listed_open_or_closed(factory: RepositoryFactory) -> None:
    """List shows open sessions, takes no lock, and works while sessions are written."""
    cwd = f"/{uuid.uuid4()}"
    with trying(factory.open()) as repo, trying(repo.create(cwd=cwd)) as one:
        repo.create(cwd=cwd).close()
        equal(len(repo.list(cwd=cwd)), 2)
        with one.begin_mutation() as mutation:
            equal(len(Worker(lambda: repo.list(cwd=cwd)).result()), 2, "sessions listed during a mutation")
            mutation.commit([])
        one.set_value(value("app"), 1)
        equal(len(repo.list(cwd=cwd)), 2)


@group.case()
def a_cwd_filters_exactly(factory: RepositoryFactory) -> None:
    """``cwd`` keeps the sessions of exactly that working directory."""
    with trying(factory.open_other()) as repo:
        cwds = [
            "/a",
            "/a/",
            "/A",
            "/a/b",
            "/a%",
            "/a_",
            "a",
            "/a ",
            "/é",
            "/e\u0301",
            "C:\\x",
            "/" + "x" * 300,
        ]
        for cwd in cwds:
            repo.create(cwd=cwd).close()
        repo.create().close()
        for cwd in cwds:
            equal([metadata.cwd for metadata in repo.list(cwd=cwd)], [cwd])
        equal(repo.list(cwd="/none"), [])
        equal(len(repo.list()), len(cwds) + 1)


@group.case()
def pages_follow_each_other(factory: RepositoryFactory) -> None:
    """``limit`` and ``before`` page through all sessions, each once, those of one moment too."""
    cwd = f"/{uuid.uuid4()}"
    with trying(factory.open_other()) as repo:
        expected = _create(repo, factory, cwd, {f"s{n:02}": n // 5 for n in range(17)})
        for limit in (1, 2, 4, 5, 16, 17, 18):
            read: list[str] = []
            last: SessionMetadata | None = None
            while page := repo.list(cwd=cwd, limit=limit, before=last):
                check(len(page) <= limit, f"a page of {limit} should not hold {len(page)} sessions")
                read.extend(ids_of(page))
                last = page[-1]
            equal(read, expected, f"pages of {limit}")
        equal(repo.list(limit=0), [])


@group.case()
def paging_survives_changes(factory: RepositoryFactory) -> None:
    """A page goes on after a session that was deleted meanwhile, and does not see newer ones."""
    cwd = f"/{uuid.uuid4()}"
    with trying(factory.open_other()) as repo:
        expected = _create(repo, factory, cwd, {f"s{n}": n for n in range(6)})
        first = repo.list(cwd=cwd, limit=2)
        equal(ids_of(first), expected[:2])
        repo.delete(first[1])
        factory.clock.now += 1000
        repo.create(id="newer", cwd=cwd).close()
        equal(ids_of(repo.list(cwd=cwd, limit=2, before=first[1])), expected[2:4])


@group.case()
def bad_limits_of_lists_are_errors(factory: RepositoryFactory) -> None:
    """A limit that is negative or no integer is an error."""
    with trying(factory.open()) as repo:
        bad: list[Any] = [-1, True, 1.0, "1"]
        for limit in bad:
            refuses(InvalidQueryError, calling(lambda limit: repo.list(limit=limit), limit), "limit")


@group.case()
def texts_that_no_cwd_can_be_are_errors(factory: RepositoryFactory) -> None:
    """What ``create`` refuses as a working directory is refused as a filter too, however it is stored."""
    with trying(factory.open()) as repo:
        bad: list[Any] = ["/a\0", "/\ud800", "/\ud83d\ude00", b"/a", 1, Path("/a")]
        for cwd in bad:
            refuses(InvalidQueryError, calling(lambda cwd: repo.list(cwd=cwd), cwd), "cwd")


@group.case()
def deleted_sessions_are_not_listed(factory: RepositoryFactory) -> None:
    """What was deleted is gone from the list at once."""
    cwd = f"/{uuid.uuid4()}"
    with trying(factory.open()) as repo:
        repo.create(cwd=cwd).close()
        repo.create(cwd=cwd).close()
        repo.delete(repo.list(cwd=cwd)[0])
        equal(len(repo.list(cwd=cwd)), 1)


@group.case()
def listing_beside_creating_and_deleting(factory: RepositoryFactory) -> None:
    """A session that comes or vanishes while the list is made does no harm to the list."""
    cwd = f"/{uuid.uuid4()}"
    with trying(factory.open()) as repo:
        kept = repo.create(cwd=cwd)

        def churn() -> int:
            for _ in range(8):
                with trying(repo.create(cwd=cwd)) as session:
                    metadata = session.metadata
                repo.delete(metadata)
            return 0

        def look() -> int:
            for _ in range(15):
                check(
                    kept.metadata.id in ids_of(repo.list(cwd=cwd)), "the session that stays should be listed"
                )
            return 0

        for worker in race([churn, look, churn, look]):
            worker.result()
        equal(ids_of(repo.list(cwd=cwd)), [kept.metadata.id])
