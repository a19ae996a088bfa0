"""Kill writing processes, and servers under them, at random times, and prove what they leave.

Every leg has a history of numbered commits, each of several records, that is written as fast as it
goes and acknowledged. After each kill the store is opened: what was acknowledged is there, nothing is
half, no number is used twice, `verify` and SQLite's own check find nothing. Then it goes on.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from pathlib import Path

from crash.legs import FILE_LEGS, SERVER_LEGS
from crash.running import Report, Victims, run_leg


def main() -> int:
    """Run the legs; 1 when anything was found."""
    options = _parser().parse_args()
    legs = [leg for leg in FILE_LEGS + SERVER_LEGS if not options.only or leg.name in options.only]
    of_files = [leg for leg in legs if leg.server is None]
    folder = Path(tempfile.mkdtemp(prefix="sessionstore-crash-", dir=options.folder))
    folder.chmod(0o755)  # servers have accounts of their own
    print(f"{'leg':<22}{'kills':>7}{'commits':>10}{'forks':>7}{'stores':>8}{'found':>7}", flush=True)
    found = False
    with Victims(folder / "errors") as victims:
        for leg in legs:
            kills = -(-options.kills // len(of_files)) if leg.server is None else options.server_kills
            report = run_leg(leg, kills, random.Random(f"{options.seed} {leg.name}"), folder, victims)
            _tell(report)
            found |= bool(report.findings)
    if found:
        print(f"the stores in which something was found are in {folder}")
    else:
        shutil.rmtree(folder)
    return int(found)


def _tell(report: Report) -> None:
    counts = f"{report.kills:>7}{report.commits:>10}{report.forks:>7}{report.stores:>8}"
    print(f"{report.leg:<22}{counts}{len(report.findings):>7}", flush=True)
    for finding in report.findings:
        print(finding, file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m crash", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=240, help="of processes, over all legs; default 240")
    parser.add_argument("--server-kills", type=int, default=3, help="of each server; default 3")
    names = [leg.name for leg in FILE_LEGS + SERVER_LEGS]
    parser.add_argument("--only", metavar="LEG", action="append", choices=names, help=", ".join(names))
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of the random times")
    parser.add_argument("--folder", metavar="DIR", help="on the disk to use; default: the system's")
    return parser


if __name__ == "__main__":
    sys.exit(main())
