"""Recovery by tag: the newest complete replacement in a list, and what came after it."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Final, Protocol, TypeVar, overload

from sessionstore.address import ValueList
from sessionstore.aio import AsyncReaders
from sessionstore.entries import ListElement
from sessionstore.errors import InvalidQueryError
from sessionstore.queries import MAX_LIST_LIMIT

T = TypeVar("T")

PAGE: Final = 500
"""How many elements are read at a time, unless told otherwise."""


class _Reader(Protocol):
    def read_list(
        self,
        address: ValueList[T, Any],
        *,
        cursor: int | None = None,
        order: str = "asc",
        limit: int | None = None,
        stop_at_tag: str | None = None,
    ) -> list[ListElement[T]]: ...


@overload
def read_back_to_tag(
    reader: _Reader, address: ValueList[T, Any], tag: str, *, page: int = PAGE
) -> list[ListElement[T]]: ...
@overload
def read_back_to_tag(
    reader: AsyncReaders, address: ValueList[T, Any], tag: str, *, page: int = PAGE
) -> Coroutine[Any, Any, list[ListElement[T]]]: ...
def read_back_to_tag(
    reader: _Reader | AsyncReaders, address: ValueList[T, Any], tag: str, *, page: int = PAGE
) -> list[ListElement[T]] | Coroutine[Any, Any, list[ListElement[T]]]:
    """The elements from the newest one that bears ``tag`` on, oldest first: ready to be reduced.

    All of the list when none bears it. Reads newest first, at most ``page`` elements (up to
    10,000) at a time. A writer may append meanwhile; that the list is not deleted and its scope
    not retired between two pages is the caller's to see to, best by reading with a mutation.
    """
    if not 1 <= page <= MAX_LIST_LIMIT:
        raise InvalidQueryError(f"page must be 1 to {MAX_LIST_LIMIT}; got {page}")
    if isinstance(reader, AsyncReaders):
        return _read_async(reader, address, tag, page)
    pages: _Pages[T] = _pages(tag, page)
    try:
        cursor = next(pages)
        while True:
            cursor = pages.send(
                reader.read_list(address, cursor=cursor, order="desc", limit=page, stop_at_tag=tag)
            )
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # what the generator returns


async def _read_async(
    reader: AsyncReaders, address: ValueList[T, Any], tag: str, page: int
) -> list[ListElement[T]]:
    pages: _Pages[T] = _pages(tag, page)
    cursor = next(pages)
    while True:
        elements = await reader.read_list(address, cursor=cursor, order="desc", limit=page, stop_at_tag=tag)
        try:
            cursor = pages.send(elements)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]  # what the generator returns


_Pages = Generator[int | None, list[ListElement[T]], list[ListElement[T]]]


def _pages(tag: str, page: int) -> _Pages[T]:
    """Asks for the page before a cursor until the tag or the start of the list is reached."""
    found: list[ListElement[T]] = []
    cursor = None
    while True:
        elements = yield cursor
        found.extend(elements)
        if len(elements) < page or elements[-1].tag == tag:
            found.reverse()
            return found
        cursor = elements[-1].seq
