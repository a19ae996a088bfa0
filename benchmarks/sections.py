"""What can be measured, by the names of ``--only``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from benchmarks import jsonl, reads, sqlite, statements
from benchmarks.context import Context

SECTIONS: Final[dict[str, Callable[[Context], None]]] = {
    "statements": statements.run,
    "sqlite": sqlite.run,
    "jsonl": jsonl.run,
    "reads": reads.run,
}
