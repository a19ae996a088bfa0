"""Operations of one session: begun, run, resumed after a crash, aborted, and told about.

An operation is driven by its committed state alone. Running it for the first time and resuming it
in another process are the same loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from examples.server import lanes
from examples.server.feed import Event, Feed
from examples.server.lanes import LaneBusyError, LaneIdleError, Message, OperationMovedError, State
from examples.server.model import ScriptedModel, answer_to
from sessionstore import (
    CommitResult,
    ListElement,
    NewMessageEntry,
    SessionMutation,
    set_value,
)
from sessionstore.aio import AsyncSession
from sessionstore.harness import (
    operation_progress,
    operation_state,
    operation_tool_args,
    operation_tool_memo,
    pending_assistant_frames,
    pending_tool_output,
    read_back_to_tag,
)

FULL = "full"
"""The tag of a frame that holds all of the text so far."""

FULL_EVERY = 50
"""How many frames may have to be read back."""

_log = logging.getLogger(__name__)


@dataclass
class _Run:
    """An operation that this process is working on."""

    operation: str
    feed: Feed = field(default_factory=Feed)
    task: asyncio.Task[None] | None = None

    def tell(self, kind: str, committed: CommitResult, data: dict[str, Any]) -> None:
        self.feed.publish(Event(kind, committed.seqs[-1], data))

    def tell_entry(self, entry: NewMessageEntry, committed: CommitResult) -> None:
        data = {"id": entry.id, "parentId": entry.parent_id, "message": dict(entry.message)}
        self.tell("entry", committed, data)


class Operations:
    """Runs the operations of ``session``, at most one on each lane."""

    def __init__(self, session: AsyncSession, model: ScriptedModel) -> None:
        self.session = session
        self._model = model
        self._ids = session.id_generator
        self._runs: dict[str, _Run] = {}

    # -- what a client can do ----------------------------------------------------------------

    async def prompt(self, lane: str, text: str) -> str:
        """Begin an operation that answers ``text``. Raises ``LaneBusyError``."""
        begin = partial(lanes.begin, ids=self._ids, lane=lane, text=text)
        operation = await self.session.mutate_sync(begin)
        self._start(lane, operation)
        return operation

    async def resume(self, lane: str) -> str:
        """Go on with an operation that a crash or a shutdown interrupted."""
        operation = await self.session.mutate_sync(partial(lanes.current_operation, lane=lane))
        if operation is None:
            raise LaneIdleError(f"nothing waits on the branch {lane!r}")
        run = self._runs.get(lane)
        if run is not None and run.operation == operation:
            raise LaneBusyError(f"operation {operation} is running")
        self._start(lane, operation)
        return operation

    async def abort(self, lane: str) -> str:
        """End the lane's operation, running or not. Raises ``LaneIdleError``."""
        operation, committed = await self.session.mutate_sync(partial(lanes.abort, lane=lane))
        run = self._runs.get(lane)
        if run is not None and run.operation == operation:
            run.tell("end", committed, {"operationId": operation, "outcome": "aborted"})
        return operation

    async def look(self, lane: str) -> dict[str, Any]:
        """What the lane's operation has written so far, whether it is running or not."""
        return await self._look(lane, self._runs.get(lane))

    async def _look(self, lane: str, run: _Run | None) -> dict[str, Any]:
        found = await self.session.mutate_sync(partial(_look, lane=lane))
        return {**found, "running": run is not None and run.operation == found["operationId"]}

    async def listen(self, lane: str) -> AsyncIterator[Event]:
        """A snapshot of the lane's operation, then its events until it ends or stops."""
        run = self._runs.get(lane, _Run(""))
        with run.feed.listening() as events:
            snapshot = await self._look(lane, run)
            yield Event("snapshot", snapshot["seq"], snapshot)
            if snapshot["running"]:
                async for event in events:
                    if event.seq > snapshot["seq"]:
                        yield event

    async def stop(self) -> None:
        """Stop running. What has not ended can be resumed."""
        tasks = [run.task for run in self._runs.values() if run.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- running -----------------------------------------------------------------------------

    def _start(self, lane: str, operation: str) -> None:
        run = self._runs[lane] = _Run(operation)
        run.task = asyncio.create_task(self._run(lane, run))
        run.task.add_done_callback(partial(self._stopped, lane, run))

    def _stopped(self, lane: str, run: _Run, task: asyncio.Task[None]) -> None:
        if self._runs.get(lane) is run:
            del self._runs[lane]
        run.feed.end()
        if not task.cancelled() and task.exception() is not None:
            _log.error("operation %s stopped", run.operation, exc_info=task.exception())

    async def _run(self, lane: str, run: _Run) -> None:
        address = operation_state(run.operation)
        while (state := await self.session.get_value(address)) is not None:
            with suppress(OperationMovedError):  # somebody else ended it; the state tells
                if state.value["phase"] == "response":
                    await self._respond(lane, run, state.value)
                else:
                    await self._use_tool(run, state.value)

    async def _respond(self, lane: str, run: _Run, state: State) -> None:
        response = state["responseId"]
        frames = pending_assistant_frames(run.operation, response)
        progress = operation_progress(self.session, run.operation, {"responseId": response})
        answer = answer_to(await self.session.mutate_sync(partial(lanes.conversation, lane=lane)))
        text, count = _reduce(await read_back_to_tag(self.session, frames, FULL))
        async for frame in self._model.stream(answer, after=count):
            text, count = text + frame, count + 1
            if count % FULL_EVERY == 0:
                written = await progress.append_list(frames, {"full": text, "count": count}, FULL)
            else:
                written = await progress.append_list(frames, {"text": frame})
            # Only what is committed is told: a client never sees a frame that a crash takes back.
            run.tell("frame", _made(written), {"text": frame, "count": count})
        message: Message = {"role": "assistant", "content": text, "stopReason": "stop"}
        if answer.tool is not None:
            arguments = {"steps": answer.tool.steps}
            call = {"id": self._ids.next(), "name": answer.tool.name, "arguments": arguments}
            message |= {"stopReason": "toolUse", "toolCalls": [call]}
        entry, committed = await self.session.mutate_sync(
            partial(
                lanes.settle_response,
                ids=self._ids,
                operation=run.operation,
                state=state,
                message=message,
            )
        )
        run.tell_entry(entry, committed)
        if answer.tool is None:
            run.tell("end", committed, {"operationId": run.operation, "outcome": "done"})

    async def _use_tool(self, run: _Run, state: State) -> None:
        invocation = state["invocationId"]
        output = pending_tool_output(run.operation, invocation)
        done = operation_tool_memo(run.operation, invocation, "done")
        progress = operation_progress(self.session, run.operation, {"invocationId": invocation})
        arguments = await self.session.get_value(operation_tool_args(run.operation, state["step"], 0))
        steps = 0 if arguments is None else arguments.value["steps"]
        checkpoint = await self.session.get_value(done)
        async for step in self._model.work(steps, after=0 if checkpoint is None else checkpoint.value):
            written = await progress.commit([set_value(output, f"{step} of {steps}"), set_value(done, step)])
            run.tell("tool", _made(written), {"step": step, "steps": steps})
        entry, committed = await self.session.mutate_sync(
            partial(
                lanes.settle_tool,
                ids=self._ids,
                operation=run.operation,
                state=state,
                content=f"counted to {steps}",
            )
        )
        run.tell_entry(entry, committed)


def _made(written: CommitResult | None) -> CommitResult:
    if written is None:
        raise OperationMovedError("the operation ended, or moved on, while this was written")
    return written


def _reduce(elements: Sequence[ListElement[Any]]) -> tuple[str, int]:
    """The text of frames, oldest first, and how many they stand for."""
    text, count = "", 0
    for element in elements:
        frame = element.value
        if "full" in frame:
            text, count = frame["full"], frame["count"]
        else:
            text, count = text + frame["text"], count + 1
    return text, count


def _look(mutation: SessionMutation, lane: str) -> dict[str, Any]:
    """What is committed of the lane's operation, and the number of the last write by then."""
    operation = lanes.current_operation(mutation, lane)
    found: dict[str, Any] = {"operationId": operation, "phase": None, "text": "", "count": 0, "tool": None}
    state = None if operation is None else mutation.get_value(operation_state(operation))
    if operation is not None and state is not None:
        found["phase"] = state.value["phase"]
        if state.value["phase"] == "response":
            frames = pending_assistant_frames(operation, state.value["responseId"])
            found["text"], found["count"] = _reduce(read_back_to_tag(mutation, frames, FULL))
        else:
            output = mutation.get_value(pending_tool_output(operation, state.value["invocationId"]))
            found["tool"] = None if output is None else output.value
    # An empty commit writes nothing and tells the next number.
    return {**found, "seq": mutation.commit([]).first_seq - 1}
