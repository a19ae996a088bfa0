"""Open files that an interrupt drops."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path

import pytest

from sessionstore.descriptor import Descriptor
from sessionstore.testing.interrupts import interrupt
from sessionstore.testing.platform import open_descriptors, platform_capabilities

pytestmark = pytest.mark.skipif(
    "descriptors" not in platform_capabilities(), reason="the system does not tell of open files"
)


def test_an_interrupt_at_any_point_leaves_nothing_open(tmp_path: Path) -> None:
    def open_and_close() -> None:
        Descriptor(tmp_path, os.O_RDONLY).close()

    point = 1
    before = open_descriptors()
    while interrupt(open_and_close, point):
        gc.collect()
        assert open_descriptors() == before, f"point {point}"
        point += 1
    assert point > 3


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_leaves_nothing_open(tmp_path: Path) -> None:
    """The real one: most come while the system opens the file, and are noticed right after."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    def open_and_close() -> None:
        signal.setitimer(signal.ITIMER_REAL, 1e-5)
        for _ in range(100):  # one that comes while an object is dropped is lost
            Descriptor(tmp_path, os.O_RDONLY).close()

    handler = signal.signal(signal.SIGALRM, interrupted)
    try:
        before = open_descriptors()
        count = 0
        for _ in range(300):
            try:
                open_and_close()
            except KeyboardInterrupt:
                count += 1
        assert open_descriptors() == before
        assert count > 100
    finally:
        signal.signal(signal.SIGALRM, handler)


def test_it_may_be_closed_again_and_says_that_it_is(tmp_path: Path) -> None:
    descriptor = Descriptor(tmp_path, os.O_RDONLY)
    os.fstat(descriptor.number)
    assert descriptor.is_open
    descriptor.close()
    descriptor.close()
    assert not descriptor.is_open
    with pytest.raises(ValueError, match="closed"):
        _ = descriptor.number
