"""Support for testing stores: the shared conformance cases, and stores that watch or stop what runs.

``storage_conformance`` and ``repository_conformance`` are sequences of cases, each with ``group``,
``name`` and ``run(factory)``, which raises ``AssertionError`` where a store breaks the contract.
Nothing here needs a test framework. A backend of your own is tested like this::

    factory = UrlRepositories(new_url, {"persistent", "container_wide_ids"})
    for case in repository_conformance:
        if case.offered_to(factory.capabilities):
            case.run(factory)
    for case in storage_conformance:
        if case.offered_to(factory.capabilities):
            case.run(RepositoryStorages(factory))
"""

from sessionstore.testing.cases import (
    CAPABILITIES,
    Case,
    ManualClock,
    RepositoryFactory,
    StorageFactory,
)
from sessionstore.testing.factories import RepositoryStorages, UrlRepositories
from sessionstore.testing.gated import GatedStorage
from sessionstore.testing.suite import repository_conformance, storage_conformance
from sessionstore.testing.threads import Stop, Worker
from sessionstore.testing.wrapping import InstrumentedStorage, StorageWrapper, session_over

__all__ = [
    "CAPABILITIES",
    "Case",
    "GatedStorage",
    "InstrumentedStorage",
    "ManualClock",
    "RepositoryFactory",
    "RepositoryStorages",
    "Stop",
    "StorageFactory",
    "StorageWrapper",
    "UrlRepositories",
    "Worker",
    "repository_conformance",
    "session_over",
    "storage_conformance",
]
