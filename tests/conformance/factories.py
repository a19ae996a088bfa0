"""Factories for the kinds of store in legs.py, kept for a whole module: databases cost time to make."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from legs import StoreKind
from servers import FAMILIES
from sqlalchemy import make_url

from sessionstore.testing.factories import UrlRepositories

HERE = Path(__file__)


def capabilities_of(kind: StoreKind) -> frozenset[str]:
    """What the suites may expect of a kind, from what it declares in legs.py."""
    found = {"case_sensitive_ids"} if not HERE.with_name(HERE.name.upper()).exists() else set[str]()
    if "persistent" in kind.capabilities:
        found |= {"persistent", "shared_container"}
    if "files" in kind.capabilities:
        found.add("path_container")
    if "session_file" in kind.capabilities:
        found.add("session_file")
    if "sql" in kind.capabilities:
        found.add("visible_across_handles")
    # Session files that are no databases are found by cwd and id, and tell their own time.
    by_cwd = "session_file" in kind.capabilities and "sql" not in kind.capabilities
    return frozenset(found | ({"cwd_wide_ids"} if by_cwd else {"container_wide_ids", "commit_times"}))


FactoryOf = Callable[[StoreKind], UrlRepositories]


@pytest.fixture(scope="module")
def factory_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[FactoryOf]:
    """The factory of a kind of store, the same for all cases of a module."""
    made: dict[str, UrlRepositories] = {}
    with ExitStack() as dropping:

        def database(leg: str) -> str:
            family, server_url = FAMILIES[leg], request.getfixturevalue(f"{leg}_server_url")
            name = f"sessionstore_test_{secrets.token_hex(8)}"
            family.create_database(server_url, name)
            dropping.callback(family.drop_database, server_url, name)
            return make_url(server_url).set(database=name).render_as_string(hide_password=False)

        def factory(kind: StoreKind) -> UrlRepositories:
            if kind.name not in made:
                made[kind.name] = UrlRepositories(
                    lambda: kind.make_url(tmp_path_factory.mktemp(kind.name), database), capabilities_of(kind)
                )
            return made[kind.name]

        yield factory
