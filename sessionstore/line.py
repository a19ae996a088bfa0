"""FIFO lines: who may work next, and what closing waits for (repository.md section 1).

A line hands out tickets. Taking one never blocks, so an event loop can queue in call order and be
told when its turn comes; a thread waits on an event. A ticket has an owner (a thread, a task): the
owner of the running ticket can never be granted another, so asking raises instead of hanging.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from typing import Final

from sessionstore.errors import MutationError, SessionClosedError
from sessionstore.latch import Latch

current_owner: Final[ContextVar[Hashable | None]] = ContextVar("current_owner", default=None)
"""Who asks for a turn, where that is not the running thread: the async facade sets it."""

granted_ticket: Final[ContextVar[Ticket | None]] = ContextVar("granted_ticket", default=None)
"""A turn that was waited for elsewhere, to be used by the next call of this context that needs one."""


class _State(Enum):
    WAITING = "waiting"
    GRANTED = "granted"
    REFUSED = "refused"
    ENDED = "ended"


# Looked up once: an attribute of an enum costs more than the rest of a comparison.
_WAITING: Final = _State.WAITING
_GRANTED: Final = _State.GRANTED
_REFUSED: Final = _State.REFUSED
_ENDED: Final = _State.ENDED


class _Turn:
    """One place in the line, which outlives a ticket that is dropped."""

    __slots__ = ("followers", "on_settled", "open_ended", "owner", "state", "told")

    def __init__(self, owner: Hashable | None, open_ended: bool) -> None:
        self.owner = owner
        self.open_ended = open_ended
        self.state = _ENDED  # until it is in a line
        self.on_settled: Callable[[], object] | None = None
        self.told = False
        self.followers: list[Callable[[], object]] = []

    def tell(self) -> None:
        """Call back, once, whoever waits for this turn."""
        if self.on_settled is not None and not self.told:
            self.on_settled()
            self.told = True


class Ticket:
    """A place in a line, until :meth:`release`.

    A ticket that is dropped, by an exception between two steps say, releases itself: no line
    outlives a failed or interrupted call.
    """

    _released = True  # until __init__ is through: it may be dropped before that

    def __init__(self, line: Line, turn: _Turn) -> None:
        self._line = line
        self._turn = turn
        self._released = False

    @property
    def owner(self) -> Hashable | None:
        """Who cannot be granted another turn while this one runs."""
        return self._turn.owner

    def pass_to(self, owner: Hashable | None) -> None:
        """Make it ``owner``'s from now on."""
        self._turn.owner = owner

    @property
    def settled(self) -> bool:
        """Whether the turn has come, or has been refused because the line was sealed."""
        return self._turn.state is not _WAITING

    def on_settled(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` once the ticket is settled: at once, or in the thread that settles it.

        It must be quick, and not mind being called twice.
        """
        with self._line.guard:
            if not self.settled:
                self._turn.on_settled = callback
                return
        callback()

    def wait(self, timeout: float | None = None) -> bool:
        """Block until the turn has come, for at most ``timeout`` seconds; whether it has.

        Raises ``SessionClosedError`` when it was refused.
        """
        if self._turn.state is _WAITING:
            settled = Latch()
            self.on_settled(settled.open)
            if not settled.wait(timeout):
                return False
        if self._turn.state is not _GRANTED:
            self.check()
        return True

    def check(self) -> None:
        """Raise ``SessionClosedError`` unless the turn has come and is not over."""
        if self._turn.state is not _GRANTED:
            raise self._line.closed_error()

    def release(self) -> None:
        """End the turn, or leave the line; may be called again."""
        if not self._released:
            self._line.end(self._turn)
            self._released = True

    __del__ = release


def take_granted() -> Ticket | None:
    """The turn that this context was given, for the caller to end; nobody else gets it."""
    ticket = granted_ticket.get()
    if ticket is not None:
        granted_ticket.set(None)
    return ticket


class Line:
    """First come, first served; one turn at a time.

    Every step can be cut short by an interrupt: :meth:`_advance` brings the line from whatever
    state it was left in to the one that it should be in, and whoever comes next calls it.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        # Reentrant, because a dropped ticket may be collected while this thread is inside.
        self.guard: Final = threading.RLock()
        self._running: _Turn | None = None
        self._waiting: deque[_Turn] = deque()
        self._sealed = False
        self._on_idle: list[Callable[[], object]] = []

    def enqueue(self, owner: Hashable | None = None, *, open_ended: bool = False) -> Ticket:
        """Take the next place. Never blocks.

        An ``open_ended`` turn is held by somebody who may do anything before ending it; nobody
        waits for one through :meth:`on_passed`. Raises ``SessionClosedError`` when the line is
        sealed, and ``MutationError`` when the running turn is ``owner``'s own, which could never
        be granted.
        """
        turn = _Turn(owner, open_ended)
        ticket = Ticket(self, turn)
        with self.guard:
            if self._sealed:
                raise self.closed_error()
            if owner is not None:
                self.refuse_holder(owner)
            if self._running is None and not self._waiting:
                # Nobody is here, as nearly always: what :meth:`_advance` would come to.
                turn.state = _GRANTED
                self._running = turn
            else:
                turn.state = _WAITING
                self._waiting.append(turn)
                self._advance()
        return ticket

    def refuse_holder(self, owner: Hashable | None) -> None:
        """Raise ``MutationError`` when ``owner`` holds the running turn."""
        running = self._running
        if owner is not None and running is not None and running.state is _GRANTED and running.owner == owner:
            raise MutationError(
                f"{self._what} has a mutation that this thread or task holds: "
                "use the mutation itself, or end it first"
            )

    @property
    def idle(self) -> bool:
        """Whether no turn runs, and so none waits."""
        return self._running is None

    @property
    def sealed(self) -> bool:
        """Whether nothing more is admitted."""
        return self._sealed

    @contextmanager
    def turn(self, owner: Hashable | None = None) -> Generator[None, None, None]:
        """Wait for a turn and hold it for the length of a ``with`` block."""
        ticket = self.enqueue(owner)
        try:
            ticket.wait()
            yield
        finally:
            ticket.release()

    def end(self, turn: _Turn) -> None:
        """End ``turn`` wherever it is, and let the next in."""
        with self.guard:
            turn.state = _ENDED
            self._advance()

    def _advance(self) -> None:
        while self._running is None or self._running.state is _ENDED:
            if self._running is not None and self._running.followers:
                _call_all(self._running.followers)
            if not self._waiting:
                self._running = None
                if self._on_idle:
                    _call_all(self._on_idle)
                return
            self._running = self._waiting[0]
            self._waiting.popleft()
        self._running.state = _GRANTED
        if self._running.on_settled is not None:
            self._running.tell()

    def on_passed(self, callback: Callable[[], object]) -> bool:
        """Call ``callback`` once everybody who is in line now has left it; never blocks.

        Those from the first open-ended turn on are not waited for: its holder may be waiting for
        the caller. False, and the callback is not kept, when there is nobody to wait for. It is
        called as :meth:`Ticket.on_settled` says.
        """
        if self.idle:
            return False
        with self.guard:
            last = self._last_before_open_end()
            if last is None:
                return False
            last.followers.append(callback)
        return True

    def _last_before_open_end(self) -> _Turn | None:
        last = None
        for turn in (self._running, *self._waiting):
            # A turn that left while it waited keeps its place until the line has come to it.
            if turn is not None and turn.state is not _ENDED:
                if turn.open_ended:
                    break
                last = turn
        return last

    def seal(self) -> None:
        """Admit nothing more and refuse what waits; the running turn goes on. Never blocks."""
        with self.guard:
            self._sealed = True
            while self._waiting:
                turn = self._waiting[0]
                if turn.state is _WAITING:
                    turn.state = _REFUSED
                turn.tell()
                _call_all(turn.followers)
                self._waiting.popleft()

    def on_idle(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` once no turn runs: at once, or as :meth:`Ticket.on_settled` says."""
        with self.guard:
            self._on_idle.append(callback)
            self._advance()

    def drain(self) -> None:
        """Block until no turn runs."""
        idle = Latch()
        self.on_idle(idle.open)
        idle.wait()

    def closed_error(self) -> SessionClosedError:
        """The error of whoever comes after :meth:`seal`."""
        return SessionClosedError(f"{self._what} is closed")


def _call_all(callbacks: list[Callable[[], object]]) -> None:
    # Called before it is removed: an interrupt in between calls it twice rather than never.
    while callbacks:
        callbacks[-1]()
        callbacks.pop()


_process = object()
"""Stands for this process: asking the system for its number takes longer than the rest of a visit."""


def _become_another_process() -> None:
    global _process  # noqa: PLW0603  # what a fork changes is the process itself
    _process = object()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_become_another_process)


class Visit:
    """One call's stay inside an :class:`ActivityGate`, as a context manager.

    Like a ticket, a visit that an interrupt drops ends itself.
    """

    _over = True  # until it is inside

    def __init__(self, gate: ActivityGate) -> None:
        self._gate = gate

    def __enter__(self) -> None:
        self._over = False
        try:
            self._gate.let_in(self)
        except BaseException:
            # Not left to the dropping of this object: whoever keeps the error keeps it alive.
            self.__exit__()
            raise

    def __exit__(self, *_: object) -> None:
        if not self._over:
            self._gate.let_out(self)
            self._over = True

    __del__ = __exit__


class ActivityGate:
    """Knows the calls that are inside, so that closing can wait for them to leave."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._process = _process
        # One set operation each way, which is atomic, so that no lock is needed.
        self._inside: set[int] = set()
        self._sealed = False
        self._empty = Latch()

    def visit(self) -> Visit:
        """A stay inside: ``with gate.visit():``. Entering raises what :meth:`check_open` does."""
        return Visit(self)

    def let_in(self, visit: Visit) -> None:
        """Count ``visit`` in; for :class:`Visit` only."""
        self._inside.add(id(visit))
        # After being counted: whoever seals either sees the visit or has it turned away here.
        self.check_open()

    def let_out(self, visit: Visit) -> None:
        """Count ``visit`` out, if it is in; for :class:`Visit` only."""
        self._inside.discard(id(visit))
        if self._sealed and not self._inside:
            self._empty.open()

    def check_open(self) -> None:
        """Raise ``SessionClosedError`` after :meth:`seal` and in a forked child."""
        self.check_process()
        if self._sealed:
            raise SessionClosedError(f"{self._what} is closed")

    def check_process(self) -> None:
        """Raise ``SessionClosedError`` in a child made by ``os.fork()``: handles do not cross it."""
        if self._process is not _process:
            raise SessionClosedError(
                f"{self._what} was opened before os.fork(); open it again in this process"
            )

    def seal(self) -> None:
        """Let nobody in any more. Never blocks."""
        self._sealed = True
        if not self._inside:
            self._empty.open()

    def drain(self) -> None:
        """Block until everybody has left; call :meth:`seal` first."""
        self._empty.wait()
