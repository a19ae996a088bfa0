"""How long work tells where it is."""

from __future__ import annotations

from collections.abc import Iterator

from sessionstore.image import SessionImage
from sessionstore.records import Record


class Progress:
    """Told of what is being worked on. This one does nothing; override what you want to show."""

    def begin(self, name: str) -> None:
        """The next file or session, by name, is being worked on."""

    def advance(self) -> None:
        """One more record was read."""


def watched(image: SessionImage, progress: Progress) -> SessionImage:
    """The same image, whose records are told to ``progress`` as they are read."""
    return SessionImage(image.header, _told(image.records, progress))


def _told(records: Iterator[Record], progress: Progress) -> Iterator[Record]:
    for record in records:
        progress.advance()
        yield record
