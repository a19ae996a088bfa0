"""Measure sessionstore beside the bare driver, and beside what people use today, in one run.

Every median stands beside that of its peer, taken in turn with it. Nothing is asserted: times
depend on the machine, ratios less so. "aim" is what the project wants a ratio to stay under.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from rich.console import Console

from benchmarks.chart import draw
from benchmarks.context import Context
from benchmarks.peers import PEERS
from benchmarks.sections import SECTIONS


def main() -> None:
    """Measure what was asked for."""
    options = _parser().parse_args()
    names = options.only or [name for name in SECTIONS if name != "peers" or options.against]
    with tempfile.TemporaryDirectory(prefix="sessionstore-bench-", dir=options.folder) as folder:
        context = Context(_console(), Path(folder), options.quick, options.store, options.against)
        for name in names:
            SECTIONS[name](context)
    if options.chart is not None:
        draw(context.reports, options.chart)


def _console() -> Console:
    """The terminal, or a file in which no table is squeezed."""
    console = Console()
    return console if console.is_terminal else Console(width=160)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--store",
        metavar="URL",
        action="append",
        default=[],
        help="a store to measure, again for more; of files only the kind counts, a server gets databases of "
        "its own. Default: every kind of file, and the servers on their standard local ports",
    )
    parser.add_argument(
        "--only", metavar="NAME", action="append", choices=SECTIONS, default=[], help=", ".join(SECTIONS)
    )
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds, smaller histories: about a minute"
    )
    parser.add_argument(
        "--against",
        action="append",
        choices=["raw", *PEERS],
        default=[],
        help="peers of the extra 'bench', again for more; raw, the bare driver, is always there",
    )
    parser.add_argument(
        "--folder", metavar="DIR", default=None, help="on the disk to measure; default: the system's"
    )
    parser.add_argument("--chart", metavar="PNG", type=Path, default=None, help="draw the ratios")
    return parser


if __name__ == "__main__":
    main()
