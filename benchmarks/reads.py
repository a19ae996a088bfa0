"""Reads of a long branch, beside bare ``fetchall``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.context import Context
from benchmarks.places import Place, file_places, server_places
from benchmarks.report import Times
from benchmarks.timing import alone, in_turn
from benchmarks.twins import twins
from benchmarks.work import Conversation
from sessionstore import Session, open_repository

STRUCTURE = "id, parent_id, seq, timestamp, type, custom_type"


def run(context: Context) -> None:
    """Structure, newest 50 and 100 by id at 10,000 entries; newest 50 as the history grows."""
    files = [place for place in file_places(context) if place.name == "sqlite"]
    for place in [*files, *server_places(context)]:
        _beside_bare(context, place)
    for place in [*file_places(context), *server_places(context)]:
        _growing(context, place)


def _beside_bare(context: Context, place: Place) -> None:
    times = context.times(f"Reads of a branch of 10,000 entries on {place.name}")
    rounds = context.rounds(100, 20)
    with twins(place, 10_000) as (pair, talk):
        tip = talk.tip or ""
        ids = [f"entry-{int(tip.rsplit('-', 1)[1]) - 37 * number:010}" for number in range(100)]
        mark = "?" if place.name == "sqlite" else "%s"

        def by_hand(raw: Any) -> Any:
            cursor = raw.cursor()
            cursor.execute(
                f"SELECT {STRUCTURE} FROM entries WHERE session_id = {mark} ORDER BY seq DESC", ("twin",)
            )
            return cursor.fetchall()

        works: dict[str, tuple[Callable[[Session], Any], str]] = {
            "full structure": (lambda session: session.scan_branch_structure(tip), "1.3"),
            "newest 50, decoded": (lambda session: session.scan_branch(tip, limit=50), ""),
            "100 by id, decoded": (lambda session: session.get_entries(ids), ""),
            "whole branch, decoded": (lambda session: session.scan_branch(tip), ""),
        }
        for name, (work, aim) in works.items():
            assert len(work(pair.plain)) in (50, 100, 10_000)
            replay = pair.record(work).compiled()
            ours, bare = in_turn([lambda: work(pair.plain), lambda: replay(pair.bare)], rounds)  # noqa: B023
            times.add(name, ours, "fetchall, our statement", bare, aim=aim)
            if aim:
                ours, bare = in_turn([lambda: work(pair.plain), lambda: by_hand(pair.bare)], rounds)  # noqa: B023
                times.add(name, ours, "fetchall by hand, same columns", bare, aim=aim)
    context.show(times)
    with place.fresh() as url:
        _divergent(context, place.name, url)


def _divergent(context: Context, name: str, url: str) -> None:
    """A path of 10,000 entries that leaves an older branch 250 times."""
    times = context.times(f"A path of 10,000 entries through 250 divergences on {name}")
    with open_repository(url) as repo, repo.create() as session:
        talk = Conversation()
        for _ in range(250):
            writes = talk.batch(40)
            aside = Conversation(talk.tip).batch(1)
            session.commit([*writes, *aside, *talk.batch(1)][:41])
            talk.tip = writes[-1].entry.id  # the aside came first: what follows diverges
        tip = talk.tip or ""
        rounds = context.rounds(50, 10)
        times.add("full structure", alone(lambda: session.scan_branch_structure(tip), rounds))
        times.add("newest 50", alone(lambda: session.scan_branch(tip, limit=50), rounds))
    context.show(times)


def _growing(context: Context, place: Place) -> None:
    times: Times = context.times(f"Newest 50 as the history grows on {place.name}")
    with place.fresh() as url, open_repository(url) as repo, repo.create() as session:
        talk = Conversation()
        total = 0
        for size in (1000, 10_000) if context.quick else (1000, 10_000, 100_000):
            talk.grow(session, size - total)
            total = size
            tip = talk.tip or ""
            newest = alone(lambda: session.scan_branch(tip, limit=50), context.rounds(200, 50))  # noqa: B023
            times.add(f"newest 50 of {size:,}", newest)
    context.show(times)
