"""A way to run commands in this process, and a store with one session that is awkward to show."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from typer.testing import CliRunner

from sessionstore import Session, ephemeral_scope, open_repository, value, value_list
from sessionstore.cli.app import app

USAGE = {
    "input": 10,
    "output": 5,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 15,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3},
}


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """The JSON document on standard output, which is all there is on it."""
        return json.loads(self.out)


Run: TypeAlias = Callable[..., Ran]


@pytest.fixture
def run() -> Run:
    def run_command(*arguments: str | Path, code: int = 0) -> Ran:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        ran = Ran(result.exit_code, result.stdout, result.stderr)
        assert ran.code == code, ran
        if code == 1:
            assert ran.err.startswith("sessionstore: ")
            assert ran.err.count("\n") == 1, ran.err
        elif code == 0:
            assert ran.err == ""
        return ran

    return run_command


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/sessions.db"


@pytest.fixture
def filled(url: str) -> str:
    """A store with the sessions ``plain`` and ``other``."""
    with open_repository(url) as repo:
        with repo.create(id="plain", cwd="/work") as session:
            fill(session)
        with repo.create(id="other", parent_session_id="plain") as session:
            session.create_branch("main")
    return url


def fill(session: Session) -> None:
    """Two branches, a label, values, a live scope, and text that would drive a terminal."""
    main = session.create_branch("main")
    first = main.append_message({"role": "user", "content": "hello [red]you[/red]"})
    main.append_message(
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "\x1b]0;title\x07\x9b31m\u202ehi\nthere"},
                {"type": "toolCall", "name": "read", "arguments": {"path": "x"}},
            ],
        },
        usage=USAGE,
    )
    session.create_branch("side", at=first).append_custom_entry("note", {"n": 1e-05})
    session.create_branch("empty")
    session.set_label(first, "start")
    session.set_name("\x1b[31mred")
    session.set_value(value("app.state", "k"), {"half": "\ud83d", "long": "x" * 300})
    scope = ephemeral_scope("op")
    session.append_list(value_list("app.frames", "r", scope=scope), "A", tag="full")
    session.append_list(value_list("app.frames", "r", scope=scope), "B")
