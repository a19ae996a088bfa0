"""Kill, open, prove, go on: what was found on one leg."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from crash.history import Known
from crash.legs import Leg
from crash.victim import FAILED, KEPT, SOURCE, fork_of
from fork.owner import turns_in
from servers import FAMILIES, PrivateServer

from sessionstore import SessionNotFoundError, SessionRepo, open_repository
from sessionstore.transfer import verify_store

TESTS = Path(__file__).parents[1]
FIRST_WORD_SECONDS = 60.0


@dataclass
class Report:
    """What came of a leg; each finding is the traceback of what failed to hold."""

    leg: str
    kills: int = 0
    commits: int = 0
    forks: int = 0
    stores: int = 0
    findings: list[str] = field(default_factory=list)


class Victims:
    """Processes to be killed, forked by one that has imported everything."""

    def __init__(self, errors: Path) -> None:
        self.errors = errors
        with errors.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "crash.victim"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                cwd=TESTS,
                env={"PYTHONPATH": f"{TESTS.parent}:{TESTS}"},
            )

    def start(self, **request: Any) -> int:
        """The id of a new process, which nobody else has until :meth:`end` returns."""
        return int(self._ask(json.dumps(request)))

    def end(self) -> int:
        """Wait until the process has ended; its exit status, negative that of a signal."""
        return int(self._ask(""))

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()


class Store:
    """One store through many kills, and what is known of it."""

    def __init__(self, leg: Leg, folder: Path, url: str, report: Report) -> None:
        self.leg = leg
        self._folder = folder
        self.report = report
        self.url = url
        self._told = folder / "told"
        self._read = 0
        self.sessions: set[str] = {f"s{number}" for number in range(leg.sessions if leg.older else 0)}
        self._known: dict[str, Known] = {}
        self._forks: dict[int, int] = {}
        self._deleting: set[int] = set()
        self._deleted: set[int] = set()

    @property
    def is_made(self) -> bool:
        """Whether there is a store; the first writer may be killed before it made anything."""
        return self.leg.server is not None or any(self._folder.glob("sessions*"))

    def wait_for_word(self) -> None:
        """Wait until the process tells something."""
        deadline = time.monotonic() + FIRST_WORD_SECONDS
        while not self._told.exists() or self._told.stat().st_size == self._read:
            assert time.monotonic() < deadline, "the writer tells nothing"
            time.sleep(0.002)

    def request(self) -> dict[str, Any]:
        """What the next process is to do."""
        leg = self.leg
        if leg.fork_from:
            forks = max(self._forks, default=0)
            work: dict[str, Any] = {"work": "forks", "arguments": {"forks": forks, "turns": leg.fork_from}}
        else:
            turns = {"sessions": leg.sessions, "frames": leg.frames, "payload": "x" * leg.payload}
            work = {"work": "turns", "arguments": turns}
        return {"url": self.url, "options": leg.options, "told": str(self._told), **work}

    def prove(self) -> None:
        """Open the store and prove what was acknowledged, with nothing half and nothing twice."""
        self._take_acknowledgements()
        if not self.is_made:
            assert not self.sessions
            return
        with open_repository(self.url, **self.leg.options) as repo:
            listed = {session.id for session in repo.list()}
            assert self.sessions <= listed, f"{self.sessions - listed} were acknowledged and are not there"
            sessions = {id for id in listed if not id.startswith("fork-")}
            for id in sorted(sessions):
                with repo.open(id) as session:
                    self._known_of(id).prove(session)
            if self.leg.fork_from:
                self._prove_forks(repo, listed - sessions)
            verdicts = list(verify_store(repo))
            assert not any(verdict.problems for verdict in verdicts), [
                (verdict.session_id, verdict.problems) for verdict in verdicts if verdict.problems
            ]
        self.sessions |= sessions
        self._check_files()

    def _known_of(self, id: str) -> Known:
        return self._known.setdefault(id, Known(self.leg.frames, self.leg.older))

    def _take_acknowledgements(self) -> None:
        for line in self._new_lines():
            match line.split():
                case ["there", id]:
                    self.sessions.add(id)
                case ["commit", id, place, first, last]:
                    self.sessions.add(id)
                    self._known_of(id).acknowledge(int(place), int(first), int(last))
                    self.report.commits += 1
                case ["forked", number, turns]:
                    self._forks[int(number)] = int(turns)
                    self.report.forks += 1
                case ["deleting", number]:
                    self._deleting.add(int(number))
                case ["deleted", number]:
                    self._deleted.add(int(number))

    def _new_lines(self) -> Iterator[str]:
        if not self._told.exists():
            return
        data = self._told.read_bytes()
        end = data.rfind(b"\n") + 1  # the last write itself may have been cut off
        yield from data[self._read : end].decode().splitlines()
        self._read = end
        os.truncate(self._told, end)

    def _prove_forks(self, repo: SessionRepo, listed: set[str]) -> None:
        there = {int(id.removeprefix("fork-")) for id in listed}
        lost = self._forks.keys() - self._deleting - there
        assert not lost, f"forks {lost} were acknowledged and are not there"
        assert not there & self._deleted, f"forks {there & self._deleted} were deleted and are there"
        under_way = max(self._forks, default=0) + 1
        assert there <= self._forks.keys() | {under_way}
        for number in there:
            turns = self._forks.setdefault(number, self._known_of(SOURCE).place)
            with repo.open(f"fork-{number}") as copy:
                assert turns_in(copy, fork_of(number)) == turns
        if under_way not in there and self._known_of(SOURCE).place:
            self._fork_again(repo, under_way)
            there.add(under_way)
        past = {number for number in self._forks if number <= max(self._forks) - KEPT}
        for number in past & there:
            repo.delete(f"fork-{number}")
        self._deleting |= past
        self._deleted |= past

    def _fork_again(self, repo: SessionRepo, number: int) -> None:
        """Nothing is left of a fork that was killed, and its id is free."""
        id = f"fork-{number}"
        with suppress(SessionNotFoundError):
            raise AssertionError(f"{repo.get(id)} is not listed and can be got")
        with repo.fork(SOURCE, fork_of(number), id=id) as copy:
            self._forks[number] = turns_in(copy, fork_of(number))

    def _check_files(self) -> None:
        for path in self._folder.rglob("*.db"):
            with closing(sqlite3.connect(path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def check_by_command(url: str) -> None:
    """The command line finds the store whole too."""
    command = [sys.executable, "-m", "sessionstore.cli", "verify", "--json", url]
    done = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def run_leg(leg: Leg, kills: int, chance: random.Random, folder: Path, victims: Victims) -> Report:
    """Kill so many times. What is found does not end the run: a fresh store follows."""
    report = Report(leg.name)
    with ExitStack() as stack:
        server = None if leg.server is None else _installed(leg.server, folder, stack)
        while report.kills < kills:
            report.stores += 1
            place = folder / f"{leg.name}-{report.stores}"
            place.mkdir()
            store = Store(leg, place, _fresh_url(leg, place, server), report)
            many = min(leg.kills_per_store, kills - report.kills)
            try:
                _through_kills(store, many, chance, victims, server)
            except Exception:  # noqa: BLE001  # told at the end; the store stays, to be looked at
                report.findings.append(f"after kill {report.kills}:\n{traceback.format_exc()}")
            else:
                shutil.rmtree(place)
    return report


def _installed(name: str, folder: Path, stack: ExitStack) -> PrivateServer:
    place = folder / name
    place.mkdir()
    server = FAMILIES[name].install_private(place, durable=True)
    stack.callback(server.stop)
    server.start()
    return server


def _fresh_url(leg: Leg, place: Path, server: PrivateServer | None) -> str:
    if leg.make_url is not None:
        return leg.make_url(place)
    assert server is not None
    assert leg.server is not None
    name = place.name.replace("-", "_")
    FAMILIES[leg.server].create_database(server.url.render_as_string(hide_password=False), name)
    return server.url.set(database=name).render_as_string(hide_password=False)


def _through_kills(
    store: Store, kills: int, chance: random.Random, victims: Victims, server: PrivateServer | None
) -> None:
    for number in range(kills):
        pid = victims.start(**store.request())
        try:
            if number % 2 == 0:  # the others may come before anything is written
                store.wait_for_word()
            time.sleep(chance.uniform(0, store.leg.window))
        finally:
            if server is None:
                os.kill(pid, signal.SIGKILL)
            else:
                server.kill()
            status = victims.end()
            if server is not None:
                server.start()
        store.report.kills += 1
        expected = -signal.SIGKILL if server is None else FAILED
        assert status == expected, f"the writer ended with {status}: {victims.errors.read_text()[-2000:]}"
        store.prove()
    if store.sessions:
        check_by_command(store.url)
