"""Creating, opening, listing and deleting sessions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from benchmarks.big import big_session
from benchmarks.context import Context
from benchmarks.places import Place, file_of, file_places, server_places
from benchmarks.timing import Work, alone, in_turn, prepared
from benchmarks.twins import driver_of
from benchmarks.work import Conversation
from sessionstore import SessionRepo, open_repository

_HEADER = "id, created_at, modified_at, parent_session_id, storage_version, metadata"


def run(context: Context) -> None:
    """Every kind of store."""
    for place in [*file_places(context), *server_places(context)]:
        _one_session(context, place)
        for count in (1000,) if context.quick else (1000, 10_000):
            _listing(context, place, count)


def _one_session(context: Context, place: Place) -> None:
    times = context.times(f"One session on {place.name}")
    with place.fresh() as url, open_repository(url) as repo:
        repo.create(id="first").close()
        times.add("create", prepared(lambda: lambda: repo.create().close(), context.rounds(100, 20)))
        for entries in (0, 10_000):
            metadata = big_session(repo, entries)
            read = alone(lambda: _read(repo, metadata.id), context.rounds(50, 10))  # noqa: B023
            times.add(f"open with {entries:,} entries, read its statistics", read)
        times.add("delete, with one turn", prepared(lambda: _deletion(repo, 0), context.rounds(50, 10)))
        times.add(
            "delete, with 10,000 entries", prepared(lambda: _deletion(repo, 10_000), context.rounds(10, 3), 1)
        )
    context.show(times)


def _read(repo: SessionRepo, id: str) -> None:
    with repo.open(id) as session:
        session.get_stats()


def _deletion(repo: SessionRepo, entries: int) -> Work:
    if entries:
        metadata = big_session(repo, entries)
    else:
        with repo.create() as session:
            session.commit(Conversation().turn())
            metadata = session.metadata
    return lambda: repo.delete(metadata)


def _listing(context: Context, place: Place, count: int) -> None:
    times = context.times(f"Listing {count:,} sessions on {place.name}")
    with place.fresh() as url, open_repository(url) as repo:
        for _ in range(count):
            repo.create(cwd="/home/user/project").close()
        bare = _bare_listing(place, url)
        aim = {"sqlite": "≤ 3 ms for 1,000", "sqlite+dir": "1.3", "jsonl": "2"}.get(place.name, "")
        rounds = context.rounds(20, 5)
        if bare is None:
            times.add("list", alone(repo.list, rounds, warm_up=1), aim=aim)
        else:
            name, work = bare
            ours, peer = in_turn([repo.list, work], rounds, warm_up=1)
            times.add("list", ours, name, peer, aim=aim)
        times.add("newest 20", alone(lambda: repo.list(limit=20), rounds, warm_up=1))
    context.show(times)


def _bare_listing(place: Place, url: str) -> tuple[str, Callable[[], object]] | None:
    """The same by hand: the name of it, and how."""
    statement = f"SELECT {_HEADER} FROM sessions ORDER BY created_at DESC, id"
    if place.name == "memory":
        return None
    if place.name == "jsonl":
        return "first line of each file", lambda: _first_lines(Path(url.removeprefix("jsonl:")))
    if place.name == "sqlite+dir":
        return "bare sqlite3 on each file", lambda: _each_file(
            Path(url.removeprefix("sqlite+dir:")), statement
        )
    raw = sqlite3.connect(file_of(url)) if place.name == "sqlite" else driver_of(url).bare(url)

    def fetch() -> object:
        cursor = raw.cursor()
        cursor.execute(statement)
        return cursor.fetchall()

    return "bare fetchall", fetch


def _first_lines(root: Path) -> None:
    for path in root.rglob("*.jsonl"):
        with path.open("rb") as file:
            file.readline()


def _each_file(root: Path, statement: str) -> None:
    for path in root.iterdir():
        if path.suffix == ".sqlite":
            raw = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
            raw.execute(statement).fetchall()
            raw.close()
