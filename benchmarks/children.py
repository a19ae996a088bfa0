"""Work in a process of its own, whose peak memory is that of the work alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_PROGRAM = """
import json, sys, time
sys.path[:0] = [{root!r}]
from sessionstore import *

def peak():
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM:"))

{setup}
before, start = peak(), time.perf_counter()
{work}
print(json.dumps([time.perf_counter() - start, before, peak()]))
"""


class Child(NamedTuple):
    """Seconds of the work, and bytes that the process had at most before it and in the end."""

    seconds: float
    before: int
    peak: int

    @property
    def grown(self) -> int:
        """Bytes that the work needed at its peak."""
        return self.peak - self.before


def in_child(setup: str, work: str) -> Child:
    """Run two pieces of program text one after the other; the second is measured."""
    program = _PROGRAM.format(root=str(Path(__file__).parents[1]), setup=setup, work=work)
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return Child(*json.loads(done.stdout))
