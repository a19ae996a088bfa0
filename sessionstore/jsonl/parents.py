"""From the path of a parent's file, which older headers name, to the parent's id."""

from __future__ import annotations

from pathlib import Path

from sessionstore.errors import UnsupportedStorageVersionError
from sessionstore.jsonl.codec import LineError
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.headers import read_header


def resolve_parent(parent_path: str | None, path: str) -> tuple[str | None, str | None]:
    """The id of the parent session where its header can be read, else the path as it stands.

    A relative path is taken from the directory of ``path``, the file that names it.
    """
    if parent_path is None:
        return None, None
    parent = Path(path).parent / parent_path
    try:
        if parent.is_file():  # asked before it is opened: the path may name anything
            with SourceFile(str(parent)) as source:
                line = source.first_line()
                if line is not None:
                    return read_header(line, source.path, lenient=True).id, None
    except (OSError, LineError, UnsupportedStorageVersionError):  # StorageError is an OSError
        pass  # the path is all that is known
    return None, parent_path
