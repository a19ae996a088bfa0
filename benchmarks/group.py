"""32 sessions that write to one SQLite container together."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from statistics import median
from time import perf_counter
from typing import Any, Final, NamedTuple

from benchmarks.context import Context
from benchmarks.places import Place, file_of, file_places
from benchmarks.recording import Recording, bare_sqlite
from benchmarks.report import Figures
from benchmarks.twins import recorded_repository
from benchmarks.work import Conversation
from sessionstore import Session, open_repository

SESSIONS: Final = 32

TURNS: Final = 24
"""Turns of every session in each round, so that ours and the bare peer's database grow alike."""

SINGLE: Final = TURNS // 4 * SESSIONS
"""Turns in each round that are commits of their own."""

_Replay = Callable[[Any], None]


def run(context: Context) -> None:
    """Turns a second: one session, 32 in threads of their own, and the same grouped by hand."""
    for place in file_places(context):
        if place.name == "sqlite":
            _together(context, place)


class _Round(NamedTuple):
    """Turns a second."""

    one: float
    many: float
    bare: float
    grouped: float


def _together(context: Context, place: Place) -> None:
    peers = _record(place, context.rounds(12, 3))
    rounds: list[_Round] = []
    with place.fresh() as url, place.fresh() as bare_url, open_repository(url) as repo:
        with open_repository(bare_url) as other:
            for number in range(SESSIONS):
                other.create(id=_id(number)).close()
        one, many = [repo.create()], [repo.create() for _ in range(SESSIONS)]
        with closing(bare_sqlite(str(file_of(bare_url)))) as raw:
            # In turn, so that a disk which others use too favours none of them.
            for peer in peers:
                ours = _turns_a_second(one, SINGLE), _turns_a_second(many, TURNS)
                rounds.append(_Round(*ours, _rate(peer.single, 1, raw), _rate(peer.grouped, SESSIONS, raw)))
    context.show(_figures(rounds))


def _turns_a_second(sessions: Sequence[Session], turns: int) -> float:
    """What the sessions commit together, ``turns`` each, from a thread of its own each."""
    start = threading.Barrier(len(sessions) + 1)

    def work(session: Session) -> None:
        talk = Conversation()
        start.wait()
        for _ in range(turns):
            session.commit(talk.turn())

    threads = [threading.Thread(target=work, args=[session]) for session in sessions]
    for thread in threads:
        thread.start()
    start.wait()
    began = perf_counter()
    for thread in threads:
        thread.join()
    return len(sessions) * turns / (perf_counter() - began)


def _figures(rounds: Sequence[_Round]) -> Figures:
    table = Figures(
        f"Turns a second on one SQLite container, synchronous=FULL ({SESSIONS} sessions, a thread each)",
        ("who", "turns a second", "times one session", "aim of ours"),
    )
    share = median(each.many / each.grouped for each in rounds)
    for name, rates, aim in (
        ("one session", [each.one for each in rounds], ""),
        (f"{SESSIONS} sessions", [each.many for each in rounds], "≥ 2.2"),
        ("bare, one after the other", [each.bare for each in rounds], ""),
        ("bare, grouped by hand", [each.grouped for each in rounds], f"{share:.2f} ≥ 0.7"),
    ):
        ratio = median(rate / each.one for rate, each in zip(rates, rounds, strict=True))
        table.add(name, f"{median(rates):,.0f}", f"{ratio:.2f}", aim)
    return table


class _Peer(NamedTuple):
    """What the bare driver does in one round: recorded turns, each as it was and many in one transaction."""

    single: Sequence[_Replay]
    grouped: Sequence[_Replay]


def _id(number: int) -> str:
    return f"session-{number}"


def _record(place: Place, rounds: int) -> list[_Peer]:
    with recorded_repository(place) as (repo, log):
        talks = [(repo.create(id=_id(number)), Conversation()) for number in range(SESSIONS)]

        def turns() -> list[Recording]:
            recorded: list[Recording] = []
            for session, talk in talks:
                log.take()
                session.commit(talk.turn())
                recorded.append(log.take())
            return recorded

        return [
            _Peer(
                [turn.compiled() for _ in range(SINGLE // SESSIONS) for turn in turns()],
                [_one_transaction(turns()) for _ in range(TURNS)],
            )
            for _ in range(rounds)
        ]


def _one_transaction(turns: list[Recording]) -> _Replay:
    works = [turn.inside().compiled() for turn in turns]

    def run(raw: Any) -> None:
        raw.execute("BEGIN IMMEDIATE")
        for work in works:
            raw.execute("SAVEPOINT member")
            work(raw)
            raw.execute("RELEASE member")
        raw.execute("COMMIT")

    return run


def _rate(replays: Sequence[_Replay], turns: int, raw: Any) -> float:
    start = perf_counter()
    for replay in replays:
        replay(raw)
    return turns * len(replays) / (perf_counter() - start)
