"""The measured ratios as bars, for the README."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Report, Row, Times


def draw(reports: Sequence[Report], path: Path) -> None:
    """One bar for each line that has a peer: how many times the peer's median ours is."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    rows = [(report.title, row) for report in reports if isinstance(report, Times) for row in report.rows]
    shown = [(title, row, row.peer) for title, row in rows if row.peer is not None]
    if not shown:
        return
    ratios = [row.ours.ratio(peer) for _, row, peer in shown]
    figure, axes = pyplot.subplots(figsize=(11, 1.2 + 0.28 * len(shown)), layout="constrained")
    colours = ["#2f7d32" if ratio <= 1 else "#4a76b8" for ratio in ratios]
    axes.barh([_label(row, title) for title, row, _ in shown], ratios, color=colours)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.set_xlabel("median of sessionstore ÷ median of the other, same run; left of 1 is faster")
    for place, ratio in enumerate(ratios):
        axes.text(ratio, place, f" {ratio:.2f}", va="center", fontsize=8)
    axes.tick_params(axis="y", labelsize=8)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def _label(row: Row, title: str) -> str:
    return f"{row.work} / {row.peer_name}" + "\u200b" * (hash(title) % 7)
