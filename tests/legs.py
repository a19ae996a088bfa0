"""The kinds of store that the tests run on, and the legs on database servers.

A kind tells what it can do; tests name capabilities, never kinds. To add a kind, add a line to
``STORE_KINDS``.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from servers import FAMILIES, Server, UnavailableError, find_server
from sqlalchemy import make_url

REQUIRE_VARIABLE = "SESSIONSTORE_REQUIRE"

CLUSTERS = frozenset({"galera"})
"""Legs that their own fixture starts, and tells of: no worker process shares what it finds."""

FreshDatabase: TypeAlias = Callable[[str], str]
"""Given the name of a leg, the URL of a new empty database there."""


@dataclass(frozen=True)
class StoreKind:
    """A kind of store: ``make_url`` gives an empty one, in a folder or a database of its own."""

    name: str
    capabilities: frozenset[str]
    make_url: Callable[[Path, FreshDatabase], str]
    leg: str | None = None


def _kind(
    name: str, capabilities: str, make_url: Callable[[Path, FreshDatabase], str], leg: str | None = None
) -> StoreKind:
    return StoreKind(name, frozenset(capabilities.split()), make_url, leg)


def _server_kind(leg: str) -> StoreKind:
    return _kind(leg, "persistent multi_process sql server", lambda _, database: database(leg), leg)


# persistent      what was committed is there after the repository is opened again
# multi_process   another process may read while one writes
# files           the store is files under a folder
# session_file    each session has a file of its own, named in its metadata
# sql             a database that SQLAlchemy can read
# server          a database server
STORE_KINDS: tuple[StoreKind, ...] = (
    _kind("memory", "", lambda _folder, _: "memory://"),
    _kind(
        "sqlite", "persistent multi_process files sql", lambda folder, _: f"sqlite:///{folder}/sessions.db"
    ),
    _kind(
        "jsonl", "persistent multi_process files session_file", lambda folder, _: f"jsonl:{folder}/sessions"
    ),
    _kind(
        "sqlite_dir",
        "persistent multi_process files session_file sql",
        lambda folder, _: f"sqlite+dir://{folder}/sessions",
    ),
    _server_kind("postgresql"),
    _server_kind("mariadb"),
)

CAPABILITIES: frozenset[str] = frozenset().union(*(kind.capabilities for kind in STORE_KINDS))


def required_legs() -> frozenset[str]:
    """The legs that have to run, from the environment; ``ValueError`` names one that does not exist."""
    listed = os.environ.get(REQUIRE_VARIABLE, "").split(",")
    names = frozenset(name.strip() for name in listed if name.strip())
    legs = FAMILIES.keys() | CLUSTERS
    unknown = names - legs
    if unknown:
        raise ValueError(f"{REQUIRE_VARIABLE} names {sorted(unknown)}; the legs are {sorted(legs)}")
    return names


@dataclass
class Legs:
    """Servers found so far, databases made on them, and how many tests used each.

    Servers are looked for when the first test asks. With several worker processes the first one
    looks (``outcomes``) and the others are told, so that no two start a server of their own.
    """

    required: frozenset[str]
    outcomes: dict[str, Server | str] = field(default_factory=dict)
    tests: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    _stack: ExitStack = field(default_factory=ExitStack)

    def outcome(self, leg: str) -> Server | str:
        """The server of ``leg``, or the reason why there is none."""
        if leg not in self.outcomes:
            try:
                self.outcomes[leg] = find_server(FAMILIES[leg], self._stack)
            except UnavailableError as reason:
                self.outcomes[leg] = str(reason)
        return self.outcomes[leg]

    def available(self, leg: str, outcome: Server | str) -> Server:
        """The server of an outcome; without one the test is skipped, or fails when the leg is required."""
        if isinstance(outcome, Server):
            return outcome
        if leg in self.required:
            pytest.fail(f"{leg} is required and not available: {outcome}", pytrace=False)
        pytest.skip(f"{leg} is not available: {outcome}")

    def create_database(self, leg: str, server: Server) -> str:
        """The URL of a new database."""
        name = f"sessionstore_test_{secrets.token_hex(8)}"
        FAMILIES[leg].create_database(server.url, name)
        return make_url(server.url).set(database=name).render_as_string(hide_password=False)

    def drop_database(self, leg: str, server: Server, url: str) -> None:
        """Drop a database that ``create_database`` made."""
        name = make_url(url).database
        assert name
        FAMILIES[leg].drop_database(server.url, name)

    def missing(self) -> list[str]:
        """Required legs on which no test ran."""
        return sorted(leg for leg in self.required if not self.tests[leg])

    def report(self) -> str | None:
        """One line about the legs that tests asked for or that are required."""
        parts = []
        for leg in sorted(self.required | self.outcomes.keys()):
            outcome = self.outcomes.get(leg, "no test asked for it")
            if isinstance(outcome, Server) and self.tests[leg]:
                parts.append(f"{leg}: {self.tests[leg]} tests on {outcome.origin}")
            elif not isinstance(outcome, Server):
                must = f", but {REQUIRE_VARIABLE} names it" if leg in self.required else ""
                parts.append(f"{leg}: not run{must} ({outcome})")
            elif leg in self.required:
                parts.append(f"{leg}: not run, but {REQUIRE_VARIABLE} names it (no test asked for it)")
        return f"database legs: {'; '.join(parts)}" if parts else None

    def close(self) -> None:
        """Stop every server that was started."""
        self._stack.close()

    def to_worker(self) -> dict[str, Any]:
        """What a worker process needs to know, as plain data."""
        return {
            leg: {"url": outcome.url, "origin": outcome.origin}
            if isinstance(outcome, Server)
            else {"reason": outcome}
            for leg in FAMILIES
            for outcome in [self.outcome(leg)]
        }

    def to_controller(self) -> dict[str, Any]:
        """What a worker process has to tell at its end, as plain data."""
        clusters = {
            leg: {"url": outcome.url, "origin": outcome.origin}
            if isinstance(outcome, Server)
            else {"reason": outcome}
            for leg, outcome in self.outcomes.items()
            if leg in CLUSTERS
        }
        return {"tests": dict(self.tests), "left_out": dict(self.left_out), "clusters": clusters}

    def from_worker(self, told: Mapping[str, Any]) -> None:
        """Take over what a worker process tells."""
        self.tests.update(told["tests"])
        self.left_out |= told["left_out"]  # each worker collects every test
        self.from_controller(told["clusters"])

    def from_controller(self, told: Mapping[str, Mapping[str, str]]) -> None:
        """Take over what the controlling process found."""
        for leg, outcome in told.items():
            self.outcomes[leg] = outcome["reason"] if "reason" in outcome else Server(**outcome)


LEGS = pytest.StashKey[Legs]()


def lacking(kind: StoreKind, needed: Collection[str]) -> list[str]:
    """The capabilities in ``needed`` that ``kind`` does not have; ``ValueError`` for an unknown one."""
    unknown = set(needed) - CAPABILITIES
    if unknown:
        raise ValueError(f"unknown capabilities {sorted(unknown)}; the kinds have {sorted(CAPABILITIES)}")
    return sorted(set(needed) - kind.capabilities)
