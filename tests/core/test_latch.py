"""Latches: opened once, waited for by anybody, whole after any interrupt."""

from __future__ import annotations

import threading

import pytest

from sessionstore.latch import Latch
from sessionstore.testing.interrupts import interrupt
from sessionstore.testing.threads import Worker


def test_everybody_passes_once_it_is_open() -> None:
    latch = Latch()
    waiters = [Worker(latch.wait).wait_inside(Latch.wait) for _ in range(3)]
    waiters[0].still_waits()
    latch.open()
    assert all(waiter.result() for waiter in waiters)
    assert latch.wait()
    latch.open()
    assert latch.wait()


@pytest.mark.parametrize("timeout", [0.01, 0, -1])
def test_waiting_at_most_a_time(timeout: float) -> None:
    latch = Latch()
    assert not latch.wait(timeout)
    latch.open()
    assert latch.wait(timeout)


def test_an_interrupt_at_any_point_of_opening() -> None:
    point = 1
    interrupted = True
    while interrupted:
        latch = Latch()
        waiters = [Worker(latch.wait).wait_inside(Latch.wait) for _ in range(2)]
        interrupted = interrupt(latch.open, point)
        latch.open()
        assert all(waiter.result() for waiter in waiters)
        point += 1
    assert point > 2


def test_an_interrupt_at_any_point_of_waiting() -> None:
    point = 1
    interrupted = True
    while interrupted:
        latch = Latch()
        other = Worker(latch.wait).wait_inside(Latch.wait)

        def open_and_wait(latch: Latch = latch) -> None:
            threading.Timer(0.02, latch.open).start()
            latch.wait(60)

        interrupted = interrupt(open_and_wait, point)
        latch.open()
        assert other.result()
        assert Worker(latch.wait).result()
        point += 1
    assert point > 3
