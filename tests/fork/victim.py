"""A process that forks a session and stops at a step, there to be killed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from children import children
from fork.streams import wrap_streams

import sessionstore.repository
from sessionstore import SessionMetadata, open_repository
from sessionstore.fork import Fork, ForkImage
from sessionstore.repository import SessionRepo

SECONDS = 60

STEPS = ("reserved", "boundary", "planned", "first record", "halfway", "last record", "loaded", "opened")
"""In order. A fork that copies entries inside its database streams the rest alone."""

FILE_STEPS = ("complete under another name", "linked into place")
"""What comes between for a session with a file of its own."""

PUBLISHED = ("linked into place", "loaded", "opened")
"""The steps at which the destination is there."""


def killed_at(
    step: str, url: str, source: SessionMetadata, source_url: str | None, fork: Fork, id: str
) -> None:
    """Begin a fork in a process of its own, and kill that when it has come to ``step``."""
    context = children()
    ours, theirs = context.Pipe()
    process = context.Process(target=_fork, args=(theirs, step, url, source, source_url, fork, id))
    process.start()
    try:
        assert ours.poll(SECONDS), f"the fork never came to the step {step!r}"
        arrived = ours.recv()
        assert arrived == step, arrived
    finally:
        process.kill()
        process.join()


def _fork(
    pipe: Connection,
    step: str,
    url: str,
    source: SessionMetadata,
    source_url: str | None,
    fork: Fork,
    id: str,
) -> None:
    def arrive(at: str) -> None:
        if at == step:
            pipe.send(at)
            pipe.recv()

    try:
        with open_repository(url) as repo:
            watch(type(repo), arrive)
            origin = None if source_url is None else open_repository(source_url)
            repo.fork(source, fork, id=id, source_repository=origin)
        pipe.send("the fork ended")
    except Exception as error:  # whatever it is, the test has to hear of it
        pipe.send(f"{type(error).__name__}: {error}")
        raise


def watch(
    repo_class: type[SessionRepo],
    arrive: Callable[[str], None],
    set_attribute: Callable[[Any, str, Any], None] = setattr,
) -> None:
    """Have every fork in this process tell the steps that it comes to."""
    set_attribute(repo_class, "_forked", _told(repo_class._forked, arrive, before="reserved"))
    set_attribute(repo_class, "_open", _told(repo_class._open, arrive, before="loaded", after="opened"))
    made = sessionstore.repository.fork_image

    def planning(*args: Any) -> ForkImage:
        arrive("boundary")
        image = made(*args)
        arrive("planned")
        return image

    set_attribute(sessionstore.repository, "fork_image", planning)
    set_attribute(os, "link", _told(os.link, arrive, before=FILE_STEPS[0], after=FILE_STEPS[1]))

    def telling(stream: Iterator[Any]) -> Iterator[Any]:
        for number, taken in enumerate(stream, start=1):
            if number == 1:
                arrive("first record")
            if number == 30:
                arrive("halfway")
            yield taken
        arrive("last record")

    wrap_streams(telling, set_attribute)


def _told(
    method: Callable[..., Any], arrive: Callable[[str], None], *, before: str = "", after: str = ""
) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        arrive(before)
        result = method(*args, **options)
        arrive(after)
        return result

    return call
