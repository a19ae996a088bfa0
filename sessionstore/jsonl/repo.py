"""The repository of sessions in JSONL files under one root."""

from __future__ import annotations

import builtins
import os
import shutil
from collections.abc import Callable, Generator, Hashable
from contextlib import ExitStack, contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from sessionstore.errors import (
    ForeignSessionError,
    InvalidQueryError,
    SessionExistsError,
    SessionStoreError,
    StorageError,
)
from sessionstore.folders import AloneIn, remove_abandoned
from sessionstore.fork import ForkImage
from sessionstore.ids import Clock, IdGenerator
from sessionstore.image import ImageHeader, SessionImage, SessionSnapshot
from sessionstore.jsonl.checking import check_files, repair_files
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.finding import Folders, Found, peek
from sessionstore.jsonl.headers import FileHeader
from sessionstore.jsonl.making import make_empty, make_from_image
from sessionstore.jsonl.publish import (
    TEMPORARY_SUFFIX,
    UNFINISHED,
    NewFile,
    exists,
    failed,
    remove,
    sync_directory,
    temporary_beside,
)
from sessionstore.jsonl.recovery import Recovered, recover
from sessionstore.jsonl.repairing import SET_ASIDE_SUFFIX
from sessionstore.jsonl.sidecars import scopes_directory
from sessionstore.jsonl.source import find_header, snapshot_of
from sessionstore.jsonl.storage import JsonlStorage
from sessionstore.metadata import SessionMetadata, not_found
from sessionstore.repository import SessionRef, SessionRepo, page
from sessionstore.storage import StorageBase
from sessionstore.usage import SessionStats

_ATTEMPTS: Final = 10


class _Key(NamedTuple):
    """What a session is reserved by."""

    id: str
    cwd: str


class JsonlSessionRepo(SessionRepo):
    """Sessions in the files of jsonl.md; an id is unique in each ``cwd``.

    With ``fsync`` a commit survives the machine, without it the process. ``clock`` gives Unix ms,
    ``id_generator`` makes the ids. Nothing is made before the first session is.
    """

    def __init__(
        self,
        root: str | PathLike[str],
        *,
        fsync: bool = False,
        clock: Clock | None = None,
        id_generator: IdGenerator | None = None,
    ) -> None:
        super().__init__(clock=clock, id_generator=id_generator)
        self._root = Path(os.path.realpath(root))
        self._folders = Folders(self._root)
        self._fsync = fsync
        # Destinations of forks between their making and their opening. What was just written, and
        # may be large, is read when the session is first used.
        self._fresh: dict[str, SessionMetadata] = {}

    @property
    def container(self) -> str:
        """The root's real path."""
        return str(self._root)

    # -- which session is meant ------------------------------------------------------------------

    def _claim_key(self, session: SessionRef) -> Hashable:
        if isinstance(session, SessionMetadata):
            return _Key(session.id, session.cwd or "")
        found = self._folders.with_id(session)
        if found:
            return _Key(session, self._only(found).header.cwd or "")
        # What is being made right now has no file yet.
        claimed = [key for key in self._claims.claimed() if isinstance(key, _Key) and key.id == session]
        return claimed[0] if len(claimed) == 1 else _Key(session, "")

    def _only(self, found: builtins.list[Found]) -> Found:
        if len(found) > 1:
            places = ", ".join(repr(session.header.cwd or "") for session in found)
            raise InvalidQueryError(
                f"several sessions have the id {found[0].header.id!r}, one each in {places}: "
                "pass the metadata of the one that is meant"
            )
        return found[0]

    def _check_own(self, metadata: SessionMetadata) -> None:
        super()._check_own(metadata)
        own = self._home(metadata)
        if metadata.path not in (None, str(own)) and not self._is_elsewhere(metadata, own):
            raise ForeignSessionError(
                f"session {metadata.id!r} is kept in {own}, not in {metadata.path}: get its metadata anew"
            )

    def _is_elsewhere(self, metadata: SessionMetadata, own: Path) -> bool:
        """Whether a session is in a file under this root that is not named after its id."""
        path = Path(metadata.path or "")
        if path.parent.parent != self._root or exists(own):
            return False
        try:
            found = peek(path)
        except SessionStoreError:
            return False
        return found is not None and _is_of(metadata, found.header)

    def _home(self, metadata: SessionMetadata) -> Path:
        return self._folders.path(metadata.id, metadata.created_at, metadata.cwd)

    def _locate(self, session: SessionRef) -> tuple[Path, Callable[[FileHeader], None]]:
        """The file of a session, and what raises unless its header is that of the session."""
        id = session if isinstance(session, str) else session.id
        if isinstance(session, SessionMetadata):
            path = self._home(session) if session.path is None else Path(session.path)
        else:
            found = self._folders.with_id(session)
            if not found:
                raise not_found(id, self.container)
            path = self._only(found).path

        def accept(header: FileHeader) -> None:
            same = header.id == id if isinstance(session, str) else _is_of(session, header)
            if not same:
                raise not_found(id, self.container)

        return path, accept

    # -- making sessions ---------------------------------------------------------------------------

    def _create(self, metadata: SessionMetadata) -> tuple[SessionMetadata, StorageBase]:
        def make(path: Path, header: ImageHeader) -> None:
            make_empty(path, header, fsync=self._fsync)

        placed = self._make(metadata, make)
        try:
            return self._open(placed)
        except BaseException:
            path = self._home(metadata)
            remove(path)
            with suppress(OSError):
                path.parent.rmdir()
            raise

    def _load(self, metadata: SessionMetadata, image: SessionImage) -> SessionMetadata:
        def make(path: Path, header: ImageHeader) -> None:
            make_from_image(path, header, image, fsync=self._fsync)

        made = self._make(metadata, make)
        if isinstance(image, ForkImage):
            self._fresh[made.path or ""] = made
        return made

    def _make(self, metadata: SessionMetadata, make: Callable[[Path, ImageHeader], None]) -> SessionMetadata:
        path = self._home(metadata)
        taken = self._folders.takes(metadata.id, metadata.cwd)
        if taken is not None:
            raise SessionExistsError(f"session {metadata.id!r} exists: {taken}")
        header = ImageHeader(
            metadata.id,
            metadata.created_at,
            1,
            SessionStats(),
            metadata.parent_session_id,
            metadata.cwd,
            metadata.legacy_parent_session_path,
        )
        with _folder(path.parent, fsync=self._fsync):
            make(path, header)
        modified_at = metadata.created_at
        with suppress(OSError):  # the session is made, whatever becomes of it now
            modified_at = path.stat().st_mtime_ns // 1_000_000
        return msgspec.structs.replace(metadata, path=str(path), modified_at=modified_at)

    # -- finding sessions --------------------------------------------------------------------------

    def _open(self, session: SessionRef) -> tuple[SessionMetadata, StorageBase]:
        path, accept = self._locate(session)

        def read() -> Recovered:
            with self._missing_is_not_found(session):
                return recover(str(path), self._id_generator, fsync=self._fsync, accept=accept)

        if isinstance(session, SessionMetadata) and self._fresh.pop(str(path), None) is session:
            return session, self._storage(session, read)
        found = read()
        header = found.header
        metadata = SessionMetadata(
            id=header.id,
            created_at=header.created_at,
            container=self.container,
            parent_session_id=header.parent_session_id,
            cwd=header.cwd,
            path=str(path),
            modified_at=found.modified_at,
            legacy_parent_session_path=header.legacy_parent_session_path,
        )
        return metadata, self._storage(metadata, lambda: found)

    def _storage(self, metadata: SessionMetadata, load: Callable[[], Recovered]) -> StorageBase:
        return JsonlStorage(
            metadata, load, fsync=self._fsync, clock=self._clock, id_generator=self._id_generator
        )

    @contextmanager
    def _missing_is_not_found(self, session: SessionRef) -> Generator[None, None, None]:
        try:
            yield
        except StorageError as error:
            if isinstance(error.__cause__, (FileNotFoundError, NotADirectoryError)):
                id = session if isinstance(session, str) else session.id
                raise not_found(id, self.container) from None
            raise

    def _get(self, id: str) -> SessionMetadata:
        found = self._folders.with_id(id)
        if not found:
            raise not_found(id, self.container)
        return self._only(found).metadata(self.container)

    def _list(
        self, cwd: str | None, limit: int | None, before: SessionMetadata | None
    ) -> builtins.list[SessionMetadata]:
        found = [session.metadata(self.container) for session in self._folders.sessions(cwd)]
        return page(found, cwd, limit, before)

    # -- the rest of their lives -------------------------------------------------------------------

    def _delete(self, session: SessionRef) -> None:
        path, accept = self._locate(session)
        found = peek(path)
        if found is None:
            id = session if isinstance(session, str) else session.id
            raise not_found(id, self.container)
        accept(found.header)
        self._fresh.pop(str(path), None)
        with AloneIn(path.parent):  # or the sidecars could be those of a session that is loaded there
            self._remove_files(path, found.header.id)
        with suppress(OSError):
            path.parent.rmdir()  # unless other sessions are there
            return
        if self._fsync:
            sync_directory(path.parent)

    def _remove_files(self, path: Path, id: str) -> None:
        try:
            path.unlink()
        except FileNotFoundError:
            raise not_found(id, self.container) from None
        except OSError as error:
            raise failed("remove", path, error) from error
        for suffix in (TEMPORARY_SUFFIX, SET_ASIDE_SUFFIX):
            remove(path.with_name(path.name + suffix))
        directory = scopes_directory(str(path))
        try:
            shutil.rmtree(directory)
        except FileNotFoundError:
            pass
        except OSError as error:
            raise StorageError(
                f"session {id!r} is deleted, but {directory} could not be removed: {error.strerror or error}"
            ) from error

    @contextmanager
    def _snapshot(self, session: SessionRef) -> Generator[SessionSnapshot, None, None]:
        path, accept = self._locate(session)
        with ExitStack() as reading:
            with self._missing_is_not_found(session):
                source = reading.enter_context(SourceFile(str(path)))
            header = find_header(source)
            accept(header)
            yield snapshot_of(source, header, reading, self._id_generator, with_adjustment=True)

    # -- checking ------------------------------------------------------------------------------------

    def _check_container(self) -> builtins.list[str]:
        """Files that are called like sessions and are none, or cannot be read, or lie elsewhere.

        A file under a temporary name belongs to a writer that works now or was stopped: no damage.
        """
        problems: builtins.list[str] = []
        for path in self._folders.files():
            try:
                found = peek(path)
            except SessionStoreError as error:
                problems.append(str(error))
                continue
            if found is not None and not self._folders.is_home(found):
                header = found.header
                home = self._folders.path(header.id, header.created_at, header.cwd)
                problems.append(f"{path}: holds session {header.id!r}, which belongs in {home}")
        return problems

    def _repair_container(self) -> builtins.list[str]:
        return [line for folder in self._folders.folders() for line in remove_abandoned(folder, UNFINISHED)]

    def _check_session(self, session: SessionRef) -> builtins.list[str]:
        path, accept = self._locate(session)
        with self._missing_is_not_found(session), SourceFile(str(path)) as source:
            header = find_header(source)
            accept(header)
            return check_files(source, header, self._id_generator)

    def _repair_session(self, session: SessionRef) -> builtins.list[str]:
        """What cannot be read is set aside; the rest opening does: torn tails, dead sidecars."""
        path, accept = self._locate(session)
        with self._missing_is_not_found(session), SourceFile(str(path)) as source:
            header = find_header(source)
            accept(header)
            done = repair_files(source, header, self._id_generator)
        _, storage = self._open(session)
        storage.close()
        return done

    def _release(self) -> None:
        """Each session's files were closed with its handle."""


def _is_of(metadata: SessionMetadata, header: FileHeader) -> bool:
    return (metadata.id, metadata.created_at, metadata.cwd) == (header.id, header.created_at, header.cwd)


@contextmanager
def _folder(path: Path, *, fsync: bool) -> Generator[None, None, None]:
    """Make a folder where there is none, and keep it; what was made goes when the block fails."""
    made: builtins.list[Path] = []
    try:
        keeper = _kept(path, made, fsync=fsync)
        try:
            yield
        finally:
            keeper.discard()
    except BaseException:
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        raise


def _kept(path: Path, made: builtins.list[Path], *, fsync: bool) -> NewFile:
    """A file that keeps the folder from being removed with its last session, by whoever deletes that."""
    for _ in range(_ATTEMPTS):
        _make_folders(path, made, fsync=fsync)
        try:
            return NewFile(temporary_beside(path / "new"))
        except StorageError as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
    raise StorageError(f"cannot write to {path}: it is removed again and again")


def _make_folders(path: Path, made: builtins.list[Path], *, fsync: bool) -> None:
    try:
        path.mkdir()
    except FileExistsError:
        return
    except FileNotFoundError:
        _make_folders(path.parent, made, fsync=fsync)
        _make_folders(path, made, fsync=fsync)
        return
    except OSError as error:
        raise failed("make", path, error) from error
    made.append(path)
    if fsync:
        sync_directory(path.parent)
