"""Timing of pieces of work in turn, so that a drifting machine favours none of them."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, thread_time

Work = Callable[[], object]


@dataclass(frozen=True)
class Sample:
    """Seconds that one piece of work took, round by round, and how many its thread computed."""

    seconds: Sequence[float]
    computing: Sequence[float] = ()

    @property
    def median(self) -> float:
        """What half of the rounds stayed under."""
        return median(self.seconds)

    @property
    def quick(self) -> float:
        """What the quickest tenth stayed under: the work itself, on a machine that others use too."""
        return sorted(self.seconds)[len(self.seconds) // 10]

    @property
    def computed(self) -> float:
        """The median of what the thread computed; waiting for the disk and for others is left out."""
        return median(self.computing)

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


class Stopwatch:
    """Collects rounds."""

    def __init__(self) -> None:
        self._seconds: list[float] = []
        self._computing: list[float] = []

    def time(self, work: Work) -> None:
        """One more round."""
        computed, start = thread_time(), perf_counter()
        work()
        end, computed_then = perf_counter(), thread_time()
        self._seconds.append(end - start)
        self._computing.append(computed_then - computed)

    def sample(self) -> Sample:
        """What was collected."""
        return Sample(self._seconds, self._computing)


def alone(work: Work, rounds: int, warm_up: int = 3) -> Sample:
    """``rounds`` calls of one piece of work."""
    return in_turn([work], rounds, warm_up)[0]


def in_turn(works: Sequence[Work], rounds: int, warm_up: int = 3) -> list[Sample]:
    """``rounds`` calls of each, A B C A B C …, after a warm-up."""
    for _ in range(warm_up):
        for work in works:
            work()
    gc.collect()
    watches = [Stopwatch() for _ in works]
    for _ in range(rounds):
        for work, watch in zip(works, watches, strict=True):
            watch.time(work)
    return [watch.sample() for watch in watches]


def prepared(prepare: Callable[[], Work], rounds: int, warm_up: int = 3) -> Sample:
    """Calls of work that is made anew for each round; making it is not measured."""
    return prepared_in_turn([prepare], rounds, warm_up)[0]


def prepared_in_turn(makers: Sequence[Callable[[], Work]], rounds: int, warm_up: int = 3) -> list[Sample]:
    """The same for several pieces of work in turn."""
    watches = [Stopwatch() for _ in makers]
    for number in range(warm_up + rounds):
        if number == warm_up:
            gc.collect()
        for make, watch in zip(makers, watches, strict=True):
            work = make()
            if number < warm_up:
                work()
            else:
                watch.time(work)
    return [watch.sample() for watch in watches]
