"""What the platform, and not the store, can do and tells."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_DESCRIPTORS: Final = Path("/proc/self/fd")


def platform_capabilities() -> frozenset[str]:
    """What the platform, and not the store, can do."""
    found = {"fork"} if hasattr(os, "fork") else set[str]()
    if _DESCRIPTORS.is_dir():
        found.add("descriptors")
    return frozenset(found)


def open_descriptors() -> int:
    """How many descriptors this process has open. Needs the capability ``descriptors``."""
    return sum(1 for _ in _DESCRIPTORS.iterdir())
