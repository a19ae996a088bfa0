"""The cases themselves, a module for each group."""

from __future__ import annotations

from typing import Final

from sessionstore.testing.cases import Case, RepositoryFactory, StorageFactory
from sessionstore.testing.fork_cases import FORK_CASES
from sessionstore.testing.suite import (
    awkward_json,
    branches,
    closing,
    entries,
    images,
    lines,
    listing,
    lists,
    mutations,
    persistence,
    repositories,
    reservations,
    scopes,
    sessions,
    sharing,
    texts,
    transactions,
    usage,
    values,
)

_STORAGE_GROUPS: Final = (
    entries.group,
    values.group,
    lists.group,
    scopes.group,
    transactions.group,
    awkward_json.group,
    usage.group,
    branches.group,
    texts.group,
    lines.group,
)

_REPOSITORY_GROUPS: Final = (
    repositories.group,
    reservations.group,
    listing.group,
    sessions.group,
    mutations.group,
    closing.group,
    persistence.group,
    sharing.group,
    images.group,
)

storage_conformance: Final[tuple[Case[StorageFactory], ...]] = tuple(
    case for group in _STORAGE_GROUPS for case in group.cases
)
"""Cases for the store of one session."""

repository_conformance: Final[tuple[Case[RepositoryFactory], ...]] = (
    *(case for group in _REPOSITORY_GROUPS for case in group.cases),
    *FORK_CASES,
)
"""Cases for repositories and their sessions, forks included."""
