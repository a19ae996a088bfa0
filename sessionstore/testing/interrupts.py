"""``KeyboardInterrupt`` at every point where the interpreter can deliver one.

A signal does not come between any two instructions: CPython looks for one when a function begins,
after a call, and at the end of a loop's round. Here each of these points can be tried in turn.
"""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, cast

import sessionstore

_LIBRARY: Final = str(Path(sessionstore.__file__).parent) + os.sep
_TESTING: Final = str(Path(__file__).parent) + os.sep


def interrupt(call: Callable[[], object], point: int) -> bool:
    """Run ``call``, in which the ``point``-th chance for an interrupt in library code is taken.

    Returns whether there was one, that is, whether the call came that far.
    """
    chances = _Chances(point)
    # CPython 3.12 traces instructions only if a frame had asked for it before tracing was set.
    sys._getframe().f_trace_opcodes = True  # pyright: ignore[reportPrivateUsage]
    tracing, telling = sys.gettrace(), sys.unraisablehook
    # An interrupt that comes while an object is dropped is lost, as it is in real life.
    sys.unraisablehook = lambda _: None
    sys.settrace(chances.enter)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(tracing)
        sys.unraisablehook = telling
    return chances.taken


class _Chances:
    """Counts the points of all frames of a call and raises at one of them."""

    def __init__(self, point: int) -> None:
        self._left = point

    @property
    def taken(self) -> bool:
        return self._left <= 0

    def enter(self, frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any] | None:
        file = frame.f_code.co_filename
        if not file.startswith(_LIBRARY) or file.startswith(_TESTING) or self.taken:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        checks, handlers = _points(frame.f_code)
        before = -1

        def step(frame: FrameType, event: str, _argument: Any) -> Callable[..., Any]:
            nonlocal before
            if event == "opcode":
                at = frame.f_lasti
                # What is raised here is caught by the handler of the instruction to come; the real
                # one by that of the instruction before. So only where both are the same.
                if before in checks and handlers.get(before) == handlers.get(at):
                    self._left -= 1
                    if self._left == 0:
                        raise KeyboardInterrupt
                before = at
            return step

        return step


@lru_cache(maxsize=4096)
def _points(code: CodeType) -> tuple[frozenset[int], dict[int, int]]:
    """The offsets after which the interpreter looks for signals, and the handler of each offset."""
    checks: set[int] = set()
    handlers: dict[int, int] = {}
    bytecode = dis.Bytecode(code)
    ranges = cast("list[Any]", cast("Any", bytecode).exception_entries)  # absent from the stubs
    for instruction in bytecode:
        name = instruction.opname
        if name in ("RESUME", "JUMP_BACKWARD") or (name.startswith("CALL") and "INTRINSIC" not in name):
            checks.add(instruction.offset)
        for covered in ranges:
            if covered.start <= instruction.offset < covered.end:
                handlers[instruction.offset] = covered.target
    return frozenset(checks), handlers
