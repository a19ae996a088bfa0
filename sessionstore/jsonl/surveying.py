"""Which lines of damaged files can stay, and why the others cannot (jsonl.md sections 2 and 3).

A line stays wholly or not at all, as a transaction does, and nothing of it is changed. What cannot
stay is what a replay refuses: lines that are no transactions, numbers that do not fit those around
them, and whatever depends on such a line, like the children of a lost entry. Retirements are the
exception: one that can be read and fits stays, even where the rest of its line cannot.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec
from msgspec import Raw

from sessionstore import json_text
from sessionstore.builtin import BRANCH_TIP
from sessionstore.errors import CorruptStorageError, InvalidScopeError
from sessionstore.jsonl.codec import (
    EntryLine,
    Line,
    LineError,
    ListLine,
    PlainEntry,
    RetireLine,
    UsageLine,
    ValueLine,
    decode_transaction,
)
from sessionstore.jsonl.files import Block, SourceFile
from sessionstore.jsonl.replay import MainReplay, ScopeReplay, Slot, Transactions
from sessionstore.jsonl.spans import Spans, lines_of
from sessionstore.records import LARGEST_INTEGER
from sessionstore.scope import ephemeral_scope


class LostLine(msgspec.Struct, frozen=True):
    """A line that cannot stay. ``kept`` are the retirements in it, which do."""

    number: int
    size: int
    reason: str
    kept: Sequence[RetireLine] = ()


class Doubt(msgspec.Struct, frozen=True):
    """A lost line that may have retired a scope: any (None) or one, with no higher number than this."""

    line: int
    scope_id: str | None
    highest: int


class MainSurvey(msgspec.Struct):
    """What a main file comes to when it is read past its damage."""

    lost: list[LostLine]
    transactions: Transactions
    """The numbers of the lines that stay."""

    retirements: dict[str, int]
    mark: int
    """No number that was in the file is higher, as far as can be told."""

    doubts: list[Doubt] = []
    lost_ids: list[str] = []
    """Entries and ledger rows in the lost lines, as far as those can be read."""

    dangling: dict[str, str] = {}
    """The entry of each branch that stands at one which is not there."""


class ScopeSurvey(msgspec.Struct):
    """The same of a sidecar. ``first_live`` is the lowest number above the retirement; 0 for none."""

    lost: list[LostLine]
    mark: int
    first_live: int = 0


def survey_main(source: SourceFile) -> MainSurvey:
    """Find out which lines of a format-4 main file can stay. Its header was read before."""
    spans = Spans(source)
    keeper = _Keeper()
    replay = MainReplay(keeper, source.path)
    survey = MainSurvey([], replay.transactions, {}, spans.mark())
    for number, line, block in lines_of(source):
        reason = spans.lost.get(number) or _refusal(replay, Block(number, 0, [line], block.is_ascii))
        if reason is None:
            keeper.keep()
            continue
        keeper.forget()
        records = _records(line)
        retired = [record for record in records if isinstance(record, RetireLine) and _is_scope(record)]
        kept = [] if number in spans.misplaced else retired
        survey.lost.append(LostLine(number, len(line), reason, kept))
        survey.lost_ids += [r.id for r in records if isinstance(r, (PlainEntry, EntryLine, UsageLine))]
        survey.doubts += _doubts(spans, number, retired)
        if kept:
            replay.retirements.update((record.scope_id, record.seq) for record in kept)
            replay.transactions.append(kept[0].seq, kept[-1].seq)
    survey.retirements = replay.retirements
    survey.dangling = keeper.dangling()
    return survey


def _refusal(replay: MainReplay, block: Block) -> str | None:
    """Why a replay does not take a line."""
    try:
        replay.feed(block)
    except CorruptStorageError as error:
        return str(error).removeprefix(f"{error.path}: line {error.line}: ")
    return None


def _is_scope(record: RetireLine) -> bool:
    try:
        ephemeral_scope(record.scope_id)
    except InvalidScopeError:
        return False  # no sidecar can be called so
    return True


def _records(line: bytes) -> Sequence[Line]:
    try:
        return decode_transaction(line)
    except LineError:
        return ()


def _doubts(spans: Spans, number: int, retired: Sequence[RetireLine]) -> Iterator[Doubt]:
    if number in spans.misplaced:
        yield from (Doubt(number, record.scope_id, record.seq) for record in retired)
    elif number in spans.lost:
        lowest, highest = spans.room(number)
        if lowest <= highest:
            yield Doubt(number, None, highest)


def survey_sidecar(source: SourceFile, scope_id: str, retired_at: int, taken: Taken) -> ScopeSurvey:
    """Find out which lines of a sidecar can stay beside the transactions that are ``taken``."""
    spans = Spans(source)
    survey = ScopeSurvey([], spans.mark())
    scope = ScopeReplay(_Nothing(), scope_id)
    take: dict[type, Callable[..., None]] = {ValueLine: scope.value, ListLine: scope.element}
    for number, line, _ in lines_of(source):
        reason = spans.lost.get(number)
        records: Sequence[Line] = [] if reason else _records(line)
        if records:
            reason = _scope_refusal(records, take, retired_at, taken)
        if reason is None and records and records[0].seq <= retired_at:
            survey.lost.clear()  # what was damaged comes before a dead record
        if reason:
            survey.lost.append(LostLine(number, len(line), reason))
        elif records and records[-1].seq > retired_at:
            taken.add(records[0].seq, records[-1].seq)
            survey.first_live = survey.first_live or max(records[0].seq, retired_at + 1)
    return survey


def _scope_refusal(
    records: Sequence[Line], take: Mapping[type, Callable[..., None]], retired_at: int, taken: Taken
) -> str | None:
    first, last = records[0].seq, records[-1].seq
    if last > retired_at and taken.overlaps(first, last):
        return f"the transaction of numbers {first} to {last} overlaps another one"
    try:
        for record in records:
            if type(record) not in take:
                raise LineError("a sidecar holds value and list records only")
            if record.seq > retired_at:
                take[type(record)](record, 0)
    except LineError as error:
        return str(error)
    return None


class Taken:
    """The numbers of the transactions that stay, in all files of a session."""

    def __init__(self, main: Transactions) -> None:
        self._main = main
        self._others: list[tuple[int, int]] = []

    def overlaps(self, first: int, last: int) -> bool:
        """Whether a transaction shares a number with another one, or encloses one."""
        before = bisect_right(self._main.firsts, last) - 1
        if before >= 0 and self._main.lasts[before] >= first:
            return True
        at = bisect_right(self._others, (last, LARGEST_INTEGER)) - 1
        return at >= 0 and self._others[at][1] >= first

    def add(self, first: int, last: int) -> None:
        """Take the numbers of one more transaction of a sidecar."""
        insort(self._others, (first, last))


class _Ids(Container[str]):
    """Ids that were kept, and those of the line that is being tried."""

    def __init__(self) -> None:
        self._kept: set[str] = set()
        self.tried: list[str] = []

    def __contains__(self, id: object) -> bool:
        return id in self._kept or id in self.tried

    def keep(self) -> None:
        self._kept.update(self.tried)
        self.tried.clear()


class _Keeper:
    """Keeps of a main file what later lines are checked against."""

    def __init__(self) -> None:
        self.entry_ids: Final = _Ids()
        self.usage_ids: Final = _Ids()
        self.session: Final = _Tips()

    def add_entry(self, entry: EntryLine, offset: int) -> None:
        self.entry_ids.tried.append(entry.id)

    def add_usage(self, row: UsageLine, offset: int) -> None:
        self.usage_ids.tried.append(row.id)

    def keep(self) -> None:
        """The line that was tried stays."""
        self.entry_ids.keep()
        self.usage_ids.keep()
        self.session.keep()

    def forget(self) -> None:
        """The line that was tried is lost."""
        self.entry_ids.tried.clear()
        self.usage_ids.tried.clear()
        self.session.tried.clear()

    def dangling(self) -> dict[str, str]:
        """The branches that stand at entries which were not kept."""
        found: dict[str, str] = {}
        for branch, text in self.session.tips.items():
            with suppress(ValueError):  # a payload that cannot be read stays as it is
                tip = json_text.decode(text)
                if isinstance(tip, str) and tip not in self.entry_ids:
                    found[branch] = tip
        return found


class _Nothing:
    """Takes what is only checked."""

    def set_value(self, slot: Slot, seq: int, value: Raw, offset: int) -> None:
        """Nothing to keep."""

    def delete_value(self, slot: Slot) -> None:
        """Nothing to drop."""

    def append(self, slot: Slot, seq: int, value: Raw, tag: str | None, offset: int) -> None:
        """Nothing to keep."""

    def delete_list(self, slot: Slot, seq: int) -> None:
        """Nothing to drop."""


class _Tips(_Nothing):
    """Keeps the tips of the branches."""

    def __init__(self) -> None:
        self.tips: dict[str, bytes] = {}
        self.tried: list[tuple[str, bytes]] = []

    def set_value(self, slot: Slot, seq: int, value: Raw, offset: int) -> None:
        if slot[0] == BRANCH_TIP:
            self.tried.append((slot[1], bytes(value)))

    def delete_value(self, slot: Slot) -> None:
        if slot[0] == BRANCH_TIP:
            self.tried.append((slot[1], b"null"))

    def keep(self) -> None:
        self.tips.update(self.tried)
        self.tried.clear()
