"""Inputs one after the other, until the time is over; the ones that broke something are kept."""

from __future__ import annotations

import logging
import random
import shutil
import tempfile
import time
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tests.fuzz.limits import bounded_address_space, in_memory_of, in_time
from tests.fuzz.targets import TARGETS, Target

_MEASURED = 10
"""Of so many inputs one is run with its memory measured, which is slow."""


class Failure(msgspec.Struct):
    """An input that broke something, and where its files were kept."""

    name: str
    kept: Path
    trace: str


class Outcome(msgspec.Struct):
    """What came of a campaign."""

    inputs: dict[str, int]
    failures: list[Failure]


def campaign(seconds: float, seed: int, keep: Path, names: list[str], most: int = 5) -> Outcome:
    """Fuzz for some seconds; ends early after so many failures."""
    outcome = Outcome(dict.fromkeys(names, 0), [])
    end = time.monotonic() + seconds
    targets = {name: TARGETS[name](random.Random(f"{seed} {name}")) for name in names}
    with tempfile.TemporaryDirectory() as scratch, bounded_address_space(), _without_warnings():
        while time.monotonic() < end and len(outcome.failures) < most:
            for name, target in targets.items():
                outcome.inputs[name] += 1
                is_measured = outcome.inputs[name] % _MEASURED == 0
                trace = run_one(target, Path(scratch) / "input", is_measured)
                if trace:
                    kept = keep / f"{name}-{seed}-{outcome.inputs[name]}"
                    shutil.copytree(Path(scratch) / "input", kept)
                    outcome.failures.append(Failure(name, kept, trace))
    return outcome


@contextmanager
def _without_warnings() -> Generator[None]:
    """Nothing is logged inside: what is passed over is a file out of two."""
    logger = logging.getLogger("sessionstore")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def run_one(target: Target, folder: Path, is_measured: bool) -> str:
    """Prepare an input and run it; the trace of what may not happen."""
    shutil.rmtree(folder, ignore_errors=True)
    size = target.prepare(folder)
    pristine = folder.with_name("pristine")
    shutil.rmtree(pristine, ignore_errors=True)
    shutil.copytree(folder, pristine)
    try:
        with in_time():
            if is_measured:
                with in_memory_of(size):
                    target.run(folder)
            else:
                target.run(folder)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - that is what is looked for
        shutil.rmtree(folder, ignore_errors=True)
        shutil.move(pristine, folder)
        return traceback.format_exc()
    return ""
