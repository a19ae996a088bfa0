"""One open session in an event loop: the sync session, held and delegated to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar, overload

from sessionstore.address import Value, ValueList
from sessionstore.aio.admission import Admission
from sessionstore.aio.pending import Opening
from sessionstore.aio.readers import AsyncSessionReaders
from sessionstore.aio.storage import AsyncStorage
from sessionstore.aio.workers import Workers, called_back, calling_in_loop, outcome_of, run_here
from sessionstore.entries import ABSENT, CommitResult, Entry
from sessionstore.ids import IdGenerator
from sessionstore.line import Ticket
from sessionstore.metadata import SessionMetadata
from sessionstore.mutation import SessionMutation
from sessionstore.scope import EphemeralScope, Scope, SessionScope
from sessionstore.session import Branch, Session
from sessionstore.usage import Usage
from sessionstore.writes import Write

T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")
Sc = TypeVar("Sc", bound=Scope)


class AsyncSessionMutation(AsyncSessionReaders):
    """The right to read and then commit once, while nobody else of this session does.

    Made by :meth:`AsyncSession.begin_mutation`; an async context manager.
    """

    def __init__(self, mutation: SessionMutation, ticket: Ticket, workers: Workers) -> None:
        super().__init__(mutation)
        self._mutation = mutation
        self._ticket = ticket
        self._workers = workers
        self._committing: Future[CommitResult] | None = None

    async def _read(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._workers.run(partial(call, *args, **kwargs))

    @overload
    async def commit(self, writes: Sequence[Write[SessionScope]]) -> CommitResult: ...
    @overload
    async def commit(self, writes: Sequence[Write[EphemeralScope]]) -> CommitResult: ...
    async def commit(self, writes: Sequence[Write[Any]]) -> CommitResult:
        """See :meth:`SessionMutation.commit <sessionstore.SessionMutation.commit>`.

        When this is cancelled the commit happens wholly or not at all, and :meth:`end` waits for it.
        """
        self._committing = committing = self._workers.start(partial(self._mutation.commit, writes))
        try:
            return await outcome_of(committing)
        except asyncio.CancelledError:
            committing.cancel()  # in vain once a worker has it
            raise

    async def end(self) -> None:
        """Wait for a running commit, end the capability and let the next mutation in; idempotent.

        When this is cancelled the mutation ends with its commit.
        """
        committing = self._committing
        if committing is None:
            self._mutation.end()
            return
        # The task may be cancelled here, and then has nothing more to do with it.
        self._ticket.pass_to(None)
        # Never blocks: the commit is over when this is called.
        committing.add_done_callback(lambda _: self._mutation.end())
        if not committing.done():
            await called_back(committing.add_done_callback)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.end()


class AsyncSession(AsyncSessionReaders):
    """An open session. An async context manager. Made by a repository, never directly.

    Its calls are admitted in the order in which they were made (a call is made when its coroutine
    starts): writes one after the other, a read after the writes before it, except for a mutation
    that somebody holds open and what waits behind one. A call that is cancelled while it waits does
    not happen; a commit that a worker has taken happens wholly or not at all, and later calls of
    this session come after it. What is passed must not be changed until the call is over.
    """

    def __init__(self, session: Session, workers: Workers) -> None:
        super().__init__(session)
        self._session = session
        self._workers = workers
        self._admission = Admission(session, workers)
        self._storage = AsyncStorage(session.storage, self._admission)

    async def _read(self, call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._admission.read(call, *args, **kwargs)

    @property
    def metadata(self) -> SessionMetadata:
        """The session's header as it was when the handle was made."""
        return self._session.metadata

    @property
    def id_generator(self) -> IdGenerator:
        """Makes ids for entries and usage rows."""
        return self._session.id_generator

    @property
    def storage(self) -> AsyncStorage:
        """The session's store; its ``commit`` works below the mutation line."""
        return self._storage

    # -- mutations ---------------------------------------------------------------------------

    def begin_mutation(self) -> Opening[AsyncSessionMutation]:
        """Wait for this session's turn and take it: ``async with session.begin_mutation() as m:``.

        Or await it and ``end()`` it. Raises ``SessionClosedError`` when the session closes first,
        ``MutationError`` when this task holds the running mutation.
        """
        return Opening(self._begin_mutation())

    async def _begin_mutation(self) -> AsyncSessionMutation:
        mutation, ticket = await self._admission.begin()
        return AsyncSessionMutation(mutation, ticket, self._workers)

    async def mutate(self, fn: Callable[[AsyncSessionMutation], Awaitable[R]]) -> R:
        """Await ``fn`` with a mutation that ends when it returns or raises."""
        async with self.begin_mutation() as mutation:
            return await fn(mutation)

    async def mutate_sync(self, fn: Callable[[SessionMutation], R]) -> R:
        """Run ``fn`` with a mutation in a worker: reads and commit cost one hand-over together.

        ``fn`` is sync code in another thread. It must not touch the loop, and runs to its end.
        """
        return await self._admission.write(self._session.mutate, fn)

    def enqueue(self, fn: Callable[[SessionMutation], R]) -> asyncio.Task[R]:
        """The same as :meth:`mutate_sync`, but in line from now on, whether it is awaited or not."""
        return self._admission.enqueue(partial(self._session.mutate, fn))

    def refuse_holder(self) -> None:
        """Raise ``MutationError`` when this task holds the running mutation. Never blocks."""
        run_here(self._session.refuse_holder)

    @overload
    async def commit(self, writes: Sequence[Write[SessionScope]]) -> CommitResult: ...
    @overload
    async def commit(self, writes: Sequence[Write[EphemeralScope]]) -> CommitResult: ...
    async def commit(self, writes: Sequence[Write[Any]]) -> CommitResult:
        """See :meth:`Session.commit <sessionstore.Session.commit>`."""
        return await self._admission.write(self._session.commit, writes)

    async def set_value(self, address: Value[T, Sc], next: T) -> CommitResult:
        """See :meth:`Session.set_value <sessionstore.Session.set_value>`."""
        return await self._admission.write(self._session.set_value, address, next)

    async def delete_value(self, address: Value[Any, Any]) -> CommitResult:
        """See :meth:`Session.delete_value <sessionstore.Session.delete_value>`."""
        return await self._admission.write(self._session.delete_value, address)

    async def append_list(
        self, address: ValueList[T, Sc], element: T, tag: str | None = None
    ) -> CommitResult:
        """See :meth:`Session.append_list <sessionstore.Session.append_list>`."""
        return await self._admission.write(self._session.append_list, address, element, tag)

    async def delete_list(self, address: ValueList[Any, Any]) -> CommitResult:
        """See :meth:`Session.delete_list <sessionstore.Session.delete_list>`."""
        return await self._admission.write(self._session.delete_list, address)

    async def retire_scope(self, scope: EphemeralScope) -> CommitResult:
        """See :meth:`Session.retire_scope <sessionstore.Session.retire_scope>`."""
        return await self._admission.write(self._session.retire_scope, scope)

    # -- names, labels, branches -------------------------------------------------------------

    async def get_name(self) -> str | None:
        """See :meth:`Session.get_name <sessionstore.Session.get_name>`."""
        return await self._read(self._session.get_name)

    async def set_name(self, name: str | None) -> None:
        """See :meth:`Session.set_name <sessionstore.Session.set_name>`."""
        await self._admission.write(self._session.set_name, name)

    async def get_label(self, entry_id: str) -> str | None:
        """See :meth:`Session.get_label <sessionstore.Session.get_label>`."""
        return await self._read(self._session.get_label, entry_id)

    async def set_label(self, entry_id: str, label: str | None) -> None:
        """See :meth:`Session.set_label <sessionstore.Session.set_label>`."""
        await self._admission.write(self._session.set_label, entry_id, label)

    async def branch(self, name: str) -> AsyncBranch | None:
        """See :meth:`Session.branch <sessionstore.Session.branch>`."""
        branch = await self._read(self._session.branch, name)
        return None if branch is None else AsyncBranch(branch, self._admission)

    async def create_branch(self, name: str, at: str | None = None) -> AsyncBranch:
        """See :meth:`Session.create_branch <sessionstore.Session.create_branch>`."""
        branch = await self._admission.write(self._session.create_branch, name, at)
        return AsyncBranch(branch, self._admission)

    # -- closing -----------------------------------------------------------------------------

    async def close(self) -> None:
        """See :meth:`Session.close <sessionstore.Session.close>`; cancelling this does not stop it.

        Raises ``MutationError`` when this task holds the running mutation.
        """
        run_here(self._session.begin_close)
        try:
            # Not in a worker: the running mutation may need one for its commit.
            await called_back(self._session.on_idle)
        except asyncio.CancelledError:
            self._session.on_idle(calling_in_loop(self._start_close))
            raise
        closing = self._start_close()
        try:
            await outcome_of(closing)
        except asyncio.CancelledError:
            self._workers.leave(self.metadata.id, closing)
            raise

    def _start_close(self) -> Future[None]:
        return self._workers.start(self._session.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


class AsyncBranch:
    """A branch of a session: a name for a tip that moves as entries are appended."""

    def __init__(self, branch: Branch, admission: Admission) -> None:
        self._branch = branch
        self._admission = admission

    @property
    def name(self) -> str:
        """The branch's name."""
        return self._branch.name

    async def tip_id(self) -> str | None:
        """See :meth:`Branch.tip_id <sessionstore.Branch.tip_id>`."""
        return await self._admission.read(self._branch.tip_id)

    async def find_entries(
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
        """See :meth:`Branch.find_entries <sessionstore.Branch.find_entries>`."""
        return await self._admission.read(
            self._branch.find_entries,
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            limit=limit,
            cursor=cursor,
        )

    async def find_entry(
        self,
        *,
        stop_at_type: str | None = None,
        stop_at_id: str | None = None,
        type: str | None = None,
        custom_type: str | None = None,
        order: str = "newest_first",
        cursor: int | None = None,
    ) -> Entry | None:
        """See :meth:`Branch.find_entry <sessionstore.Branch.find_entry>`."""
        return await self._admission.read(
            self._branch.find_entry,
            stop_at_type=stop_at_type,
            stop_at_id=stop_at_id,
            type=type,
            custom_type=custom_type,
            order=order,
            cursor=cursor,
        )

    async def append_message(
        self, message: Mapping[str, Any], *, usage: Usage | Mapping[str, Any] | None = None
    ) -> str:
        """See :meth:`Branch.append_message <sessionstore.Branch.append_message>`."""
        return await self._admission.write(self._branch.append_message, message, usage=usage)

    async def append_custom_entry(self, custom_type: str, data: Any = ABSENT) -> str:
        """See :meth:`Branch.append_custom_entry <sessionstore.Branch.append_custom_entry>`."""
        return await self._admission.write(self._branch.append_custom_entry, custom_type, data)
