"""Forks hold no payloads: peak memory from 1,000 to 200,000 entries, on servers to 50,000."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from fork.measure import PAYLOAD, big_session
from legs import StoreKind

from sessionstore import open_repository

SMALL, LARGE = 1_000, 200_000
LARGE_ON_A_SERVER = 50_000
"""Filling a server with more takes minutes; what is measured is the same code."""
INDEX_BYTES = 150
NOISE = 3_000_000
"""Bytes that two runs of the same work may differ by: pages of the allocator and of SQLite's cache."""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.needs("persistent")
@pytest.mark.parametrize("kind", ["branch", "tree"])
@pytest.mark.parametrize("inside", [True, False], ids=["same container", "another container"])
def test_peak_memory_of_a_fork_does_not_grow_with_payloads(
    store_kind: StoreKind,
    new_store_url: Callable[[], str],
    kind: str,
    inside: bool,
    record_property: Callable[[str, object], None],
) -> None:
    large = LARGE_ON_A_SERVER if "server" in store_kind.capabilities else LARGE
    peaks = []
    for entries in (SMALL, large):
        source_url = new_store_url()
        to_url = source_url if inside else new_store_url()
        with open_repository(source_url) as repo:
            id = big_session(repo, entries).id
        peaks.append(_peak(source_url, id, to_url, kind))
    growth = peaks[1] - peaks[0]
    record_property("growth per entry", growth / (large - SMALL))
    print(f"{kind}: {peaks[0]:,} -> {peaks[1]:,} bytes, {growth / (large - SMALL):.1f} an entry")
    assert growth <= INDEX_BYTES * (large - SMALL) + NOISE
    assert INDEX_BYTES * (large - SMALL) + NOISE < PAYLOAD * large, "the test could not fail"


def _peak(source_url: str, id: str, to_url: str, kind: str) -> int:
    ran = subprocess.run(
        [sys.executable, "-m", "fork.measure", source_url, id, to_url, kind],
        check=True,
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[1],
        env={"PYTHONPATH": f"{Path(__file__).parents[2]}:{Path(__file__).parents[1]}"},
    )
    return int(ran.stdout.split()[1])
