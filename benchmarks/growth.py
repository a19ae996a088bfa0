"""What a commit costs in a long session and in a full container, and what an entry takes on disk."""

from __future__ import annotations

import json
from collections.abc import Callable

from benchmarks.big import big_session, tip_of
from benchmarks.context import Context
from benchmarks.places import Place, file_of, file_places, server_places
from benchmarks.report import Figures, pretty
from benchmarks.timing import Sample, Work, prepared
from benchmarks.work import MESSAGE, Conversation, Writes, frame
from sessionstore import Session, open_repository


def run(context: Context) -> None:
    """SQLite and the servers: up to a million entries in one session, and many sessions in one container."""
    for place in [*file_places(context), *server_places(context)]:
        if place.name in ("sqlite", "postgresql", "mariadb"):
            _long_session(context, place)
            _full_container(context, place)


def _long_session(context: Context, place: Place) -> None:
    table = Figures(
        f"A session as it grows, on {place.name} (medians)",
        ("entries", "one turn", "one frame", "newest 50", "database bytes an entry"),
    )
    payload = len(json.dumps({"message": MESSAGE}, separators=(",", ":")))
    for entries in (1000, 30_000) if context.quick else (1000, 100_000, 1_000_000):
        with place.fresh() as url, open_repository(url) as repo:
            metadata = big_session(repo, entries)
            with repo.open(metadata) as session:
                talk = Conversation(tip_of(entries))
                rounds = context.rounds(200, 60)
                turn = _commits(session, talk.turn, rounds)
                streamed = _commits(session, frame, rounds)
                newest = prepared(lambda: lambda: session.scan_branch(talk.tip or "", limit=50), rounds)  # noqa: B023
            length = f"{file_of(url).stat().st_size / entries:.0f}" if place.name == "sqlite" else ""
        table.add(f"{entries:,}", *(pretty(sample.median) for sample in (turn, streamed, newest)), length)
    table.title += f"; a payload has {payload} bytes"
    context.show(table)


def _commits(session: Session, make: Callable[[], Writes], rounds: int) -> Sample:
    def prepare() -> Work:
        writes = make()
        return lambda: session.commit(writes)

    return prepared(prepare, rounds, warm_up=20)


def _full_container(context: Context, place: Place) -> None:
    table = Figures(
        f"A container as it fills, on {place.name} (medians)", ("sessions", "one turn", "create", "newest 20")
    )
    with place.fresh() as url, open_repository(url) as repo:
        made = 0
        for count in (100, 2000) if context.quick else (100, 10_000, 100_000):
            for _ in range(count - made):
                big_session(repo, 2)
            made = count
            with repo.create() as session:
                turn = _commits(session, Conversation().turn, context.rounds(200, 60))
            create = prepared(lambda: lambda: repo.create().close(), context.rounds(50, 10))
            newest = prepared(lambda: lambda: repo.list(limit=20), context.rounds(50, 10))
            table.add(f"{count:,}", *(pretty(sample.median) for sample in (turn, create, newest)))
    context.show(table)
