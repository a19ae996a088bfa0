"""Commits on a SQLite container beside the bare driver that runs the same statements."""

from __future__ import annotations

from benchmarks.context import Context
from benchmarks.places import file_places
from benchmarks.twins import twins
from benchmarks.work import frame


def run(context: Context) -> None:
    """One turn, one frame and one batch, on an empty and on a grown session."""
    places = [place for place in file_places(context) if place.name == "sqlite"]
    times = context.times(
        "Commits on SQLite (WAL, synchronous=FULL) beside bare sqlite3 with the same statements"
    )
    for place in places:
        for history in (0, 1000) if context.quick else (0, 1000, 100_000):
            with twins(place, history) as (pair, talk):
                where = f"{history:,} entries before"
                turn, bare = pair.compare(talk.turn, context.rounds(500, 150))
                times.add(f"one turn, {where}", turn, "bare sqlite3", bare, aim="1.3")
                appended, bare = pair.compare(frame, context.rounds(500, 150))
                times.add(f"one frame, {where}", appended, "bare sqlite3", bare, aim="1.4")
                batch, bare = pair.compare(talk.batch, context.rounds(50, 20))
                times.add(f"250 entries, {where}", batch, "bare sqlite3", bare, aim="1.4")
    context.show(times)
