"""Fixtures of the tests that several processes take part in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from server.processes import Workers
from stores.processes import PROCESSES


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """Other processes; their start costs more than what the tests do."""
    with ExitStack() as stack:
        yield Workers(stack, PROCESSES)
