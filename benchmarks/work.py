"""What every measurement writes: messages, frames, turns and batches of one growing conversation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Final

from sessionstore import (
    NewMessageEntry,
    NewUsageRow,
    Session,
    SessionScope,
    ValueList,
    Write,
    append_list,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    set_value,
    value_list,
)
from sessionstore.builtin import branch_tip

MESSAGE: Final[dict[str, Any]] = {
    "role": "assistant",
    "content": [{"type": "text", "text": "The quick brown fox jumps over the lazy dog. " * 6}],
    "provider": "example",
    "model": "example-1",
    "stopReason": "stop",
    "timestamp": 1_700_000_000_000,
}

USAGE: Final[dict[str, Any]] = {
    "input": 1200,
    "output": 340,
    "cacheRead": 900,
    "cacheWrite": 0,
    "totalTokens": 2440,
    "cost": {"input": 0.0036, "output": 0.0051, "cacheRead": 0.00027, "cacheWrite": 0, "total": 0.00897},
}

FRAME: Final[dict[str, Any]] = {
    "type": "text_delta", "contentIndex": 0, "delta": "some more words of the answer ",
}  # fmt: skip

BATCH: Final = 250
"""Entries of a batch."""

FRAMES: Final[ValueList[Any, Any]] = value_list("app.frames", scope=ephemeral_scope("operation-1"))
"""Where a streamed answer is kept until its turn is settled."""

TIP: Final = branch_tip("main")

Writes = list[Write[Any]]
"""One transaction of any scope."""

_numbers = count(1)


class Conversation:
    """Makes the writes of one growing branch."""

    def __init__(self, tip: str | None = None) -> None:
        self.tip = tip

    def message(self) -> NewMessageEntry:
        """The next message under the tip."""
        entry = NewMessageEntry(f"entry-{next(_numbers):010}", self.tip, MESSAGE)
        self.tip = entry.id
        return entry

    def turn(self) -> list[Write[SessionScope]]:
        """One turn: message, tip, usage."""
        entry = self.message()
        usage = NewUsageRow(f"usage-{next(_numbers):010}", USAGE, entry_id=entry.id)
        return [insert_entry(entry), set_value(TIP, entry.id), insert_usage(usage)]

    def batch(self, size: int = BATCH) -> list[Write[SessionScope]]:
        """``size`` messages in one transaction."""
        return [insert_entry(self.message()) for _ in range(size)]

    def batches(self, total: int, size: int = 1000) -> Iterator[list[Write[SessionScope]]]:
        """``total`` messages in transactions of ``size``."""
        for done in range(0, total, size):
            yield self.batch(min(size, total - done))

    def grow(self, session: Session, total: int) -> None:
        """Give ``session`` that many messages more, and the tip."""
        for writes in self.batches(total):
            session.commit(writes)
        session.set_value(TIP, self.tip)


def frame() -> list[Write[Any]]:
    """One streamed frame."""
    return [append_list(FRAMES, FRAME)]
