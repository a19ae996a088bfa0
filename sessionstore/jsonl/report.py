"""What a lenient import forgave a file (jsonl.md section 5)."""

from __future__ import annotations

from collections import Counter

import msgspec


class Mercy(msgspec.Struct, frozen=True):
    """One thing that was forgiven, with its line (from 1). ``kind`` is the same for all of its sort."""

    line: int
    kind: str
    detail: str = ""

    def __str__(self) -> str:
        return f"line {self.line}: {self.kind}{f' ({self.detail})' if self.detail else ''}"


class ImportReport:
    """Everything that was forgiven, in the order of the file."""

    def __init__(self) -> None:
        self.mercies: list[Mercy] = []

    def add(self, line: int, kind: str, detail: str = "") -> None:
        """Note a mercy."""
        self.mercies.append(Mercy(line, kind, detail))

    def counts(self) -> dict[str, int]:
        """How often each kind was forgiven, in the order in which they first came."""
        return dict(Counter(mercy.kind for mercy in self.mercies))
