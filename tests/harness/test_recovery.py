"""Recovery by tag (harness.md section 3), on every store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from harness.support import FRAMES

from sessionstore import InvalidQueryError, Session, append_list, open_repository
from sessionstore.aio import AsyncSessionRepo
from sessionstore.harness import read_back_to_tag


@pytest.fixture
def session(store_url: str) -> Iterator[Session]:
    with open_repository(store_url) as repo, repo.create() as session:
        yield session


class Counted:
    """Has read_list and nothing else; remembers how long the pages were."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.pages: list[int] = []

    def read_list(self, address: Any, **options: Any) -> Any:
        assert options["order"] == "desc"
        page = self._session.read_list(address, **options)
        assert len(page) <= options["limit"]
        self.pages.append(len(page))
        return page


def fill(session: Session, count: int, tagged: dict[int, str]) -> None:
    session.commit([append_list(FRAMES, number, tagged.get(number)) for number in range(count)])


@pytest.mark.parametrize(
    ("count", "tagged", "expected", "pages"),
    [
        (0, [], [], [0]),
        (3, [], [0, 1, 2], [3]),
        (4, [], [0, 1, 2, 3], [4, 0]),
        (10, [], list(range(10)), [4, 4, 2]),
        (10, [9], [9], [1]),
        (10, [6], [6, 7, 8, 9], [4]),
        (10, [5], [5, 6, 7, 8, 9], [4, 1]),
        (10, [0], list(range(10)), [4, 4, 2]),
        (8, [0], list(range(8)), [4, 4]),
        (10, [2, 7], [7, 8, 9], [3]),
    ],
)
def test_everything_from_the_newest_tagged_element_on_oldest_first(
    session: Session, count: int, tagged: list[int], expected: list[int], pages: list[int]
) -> None:
    fill(session, count, {**dict.fromkeys((1, 8), "other"), **dict.fromkeys(tagged, "full")})
    reader = Counted(session)
    found = read_back_to_tag(reader, FRAMES, "full", page=4)
    assert [element.value for element in found] == expected
    assert [element.seq for element in found] == sorted(element.seq for element in found)
    assert reader.pages == pages


def test_a_mutation_reads_back_too(session: Session) -> None:
    fill(session, 5, {3: "full"})
    with session.begin_mutation() as mutation:
        assert [found.value for found in read_back_to_tag(mutation, FRAMES, "full")] == [3, 4]


@pytest.mark.parametrize("page", [0, -1, 10_001])
def test_the_page_is_bounded(session: Session, page: int) -> None:
    with pytest.raises(InvalidQueryError):
        read_back_to_tag(session, FRAMES, "full", page=page)


def test_async_readers_are_awaited(store_url: str) -> None:
    async def read() -> None:
        async with AsyncSessionRepo(open_repository(store_url)) as repo, repo.create() as session:
            await session.commit(
                [append_list(FRAMES, number, "full" if number == 3 else None) for number in range(9)]
            )
            for page in (1, 2, 6, 500):
                found = await read_back_to_tag(session, FRAMES, "full", page=page)
                assert [element.value for element in found] == [3, 4, 5, 6, 7, 8]
            async with session.begin_mutation() as mutation:
                found = await read_back_to_tag(mutation, FRAMES, "none", page=4)
                assert [element.value for element in found] == list(range(9))

    asyncio.run(read())
