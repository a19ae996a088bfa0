"""What was measured, as tables for people and as bars for the README."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from benchmarks.timing import Sample


@dataclass(frozen=True)
class Row:
    """One measured line, beside a peer when there is one."""

    work: str
    ours: Sample
    peer_name: str = ""
    peer: Sample | None = None
    aim: str = ""
    note: str = ""


@dataclass
class Times:
    """A table of medians and ratios.

    ``ratio`` is that of the medians, ``quick`` that of the quickest tenth of the rounds; ``CPU``
    is what our side computed more than the peer's, at the median.
    """

    title: str
    rows: list[Row] = field(default_factory=list)

    def add(
        self,
        work: str,
        ours: Sample,
        peer_name: str = "",
        peer: Sample | None = None,
        *,
        aim: str = "",
        note: str = "",
    ) -> None:
        """One more line."""
        self.rows.append(Row(work, ours, peer_name, peer, aim, note))

    def table(self) -> Table:
        """For the terminal."""
        table = Table(title=self.title, title_justify="left")
        right = {"median", "its median", "ratio", "quick", "CPU"}
        for heading in ("work", "median", "beside", "its median", "ratio", "quick", "CPU", "aim", "note"):
            table.add_column(heading, justify="right" if heading in right else "left")
        for row in self.rows:
            peer = row.peer
            table.add_row(
                row.work,
                pretty(row.ours.median),
                row.peer_name,
                "" if peer is None else pretty(peer.median),
                "" if peer is None else f"{row.ours.ratio(peer):.2f}",
                "" if peer is None else f"{row.ours.quick_ratio(peer):.2f}",
                _more(row.ours, peer),
                row.aim,
                row.note,
            )
        return table


def _more(ours: Sample, peer: Sample | None) -> str:
    if peer is None or not ours.computing or not peer.computing:
        return ""
    more = ours.computed - peer.computed
    return ("+" if more >= 0 else "-") + pretty(abs(more))


@dataclass
class Figures:
    """A table of counts and sizes."""

    title: str
    headings: Sequence[str]
    rows: list[Sequence[object]] = field(default_factory=list)

    def add(self, *cells: object) -> None:
        """One more line."""
        self.rows.append(cells)

    def table(self) -> Table:
        """For the terminal."""
        table = Table(title=self.title, title_justify="left")
        for number, heading in enumerate(self.headings):
            table.add_column(heading, justify="right" if number else "left")
        for row in self.rows:
            table.add_row(*(cell if isinstance(cell, str) else f"{cell:,}" for cell in row))
        return table


Report = Times | Figures


def show(console: Console, report: Report) -> None:
    """Print a table, if anything was measured."""
    if report.rows:
        console.print(report.table())
        console.print()


def pretty(seconds: float) -> str:
    """Seconds in the unit that people read."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.2f} ms"
    return f"{seconds:.2f} s"


def size(count: float) -> str:
    """Bytes in the unit that people read."""
    for unit in ("B", "kB", "MB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} GB"
