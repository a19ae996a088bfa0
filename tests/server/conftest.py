"""Fixtures of the tests on servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from server.processes import Workers


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """Other processes; their start costs more than what most tests do."""
    with ExitStack() as stack:
        yield Workers(stack)
