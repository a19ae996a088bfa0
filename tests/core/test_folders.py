"""Being alone in a folder, interrupts included."""

from __future__ import annotations

from pathlib import Path

from sessionstore.folders import AloneIn
from sessionstore.testing.interrupts import interrupt


def descriptors() -> int | None:
    """How many this process has, where the system tells."""
    folder = Path("/dev/fd")
    return len(list(folder.iterdir())) if folder.exists() else None


def test_an_interrupt_at_any_point_leaves_the_folder_to_the_next(tmp_path: Path) -> None:
    def enter_and_leave() -> None:
        with AloneIn(tmp_path):
            pass

    point = 1
    while interrupt(enter_and_leave, point):
        before = descriptors()
        with AloneIn(tmp_path):  # StorageBusyError, were it still locked
            pass
        assert descriptors() == before
        point += 1
    assert point > 10
