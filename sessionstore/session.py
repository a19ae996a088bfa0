"""One open session: its mutation line and its branches, over any storage."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from sessionstore import builtin
from sessionstore.address import Value, ValueList
from sessionstore.entries import (
    ABSENT,
    CommitResult,
    Entry,
    NewCustomEntry,
    NewEntry,
    NewMessageEntry,
    NewUsageRow,
)
from sessionstore.errors import (
    BranchExistsError,
    UnknownBranchError,
)
from sessionstore.ids import IdGenerator
from sessionstore.line import ActivityGate, Line, Ticket, current_owner, take_granted
from sessionstore.metadata import SessionMetadata
from sessionstore.mutation import SessionMutation, SessionReaders
from sessionstore.scope import EphemeralScope, Scope, SessionScope
from sessionstore.storage import Storage, unknown_entry
from sessionstore.usage import Usage
from sessionstore.writes import (
    Write,
    append_list,
    delete_list,
    delete_value,
    insert_entry,
    insert_usage,
    retire_scope,
    set_value,
)

T = TypeVar("T")
R = TypeVar("R")
Sc = TypeVar("Sc", bound=Scope)


class Session(SessionReaders):
    """An open session. A context manager; may be used from several threads.

    Made by a repository, never directly.
    """

    def __init__(
        self,
        storage: Storage,
        metadata: SessionMetadata,
        id_generator: IdGenerator,
        on_closed: Callable[[Session], None],
    ) -> None:
        super().__init__(storage)
        what = f"session {metadata.id!r}"
        self._metadata = metadata
        self._id_generator = id_generator
        self._on_closed = on_closed
        self._line = Line(what)
        self._gate = ActivityGate(what)
        self._closing = threading.Lock()
        self._closed = False
        self._close_error: BaseException | None = None

    @property
    def metadata(self) -> SessionMetadata:
        """The session's header as it was when the handle was made."""
        return self._metadata

    @property
    def id_generator(self) -> IdGenerator:
        """Makes ids for entries and usage rows."""
        return self._id_generator

    @property
    def storage(self) -> Storage:
        """The session's store; its ``commit`` works below the mutation line."""
        return self._storage

    def _readable(self) -> Storage:
        self._gate.check_open()
        return self._storage

    # -- mutations ---------------------------------------------------------------------------

    def begin_mutation(self) -> SessionMutation:
        """Wait for this session's turn and take it; use it as a context manager or ``end()`` it.

        Raises ``SessionClosedError`` when the session closes first, ``MutationError`` when this
        thread (async: this task) holds the running mutation.
        """
        ticket = self._take_turn()
        try:
            return SessionMutation(self._storage, ticket, self._storage.next_seq())
        except BaseException:
            ticket.release()
            raise

    def mutate(self, fn: Callable[[SessionMutation], R]) -> R:
        """Run ``fn`` with a mutation that ends when it returns or raises."""
        with self.begin_mutation() as mutation:
            return fn(mutation)

    def take_ticket(
        self, owner: Hashable, *, asker: Hashable | None = None, open_ended: bool = False
    ) -> Ticket:
        """Queue ``owner`` for a mutation without waiting; see :data:`~sessionstore.line.granted_ticket`.

        ``open_ended`` when it is going to be held for longer than one call. Raises
        ``MutationError`` when the owner, or ``asker`` on its behalf, holds the running mutation.
        """
        self._gate.check_process()
        self._line.refuse_holder(asker)
        return self._line.enqueue(owner, open_ended=open_ended)

    @property
    def idle(self) -> bool:
        """Whether no mutation runs or waits."""
        return self._line.idle

    def on_passed(self, callback: Callable[[], object]) -> bool:
        """Call ``callback`` once the mutations that are in line now are over; never blocks.

        See :meth:`~sessionstore.line.Line.on_passed`.
        """
        self._gate.check_process()
        return self._line.on_passed(callback)

    def on_idle(self, callback: Callable[[], object]) -> None:
        """Call ``callback`` once no mutation runs, at once or from another thread; never blocks."""
        self._line.on_idle(callback)

    def _take_turn(self) -> Ticket:
        ticket = take_granted()
        if ticket is None:
            self._gate.check_process()
            ticket = self._line.enqueue(_owner())
        try:
            ticket.wait()
        except BaseException:
            ticket.release()
            raise
        return ticket

    @overload
    def commit(self, writes: Sequence[Write[SessionScope]]) -> CommitResult: ...
    @overload
    def commit(self, writes: Sequence[Write[EphemeralScope]]) -> CommitResult: ...
    def commit(self, writes: Sequence[Write[Any]]) -> CommitResult:
        """One mutation of ``writes``, which depends on nothing read before.

        Raises what a commit on the :class:`~sessionstore.Storage` does,
        ``SessionClosedError`` when the session closes first, and ``MutationError`` when this
        thread (async: this task) holds the running mutation.
        """
        ticket = self._take_turn()
        try:
            return self._storage.commit(writes)
        finally:
            ticket.release()

    def set_value(self, address: Value[T, Sc], next: T) -> CommitResult:
        """Replace the value at ``address`` by ``next``."""
        return self._commit_one(set_value(address, next))

    def delete_value(self, address: Value[Any, Any]) -> CommitResult:
        """Delete the value at ``address``; legal when there is none."""
        return self._commit_one(delete_value(address))

    def append_list(self, address: ValueList[T, Sc], element: T, tag: str | None = None) -> CommitResult:
        """Append ``element`` to the list at ``address``."""
        return self._commit_one(append_list(address, element, tag))

    def delete_list(self, address: ValueList[Any, Any]) -> CommitResult:
        """Delete the whole list at ``address``; legal when there is none."""
        return self._commit_one(delete_list(address))

    def retire_scope(self, scope: EphemeralScope) -> CommitResult:
        """End ``scope``: everything in it up to this write."""
        return self._commit_one(retire_scope(scope))

    def _commit_one(self, write: Write[Any]) -> CommitResult:
        return self.commit([write])

    # -- names, labels, branches -------------------------------------------------------------

    def get_name(self) -> str | None:
        """The session's name, if it has one."""
        return self._plain(builtin.session_name)

    def set_name(self, name: str | None) -> None:
        """Name the session; None deletes the name."""
        self._set_or_delete(builtin.session_name, name)

    def get_label(self, entry_id: str) -> str | None:
        """The label of an entry, if it has one."""
        return self._plain(builtin.entry_label(entry_id))

    def set_label(self, entry_id: str, label: str | None) -> None:
        """Label an entry; None deletes the label. Raises ``UnknownEntryError``."""
        address = builtin.entry_label(entry_id)
        if label is None:
            self.delete_value(address)
            return
        with self.begin_mutation() as mutation:
            _require_entry(mutation, entry_id)
            mutation.commit([set_value(address, label)])

    def _plain(self, address: Value[T, Any]) -> T | None:
        stored = self.get_value(address)
        return None if stored is None else stored.value

    def _set_or_delete(self, address: Value[T, Sc], next: T | None) -> None:
        if next is None:
            self.delete_value(address)
        else:
            self.set_value(address, next)

    def branch(self, name: str) -> Branch | None:
        """The branch of this name, or None."""
        tip = self.get_value(builtin.branch_tip(name))
        return None if tip is None else Branch(self, name)

    def create_branch(self, name: str, at: str | None = None) -> Branch:
        """Create a branch whose tip is the entry ``at``, or null.

        Raises ``BranchExistsError``, ``UnknownEntryError``, ``InvalidBranchError``.
        """
        address = builtin.branch_tip(name)
        with self.begin_mutation() as mutation:
            if mutation.get_value(address) is not None:
                raise BranchExistsError(f"the branch {name!r} exists already")
            if at is not None:
                _require_entry(mutation, at)
            mutation.commit([set_value(address, at)])
        return Branch(self, name)

    # -- closing -----------------------------------------------------------------------------

    def begin_close(self) -> None:
        """Admit nothing more and refuse what waits. Never blocks.

        Raises ``MutationError`` when this thread (async: this task) holds the running mutation.
        """
        self.refuse_holder()
        self._line.seal()

    def refuse_holder(self) -> None:
        """Raise ``MutationError`` when this thread (async: this task) holds the running mutation."""
        self._gate.check_process()
        self._line.refuse_holder(_owner())

    def close(self) -> None:
        """Let what was admitted finish, a running mutation included, then release everything.

        Idempotent: a later call waits for the first and has its outcome. No scope is retired.
        """
        if not self._closed:
            self.begin_close()
        with self._closing:
            if not self._closed:
                self._close_once()
        if self._close_error is not None:
            raise self._close_error

    def _close_once(self) -> None:
        self._line.drain()
        self._gate.seal()
        try:
            self._storage.close()
        except Exception as error:  # noqa: BLE001  # kept: every later close has to tell the same
            self._close_error = error
        # Not reached by an interrupt: the next close goes on from where this one was cut short.
        self._on_closed(self)
        self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class Branch:
    """A branch of a session: a name for a tip that moves as entries are appended."""

    def __init__(self, session: Session, name: str) -> None:
        self._session = session
        self._name = name

    @property
    def name(self) -> str:
        """The branch's name."""
        return self._name

    def tip_id(self) -> str | None:
        """The entry that the branch stands at. Raises ``UnknownBranchError``."""
        return self._tip(self._session)

    def find_entries(
        self,
        *,
        stop_at_type: str | None = None,
        stop_at_id: str | None = None,
        type: str | None = None,
        custom_type: str | None = None,
        order: str = "newest_first",
        limit: int | None = None,
        cursor: int | None = None,
    ) -> list[Entry]:
        """:meth:`Session.scan_branch` from the tip; empty when the tip is null."""
        tip = self.tip_id()
        if tip is None:
            return []
        return self._session.scan_branch(
            tip,
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=limit,
            cursor=cursor,
        )

    def find_entry(
        self,
        *,
        stop_at_type: str | None = None,
        stop_at_id: str | None = None,
        type: str | None = None,
        custom_type: str | None = None,
        order: str = "newest_first",
        cursor: int | None = None,
    ) -> Entry | None:
        """The first entry that :meth:`find_entries` would give, or None."""
        found = self.find_entries(
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=1,
            cursor=cursor,
        )
        return found[0] if found else None

    def append_message(
        self, message: Mapping[str, Any], *, usage: Usage | Mapping[str, Any] | None = None
    ) -> str:
        """Append a message under the tip and move the tip; returns the new entry's id.

        With ``usage`` a ledger row for the entry is part of the same transaction.
        """
        id = self._session.id_generator.next()
        rows: list[Write[SessionScope]] = []
        if usage is not None:
            row = NewUsageRow(self._session.id_generator.next(), usage, entry_id=id)
            rows.append(insert_usage(row))
        return self._append(lambda tip: NewMessageEntry(id, tip, message), rows)

    def append_custom_entry(self, custom_type: str, data: Any = ABSENT) -> str:
        """Append a custom entry under the tip and move the tip; returns the new entry's id."""
        id = self._session.id_generator.next()
        return self._append(lambda tip: NewCustomEntry(id, tip, custom_type, data), [])

    def _append(self, new_entry: Callable[[str | None], NewEntry], rows: list[Write[SessionScope]]) -> str:
        with self._session.begin_mutation() as mutation:
            entry = new_entry(self._tip(mutation))
            moved = set_value(builtin.branch_tip(self._name), entry.id)
            mutation.commit([insert_entry(entry), moved, *rows])
            return entry.id

    def _tip(self, readers: SessionReaders) -> str | None:
        stored = readers.get_value(builtin.branch_tip(self._name))
        if stored is None:
            raise UnknownBranchError(f"no branch {self._name!r} in this session")
        return stored.value


def _owner() -> Hashable:
    owner = current_owner.get()
    # The object and not its ident, which the system gives to another thread once this one has ended.
    return threading.current_thread() if owner is None else owner


def _require_entry(readers: SessionReaders, id: str) -> None:
    if readers.get_entry(id) is None:
        raise unknown_entry(id)
