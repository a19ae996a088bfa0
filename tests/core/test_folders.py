"""Being alone in a folder, interrupts included."""

from __future__ import annotations

from pathlib import Path

from sessionstore.folders import AloneIn
from sessionstore.testing.interrupts import interrupt
from sessionstore.testing.platform import open_descriptors


def test_an_interrupt_at_any_point_leaves_the_folder_to_the_next(tmp_path: Path) -> None:
    def enter_and_leave() -> None:
        with AloneIn(tmp_path):
            pass

    point = 1
    while interrupt(enter_and_leave, point):
        before = open_descriptors()
        with AloneIn(tmp_path):  # StorageBusyError, were it still locked
            pass
        assert open_descriptors() == before
        point += 1
    assert point > 10
