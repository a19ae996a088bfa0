"""The camelCase JSON forms of what callers see, without loss both ways.

They are what a server sends and what the files hold: a field that is absent stays absent, a field
that is null stays null, figures of other tools ride along in ``Usage.extra``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias, TypeVar, cast

from sessionstore.entries import (
    ABSENT,
    BranchSummaryEntry,
    CompactionEntry,
    CustomEntry,
    Entry,
    MessageEntry,
    NewBranchSummaryEntry,
    NewCompactionEntry,
    NewCustomEntry,
    NewEntry,
    NewMessageEntry,
    UsageRow,
)
from sessionstore.errors import InvalidValueError
from sessionstore.metadata import SessionMetadata
from sessionstore.usage import SessionStats, Usage, usage_from_json, usage_to_json

Json: TypeAlias = dict[str, Any]

T = TypeVar("T")

_ARRAY: Final[type[list[Any]]] = list
_OBJECT: Final[type[Json]] = dict


def entry_to_json(entry: Entry) -> Json:
    """The JSON form of a committed entry, as a format-4 line has it beside ``kind``."""
    data: Json = {
        "id": entry.id,
        "parentId": entry.parent_id,
        "seq": entry.seq,
        "timestamp": entry.timestamp,
        "type": entry.type,
    }
    match entry:
        case MessageEntry():
            data["message"] = entry.message
            if entry.terminate:
                data["terminate"] = True
        case CustomEntry():
            data["customType"] = entry.custom_type
            if entry.data is not ABSENT:
                data["data"] = entry.data
        case CompactionEntry():
            data["summary"] = entry.summary
            data["retainedTail"] = entry.retained_tail
            data["tokensBefore"] = entry.tokens_before
            _add_summary_fields(data, entry)
        case BranchSummaryEntry():
            data["fromId"] = entry.from_id
            data["summary"] = entry.summary
            _add_summary_fields(data, entry)
    return data


def entry_from_json(data: Mapping[str, Any]) -> Entry:
    """The committed entry that ``data`` is the JSON form of.

    Raises :class:`~sessionstore.errors.InvalidValueError`, naming the field, when it is none.
    """
    fields = _Fields(data, "entry")
    head = (
        fields.text("id"),
        fields.optional_text("parentId"),
        fields.integer("seq"),
        fields.integer("timestamp"),
    )
    match fields.text("type"):
        case "message":
            return MessageEntry(
                *head, fields.object("message"), True if fields.flag("terminate", False) else None
            )
        case "custom":
            return CustomEntry(*head, fields.text("customType"), data.get("data", ABSENT))
        case "compaction":
            return CompactionEntry(
                *head,
                fields.text("summary"),
                fields.array("retainedTail"),
                fields.number("tokensBefore"),
                fields.flag("fromHook"),
                data.get("details", ABSENT),
                _optional_usage(data, "usage of an entry"),
            )
        case "branch_summary":
            return BranchSummaryEntry(
                *head,
                fields.optional_text("fromId"),
                fields.text("summary"),
                fields.flag("fromHook"),
                data.get("details", ABSENT),
                _optional_usage(data, "usage of an entry"),
            )
        case unknown:
            raise _unknown_type(unknown)


def new_entry_from_json(data: Mapping[str, Any]) -> NewEntry:
    """The entry to insert that ``data`` is the JSON form of; a ``seq`` or ``timestamp`` is ignored.

    Raises :class:`~sessionstore.errors.InvalidValueError`, naming the field, when it is none.
    """
    fields = _Fields(data, "new entry")
    head = (fields.text("id"), fields.optional_text("parentId"))
    match fields.text("type"):
        case "message":
            return NewMessageEntry(
                *head, fields.object("message"), True if fields.flag("terminate", False) else None
            )
        case "custom":
            return NewCustomEntry(*head, fields.text("customType"), data.get("data", ABSENT))
        case "compaction":
            return NewCompactionEntry(
                *head,
                fields.text("summary"),
                fields.array("retainedTail"),
                fields.number("tokensBefore"),
                fields.flag("fromHook"),
                data.get("details", ABSENT),
                fields.optional_object("usage"),
            )
        case "branch_summary":
            return NewBranchSummaryEntry(
                *head,
                fields.optional_text("fromId"),
                fields.text("summary"),
                fields.flag("fromHook"),
                data.get("details", ABSENT),
                fields.optional_object("usage"),
            )
        case unknown:
            raise _unknown_type(unknown)


def usage_row_to_json(row: UsageRow) -> Json:
    """The JSON form of a row of the ledger."""
    data: Json = {"id": row.id, "seq": row.seq}
    if row.entry_id is not None:
        data["entryId"] = row.entry_id
    data["adjustment"] = row.adjustment
    data["usage"] = usage_to_json(row.usage)
    if row.details is not ABSENT:
        data["details"] = row.details
    return data


def usage_row_from_json(data: Mapping[str, Any]) -> UsageRow:
    """The row that ``data`` is the JSON form of; ``InvalidValueError`` names a wrong field."""
    fields = _Fields(data, "usage row")
    return UsageRow(
        fields.text("id"),
        fields.integer("seq"),
        usage_from_json(data.get("usage"), "usage"),
        fields.flag("adjustment", False),
        fields.optional_text("entryId"),
        data.get("details", ABSENT),
    )


def stats_to_json(stats: SessionStats) -> Json:
    """The JSON form of the statistics of a session."""
    return {"messageCount": stats.message_count, "usage": usage_to_json(stats.usage)}


def stats_from_json(data: Mapping[str, Any]) -> SessionStats:
    """The statistics that ``data`` is the JSON form of; ``InvalidValueError`` names a wrong field."""
    fields = _Fields(data, "statistics")
    return SessionStats(fields.integer("messageCount"), usage_from_json(data.get("usage"), "usage"))


def metadata_to_json(metadata: SessionMetadata) -> Json:
    """The JSON form of a session's metadata, without the fields that it does not have."""
    data: Json = {
        "id": metadata.id,
        "createdAt": metadata.created_at,
        "storageVersion": metadata.storage_version,
        "container": metadata.container,
        "parentSessionId": metadata.parent_session_id,
        "cwd": metadata.cwd,
        "path": metadata.path,
        "modifiedAt": metadata.modified_at,
        "legacyParentSessionPath": metadata.legacy_parent_session_path,
    }
    return {name: item for name, item in data.items() if item is not None}


def _add_summary_fields(data: Json, entry: CompactionEntry | BranchSummaryEntry) -> None:
    if entry.details is not ABSENT:
        data["details"] = entry.details
    if entry.usage is not None:
        data["usage"] = usage_to_json(entry.usage)
    data["fromHook"] = entry.from_hook


def _optional_usage(data: Mapping[str, Any], what: str) -> Usage | None:
    usage = data.get("usage")
    return None if usage is None else usage_from_json(usage, what)


def _unknown_type(name: str) -> InvalidValueError:
    return InvalidValueError(
        f"entry: type must be message, compaction, branch_summary or custom; got {name!r:.40}"
    )


class _Fields:
    """Reads the fields of a JSON object, each of the type that it must have."""

    def __init__(self, data: object, what: str) -> None:
        if not isinstance(data, Mapping):
            raise InvalidValueError(f"{what}: must be an object, not a {type(data).__name__}")
        self._data = cast("Mapping[str, Any]", data)
        self._what = what

    def text(self, name: str) -> str:
        return self._of(name, str, "a string")

    def optional_text(self, name: str) -> str | None:
        return None if self._data.get(name) is None else self.text(name)

    def integer(self, name: str) -> int:
        if isinstance(self._data.get(name), bool):
            raise self._wrong(name, "an integer")
        return self._of(name, int, "an integer")

    def number(self, name: str) -> int | float:
        found = self._data.get(name)
        if isinstance(found, bool) or not isinstance(found, (int, float)):
            raise self._wrong(name, "a number")
        return found

    def flag(self, name: str, default: bool | None = None) -> bool:
        if default is not None and self._data.get(name) is None:
            return default
        return self._of(name, bool, "true or false")

    def array(self, name: str) -> list[Any]:
        return self._of(name, _ARRAY, "an array")

    def object(self, name: str) -> Json:
        return self._of(name, _OBJECT, "an object")

    def optional_object(self, name: str) -> Json | None:
        return None if self._data.get(name) is None else self.object(name)

    def _of(self, name: str, wanted: type[T], description: str) -> T:
        found = self._data.get(name)
        if not isinstance(found, wanted):
            raise self._wrong(name, description)
        return found

    def _wrong(self, name: str, description: str) -> InvalidValueError:
        found = self._data.get(name)
        got = "it is missing" if found is None else f"not a {type(found).__name__}"
        return InvalidValueError(f"{self._what}: {name} must be {description}; {got}")
