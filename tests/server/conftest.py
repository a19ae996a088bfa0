"""Fixtures of the tests on servers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from legs import LEGS
from server.galera import GaleraCluster
from server.processes import Workers
from servers import Server, UnavailableError


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    """Other processes; their start costs more than what most tests do."""
    with ExitStack() as stack:
        yield Workers(stack)


@pytest.fixture(scope="session")
def galera_cluster(request: pytest.FixtureRequest) -> Iterator[GaleraCluster]:
    """Three nodes, where the packages are installed."""
    legs = request.config.stash[LEGS]
    with ExitStack() as stack:
        try:
            cluster = GaleraCluster(stack)
        except UnavailableError as reason:
            legs.outcomes["galera"] = str(reason)
            legs.available("galera", str(reason))
            raise
        url = cluster.nodes[0].server_url.render_as_string()
        legs.outcomes["galera"] = Server(url, f"{len(cluster.nodes)} private nodes")
        yield cluster
