"""Clocks and UUIDv7 generators."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Protocol, TypeAlias
from uuid import UUID

import uuid_utils

Clock: TypeAlias = Callable[[], int]
"""Gives the current time in Unix ms."""


def system_clock() -> int:
    """The machine's clock, in Unix ms."""
    return time.time_ns() // 1_000_000


class IdGenerator(Protocol):
    """Makes ids of sessions, entries and usage rows."""

    def next(self, timestamp_ms: int | None = None) -> str:
        """A new UUIDv7 that carries ``timestamp_ms`` (Unix ms; default: now)."""
        ...


class Uuid7Generator:
    """UUIDv7 (RFC 9562). Those minted without a given time sort in the order of minting."""

    def next(self, timestamp_ms: int | None = None) -> str:
        """A new UUIDv7 that carries ``timestamp_ms`` (Unix ms; default: now)."""
        if timestamp_ms is None:
            return str(uuid_utils.uuid7())
        return str(_uuid7_at(timestamp_ms))


def _uuid7_at(timestamp_ms: int) -> UUID:
    """Put together here: the argument that the package takes for it changed with its version 1."""
    random = secrets.randbits(74)
    octets = timestamp_ms.to_bytes(6, "big")  # refuses times that the 48 bits cannot hold
    number = int.from_bytes(octets, "big") << 80 | 0x7 << 76 | random >> 62 << 64
    return UUID(int=number | 0b10 << 62 | random & (1 << 62) - 1)
