"""Forks hold no payloads: peak memory from 1,000 to 200,000 entries, on servers to 50,000."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import product
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
def test_peak_memory_of_a_fork_does_not_grow_with_payloads(
    store_kind: StoreKind,
    new_store_url: Callable[[], str],
    record_property: Callable[[str, object], None],
) -> None:
    large = LARGE_ON_A_SERVER if "server" in store_kind.capabilities else LARGE
    allowed = INDEX_BYTES * (large - SMALL) + NOISE
    assert allowed < PAYLOAD * large, "the test could not fail"
    sources: list[tuple[str, str]] = []
    for entries in (SMALL, large):
        url = new_store_url()
        with open_repository(url) as repo:
            sources.append((url, big_session(repo, entries).id))
    for kind, inside in product(("branch", "tree"), (True, False)):
        small_peak, large_peak = (
            _peak(url, id, url if inside else new_store_url(), kind) for url, id in sources
        )
        fork = f"{kind}, {'the same' if inside else 'another'} container"
        growth = large_peak - small_peak
        record_property(f"growth per entry, {fork}", growth / (large - SMALL))
        print(f"{fork}: {small_peak:,} -> {large_peak:,} bytes, {growth / (large - SMALL):.1f} an entry")
        assert growth <= allowed, fork


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
