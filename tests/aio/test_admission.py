"""Calls of one session are admitted in the order in which they were made."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
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
)

from sessionstore import (
    MemorySessionRepo,
    MutationError,
    SessionMutation,
    append_list,
    ephemeral_scope,
    set_value,
)
from sessionstore.aio import AsyncSession, AsyncSessionMutation, AsyncSessionRepo


@in_loop
async def test_writes_are_committed_in_call_order() -> None:
    async with a_session(max_workers=8) as session:
        results = await asyncio.gather(*(session.append_list(STEPS, n) for n in range(300)))
        assert await steps_of(session) == list(range(300))
        assert [result.first_seq for result in results] == sorted(result.first_seq for result in results)


@in_loop
async def test_commits_below_the_line_are_committed_in_call_order() -> None:
    async with a_session(max_workers=8) as session:
        await asyncio.gather(*(session.storage.commit([append_list(STEPS, n)]) for n in range(300)))
        assert await steps_of(session) == list(range(300))


@in_loop
async def test_a_read_sees_the_writes_that_were_called_before_it() -> None:
    async with a_session() as session:
        with commits_of(session) as gate:
            write = await started(session.set_value(PLAN, 1))
            await gate.reached()
            queued = await started(session.set_value(PLAN, 2))
            read = await started(plan_of(session))
            below = await started(session.storage.get_value(PLAN))
            await turns_of_the_loop()
            assert not read.done()
            gate.open()
            assert await read == 2
            assert (await below).value == 2
            await asyncio.gather(write, queued)


@in_loop
async def test_a_read_follows_a_commit_below_the_line() -> None:
    async with a_session() as session:
        with commits_of(session) as gate:
            write = await started(session.storage.commit([set_value(PLAN, 1)]))
            await gate.reached()
            read = await started(plan_of(session))
            await turns_of_the_loop()
            assert not read.done()
            gate.open()
            assert await read == 1
            await write


@in_loop
async def test_a_read_waits_neither_for_an_open_mutation_nor_for_what_waits_behind_one() -> None:
    async with a_session() as session:
        await session.set_value(PLAN, 0)
        async with session.begin_mutation() as mutation:
            behind = await started(session.set_value(PLAN, 2))
            assert await plan_of(session) == 0
            await mutation.commit([set_value(PLAN, 1)])
            assert await plan_of(session) == 1
        # Once the mutation is over, the write behind it is before the read.
        assert await plan_of(session) == 2
        await behind


@in_loop
async def test_a_read_follows_the_writes_before_one_that_was_cancelled() -> None:
    async with a_session() as session:
        with commits_of(session) as gate:
            first = await started(session.set_value(PLAN, 1))
            await gate.reached()
            second = await started(session.set_value(PLAN, 2))
            read = await started(plan_of(session))
            second.cancel()
            await turns_of_the_loop()
            assert second.cancelled()
            assert not read.done()
            gate.open()
            assert await read == 1
            await first


@in_loop
async def test_a_write_does_not_wait_for_a_slow_read() -> None:
    async with a_session() as session:
        with Gate(session._session.storage, "_value") as gate:
            read = await started(plan_of(session))
            await gate.reached()
            await session.set_value(PLAN, 1)
            assert not read.done()
            gate.open()
            await read


@in_loop
async def test_tasks_that_wait_for_their_turn_occupy_no_worker() -> None:
    async with a_session(max_workers=1) as session:
        async with session.begin_mutation() as mutation:
            waiting = [await started(session.append_list(STEPS, n)) for n in range(20)]
            mutations = [await started(session.mutate(_append(n))) for n in range(20, 25)]
            await mutation.commit([append_list(STEPS, "first")])
        await asyncio.gather(*waiting, *mutations)
        assert await steps_of(session) == ["first", *range(25)]


def _append(number: int) -> Callable[[AsyncSessionMutation], Coroutine[Any, Any, None]]:
    async def append(mutation: AsyncSessionMutation) -> None:
        await mutation.commit([append_list(STEPS, number)])

    return append


@in_loop
async def test_mutate_reads_what_nobody_changes_until_it_commits() -> None:
    async def increment(mutation: AsyncSessionMutation) -> int:
        found = await mutation.get_value(PLAN)
        number = 1 if found is None else found.value + 1
        await mutation.commit([set_value(PLAN, number)])
        return number

    async with a_session() as session:
        numbers = await asyncio.gather(*(session.mutate(increment) for _ in range(50)))
        assert numbers == list(range(1, 51))


@in_loop
async def test_mutate_sync_is_one_mutation_in_a_worker() -> None:
    def increment(mutation: SessionMutation) -> int:
        found = mutation.get_value(PLAN)
        number = 1 if found is None else found.value + 1
        mutation.commit([set_value(PLAN, number)])
        return number

    async with a_session() as session:
        numbers = await asyncio.gather(*(session.mutate_sync(increment) for _ in range(50)))
        assert numbers == list(range(1, 51))


async def _mutate(session: AsyncSession) -> None:
    await session.mutate(_append(0))


NESTED: dict[str, Callable[[AsyncSession], Any]] = {
    "commit": lambda session: session.commit([set_value(PLAN, 1)]),
    "set_value": lambda session: session.set_value(PLAN, 1),
    "delete_value": lambda session: session.delete_value(PLAN),
    "append_list": lambda session: session.append_list(STEPS, 1),
    "delete_list": lambda session: session.delete_list(STEPS),
    "retire_scope": lambda session: session.retire_scope(ephemeral_scope("op")),
    "set_name": lambda session: session.set_name("name"),
    "set_label": lambda session: session.set_label("entry", None),
    "create_branch": lambda session: session.create_branch("other"),
    "begin_mutation": lambda session: session.begin_mutation(),
    "mutate": _mutate,
    "mutate_sync": lambda session: session.mutate_sync(lambda _: None),
    "close": lambda session: session.close(),
}


@pytest.mark.parametrize("name", NESTED)
@in_loop
async def test_the_task_that_holds_the_mutation_is_refused_another_turn(name: str) -> None:
    async with a_session() as session:
        async with session.begin_mutation() as mutation:
            with pytest.raises(MutationError):
                await NESTED[name](session)
            await mutation.commit([set_value(PLAN, "kept")])
        assert await plan_of(session) == "kept"
        await session.set_value(PLAN, "next")


@in_loop
async def test_the_task_that_holds_a_mutation_cannot_close_the_repository() -> None:
    async with AsyncSessionRepo(MemorySessionRepo()) as repo:
        session = await repo.create()
        async with session.begin_mutation() as mutation:
            with pytest.raises(MutationError):
                await repo.close()
            await mutation.commit([set_value(PLAN, 1)])
        assert await plan_of(session) == 1


@in_loop
async def test_a_branch_of_the_session_is_refused_too() -> None:
    async with a_session() as session:
        branch = await session.create_branch("main")
        async with session.begin_mutation():
            with pytest.raises(MutationError):
                await branch.append_message({"role": "user"})
            with pytest.raises(MutationError):
                await branch.append_custom_entry("note")
            assert await branch.tip_id() is None
        await branch.append_message({"role": "user"})


@in_loop
async def test_another_task_waits_for_the_mutation() -> None:
    async with a_session() as session:
        async with session.begin_mutation() as mutation:
            other = await started(session.append_list(STEPS, "other"))
            await turns_of_the_loop()
            assert not other.done()
            await mutation.commit([append_list(STEPS, "mine")])
        await other
        assert await steps_of(session) == ["mine", "other"]


@in_loop
async def test_a_second_commit_and_use_after_the_end_are_errors() -> None:
    async with a_session() as session:
        async with session.begin_mutation() as mutation:
            await mutation.commit([])
            with pytest.raises(MutationError):
                await mutation.commit([set_value(PLAN, 1)])
        with pytest.raises(MutationError):
            await mutation.get_value(PLAN)
        with pytest.raises(MutationError):
            await mutation.commit([])
        await mutation.end()


@in_loop
async def test_a_mutation_ends_when_its_callback_raises() -> None:
    async def fail(_: AsyncSessionMutation) -> None:
        raise LookupError("mine")

    async with a_session() as session:
        with pytest.raises(LookupError, match="mine"):
            await session.mutate(fail)
        await session.set_value(PLAN, 1)


@in_loop
async def test_sync_code_inside_a_mutation_is_refused_another_turn() -> None:
    async with a_session() as session:
        sync = session._session

        def nested(_: SessionMutation) -> None:
            sync.set_value(PLAN, 1)

        with pytest.raises(MutationError):
            await session.mutate_sync(nested)
        with pytest.raises(MutationError):
            await session.enqueue(nested)
        await session.set_value(PLAN, 2)


@in_loop
async def test_enqueued_mutations_are_in_line_from_the_call_on() -> None:
    async with a_session() as session:
        tasks = [
            session.enqueue(lambda mutation, n=number: mutation.commit([append_list(STEPS, n)]))
            for number in range(20)
        ]
        await session.append_list(STEPS, "last")
        assert await steps_of(session) == [*range(20), "last"]
        await asyncio.gather(*tasks)


@in_loop
async def test_the_holder_of_a_mutation_cannot_enqueue_another() -> None:
    async with a_session() as session:
        async with session.begin_mutation():
            with pytest.raises(MutationError):
                session.enqueue(lambda _: None)
            with pytest.raises(MutationError):
                session.refuse_holder()
        session.refuse_holder()
