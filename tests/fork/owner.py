"""A session's owner: another process that commits turns, without pause or one by one.

A module of its own, since the process has to import it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import Any, Self

from children import children

from sessionstore import (
    CommitResult,
    ForkBranch,
    ForkTree,
    NewCustomEntry,
    NewMessageEntry,
    NewUsageRow,
    Session,
    SessionMetadata,
    SessionScope,
    Write,
    append_list,
    insert_entry,
    insert_usage,
    open_repository,
    set_value,
    value,
    value_list,
)
from sessionstore.builtin import branch_tip, lane_config, lane_state, session_name

SECONDS = 60
COUNT = value("app.count", type=int)
LOG = value_list("app.log", type=int)
USAGE = {
    "input": 1,
    "output": 2,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 3,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3},
}


def turn_id(number: int) -> str:
    return f"turn-{number:06}"


def configure(session: Session) -> None:
    """Begin a session whose turns can be committed."""
    session.commit(
        [
            set_value(branch_tip("main"), None),
            set_value(lane_config("main"), {}),
            set_value(lane_state("main"), {}),
        ]
    )


def commit_turn(
    session: Session, number: int, payload: str = "", also: Sequence[Write[SessionScope]] = ()
) -> CommitResult:
    """One transaction: the entry of this number, an aside off the path, tip, name, value, element, usage."""
    parent = turn_id(number - 1) if number > 1 else None
    id = turn_id(number)
    return session.commit(
        [
            insert_entry(NewMessageEntry(id, parent, {"role": "user", "content": f"{number} {payload}"})),
            insert_entry(NewCustomEntry(f"aside-{number}", parent, "aside")),
            set_value(branch_tip("main"), id),
            set_value(session_name, str(number)),
            set_value(COUNT, number),
            append_list(LOG, number),
            insert_usage(NewUsageRow(f"usage-{number}", USAGE, entry_id=id)),
            *also,
        ]
    )


def turns_in(session: Session, fork: ForkBranch | ForkTree, *, older: int = 0) -> int:
    """The turns that a fork holds; fails when it is not the source as of one commit.

    ``older`` messages were in the session before its first turn.
    """
    count = int(session.get_name() or 0)
    turns = [turn_id(number) for number in range(1, count + 1)]
    tip = session.get_value(branch_tip("main"))
    assert tip is not None
    assert tip.value == (turns[-1] if turns else None)
    entries = session.scan_branch(turns[-1], order="asc") if turns else []
    assert [entry.id for entry in entries] == turns
    asides = sorted(entry.id for entry in session.find_entries(type="custom"))
    with_asides = isinstance(fork, ForkTree)
    assert asides == sorted(f"aside-{number}" for number in range(1, count + 1) if with_asides)
    assert session.get_stats().message_count == older + count
    if fork.include_application_state:
        stored = session.get_value(COUNT)
        assert (stored.value if stored else 0) == count
        assert list(_logged(session)) == list(range(1, count + 1))
    return count


def _logged(session: Session) -> Iterator[int]:
    """The whole list: a fast owner writes more than a page holds."""
    cursor = None
    while page := session.read_list(LOG, cursor=cursor):
        yield from (element.value for element in page)
        cursor = page[-1].seq


class Owner:
    """The process, seen from the test. ``payload`` is the size of each message in characters."""

    def __init__(self, url: str, metadata: SessionMetadata, payload: int = 0) -> None:
        context = children()
        self._pipe, theirs = context.Pipe()
        self._turns: Any = context.Value("q", 0)
        self._moved: Any = context.Condition()
        self._process: BaseProcess = context.Process(
            target=_own, args=(url, metadata, payload, theirs, self._turns, self._moved), daemon=True
        )
        self._running = False

    def __enter__(self) -> Self:
        self._process.start()
        self._answer()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            if self._running:
                self.stop()
            self._ask("close")
            self._process.join(SECONDS)
        self._process.kill()
        self._process.join()

    @property
    def turns(self) -> int:
        """The turns that were acknowledged so far."""
        return int(self._turns.value)

    def commit(self, count: int = 1) -> int:
        """Commit some turns; returns once they are acknowledged, with the number of all turns."""
        self._ask("commit", count)
        return self.turns

    def run(self) -> None:
        """Commit turns without pause until :meth:`stop`."""
        self._running = True
        self._ask("run")

    def wait_for_more(self, count: int = 1) -> int:
        """While it runs: wait until some more turns are acknowledged; the number of all turns."""
        wanted = self.turns + count
        with self._moved:
            moved = self._moved.wait_for(
                lambda: self.turns >= wanted or not self._process.is_alive(), SECONDS
            )
        assert moved
        assert self._process.is_alive(), "the owner died"
        return self.turns

    def stop(self) -> int:
        """Let the running turn end; the number of all turns."""
        self._running = False
        self._ask("stop")
        return self.turns

    def _ask(self, *request: object) -> None:
        self._pipe.send(request)
        self._answer()

    def _answer(self) -> None:
        assert self._pipe.poll(SECONDS), "the owner does not answer"
        answer = self._pipe.recv()
        assert answer == "done", answer


def _own(url: str, metadata: SessionMetadata, payload: int, pipe: Connection, turns: Any, moved: Any) -> None:
    try:
        with open_repository(url) as repo, repo.open(metadata) as session:
            turns.value = int(session.get_name() or 0)
            _serve(session, "x" * payload, pipe, turns, moved)
    except Exception as error:  # whatever it is, the test has to hear of it
        pipe.send(f"{type(error).__name__}: {error}")
        raise


def _serve(session: Session, payload: str, pipe: Connection, turns: Any, moved: Any) -> None:
    def commit() -> None:
        number = turns.value + 1
        commit_turn(session, number, payload)
        with moved:
            turns.value = number
            moved.notify_all()

    pipe.send("done")
    running = False
    while True:
        if running and not pipe.poll():
            commit()
            continue
        match pipe.recv():
            case ("commit", count):
                for _ in range(count):
                    commit()
            case ("run",):
                running = True
            case ("stop",):
                running = False
            case _:
                session.close()
                pipe.send("done")
                return
        pipe.send("done")
