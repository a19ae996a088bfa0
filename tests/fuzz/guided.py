"""JSONL inputs that atheris chooses by the code that they reach."""

from __future__ import annotations

import random
import shutil
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["sessionstore"]):
    from tests.fuzz.mutation import seeds
    from tests.fuzz.targets import JsonlTarget


def guided(seconds: int, scratch: Path) -> None:
    """Fuzz until the time is over or something broke; ends the process."""
    target = JsonlTarget(random.Random(0))
    [around] = [seed for seed in seeds() if seed.name == "live"]

    def one(data: bytes) -> None:
        folder = scratch / "input"
        shutil.rmtree(folder, ignore_errors=True)
        target.place(folder, around, "", lambda _: data)
        target.run(folder)

    corpus = scratch / "corpus"
    corpus.mkdir()
    for number, seed in enumerate(seeds()):
        (corpus / str(number)).write_bytes(seed.main)
    options = [f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048"]
    atheris.Setup([sys.argv[0], *options, str(corpus)], one)
    atheris.Fuzz()
