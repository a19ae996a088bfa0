"""Who may write to a database that has one writer, and the commits that share a transaction there.

SQLite lets one transaction write at a time, and most of its time is the wait for the disk at
COMMIT. Commits that wait for each other anyway may as well wait for the disk together (sql.md
section 2).
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Final, Generic, TypeAlias, TypeVar

from sessionstore.errors import StorageBusyError
from sessionstore.line import Line, Ticket
from sessionstore.sql.container import SqlContainer
from sessionstore.sql.link import Link

R = TypeVar("R")

LARGEST_GROUP: Final = 64
"""Commits in one transaction: what one of them may have to wait for."""

_SAVE: Final = "SAVEPOINT member"
_UNDO: Final = "ROLLBACK TO member"
_KEEP: Final = "RELEASE member"


class WriterLock:
    """Lets the threads of this process write one after the other where the database has one writer.

    They would wait for each other anyway, and SQLite's own waiting is a sleep of up to 0.1 s. It is
    a line and no lock, because a turn that an interrupt drops ends by itself.
    """

    def __init__(self, where: str, timeout: float) -> None:
        self._line = Line(where)
        self._where = where
        self.timeout = timeout
        """Seconds that a writer waits for its turn."""

    def enqueue(self) -> Ticket:
        """A place in the line, to release. Never blocks."""
        return self._line.enqueue()

    def acquire(self) -> Ticket:
        """A turn to release. Raises ``StorageBusyError`` after the busy timeout."""
        ticket = self.enqueue()
        if not ticket.wait(self.timeout):
            ticket.release()
            raise self.busy_error()
        return ticket

    def busy_error(self) -> StorageBusyError:
        """The error of whoever has waited too long."""
        return StorageBusyError(
            f"{self._where}: another thread has been writing for {self.timeout:g} s. "
            "Nothing was written; try again"
        )


class GroupCommit:
    """Runs the works of threads that wait for the same turn in one transaction.

    Whoever gets the turn runs its own work, then those of the others that are waiting by then,
    each in a savepoint, and commits. Nobody returns before that. Nobody waits for company either: a
    work that finds none is a plain transaction without a savepoint, and there is no thread and no
    timer for the purpose.

    A member fares as it would by itself:

    - One whose work fails is rolled back to its savepoint. It runs again, by itself and in its own
      thread, so that what it raises has nothing to do with the others.
    - When the transaction is lost, by a failed COMMIT or by an interrupt of the thread that runs
      it, all who were in it run again, each by itself.
    - One that is interrupted while it waits takes no part. If its work is being run already, the
      interrupt is raised when that transaction is over, so that what can be read by then is final.

    Every member keeps its place in the line of writers, and learns from its own turn that the
    transaction which it was in is over. It then looks whether that has happened
    (:attr:`Link.committed`), and passes the turn on. So nobody has to be told, and no interrupt of
    one thread can lose another.
    """

    def __init__(self, lock: WriterLock) -> None:
        self._lock = lock
        # Weak: a member that is dropped, with the frame of its call, takes no part.
        self._waiting: deque[_Waiting] = deque()

    def write(self, container: SqlContainer, work: Callable[[Link], R]) -> R:
        """Run ``work``, which can be repeated, as ``container.write`` does, perhaps in company.

        It may run in another thread, that of whoever has the turn.
        """
        ticket = self._lock.enqueue()
        try:
            if ticket.settled:
                return self._lead(container, work, ticket)
            member = _Member(work, ticket)
            try:
                self._wait(member)
                if member.committed:
                    return member.results[0]
                if member.take():
                    return self._lead(container, work, ticket)
            except BaseException:
                member.leave()
                raise
        finally:
            ticket.release()
        return container.write(work)

    def _wait(self, member: _Member[Any]) -> None:
        """Wait for a member's turn. Raises ``StorageBusyError`` after the busy timeout."""
        self._waiting.append(weakref.ref(member))
        if not member.ticket.wait(self._lock.timeout):
            if member.take():
                member.ticket.release()
                raise self._lock.busy_error()
            member.ticket.wait()

    def _lead(self, container: SqlContainer, work: Callable[[Link], R], ticket: Ticket) -> R:
        group = _Group(work, self._waiting)
        try:
            return container.write(group.run, repeatable=False, turn=ticket)
        except Exception:
            if not group.lost:
                raise
        return container.write(work)


class _Member(Generic[R]):
    """A work whose thread waits for its turn."""

    __slots__ = ("__weakref__", "_free", "link", "results", "ticket", "work")

    def __init__(self, work: Callable[[Link], R], ticket: Ticket) -> None:
        self.work = work
        self.ticket = ticket
        self.link: Link | None = None
        """Of the transaction that it is in."""
        self.results: list[R] = []
        """What its work has returned there, once that is done."""
        self._free = [True]

    def take(self) -> bool:
        """Become the one who runs its work, or who sees to it that nobody does; once only."""
        try:
            return self._free.pop()  # one step: of two threads one gets it
        except IndexError:
            return False

    @property
    def free(self) -> bool:
        """Whether nobody has taken it."""
        return bool(self._free)

    @property
    def committed(self) -> bool:
        """Whether the transaction that it was in, which is over, has happened with its work in it."""
        return bool(self.link is not None and self.results and self.link.committed)

    def leave(self) -> None:
        """Take no part; when that comes too late, wait for the end of the transaction."""
        if not self.take() and not self.ticket.settled:
            self.ticket.wait()


_Waiting: TypeAlias = "weakref.ref[_Member[Any]]"


class _Group(Generic[R]):
    """The transaction of whoever has the turn, and the members in it."""

    def __init__(self, work: Callable[[Link], R], waiting: deque[_Waiting]) -> None:
        self._work = work
        self._waiting = waiting
        self._link: Link | None = None
        self._size = 1

    def run(self, link: Link) -> R:
        """The work of the whole transaction; its result is that of the turn's owner."""
        if self._first() is None:
            return self._work(link)
        self._link = link
        cursor = link.raw.cursor()
        # What fails here ends the transaction, which nobody else is in yet.
        cursor.execute(_SAVE)
        result = self._work(link)
        cursor.execute(_KEEP)
        while self._size < LARGEST_GROUP and (member := self._first()) is not None:
            if member.take():
                self._size += 1
                self._serve(member, link, cursor)
        return result

    def _first(self) -> _Member[Any] | None:
        """The first who waits. Only whoever has the turn looks."""
        while self._waiting:
            member = self._waiting[0]()
            if member is not None and member.free:
                return member
            self._waiting.popleft()
        return None

    @staticmethod
    def _serve(member: _Member[Any], link: Link, cursor: Any) -> None:
        member.link = link
        cursor.execute(_SAVE)
        try:
            result = member.work(link)
        except Exception:  # noqa: BLE001  # it is raised where the member runs by itself
            link.end_statements()
            # Where this fails too, SQLite has undone the whole transaction.
            cursor.execute(_UNDO)
            cursor.execute(_KEEP)
        else:
            cursor.execute(_KEEP)
            member.results.append(result)

    @property
    def lost(self) -> bool:
        """Whether a transaction with others in it has come to nothing."""
        return self._size > 1 and not (self._link is not None and self._link.committed)
