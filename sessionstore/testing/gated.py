"""A store whose calls stop or fail at named points, to force races and faults."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeVar, get_args

from sessionstore.entries import CommitResult
from sessionstore.storage import Storage
from sessionstore.testing.threads import Stop
from sessionstore.testing.wrapping import StorageWrapper
from sessionstore.writes import Write

R = TypeVar("R")

Point: TypeAlias = Literal[
    "before_commit", "after_commit", "before_read", "after_read", "before_close", "after_close"
]
"""Where a call can stop. ``after_commit``: it has happened, and the caller does not know it yet."""

POINTS: Final[tuple[Point, ...]] = get_args(Point)


class GatedStorage(StorageWrapper):
    """Stops at named points.

    Each :meth:`stop_at` holds up one call, the next that comes to the point; the calls after it go
    on. So does :meth:`fail_at`, with an error instead of a wait. Where both have been asked for at
    a point, calls are served in the order of the asking. Like this::

        with gated.stop_at("before_commit") as stop:
            worker = Worker(lambda: gated.commit(writes))
            stop.wait_reached()
            ...                    # nothing has been committed
        worker.result()            # leaving the block has released the call
    """

    def __init__(self, inner: Storage) -> None:
        super().__init__(inner)
        self._guard = threading.Lock()
        self._waiting: dict[Point, deque[Callable[[], object]]] = {point: deque() for point in POINTS}

    def stop_at(self, point: Point) -> Stop:
        """Hold up the next call at ``point`` until the stop is released."""
        stop = Stop()
        self._expect(point, stop.arrive)
        return stop

    def fail_at(self, point: Point, error: BaseException) -> None:
        """Let the next call at ``point`` raise ``error``."""

        def fail() -> None:
            raise error

        self._expect(point, fail)

    def _expect(self, point: Point, arrive: Callable[[], object]) -> None:
        if point not in self._waiting:
            raise ValueError(f"{point!r} is no point; they are {', '.join(POINTS)}")
        with self._guard:
            self._waiting[point].append(arrive)

    def _pass(self, point: Point) -> None:
        with self._guard:
            waiting = self._waiting[point]
            arrive = waiting.popleft() if waiting else None
        if arrive is not None:
            arrive()

    def around_read(self, read: Callable[[], R]) -> R:
        """Pass ``before_read`` and ``after_read``."""
        self._pass("before_read")
        outcome = read()
        self._pass("after_read")
        return outcome

    def around_commit(self, writes: Sequence[Write[Any]], commit: Callable[[], CommitResult]) -> CommitResult:
        """Pass ``before_commit`` and, when the commit has succeeded, ``after_commit``."""
        self._pass("before_commit")
        result = commit()
        self._pass("after_commit")
        return result

    def around_close(self, close: Callable[[], None]) -> None:
        """Pass ``before_close`` and ``after_close``."""
        self._pass("before_close")
        close()
        self._pass("after_close")
