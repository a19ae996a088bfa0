"""A session file of a root that no repository at hand has."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from sessionstore.errors import StorageError
from sessionstore.ids import Uuid7Generator
from sessionstore.image import SessionSnapshot
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.source import find_header, snapshot_of
from sessionstore.metadata import SessionMetadata, not_found


@contextmanager
def snapshot_of_session_file(path: str, metadata: SessionMetadata) -> Generator[SessionSnapshot, None, None]:
    """A read-only snapshot of the session of ``metadata`` in exactly the file at ``path``.

    Raises ``SessionNotFoundError`` when there is no such file or it holds another session.
    """
    with ExitStack() as opening:
        try:
            source = opening.enter_context(SourceFile(path))
        except StorageError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise not_found(metadata.id, path) from None
            raise
        header = find_header(source)
        if (header.id, header.created_at) != (metadata.id, metadata.created_at):
            raise not_found(metadata.id, path)
        yield snapshot_of(source, header, opening, Uuid7Generator())
