"""Opening, closing, loops that come and go, and processes that fork."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import traceback
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path

import pytest
from aio.support import (
    PLAN,
    Gate,
    a_session,
    commits_of,
    in_loop,
    plan_of,
    started,
    turns_of_the_loop,
    until,
)

import sessionstore
from sessionstore import (
    ForkTree,
    MemorySessionRepo,
    RepositoryClosedError,
    SessionAlreadyOpenError,
    SessionClosedError,
    SessionExistsError,
    SessionNotFoundError,
    set_value,
)
from sessionstore.aio import AsyncSessionRepo, open_repository


@in_loop
async def test_a_repository_is_entered_awaited_or_used_as_it_is() -> None:
    async with open_repository("memory://") as repo:
        assert await repo.list() == []
    repo = await open_repository("memory://")
    assert await repo.list() == []
    await repo.close()
    repo = AsyncSessionRepo(MemorySessionRepo())
    assert await repo.list() == []
    await repo.close()


@in_loop
async def test_sessions_and_mutations_are_entered_awaited_or_made_tasks_of() -> None:
    async with open_repository("memory://") as repo:
        async with repo.create(id="x") as session:
            async with session.begin_mutation() as mutation:
                await mutation.commit([set_value(PLAN, 1)])
            async with await session.begin_mutation() as mutation:
                await mutation.commit([set_value(PLAN, 2)])
            mutation = await asyncio.create_task(session.begin_mutation())
            await mutation.end()
        session = await repo.open("x")
        assert await plan_of(session) == 2
        await session.close()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(repo.create(id=str(n))) for n in range(3)]
        assert [task.result().metadata.id for task in tasks] == ["0", "1", "2"]


@in_loop
async def test_names_and_arguments_are_those_of_the_sync_repository() -> None:
    clock = iter(range(1_000, 2_000))
    async with open_repository("memory://", clock=lambda: next(clock), max_workers=2) as repo:
        async with repo.create(id="a", cwd="/work") as session:
            branch = await session.create_branch("main")
            entry_id = await branch.append_message({"role": "user", "content": "hi"})
            await session.set_name("first")
            await session.set_label(entry_id, "start")
            assert session.metadata.created_at == (await repo.get("a")).created_at
            assert await session.get_name() == "first"
            assert await session.get_label(entry_id) == "start"
            assert [entry.id for entry in await branch.find_entries()] == [entry_id]
            assert (await session.get_stats()).message_count == 1
            found = await session.branch("main")
            assert found is not None
            assert found.name == "main"
            assert await found.tip_id() == entry_id
            assert await session.branch("other") is None
        async with repo.fork("a", ForkTree(), id="b", source_repository=repo) as copy:
            assert (await copy.get_entry(entry_id)) is not None
            assert copy.metadata.parent_session_id == "a"
        newest, oldest = await repo.list()
        assert [newest.id, oldest.id] == ["b", "a"]
        assert await repo.list(limit=1, before=newest) == [oldest]
        await repo.delete(newest)
        with pytest.raises(SessionNotFoundError):
            await repo.open("b")


@in_loop
async def test_errors_of_the_sync_repository_arrive_as_they_are() -> None:
    async with open_repository("memory://") as repo, repo.create(id="x"):
        with pytest.raises(SessionExistsError):
            await repo.create(id="x")
        with pytest.raises(SessionAlreadyOpenError):
            await repo.open("x")


@in_loop
async def test_a_closed_session_refuses_every_call_and_closes_again() -> None:
    async with open_repository("memory://") as repo:
        session = await repo.create()
        branch = await session.create_branch("main")
        await session.close()
        await session.close()
        for call in (
            session.get_value(PLAN),
            session.set_value(PLAN, 1),
            session.begin_mutation(),
            branch.tip_id(),
            branch.append_message({"role": "user"}),
            session.storage.get_value(PLAN),
            session.storage.commit([]),
        ):
            with pytest.raises(SessionClosedError):
                await call


@in_loop
async def test_close_lets_the_running_mutation_finish_and_refuses_what_waits() -> None:
    async with open_repository("memory://", max_workers=1) as repo:
        session = await repo.create(id="x")
        async with session.begin_mutation() as mutation:
            waiting = await started(session.set_value(PLAN, "waiting"))
            closing = [await started(session.close()) for _ in range(3)]
            with pytest.raises(SessionClosedError):
                await waiting
            await turns_of_the_loop()
            assert not any(close.done() for close in closing)
            # The only worker is free for the commit, whoever waits for it.
            await mutation.commit([set_value(PLAN, "running")])
        await asyncio.gather(*closing)
        async with repo.open("x") as session:
            assert await plan_of(session) == "running"


@in_loop
async def test_a_failed_close_is_told_each_time() -> None:
    async with open_repository("memory://") as repo:
        session = await repo.create()

        def fail() -> None:
            raise OSError("disk on fire")

        session._session.storage._release = fail
        for _ in range(2):
            with pytest.raises(OSError, match="disk on fire"):
                await session.close()


@in_loop
async def test_closing_the_repository_closes_its_sessions_and_ends_its_threads() -> None:
    repo = open_repository("memory://", max_workers=1)
    first, second = await repo.create(), await repo.create()
    async with first.begin_mutation() as mutation:
        closing = await started(repo.close())
        await _refused_from_some_time_on(repo)
        await mutation.commit([set_value(PLAN, 1)])
    await closing
    assert workers() == 0
    await repo.close()
    for call in (repo.list(), repo.create(), repo.get("x"), repo.open("x"), repo.delete("x")):
        with pytest.raises(RepositoryClosedError):
            await call
    for session in (first, second):
        with pytest.raises(SessionClosedError):
            await session.get_value(PLAN)
        await session.close()


async def _refused_from_some_time_on(repo: AsyncSessionRepo) -> None:
    try:
        while True:
            await repo.list()
    except RepositoryClosedError:
        pass


@in_loop
async def test_a_repository_that_cannot_close_well_tells_it_each_time() -> None:
    repo = open_repository("memory://")
    session = await repo.create()

    def fail() -> None:
        raise OSError("disk on fire")

    session._session.storage._release = fail
    for _ in range(2):
        with pytest.raises(OSError, match="disk on fire"):
            await repo.close()


@in_loop
async def test_threads_are_made_when_calls_need_them() -> None:
    async with open_repository("memory://", max_workers=2) as repo:
        assert workers() == 0
        await repo.list()
        assert workers() == 1
        await asyncio.gather(*(repo.list() for _ in range(10)))
        assert workers() <= 2
    assert workers() == 0


def workers() -> int:
    return sum(thread.name.startswith("sessionstore_") for thread in threading.enumerate())


def test_the_handles_outlive_a_loop() -> None:
    repo = AsyncSessionRepo(MemorySessionRepo())

    async def make() -> sessionstore.aio.AsyncSession:
        session = await repo.create()
        await session.set_value(PLAN, 1)
        return session

    session = asyncio.run(make())
    assert asyncio.run(plan_of(session)) == 1
    asyncio.run(session.set_value(PLAN, 2))
    assert asyncio.run(plan_of(session)) == 2
    asyncio.run(repo.close())


def test_a_commit_outlives_the_loop_that_called_it() -> None:
    repo = AsyncSessionRepo(MemorySessionRepo())
    session = asyncio.run(_new(repo))
    with commits_of(session) as gate:

        async def leave() -> None:
            await started(session.set_value(PLAN, 1))
            await started(session.set_value(PLAN, 2))
            await gate.reached()

        asyncio.run(leave())
        gate.open()
        assert asyncio.run(plan_of(session)) == 1
    asyncio.run(repo.close())


def test_a_loop_that_is_closed_with_tasks_in_it_does_not_block_the_line() -> None:
    repo = AsyncSessionRepo(MemorySessionRepo())
    session = asyncio.run(_new(repo))
    loop = asyncio.new_event_loop()
    with commits_of(session) as gate:

        async def leave() -> list[asyncio.Task[object]]:
            calls = [await started(session.set_value(PLAN, number)) for number in (1, 2)]
            await gate.reached()
            return calls

        left = loop.run_until_complete(leave())
        loop.close()
        gate.open()
        asyncio.run(session.set_value(PLAN, 3))
    assert asyncio.run(plan_of(session)) == 3
    asyncio.run(repo.close())
    for call in left:
        # Nobody runs it any more; without this it would complain when it is dropped.
        call._log_destroy_pending = False
        call.get_coro().close()


async def _new(repo: AsyncSessionRepo) -> sessionstore.aio.AsyncSession:
    return await repo.create()


def test_two_loops_at_once_keep_the_order_of_the_line() -> None:
    repo = AsyncSessionRepo(MemorySessionRepo())
    session = asyncio.run(_new(repo))

    async def count() -> None:
        def increment(mutation: sessionstore.SessionMutation) -> None:
            found = mutation.get_value(PLAN)
            mutation.commit([set_value(PLAN, 1 if found is None else found.value + 1)])

        await asyncio.gather(*(session.mutate_sync(increment) for _ in range(50)))

    threads = [threading.Thread(target=asyncio.run, args=(count(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert asyncio.run(plan_of(session)) == 150
    asyncio.run(repo.close())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no os.fork()")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")  # that is the point
def test_a_forked_child_is_refused_and_the_parent_goes_on() -> None:
    repo = AsyncSessionRepo(MemorySessionRepo())
    session = asyncio.run(_new(repo))
    asyncio.run(session.set_value(PLAN, 1))

    async def refused() -> None:
        calls: list[tuple[type[Exception], Callable[[], object]]] = [
            (SessionClosedError, lambda: session.get_value(PLAN)),
            (SessionClosedError, lambda: session.set_value(PLAN, 2)),
            (SessionClosedError, session.begin_mutation),
            (SessionClosedError, lambda: session.storage.commit([])),
            (SessionClosedError, session.close),
            (RepositoryClosedError, repo.create),
            (RepositoryClosedError, repo.list),
            (RepositoryClosedError, repo.close),
        ]
        for expected, call in calls:
            with pytest.raises(expected, match="fork"):
                await call()

    child = os.fork()
    if child == 0:
        try:
            asyncio.run(asyncio.wait_for(refused(), 30))
        except BaseException:  # noqa: BLE001  # the exit code tells
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    asyncio.run(session.set_value(PLAN, 3))
    assert asyncio.run(plan_of(session)) == 3
    asyncio.run(repo.close())


@in_loop
async def test_a_path_names_a_sqlite_container(tmp_path: Path) -> None:
    async with open_repository(tmp_path / "sessions.db") as repo:
        assert str(tmp_path) in repo.container


@in_loop
async def test_context_variables_reach_the_worker() -> None:
    request: ContextVar[str] = ContextVar("request", default="none")
    seen: list[str] = []
    async with a_session() as session:
        request.set("mine")
        await session.mutate_sync(lambda _: seen.append(request.get()))
    assert seen == ["mine"]


@in_loop
async def test_the_loop_runs_while_every_worker_is_held_up() -> None:
    async with open_repository("memory://", max_workers=2) as repo:
        sessions = [await repo.create() for _ in range(4)]
        with commits_of(sessions[0]) as gate, commits_of(sessions[1]) as other:
            calls = [await started(session.set_value(PLAN, 1)) for session in sessions]
            calls += [await started(repo.create()), await started(repo.list())]
            calls += [await started(plan_of(session)) for session in sessions]
            calls.append(await started(sessions[2].close()))
            await gate.reached()
            await other.reached()
            # Would hang here if any of these calls blocked the thread of the loop.
            await turns_of_the_loop()
            assert not any(call.done() for call in calls)
            gate.open()
            other.open()
            await asyncio.wait(calls)


@in_loop
async def test_a_close_waits_until_a_cancelled_create_is_undone() -> None:
    repository = MemorySessionRepo()
    repo = AsyncSessionRepo(repository)
    with Gate(repository, "_create") as create, Gate(repository, "_delete") as delete:
        creating = await started(repo.create())
        await create.reached()
        creating.cancel()
        with pytest.raises(asyncio.CancelledError):
            await creating
        create.open()
        await delete.reached()
        closing = await started(repo.close())
        await turns_of_the_loop()
        assert not closing.done()
        assert len(repository.list()) == 1
        delete.open()
        await closing
    assert repository._sessions == {}


@in_loop
async def test_an_undo_that_fails_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    repository = MemorySessionRepo()
    async with AsyncSessionRepo(repository) as repo:

        def refuse(_: object) -> None:
            raise OSError("disk on fire")

        with Gate(repository, "_create") as gate:
            creating = await started(repo.create(id="x"))
            await gate.reached()
            creating.cancel()
            with pytest.raises(asyncio.CancelledError):
                await creating
            repository._delete = refuse
            gate.open()
            with pytest.raises(SessionExistsError):
                await repo.create(id="x")
    assert "could not be undone" in caplog.text


@in_loop
async def test_an_error_is_not_kept_alive_by_the_call_that_raised_it() -> None:
    gc.disable()
    try:
        async with a_session() as session:
            for call in (
                session.set_value(PLAN, {1}),
                session.storage.commit([set_value(PLAN, {1})]),
                session.scan_branch("unknown"),
            ):
                with pytest.raises(sessionstore.SessionStoreError) as raised:
                    await call
                error = weakref.ref(raised.value)
                del raised
                await until(lambda error=error: error() is None)  # a worker lets go a moment later
    finally:
        gc.enable()


@in_loop
async def test_a_mutation_that_is_dropped_lets_the_next_in() -> None:
    async with a_session() as session:
        await session.begin_mutation()
        await until(lambda: session._session.idle)  # a worker lets go a moment later
        await session.set_value(PLAN, 1)
