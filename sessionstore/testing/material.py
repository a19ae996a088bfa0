"""What the conformance cases write: short builders, and types whose capture or reading can be stopped."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from pydantic import AfterValidator

from sessionstore.entries import ABSENT, NewCustomEntry, NewMessageEntry, NewUsageRow
from sessionstore.scope import SessionScope
from sessionstore.testing.threads import Stop
from sessionstore.writes import Write, insert_entry, insert_usage


def fresh_id(text: str = "id") -> str:
    """An id that no other case uses, since a container may be shared with other cases."""
    return f"{text} {uuid.uuid4()}"


def message(text: str = "hello", role: str = "user", **fields: Any) -> dict[str, Any]:
    """A message in JSON names."""
    return {"role": role, "content": text, **fields}


def say(id: str, parent_id: str | None = None, text: str = "hello") -> Write[SessionScope]:
    """Insert a message entry."""
    return insert_entry(NewMessageEntry(id, parent_id, message(text)))


def note(
    id: str, parent_id: str | None = None, custom_type: str = "note", data: Any = ABSENT
) -> Write[SessionScope]:
    """Insert a custom entry."""
    return insert_entry(NewCustomEntry(id, parent_id, custom_type, data))


def figures(tokens: int | float = 0, cost: int | float = 0, **fields: Any) -> dict[str, Any]:
    """A usage in JSON names: ``tokens`` of input, ``cost`` of it."""
    return {
        "input": tokens,
        "output": 0,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": tokens,
        "cost": {"input": cost, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": cost},
        **fields,
    }


def spend(id: str, tokens: int | float = 0, cost: int | float = 0, **fields: Any) -> Write[SessionScope]:
    """Insert a row of the usage ledger."""
    return insert_usage(NewUsageRow(id, figures(tokens, cost, **fields)))


def stopping_type(stop: Stop) -> Any:
    """A type of plain strings that stops whoever captures or reads one: a slow writer or reader."""

    def arrive(text: str) -> str:
        stop.arrive()
        return text

    return Annotated[str, AfterValidator(arrive)]


def nested(levels: int, innermost: Any = 0) -> Any:
    """Arrays and objects in turn, ``levels`` deep."""
    value = innermost
    for level in range(levels):
        value = [value] if level % 2 else {"deeper": value}
    return value
