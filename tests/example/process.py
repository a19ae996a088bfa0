"""The example server as a process of its own, and a client that listens to what it streams."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import httpx

ROOT = Path(__file__).parent.parent.parent
PATIENCE = 60.0
"""Seconds after which something that should happen counts as hanging."""


class ServerProcess:
    """``python -m examples.server`` on a store; killed at the end unless it has ended."""

    def __init__(self, store_url: str, *, pace_ms: float = 0, port: int = 0) -> None:
        command = [sys.executable, "-m", "examples.server", "--store", store_url]
        self._process = subprocess.Popen(
            [*command, "--port", str(port), "--pace", str(pace_ms)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("http://"), f"the server did not start: {line!r}"
        self.url = line.split()[0].rstrip("/")
        self.client = httpx.Client(base_url=self.url, timeout=PATIENCE)

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def kill(self) -> None:
        """End it as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it as an administrator does; it has to shut down well."""
        self._end(signal.SIGTERM)
        # uvicorn sends itself the signal again once it has shut down.
        assert self._process.returncode in (0, -signal.SIGTERM), self._process.returncode

    def _end(self, how: signal.Signals) -> None:
        if self._process.poll() is None:
            self._process.send_signal(how)
        self._process.wait(PATIENCE)
        self.client.close()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end(signal.SIGKILL)

    # -- requests ----------------------------------------------------------------------------

    def get(self, path: str, **params: Any) -> Any:
        return _answered(self.client.get(path, params=params))

    def post(self, path: str, body: Any = None) -> Any:
        return _answered(self.client.post(path, json=body))

    def new_session(self) -> str:
        id: str = self.post("/sessions", {})["id"]
        return id

    def prompt(self, session: str, text: str, branch: str = "main") -> str:
        operation: str = self.post(f"{lane(session, branch)}/prompts", {"text": text})["operationId"]
        return operation

    def messages(self, session: str, branch: str = "main") -> list[dict[str, Any]]:
        """The messages of a branch, oldest first."""
        found: list[dict[str, Any]] = self.get(f"{lane(session, branch)}/messages", limit=1000)["messages"]
        return found[::-1]

    def wait_for_end(self, session: str, branch: str = "main") -> list[Event]:
        """Listen until the operation of a branch has ended, or stopped."""
        listener = Listener(self, session, branch)
        listener.join()
        return listener.events


def lane(session: str, branch: str = "main") -> str:
    return f"/sessions/{session}/branches/{branch}"


def _answered(response: httpx.Response) -> Any:
    assert response.is_success, f"{response.status_code}: {response.text}"
    return response.json() if response.content else None


class Event(NamedTuple):
    kind: str
    seq: int
    data: dict[str, Any]


class Listener:
    """Receives the events of a branch in a thread, until the stream ends or breaks."""

    def __init__(self, server: ServerProcess, session: str, branch: str = "main") -> None:
        self.events: list[Event] = []
        self._url = server.url + lane(session, branch) + "/events"
        self._changed = threading.Condition()
        self._over = False
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def _receive(self) -> None:
        try:
            with httpx.stream("GET", self._url, timeout=PATIENCE) as response:
                for event in _parsed(response.iter_lines()):
                    with self._changed:
                        self.events.append(event)
                        self._changed.notify_all()
        except httpx.TransportError:
            pass  # the server was killed
        finally:
            with self._changed:
                self._over = True
                self._changed.notify_all()

    def wait(self, enough: Callable[[list[Event]], bool]) -> None:
        """Wait until the events so far are enough."""
        with self._changed:
            assert self._changed.wait_for(lambda: enough(self.events) or self._over, PATIENCE)
            assert enough(self.events), f"the stream ended before: {self.events[-3:]}"

    def join(self) -> None:
        """Wait until the stream has ended."""
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive(), "the stream did not end"

    def count(self, kind: str) -> int:
        return sum(event.kind == kind for event in self.events)

    @property
    def text(self) -> str:
        """The text of the response that is being streamed, as far as it was received."""
        text = ""
        for event in self.events:
            if event.kind == "snapshot":
                text = event.data["text"]
            elif event.kind == "frame":
                text += event.data["text"]
            elif event.kind == "entry":
                text = ""
        return text


def _parsed(lines: Iterator[str]) -> Iterator[Event]:
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, content = line.partition(": ")
            fields[name] = content
        elif fields:
            yield Event(fields["event"], int(fields["id"]), json.loads(fields["data"]))
            fields = {}


@contextmanager
def serving(store_url: str, **options: Any) -> Iterator[ServerProcess]:
    """A server that is killed at the end if the test has not stopped it."""
    with ServerProcess(store_url, **options) as server:
        yield server
