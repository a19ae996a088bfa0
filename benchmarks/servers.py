"""PostgreSQL and MariaDB over loopback: round trips, time beside the bare driver, many sessions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from sqlalchemy import make_url

from benchmarks.context import Context
from benchmarks.places import Place, server_places
from benchmarks.proxy import CountingProxy
from benchmarks.report import Figures
from benchmarks.twins import recorded_repository, twins
from benchmarks.work import Conversation, Writes, frame
from sessionstore import Session, open_repository


def run(context: Context) -> None:
    """All of it, on the servers that were asked for or are there."""
    for place in server_places(context):
        _round_trips(context, place)
        _beside_bare(context, place)
        many_sessions(context, place)


def _round_trips(context: Context, place: Place) -> None:
    table = Figures(
        f"One commit on {place.name}: statements, and turns of the conversation with the server",
        ("commit", "statements", "round trips"),
    )
    with recorded_repository(place) as (repo, log), repo.create() as session:
        counts = {}
        for name, writes in _commits():
            log.take()
            session.commit(writes)
            counts[name] = len(log.take().statements)
    trips: dict[str, list[int]] = {}
    with (
        place.fresh() as url,
        CountingProxy(make_url(url)) as proxy,
        open_repository(proxy.url) as repo,
        repo.create() as session,
    ):
        for _ in range(20):  # the driver prepares a statement once it has seen it a few times
            for name, writes in _commits():
                before = proxy.round_trips
                session.commit(writes)
                trips.setdefault(name, []).append(proxy.round_trips - before)
    for name, count in counts.items():
        table.add(name, count, f"{median(trips[name][5:]):g}")
    context.show(table)


def _commits() -> Iterator[tuple[str, Writes]]:
    yield "mixed append: entry, tip, usage", Conversation().turn()
    yield "one list append", frame()


def _beside_bare(context: Context, place: Place) -> None:
    aim = "1.3" if place.name == "postgresql" else "1.6"
    times = context.times(f"Commits on {place.name} beside the bare driver with the same statements")
    with twins(place, 0) as (pair, talk):
        for name, make in (("one turn", talk.turn), ("one frame", frame), ("250 entries", talk.batch)):
            rounds = context.rounds(300, 60) if name != "250 entries" else context.rounds(30, 8)
            ours, bare = pair.compare(make, rounds)
            times.add(name, ours, "bare driver", bare, aim=aim)
    context.show(times)


def many_sessions(context: Context, place: Place) -> None:
    """Turns a second with several sessions, each in a thread of its own."""
    table = Figures(
        f"Turns a second on {place.name}, one thread for each session",
        ("sessions", "turns a second", "times one"),
    )
    with place.fresh() as url, open_repository(url) as repo:
        alone = 0.0
        for count in (1, 8, 32):
            sessions = [repo.create() for _ in range(count)]
            rate = turns_a_second(sessions, 3.0 if not context.quick else 1.0)
            alone = alone or rate
            table.add(f"{count}", f"{rate:,.0f}", f"{rate / alone:.2f}")
            for session in sessions:
                session.close()
    context.show(table)


def turns_a_second(sessions: list[Session], seconds: float) -> float:
    """What all of them commit together, each from a thread of its own."""
    done = [0] * len(sessions)
    start = threading.Barrier(len(sessions) + 1)
    end = threading.Event()

    def work(number: int) -> None:
        talk = Conversation()
        start.wait()
        while not end.is_set():
            sessions[number].commit(talk.turn())
            done[number] += 1

    threads = [threading.Thread(target=work, args=[number]) for number in range(len(sessions))]
    for thread in threads:
        thread.start()
    start.wait()
    began = perf_counter()
    end.wait(seconds)
    end.set()
    for thread in threads:
        thread.join()
    return sum(done) / (perf_counter() - began)
