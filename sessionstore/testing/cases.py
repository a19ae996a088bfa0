"""What a conformance case is, what it is run with, and the names of capabilities.

Nothing here knows a test framework: ``case.run(factory)`` returns, or raises ``AssertionError``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from sessionstore.repository import SessionRepo
from sessionstore.session import Session
from sessionstore.storage import Storage

CAPABILITIES: Final[Mapping[str, str]] = {
    "persistent": "what was committed is there when the container is opened again",
    "shared_container": "two repositories of one process may have the same container open",
    "visible_across_handles": "what one handle of a session commits, every other handle reads at once",
    "container_wide_ids": "a session id is unique in the whole container",
    "cwd_wide_ids": "a session id is unique in each cwd only",
    "path_container": "the container is a file or folder, and its name is the path",
    "session_file": "each session has a file of its own, named by metadata.path",
    "commit_times": "metadata.modified_at is the time of the last commit by the store's clock",
    "case_sensitive_ids": "ids that differ in case only can be used side by side",
    "fork": "the platform has os.fork()",
    "descriptors": "the platform shows the process's open descriptors under /proc/self/fd",
}
"""Every capability that a case may require, and what a factory promises by declaring it."""


class ManualClock:
    """A clock in Unix ms that stands still until it is set."""

    def __init__(self, now: int = 1_700_000_000_000) -> None:
        self.now = now

    def __call__(self) -> int:
        """What it was set to."""
        return self.now


class StorageFactory(Protocol):
    """Gives fresh stores of one kind."""

    @property
    def capabilities(self) -> frozenset[str]:
        """Names from :data:`CAPABILITIES`."""
        ...

    @property
    def clock(self) -> ManualClock:
        """The clock of every store that this factory gives."""
        ...

    def storage(self) -> AbstractContextManager[Storage]:
        """The store of a new, empty session; closed at the end of the block."""
        ...


class RepositoryFactory(Protocol):
    """Gives repositories of one kind. The case that asks for a repository closes it."""

    @property
    def capabilities(self) -> frozenset[str]:
        """Names from :data:`CAPABILITIES`."""
        ...

    @property
    def clock(self) -> ManualClock:
        """The clock of every repository that this factory gives."""
        ...

    def open(self) -> SessionRepo:
        """A new repository on the factory's container.

        The container is the same at each call and may hold sessions of other cases; where the
        kind is not persistent, each call gives a container of its own.
        """
        ...

    def open_other(self) -> SessionRepo:
        """A repository on a container that nobody has used before and nothing has made yet."""
        ...


class _Closable(Protocol):
    def close(self) -> object: ...


_C = TypeVar("_C", bound=_Closable)


@contextmanager
def trying(resource: _C) -> Generator[_C, None, None]:
    """Close ``resource`` at the end of the block, but after a failure without waiting for it.

    What is broken may hang, and the failure of the case would never be told.
    """
    try:
        yield resource
    except BaseException:
        threading.Thread(target=_close_quietly, args=[resource], daemon=True).start()
        raise
    resource.close()


def _close_quietly(resource: _Closable) -> None:
    with suppress(Exception):  # the case has failed already; its failure is what counts
        resource.close()


_F_contra = TypeVar("_F_contra", contravariant=True)
_F = TypeVar("_F")
_Body = TypeVar("_Body", bound="Callable[..., None]")


class Case(msgspec.Struct, Generic[_F_contra], frozen=True):
    """One rule of the contract, proven on what a factory gives.

    ``rule`` is the rule in words; ``requires`` the capabilities without which it means nothing.
    """

    group: str
    name: str
    rule: str
    requires: frozenset[str]
    body: Callable[[_F_contra], None]

    def run(self, factory: _F_contra) -> None:
        """Prove the rule. Raises ``AssertionError`` where the store breaks it."""
        self.body(factory)

    def offered_to(self, capabilities: frozenset[str]) -> bool:
        """Whether a factory with these capabilities is to run the case."""
        return self.requires <= capabilities


class StorageGroup:
    """Collects the cases of one group of the storage suite."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.cases: Final[list[Case[StorageFactory]]] = []

    def case(self, body: Callable[[Storage], None]) -> Callable[[Storage], None]:
        """Register a case that needs one fresh store."""

        def run(factory: StorageFactory) -> None:
            with factory.storage() as store:
                body(store)

        self.cases.append(_case(self.name, body, (), run))
        return body

    def clock_case(
        self, body: Callable[[Storage, ManualClock], None]
    ) -> Callable[[Storage, ManualClock], None]:
        """Register a case that needs a fresh store and its clock."""

        def run(factory: StorageFactory) -> None:
            with factory.storage() as store:
                body(store, factory.clock)

        self.cases.append(_case(self.name, body, (), run))
        return body


class RepositoryGroup:
    """Collects the cases of one group of the repository suite."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self.cases: Final[list[Case[RepositoryFactory]]] = []

    def case(
        self, *requires: str
    ) -> Callable[[Callable[[RepositoryFactory], None]], Callable[[RepositoryFactory], None]]:
        """Register a case that opens its repositories itself."""

        def register(body: Callable[[RepositoryFactory], None]) -> Callable[[RepositoryFactory], None]:
            self.cases.append(_case(self.name, body, requires, body))
            return body

        return register

    def session_case(
        self, *requires: str
    ) -> Callable[[Callable[[Session], None]], Callable[[Session], None]]:
        """Register a case that needs one new session."""

        def register(body: Callable[[Session], None]) -> Callable[[Session], None]:
            def run(factory: RepositoryFactory) -> None:
                with trying(factory.open()) as repo, trying(repo.create()) as session:
                    body(session)

            self.cases.append(_case(self.name, body, requires, run))
            return body

        return register


def _case(
    group: str, body: Callable[..., None], requires: Iterable[str], run: Callable[[_F], None]
) -> Case[_F]:
    needed = frozenset(requires)
    unknown = needed - CAPABILITIES.keys()
    if unknown:
        raise ValueError(f"{body.__name__} requires unknown capabilities {sorted(unknown)}")
    rule = " ".join((body.__doc__ or "").split())
    return Case(group, body.__name__.replace("_", "-"), rule, needed, run)
