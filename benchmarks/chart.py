"""The measured ratios as bars, for the README."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import Report, Times


def draw(reports: Sequence[Report], path: Path) -> None:
    """One bar for each line that has a peer: how many times the peer's median ours is."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    rows = [row for report in reports if isinstance(report, Times) for row in report.rows]
    shown = [(row, row.peer) for row in rows if row.peer is not None]
    if not shown:
        return
    ratios = [row.ours.ratio(peer) for row, peer in shown]
    places = range(len(shown))
    figure, axes = pyplot.subplots(figsize=(11, 1.2 + 0.26 * len(shown)), layout="constrained")
    axes.barh(places, ratios, color=["#2f7d32" if ratio <= 1 else "#4a76b8" for ratio in ratios])
    axes.set_yticks(places, [f"{row.work}  beside  {row.peer_name}" for row, _ in shown], fontsize=8)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.invert_yaxis()
    axes.margins(y=0.01)
    axes.set_xlabel("median of sessionstore ÷ median of the other, same run; left of 1 is faster")
    for place, ratio in zip(places, ratios, strict=True):
        axes.text(ratio, place, f" {ratio:.2g}", va="center", fontsize=8)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
