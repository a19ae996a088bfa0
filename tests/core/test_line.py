"""Lines: order, dropping, sealing, draining, callbacks, interrupts."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionstore.errors import MutationError, SessionClosedError
from sessionstore.line import Line, Ticket
from sessionstore.testing.interrupts import interrupt
from sessionstore.testing.threads import Worker, race


@pytest.fixture
def line() -> Line:
    return Line("the session")


def granted(ticket: Ticket) -> bool:
    try:
        ticket.check()
    except SessionClosedError:
        return False
    return True


def test_the_first_has_its_turn_at_once(line: Line) -> None:
    assert line.idle
    ticket = line.enqueue()
    assert ticket.settled
    assert not line.idle
    assert ticket.wait()
    ticket.release()
    assert line.idle


def test_turns_come_in_the_order_of_the_tickets(line: Line) -> None:
    tickets = [line.enqueue() for _ in range(5)]
    for index, ticket in enumerate(tickets):
        assert [granted(one) for one in tickets[index:]] == [True] + [False] * (4 - index)
        ticket.release()
    assert line.idle


def test_waiting_threads_are_let_in_one_by_one(line: Line) -> None:
    order: list[int] = []
    holder = line.enqueue()

    def work(n: int, ticket: Ticket) -> None:
        ticket.wait()
        order.append(n)
        ticket.release()

    tickets = [line.enqueue() for _ in range(6)]
    workers = [Worker(work, n, ticket).wait_queued() for n, ticket in reversed(list(enumerate(tickets)))]
    holder.release()
    for worker in workers:
        worker.result()
    assert order == list(range(6))


def test_whoever_leaves_the_queue_is_passed_over(line: Line) -> None:
    first, second, third = (line.enqueue() for _ in range(3))
    second.release()
    second.release()
    first.release()
    assert granted(third)
    with pytest.raises(SessionClosedError):
        second.check()


def test_a_released_turn_is_over(line: Line) -> None:
    ticket = line.enqueue()
    ticket.release()
    with pytest.raises(SessionClosedError, match="the session is closed"):
        ticket.check()
    with pytest.raises(SessionClosedError):
        ticket.wait()
    other = line.enqueue()
    ticket.release()
    assert granted(other), "releasing again must not end the turn of another"


def test_a_dropped_ticket_releases_itself(line: Line) -> None:
    running, waiting = line.enqueue(), line.enqueue()
    last = line.enqueue()
    del waiting
    del running
    gc.collect()
    assert granted(last)


def test_waiting_at_most_a_time(line: Line) -> None:
    holder = line.enqueue()
    ticket = line.enqueue()
    assert not ticket.wait(0.001)
    assert not ticket.settled
    holder.release()
    assert ticket.wait(0.001)


def test_a_turn_for_a_block(line: Line) -> None:
    with line.turn():
        waiting = line.enqueue()
        assert not waiting.settled
    assert granted(waiting)
    waiting.release()
    with pytest.raises(LookupError), line.turn():
        raise LookupError
    assert line.idle


# -- owners ----------------------------------------------------------------------------------


def test_the_owner_of_the_running_turn_gets_no_other(line: Line) -> None:
    ticket = line.enqueue("me")
    with pytest.raises(MutationError, match="the session has a mutation"):
        line.enqueue("me")
    with pytest.raises(MutationError):
        line.refuse_holder("me")
    line.refuse_holder("you")
    waiting = line.enqueue("you")
    line.refuse_holder("you")  # waiting is not holding
    ticket.release()
    with pytest.raises(MutationError):
        line.enqueue("you")
    line.refuse_holder("me")
    waiting.release()
    line.enqueue("you").release()


def test_nobody_owns_a_turn_without_an_owner(line: Line) -> None:
    ticket = line.enqueue()
    line.enqueue().release()
    line.refuse_holder(None)
    ticket.release()


def test_a_turn_can_be_passed_to_another_owner(line: Line) -> None:
    ticket = line.enqueue("me")
    ticket.pass_to("you")
    assert ticket.owner == "you"
    line.refuse_holder("me")
    with pytest.raises(MutationError):
        line.refuse_holder("you")


# -- sealing and draining --------------------------------------------------------------------


def test_sealing_refuses_what_waits_and_keeps_what_runs(line: Line) -> None:
    running, waiting = line.enqueue(), line.enqueue()
    waiter = Worker(waiting.wait).wait_queued()
    line.seal()
    assert line.sealed
    waiter.error(SessionClosedError)
    assert granted(running)
    assert waiting.settled
    with pytest.raises(SessionClosedError):
        line.enqueue()
    waiting.release()
    assert granted(running), "a refused ticket must not end the turn of another"
    running.release()
    line.seal()
    assert line.idle


def test_draining_waits_for_the_running_turn(line: Line) -> None:
    line.drain()
    running = line.enqueue()
    line.seal()
    drains = [Worker(line.drain).wait_draining() for _ in range(3)]
    drains[0].still_waits()
    running.release()
    for drain in drains:
        drain.result()
    line.drain()


def test_draining_an_open_line_waits_for_all_that_comes(line: Line) -> None:
    first, second = line.enqueue(), line.enqueue()
    drain = Worker(line.drain).wait_draining()
    first.release()
    drain.still_waits()
    second.release()
    drain.result()


# -- callbacks -------------------------------------------------------------------------------


def test_callbacks_of_tickets(line: Line) -> None:
    told: list[str] = []
    running = line.enqueue()
    running.on_settled(lambda: told.append("at once"))
    waiting, refused = line.enqueue(), line.enqueue()
    waiting.on_settled(lambda: told.append("granted"))
    refused.on_settled(lambda: told.append("refused"))
    assert told == ["at once"]
    running.release()
    assert told == ["at once", "granted"]
    line.seal()
    assert told == ["at once", "granted", "refused"]
    waiting.release()
    assert told == ["at once", "granted", "refused"], "nobody is told twice"


def test_callbacks_of_the_idle_line(line: Line) -> None:
    told: list[str] = []
    line.on_idle(lambda: told.append("at once"))
    first, second = line.enqueue(), line.enqueue()
    line.on_idle(lambda: told.append("later"))
    first.release()
    assert told == ["at once"]
    second.release()
    assert told == ["at once", "later"]


def test_callbacks_when_those_in_line_have_passed(line: Line) -> None:
    told: list[str] = []
    assert not line.on_passed(lambda: told.append("never"))
    first, second = line.enqueue(), line.enqueue()
    assert line.on_passed(lambda: told.append("both"))
    third = line.enqueue()
    first.release()
    assert told == []
    second.release()
    assert told == ["both"], "who came later is not waited for"
    third.release()


def test_open_ended_turns_are_not_waited_for(line: Line) -> None:
    told: list[str] = []
    first = line.enqueue()
    held = line.enqueue(open_ended=True)
    last = line.enqueue()
    assert line.on_passed(lambda: told.append("first"))
    first.release()
    assert told == ["first"]
    assert not line.on_passed(lambda: told.append("never")), "an open end may wait for the caller"
    held.release()
    last.release()
    assert told == ["first"]


def test_sealing_tells_those_who_wait_for_others_to_pass(line: Line) -> None:
    told: list[str] = []
    running, waiting = line.enqueue(), line.enqueue()
    assert line.on_passed(lambda: told.append("passed"))
    line.seal()
    assert told == ["passed"]
    running.release()
    waiting.release()


# -- interrupts ------------------------------------------------------------------------------


class Stopped(BaseException):
    """Like KeyboardInterrupt, for a thread."""


def test_an_exception_while_waiting_leaves_the_queue(line: Line) -> None:
    """A real signal, to the main thread, which waits in the line."""
    holder = line.enqueue()

    def stop(*_: Any) -> None:
        raise Stopped

    before = signal.signal(signal.SIGUSR1, stop)
    main = threading.main_thread().ident
    assert main is not None
    assert threading.get_ident() == main
    waiting = threading.Event()

    def send() -> None:
        waiting.wait(60)
        while len(line._waiting) == 0:  # noqa: SLF001 RUF100  # nobody outside counts them
            time.sleep(0.001)
        time.sleep(0.01)
        signal.pthread_kill(main, signal.SIGUSR1)

    sender = Worker(send)
    try:
        waiting.set()
        with pytest.raises(Stopped), line.turn():
            raise AssertionError("the turn never came")
    finally:
        signal.signal(signal.SIGUSR1, before)
    sender.result()
    other = line.enqueue()
    holder.release()
    assert granted(other)


def settles(line: Line, call: Callable[[], object]) -> None:
    """Interrupt ``call`` at each of its points; the line has to work after each."""
    point = 1
    while interrupt(call, point):
        with line.turn():
            pass
        assert Worker(line.enqueue).result().wait()
        assert line.idle, f"the line is held after an interrupt at point {point}"
        point += 1
    assert point > 3


def test_an_interrupt_at_any_point_of_a_turn(line: Line) -> None:
    def take_turn() -> None:
        with line.turn("me"):
            pass

    settles(line, take_turn)


def test_an_interrupt_at_any_point_of_waiting(line: Line) -> None:
    def wait_for_a_turn() -> None:
        holder = line.enqueue()
        waiting = line.enqueue()
        waiting.on_settled(lambda: None)
        holder.release()
        waiting.wait()
        waiting.release()

    settles(line, wait_for_a_turn)


def test_an_interrupt_at_any_point_of_sealing() -> None:
    point = 1
    interrupted = True
    while interrupted:
        line = Line("it")
        running, waiting = line.enqueue(), line.enqueue()
        waiter = Worker(waiting.wait).wait_queued()
        interrupted = interrupt(line.seal, point)
        line.seal()
        waiter.error(SessionClosedError)
        drain = Worker(line.drain).wait_draining()
        running.release()
        drain.result()
        point += 1


def test_an_interrupt_at_any_point_of_a_release() -> None:
    point = 1
    interrupted = True
    while interrupted:
        line = Line("it")
        running, waiting = line.enqueue(), line.enqueue()
        waiter = Worker(waiting.wait).wait_queued()
        passed = threading.Event()
        assert line.on_passed(passed.set)
        interrupted = interrupt(running.release, point)
        running.release()
        assert waiter.result()
        waiting.release()
        assert passed.wait(60)
        assert line.idle
        point += 1


# -- anything at all -------------------------------------------------------------------------


actions = st.sampled_from(["enqueue", "enqueue", "release", "drop", "seal"])


@given(st.lists(st.tuples(actions, st.integers(0, 9)), max_size=40))
def test_at_most_one_turn_and_in_order(steps: list[tuple[str, int]]) -> None:
    line = Line("it")
    held: list[Ticket] = []
    for step, index in steps:
        if step == "enqueue":
            if not line.sealed:
                held.append(line.enqueue())
        elif step == "seal":
            line.seal()
        elif held:
            ticket = held.pop(index % len(held))
            if step == "release":
                ticket.release()
            del ticket
        live = [granted(ticket) for ticket in held]
        assert live.count(True) <= 1
        if held and not line.sealed:
            assert live[0], "the first in line should have its turn"
        assert line.idle is (True not in live)


def test_many_threads_take_turns(line: Line) -> None:
    inside = 0
    most = 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(200):
            with line.turn():
                inside += 1
                most = max(most, inside)
                inside -= 1

    for worker in race([work] * 6):
        worker.result()
    assert most == 1
    assert line.idle
