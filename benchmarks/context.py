"""What the sections share: how much to do, where, and where to print."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Collection, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from benchmarks.report import Figures, Report, Times


@dataclass
class Context:
    """One run of the command."""

    console: Console
    root: Path
    """A folder on the disk that is measured."""
    quick: bool = False
    urls: Collection[str] = ()
    """The stores that were asked for; empty: every kind that this machine offers."""
    against: Collection[str] = ()
    """Peers beside the bare driver."""
    reports: list[Report] = field(default_factory=list)

    def rounds(self, full: int, quick: int | None = None) -> int:
        """How often to measure; by default a fifth of it in quick mode."""
        return full if not self.quick else max(5, full // 5) if quick is None else quick

    def times(self, title: str) -> Times:
        """A new table of times, shown by :meth:`show`."""
        return Times(title)

    def show(self, report: Times | Figures) -> None:
        """Print a table, and keep it for the chart."""
        if report.rows:
            self.reports.append(report)
            self.console.print(report.table())
            self.console.print()

    def say(self, text: str) -> None:
        """A line between tables."""
        self.console.print(text, highlight=False)

    @contextmanager
    def folder(self) -> Generator[Path]:
        """An empty folder that is removed afterwards."""
        path = Path(tempfile.mkdtemp(prefix="bench-", dir=self.root))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)
