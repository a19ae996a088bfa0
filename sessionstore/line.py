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
from enum import Enum
from typing import Final

from sessionstore.errors import MutationError, SessionClosedError


class _State(Enum):
    WAITING = "waiting"
    GRANTED = "granted"
    REFUSED = "refused"
    ENDED = "ended"


class _Turn:
    """One place in the line, which outlives a ticket that is dropped."""

    __slots__ = ("on_change", "owner", "state")

    def __init__(self, owner: Hashable | None) -> None:
        self.owner = owner
        self.state = _State.ENDED  # until it is in a line
        self.on_change: Callable[[], object] | None = None


class Ticket:
    """A place in a line, until :meth:`release`.

    A ticket that is dropped, by an exception between two steps say, releases itself: no line
    outlives a failed or interrupted call.
    """

    __slots__ = ("_line", "_turn")

    def __init__(self, line: Line, turn: _Turn) -> None:
        self._line = line
        self._turn = turn

    @property
    def settled(self) -> bool:
        """Whether the turn has come, or has been refused because the line was sealed."""
        return self._turn.state is not _State.WAITING

    def on_settled(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` once the ticket is settled: at once, or in the thread that settles it."""
        with self._line.guard:
            if self._turn.state is _State.WAITING:
                self._turn.on_change = callback
                return
        callback()

    def wait(self) -> None:
        """Block until the turn has come. Raises ``SessionClosedError`` when it was refused."""
        if self._turn.state is _State.WAITING:
            settled = threading.Event()
            self.on_settled(settled.set)
            settled.wait()
        self.check()

    def check(self) -> None:
        """Raise ``SessionClosedError`` unless the turn has come and is not over."""
        if self._turn.state is not _State.GRANTED:
            raise self._line.closed_error()

    def release(self) -> None:
        """End the turn, or leave the line; may be called again."""
        self._line.end(self._turn)

    def __del__(self) -> None:
        if self._turn.state is not _State.ENDED:
            self._line.end(self._turn)


class Line:
    """First come, first served; one turn at a time."""

    def __init__(self, what: str) -> None:
        self._what = what
        # Reentrant, because a dropped ticket may be collected while this thread is inside.
        self.guard: Final = threading.RLock()
        self._running: _Turn | None = None
        self._waiting: deque[_Turn] = deque()
        self._sealed = False
        self._on_idle: list[Callable[[], object]] = []

    def enqueue(self, owner: Hashable | None = None) -> Ticket:
        """Take the next place. Never blocks.

        Raises ``SessionClosedError`` when the line is sealed, and ``MutationError`` when the
        running turn is ``owner``'s own, which could never be granted.
        """
        turn = _Turn(owner)
        ticket = Ticket(self, turn)
        with self.guard:
            if self._sealed:
                raise self.closed_error()
            self.refuse_holder(owner)
            if self._running is None:
                self._running = turn
                turn.state = _State.GRANTED
            else:
                self._waiting.append(turn)
                turn.state = _State.WAITING
        return ticket

    def refuse_holder(self, owner: Hashable | None) -> None:
        """Raise ``MutationError`` when ``owner`` holds the running turn."""
        running = self._running
        if owner is not None and running is not None and running.owner == owner:
            raise MutationError(
                f"{self._what} has a mutation that this thread or task holds: "
                "use the mutation itself, or end it first"
            )

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
        settled: list[Callable[[], object]] = []
        with self.guard:
            if turn.state is _State.GRANTED:
                turn.state = _State.ENDED
                self._running = None
                self._let_next_in(settled)
            elif turn.state is _State.WAITING:
                self._waiting.remove(turn)
            turn.state = _State.ENDED
        for callback in settled:
            callback()

    def _let_next_in(self, settled: list[Callable[[], object]]) -> None:
        if self._waiting:
            turn = self._running = self._waiting.popleft()
            turn.state = _State.GRANTED
            if turn.on_change is not None:
                settled.append(turn.on_change)
        else:
            settled.extend(self._on_idle)
            self._on_idle.clear()

    def seal(self) -> None:
        """Admit nothing more and refuse what waits; the running turn goes on. Never blocks."""
        settled: list[Callable[[], object]] = []
        with self.guard:
            self._sealed = True
            for turn in self._waiting:
                turn.state = _State.REFUSED
                if turn.on_change is not None:
                    settled.append(turn.on_change)
            self._waiting.clear()
        for callback in settled:
            callback()

    def drain(self) -> None:
        """Block until no turn runs."""
        idle = threading.Event()
        with self.guard:
            if self._running is None:
                return
            self._on_idle.append(idle.set)
        idle.wait()

    def closed_error(self) -> SessionClosedError:
        """The error of whoever comes after :meth:`seal`."""
        return SessionClosedError(f"{self._what} is closed")


class ActivityGate:
    """Counts the calls that are inside, so that closing can wait for them to leave."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._inside = 0
        self._sealed = False
        self._empty = threading.Event()

    def __enter__(self) -> None:
        self.check_process()
        with self._lock:
            self._refuse_when_sealed()
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._sealed and not self._inside:
                self._empty.set()

    def check_open(self) -> None:
        """Raise ``SessionClosedError`` after :meth:`seal` and in a forked child."""
        self.check_process()
        self._refuse_when_sealed()

    def _refuse_when_sealed(self) -> None:
        if self._sealed:
            raise SessionClosedError(f"{self._what} is closed")

    def check_process(self) -> None:
        """Raise ``SessionClosedError`` in a child made by ``os.fork()``: handles do not cross it."""
        if os.getpid() != self._pid:
            raise SessionClosedError(
                f"{self._what} was opened before os.fork(); open it again in this process"
            )

    def seal(self) -> None:
        """Let nobody in any more. Never blocks."""
        with self._lock:
            self._sealed = True
            if not self._inside:
                self._empty.set()

    def drain(self) -> None:
        """Block until everybody has left; call :meth:`seal` first."""
        self._empty.wait()
