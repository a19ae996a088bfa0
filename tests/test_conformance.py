"""The conformance suites on every kind of store."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from conformance.factories import FactoryOf, capabilities_of, factory_of
from legs import STORE_KINDS, StoreKind

from sessionstore.testing import Case, RepositoryStorages, repository_conformance, storage_conformance
from sessionstore.testing.platform import platform_capabilities

__all__ = ["factory_of"]  # pytest finds the fixture here


def on_every_kind(cases: Iterable[Case[Any]]) -> pytest.MarkDecorator:
    """Each case on each kind of store that has the capabilities which it requires."""
    return pytest.mark.parametrize(
        ("store_kind", "case"),
        [
            pytest.param(kind, case, id=f"{kind.name}-{case.group}-{case.name}")
            for kind in STORE_KINDS
            for case in cases
            if case.offered_to(capabilities_of(kind) | platform_capabilities())
        ],
    )


@on_every_kind(storage_conformance)
def test_storage(store_kind: StoreKind, case: Case[Any], factory_of: FactoryOf) -> None:
    case.run(RepositoryStorages(factory_of(store_kind)))


@on_every_kind(repository_conformance)
def test_repository(store_kind: StoreKind, case: Case[Any], factory_of: FactoryOf) -> None:
    case.run(factory_of(store_kind))
