"""The conformance suites through the async facade, on every store.

A sync view over the facade stands where the suites expect a sync repository: the same cases, but
every call goes through a loop, a line and a worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from aio.sync_view import sync_views
from conformance.factories import FactoryOf, capabilities_of, factory_of
from legs import STORE_KINDS, StoreKind

from sessionstore import SessionRepo
from sessionstore.testing.cases import Case, RepositoryFactory, StorageFactory
from sessionstore.testing.factories import RepositoryStorages, UrlRepositories
from sessionstore.testing.suite import repository_conformance, storage_conformance

__all__ = ["factory_of"]

REPLACED = {
    # A read of the facade goes after the writes that were called before it (test_admission.py).
    "readers-do-not-wait-for-a-commit-under-way",
    # The thread that calls the facade executes nothing of the store: what an interrupt is to a
    # sync call, a cancellation is to an async one (test_cancellation.py).
    "an-interrupted-commit-happened-wholly-or-not-at-all",
}
"""Cases in whose place the facade promises something else."""


class ViewedRepositories:
    """A factory of sync views over the async facade over what another factory gives."""

    def __init__(self, repositories: UrlRepositories, view: Callable[[SessionRepo], Any]) -> None:
        self._repositories = repositories
        self._view = view
        self.capabilities = repositories.capabilities
        self.clock = repositories.clock

    def open(self) -> Any:
        return self._view(self._repositories.open())

    def open_other(self) -> Any:
        return self._view(self._repositories.open_other())


@pytest.fixture(scope="module")
def view() -> Iterator[Callable[[SessionRepo], Any]]:
    with sync_views() as view:
        yield view


def _cases(suite: tuple[Case[Any], ...]) -> list[Any]:
    return [
        pytest.param(
            kind,
            case,
            id=f"{kind.name}-{case.group}-{case.name}",
            # The facade is the same over all of them: newer Pythons try it on what costs no I/O.
            marks=[pytest.mark.slow] if "persistent" in kind.capabilities else [],
        )
        for kind in STORE_KINDS
        for case in suite
        if case.requires <= capabilities_of(kind) and case.name not in REPLACED
    ]


def test_the_replaced_cases_exist() -> None:
    assert {case.name for case in (*storage_conformance, *repository_conformance)} >= REPLACED


@pytest.mark.parametrize(("store_kind", "case"), _cases(storage_conformance))
def test_storage(
    store_kind: StoreKind,
    case: Case[StorageFactory],
    factory_of: FactoryOf,
    view: Callable[[SessionRepo], Any],
) -> None:
    case.run(RepositoryStorages(ViewedRepositories(factory_of(store_kind), view)))


@pytest.mark.parametrize(("store_kind", "case"), _cases(repository_conformance))
def test_repositories(
    store_kind: StoreKind,
    case: Case[RepositoryFactory],
    factory_of: FactoryOf,
    view: Callable[[SessionRepo], Any],
) -> None:
    case.run(ViewedRepositories(factory_of(store_kind), view))
