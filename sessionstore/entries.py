"""What callers see: entries of the tree, rows of the ledger, stored values and list elements."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar, Final, Generic, Literal, TypeAlias

import msgspec
from typing_extensions import TypeVar

from sessionstore.address import Value
from sessionstore.usage import SessionStats, Usage

T = TypeVar("T", default=Any)

EntryType: TypeAlias = Literal["message", "compaction", "branch_summary", "custom"]
ENTRY_TYPES: Final[tuple[EntryType, ...]] = ("message", "compaction", "branch_summary", "custom")


class Absent(Enum):
    """The type of :data:`ABSENT`."""

    ABSENT = "absent"

    def __repr__(self) -> str:
        return "ABSENT"

    def __bool__(self) -> Literal[False]:
        return False


ABSENT: Final = Absent.ABSENT
"""No such field, which is not the same as a field that is null."""


class _NewEntry(msgspec.Struct, frozen=True):
    id: str
    parent_id: str | None

    def __str__(self) -> str:
        """What errors call it."""
        return f"entry {self.id!r}"


class NewMessageEntry(_NewEntry, frozen=True):
    """A message to insert. ``message`` is an object with a ``role``; unknown fields are kept."""

    message: Mapping[str, Any]
    terminate: bool | None = None
    type: ClassVar[Literal["message"]] = "message"


class NewCompactionEntry(_NewEntry, frozen=True):
    """A compaction to insert; ``retained_tail`` holds whole messages."""

    summary: str
    retained_tail: list[Any]
    tokens_before: int | float
    from_hook: bool
    details: Any = ABSENT
    usage: Usage | Mapping[str, Any] | None = None
    type: ClassVar[Literal["compaction"]] = "compaction"


class NewBranchSummaryEntry(_NewEntry, frozen=True):
    """The summary of a branch that was left at the entry ``from_id``."""

    from_id: str | None
    summary: str
    from_hook: bool
    details: Any = ABSENT
    usage: Usage | Mapping[str, Any] | None = None
    type: ClassVar[Literal["branch_summary"]] = "branch_summary"


class NewCustomEntry(_NewEntry, frozen=True):
    """An entry of the application's own kind."""

    custom_type: str
    data: Any = ABSENT
    type: ClassVar[Literal["custom"]] = "custom"


NewEntry: TypeAlias = NewMessageEntry | NewCompactionEntry | NewBranchSummaryEntry | NewCustomEntry


class MessageEntry(msgspec.Struct, frozen=True):
    """A committed message. ``timestamp`` is in Unix ms, ``seq`` its number in the session."""

    id: str
    parent_id: str | None
    seq: int
    timestamp: int
    message: dict[str, Any]
    terminate: Literal[True] | None = None
    type: ClassVar[Literal["message"]] = "message"
    custom_type: ClassVar[None] = None


class CompactionEntry(msgspec.Struct, frozen=True):
    """A committed compaction."""

    id: str
    parent_id: str | None
    seq: int
    timestamp: int
    summary: str
    retained_tail: list[Any]
    tokens_before: int | float
    from_hook: bool
    details: Any = ABSENT
    usage: Usage | None = None
    type: ClassVar[Literal["compaction"]] = "compaction"
    custom_type: ClassVar[None] = None


class BranchSummaryEntry(msgspec.Struct, frozen=True):
    """A committed branch summary."""

    id: str
    parent_id: str | None
    seq: int
    timestamp: int
    from_id: str | None
    summary: str
    from_hook: bool
    details: Any = ABSENT
    usage: Usage | None = None
    type: ClassVar[Literal["branch_summary"]] = "branch_summary"
    custom_type: ClassVar[None] = None


class CustomEntry(msgspec.Struct, frozen=True):
    """A committed entry of the application's own kind."""

    id: str
    parent_id: str | None
    seq: int
    timestamp: int
    custom_type: str
    data: Any = ABSENT
    type: ClassVar[Literal["custom"]] = "custom"


Entry: TypeAlias = MessageEntry | CompactionEntry | BranchSummaryEntry | CustomEntry


class EntryStructure(msgspec.Struct, frozen=True, gc=False):  # texts and numbers: no cycles
    """An entry without its payload."""

    id: str
    parent_id: str | None
    seq: int
    timestamp: int
    type: EntryType
    custom_type: str | None


class NewUsageRow(msgspec.Struct, frozen=True):
    """A settled cost to record; ``usage`` is a :class:`Usage` or a mapping in JSON names."""

    id: str
    usage: Usage | Mapping[str, Any]
    adjustment: bool = False
    entry_id: str | None = None
    details: Any = ABSENT


class UsageRow(msgspec.Struct, frozen=True):
    """A row of the ledger."""

    id: str
    seq: int
    usage: Usage
    adjustment: bool
    entry_id: str | None = None
    details: Any = ABSENT


class StoredValue(msgspec.Struct, Generic[T], frozen=True):
    """A value as it stands, with the number of its last set."""

    address: Value[T, Any]
    value: T
    seq: int


class ListElement(msgspec.Struct, Generic[T], frozen=True):
    """An element of a list; ``tag`` is what was given at append."""

    seq: int
    value: T
    tag: str | None


class CommitResult(msgspec.Struct, frozen=True):
    """What a commit did: ``seqs`` has one number for each write given; ``timestamp`` is Unix ms.

    ``first_seq`` of an empty commit is the number that the next write will get.
    """

    first_seq: int
    seqs: tuple[int, ...]
    timestamp: int
    stats: SessionStats
