"""A time and a memory that no input may go beyond."""

from __future__ import annotations

import faulthandler
import signal
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NoReturn

SECONDS: Final = 10
ADDRESS_SPACE: Final = 1 << 30
"""Bytes that the process may take beyond what it has when the fuzzing begins."""

_ALLOWED: Final = 16 << 20
_TIMES: Final = 200
"""An input may take this many times its size, and a little."""


class TooSlowError(BaseException):
    """An input took too long."""


class TooLargeError(BaseException):
    """An input took too much memory."""


@contextmanager
def bounded_address_space() -> Iterator[None]:
    """Let the process have so much more memory, and no more."""
    import resource  # not on Windows

    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + ADDRESS_SPACE, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextmanager
def in_time() -> Iterator[None]:
    """Raise :class:`TooSlowError` after a while; end the process where no Python code runs by then."""

    def late(*_: Any) -> NoReturn:
        raise TooSlowError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    faulthandler.dump_traceback_later(3 * SECONDS, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def in_memory_of(size: int) -> Iterator[None]:
    """Raise :class:`TooLargeError` when the block takes more than an input of ``size`` bytes may."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    if peak > _ALLOWED + _TIMES * size:
        raise TooLargeError(f"{peak} bytes for an input of {size}")
