"""Which sessions a repository has open or is working on (repository.md section 2).

A claim is kept for a session from the first moment of create, open, fork (as the destination) and
delete until that work is over, or until the handle that came of it is closed. Who comes second
fails at once.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Generator, Hashable
from contextlib import contextmanager
from typing import TypeAlias, cast

from sessionstore.errors import SessionAlreadyOpenError, SessionExistsError, SessionStoreError
from sessionstore.session import Session
from sessionstore.storage import StorageBase


class OpenSession:
    """A claim by an open handle."""

    __slots__ = ("session", "storage")

    def __init__(self, session: Session, storage: StorageBase) -> None:
        self.session = session
        self.storage = storage


class _Reservation:
    """A claim by work that is under way.

    Only the work itself keeps it alive, so that it ends with the work, whatever interrupts that.
    """

    __slots__ = ("__weakref__",)


_Claim: TypeAlias = OpenSession | weakref.ref[_Reservation]


class Claims:
    """The claims of one repository, by what identifies a session there."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._claims: dict[Hashable, _Claim] = {}

    @contextmanager
    def reserve(self, key: Hashable, *, to_create: bool = False) -> Generator[None, None, None]:
        """Keep a session for the length of the block.

        Raises ``SessionExistsError`` (``to_create``) or ``SessionAlreadyOpenError`` when it is
        claimed already.
        """
        reservation = _Reservation()
        claim = weakref.ref(reservation)
        try:
            with self._guard:
                other = self._claims.get(key)
                if other is not None and _holds(other):
                    raise _taken(key, other, to_create)
                self._claims[key] = claim
            yield
        finally:
            with self._guard:
                if self._claims.get(key) is claim:
                    del self._claims[key]

    def hold(self, key: Hashable, session: Session, storage: StorageBase) -> None:
        """Turn the reservation into the claim of an open handle."""
        with self._guard:
            self._claims[key] = OpenSession(session, storage)

    def forget(self, key: Hashable, session: Session) -> None:
        """End the claim of a handle that was closed."""
        with self._guard:
            claim = self._claims.get(key)
            if isinstance(claim, OpenSession) and claim.session is session:
                del self._claims[key]

    def open_at(self, key: Hashable) -> OpenSession | None:
        """The open handle of a session, or None; what is merely reserved is not open."""
        with self._guard:
            claim = self._claims.get(key)
        return claim if isinstance(claim, OpenSession) else None

    def claimed(self) -> list[Hashable]:
        """What is claimed right now."""
        with self._guard:
            return [key for key, claim in self._claims.items() if _holds(claim)]

    def open_sessions(self) -> list[Session]:
        """Every session that is open now."""
        with self._guard:
            return [claim.session for claim in self._claims.values() if isinstance(claim, OpenSession)]


def _holds(claim: _Claim) -> bool:
    return isinstance(claim, OpenSession) or claim() is not None


def _taken(key: Hashable, claim: _Claim, to_create: bool) -> SessionStoreError:
    name = " of ".join(repr(part) for part in _parts(key) if part != "")
    if to_create:
        state = "open" if isinstance(claim, OpenSession) else "reserved by work that is under way"
        return SessionExistsError(f"session {name} exists: it is {state}")
    state = "open" if isinstance(claim, OpenSession) else "being worked on"
    return SessionAlreadyOpenError(f"session {name} is {state} in this repository; close it first")


def _parts(key: Hashable) -> tuple[object, ...]:
    return cast("tuple[object, ...]", key) if isinstance(key, tuple) else (key,)
