"""Threads whose progress a case can force and see, without sleeping and without waiting for ever."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Final, Generic, Self, TypeVar, TypeVarTuple, Unpack

from sessionstore.line import Line, Ticket
from sessionstore.testing.checks import calling, check

PATIENCE: Final[float] = 60.0
"""Seconds after which something that should happen counts as hanging."""

GRACE: Final = 0.02
"""Seconds given to something that must not happen, to happen all the same."""

_R = TypeVar("_R")
_Ts = TypeVarTuple("_Ts")
_E = TypeVar("_E", bound=BaseException)


class Worker(Generic[_R]):
    """A call that runs in a thread of its own."""

    def __init__(self, call: Callable[[Unpack[_Ts]], _R], *args: *_Ts) -> None:
        self._call = calling(call, *args)
        self._outcome: list[_R] = []
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="conformance-worker", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._outcome.append(self._call())
        except BaseException as error:  # noqa: BLE001  # told by result()
            self._failure = error

    @property
    def running(self) -> bool:
        """Whether the call has not ended yet."""
        return self._thread.is_alive()

    @property
    def failed(self) -> BaseException | None:
        """The error of a call that has ended, or None."""
        return self._failure

    def result(self) -> _R:
        """Wait for the end of the call; its result, or its error raised here."""
        self.wait_ended()
        if self._failure is not None:
            raise self._failure
        return self._outcome[0]

    def error(self, kind: type[_E]) -> _E:
        """Wait for the end of the call, which has to have failed with ``kind``."""
        self.wait_ended()
        failure = self._failure
        if isinstance(failure, kind):
            return failure
        raise AssertionError(f"expected {kind.__name__}, got {failure or self._outcome!r}") from failure

    def wait_ended(self) -> None:
        """Wait for the end of the call, whatever it is."""
        self._thread.join(PATIENCE)
        check(not self._thread.is_alive(), "the call hangs")

    def wait_queued(self) -> Self:
        """Wait until the call has a place in a line and waits for its turn."""
        return self.wait_inside(Ticket.wait)

    def wait_draining(self) -> Self:
        """Wait until the call waits for the end of the turn that runs, as a close does."""
        return self.wait_inside(Line.drain)

    def wait_inside(self, function: Callable[..., object]) -> Self:
        """Wait until the call executes ``function``, a method of the lines that all stores share."""
        code = function.__code__
        deadline = time.monotonic() + PATIENCE
        while code not in _codes(self._frame()):
            check(self.running, f"the call ended without waiting in {function.__qualname__}")
            check(time.monotonic() < deadline, f"the call never came to {function.__qualname__}")
            time.sleep(0.0005)
        return self

    def _frame(self) -> FrameType | None:
        ident = self._thread.ident
        # The only way to see from outside where a thread is; CPython documents it for this use.
        # Kept in no variable: this frame is among them, and would keep all the others alive with itself.
        return None if ident is None else sys._current_frames().get(ident)  # pyright: ignore[reportPrivateUsage]

    def still_waits(self) -> None:
        """Check that the call does not end although it was given the time to."""
        self._thread.join(GRACE)
        check(self.running, "the call should still wait, but it ended")


def _codes(frame: FrameType | None) -> list[object]:
    codes: list[object] = []
    while frame is not None:
        codes.append(frame.f_code)
        frame = frame.f_back
    return codes


class Stop:
    """A place where one call stops until it is released. As a context manager it ends released."""

    def __init__(self) -> None:
        self._reached = threading.Event()
        self._released = threading.Event()

    def arrive(self) -> None:
        """Stop here. For the code that is to be stopped."""
        self._reached.set()
        check(self._released.wait(PATIENCE), "a stop was never released")

    def wait_reached(self) -> None:
        """Wait until a call has stopped here."""
        check(self._reached.wait(PATIENCE), "the stop was never reached")

    @property
    def reached(self) -> bool:
        """Whether a call has stopped here."""
        return self._reached.is_set()

    def release(self) -> None:
        """Let the call go on; calls that come later do not stop."""
        self._released.set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def race(calls: list[Callable[[], _R]]) -> list[Worker[_R]]:
    """Run ``calls`` at the same moment, each in a thread; returns when all have ended."""
    start = threading.Barrier(len(calls))

    def at_once(call: Callable[[], _R]) -> Callable[[], _R]:
        def run() -> _R:
            start.wait(PATIENCE)
            return call()

        return run

    workers = [Worker(at_once(call)) for call in calls]
    for worker in workers:
        worker.wait_ended()
    return workers
