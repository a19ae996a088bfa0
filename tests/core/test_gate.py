"""Gates: who is inside, and what closing waits for."""

from __future__ import annotations

import gc
import os
import threading

import pytest

from sessionstore.errors import SessionClosedError
from sessionstore.line import ActivityGate
from sessionstore.testing.interrupts import interrupt
from sessionstore.testing.threads import Worker, race


@pytest.fixture
def gate() -> ActivityGate:
    return ActivityGate("the session")


def test_a_gate_lets_in_until_it_is_sealed(gate: ActivityGate) -> None:
    gate.check_open()
    with gate.visit(), gate.visit():
        gate.seal()
        with pytest.raises(SessionClosedError, match="the session is closed"):
            gate.check_open()
        with pytest.raises(SessionClosedError), gate.visit():
            raise AssertionError("a sealed gate let somebody in")
    gate.drain()


def test_draining_a_gate_waits_for_everybody(gate: ActivityGate) -> None:
    one, two = gate.visit(), gate.visit()
    one.__enter__()
    two.__enter__()
    gate.seal()
    drain = Worker(gate.drain)
    drain.still_waits()
    one.__exit__()
    one.__exit__()
    drain.still_waits()
    two.__exit__()
    drain.result()


def test_an_error_that_is_kept_keeps_nobody_inside(gate: ActivityGate) -> None:
    with gate.visit():
        gate.seal()
        with pytest.raises(SessionClosedError) as kept, gate.visit():
            pass
    Worker(gate.drain).result()
    assert kept.value.__traceback__ is not None


def test_a_dropped_visit_ends(gate: ActivityGate) -> None:
    visit = gate.visit()
    visit.__enter__()
    gate.seal()
    del visit
    gc.collect()
    Worker(gate.drain).result()


def test_an_interrupt_at_any_point_of_a_visit() -> None:
    point = 1
    interrupted = True
    while interrupted:
        gate = ActivityGate("it")

        def visit(gate: ActivityGate = gate) -> None:
            with gate.visit():
                pass

        interrupted = interrupt(visit, point)
        gate.seal()
        Worker(gate.drain).result()
        point += 1


def test_a_gate_and_many_threads() -> None:
    for _ in range(20):
        gate = ActivityGate("it")
        sealed = threading.Event()

        def come(gate: ActivityGate = gate, sealed: threading.Event = sealed) -> None:
            for _ in range(50):
                try:
                    with gate.visit():
                        assert not sealed.is_set(), "somebody is inside after the drain"
                except SessionClosedError:
                    return

        def close(gate: ActivityGate = gate, sealed: threading.Event = sealed) -> None:
            gate.seal()
            gate.drain()
            sealed.set()

        for worker in race([come, come, come, close]):
            worker.result()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_gate_in_a_forked_child(gate: ActivityGate) -> None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                gate.check_open()
            except SessionClosedError as error:
                code = 0 if "os.fork()" in str(error) else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    gate.check_open()
    with gate.visit():
        pass
