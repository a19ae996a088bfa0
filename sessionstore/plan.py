"""One list of writes -> one checked plan, which stores only apply (model.md section 4).

Everything that can be known without the store is decided here: one scope, ids used twice, pending
messages, values captured as JSON text, and what is left by table when the writes of a transaction
are done one after the other. What remains for the store is to prove the new ids and the outside
parents, to give the numbers, and to write.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeVar, assert_never, cast

import msgspec

from sessionstore import json_text
from sessionstore.address import Place, Value, ValueList
from sessionstore.entries import (
    ABSENT,
    NewBranchSummaryEntry,
    NewCompactionEntry,
    NewCustomEntry,
    NewEntry,
    NewMessageEntry,
    NewUsageRow,
)
from sessionstore.errors import (
    DuplicateIdError,
    InvalidAddressError,
    InvalidScopeError,
    InvalidValueError,
    MixedScopeError,
)
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord, place_of
from sessionstore.scope import EphemeralScope
from sessionstore.text import NAMESPACE_LIMIT, check_text
from sessionstore.usage import Usage, capture_usage, usage_figures
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


class ListDeletion(msgspec.Struct, frozen=True, gc=False):
    """The step that deletes a whole list."""

    place: Place
    seq: int


class Retirement(msgspec.Struct, frozen=True, gc=False):
    """The step that ends an ephemeral scope."""

    scope_id: str
    seq: int


Step: TypeAlias = (
    EntryRecord | UsageRecord | ValueRecord | ElementRecord | ValueDeletion | ListDeletion | Retirement
)
"""One write as it goes to a log. Until :meth:`CommitPlan.numbered`, ``seq`` counts from 0."""

_Numbered = TypeVar("_Numbered", bound=Step)


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

    def numbered(self, first_seq: int, timestamp: int) -> CommitPlan:
        """The same plan with the numbers from ``first_seq`` on and ``timestamp`` (Unix ms)."""
        steps = tuple(_number(step, first_seq, timestamp) for step in self.steps)
        return msgspec.structs.replace(
            self,
            steps=steps,
            entries=[_pick(steps, entry) for entry in self.entries],
            usage_rows=[_pick(steps, row) for row in self.usage_rows],
            value_sets=[_pick(steps, record) for record in self.value_sets],
            appends=[_pick(steps, element) for element in self.appends],
        )


def plan_commit(writes: Iterable[Write[Any]]) -> CommitPlan:
    """Check ``writes``, capture their values and fold them into a plan.

    Raises ``MixedScopeError``, ``InvalidValueError``, ``InvalidAddressError`` or
    ``DuplicateIdError``, naming the write; nothing has changed then.
    """
    given = tuple(writes)
    scope_id = _common_scope(given)
    steps = tuple(_capture(write, offset) for offset, write in enumerate(given))
    return _fold(scope_id, steps)


def _common_scope(writes: tuple[Write[Any], ...]) -> str:
    scope_id = None
    for write in writes:
        if not isinstance(write, Write):
            raise InvalidValueError(f"commit takes writes, not a {type(write).__name__}")
        own = _scope_of(write)
        if scope_id is None:
            scope_id = own
        elif own != scope_id:
            raise MixedScopeError(
                "one transaction holds writes of one scope only; found "
                f"{_scope_name(scope_id)} and {_scope_name(own)}: commit them apart"
            )
    return scope_id or ""


def _scope_of(write: Write[Any]) -> str:
    if isinstance(write, (SetValue, DeleteValue, AppendList, DeleteList)):
        return _place(write).scope_id
    return ""


def _scope_name(scope_id: str) -> str:
    return f"the ephemeral scope {scope_id!r}" if scope_id else "session scope"


def _place(
    write: SetValue[Any] | DeleteValue[Any] | AppendList[Any] | DeleteList[Any],
) -> Place:
    wanted = Value if isinstance(write, (SetValue, DeleteValue)) else ValueList
    if not isinstance(write.address, wanted):
        raise InvalidAddressError(
            f"{type(write).__name__} takes a {wanted.__name__} address, not {write.address!r}"
        )
    return write.address.place


def _capture(write: Write[Any], offset: int) -> Step:
    match write:
        case SetValue(address=address, value=value):
            return ValueRecord(*address.place, offset, address.encode(value))
        case AppendList(address=address, element=element, tag=tag):
            if tag is not None:
                tag = check_text(tag, f"tag at {address}", limit=NAMESPACE_LIMIT)
            return ElementRecord(*address.place, offset, address.encode(element), tag)
        case InsertEntry(entry=entry):
            return _entry_record(entry, offset)
        case InsertUsage(row=row):
            return _usage_record(row, offset)
        case DeleteValue(address=address):
            return ValueDeletion(address.place, offset)
        case DeleteList(address=address):
            return ListDeletion(address.place, offset)
        case RetireScope(retired=scope):
            if not isinstance(scope, EphemeralScope):
                raise InvalidScopeError(
                    f"retire_scope takes an ephemeral scope, not a {type(scope).__name__}"
                )
            return Retirement(scope.id, offset)
        case _:
            raise InvalidValueError(f"commit does not know a {type(write).__name__}")


def _entry_record(entry: NewEntry, offset: int) -> EntryRecord:
    if not isinstance(entry, (NewMessageEntry, NewCompactionEntry, NewBranchSummaryEntry, NewCustomEntry)):
        raise InvalidValueError(f"insert_entry takes a new entry, not a {type(entry).__name__}")
    id = check_text(entry.id, "entry id", limit=NAMESPACE_LIMIT)
    parent_id = entry.parent_id
    if parent_id is not None:
        parent_id = check_text(parent_id, f"parent id of entry {id!r}", limit=NAMESPACE_LIMIT)
    custom_type = None
    if isinstance(entry, NewCustomEntry):
        custom_type = check_text(entry.custom_type, f"custom type of entry {id!r}", limit=NAMESPACE_LIMIT)
    what = f"entry {id!r}"
    payload = json_text.encode(_payload(entry, what), what, around=1)
    return EntryRecord(id, parent_id, offset, 0, entry.type, custom_type, payload)


def _payload(entry: NewEntry, what: str) -> dict[str, Any]:
    match entry:
        case NewMessageEntry():
            check_message(entry.message, what)
            payload: dict[str, Any] = {"message": dict(entry.message)}
            if entry.terminate:
                payload["terminate"] = True
            return payload
        case NewCustomEntry():
            return {} if entry.data is ABSENT else {"data": entry.data}
        case NewCompactionEntry():
            _check_type(entry.retained_tail, (list, tuple), what, "retained_tail", "a list")
            _check_number(entry.tokens_before, what, "tokens_before")
            payload = {
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
        payload["usage"] = json_text.decode(capture_usage(entry.usage, f"usage of {what}"))
    payload["fromHook"] = entry.from_hook
    return payload


def check_message(message: object, what: str) -> None:
    """Refuse what is no message, and an assistant message that is still being streamed.

    Every path that inserts entries calls this. Raises ``InvalidValueError``, naming ``what``.
    """
    if not isinstance(message, Mapping):
        raise InvalidValueError(f"{what}: a message must be an object, not a {type(message).__name__}")
    fields = cast("Mapping[str, Any]", message)
    role = fields.get("role")
    if not isinstance(role, str):
        raise InvalidValueError(f"{what}: a message must have a role that is a string")
    if role == "assistant" and fields.get("stopReason") == "pending":
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


def _usage_record(row: NewUsageRow, offset: int) -> UsageRecord:
    if not isinstance(row, NewUsageRow):
        raise InvalidValueError(f"insert_usage takes a NewUsageRow, not a {type(row).__name__}")
    id = check_text(row.id, "usage id", limit=NAMESPACE_LIMIT)
    what = f"usage {id!r}"
    entry_id = row.entry_id
    if entry_id is not None:
        entry_id = check_text(entry_id, f"entry id of {what}", limit=NAMESPACE_LIMIT)
    _check_type(row.adjustment, (bool,), what, "adjustment", "a bool")
    details = None if row.details is ABSENT else json_text.encode(row.details, f"details of {what}")
    return UsageRecord(id, offset, entry_id, row.adjustment, capture_usage(row.usage, what), details)


def _fold(scope_id: str, steps: tuple[Step, ...]) -> CommitPlan:
    """What is left by table when ``steps`` are done one after the other."""
    entries: list[EntryRecord] = []
    usage_rows: list[UsageRecord] = []
    values: dict[Place, ValueRecord | None] = {}
    cleared: dict[Place, None] = {}
    appends: dict[Place, list[ElementRecord]] = {}
    retired: dict[str, None] = {}
    for step in steps:
        match step:
            case EntryRecord():
                entries.append(step)
            case ValueRecord():
                values[place_of(step)] = step
            case ElementRecord():
                appends.setdefault(place_of(step), []).append(step)
            case UsageRecord():
                usage_rows.append(step)
            case ValueDeletion():
                values[step.place] = None
            case ListDeletion():
                cleared[step.place] = None
                appends.pop(step.place, None)
            case Retirement():
                retired[step.scope_id] = None
    new_ids, outside_parents = _prove_ids(steps)
    return CommitPlan(
        scope_id,
        steps,
        entries,
        usage_rows,
        [usage_figures(row.usage, f"usage {row.id!r}") for row in usage_rows],
        [record for record in values.values() if record is not None],
        [place for place, record in values.items() if record is None],
        list(cleared),
        sorted(
            (element for elements in appends.values() for element in elements),
            key=lambda element: element.seq,
        ),
        list(retired),
        new_ids,
        outside_parents,
        sum(entry.type == "message" for entry in entries),
    )


def _prove_ids(steps: tuple[Step, ...]) -> tuple[list[str], list[str]]:
    """The ids that the steps add, and the parents that are not among the entries before them."""
    new_ids: dict[str, None] = {}
    earlier: set[str] = set()
    outside: dict[str, None] = {}
    for step in steps:
        if not isinstance(step, (EntryRecord, UsageRecord)):
            continue
        if step.id in new_ids:
            raise DuplicateIdError(f"the id {step.id!r} is used twice in one transaction")
        new_ids[step.id] = None
        if isinstance(step, EntryRecord):
            if step.parent_id is not None and step.parent_id not in earlier:
                outside[step.parent_id] = None
            earlier.add(step.id)
    return list(new_ids), list(outside)


def _pick(steps: tuple[Step, ...], record: _Numbered) -> _Numbered:
    return steps[record.seq]  # type: ignore[return-value]  # a step keeps its type when numbered


def _number(step: Step, first_seq: int, timestamp: int) -> Step:
    seq = first_seq + step.seq
    match step:
        case EntryRecord():
            return EntryRecord(
                step.id, step.parent_id, seq, timestamp, step.type, step.custom_type, step.payload
            )
        case ValueRecord():
            return ValueRecord(step.scope_id, step.namespace, step.key, seq, step.value)
        case ElementRecord():
            return ElementRecord(step.scope_id, step.namespace, step.key, seq, step.value, step.tag)
        case UsageRecord():
            return UsageRecord(step.id, seq, step.entry_id, step.adjustment, step.usage, step.details)
        case ValueDeletion():
            return ValueDeletion(step.place, seq)
        case ListDeletion():
            return ListDeletion(step.place, seq)
        case Retirement():
            return Retirement(step.scope_id, seq)
