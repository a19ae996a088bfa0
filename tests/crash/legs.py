"""What is killed: the kinds of store with their settings, and the work that is done on each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jsonl.support import T0, message, v3_file

from sessionstore.jsonl.paths import file_name, folder_name


def _sqlite(folder: Path) -> str:
    return f"sqlite:///{folder}/sessions.db"


def _sqlite_dir(folder: Path) -> str:
    return f"sqlite+dir://{folder}/sessions"


def _jsonl(folder: Path) -> str:
    return f"jsonl:{folder}/sessions"


OLD_MESSAGES = 100
"""Of each format-3 file: so many that a kill may fall into its upgrade."""


def _format_3(folder: Path) -> str:
    place = folder / "sessions" / folder_name("/work")
    place.mkdir(parents=True)
    ids = [f"old-{number}" for number in range(OLD_MESSAGES)]
    records = [message(id, parent) for id, parent in zip(ids, [None, *ids[:-1]], strict=True)]
    for number in range(SEVERAL):
        v3_file(place / file_name(T0, f"s{number}"), *records, id=f"s{number}", cwd="/work")
    return _jsonl(folder)


SEVERAL = 8
"""Sessions that are written at once, each by a thread."""


@dataclass(frozen=True)
class Leg:
    """``work`` and its arguments are those of :mod:`crash.victim`.

    A kill comes at a random time within ``window`` seconds; after some kills a fresh store is begun.
    """

    name: str
    make_url: Callable[[Path], str] | None = None
    server: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    sessions: int = 1
    frames: int = 0
    payload: int = 20
    older: int = 0
    fork_from: int = 0
    window: float = 0.25
    kills_per_store: int = 8


NORMAL = {"durability": "normal"}

FILE_LEGS = (
    Leg("sqlite-full", _sqlite),
    Leg("sqlite-normal", _sqlite, options=NORMAL, frames=2),
    Leg("sqlite-group-full", _sqlite, sessions=SEVERAL),
    Leg("sqlite-group-normal", _sqlite, options=NORMAL, sessions=SEVERAL, frames=1, payload=5000),
    Leg("sqlite-dir-full", _sqlite_dir, sessions=2, frames=1),
    Leg("sqlite-dir-normal", _sqlite_dir, options=NORMAL),
    Leg("jsonl-main", _jsonl, payload=5000),
    Leg("jsonl-scoped", _jsonl, sessions=3, frames=3),
    Leg("jsonl-format-3", _format_3, sessions=SEVERAL, older=OLD_MESSAGES, window=0.1, kills_per_store=2),
    Leg("forks-sqlite", _sqlite, fork_from=20, window=0.4),
    Leg("forks-sqlite-dir", _sqlite_dir, fork_from=20, window=0.4),
    Leg("forks-jsonl", _jsonl, fork_from=20),
)
"""Here the writing process is killed."""

SERVER_LEGS = tuple(
    Leg(f"{name}-server", server=name, sessions=4, frames=1, window=1.0, kills_per_store=3)
    for name in ("postgresql", "mariadb")
)
"""Here the server is killed, under a process that writes."""
