"""What a store asks of its driver, call by call, so that a bare peer can do exactly the same.

A recorded connection is the driver's own class with a log. A recording compiles to one plain
function that makes the same calls with the same text and the same ready-made values: the bare
peer does the work of the driver and of the database, and nothing else.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Call(NamedTuple):
    """One call: on the cursor of that number, or on the connection."""

    cursor: int | None
    method: str
    arguments: tuple[Any, ...] = ()
    statement: str | None = None


@dataclass
class Recording:
    """The calls of one piece of work."""

    calls: list[Call] = field(default_factory=list)

    @property
    def statements(self) -> list[str]:
        """The texts that were sent; a batch counts as one."""
        return [call.statement for call in self.calls if call.statement is not None]

    def kinds(self) -> Counter[str]:
        """How many statements begin with which word."""
        return Counter(text.split(None, 1)[0].upper() for text in self.statements)

    def inside(self) -> Recording:
        """The same without the transaction around it."""
        ends = ("BEGIN", "COMMIT")
        return Recording(
            [call for call in self.calls if call.statement is None or not call.statement.startswith(ends)]
        )

    def compiled(self) -> Callable[[Any], None]:
        """A function that makes the same calls on a bare connection."""
        lines = ["def replay(raw):", "    pass"]
        constants: dict[str, Any] = {}
        for call in self.calls:
            names = [f"k{len(constants) + at}" for at in range(len(call.arguments))]
            constants.update(zip(names, call.arguments, strict=True))
            lines.append("    " + _line(call, ", ".join(names)))
        exec(compile("\n".join(lines), "<recording>", "exec"), constants)
        return constants["replay"]  # type: ignore[no-any-return]


def _line(call: Call, arguments: str) -> str:
    match call.method:
        case "cursor":
            return f"c{call.cursor} = raw.cursor({arguments})"
        case "enter pipeline":
            return "pipeline = raw.pipeline(); pipeline.__enter__()"
        case "exit pipeline":
            return "pipeline.__exit__(None, None, None)"
        case method:
            target = "raw" if call.cursor is None else f"c{call.cursor}"
            return f"{target}.{method}({arguments})"


class Log:
    """The calls on a connection since the last look."""

    def __init__(self) -> None:
        self._calls: list[Call] = []
        self._cursors = 0
        self._quiet = False

    def take(self) -> Recording:
        """What was logged, which is then forgotten."""
        recording = Recording(self._calls)
        self._calls = []
        self._cursors = 0
        return recording

    def new_cursor(self, *arguments: Any) -> int:
        """Log the making of a cursor; its number."""
        self._cursors += 1
        self.add(Call(self._cursors, "cursor", arguments))
        return self._cursors

    def add(self, call: Call) -> None:
        """Log a call that cannot lead to others."""
        if not self._quiet:
            self._calls.append(call)

    @contextmanager
    def adding(self, call: Call) -> Generator[None]:
        """Log a call; what the driver calls by itself on the way is not logged."""
        self.add(call)
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before


class RecordedCursor:
    """A mixin before the cursor class of a driver."""

    log: Log
    number: int

    def execute(self, text: str, *values: Any, **options: Any) -> Any:
        with self.log.adding(Call(self.number, "execute", (text, *values), text)):
            return super().execute(text, *values, **options)  # type: ignore[misc]

    def executemany(self, text: str, rows: Any) -> Any:
        rows = list(rows)
        with self.log.adding(Call(self.number, "executemany", (text, rows), text)):
            return super().executemany(text, rows)  # type: ignore[misc]

    def fetchall(self) -> Any:
        with self.log.adding(Call(self.number, "fetchall")):
            return super().fetchall()  # type: ignore[misc]


class _SqliteCursor(RecordedCursor, sqlite3.Cursor):
    pass


class _SqliteConnection(sqlite3.Connection):
    log: Log

    def cursor(self, *_: Any) -> Any:
        cursor = super().cursor(_SqliteCursor)
        cursor.log, cursor.number = self.log, self.log.new_cursor()
        return cursor

    def execute(self, text: str, *values: Any) -> Any:
        self.log.add(Call(None, "execute", (text, *values), text))
        return super().execute(text, *values)


def recorded_sqlite(path: str, log: Log) -> sqlite3.Connection:
    """A recorded connection with the settings of the store's own."""
    raw = bare_sqlite(path, _SqliteConnection)
    raw.log = log  # type: ignore[attr-defined]  # a field of the subclass
    return raw


def bare_sqlite(path: str, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
    """A connection with the settings of the store's own: WAL, ``synchronous=FULL``."""
    raw = sqlite3.connect(
        path, isolation_level=None, check_same_thread=False, cached_statements=256, factory=kind
    )
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", "busy_timeout = 5000"):
        sqlite3.Connection.execute(raw, f"PRAGMA {setting}")
    return raw
