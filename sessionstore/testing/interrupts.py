"""``KeyboardInterrupt`` at every point where the interpreter can deliver one.

A signal does not come between any two instructions: CPython looks for one when a function begins,
after a call, and at the end of a loop's round. Here each of these points can be tried in turn, those
in ``threading`` and ``contextlib`` included where the library calls them: they are Python code.
"""

from __future__ import annotations

import contextlib
import dis
import os
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, cast

import sessionstore

_LIBRARY: Final = str(Path(sessionstore.__file__).parent) + os.sep
_TESTING: Final = str(Path(__file__).parent) + os.sep
_STANDARD: Final = frozenset({threading.__file__, contextlib.__file__})


def interrupt(call: Callable[[], object], point: int) -> bool:
    """Run ``call``, in which the ``point``-th chance for an interrupt in library code is taken.

    Returns whether there was one, that is, whether the call came that far.
    """
    chances = _Chances(point)
    telling = sys.unraisablehook
    # An interrupt that comes while an object is dropped is lost, as it is in real life.
    sys.unraisablehook = lambda _: None
    try:
        with _watching(chances):
            call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.unraisablehook = telling
    return chances.taken


class _Chances:
    """Counts the points of all frames of a call and raises at one of them."""

    def __init__(self, point: int) -> None:
        self._left = point
        self._before: dict[int, int] = {}

    @property
    def taken(self) -> bool:
        return self._left <= 0

    def enter(self, frame: FrameType, at: int) -> None:
        """``frame`` is new, or another one that has its place in memory, and executes ``at``."""
        self._before[id(frame)] = at

    def step(self, frame: FrameType, at: int) -> None:
        """``frame``, which counts, is about to execute the instruction ``at``."""
        checks, handlers = _points(frame.f_code)
        if at == 0:
            self.enter(frame, -1)
        before = self._before.get(id(frame), -1)
        self._before[id(frame)] = at
        # What is raised here is caught by the handler of the instruction to come; the real one by
        # that of the instruction before. So only where both are the same.
        if before in checks and handlers.get(before) == handlers.get(at):
            self._left -= 1
            if self._left == 0:
                raise KeyboardInterrupt


def _may_count(code: CodeType) -> bool:
    file = code.co_filename
    return file in _STANDARD or (file.startswith(_LIBRARY) and not file.startswith(_TESTING))


def _counts(frame: FrameType) -> bool:
    """Whether a frame is of library code, or of these modules and called by library code."""
    caller: FrameType | None = frame
    while caller is not None and caller.f_code.co_filename in _STANDARD:
        caller = caller.f_back
    return caller is not None and _may_count(caller.f_code)


if sys.version_info >= (3, 12):

    @contextmanager
    def _watching(chances: _Chances) -> Generator[None, None, None]:
        # Tracing of instructions misses the first run of each function there; monitoring does not.
        watch = sys.monitoring
        caller = threading.get_ident()

        def step(code: CodeType, at: int) -> object:
            if not _may_count(code):
                return watch.DISABLE
            if not chances.taken and threading.get_ident() == caller:
                frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
                if _counts(frame):
                    chances.step(frame, at)
            return None

        watch.use_tool_id(_TOOL, "sessionstore.testing")
        watch.register_callback(_TOOL, watch.events.INSTRUCTION, step)
        watch.set_events(_TOOL, watch.events.INSTRUCTION)
        try:
            yield
        finally:
            watch.set_events(_TOOL, 0)
            watch.free_tool_id(_TOOL)

    _TOOL: Final = 4

else:

    @contextmanager
    def _watching(chances: _Chances) -> Generator[None, None, None]:
        def enter(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any] | None:
            if chances.taken or not _may_count(frame.f_code) or not _counts(frame):
                return None
            # It executes RESUME, which tells of no instruction and looks for signals.
            chances.enter(frame, frame.f_lasti)
            frame.f_trace_opcodes = True
            frame.f_trace_lines = False
            return step

        def step(frame: FrameType, event: str, _argument: Any) -> Callable[..., Any]:
            if event == "opcode":
                chances.step(frame, frame.f_lasti)
            return step

        tracing = sys.gettrace()
        sys.settrace(enter)
        try:
            yield
        finally:
            sys.settrace(tracing)


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
