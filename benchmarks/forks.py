"""Forks of a long branch, beside copying the rows or the file by hand."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.big import big_session
from benchmarks.children import Child, in_child
from benchmarks.context import Context
from benchmarks.places import Place, file_places, server_places
from benchmarks.report import Figures, Times, size
from benchmarks.timing import Work, alone, prepared_in_turn
from benchmarks.twins import driver_of
from sessionstore import ForkBranch, SessionMetadata, SessionRepo, open_repository

ENTRIES = 10_000


def run(context: Context) -> None:
    """10,000 entries on every store; 200,000 with the peak memory, when there is time."""
    times = context.times(f"Fork of a branch of {ENTRIES:,} entries")
    sources = [*file_places(context), *server_places(context)]
    for place in sources:
        _inside(context, place, times)
    for place in sources:
        if place.name == "sqlite":
            _across(context, place, sources, times)
    context.show(times)
    if not context.quick:
        _peaks(context, sources)


def _inside(context: Context, place: Place, times: Times) -> None:
    """Within one container, beside what its kind is copied with by hand."""
    with place.fresh() as url, open_repository(url) as repo:
        source = big_session(repo, ENTRIES)
        rounds = context.rounds(20, 5)

        def ours() -> Work:
            return lambda: repo.fork(source, ForkBranch()).close()

        if place.name in ("memory", "sqlite+dir"):
            times.add(f"{place.name}, same container", alone(ours(), rounds, warm_up=1))
        elif place.name == "jsonl":
            bare = _copied_file(repo, source)
            forked, copied = prepared_in_turn([ours, lambda: bare], rounds, warm_up=1)
            times.add("jsonl, same root", forked, "shutil.copy and open", copied, aim="2")
        else:
            raw = driver_of(url).bare(url)
            forked, copied = prepared_in_turn(
                [ours, lambda: _copied_rows(raw, source.id, place.name)], rounds, warm_up=1
            )
            raw.close()
            times.add(f"{place.name}, same container", forked, "INSERT … SELECT", copied, aim="1.3")


_SESSION_COPIED = (
    "created_at, modified_at, parent_session_id, storage_version, metadata, message_count, "
    "sessions.usage, next_seq"
)
_ENTRY_COPIED = "id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth"


def _copied_rows(raw: Any, source: str, name: str) -> Work:
    """A session row and one ``INSERT … SELECT`` of all entries, in one transaction."""
    new = f"by-hand-{next(_NUMBERS)}"
    mark = "?" if name == "sqlite" else "%s"
    statements = [
        f"INSERT INTO sessions SELECT {mark}, {_SESSION_COPIED} FROM sessions WHERE id = {mark}",
        f"INSERT INTO entries SELECT {mark}, {_ENTRY_COPIED} FROM entries WHERE session_id = {mark}",
    ]

    def copy() -> None:
        cursor = raw.cursor()
        cursor.execute("BEGIN IMMEDIATE" if name == "sqlite" else "BEGIN")
        for statement in statements:
            cursor.execute(statement, (new, source))
        cursor.execute("COMMIT")

    return copy


_NUMBERS = iter(range(10**9))


def _copied_file(repo: SessionRepo, source: SessionMetadata) -> Work:
    """The file copied, and read through once as an open must."""
    path = Path(source.path or "")

    def copy() -> None:
        target = path.with_name("copy.bare")
        shutil.copy(path, target)
        with repo.open(source) as session:
            session.get_stats()

    return copy


def _across(context: Context, source: Place, targets: list[Place], times: Times) -> None:
    """From a SQLite container to every kind of store."""
    for target in targets:
        with ExitStack() as stack:
            repo = stack.enter_context(open_repository(stack.enter_context(source.fresh())))
            other = stack.enter_context(open_repository(stack.enter_context(target.fresh())))
            metadata = big_session(repo, ENTRIES)
            other.create().close()

            def fork() -> None:
                other.fork(metadata, ForkBranch(), source_repository=repo).close()  # noqa: B023

            times.add(f"sqlite to another {target.name}", alone(fork, context.rounds(10, 4), warm_up=1))


def _peaks(context: Context, places: list[Place]) -> None:
    table = Figures(
        "Fork of a branch in a process of its own: peak memory above that of the idle process",
        ("fork", "entries", "seconds", "memory", "bytes an entry more than the smaller"),
    )
    for place in places:
        if place.name == "memory":
            continue
        for where in ("same container", "another container"):
            before = 0
            for entries in (1000, 200_000):
                child = _fork_in_child(place, entries, inside=where == "same container")
                more = f"{(child.grown - before) / entries:.0f}" if before else ""
                before = child.grown
                seconds = f"{child.seconds:.2f}"
                table.add(f"{place.name}, {where}", entries, seconds, size(child.grown), more)
    context.show(table)


def _fork_in_child(place: Place, entries: int, *, inside: bool) -> Child:
    with ExitStack() as stack:
        url = stack.enter_context(place.fresh())
        to = url if inside else stack.enter_context(place.fresh())
        with open_repository(url) as repo:
            metadata = big_session(repo, entries)
        opened = f"repo = open_repository({url!r}); to = repo"
        if not inside:
            opened += f"; to = open_repository({to!r}); to.create().close()"
        return in_child(
            f"{opened}; repo.list()",
            f"to.fork({metadata.id!r}, ForkBranch(), source_repository=repo)",
        )
