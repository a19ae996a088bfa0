"""Fixtures that give each test a fresh store of every kind, and the report on the database legs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from legs import CLUSTERS, LEGS, STORE_KINDS, Legs, StoreKind, lacking, required_legs
from servers import FAMILIES, Server

SERVER_FIXTURES = {f"{leg}_server_url": leg for leg in FAMILIES} | {f"{leg}_cluster": leg for leg in CLUSTERS}


# Fixtures -----------------------------------------------------------------------------------


@pytest.fixture(params=STORE_KINDS, ids=lambda kind: kind.name)
def store_kind(request: pytest.FixtureRequest) -> StoreKind:
    """Each kind of store in turn; ``@pytest.mark.needs(...)`` leaves out those that lack something."""
    kind: StoreKind = request.param
    return kind


@pytest.fixture
def new_database(request: pytest.FixtureRequest) -> Iterator[Callable[[str], str]]:
    """Make databases on the server of a leg; they are dropped at the end of the test."""
    legs = request.config.stash[LEGS]
    with ExitStack() as dropping:

        def create(leg: str) -> str:
            server = _server(request.config, leg)
            url = legs.create_database(leg, server)
            dropping.callback(legs.drop_database, leg, server, url)
            return url

        yield create


@pytest.fixture
def new_store_url(
    store_kind: StoreKind, tmp_path: Path, new_database: Callable[[str], str]
) -> Callable[[], str]:
    """Make the URLs of any number of empty stores of the kind, each in a place of its own."""
    made = 0

    def make() -> str:
        nonlocal made
        made += 1
        folder = tmp_path / f"store-{made}"
        folder.mkdir()
        return store_kind.make_url(folder, new_database)

    return make


@pytest.fixture
def store_url(new_store_url: Callable[[], str]) -> str:
    """The URL of one empty store of each kind."""
    return new_store_url()


@pytest.fixture(scope="session")
def postgresql_server_url(request: pytest.FixtureRequest) -> str:
    """The URL of a PostgreSQL account that may create databases."""
    return _server(request.config, "postgresql").url


@pytest.fixture(scope="session")
def mariadb_server_url(request: pytest.FixtureRequest) -> str:
    """The URL of a MariaDB account that may create databases."""
    return _server(request.config, "mariadb").url


@pytest.fixture
def postgresql_url(postgresql_server_url: str, new_database: Callable[[str], str]) -> str:
    """The URL of a fresh PostgreSQL database."""
    return new_database("postgresql")


@pytest.fixture
def mariadb_url(mariadb_server_url: str, new_database: Callable[[str], str]) -> str:
    """The URL of a fresh MariaDB database."""
    return new_database("mariadb")


def _server(config: pytest.Config, leg: str) -> Server:
    legs = config.stash[LEGS]
    return legs.available(leg, legs.outcome(leg))


# Workers -------------------------------------------------------------------------------------


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int | None:
    """Two for each core: a third of the time a test waits for a disk, a server or another process."""
    if os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return None
    return 2 * (os.cpu_count() or 1)


# Collection ---------------------------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)  # before -m asks for the marker
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what needs a server; leave out the kinds of store that cannot do what a test needs."""
    for item in items:
        if _legs_of(item):
            item.add_marker("server")
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        missing = _missing_capabilities(item)
        (left_out if missing else kept).append(item)
        if missing:
            config.stash[LEGS].left_out[missing[0]] += 1
    items[:] = kept
    if left_out:
        config.hook.pytest_deselected(items=left_out)


def _missing_capabilities(item: pytest.Item) -> list[str]:
    needed = [name for marker in item.iter_markers("needs") for name in marker.args]
    kind = _kind_of(item)
    if not needed:
        return []
    if kind is None:
        raise pytest.UsageError(f"{item.nodeid} needs {needed} but takes no store of a kind")
    try:
        return lacking(kind, needed)
    except ValueError as error:
        raise pytest.UsageError(f"{item.nodeid}: {error}") from error


def _kind_of(item: pytest.Item) -> StoreKind | None:
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("store_kind") if callspec else None


# Legs: counted while tests run, reported in one line, failed when required and not run --------


def pytest_configure(config: pytest.Config) -> None:
    try:
        legs = Legs(required_legs())
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    legs.from_controller(getattr(config, "workerinput", {}).get("legs", {}))
    config.stash[LEGS] = legs


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash[LEGS].close()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    node.workerinput["legs"] = node.config.stash[LEGS].to_worker()


def _legs_of(item: pytest.Item) -> set[str]:
    kind = _kind_of(item)
    used = {SERVER_FIXTURES[name] for name in getattr(item, "fixturenames", ()) if name in SERVER_FIXTURES}
    if kind is not None and kind.leg is not None:
        used.add(kind.leg)
    return used


def pytest_runtest_call(item: pytest.Item) -> None:
    item.config.stash[LEGS].tests.update(_legs_of(item))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    legs = session.config.stash[LEGS]
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["legs"] = legs.to_controller()
    elif session.exitstatus == pytest.ExitCode.OK and legs.missing() and not _only_collects(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    told = getattr(node, "workeroutput", {}).get("legs")
    if told:
        node.config.stash[LEGS].from_worker(told)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    legs = config.stash[LEGS]
    if legs.left_out:
        reasons = ", ".join(f"{count} need {name}" for name, count in sorted(legs.left_out.items()))
        terminalreporter.write_line(f"left out for want of a capability: {reasons}")
    line = legs.report()
    if line and not _only_collects(config):
        terminalreporter.write_line(line, red=bool(legs.missing()))


def _only_collects(config: pytest.Config) -> bool:
    return bool(config.option.collectonly)
