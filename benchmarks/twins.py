"""A session three times over, so that the bare driver can be given the very same work."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

from sqlalchemy import create_engine, make_url

from benchmarks.places import Place, file_of
from benchmarks.recording import Log, Recording, bare_sqlite, recorded_sqlite
from benchmarks.timing import Sample, prepared_in_turn
from benchmarks.work import Conversation, Writes
from sessionstore import Session, SessionRepo, open_repository
from sessionstore.sql.repo import SqlSessionRepo

CREATED_AT = 1_700_000_000_000

WARM_UP = 20
"""Rounds before measuring: drivers prepare a statement when they have seen it a few times."""


class Twins:
    """The same session three times: recorded, in the store as users have it, and bare.

    Every piece of work is first done on the recorded one, unmeasured; then the store does it from
    the writes, and the bare driver from the recording. The clock stands still, so all three write
    the same texts.
    """

    def __init__(self, recorded: Session, plain: Session, bare: Any, log: Log) -> None:
        self.recorded = recorded
        self.plain = plain
        self.bare = bare
        self._log = log
        log.take()

    def record(self, work: Callable[[Session], object]) -> Recording:
        """What a piece of work asks of the driver; it is done on the recorded session."""
        self._log.take()
        work(self.recorded)
        return self._log.take()

    def compare(self, make: Callable[[], Writes], rounds: int) -> tuple[Sample, Sample]:
        """Commits of what ``make`` gives: ours, and the bare driver's."""

        def work() -> Callable[[Session], object]:
            writes = make()
            return lambda session: session.commit(writes)

        return self.compare_work(work, rounds)

    def compare_work(
        self, make: Callable[[], Callable[[Session], object]], rounds: int
    ) -> tuple[Sample, Sample]:
        """The same for any work on a session."""
        recordings: list[Recording] = []

        def ours() -> Callable[[], object]:
            work = make()
            recordings.append(self.record(work))
            return lambda: work(self.plain)

        def bare() -> Callable[[], object]:
            replay = recordings.pop().compiled()
            return lambda: replay(self.bare)

        first, second = prepared_in_turn([ours, bare], rounds, warm_up=WARM_UP)
        return first, second


class _Driver(Protocol):
    """How to get recorded and bare connections to a database."""

    def repository(self, url: str, log: Log) -> SessionRepo: ...

    def bare(self, url: str) -> Any: ...


class _Sqlite:
    def repository(self, url: str, log: Log) -> SessionRepo:
        path = str(file_of(url))
        engine = create_engine(
            "sqlite://", creator=lambda: recorded_sqlite(path, log), pool_reset_on_return=None
        )
        return SqlSessionRepo(engine, clock=_clock)

    def bare(self, url: str) -> Any:
        return bare_sqlite(str(file_of(url)))


class _Server:
    def repository(self, url: str, log: Log) -> SessionRepo:
        from benchmarks.server_drivers import connect

        return SqlSessionRepo.from_url(url, creator=lambda: connect(url, log), clock=_clock)

    def bare(self, url: str) -> Any:
        from benchmarks.server_drivers import connect

        return connect(url)


def _clock() -> int:
    return CREATED_AT


def driver_of(url: str) -> _Driver:
    """The recorded and the bare connections of a database URL."""
    return _Sqlite() if make_url(url).get_backend_name() == "sqlite" else _Server()


@contextmanager
def recorded_repository(place: Place) -> Generator[tuple[SessionRepo, Log]]:
    """A repository whose every call of the driver is logged."""
    with place.fresh() as url:
        log = Log()
        with driver_of(url).repository(url, log) as repo:
            yield repo, log


@contextmanager
def twins(place: Place, history: int = 0) -> Generator[tuple[Twins, Conversation]]:
    """Three databases with one session of ``history`` messages each."""
    with ExitStack() as stack:
        urls = [stack.enter_context(place.fresh()) for _ in range(3)]
        driver, log, talk = driver_of(urls[0]), Log(), Conversation()
        recorded = stack.enter_context(driver.repository(urls[0], log))
        plain = stack.enter_context(open_repository(urls[1], clock=_clock))
        with open_repository(urls[2], clock=_clock) as third:
            sessions = [repo.create(id="twin") for repo in (recorded, plain, third)]
            for writes in talk.batches(history):
                for session in sessions:
                    session.commit(writes)
                log.take()
        bare = driver.bare(urls[2])
        stack.callback(bare.close)
        yield Twins(sessions[0], sessions[1], bare, log), talk
