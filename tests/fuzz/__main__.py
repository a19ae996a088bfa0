"""Hostile files: ``python -m tests.fuzz --seconds 60`` (mutated vectors and databases, by a fixed seed).

``--guided`` chooses inputs by coverage with atheris, where it is installed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

TARGETS = ("jsonl", "sqlite")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="the same seed makes the same inputs")
    parser.add_argument("--target", choices=TARGETS, action="append", help="all by default")
    parser.add_argument("--guided", action="store_true", help="JSONL by coverage, with atheris")
    wanted = parser.parse_args()
    if wanted.guided:
        # Imports the library, which has to be instrumented by then.
        from tests.fuzz.guided import guided

        with tempfile.TemporaryDirectory() as scratch:
            guided(int(wanted.seconds), Path(scratch))
    from tests.fuzz.campaign import campaign

    keep = Path(tempfile.mkdtemp(prefix="fuzz-"))
    outcome = campaign(wanted.seconds, wanted.seed, keep, wanted.target or [*TARGETS])
    for failure in outcome.failures:
        print(f"--- {failure.name}: {failure.kept}\n{failure.trace}")
    print(", ".join(f"{name}: {count} inputs" for name, count in outcome.inputs.items()))
    print(f"{len(outcome.failures)} failures")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
