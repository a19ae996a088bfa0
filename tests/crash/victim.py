"""A process that forks the processes to be killed: ``python -m crash.victim``.

It has imported everything already, so that a kill costs no start of an interpreter. For each line of
JSON (the arguments of :func:`write`) it prints the id of the new process; at the next line it waits for that
and prints how it ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from importlib import import_module
from typing import Any

from crash.history import WHOLE, write_on
from fork.owner import commit_turn, configure, turns_in

from sessionstore import ForkBranch, ForkTree, Session, SessionNotFoundError, SessionRepo, open_repository

IMPORTED = ("sessionstore.jsonl", "sessionstore.sql.directory", "sessionstore.sql.repo", "psycopg", "pymysql")
"""What a repository imports when it is opened."""

GUARD_SECONDS = 90
FAILED = 3
"""The exit status of a process to which the store raised something."""

BRANCH = ForkBranch("main", include_application_state=True)
SOURCE = "source"
KEPT = 2
"""Forks that are there at a time."""

Tell = Callable[..., None]


def fork_of(number: int) -> ForkBranch | ForkTree:
    """Branch and tree in turn."""
    return WHOLE if number % 2 else BRANCH


def open_or_create(repo: SessionRepo, id: str) -> Session:
    """The session, which the process killed before may have made or not."""
    try:
        return repo.open(id)
    except SessionNotFoundError:
        return repo.create(id=id, cwd="/work")


def write_turns(repo: SessionRepo, tell: Tell, sessions: int, frames: int, payload: str) -> None:
    """Each session's history in a thread of its own, for ever."""

    def write_session(id: str) -> None:
        try:
            session = open_or_create(repo, id)
            tell("there", id)
            for place, first, last in write_on(session, frames, payload):
                tell("commit", id, place, first, last)
        except BaseException:  # noqa: BLE001  # the parent has to hear of it, whatever it is
            traceback.print_exc()
            os._exit(FAILED)

    for number in range(sessions):
        threading.Thread(target=write_session, args=[f"s{number}"], daemon=True).start()
    threading.Event().wait()


def write_forks(repo: SessionRepo, tell: Tell, forks: int, turns: int) -> None:
    """Fork one session for ever, which grows meanwhile, and delete the forks before the last ones."""
    with open_or_create(repo, SOURCE) as source:
        if source.branch("main") is None:
            configure(source)
        count = turns_in(source, WHOLE)
        while True:
            if count >= turns:
                forks += 1
                repo.fork(source.metadata, fork_of(forks), id=f"fork-{forks}").close()
                tell("forked", forks, count)
                if forks > KEPT:
                    tell("deleting", forks - KEPT)
                    repo.delete(f"fork-{forks - KEPT}")
                    tell("deleted", forks - KEPT)
            count += 1
            seqs = commit_turn(source, count).seqs
            tell("commit", SOURCE, count, seqs[0], seqs[-1])


def write(url: str, options: dict[str, Any], told: str, work: str, arguments: dict[str, Any]) -> None:
    """Open the store and do the work until the end, telling the file ``told`` of each commit."""
    file = os.open(told, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def tell(*words: object) -> None:
        os.write(file, f"{' '.join(map(str, words))}\n".encode())

    repo = open_repository(url, **options)
    {"turns": write_turns, "forks": write_forks}[work](repo, tell, **arguments)


def main() -> None:
    for name in IMPORTED:
        import_module(name)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.alarm(GUARD_SECONDS)  # nobody may be there any more to kill it
            try:
                write(**json.loads(line))
            except BaseException:  # noqa: BLE001  # likewise
                traceback.print_exc()
            os._exit(FAILED)
        print(pid, flush=True)
        sys.stdin.readline()
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
