"""Processes beside that of the tests, which know nothing of it."""

from __future__ import annotations

from functools import cache
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.context import ForkServerContext, SpawnContext

_LOADED = ("sessionstore.opening", "sessionstore.jsonl.repo", "sessionstore.sql.directory")
"""What takes long to import and is the same in each."""


@cache
def children() -> ForkServerContext | SpawnContext:
    """How to start one. They come from a process that has opened nothing, where there can be one."""
    if "forkserver" not in get_all_start_methods():
        return get_context("spawn")
    context = get_context("forkserver")
    context.set_forkserver_preload(list(_LOADED))
    return context
