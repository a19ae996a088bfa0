"""The async facade: commits of many sessions in one loop, what a call costs, how long the loop stands."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from benchmarks.context import Context
from benchmarks.places import Place, file_places
from benchmarks.report import Figures
from benchmarks.servers import turns_a_second
from benchmarks.timing import Sample
from benchmarks.work import Conversation, frame
from sessionstore import open_repository
from sessionstore.aio import AsyncSession
from sessionstore.aio import open_repository as open_async


def run(context: Context) -> None:
    """On SQLite: the cost of a call, commits a second, frames of one streaming session."""
    for place in file_places(context):
        if place.name == "sqlite":
            _one_call(context, place)
            _many(context, place)


def _one_call(context: Context, place: Place) -> None:
    rounds = context.rounds(500, 150)
    times = context.times(
        "One call from a loop, SQLite: beside the sync call and one bare run_in_executor hop"
    )
    for name in ("one turn", "one frame", "read of a value"):
        with place.fresh() as url, place.fresh() as other:
            sync, hop, ours = asyncio.run(_calls(url, other, name, rounds))
        together = Sample([a + b for a, b in zip(sync.seconds, hop.seconds, strict=True)])
        times.add(name, ours, "sync call + hop", together, aim="1.2")
        if name == "one turn":
            times.add("bare run_in_executor hop", hop)
    context.show(times)


async def _calls(url: str, other: str, name: str, rounds: int) -> tuple[Sample, Sample, Sample]:
    loop = asyncio.get_running_loop()
    taken: dict[str, list[float]] = {"sync": [], "hop": [], "async": []}
    with open_repository(other) as repo, repo.create() as session:
        async with open_async(url) as aio, aio.create() as handle:
            here, there = Conversation(), Conversation()
            for number in range(rounds + 20):
                begin = time.perf_counter()
                _do(session, name, here)
                after_sync = time.perf_counter()
                await loop.run_in_executor(None, _nothing)
                after_hop = time.perf_counter()
                await _do(handle, name, there)
                end = time.perf_counter()
                if number >= 20:
                    taken["sync"].append(after_sync - begin)
                    taken["hop"].append(after_hop - after_sync)
                    taken["async"].append(end - after_hop)
    return Sample(taken["sync"]), Sample(taken["hop"]), Sample(taken["async"])


def _do(session: Any, name: str, talk: Conversation) -> Any:
    if name == "one turn":
        return session.commit(talk.turn())
    if name == "one frame":
        return session.commit(frame())
    return session.get_name()


def _nothing() -> None:
    pass


def _many(context: Context, place: Place) -> None:
    seconds = 1.0 if context.quick else 3.0
    table = Figures(
        "Commits a second on SQLite from one loop, beside one thread for each session of the sync store",
        ("sessions", "async", "sync", "longest stall of the loop"),
    )
    for count in (1, 32, 256):
        with place.fresh() as url:
            rate, stall = asyncio.run(_turns(url, count, seconds))
        with place.fresh() as url, open_repository(url) as repo:
            sessions = [repo.create() for _ in range(count)]
            sync = turns_a_second(sessions, seconds)
        table.add(f"{count}", f"{rate:,.0f}", f"{sync:,.0f}", f"{stall * 1000:.1f} ms")
    with place.fresh() as url:
        frames = asyncio.run(_frames(url, seconds))
    table.add("1, frames", f"{frames:,.0f}", "", "")
    context.show(table)


async def _turns(url: str, count: int, seconds: float) -> tuple[float, float]:
    """Turns a second, and the longest time that the loop did not come round."""
    async with open_async(url) as repo:
        sessions = [await repo.create() for _ in range(count)]
        end = time.perf_counter() + seconds
        watch = asyncio.create_task(_longest_stall())
        start = time.perf_counter()
        done = await asyncio.gather(*(_talk(session, end) for session in sessions))
        taken = time.perf_counter() - start
        watch.cancel()
        stall = await asyncio.gather(watch, return_exceptions=True)
        return sum(done) / taken, _stalls.pop() if stall else 0.0


_stalls: list[float] = []


async def _longest_stall() -> None:
    longest = 0.0
    try:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(0.001)
            longest = max(longest, time.perf_counter() - before - 0.001)
    finally:
        _stalls.append(longest)


async def _talk(session: AsyncSession, end: float) -> int:
    talk, done = Conversation(), 0
    while time.perf_counter() < end:
        await session.commit(talk.turn())
        done += 1
    return done


async def _frames(url: str, seconds: float) -> float:
    async with open_async(url) as repo, repo.create() as session:
        done, start = 0, time.perf_counter()
        while time.perf_counter() - start < seconds:
            await session.commit(frame())
            done += 1
        return done / (time.perf_counter() - start)
