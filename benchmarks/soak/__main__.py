"""Mixed load on one store: threads, tasks and processes. Prints what it takes, and whether it is flat.

Sessions are deleted and scopes retired as fast as they are made, so memory, open handles and files must
not grow once the run has warmed up. The exit status is 1 when one did in the second half, or when the
load failed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.soak.load import Load, open_store
from benchmarks.soak.watching import MIB, Sample, handles, resident, stored, trends
from sessionstore import SessionRepo

SAMPLES = 60
"""For each line that is printed, to see through the noise."""


def main() -> int:
    """Run the load, then tell."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory(prefix="sessionstore-soak-", dir=options.folder) as folder:
        url = options.store or f"sqlite:///{folder}/sessions.db"
        load = Load(url)
        with open_store(url) as repo, load.running(repo, with_processes=not url.startswith("memory:")):
            samples = _watch(load, repo, options.minutes * 60, options.every * 60)
    for failure in load.failures:
        print(failure, file=sys.stderr)
    if load.failures:
        return 1
    found = trends(samples)
    for trend in found:
        print(trend)
    return int(not all(trend.is_flat for trend in found))


def _watch(load: Load, repo: SessionRepo, seconds: float, every: float) -> list[Sample]:
    print(f"{'minutes':>8}{'commits':>10}{'memory MiB':>12}{'handles':>9}{'files MiB':>11}", flush=True)
    start = time.monotonic()
    samples: list[Sample] = []
    printed = 0.0
    while (passed := time.monotonic() - start) < seconds and not load.failures:
        samples.append(_look(load, repo, passed))
        if passed >= printed + every:
            printed = passed
            _print(samples[-1])
        time.sleep(every / SAMPLES)
    return samples


def _look(load: Load, repo: SessionRepo, passed: float) -> Sample:
    pids = load.pids
    place = Path(repo.container)  # of a server nothing is there
    files = stored(place if place.is_dir() else place.parent) if place.exists() else 0
    return Sample(passed, load.commits, sum(map(resident, pids)), sum(map(handles, pids)), files)


def _print(sample: Sample) -> None:
    memory, files = sample.rss / MIB, sample.files / MIB
    print(
        f"{sample.seconds / 60:>8.2f}{sample.commits:>10}{memory:>12.1f}{sample.handles:>9}{files:>11.2f}",
        flush=True,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.soak",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=60, help="default 60")
    parser.add_argument("--every", type=float, default=1, metavar="MINUTES", help="print so often; default 1")
    parser.add_argument("--store", metavar="URL", help="an empty store; default: a new SQLite file")
    parser.add_argument("--folder", metavar="DIR", help="on the disk to use; default: the system's")
    return parser


if __name__ == "__main__":
    sys.exit(main())
