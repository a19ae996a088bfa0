"""Seeds from real files, and changes of them that tear at what a reader takes for granted."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

VECTORS: Final = Path(__file__).parents[1] / "vectors"
LARGEST_SEED: Final = 24 << 10

TOKENS: Final = [
    *(bytes([mark]) for mark in b'\n\r\0\xff\x7f\x80"\\{}[],: \t-'),
    *(b"\xef\xbb\xbf", b"null", b"true", b"[]", b"{}", b'""', b"-1", b"-0", b"1e999", b"1e-999", b"NaN"),
    *(b"9" * 400, b"9" * 5000, b"[" * 600, b"[" * 100_000, b'{"a":' * 600, b"\\ud83d", b'"\\u0000"'),
    *(b'"seq":1', b'"seq":9007199254740991', b'"kind":"scope"', b'"op":"retire"', b'"scopeId":"op"'),
    *(b'"parentId":"a"', b'"type":"compaction"', b'"v":4', b'"version":"3"', b'"nextSeq":9007199254740991'),
    *(b"\xe2\x80\xa8", b"\xed\xa0\x80", b"\xc0\x80", b"../../x", b"'; DROP TABLE sessions; --"),
]
_NUMBERS: Final = [
    b"0",
    b"-1",
    b"1",
    b"2147483648",
    b"9007199254740991",
    b"9007199254740992",
    b"1" * 30,
    b"1.5",
]
_DIGITS: Final = re.compile(rb"\d+")


class Seed(NamedTuple):
    """A main file and its sidecars by file name."""

    name: str
    main: bytes
    sidecars: dict[str, bytes]


def seeds() -> list[Seed]:
    """The vectors; of large ones the first lines."""
    found: list[Seed] = []
    for path in sorted(VECTORS.rglob("*.jsonl")):
        data = path.read_bytes()
        if len(data) > LARGEST_SEED:
            data = data[: data.rfind(b"\n", 0, LARGEST_SEED) + 1]
        if data:
            folder = Path(f"{path}.scopes")
            sidecars = {file.name: file.read_bytes() for file in sorted(folder.glob("*"))}
            found.append(Seed(path.stem, data, sidecars))
    return found


class Mutator:
    """Changes data a few times; the same for the same seed."""

    def __init__(self, chance: random.Random, others: list[bytes]) -> None:
        self._chance = chance
        self._others = others
        self._ways: list[Callable[[bytes], bytes]] = [
            self._flip,
            self._insert,
            self._replace,
            self._delete,
            self._repeat,
            self._number,
            self._lines,
            self._splice,
            self._cut,
        ]

    def mutate(self, data: bytes) -> bytes:
        """A few changes, mostly one or two."""
        for _ in range(min(8, 1 + int(self._chance.expovariate(0.8)))):
            data = self._chance.choice(self._ways)(data)
        return data

    def _span(self, data: bytes) -> tuple[int, int]:
        start = self._chance.randrange(len(data) + 1)
        return start, min(len(data), start + int(self._chance.expovariate(0.05)))

    def _flip(self, data: bytes) -> bytes:
        if not data:
            return data
        at = self._chance.randrange(len(data))
        return data[:at] + bytes([data[at] ^ 1 << self._chance.randrange(8)]) + data[at + 1 :]

    def _insert(self, data: bytes) -> bytes:
        start, _ = self._span(data)
        return data[:start] + self._chance.choice(TOKENS) + data[start:]

    def _replace(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + self._chance.choice(TOKENS) + data[end:]

    def _delete(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:start] + data[end:]

    def _repeat(self, data: bytes) -> bytes:
        start, end = self._span(data)
        return data[:end] + data[start:end] * self._chance.choice((1, 2, 50)) + data[end:]

    def _number(self, data: bytes) -> bytes:
        numbers = list(_DIGITS.finditer(data))
        if not numbers:
            return data
        found = self._chance.choice(numbers)
        return data[: found.start()] + self._chance.choice(_NUMBERS) + data[found.end() :]

    def _lines(self, data: bytes) -> bytes:
        lines = data.split(b"\n")
        a, b = self._chance.randrange(len(lines)), self._chance.randrange(len(lines))
        match self._chance.randrange(4):
            case 0:
                lines[a], lines[b] = lines[b], lines[a]
            case 1:
                lines.insert(a, lines[b])
            case 2:
                del lines[a]
            case _:
                lines[a] = b"[" + lines[a] + b"," + lines[b] + b"]"
        return b"\n".join(lines)

    def _splice(self, data: bytes) -> bytes:
        other = self._chance.choice(self._others)
        start, _ = self._span(data)
        at, end = self._span(other)
        return data[:start] + other[at : end + 200] + data[start:]

    def _cut(self, data: bytes) -> bytes:
        start, _ = self._span(data)
        return data[:start]
