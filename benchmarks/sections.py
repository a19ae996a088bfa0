"""What can be measured, by the names of ``--only``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from benchmarks import (
    asynchronous,
    forks,
    group,
    growth,
    jsonl,
    lifecycle,
    memory,
    peers,
    reads,
    servers,
    sqlite,
    statements,
)
from benchmarks.context import Context

SECTIONS: Final[dict[str, Callable[[Context], None]]] = {
    "statements": statements.run,
    "memory": memory.run,
    "sqlite": sqlite.run,
    "reads": reads.run,
    "jsonl": jsonl.run,
    "forks": forks.run,
    "lifecycle": lifecycle.run,
    "group": group.run,
    "async": asynchronous.run,
    "servers": servers.run,
    "growth": growth.run,
    "peers": peers.run,
}
