"""What must not grow, measured again and again, and whether it grew."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import linear_regression, mean
from typing import Final

MIB: Final = 1 << 20


@dataclass(frozen=True)
class Sample:
    """One look: seconds since the start, commits so far, and what must not grow."""

    seconds: float
    commits: int
    rss: int
    handles: int
    files: int


@dataclass(frozen=True)
class Quantity:
    """Flat is what grows by no more than this: a share of its mean, or an amount."""

    name: str
    attribute: str
    share: float
    amount: float
    unit: float
    suffix: str


QUANTITIES: Final = (
    Quantity("memory", "rss", 0.03, 3 * MIB, MIB, " MiB"),
    Quantity("handles", "handles", 0.05, 3, 1, ""),
    Quantity("files", "files", 0.05, 2 * MIB, MIB, " MiB"),
)


@dataclass(frozen=True)
class Trend:
    """How a quantity went in the second half of a run, by the line of least squares."""

    quantity: Quantity
    mean: float
    growth: float

    @property
    def is_flat(self) -> bool:
        """Whether it grew by no more than chance."""
        return self.growth <= max(self.quantity.amount, self.quantity.share * self.mean)

    def __str__(self) -> str:
        of = self.quantity
        said = "flat" if self.is_flat else "GROWS"
        mean, growth = self.mean / of.unit, self.growth / of.unit
        return f"{of.name}: {said}, {mean:.1f}{of.suffix} and {growth:+.2f}{of.suffix} in the second half"


def trends(samples: list[Sample]) -> list[Trend]:
    """One for each quantity; the first half of a run is taken for its warming up."""
    half = samples[-1].seconds / 2
    late = [sample for sample in samples if sample.seconds >= half]
    seconds = [sample.seconds for sample in late]
    found = []
    for quantity in QUANTITIES:
        values = [float(getattr(sample, quantity.attribute)) for sample in late]
        slope = linear_regression(seconds, values).slope
        found.append(Trend(quantity, mean(values), slope * (seconds[-1] - seconds[0])))
    return found


def resident(pid: int) -> int:
    """Bytes of memory that a process has."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def handles(pid: int) -> int:
    """Files, sockets and pipes that a process has open."""
    return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())


def stored(place: Path) -> int:
    """Bytes of the files below a folder; they come and go meanwhile."""
    total = 0
    for folder, _, names in os.walk(place):
        for name in names:
            with suppress(FileNotFoundError):
                total += os.stat(f"{folder}/{name}").st_size  # noqa: PTH116
    return total
