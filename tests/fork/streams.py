"""What a fork streams, to be watched or broken on its way."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any, TypeAlias

import sessionstore.jsonl.making
from sessionstore.fork import ForkImage

Wrapper: TypeAlias = Callable[[Iterator[Any]], Iterator[Any]]


def wrap_streams(wrapper: Wrapper, set_attribute: Callable[[Any, str, Any], None] = setattr) -> None:
    """Have the records of every fork pass through ``wrapper``.

    The lines of a JSONL file that go into another as they stand are no records, and pass too.
    """
    for owner, name in ((ForkImage, "_taken"), (sessionstore.jsonl.making, "fork_lines")):
        stream: Callable[..., Generator[Any, None, None]] = getattr(owner, name)
        set_attribute(owner, name, _wrapped(stream, wrapper))


def _wrapped(
    stream: Callable[..., Generator[Any, None, None]], wrapper: Wrapper
) -> Callable[..., Iterator[Any]]:
    def wrapped(*args: Any) -> Iterator[Any]:
        # An error in the wrapper holds its frame, and by that would keep what is streamed open.
        with closing(stream(*args)) as streamed:
            yield from wrapper(streamed)

    return wrapped
