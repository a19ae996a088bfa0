"""What is used of a DBAPI connection and cursor, whichever driver they are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, TypeAlias

Row: TypeAlias = tuple[Any, ...]
"""One row of a result, in the order of the selected columns."""

Values: TypeAlias = Sequence[Any]
"""The values of one execution, in the order that a statement declares."""


class DbapiCursor(Protocol):
    """A cursor of a driver."""

    def execute(self, operation: str, parameters: Any = ..., /) -> Any:
        """Run one statement."""
        ...

    def executemany(self, operation: str, parameters: Iterable[Any], /) -> Any:
        """Run one statement for each sequence of parameters."""
        ...

    def fetchall(self) -> Sequence[Any]:
        """The remaining rows of the last statement."""
        ...

    def close(self) -> Any:
        """End its statement; rows that were not fetched are lost."""
        ...
