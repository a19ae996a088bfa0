"""A repository in an event loop: the sync repository, held and delegated to."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Generator
from functools import partial
from os import PathLike
from types import TracebackType
from typing import Any, Self, TypeVar

from sessionstore.aio.pending import Opening
from sessionstore.aio.session import AsyncSession
from sessionstore.aio.workers import DEFAULT_WORKERS, Workers
from sessionstore.errors import MutationError
from sessionstore.fork import Fork
from sessionstore.ids import IdGenerator
from sessionstore.metadata import SessionMetadata
from sessionstore.opening import open_repository as open_sync_repository
from sessionstore.repository import SessionRef, SessionRepo
from sessionstore.session import Session

R = TypeVar("R")


def open_repository(
    url: str | PathLike[str], *, max_workers: int = DEFAULT_WORKERS, **options: Any
) -> AsyncSessionRepo:
    """The repository of a store URL; see :func:`sessionstore.open_repository`.

    It connects to nothing yet, so it may be awaited but need not be. At most ``max_workers`` of
    its calls run at the same time.
    """
    return AsyncSessionRepo(open_sync_repository(url, **options), max_workers=max_workers)


class AsyncSessionRepo:
    """A container of sessions. An async context manager, over any sync repository.

    Each call costs one hand-over to a thread of this repository; there are at most ``max_workers``
    of them, made when they are needed. The handle belongs to no loop: it may be used in one after
    another. In a child made by ``os.fork()`` it raises as the sync repository does.
    """

    def __init__(self, repository: SessionRepo, *, max_workers: int = DEFAULT_WORKERS) -> None:
        self._repository = repository
        self._workers = Workers(max_workers)

    def __await__(self) -> Generator[None, None, Self]:
        return self
        yield  # a generator that is over at once

    @property
    def container(self) -> str:
        """The container's canonical name, without credentials."""
        return self._repository.container

    @property
    def id_generator(self) -> IdGenerator:
        """Makes ids for sessions, entries and usage rows."""
        return self._repository.id_generator

    def create(
        self,
        *,
        id: str | None = None,
        parent_session_id: str | None = None,
        cwd: str | None = None,
    ) -> Opening[AsyncSession]:
        """See :meth:`SessionRepo.create <sessionstore.SessionRepo.create>`.

        Await it, or enter it with ``async with``. When it is cancelled there is no such session.
        """
        create = partial(self._repository.create, id=id, parent_session_id=parent_session_id, cwd=cwd)
        return Opening(self._open(id, create, self._unmake))

    def open(self, session: SessionRef) -> Opening[AsyncSession]:
        """See :meth:`SessionRepo.open <sessionstore.SessionRepo.open>`.

        Await it, or enter it with ``async with``. When it is cancelled the session is not open.
        """
        return Opening(self._open(_id(session), partial(self._repository.open, session), Session.close))

    def fork(
        self,
        source: SessionRef,
        fork: Fork,
        *,
        id: str | None = None,
        source_repository: AsyncSessionRepo | SessionRepo | None = None,
    ) -> Opening[AsyncSession]:
        """See :meth:`SessionRepo.fork <sessionstore.SessionRepo.fork>`.

        Await it, or enter it with ``async with``. When it is cancelled there is no destination.
        """
        if isinstance(source_repository, AsyncSessionRepo):
            source_repository = source_repository._repository
        forking = partial(self._repository.fork, source, fork, id=id, source_repository=source_repository)
        return Opening(self._open(id, forking, self._unmake))

    async def get(self, id: str) -> SessionMetadata:
        """See :meth:`SessionRepo.get <sessionstore.SessionRepo.get>`."""
        return await self._run(id, partial(self._repository.get, id))

    async def delete(self, session: SessionRef) -> None:
        """See :meth:`SessionRepo.delete <sessionstore.SessionRepo.delete>`.

        Cancelling this does not stop it once a worker has it.
        """
        await self._run(_id(session), partial(self._repository.delete, session))

    async def close(self) -> None:
        """See :meth:`SessionRepo.close <sessionstore.SessionRepo.close>`.

        Cancelling this does not stop it. The threads end with it.
        """
        if self._workers.usable:
            await self._workers.run_apart(self._close)
        else:
            self._repository.close()

    def _close(self) -> None:
        self._workers.finish()  # what a cancelled call made is unmade while the repository is open
        try:
            self._repository.close()
        except MutationError:  # nothing was closed
            raise
        except BaseException:
            self._workers.shut_down()
            raise
        self._workers.shut_down()

    async def _open(
        self, id: str | None, open: Callable[[], Session], undo: Callable[[Session], object]
    ) -> AsyncSession:
        return AsyncSession(await self._run(id, open, undo), self._workers)

    async def _run(
        self, id: str | None, call: Callable[[], R], undo: Callable[[R], object] | None = None
    ) -> R:
        if id is not None:
            await self._workers.finished(id)
        return await self._workers.run(call, id=id, undo=undo)

    def _unmake(self, made: Session) -> None:
        made.close()
        self._repository.delete(made.metadata)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    # Last, because the name hides the type ``list`` in what follows.
    async def list(
        self,
        *,
        cwd: str | None = None,
        limit: int | None = None,
        before: SessionMetadata | None = None,
    ) -> builtins.list[SessionMetadata]:
        """See :meth:`SessionRepo.list <sessionstore.SessionRepo.list>`."""
        listing = partial(self._repository.list, cwd=cwd, limit=limit, before=before)
        return await self._workers.run(listing)


def _id(session: SessionRef) -> str:
    # What is neither is refused by the sync repository.
    return session.id if isinstance(session, SessionMetadata) else session
