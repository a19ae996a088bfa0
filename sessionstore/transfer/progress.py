"""How long work tells where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sessionstore.image import SessionImage
from sessionstore.records import EntryRecord, Record


class Progress:
    """Told of what is being worked on. This one does nothing; override what you want to show."""

    def begin(self, name: str) -> None:
        """The next file or session, by name, is being worked on."""

    def advance(self) -> None:
        """One more record was read."""


class Counted(Iterator[Record]):
    """The records of an image, told to a progress and counted as they are read."""

    def __init__(self, image: SessionImage, progress: Progress) -> None:
        self.image: Final = SessionImage(image.header, self)
        self.records = 0
        self.entries = 0
        self._source: Final = image.records
        self._progress: Final = progress

    def __next__(self) -> Record:
        record = next(self._source)
        self.records += 1
        self.entries += isinstance(record, EntryRecord)
        self._progress.advance()
        return record
