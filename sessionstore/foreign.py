"""Session files of containers that no repository at hand has: a fork may read one.

From exactly the path that the metadata names; nothing is looked for and nothing is made. Which
store reads a file is for the layer to say that knows all of them: it sets the reader.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeAlias

from sessionstore.errors import ForeignSessionError
from sessionstore.image import SessionSnapshot
from sessionstore.metadata import SessionMetadata

FileReader: TypeAlias = Callable[[str, SessionMetadata], AbstractContextManager[SessionSnapshot]]
"""Opens the file at a path for reading and proves that it holds the session of the metadata.

Raises ``SessionNotFoundError`` when there is no such file or it holds another session.
"""

_readers: list[FileReader] = []


def set_file_reader(reader: FileReader) -> None:
    """Say who reads session files; the last one set does."""
    _readers[:] = [reader]


def snapshot_of_file(metadata: SessionMetadata) -> AbstractContextManager[SessionSnapshot]:
    """A read-only snapshot of the session in the very file that ``metadata`` names.

    Raises ``ForeignSessionError`` when it names none.
    """
    if metadata.path is None:
        raise ForeignSessionError(
            f"session {metadata.id!r} belongs to {metadata.container} and has no file of its own: "
            "give the repository that it came from as source_repository"
        )
    return _readers[-1](metadata.path, metadata)
