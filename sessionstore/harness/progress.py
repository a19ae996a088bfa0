"""The writer of an operation's progress, which a finished operation can no longer be written by."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast, overload

from sessionstore import builtin
from sessionstore.address import Value, ValueList
from sessionstore.aio import AsyncSession
from sessionstore.entries import CommitResult
from sessionstore.errors import InvalidScopeError
from sessionstore.latch import Latch
from sessionstore.mutation import SessionMutation
from sessionstore.scope import EphemeralScope, ephemeral_scope
from sessionstore.session import Session
from sessionstore.writes import Write, append_list, delete_list, delete_value, set_value

T = TypeVar("T")

Fence: TypeAlias = Callable[[Any], bool] | Mapping[str, Any]
"""What the operation's state has to say for a write to be made.

A mapping gives fields that the state must have with these values; a function is asked about the
state. It is called on the mutation line, in a worker for async sessions: it must only look.
"""


class _FencedWrites:
    """One operation's fence: checked and committed on the mutation line, as one mutation."""

    def __init__(self, operation: str, fence: Fence | None) -> None:
        self._scope = ephemeral_scope(operation)
        self._state = builtin.operation_state(operation)
        self._fence = fence

    def mutation(self, writes: Sequence[Write[Any]]) -> Callable[[SessionMutation], CommitResult | None]:
        """What commits ``writes`` if the operation is still where the fence says."""
        for write in writes:
            if write.scope != self._scope:
                raise InvalidScopeError(
                    f"progress of operation {self._scope.id!r} is written in its ephemeral scope only"
                )

        def commit(mutation: SessionMutation) -> CommitResult | None:
            state = mutation.get_value(self._state)
            if state is None or not self._admits(state.value):
                return None
            return mutation.commit(writes)

        return commit

    def _admits(self, state: Any) -> bool:
        if self._fence is None:
            return True
        if callable(self._fence):
            return self._fence(state)
        if not isinstance(state, Mapping):
            return False
        fields = cast("Mapping[str, Any]", state)
        return all(name in fields and fields[name] == wanted for name, wanted in self._fence.items())


class OperationProgress:
    """Writes progress of one operation from any thread; made by :func:`operation_progress`.

    Each write waits for its turn and returns what was committed, or None when it was dropped: the
    operation's state was gone or no longer what the fence expects.
    """

    def __init__(self, session: Session, operation: str, fence: Fence | None) -> None:
        self._session = session
        self._fenced = _FencedWrites(operation, fence)
        self._running: set[Latch] = set()
        self._dropped = 0

    @property
    def dropped(self) -> int:
        """How many writes have been dropped."""
        return self._dropped

    def commit(self, writes: Sequence[Write[EphemeralScope]]) -> CommitResult | None:
        """Commit writes in the operation's ephemeral scope, all of them or none."""
        mutation = self._fenced.mutation(writes)
        over = Latch()
        self._running.add(over)
        try:
            result = self._session.mutate(mutation)
        finally:
            self._running.discard(over)
            over.open()
        self._dropped += result is None
        return result

    def set_value(self, address: Value[T, EphemeralScope], next: T) -> CommitResult | None:
        """Replace a value, a tool's output so far say."""
        return self.commit([set_value(address, next)])

    def delete_value(self, address: Value[Any, EphemeralScope]) -> CommitResult | None:
        """Delete a value, a stale checkpoint say."""
        return self.commit([delete_value(address)])

    def append_list(
        self, address: ValueList[T, EphemeralScope], element: T, tag: str | None = None
    ) -> CommitResult | None:
        """Append an element, a streamed frame say; a complete replacement bears a tag."""
        return self.commit([append_list(address, element, tag)])

    def delete_list(self, address: ValueList[Any, EphemeralScope]) -> CommitResult | None:
        """Delete a whole list."""
        return self.commit([delete_list(address)])

    def drain(self) -> None:
        """Wait until the writes that other threads have called are over.

        Raises ``MutationError`` when this thread holds the mutation that they wait for.
        """
        self._session.refuse_holder()
        for over in tuple(self._running):
            over.wait()


class AsyncOperationProgress:
    """Writes progress of one operation in a loop; made by :func:`operation_progress`.

    Each write takes its place on the mutation line when it is called, and goes on whether it is
    awaited or not: a stream may go ahead of the disk and is caught up with by :meth:`drain`.
    Awaited, it gives what was committed, or None when it was dropped: the operation's state was
    gone or no longer what the fence expects. What is passed must not be changed until then.
    """

    def __init__(self, session: AsyncSession, operation: str, fence: Fence | None) -> None:
        self._session = session
        self._fenced = _FencedWrites(operation, fence)
        self._running: dict[asyncio.Task[CommitResult | None], None] = {}
        self._dropped = 0
        self._failure: BaseException | None = None

    @property
    def dropped(self) -> int:
        """How many writes have been dropped."""
        # The callback of a task that is over comes a turn of the loop later than its result.
        return self._dropped + sum(_was_dropped(task) for task in self._running if task.done())

    def commit(self, writes: Sequence[Write[EphemeralScope]]) -> asyncio.Task[CommitResult | None]:
        """Commit writes in the operation's ephemeral scope, all of them or none.

        Raises ``MutationError`` at once when this task holds the session's mutation.
        """
        task = self._session.enqueue(self._fenced.mutation(writes))
        self._running[task] = None
        task.add_done_callback(self._ended)
        return task

    def set_value(self, address: Value[T, EphemeralScope], next: T) -> asyncio.Task[CommitResult | None]:
        """Replace a value, a tool's output so far say."""
        return self.commit([set_value(address, next)])

    def delete_value(self, address: Value[Any, EphemeralScope]) -> asyncio.Task[CommitResult | None]:
        """Delete a value, a stale checkpoint say."""
        return self.commit([delete_value(address)])

    def append_list(
        self, address: ValueList[T, EphemeralScope], element: T, tag: str | None = None
    ) -> asyncio.Task[CommitResult | None]:
        """Append an element, a streamed frame say; a complete replacement bears a tag."""
        return self.commit([append_list(address, element, tag)])

    def delete_list(self, address: ValueList[Any, EphemeralScope]) -> asyncio.Task[CommitResult | None]:
        """Delete a whole list."""
        return self.commit([delete_list(address)])

    async def drain(self) -> None:
        """Wait until the writes that have been called are over.

        Raises the first error of a write since the last time, so that none that nobody awaited is
        lost, and ``MutationError`` when this task holds the mutation that they wait for.
        """
        self._session.refuse_holder()
        running = tuple(self._running)
        if running:
            await asyncio.wait(running)
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _ended(self, task: asyncio.Task[CommitResult | None]) -> None:
        del self._running[task]
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._dropped += _was_dropped(task)
        elif self._failure is None:
            self._failure = error


def _was_dropped(task: asyncio.Task[CommitResult | None]) -> bool:
    return not task.cancelled() and task.exception() is None and task.result() is None


@overload
def operation_progress(session: Session, operation: str, fence: Fence | None = None) -> OperationProgress: ...
@overload
def operation_progress(
    session: AsyncSession, operation: str, fence: Fence | None = None
) -> AsyncOperationProgress: ...
def operation_progress(
    session: Session | AsyncSession, operation: str, fence: Fence | None = None
) -> OperationProgress | AsyncOperationProgress:
    """A writer for the progress of ``operation`` that cannot bring a finished one back to life.

    Every write first checks, on the mutation line, that ``pi.op.state`` of the operation exists
    and still says what ``fence`` expects, and is dropped otherwise. Without a fence it only has to
    exist. Writes are admitted in call order; drain them before the transaction that settles what
    they belong to.
    """
    if isinstance(session, AsyncSession):
        return AsyncOperationProgress(session, operation, fence)
    return OperationProgress(session, operation, fence)
