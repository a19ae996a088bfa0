"""Progress and the end of its operation, in both orders (harness.md section 2), on every store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aio.support import Gate, in_loop, started, turns_of_the_loop
from harness.support import (
    AWAITING,
    FRAMES,
    OP,
    OUTPUT,
    begin,
    finish,
    frames_in,
    settle,
)

from sessionstore import (
    InvalidScopeError,
    InvalidValueError,
    MutationError,
    Session,
    append_list,
    open_repository,
    set_value,
    value,
)
from sessionstore.aio import AsyncSession, AsyncSessionRepo
from sessionstore.harness import (
    lane_state,
    operation_cleanup_writes,
    operation_progress,
    operation_state,
    pending_assistant_frames,
)
from sessionstore.latch import Latch
from sessionstore.testing.threads import Stop, Worker

FENCE = {"responseId": "response-1"}


@pytest.fixture
def session(store_url: str) -> Iterator[Session]:
    with open_repository(store_url) as repo, repo.create() as session:
        begin(session)
        yield session


# Threads ------------------------------------------------------------------------------------


def test_progress_that_is_admitted_before_the_end_is_written_and_retired(session: Session) -> None:
    progress = operation_progress(session, OP, FENCE)
    with Stop() as stop:

        def stopping_fence(state: Any) -> bool:
            stop.arrive()
            return bool(state["responseId"] == "response-1")

        early = operation_progress(session, OP, stopping_fence)
        writing = Worker(lambda: early.append_list(FRAMES, "early"))
        stop.wait_reached()
        ending = Worker(lambda: session.mutate(finish)).wait_queued()
        late = Worker(lambda: progress.append_list(FRAMES, "late")).wait_queued()
        stop.release()
        assert writing.result() is not None
        ending.result()
        assert late.result() is None
    assert frames_in(session) == []
    assert (early.dropped, progress.dropped) == (0, 1)


def test_progress_that_is_admitted_after_the_end_is_dropped(session: Session) -> None:
    progress = operation_progress(session, OP, FENCE)
    with session.begin_mutation() as mutation:
        late = [
            Worker(lambda: progress.append_list(FRAMES, "late")).wait_queued(),
            Worker(lambda: progress.set_value(OUTPUT, "late")).wait_queued(),
        ]
        finish(mutation)
    assert [worker.result() for worker in late] == [None, None]
    assert progress.append_list(FRAMES, "later still") is None
    assert frames_in(session) == []
    assert session.get_value(OUTPUT) is None
    assert progress.dropped == 3


def test_an_unfenced_writer_does_bring_the_scope_back_to_life(session: Session) -> None:
    with session.begin_mutation() as mutation:
        late = Worker(lambda: session.append_list(FRAMES, "late")).wait_queued()
        finish(mutation)
    late.result()
    assert frames_in(session) == ["late"]


def test_progress_for_an_effect_that_the_state_no_longer_names_is_dropped(session: Session) -> None:
    progress = operation_progress(session, OP, FENCE)
    assert progress.append_list(FRAMES, "one") is not None
    settle(session)
    assert progress.append_list(FRAMES, "two") is None
    assert frames_in(session) == ["one"]
    next_effect = operation_progress(session, OP, lambda state: state["phase"] == "tools")
    assert next_effect.set_value(OUTPUT, "three") is not None


def test_without_a_fence_the_state_only_has_to_exist(session: Session) -> None:
    progress = operation_progress(session, OP)
    settle(session)
    assert progress.append_list(FRAMES, "one") is not None
    session.delete_value(operation_state(OP))
    assert progress.append_list(FRAMES, "two") is None


@pytest.mark.parametrize("state", [None, "response-1", ["responseId"], {"phase": "streaming"}, {}])
def test_a_state_without_the_fields_of_the_fence_does_not_name_the_effect(
    session: Session, state: Any
) -> None:
    session.set_value(operation_state(OP), state)
    assert operation_progress(session, OP, FENCE).append_list(FRAMES, "x") is None
    assert operation_progress(session, OP).append_list(FRAMES, "x") is not None


def test_every_kind_of_write_is_fenced(session: Session) -> None:
    progress = operation_progress(session, OP, FENCE)
    result = progress.commit([append_list(FRAMES, "a", "full"), set_value(OUTPUT, 1)])
    assert result is not None
    assert len(result.seqs) == 2
    assert session.read_list(FRAMES)[0].tag == "full"
    assert progress.delete_value(OUTPUT) is not None
    assert progress.delete_list(FRAMES) is not None
    assert (frames_in(session), session.get_value(OUTPUT)) == ([], None)
    progress.append_list(FRAMES, "kept")
    progress.set_value(OUTPUT, "kept")
    session.set_value(operation_state(OP), {"phase": "over"})
    assert progress.delete_value(OUTPUT) is None
    assert progress.delete_list(FRAMES) is None
    assert progress.commit([set_value(OUTPUT, 2)]) is None
    assert frames_in(session) == ["kept"]


def test_progress_is_written_in_the_operation_s_own_scope_only(session: Session) -> None:
    progress = operation_progress(session, OP)
    with pytest.raises(InvalidScopeError, match=OP):
        progress.append_list(pending_assistant_frames("other", "r"), "x")
    with pytest.raises(InvalidScopeError, match=OP):
        progress.commit([set_value(value("app.plan"), 1)])  # type: ignore[list-item]


def test_a_failed_write_is_told_and_the_next_one_works(session: Session) -> None:
    progress = operation_progress(session, OP)
    with pytest.raises(InvalidValueError):
        progress.append_list(FRAMES, {1, 2})
    assert progress.append_list(FRAMES, "x") is not None


def test_writes_are_admitted_in_call_order_and_drained(session: Session) -> None:
    progress = operation_progress(session, OP, FENCE)
    with session.begin_mutation():
        workers = [
            Worker(lambda number=number: progress.append_list(FRAMES, number)).wait_queued()
            for number in range(5)
        ]
        draining = Worker(progress.drain).wait_inside(Latch.wait)
        with pytest.raises(MutationError):
            progress.drain()  # this thread holds what they wait for
        draining.still_waits()
    draining.result()
    assert frames_in(session) == [0, 1, 2, 3, 4]
    for worker in workers:
        worker.result()
    progress.drain()


# Tasks --------------------------------------------------------------------------------------


@asynccontextmanager
async def running_operation(url: str) -> AsyncIterator[AsyncSession]:
    async with AsyncSessionRepo(open_repository(url)) as repo, repo.create() as session:
        await session.commit(
            [
                set_value(operation_state(OP), AWAITING),
                set_value(lane_state("main"), {"currentOperationId": OP, "inbox": []}),
            ]
        )
        yield session


async def frames_of(session: AsyncSession) -> list[Any]:
    return [element.value for element in await session.read_list(FRAMES)]


@in_loop
async def test_async_progress_before_the_end_is_written_and_after_it_dropped(store_url: str) -> None:
    async with running_operation(store_url) as session:
        progress = operation_progress(session, OP, FENCE)
        with Gate(session._session.storage, "_apply") as gate:
            early = progress.append_list(FRAMES, "early")
            await gate.reached()
            ending = await started(session.mutate_sync(_end))
            late = progress.append_list(FRAMES, "late")
            gate.open()
            assert await early is not None
            await ending
            assert await late is None
        assert await frames_of(session) == []
        assert progress.dropped == 1


def _end(mutation: Any) -> None:
    mutation.commit(operation_cleanup_writes(mutation, OP))


@in_loop
async def test_async_progress_that_waits_behind_the_end_is_dropped(store_url: str) -> None:
    async with running_operation(store_url) as session:
        progress = operation_progress(session, OP, FENCE)
        async with session.begin_mutation() as mutation:
            late = await started(_append(session, "late"))
            await mutation.commit(await operation_cleanup_writes(mutation, OP, ["entry"]))
        assert await late is None
        assert await progress.append_list(FRAMES, "later still") is None
        assert await frames_of(session) == []


async def _append(session: AsyncSession, frame: str) -> Any:
    return await operation_progress(session, OP, FENCE).append_list(FRAMES, frame)


@in_loop
async def test_async_writes_take_their_place_when_they_are_called(store_url: str) -> None:
    async with running_operation(store_url) as session:
        progress = operation_progress(session, OP, FENCE)
        for number in range(50):
            progress.append_list(FRAMES, number)  # not awaited
        # The end is called after them, so they come before it although nobody has awaited them.
        await session.set_value(operation_state(OP), {"phase": "over"})
        assert await frames_of(session) == list(range(50))
        await progress.drain()
        assert progress.dropped == 0


@in_loop
async def test_async_drain_waits_and_tells_the_first_failure_once(store_url: str) -> None:
    async with running_operation(store_url) as session:
        progress = operation_progress(session, OP, FENCE)
        async with session.begin_mutation():
            other = asyncio.create_task(_fill(session))
            await turns_of_the_loop()
            with pytest.raises(MutationError):
                progress.append_list(FRAMES, "nested")
            with pytest.raises(MutationError):
                await progress.drain()
            assert not other.done()
        with pytest.raises(InvalidValueError):
            await other
        assert await frames_of(session) == ["a", "b"]
        await progress.drain()


async def _fill(session: AsyncSession) -> None:
    progress = operation_progress(session, OP, FENCE)
    progress.append_list(FRAMES, "a")
    progress.append_list(FRAMES, {1})
    progress.append_list(FRAMES, {2})
    progress.append_list(FRAMES, "b")
    try:
        await progress.drain()
    finally:
        await progress.drain()  # says nothing more


@in_loop
async def test_a_cancelled_async_write_leaves_the_line(store_url: str) -> None:
    async with running_operation(store_url) as session:

        async def write() -> None:
            progress = operation_progress(session, OP, FENCE)
            cancelled_at_once = progress.append_list(FRAMES, "a")
            cancelled_at_once.cancel()
            cancelled_in_line = progress.append_list(FRAMES, "b")
            await turns_of_the_loop()
            cancelled_in_line.cancel()
            progress.append_list(FRAMES, "c")
            await progress.drain()

        async with session.begin_mutation():
            writing = asyncio.create_task(write())
            await turns_of_the_loop()
        await writing
        assert await frames_of(session) == ["c"]
