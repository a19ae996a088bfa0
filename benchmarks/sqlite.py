"""Issue-sized work on a SQLite container beside the bare driver that runs the same statements."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import create_engine

from benchmarks.context import Context
from benchmarks.recording import Log, Recording, bare_sqlite, recorded_sqlite
from benchmarks.timing import Sample, prepared_in_turn
from benchmarks.work import Conversation, frame
from sessionstore import Session, Write, open_repository
from sessionstore.sql.repo import SqlSessionRepo

CREATED_AT = 1_700_000_000_000

Writes = list[Write[Any]]


class Twins:
    """The same session three times over: recorded, in the store as users have it, and bare.

    Every piece of work is first done on the recorded one, unmeasured; then the store does it from
    the writes and the bare driver from the recording.
    """

    def __init__(self, recorded: Session, plain: Session, bare: Any, log: Log) -> None:
        self.recorded = recorded
        self.plain = plain
        self.bare = bare
        self._log = log
        log.take()

    def record(self, writes: Writes) -> Recording:
        """What a commit asks of the driver; it is done on the recorded session."""
        self.recorded.commit(writes)
        return self._log.take()

    def compare(self, make: Callable[[], Writes], rounds: int) -> tuple[Sample, Sample]:
        """Commits of what ``make`` gives: ours, and the bare driver's."""
        following: list[Recording] = []
        given: list[Writes] = []

        def ours() -> Callable[[], object]:
            given.append(make())
            following.append(self.record(given[-1]))
            return lambda: self.plain.commit(given[-1])

        def bare() -> Callable[[], object]:
            replay = following[-1].compiled()
            given.clear()
            following.clear()
            return lambda: replay(self.bare)

        first, second = prepared_in_turn([ours, bare], rounds, warm_up=20)
        return first, second


@contextmanager
def twins(folder: Path, history: int = 0) -> Generator[tuple[Twins, Conversation]]:
    """Three containers in ``folder`` with one session of ``history`` messages each."""
    log = Log()
    paths = [folder / f"{name}.db" for name in ("recorded", "plain", "bare")]
    engine = create_engine(
        "sqlite://", creator=lambda: recorded_sqlite(str(paths[0]), log), pool_reset_on_return=None
    )
    recorded = SqlSessionRepo(engine, clock=lambda: CREATED_AT)
    repos = [recorded, *(open_repository(path, clock=lambda: CREATED_AT) for path in paths[1:])]
    sessions = [repo.create(id="twin") for repo in repos]
    talk = Conversation()
    if history:
        for writes in talk.batches(history):
            for session in sessions:
                session.commit(writes)
    repos[2].close()
    bare = bare_sqlite(str(paths[2]))
    try:
        yield Twins(sessions[0], sessions[1], bare, log), talk
    finally:
        bare.close()
        for repo in repos[:2]:
            repo.close()
        engine.dispose()


def run(context: Context) -> None:
    """One turn, one frame and one batch, on an empty and on a grown session."""
    times = context.times(
        "SQLite container, WAL, synchronous=FULL, beside bare sqlite3 with the same statements"
    )
    for history in (0, 1000) if context.quick else (0, 1000, 100_000):
        with context.folder() as folder, twins(folder, history) as (pair, talk):
            where = f"after {history:,} entries"
            turn, bare = pair.compare(talk.turn, context.rounds(500, 150))
            times.add(f"one turn, {where}", turn, "bare sqlite3", bare, aim="1.3")
            appended, bare = pair.compare(frame, context.rounds(500, 150))
            times.add(f"one frame, {where}", appended, "bare sqlite3", bare, aim="1.4")
            batch, bare = pair.compare(talk.batch, context.rounds(50, 20))
            times.add(f"250 entries, {where}", batch, "bare sqlite3", bare, aim="1.4")
    context.show(times)
