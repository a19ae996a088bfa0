"""The command that puts a store under load for long runs, for a few seconds, and what it takes for growth."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.soak.watching import MIB, Sample, trends

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the memory of a process is read from /proc"
)


@pytest.mark.slow
@pytest.mark.needs("persistent")
def test_the_command_runs_its_load_and_tells_of_every_quantity(store_url: str) -> None:
    command = [sys.executable, "-m", "benchmarks.soak", "--minutes", "0.04", "--every", "0.02"]
    done = subprocess.run(
        [*command, "--store", store_url], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.returncode in (0, 1)  # so short a run only warms up
    heads, *lines = done.stdout.splitlines()
    assert heads.split() == ["minutes", "commits", "memory", "MiB", "handles", "files", "MiB"]
    looks, told = lines[:-3], lines[-3:]
    assert int(looks[-1].split()[1]) > 0
    assert [line.partition(":")[0] for line in told] == ["memory", "handles", "files"]


def samples(*, rss: float = 0, handles: float = 0, files: float = 0) -> list[Sample]:
    """A run of an hour, with that growth in each minute after it has warmed up, and some noise."""
    found = []
    for minute in range(60):
        warm, noise = min(minute, 20), (minute * 7) % 5
        memory = (80 + warm + noise / 10 + rss * minute) * MIB
        open_files = 30 + warm + noise + handles * minute
        size = (5 + warm + noise / 10 + files * minute) * MIB
        found.append(Sample(minute * 60, minute, int(memory), int(open_files), int(size)))
    return found


def test_what_only_warms_up_is_flat() -> None:
    assert [trend.is_flat for trend in trends(samples())] == [True, True, True]


@pytest.mark.parametrize(("name", "growth"), [("rss", 0.2), ("handles", 0.2), ("files", 0.1)])
def test_what_grows_is_told(name: str, growth: float) -> None:
    growing = [trend for trend in trends(samples(**{name: growth})) if not trend.is_flat]
    assert [trend.quantity.attribute for trend in growing] == [name]
    assert "GROWS" in str(growing[0])
