"""``sessionstore demo``: an agent server is killed in mid-stream, and nothing that it said is lost."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Annotated, Any, Final, TypeAlias

import msgspec
import typer

import sessionstore
from sessionstore.cli import demo_agent
from sessionstore.cli.options import Json
from sessionstore.cli.output import count, say, say_json
from sessionstore.cli.stores import open_store, shown_url
from sessionstore.cli.view import SessionView, print_state, print_stats, print_tree
from sessionstore.entries import CommitResult
from sessionstore.errors import InvalidUrlError, StorageError
from sessionstore.ids import Uuid7Generator
from sessionstore.repository import SessionRepo
from sessionstore.wire import stats_to_json

_FIRST: Final = ("What is a session?", "One conversation: its tree, its state, its costs.")
_SECOND: Final = (
    "And when the server dies while it answers?",
    (
        "Then whatever was acknowledged is in the store, frame by frame, and whoever opens the session "
        "next finds it under the operation that was running, reads it, and settles the turn."
    ),
)
_FRAMES_BEFORE_KILL: Final = 17

_Tell: TypeAlias = Callable[[str], None]


class _Outcome(msgspec.Struct, frozen=True):
    """What the demo has done."""

    acknowledged: int
    survived: int
    partial: str
    settled: CommitResult
    left_in_scope: int


class _Result(msgspec.Struct, frozen=True):
    """What is in the store at the end; ``file`` holds it, where the store is files."""

    view: SessionView
    container: str
    file: Path


def demo(
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="URL", help="Keep the result in this store; default: a temporary one."),
    ] = None,
    json: Json = False,
) -> None:
    """Kill an agent server in mid-stream, open its session again, and settle the turn."""
    if to == "memory://":
        raise InvalidUrlError(
            "'memory://' is private to one process; the demo needs a store that two can open"
        )
    with _store_url(to) as url:
        session_id = Uuid7Generator().next()
        tell: _Tell = _silent if json else say
        tell(f"store     {shown_url(url)}")
        acknowledged = _run_and_kill(url, session_id, tell)
        with open_store(url) as repo:
            outcome = _recover(repo, session_id, acknowledged, tell)
        with open_store(url) as repo:
            result = _look(repo, session_id)
        if json:
            _print_json(session_id, outcome, result)
        else:
            _print_result(session_id, result)
        if to is not None:
            tell(f"kept; look at it with: sessionstore show {shlex.quote(shown_url(url))} {session_id}")


def _silent(_: str) -> None:
    """Machines get one document at the end."""


@contextmanager
def _store_url(given: str | None) -> Generator[str, None, None]:
    if given is not None:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="sessionstore-demo-") as folder:
        yield f"sqlite:///{folder}/sessions.db"


# The server, its model, and its end ------------------------------------------------------------


class _Server:
    """The child process. This process plays its user and, token by token, its model."""

    def __init__(self, errors: IO[bytes]) -> None:
        package = Path(sessionstore.__file__).parents[1]
        path = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH")]))
        self._errors = errors
        self._process = subprocess.Popen(
            [sys.executable, "-m", demo_agent.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, "PYTHONPATH": path},
        )
        self.pid = self._process.pid

    def ask(self, command: dict[str, Any]) -> Any:
        """Give a command and wait until the server has committed it."""
        self.send(command)
        assert self._process.stdout is not None
        answer = self._process.stdout.readline()
        if not answer:
            raise StorageError(f"the server of the demo ended: {self._last_error()}")
        return json.loads(answer)

    def send(self, command: dict[str, Any]) -> None:
        """Give a command without waiting for it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise StorageError(f"the server of the demo ended: {self._last_error()}") from None

    def kill(self) -> int:
        """SIGKILL: no handler runs, nothing is flushed, nothing is closed. Gives the exit status."""
        self._process.kill()
        status = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            assert stream is not None
            with suppress(BrokenPipeError):  # a command that the dead process did not read
                stream.close()
        return status

    def _last_error(self) -> str:
        self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().split("\n")
        return lines[-1]


def _run_and_kill(url: str, session_id: str, tell: _Tell) -> int:
    """Let the server answer one prompt, and kill it within the next; the frames acknowledged."""
    with tempfile.TemporaryFile() as errors:
        server = _Server(errors)
        try:
            # On standard input, since others can read the arguments of a process: a URL has a password.
            server.ask({"url": url, "session": session_id, "cwd": str(Path.cwd())})
            tell(f"server    process {server.pid} made session {session_id}")
            server.ask({"prompt": _FIRST[0]})
            for token in _tokens(_FIRST[1]):
                server.ask({"token": token})
            server.ask({"end": "stop"})
            tell("turn 1    prompt, streamed answer, settled")
            server.ask({"prompt": _SECOND[0]})
            tokens = _tokens(_SECOND[1])
            acknowledged = [server.ask({"token": token}) for token in tokens[:_FRAMES_BEFORE_KILL]]
            server.send({"token": tokens[_FRAMES_BEFORE_KILL]})  # on its way when the end comes
        finally:
            status = server.kill()
    tell(f"turn 2    prompt, {len(acknowledged)} frames acknowledged, one more under way: SIGKILL")
    tell(f"server    exit status {status}")
    return len(acknowledged)


def _tokens(text: str) -> list[str]:
    words = text.split(" ")
    return [words[0], *(f" {word}" for word in words[1:])]


# Recovery -------------------------------------------------------------------------------------


def _recover(repo: SessionRepo, session_id: str, acknowledged: int, tell: _Tell) -> _Outcome:
    with repo.open(session_id) as session:
        response = demo_agent.interrupted(session)
        if response is None:
            raise StorageError("the demo found no interrupted operation after the kill")
        survived = list(demo_agent.frames(session, response))
        partial = "".join(survived)
        tell(f"reopened  operation {response.operation} was streaming; {len(survived)} frames survived:")
        tell(f"          {partial}")
        if len(survived) < acknowledged:
            raise StorageError(f"{acknowledged} frames were acknowledged, {len(survived)} are there")
        settled = demo_agent.settle(session, response, "aborted")
        left = len(list(demo_agent.frames(session, response)))
        tell(
            f"settled   in one transaction of {count(len(settled.seqs), 'write')}, "
            f"#{settled.seqs[0]} to #{settled.seqs[-1]}; the scope is retired, {left} frames are left in it"
        )
        return _Outcome(acknowledged, len(survived), partial, settled, left)


def _look(repo: SessionRepo, session_id: str) -> _Result:
    metadata = repo.get(session_id)
    with repo.snapshot(metadata) as image:
        view = SessionView(image, full=True)
    return _Result(view, repo.container, Path(metadata.path or repo.container))


def _print_json(session_id: str, outcome: _Outcome, result: _Result) -> None:
    say_json(
        {
            "container": result.container,
            "sessionId": session_id,
            "acknowledgedFrames": outcome.acknowledged,
            "survivingFrames": outcome.survived,
            "partialAnswer": outcome.partial,
            "settledSeqs": list(outcome.settled.seqs),
            "framesLeft": outcome.left_in_scope,
            "stats": stats_to_json(result.view.header.stats),
            "bytes": _size(result.file),
        }
    )


def _print_result(session_id: str, result: _Result) -> None:
    say()
    print_tree(result.view, f"session {session_id}")
    print_state(result.view)
    print_stats(result.view.header.stats, result.view.usage_rows)
    size = _size(result.file)
    if size is not None:
        say(f"size: {size:,} bytes on disk", "bold")


def _size(file: Path) -> int | None:
    """Bytes of a store's file with what stands beside it; None for a server, which has none."""
    if not file.is_file():
        return None
    beside = (path for path in file.parent.iterdir() if path.name.startswith(file.name))
    return sum(path.stat().st_size for path in beside if path.is_file())
