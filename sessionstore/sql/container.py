"""A database that holds sessions: how work gets a connection, and what becomes of its failures."""

from __future__ import annotations

import os
import random
import sys
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from sessionstore.errors import (
    CommitOutcomeUnknownError,
    StorageError,
    TransactionConflictError,
)
from sessionstore.line import Ticket
from sessionstore.sql.branch_statements import BranchStatements
from sessionstore.sql.dbapi import Row, Values
from sessionstore.sql.dialects import SqlDialect
from sessionstore.sql.driver_errors import Failure, Kind
from sessionstore.sql.link import Link
from sessionstore.sql.prepared import Prepared
from sessionstore.sql.statements import Statements

R = TypeVar("R")

CONFLICT_ATTEMPTS: Final = 8
"""Times that a transaction is run before its conflicts surface."""

STALE_ATTEMPTS: Final = 16
"""Broken connections of a pool that are replaced before the loss surfaces."""

_LONGEST_PAUSE: Final = 0.25


class DuplicateKeyError(StorageError):
    """The key of a new row is taken; whoever writes knows what that means."""


class Lease(Protocol):
    """A connection that somebody has to bring back."""

    @property
    def raw(self) -> Any:
        """The driver's connection."""
        ...

    def give_back(self) -> None:
        """It is in order and may be used again."""
        ...

    def discard(self) -> None:
        """It is broken, or its state is not known.

        What happens of itself when a lease is dropped, by an interrupt between two steps say.
        """
        ...


class SqlContainer(ABC):
    """Runs work on connections to one database; safe for any number of threads."""

    def __init__(self, name: str, dialect: SqlDialect) -> None:
        """``name`` identifies the database, without credentials."""
        self.name = name
        self.dialect = dialect
        self.single = False
        """Whether there is one connection for everybody, so that a writer makes readers wait."""
        self.statements, self.branch_statements = _statements_of(dialect)
        _containers.add(self)

    # -- what a kind of container implements ---------------------------------------------------

    @abstractmethod
    def lease_for_reading(self) -> Lease:
        """A connection that sees committed state."""

    @abstractmethod
    def lease_for_writing(self, turn: Ticket | None = None) -> Lease:
        """A connection that may begin a write transaction now.

        Where the database has one writer this waits for a turn, unless the caller brings one; it
        ends with the lease.
        """

    def lease_for_looking(self) -> Lease:
        """A connection that may do nothing but read; the same unless the database is a file."""
        return self.lease_for_reading()

    @abstractmethod
    def ready(self, *, create: bool) -> bool:
        """Whether the schema is there; with ``create`` it is made in a database that has none.

        Raises ``SchemaVersionError`` for a schema of another release.
        """

    def build(self, fill: Callable[[Link], None], on_taken: Callable[[Path], None] | None = None) -> bool:
        """Make the database with a first session in it, where it is a file that does not exist.

        False, and ``fill`` was not called, when there is nothing to make. When somebody else has
        made it in the meantime, ``on_taken`` is given the path of what was built.
        """
        del fill, on_taken
        return False

    def remove_abandoned(self) -> list[str]:
        """Remove what killed processes have left of :meth:`build`; a line for each thing."""
        return []

    @abstractmethod
    def close(self) -> None:
        """Close every connection of ours."""

    @abstractmethod
    def abandon(self) -> None:
        """Forget every connection in a forked child, so that those of the parent stay whole."""

    # -- work ----------------------------------------------------------------------------------

    def query(self, statement: Prepared, values: Values) -> list[Row]:
        """Run one statement against committed state and fetch its rows."""
        return self._read(self.lease_for_reading, lambda link: link.rows(statement, values))

    def look(self, work: Callable[[Link], R]) -> R:
        """Run ``work`` on a connection that can only read."""
        return self._read(self.lease_for_looking, work)

    def _read(self, take: Callable[[], Lease], work: Callable[[Link], R]) -> R:
        lease, result = self._begin(take, work)
        lease.give_back()
        return result

    def _begin(self, take: Callable[[], Lease], work: Callable[[Link], R]) -> tuple[Lease, R]:
        """Do ``work``, which only reads, on a connection that the caller then has.

        Reads may be repeated: a connection that broke while it lay in the pool is replaced, and what
        a replica undid is done again.
        """
        attempts = 0
        while True:
            lease = self._taken(take)
            try:
                return lease, work(Link(lease.raw, self.dialect))
            except self.dialect.errors as error:
                failure = self._failure(error, lease)
                self._end(lease, failure)
                attempts += 1
                if failure.kind in (Kind.LOST, Kind.CONFLICT) and attempts < STALE_ATTEMPTS:
                    continue
                raise failure.error from None
            except BaseException:
                lease.discard()
                raise

    def write_together(self, work: Callable[[Link], R]) -> R:
        """Run ``work``, which can be repeated and streams nothing, as :meth:`write` does.

        Where writers wait for each other, it may share its transaction with others that wait, and
        run in another thread than the caller's.
        """
        return self.write(work)

    def write(
        self,
        work: Callable[[Link], R],
        *,
        repeatable: bool = True,
        streams: bool = False,
        turn: Ticket | None = None,
    ) -> R:
        """Run ``work`` in one write transaction and commit it.

        Where the server undoes the transaction because of others, or the connection breaks before
        COMMIT was sent, the whole of it runs again, a bounded number of times, unless it is not
        ``repeatable``. Work that ``streams`` reads results bit by bit. ``turn`` is as in
        :meth:`lease_for_writing`. Raises ``TransactionConflictError`` when every try failed,
        ``CommitOutcomeUnknownError`` when the connection broke during COMMIT.
        """
        conflicts = lost = 0
        handled = sys.exception()
        while True:
            lease = self._taken(lambda: self.lease_for_writing(turn))
            link = Link(lease.raw, self.dialect)
            committing = False
            try:
                with nullcontext() if streams else link.together():
                    self.dialect.begin_write(lease.raw)
                    result = work(link)
                    committing = True
                    self.dialect.commit(lease.raw, link.committed)
            except self.dialect.errors as error:
                interrupt = _interrupt_behind(error, handled)
                if interrupt is not None:
                    lease.discard()
                    try:
                        raise interrupt from None
                    finally:
                        del interrupt  # else it would keep itself alive, by this frame
                failure = self._failure(error, lease)
                link.end_statements()
                self._end(lease, failure)
                if failure.kind is Kind.LOST:
                    lost += 1
                    self._check_lost(failure, link, committing, repeatable and lost < STALE_ATTEMPTS)
                elif failure.kind is Kind.CONFLICT:
                    conflicts += 1
                    self._check_conflict(failure, repeatable and conflicts < CONFLICT_ATTEMPTS)
                    time.sleep(random.uniform(0, min(0.005 * 2**conflicts, _LONGEST_PAUSE)))
                elif failure.kind is Kind.DUPLICATE:
                    raise DuplicateKeyError(str(failure.error)) from None
                else:
                    raise failure.error from None
            except BaseException as error:
                link.end_statements()
                self._end_after(error, lease)
                raise
            else:
                lease.give_back()
                return result

    def write_at_once(self, statement: Prepared, values: Values) -> list[Row]:
        """Run one statement that is a whole transaction; no row means that it did nothing.

        Only where the dialect ``commits_at_once``. It does nothing either where :meth:`write` does
        better: on a connection that does not commit by itself or that the server has left, and when
        the server undid it because of others. Raises ``CommitOutcomeUnknownError`` when the
        connection breaks.
        """
        lease = self._taken(self.lease_for_writing)
        try:
            if not self.dialect.is_fresh(lease.raw):
                lease.give_back()
                return []
            rows = Link(lease.raw, self.dialect).rows(statement, values)
        except self.dialect.errors as error:
            failure = self._failure(error, lease)
            self._end(lease, failure)
            if failure.kind is Kind.CONFLICT:
                return []
            if failure.kind is Kind.LOST:
                raise self._outcome_unknown() from None
            raise failure.error from None
        except BaseException:
            lease.discard()
            raise
        lease.give_back()
        return rows

    @contextmanager
    def snapshot(self) -> Generator[Link]:
        """A read-only transaction; what it sees is fixed by its first read."""
        lease, link = self._begin(self.lease_for_looking, self._begun)
        try:
            with self._translating(lease):
                yield link
        except BaseException as error:
            self._end_snapshot(lease, link, error)
            raise
        self._end_snapshot(lease, link, None)

    def _end_snapshot(self, lease: Lease, link: Link, error: BaseException | None) -> None:
        if link.unfinished:
            lease.discard()
        else:
            self._end_after(error, lease)

    def _begun(self, link: Link) -> Link:
        self.dialect.begin_snapshot(link.raw)
        return link

    # -- failures --------------------------------------------------------------------------------

    def _failure(self, error: Exception, lease: Lease | None) -> Failure:
        return self.dialect.failure(error, self.name, None if lease is None else lease.raw)

    def _taken(self, take: Callable[[], Lease]) -> Lease:
        try:
            return take()
        except self.dialect.errors as error:
            raise self._failure(error, None).error from None

    @contextmanager
    def _translating(self, lease: Lease) -> Generator[None]:
        try:
            yield
        except self.dialect.errors as error:
            raise self._failure(error, lease).error from None

    def _end(self, lease: Lease, failure: Failure | None) -> None:
        """Undo what a lease's connection has begun, and bring it back if it still works."""
        if failure is not None and failure.kind is Kind.LOST:
            lease.discard()
            return
        try:
            self.dialect.rollback(lease.raw)
        except self.dialect.errors:
            lease.discard()
        else:
            lease.give_back()

    def _end_after(self, error: BaseException | None, lease: Lease) -> None:
        """The same after an error that is not the driver's, or after none."""
        if self.dialect.talks_to_a_server and not isinstance(error, Exception | None):
            lease.discard()
        else:
            self._end(lease, None)

    def _check_lost(self, failure: Failure, link: Link, committing: bool, again: bool) -> None:
        """Raise unless the transaction may be run again after its connection broke."""
        if committing:
            raise self._outcome_unknown()
        explained = self.dialect.explain_loss(link.last_rows, self._ask_server, self.name)
        if explained is not None:
            raise explained
        if not again:
            raise failure.error

    def _outcome_unknown(self) -> CommitOutcomeUnknownError:
        return CommitOutcomeUnknownError(
            f"{self.name}: the connection broke during COMMIT, so the transaction may or may not have "
            "happened. Nothing was repeated: read the session before you write again"
        )

    def _ask_server(self, statement: str) -> Any:
        """The single value of a query that has no parameters."""

        def ask(link: Link) -> Any:
            cursor = link.raw.cursor()
            cursor.execute(statement)
            return cursor.fetchall()[0][0]

        return self._read(self.lease_for_reading, ask)

    def _check_conflict(self, failure: Failure, again: bool) -> None:
        if not again:
            raise TransactionConflictError(
                f"{failure.error} because of other writers, several times over. "
                "Nothing was written; try again"
            )


def _interrupt_behind(error: Exception, handled: BaseException | None) -> BaseException | None:
    """The interrupt that a driver has failed to clean up after, telling of that instead.

    What the caller was handling before is none.
    """
    context = error.__context__
    while context is not None and context is not handled:
        if not isinstance(context, Exception):
            return context
        context = context.__context__
    return None


_by_dialect: dict[str, tuple[Statements, BranchStatements]] = {}


def _statements_of(dialect: SqlDialect) -> tuple[Statements, BranchStatements]:
    """Compiled once in the process, whichever container asks first."""
    found = _by_dialect.get(dialect.name)
    if found is None:
        found = _by_dialect.setdefault(dialect.name, (Statements(dialect), BranchStatements(dialect)))
    return found


_containers: weakref.WeakSet[SqlContainer] = weakref.WeakSet()


def _abandon_all() -> None:
    for container in list(_containers):
        with suppress(Exception):  # a child of a fork has nobody to tell; the next container matters
            container.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_all)
