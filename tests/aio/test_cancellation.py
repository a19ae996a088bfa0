"""A cancelled await leaves a definite state, and the next call works."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aio.support import (
    PLAN,
    STEPS,
    Gate,
    a_session,
    commits_of,
    in_loop,
    plan_of,
    started,
    steps_of,
    turns_of_the_loop,
    until,
)

from sessionstore import MemorySessionRepo, SessionNotFoundError, append_list, set_value
from sessionstore.aio import AsyncSession, AsyncSessionMutation, AsyncSessionRepo


async def cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@in_loop
async def test_a_call_that_waits_for_its_turn_does_not_happen() -> None:
    async with a_session() as session:
        async with session.begin_mutation() as mutation:
            await cancelled(await started(session.set_value(PLAN, 1)))
            await cancelled(await started(session.begin_mutation()))
            await mutation.commit([])
        assert await plan_of(session) is None
        await session.set_value(PLAN, 2)


@in_loop
async def test_a_call_that_no_worker_has_taken_does_not_happen() -> None:
    async with AsyncSessionRepo(MemorySessionRepo(), max_workers=1) as repo:
        busy, session = await repo.create(), await repo.create()
        with commits_of(busy) as gate:
            occupying = await started(busy.set_value(PLAN, 0))
            await gate.reached()
            for call in (session.set_value(PLAN, 1), session.begin_mutation(), repo.create(id="x")):
                await cancelled(await started(call))
            gate.open()
            await occupying
        assert await plan_of(session) is None
        with pytest.raises(SessionNotFoundError):
            await repo.get("x")
        await session.set_value(PLAN, 2)


@in_loop
async def test_a_commit_that_a_worker_has_happens_and_later_calls_come_after_it() -> None:
    async with a_session() as session:
        with commits_of(session) as gate:
            write = await started(session.append_list(STEPS, "cancelled"))
            await gate.reached()
            await cancelled(write)
            read = await started(steps_of(session))
            later = await started(session.append_list(STEPS, "later"))
            below = await started(session.storage.get_value(PLAN))
            await turns_of_the_loop()
            assert not any(call.done() for call in (read, later, below))
            assert gate.calls == 1
            gate.open()
            assert (await read)[0] == "cancelled"
            await asyncio.gather(later, below)
        assert await steps_of(session) == ["cancelled", "later"]


@in_loop
async def test_a_cancelled_commit_that_fails_lets_the_next_in() -> None:
    async with a_session() as session:
        with commits_of(session) as gate:
            write = await started(session.storage.commit([set_value(PLAN, 1)], expected_seq=77))
            await gate.reached()
            await cancelled(write)
            gate.open()
        assert await plan_of(session) is None
        await session.set_value(PLAN, 2)


@in_loop
async def test_a_mutation_that_is_cancelled_while_it_begins_is_ended() -> None:
    async with a_session() as session:
        with Gate(session._session.storage, "_next_seq") as gate:
            beginning = await started(session.begin_mutation())
            await gate.reached()
            await cancelled(beginning)
            gate.open()
        await session.set_value(PLAN, 1)


@in_loop
async def test_a_mutation_that_is_cancelled_in_its_commit_ends_with_the_commit() -> None:
    async def change(mutation: AsyncSessionMutation) -> None:
        await mutation.commit([set_value(PLAN, "committed")])

    async with a_session() as session:
        with commits_of(session) as gate:
            mutating = await started(session.mutate(change))
            await gate.reached()
            mutating.cancel()
            later = await started(session.append_list(STEPS, 1))
            await turns_of_the_loop()
            # Leaving the mutation waits for the commit, so its outcome is known afterwards.
            assert not mutating.done()
            assert gate.calls == 1
            gate.open()
            with pytest.raises(asyncio.CancelledError):
                await mutating
            await later
        assert await plan_of(session) == "committed"


@in_loop
async def test_a_second_cancellation_leaves_the_mutation_at_once_and_the_line_after_the_commit() -> None:
    async def change(mutation: AsyncSessionMutation) -> None:
        await mutation.commit([append_list(STEPS, "committed")])

    async with a_session() as session:
        with commits_of(session) as gate:
            mutating = await started(session.mutate(change))
            await gate.reached()
            mutating.cancel()
            await turns_of_the_loop()
            await cancelled(mutating)
            later = await started(session.append_list(STEPS, "later"))
            await turns_of_the_loop()
            assert gate.calls == 1
            gate.open()
            await later
        assert await steps_of(session) == ["committed", "later"]


@in_loop
async def test_a_cancelled_read_disturbs_nobody() -> None:
    async with a_session() as session:
        with Gate(session._session.storage, "_value") as gate:
            read = await started(plan_of(session))
            await gate.reached()
            await cancelled(read)
            await session.set_value(PLAN, 1)
            gate.open()
        assert await plan_of(session) == 1


@in_loop
async def test_a_cancelled_open_leaves_the_session_closed() -> None:
    repository = MemorySessionRepo()
    async with AsyncSessionRepo(repository) as repo:
        async with repo.create(id="x"):
            pass
        with Gate(repository, "_open") as gate:
            opening = await started(repo.open("x"))
            await gate.reached()
            await cancelled(opening)
            again = await started(repo.open("x"))
            await turns_of_the_loop()
            assert gate.calls == 1
            gate.open()
            async with await again as session:
                await session.set_value(PLAN, 1)


@in_loop
async def test_a_cancelled_create_leaves_no_session() -> None:
    repository = MemorySessionRepo()
    async with AsyncSessionRepo(repository) as repo:
        for id in ("x", None):
            with Gate(repository, "_create") as gate:
                creating = await started(repo.create(id=id))
                await gate.reached()
                await cancelled(creating)
                gate.open()
        async with repo.create(id="x") as session:
            await session.set_value(PLAN, 1)
            # Nobody can ask for the one whose id was made for it, so nothing waits until it is gone.
            await until(lambda: [found.id for found in repository.list()] == ["x"])


@in_loop
async def test_a_cancelled_delete_is_over_before_the_next_call_about_the_session() -> None:
    repository = MemorySessionRepo()
    async with AsyncSessionRepo(repository) as repo:
        async with repo.create(id="x"):
            pass
        with Gate(repository, "_delete") as gate:
            deleting = await started(repo.delete("x"))
            await gate.reached()
            await cancelled(deleting)
            again = await started(repo.create(id="x"))
            gate.open()
            await (await again).close()


@in_loop
async def test_a_cancelled_close_goes_on() -> None:
    async with AsyncSessionRepo(MemorySessionRepo()) as repo:
        session = await repo.create(id="x")
        with Gate(session._session.storage, "_release") as gate:
            closing = await started(session.close())
            await gate.reached()
            await cancelled(closing)
            opening = await started(repo.open("x"))
            await turns_of_the_loop()
            assert not opening.done()
            gate.open()
            await (await opening).close()


@in_loop
async def test_a_close_that_is_cancelled_while_a_mutation_runs_goes_on_after_it() -> None:
    async with AsyncSessionRepo(MemorySessionRepo()) as repo:
        session = await repo.create(id="x")
        with Gate(session._session.storage, "_release") as gate:
            async with session.begin_mutation() as mutation:
                closing = await started(session.close())
                await cancelled(closing)
                await mutation.commit([set_value(PLAN, 1)])
            await gate.reached()
        await session.close()
        async with repo.open("x") as again:
            assert await plan_of(again) == 1


@in_loop
async def test_a_cancelled_repository_close_goes_on() -> None:
    repository = MemorySessionRepo()
    repo = AsyncSessionRepo(repository)
    session = await repo.create()
    with Gate(session._session.storage, "_release") as gate:
        closing = await started(repo.close())
        await gate.reached()
        await cancelled(closing)
        gate.open()
        await repo.close()
    assert gate.calls == 1


# Every await of each call, one after the other: cancelled after ever more turns of the loop, until
# the call is over before that.

Call = Callable[[AsyncSession], Awaitable[Any]]


async def _mutating(session: AsyncSession) -> None:
    async def append(mutation: AsyncSessionMutation) -> None:
        await mutation.read_list(STEPS)
        await mutation.commit([append_list(STEPS, "x")])

    await session.mutate(append)


CALLS: dict[str, Call] = {
    "append_list": lambda session: session.append_list(STEPS, "x"),
    "below the line": lambda session: session.storage.commit([append_list(STEPS, "x")]),
    "mutate": _mutating,
    "mutate_sync": lambda session: session.mutate_sync(
        lambda mutation: mutation.commit([append_list(STEPS, "x")])
    ),
}


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
@pytest.mark.parametrize("name", CALLS)
@in_loop
async def test_cancelled_at_any_await_it_happened_wholly_or_not_at_all(name: str, busy: bool) -> None:
    async with a_session() as session:
        before = 0
        for turns in range(400):
            held = session.begin_mutation() if busy else None
            mutation = None if held is None else await held
            task = asyncio.ensure_future(CALLS[name](session))
            for _ in range(turns):
                if mutation is not None and not task.done() and turns % 3:
                    await mutation.end()
                await asyncio.sleep(0)
            over = task.done()
            task.cancel()
            if mutation is not None:
                await mutation.end()
            await asyncio.wait([task])
            after = len(await steps_of(session))
            assert after - before in ((1,) if over else (0, 1))
            assert len(await steps_of(session)) == after
            await session.set_value(PLAN, turns)
            assert await plan_of(session) == turns
            before = after
            if over:
                break
        assert over


@in_loop
async def test_the_task_whose_call_was_cancelled_may_call_again_at_once() -> None:
    async def change(mutation: AsyncSessionMutation) -> None:
        await mutation.commit([append_list(STEPS, "mutation")])

    calls: list[tuple[str, Call]] = [
        ("_apply", lambda session: session.append_list(STEPS, "write")),
        ("_next_seq", lambda session: session.begin_mutation()),
        ("_apply", lambda session: session.mutate_sync(lambda m: m.commit([append_list(STEPS, "sync")]))),
        ("_apply", lambda session: session.enqueue(lambda m: m.commit([append_list(STEPS, "queued")]))),
        ("_apply", lambda session: session.mutate(change)),
    ]
    async with a_session() as session:

        async def give_up_and_go_on(call: Call, number: int) -> None:
            with pytest.raises(asyncio.CancelledError):
                await call(session)
            await session.append_list(STEPS, number)

        for number, (step, call) in enumerate(calls):
            with Gate(session._session.storage, step) as gate:
                task = asyncio.create_task(give_up_and_go_on(call, number))
                await gate.reached()
                task.cancel()
                await turns_of_the_loop()
                if call is calls[-1][1]:
                    task.cancel()  # the first one waits for the commit
                    await turns_of_the_loop()
                assert not task.done()
                gate.open()
                await task
        assert await steps_of(session) == ["write", 0, 1, "sync", 2, "queued", 3, "mutation", 4]
