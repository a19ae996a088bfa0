"""Commits of many async sessions that share transactions of one SQLite container."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aio.support import PLAN, STEPS, in_loop, plan_of, started, steps_of, turns_of_the_loop
from sql import counting

from sessionstore import TransactionConflictError, append_list, set_value
from sessionstore.aio import AsyncSession, AsyncSessionRepo
from sessionstore.sql.repo import SqlSessionRepo

SESSIONS = 32


@asynccontextmanager
async def many(folder: Path) -> AsyncIterator[tuple[SqlSessionRepo, list[AsyncSession]]]:
    inner = SqlSessionRepo.from_path(folder / "s.db")
    async with AsyncSessionRepo(inner) as repo:
        yield inner, [await repo.create() for _ in range(SESSIONS)]


async def write(session: AsyncSession, number: int) -> None:
    await session.commit([set_value(PLAN, number), append_list(STEPS, number)])


@pytest.fixture(autouse=True)
def counted(monkeypatch: pytest.MonkeyPatch) -> None:
    counting.install(monkeypatch)


@in_loop
async def test_they_share_transactions(tmp_path: Path) -> None:
    async with many(tmp_path) as (_, sessions):
        with counting.statements() as seen:
            for number in range(5):
                await asyncio.gather(*(write(session, number) for session in sessions))
        assert seen.count("COMMIT") < 5 * SESSIONS / 2
        for session in sessions:
            assert await plan_of(session) == 4
            assert await steps_of(session) == [0, 1, 2, 3, 4]


@in_loop
async def test_members_that_fail_or_are_cancelled_take_no_other_down(tmp_path: Path) -> None:
    async with many(tmp_path) as (inner, sessions):
        turn = inner._sql._lock.acquire()  # type: ignore[attr-defined]  # of the SQLite containers
        tasks = [await started(write(session, number)) for number, session in enumerate(sessions[2:])]
        failing = await started(sessions[0].storage.commit([append_list(STEPS, -1)], expected_seq=77))
        cancelled = await started(write(sessions[1], -1))
        tasks[3].cancel()
        cancelled.cancel()
        await turns_of_the_loop()
        turn.release()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(outcomes.pop(3), asyncio.CancelledError)
        assert outcomes == [None] * (SESSIONS - 3)
        with pytest.raises(TransactionConflictError):
            await failing
        with pytest.raises(asyncio.CancelledError):
            await cancelled
        assert await steps_of(sessions[0]) == []
        for number, session in enumerate(sessions[2:]):
            state = await plan_of(session), await steps_of(session)
            assert state == (number, [number]) or (number == 3 and state == (None, []))
        for session in (sessions[1], sessions[5]):
            before = await steps_of(session)
            assert await steps_of(session) == before
            await write(session, 9)
            assert await steps_of(session) == [*before, 9]
