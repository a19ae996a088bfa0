"""Timing of pieces of work in turn, so that a drifting machine favours none of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter

Work = Callable[[], object]


@dataclass(frozen=True)
class Sample:
    """Seconds that one piece of work took, round by round."""

    seconds: Sequence[float]

    @property
    def median(self) -> float:
        """What half of the rounds stayed under."""
        return median(self.seconds)

    @property
    def quick(self) -> float:
        """What the quickest tenth stayed under: the work itself, on a machine that others use too."""
        return sorted(self.seconds)[len(self.seconds) // 10]

    def ratio(self, peer: Sample) -> float:
        """How many times the peer's median."""
        return self.median / peer.median

    def quick_ratio(self, peer: Sample) -> float:
        """The same for the quickest tenths."""
        return self.quick / peer.quick


def seconds_of(work: Work) -> float:
    """How long one call takes."""
    start = perf_counter()
    work()
    return perf_counter() - start


def alone(work: Work, rounds: int, warm_up: int = 3) -> Sample:
    """``rounds`` calls of one piece of work."""
    return in_turn([work], rounds, warm_up)[0]


def in_turn(works: Sequence[Work], rounds: int, warm_up: int = 3) -> list[Sample]:
    """``rounds`` calls of each, A B C A B C …, after a warm-up."""
    for _ in range(warm_up):
        for work in works:
            work()
    gc.collect()
    seconds: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, seconds, strict=True):
            taken.append(seconds_of(work))
    return [Sample(taken) for taken in seconds]


def prepared(prepare: Callable[[], Work], rounds: int, warm_up: int = 3) -> Sample:
    """Calls of work that is made anew for each round; making it is not measured."""
    return prepared_in_turn([prepare], rounds, warm_up)[0]


def prepared_in_turn(makers: Sequence[Callable[[], Work]], rounds: int, warm_up: int = 3) -> list[Sample]:
    """The same for several pieces of work in turn."""
    seconds: list[list[float]] = [[] for _ in makers]
    for number in range(warm_up + rounds):
        if number == warm_up:
            gc.collect()
        for make, taken in zip(makers, seconds, strict=True):
            work = make()
            spent = seconds_of(work)
            if number >= warm_up:
                taken.append(spent)
    return [Sample(taken) for taken in seconds]
