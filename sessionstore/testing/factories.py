"""Ready-made factories: stores out of repositories, repositories out of URLs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from typing import Any

from sessionstore.opening import open_repository
from sessionstore.repository import SessionRepo
from sessionstore.storage import Storage
from sessionstore.testing.cases import CAPABILITIES, ManualClock, RepositoryFactory, trying
from sessionstore.testing.platform import platform_capabilities


class UrlRepositories:
    """A :class:`RepositoryFactory` over store URLs.

    ``new_url`` gives the URL of an empty store in a place of its own, at each call another.
    ``options`` go to the repositories; ``capabilities`` are those of the kind of store.
    """

    def __init__(self, new_url: Callable[[], str], capabilities: Collection[str], **options: Any) -> None:
        unknown = set(capabilities) - CAPABILITIES.keys()
        if unknown:
            raise ValueError(f"unknown capabilities {sorted(unknown)}; known are {sorted(CAPABILITIES)}")
        self.capabilities = frozenset(capabilities) | platform_capabilities()
        self.clock = ManualClock()
        self._new_url = new_url
        self._options = options
        self._url: str | None = None

    def open(self) -> SessionRepo:
        """See :meth:`RepositoryFactory.open`."""
        if self._url is None:
            self._url = self._new_url()
        return self._open(self._url)

    def open_other(self) -> SessionRepo:
        """See :meth:`RepositoryFactory.open_other`."""
        return self._open(self._new_url())

    def _open(self, url: str) -> SessionRepo:
        return open_repository(url, clock=self.clock, **self._options)


class RepositoryStorages:
    """A :class:`StorageFactory` that takes its stores from new sessions of a repository.

    ``wrap`` puts something around each store, such as one of the wrappers of this package.
    """

    def __init__(
        self, repositories: RepositoryFactory, wrap: Callable[[Storage], Storage] | None = None
    ) -> None:
        self._repositories = repositories
        self._wrap = wrap

    @property
    def capabilities(self) -> frozenset[str]:
        """See :meth:`StorageFactory.capabilities`."""
        return self._repositories.capabilities

    @property
    def clock(self) -> ManualClock:
        """See :meth:`StorageFactory.clock`."""
        return self._repositories.clock

    @contextmanager
    def storage(self) -> Generator[Storage, None, None]:
        """See :meth:`StorageFactory.storage`."""
        with trying(self._repositories.open()) as repository, trying(repository.create()) as session:
            yield session.storage if self._wrap is None else self._wrap(session.storage)
