"""One list of writes -> one checked plan, which stores only apply (model.md section 4).

Everything that can be known without the store is decided here: one scope, ids used twice, pending
messages, values captured as JSON text, and what is left by table when the writes of a transaction
are done one after the other. What remains for the store is to prove the new ids and the outside
parents, to give the numbers, and to write.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from functools import reduce
from itertools import repeat
from operator import attrgetter
from typing import Any, Final, TypeAlias, TypeVar, assert_never

import msgspec

from sessionstore import json_text
from sessionstore.address import Place, Value, ValueList
from sessionstore.entries import (
    ABSENT,
    NewBranchSummaryEntry,
    NewCompactionEntry,
    NewCustomEntry,
    NewMessageEntry,
    NewUsageRow,
)
from sessionstore.errors import (
    DuplicateIdError,
    InvalidAddressError,
    InvalidScopeError,
    InvalidValueError,
    MissingParentError,
    MixedScopeError,
    StorageError,
)
from sessionstore.records import LARGEST_INTEGER, ElementRecord, EntryRecord, UsageRecord, ValueRecord
from sessionstore.scope import EphemeralScope
from sessionstore.text import NAMESPACE_LIMIT, check_text
from sessionstore.usage import SessionStats, Usage, add_usage, capture_usage
from sessionstore.writes import (
    AppendList,
    DeleteList,
    DeleteValue,
    InsertEntry,
    InsertUsage,
    RetireScope,
    SetValue,
    Write,
)


class ValueDeletion(msgspec.Struct, frozen=True, gc=False):
    """The step that deletes a value."""

    place: Place
    seq: int

    def numbered(self, first_seq: int, _: int) -> ValueDeletion:
        """The same, its number counted from ``first_seq``."""
        return ValueDeletion(self.place, first_seq + self.seq)


class ListDeletion(msgspec.Struct, frozen=True, gc=False):
    """The step that deletes a whole list."""

    place: Place
    seq: int

    def numbered(self, first_seq: int, _: int) -> ListDeletion:
        """The same, its number counted from ``first_seq``."""
        return ListDeletion(self.place, first_seq + self.seq)


class Retirement(msgspec.Struct, frozen=True, gc=False):
    """The step that ends an ephemeral scope."""

    scope_id: str
    seq: int

    def numbered(self, first_seq: int, _: int) -> Retirement:
        """The same, its number counted from ``first_seq``."""
        return Retirement(self.scope_id, first_seq + self.seq)


Step: TypeAlias = (
    EntryRecord | UsageRecord | ValueRecord | ElementRecord | ValueDeletion | ListDeletion | Retirement
)
"""One write as it goes to a log. Until :meth:`CommitPlan.numbered`, ``seq`` counts from 0."""

_Numbered = TypeVar("_Numbered", bound=Step)

_BY_SEQ: Final = attrgetter("seq")


class CommitPlan(msgspec.Struct, frozen=True):
    """A checked transaction.

    ``steps`` holds every write in order. The other collections hold what is left of them by
    table: ``value_sets`` the last set of a place unless a delete follows, ``value_deletes`` the
    places that a delete ends, ``list_deletes`` the places to clear before ``appends`` go in.
    ``usages`` are the figures of ``usage_rows``. ``outside_parents`` are the parents that must
    have been committed before. Before :meth:`numbered` every ``seq`` is an offset from 0.
    """

    scope_id: str
    steps: tuple[Step, ...]
    entries: list[EntryRecord]
    usage_rows: list[UsageRecord]
    usages: list[Usage]
    value_sets: list[ValueRecord]
    value_deletes: list[Place]
    list_deletes: list[Place]
    appends: list[ElementRecord]
    retired: list[str]
    new_ids: list[str]
    outside_parents: list[str]
    message_count: int

    @property
    def count(self) -> int:
        """How many numbers the transaction takes: one for each write."""
        return len(self.steps)

    def seqs(self, first_seq: int) -> tuple[int, ...]:
        """The numbers of the writes, in the order in which they were given."""
        return tuple(range(first_seq, first_seq + len(self.steps)))

    def prove(self, entries: Container[str], taken: Container[str]) -> None:
        """Check what only the store knows: the ids of its ``entries`` and the others that are ``taken``.

        Raises ``DuplicateIdError`` or ``MissingParentError``.
        """
        for id in self.new_ids:
            if id in entries or id in taken:
                raise DuplicateIdError(f"the id {id!r} is taken in this session")
        for id in self.outside_parents:
            if id not in entries:
                raise MissingParentError(f"the parent {id!r} does not exist in this session")

    def counted(self, before: SessionStats) -> SessionStats:
        """The statistics after the plan. Raises ``InvalidValueError`` when the ledger cannot be added up."""
        if not self.message_count and not self.usages:
            return before
        total = reduce(add_usage, self.usages, before.usage)
        return SessionStats(before.message_count + self.message_count, total)

    def check_numbers(self, first_seq: int) -> None:
        """Raise ``StorageError`` where the session has no numbers left for the plan.

        What can be counted so far in no time was damaged, or comes from a file that was.
        """
        if first_seq + len(self.steps) > LARGEST_INTEGER:
            raise StorageError(
                f"the session has no numbers left: its next one is {first_seq}, "
                f"and {LARGEST_INTEGER} is the highest that every store and tool can keep"
            )

    def numbered(self, first_seq: int, timestamp: int) -> CommitPlan:
        """The same plan with the numbers from ``first_seq`` on and ``timestamp`` (Unix ms).

        Raises as :meth:`check_numbers`.
        """
        self.check_numbers(first_seq)
        steps = tuple([step.numbered(first_seq, timestamp) for step in self.steps])
        return CommitPlan(
            self.scope_id,
            steps,
            _picked(steps, self.entries),
            _picked(steps, self.usage_rows),
            self.usages,
            _picked(steps, self.value_sets),
            self.value_deletes,
            self.list_deletes,
            _picked(steps, self.appends),
            self.retired,
            self.new_ids,
            self.outside_parents,
            self.message_count,
        )


def _picked(steps: tuple[Step, ...], records: list[_Numbered]) -> list[_Numbered]:
    if not records:
        return records
    return [steps[record.seq] for record in records]  # type: ignore[misc]  # a step keeps its type


def plan_commit(writes: Iterable[Write[Any]]) -> CommitPlan:
    """Check ``writes``, capture their values and fold them into a plan.

    Raises ``MixedScopeError``, ``InvalidValueError``, ``InvalidAddressError`` or
    ``DuplicateIdError``, naming the write; nothing has changed then.
    """
    writes = list(writes)
    fold = _Fold(_message_texts(writes))
    for write in writes:
        take = _TAKES.get(type(write)) or _take_of(write)
        take(fold, write)
    return fold.plan()


def _message_texts(writes: list[Write[Any]]) -> Iterator[str | None]:
    """The texts of the messages in ``writes``, as they come; None: this one is to be captured by itself."""
    messages = [
        write.entry.message
        for write in writes
        if isinstance(write, InsertEntry) and isinstance(write.entry, NewMessageEntry)
    ]
    texts = json_text.encode_together(messages) if len(messages) > 1 else None
    return repeat(None) if texts is None else iter(texts)


class _Fold:
    """What is left by table when writes are done one after the other."""

    __slots__ = (
        "_appends", "_cleared", "_entries", "_message_count", "_message_texts", "_new_ids",
        "_outside_parents", "_retired", "_scope_id", "_steps", "_usage_rows", "_usages", "_values",
    )  # fmt: skip

    def __init__(self, message_texts: Iterator[str | None]) -> None:
        self._message_texts = message_texts
        self._scope_id: str | None = None
        self._steps: list[Step] = []
        self._entries: list[EntryRecord] = []
        self._usage_rows: list[UsageRecord] = []
        self._usages: list[Usage] = []
        self._values: dict[Place, ValueRecord | None] = {}
        self._cleared: dict[Place, None] = {}
        self._appends: dict[Place, list[ElementRecord]] = {}
        self._retired: dict[str, None] = {}
        self._new_ids: dict[str, bool] = {}  # whether it is an entry's
        self._outside_parents: dict[str, None] = {}
        self._message_count = 0

    def plan(self) -> CommitPlan:
        """The plan of the writes so far."""
        appends = [element for elements in self._appends.values() for element in elements]
        if len(self._appends) > 1:
            appends.sort(key=_BY_SEQ)
        return CommitPlan(
            self._scope_id or "",
            tuple(self._steps),
            self._entries,
            self._usage_rows,
            self._usages,
            [record for record in self._values.values() if record is not None],
            [place for place, record in self._values.items() if record is None],
            list(self._cleared),
            appends,
            list(self._retired),
            list(self._new_ids),
            list(self._outside_parents),
            self._message_count,
        )

    def insert_entry(self, write: InsertEntry) -> None:
        entry = write.entry
        if not isinstance(entry, _NEW_ENTRIES):
            raise InvalidValueError(f"insert_entry takes a new entry, not a {type(entry).__name__}")
        id = check_text(entry.id, "entry id", limit=NAMESPACE_LIMIT)
        new_ids, parent_id = self._new_ids, entry.parent_id
        if type(parent_id) is not str or not new_ids.get(parent_id):
            parent_id = self._outside_parent(parent_id, id)
        offset = len(self._steps) if self._scope_id == "" else self._next_offset("")
        if isinstance(entry, NewMessageEntry):
            self._message_count += 1
            payload = _message_payload(entry, next(self._message_texts))
            record = EntryRecord(id, parent_id, offset, 0, "message", None, payload)
        else:
            record = _entry_record(entry, id, parent_id, offset)
        if id in new_ids:
            raise _used_twice(id)
        new_ids[id] = True
        self._entries.append(record)
        self._steps.append(record)

    def _outside_parent(self, given: str | None, id: str) -> str | None:
        """A checked parent; one that was not inserted here must have been committed before."""
        if given is None:
            return None
        parent_id = check_text(given, f"parent id of entry {id!r}", limit=NAMESPACE_LIMIT)
        if not self._new_ids.get(parent_id):
            self._outside_parents[parent_id] = None
        return parent_id

    def insert_usage(self, write: InsertUsage) -> None:
        record, figures = _usage_record(write.row, self._next_offset(""))
        if record.id in self._new_ids:
            raise _used_twice(record.id)
        self._new_ids[record.id] = False
        self._usage_rows.append(record)
        self._usages.append(figures)
        self._steps.append(record)

    def set_value(self, write: SetValue[Any]) -> None:
        address = write.address
        place = _place(write, address, Value)
        record = ValueRecord(*place, self._next_offset(place.scope_id), address.encode(write.value))
        self._values[place] = record
        self._steps.append(record)

    def delete_value(self, write: DeleteValue[Any]) -> None:
        place = _place(write, write.address, Value)
        self._steps.append(ValueDeletion(place, self._next_offset(place.scope_id)))
        self._values[place] = None

    def append(self, write: AppendList[Any]) -> None:
        address, tag = write.address, write.tag
        place = _place(write, address, ValueList)
        if tag is not None:
            tag = check_text(tag, f"tag at {address}", limit=NAMESPACE_LIMIT)
        offset = self._next_offset(place.scope_id)
        record = ElementRecord(*place, offset, address.encode(write.element), tag)
        self._appends.setdefault(place, []).append(record)
        self._steps.append(record)

    def delete_list(self, write: DeleteList[Any]) -> None:
        place = _place(write, write.address, ValueList)
        self._steps.append(ListDeletion(place, self._next_offset(place.scope_id)))
        self._cleared[place] = None
        self._appends.pop(place, None)

    def retire(self, write: RetireScope) -> None:
        scope = write.retired
        if not isinstance(scope, EphemeralScope):
            raise InvalidScopeError(f"retire_scope takes an ephemeral scope, not a {type(scope).__name__}")
        self._steps.append(Retirement(scope.id, self._next_offset("")))
        self._retired[scope.id] = None

    def _next_offset(self, scope_id: str) -> int:
        """The offset of the next step, which has to be in the scope of those before."""
        if scope_id != self._scope_id:
            if self._scope_id is not None:
                raise MixedScopeError(
                    "one transaction holds writes of one scope only; found "
                    f"{_scope_name(self._scope_id)} and {_scope_name(scope_id)}: commit them apart"
                )
            self._scope_id = scope_id
        return len(self._steps)


_TAKES: Final[dict[type[Write[Any]], Callable[[_Fold, Any], None]]] = {
    InsertEntry: _Fold.insert_entry,
    InsertUsage: _Fold.insert_usage,
    SetValue: _Fold.set_value,
    DeleteValue: _Fold.delete_value,
    AppendList: _Fold.append,
    DeleteList: _Fold.delete_list,
    RetireScope: _Fold.retire,
}


def _take_of(write: object) -> Callable[[_Fold, Any], None]:
    """What takes a write of a class of the caller's own."""
    for kind, take in _TAKES.items():
        if isinstance(write, kind):
            return take
    raise InvalidValueError(f"commit takes writes, not a {type(write).__name__}")


def _used_twice(id: str) -> DuplicateIdError:
    return DuplicateIdError(f"the id {id!r} is used twice in one transaction")


def _scope_name(scope_id: str) -> str:
    return f"the ephemeral scope {scope_id!r}" if scope_id else "session scope"


def _place(write: Write[Any], address: object, wanted: type[Value[Any, Any] | ValueList[Any, Any]]) -> Place:
    if not isinstance(address, wanted):
        raise InvalidAddressError(
            f"{type(write).__name__} takes a {wanted.__name__} address, not {address!r}"
        )
    return address.place


_NEW_ENTRIES: Final = (NewMessageEntry, NewCompactionEntry, NewBranchSummaryEntry, NewCustomEntry)
_OtherEntry: TypeAlias = NewCompactionEntry | NewBranchSummaryEntry | NewCustomEntry


def _entry_record(entry: _OtherEntry, id: str, parent_id: str | None, offset: int) -> EntryRecord:
    custom_type = None
    if isinstance(entry, NewCustomEntry):
        custom_type = check_text(entry.custom_type, f"custom type of {entry}", limit=NAMESPACE_LIMIT)
    payload = json_text.encode(_fields(entry, str(entry)), entry, around=1)
    return EntryRecord(id, parent_id, offset, 0, entry.type, custom_type, payload)


def _message_payload(entry: NewMessageEntry, text: str | None) -> str:
    message = entry.message
    check_message(message, entry)
    if text is None:
        text = json_text.encode(message if isinstance(message, dict) else dict(message), entry)
    return f'{{"message":{text},"terminate":true}}' if entry.terminate else f'{{"message":{text}}}'


def _fields(entry: _OtherEntry, what: str) -> dict[str, Any]:
    match entry:
        case NewCustomEntry():
            return {} if entry.data is ABSENT else {"data": entry.data}
        case NewCompactionEntry():
            _check_type(entry.retained_tail, (list, tuple), what, "retained_tail", "a list")
            _check_number(entry.tokens_before, what, "tokens_before")
            payload: dict[str, Any] = {
                "summary": _checked_summary(entry, what),
                "retainedTail": entry.retained_tail,
                "tokensBefore": entry.tokens_before,
            }
        case NewBranchSummaryEntry():
            if entry.from_id is not None:
                check_text(entry.from_id, f"from_id of {what}", limit=NAMESPACE_LIMIT)
            payload = {"fromId": entry.from_id, "summary": _checked_summary(entry, what)}
        case _:
            assert_never(entry)
    if entry.details is not ABSENT:
        payload["details"] = entry.details
    if entry.usage is not None:
        payload["usage"] = json_text.decode(capture_usage(entry.usage, f"usage of {what}")[0])
    payload["fromHook"] = entry.from_hook
    return payload


_PENDING: Final = "pending"
_OBJECTS: Final = (dict, Mapping)  # the common case first: asking Mapping takes longer


def check_message(message: Mapping[str, Any], what: object) -> None:
    """Refuse what is no message, and an assistant message that is still being streamed.

    Every path that inserts entries calls this. Raises ``InvalidValueError``, naming ``what``.
    """
    if not isinstance(message, _OBJECTS):
        raise InvalidValueError(f"{what}: a message must be an object, not a {type(message).__name__}")
    if not isinstance(message.get("role"), str):
        raise InvalidValueError(f"{what}: a message must have a role that is a string")
    if message.get("stopReason") == _PENDING:
        check_settled(message, what)


def check_settled(message: Mapping[str, Any], what: object) -> None:
    """Refuse an assistant message that is still being streamed: ``InvalidValueError``, naming ``what``."""
    if message.get("stopReason") == _PENDING and message.get("role") == "assistant":
        raise InvalidValueError(
            f"{what}: an assistant message whose stopReason is pending is not settled; "
            "keep it in an ephemeral scope until it is"
        )


def _checked_summary(entry: NewCompactionEntry | NewBranchSummaryEntry, what: str) -> str:
    _check_type(entry.summary, (str,), what, "summary", "a str")
    _check_type(entry.from_hook, (bool,), what, "from_hook", "a bool")
    return entry.summary


def _check_type(given: object, wanted: tuple[type[Any], ...], what: str, field: str, name: str) -> None:
    if not isinstance(given, wanted):
        raise InvalidValueError(f"{what}: {field} must be {name}, not a {type(given).__name__}")


def _check_number(given: object, what: str, field: str) -> None:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise InvalidValueError(f"{what}: {field} must be a number, not a {type(given).__name__}")


def _usage_record(row: NewUsageRow, offset: int) -> tuple[UsageRecord, Usage]:
    if not isinstance(row, NewUsageRow):
        raise InvalidValueError(f"insert_usage takes a NewUsageRow, not a {type(row).__name__}")
    id = check_text(row.id, "usage id", limit=NAMESPACE_LIMIT)
    what = f"usage {id!r}"
    entry_id = row.entry_id
    if entry_id is not None:
        entry_id = check_text(entry_id, f"entry id of {what}", limit=NAMESPACE_LIMIT)
    _check_type(row.adjustment, (bool,), what, "adjustment", "a bool")
    details = None if row.details is ABSENT else json_text.encode(row.details, f"details of {what}")
    text, figures = capture_usage(row.usage, what)
    return UsageRecord(id, offset, entry_id, row.adjustment, text, details), figures
