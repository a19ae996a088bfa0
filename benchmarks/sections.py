"""What can be measured, by the names of ``--only``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from benchmarks import asynchronous, forks, jsonl, reads, servers, sqlite, statements
from benchmarks.context import Context

SECTIONS: Final[dict[str, Callable[[Context], None]]] = {
    "statements": statements.run,
    "sqlite": sqlite.run,
    "jsonl": jsonl.run,
    "forks": forks.run,
    "servers": servers.run,
    "async": asynchronous.run,
    "reads": reads.run,
    "jsonl": jsonl.run,
    "forks": forks.run,
    "servers": servers.run,
    "async": asynchronous.run,
}
