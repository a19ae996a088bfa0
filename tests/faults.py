"""Calls of the operating system that fail: the n-th of each kind, or all from there on.

Stands before functions of :mod:`os`, which is where pathlib's calls arrive too.
"""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

CHANGING = ("open", "write", "fsync", "ftruncate", "replace", "link", "unlink", "mkdir", "rmdir")
"""What the files of a store are changed with."""

Act = Callable[..., Any]
"""What happens in the place of a call: gets the function and its arguments."""


class Calls:
    """Counts the calls of some functions, and has one of them do something else."""

    def __init__(
        self, names: Sequence[str], at: int = 0, act: Act | None = None, *, lasting: bool = False
    ) -> None:
        """``at`` counts from 1, over all of ``names`` together; 0 only counts.

        A ``lasting`` fault hits all calls from there on.
        """
        self.count = 0
        self.by_name: Counter[str] = Counter()
        self.hit = ""
        """The name of the call that was acted on."""

        self._names = names
        self._at = at
        self._act = act
        self._lasting = lasting

    @contextmanager
    def __call__(self) -> Iterator[Calls]:
        with pytest.MonkeyPatch.context() as patched:
            for name in self._names:
                patched.setattr(os, name, self._counted(name, getattr(os, name)))
            yield self

    def _counted(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **kwargs: Any) -> Any:
            self.count += 1
            self.by_name[name] += 1
            is_hit = self.count >= self._at if self._lasting else self.count == self._at
            if is_hit and self._act is not None:
                self.hit = name
                return self._act(function, *args, **kwargs)
            return function(*args, **kwargs)

        return counted


def failing(code: int) -> Act:
    """The call does nothing and fails."""

    def act(*_: Any, **__: Any) -> None:
        raise OSError(code, os.strerror(code))

    return act


def failing_late(code: int) -> Act:
    """The call does its work, and fails all the same."""

    def act(function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
        function(*args, **kwargs)
        raise OSError(code, os.strerror(code))

    return act


def short(function: Callable[..., Any], fd: int, data: bytes) -> Any:
    """A write that takes a part of its data."""
    return function(fd, bytes(data)[: len(data) // 2])


def short_and_full(function: Callable[..., Any], fd: int, data: bytes) -> None:
    """A write that takes a part of its data and then finds the device full."""
    short(function, fd, data)
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def dying(*_: Any, **__: Any) -> None:
    """The process ends right there, without any cleanup. For a forked child."""
    os._exit(9)


def die_at_each_call(work: Callable[[], object], names: Sequence[str] = CHANGING) -> Iterator[int]:
    """Run ``work`` in a child that dies before its n-th call, for every n until it comes to its end.

    Yields n after each death.
    """
    at = 0
    while True:
        at += 1
        child = os.fork()
        if child == 0:
            _run_and_exit(work, Calls(names, at, dying))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == 0:
            return
        assert status == 9, f"the child ended with {status}"
        yield at


def _run_and_exit(work: Callable[[], object], calls: Calls) -> None:
    status = 1
    try:
        with calls():
            work()
        status = 0
    finally:
        os._exit(status)
