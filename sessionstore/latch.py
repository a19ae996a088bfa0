"""Something that happens once, and is waited for."""

from __future__ import annotations

import threading
from contextlib import suppress


class Latch:
    """What ``threading.Event`` is, without its lock, which an interrupt can leave held for good.

    An event is Python code: an interrupt in it comes after its lock is taken and before the block
    that gives it back, and whoever touches the event next hangs. A lock of the interpreter is
    taken and given back in one step each, so there is nothing in between here. Opened once, it
    stays open; it may be opened again by whoever cannot tell.
    """

    __slots__ = ("_lock", "_open")

    def __init__(self) -> None:
        self._open = False
        self._lock = threading.Lock()
        self._lock.acquire()

    def open(self) -> None:
        """Let everybody pass, now and later."""
        self._open = True
        with suppress(RuntimeError):  # it was open before
            self._lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it is open, for at most ``timeout`` seconds; whether it is."""
        if self._open:
            return True
        try:
            self._lock.acquire(timeout=-1 if timeout is None else max(timeout, 0))
        finally:
            # For the next who waits. No call of Python code: an interrupt would come before the release.
            if self._open:
                try:  # noqa: SIM105  # suppress is such code
                    self._lock.release()
                except RuntimeError:  # somebody else has let the next one in
                    pass
        return self._open
