"""32 sessions that write to one SQLite container together."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from benchmarks.context import Context
from benchmarks.places import Place, file_places
from benchmarks.recording import Recording, bare_sqlite
from benchmarks.report import Figures
from benchmarks.servers import turns_a_second
from benchmarks.twins import recorded_repository
from benchmarks.work import Conversation
from sessionstore import open_repository

SESSIONS = 32


def run(context: Context) -> None:
    """Turns a second: one session, 32 in threads of their own, and the same grouped by hand."""
    for place in file_places(context):
        if place.name == "sqlite":
            _together(context, place)


def _together(context: Context, place: Place) -> None:
    seconds = 1.0 if context.quick else 4.0
    table = Figures(
        f"Turns a second on one SQLite container, synchronous=FULL ({SESSIONS} sessions, a thread each)",
        ("who", "turns a second", "times one session", "aim"),
    )
    rates = {}
    for count in (1, SESSIONS):
        with place.fresh() as url, open_repository(url) as repo:
            rates[count] = turns_a_second([repo.create() for _ in range(count)], seconds)
    by_hand, alone_by_hand = _by_hand(context, place)
    one = rates[1]
    table.add("one session", f"{one:,.0f}", "1.00", "")
    table.add(
        f"{SESSIONS} sessions",
        f"{rates[SESSIONS]:,.0f}",
        f"{rates[SESSIONS] / one:.2f}",
        "≥ 2.2, ≥ 0.7 by hand",
    )
    table.add("bare sqlite3, one after the other", f"{alone_by_hand:,.0f}", f"{alone_by_hand / one:.2f}", "")
    share = rates[SESSIONS] / by_hand
    table.add(
        "bare sqlite3, grouped by hand",
        f"{by_hand:,.0f}",
        f"{by_hand / one:.2f}",
        f"ours is {share:.2f} of it",
    )
    context.show(table)


def _by_hand(context: Context, place: Place) -> tuple[float, float]:
    """The recorded statements of all sessions: in one transaction with savepoints, and each alone."""
    rounds = context.rounds(60, 15)
    with recorded_repository(place) as (repo, log), place.fresh() as url:
        with open_repository(url) as other:
            talks = [Conversation() for _ in range(SESSIONS)]
            ids = [f"session-{number}" for number in range(SESSIONS)]
            sessions = [repo.create(id=id) for id in ids]
            for id in ids:
                other.create(id=id).close()
        grouped: list[list[Recording]] = []
        for _ in range(2 * rounds):
            log.take()
            turns = []
            for session, talk in zip(sessions, talks, strict=True):
                session.commit(talk.turn())
                turns.append(log.take())
            grouped.append(turns)
        raw = bare_sqlite(url.removeprefix("sqlite:///"))
        together = [_one_transaction(turns) for turns in grouped[:rounds]]
        apart = [turn.compiled() for turns in grouped[rounds:] for turn in turns]
        rates = _rate(together, raw) * SESSIONS, _rate(apart, raw)
        raw.close()
        return rates


def _one_transaction(turns: list[Recording]) -> Callable[[Any], None]:
    works = [turn.inside().compiled() for turn in turns]

    def run(raw: Any) -> None:
        raw.execute("BEGIN IMMEDIATE")
        for work in works:
            raw.execute("SAVEPOINT member")
            work(raw)
            raw.execute("RELEASE member")
        raw.execute("COMMIT")

    return run


def _rate(works: list[Callable[[Any], None]], raw: Any) -> float:
    start = perf_counter()
    for work in works:
        work(raw)
    return len(works) / (perf_counter() - start)
