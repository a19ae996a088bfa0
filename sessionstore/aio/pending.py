"""A call whose outcome is awaited, or entered at once with ``async with``."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, TypeVar

M_co = TypeVar("M_co", bound=AbstractAsyncContextManager[Any], covariant=True)


class Opening(Coroutine[Any, Any, M_co]):
    """Opens something when awaited; ``async with`` awaits it, enters it and leaves it.

    ``session = await repo.open(id)`` and ``async with repo.open(id) as session:`` both work. It
    passes for the coroutine that it holds, so tasks can be made of it.
    """

    def __init__(self, opening: Coroutine[Any, Any, M_co]) -> None:
        self._opening = opening
        self._opened: M_co | None = None

    def __await__(self) -> Generator[Any, Any, M_co]:
        return self._opening.__await__()

    def send(self, value: Any) -> Any:
        """As of the coroutine."""
        return self._opening.send(value)

    def throw(self, *args: Any) -> Any:
        """As of the coroutine."""
        return self._opening.throw(*args)

    def close(self) -> None:
        """As of the coroutine."""
        self._opening.close()

    async def __aenter__(self) -> M_co:
        self._opened = await self._opening
        await self._opened.__aenter__()
        return self._opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._opened is not None:
            await self._opened.__aexit__(kind, error, trace)
