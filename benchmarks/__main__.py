"""The command: ``python -m benchmarks``."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rich.console import Console

from benchmarks.context import Context
from benchmarks.sections import SECTIONS

PEERS = ("raw", "openai-agents", "google-adk", "langgraph")


def main() -> None:
    """Measure what was asked for."""
    options = _parser().parse_args()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="sessionstore-bench-", dir=options.folder) as folder:
        context = Context(console, Path(folder), options.quick, options.store, options.against)
        for name in options.only or SECTIONS:
            SECTIONS[name](context)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--store", metavar="URL", action="append", default=[])
    parser.add_argument("--only", metavar="NAME", action="append", choices=SECTIONS, default=[])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--against", action="append", choices=PEERS, default=[])
    parser.add_argument("--folder", default=None)
    return parser


if __name__ == "__main__":
    main()
