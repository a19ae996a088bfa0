"""The numbers of the lines of a damaged file: which lines fit each other, what the others may have had.

Lines fit when their numbers ascend in the order of the file. The most lines that do stay: so a
single number that was damaged is the one that is lost, and not all that come after it.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

from sessionstore.jsonl.codec import Line, LineError, decode_transaction
from sessionstore.jsonl.files import Block, SourceFile
from sessionstore.records import LARGEST_INTEGER

_SEQ: Final = re.compile(rb'"seq"\s*:\s*([0-9]{1,15})(?![0-9])')
_SMALLEST_RECORD: Final = 40
"""Bytes that every record takes at least."""


class Spans:
    """The first and the last number of each line after the header."""

    def __init__(self, source: SourceFile) -> None:
        self.lost: Final[dict[int, str]] = {}
        """Why a line cannot stay, whatever the others say."""

        self.misplaced: Final[set[int]] = set()
        """The lost lines that can be read, but whose numbers do not fit."""

        self._lines = array("q")
        self._firsts = array("q")
        self._lasts = array("q")
        self._said = 0
        self._unreadable: list[tuple[int, int]] = []  # line and how many records it may have held
        for number, line, block in lines_of(source):
            self._add(number, line, is_ascii=block.is_ascii)
        self._highest = max(self._lasts, default=0)
        self._drop_misplaced()

    def _add(self, number: int, line: bytes, *, is_ascii: bool) -> None:
        try:
            records = decode_transaction(line, is_ascii=is_ascii)
            _check_ascending(records)
        except LineError as error:
            self.lost[number] = str(error)
            self._said = max(self._said, max(map(int, _SEQ.findall(line)), default=0))
            self._unreadable.append((number, len(line) // _SMALLEST_RECORD + 1))
            return
        if records:
            self._lines.append(number)
            self._firsts.append(records[0].seq)
            self._lasts.append(records[-1].seq)

    def _drop_misplaced(self) -> None:
        chain = _longest_chain(self._firsts, self._lasts)
        kept = set(chain)
        for at, number in enumerate(self._lines):
            if at not in kept:
                self.misplaced.add(number)
                numbers = f"{self._firsts[at]} to {self._lasts[at]}"
                self.lost[number] = f"the numbers {numbers} do not fit those around them"
        self._lines, self._firsts, self._lasts = (
            array("q", (column[at] for at in chain)) for column in (self._lines, self._firsts, self._lasts)
        )

    def room(self, number: int) -> tuple[int, int]:
        """The lowest and the highest number that a lost line can have had between its neighbours."""
        after = bisect_right(self._lines, number)
        lowest = self._lasts[after - 1] + 1 if after else 1
        highest = self._firsts[after] - 1 if after < len(self._firsts) else LARGEST_INTEGER
        return lowest, highest

    def mark(self) -> int:
        """The highest number that was in the file, as far as can be told.

        Of a line that cannot be read it is what it seems to say, even where that does not fit those
        around it, or as many more as its length has room for.
        """
        mark = max(self._highest, self._said)
        for number, count in self._unreadable:
            lowest, highest = self.room(number)
            mark = max(mark, min(max(mark, lowest) + count, highest))
        return min(mark, LARGEST_INTEGER - 1)


def lines_of(source: SourceFile) -> Iterator[tuple[int, bytes, Block]]:
    """The complete lines after the header: the number, the line, and the block that it stands in."""
    for block in source.body():
        for number, line in enumerate(block.lines, block.first_line):
            yield number, line, block


def _check_ascending(records: Sequence[Line]) -> None:
    last = 0
    for record in records:
        if record.seq <= last:
            raise LineError(f"number {record.seq} comes after {last}")
        last = record.seq


def _longest_chain(firsts: Sequence[int], lasts: Sequence[int]) -> list[int]:
    """The places of the most spans that ascend; among equals the earlier span is taken."""
    ends = array("q")  # the lowest end of a chain, by its length less one
    lengths = array("q")  # of the longest chain up to each span, less one
    for first, last in zip(firsts, lasts, strict=True):
        length = bisect_left(ends, first)
        lengths.append(length)
        if length == len(ends):
            ends.append(last)
        else:
            ends[length] = min(ends[length], last)
    places: list[list[int]] = [[] for _ in ends]
    for at, length in enumerate(lengths):
        places[length].append(at)
    chain: list[int] = []
    end, before = LARGEST_INTEGER + 1, len(lengths)
    for candidates in reversed(places):
        before = next(at for at in candidates if at < before and lasts[at] < end)
        end = firsts[before]
        chain.append(before)
    return chain[::-1]
