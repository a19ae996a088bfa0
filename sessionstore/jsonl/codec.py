"""What a line of a format-4 file says (jsonl.md sections 2 and 3).

Reading has two speeds. What this library and pi write is decoded into typed structures whose
payloads are slices of the line. Everything else that is legal is taken apart member by member:
fields of other tools, lone surrogates, compactions. Either way no payload is respelled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Final, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from sessionstore import json_text
from sessionstore.entries import ENTRY_TYPES, EntryType
from sessionstore.errors import InvalidAddressError
from sessionstore.records import LARGEST_INTEGER
from sessionstore.text import KEY_LIMIT, NAMESPACE_LIMIT, check_optional_text, check_text

_T = TypeVar("_T", str, int, bool)


_Seq: TypeAlias = Annotated[int, Meta(ge=1, le=LARGEST_INTEGER)]
_Time: TypeAlias = Annotated[int, Meta(ge=-LARGEST_INTEGER, le=LARGEST_INTEGER)]
# At most four bytes a character: texts this long keep their limits in bytes. Longer ones are looked
# at member by member.
_Name: TypeAlias = Annotated[str, Meta(min_length=1, max_length=NAMESPACE_LIMIT // 4)]
_Key: TypeAlias = Annotated[str, Meta(max_length=KEY_LIMIT // 4)]


class LineError(ValueError):
    """A line that is no transaction of this file; says why, the caller knows where."""


class EntryLine(msgspec.Struct, gc=False):
    """An ``entry`` record. ``payload`` is one JSON object, as in an ``EntryRecord``."""

    id: str
    parent_id: str | None
    seq: int
    timestamp: int
    type: EntryType
    custom_type: str | None
    payload: bytes


class _Tagged(msgspec.Struct, tag_field="kind", rename="camel", forbid_unknown_fields=True, gc=False):
    """What the typed records have in common."""


class UsageLine(_Tagged, tag="usage"):
    """A ``usage`` record."""

    id: _Name
    seq: _Seq
    usage: Raw
    adjustment: bool = False
    entry_id: _Name | None = None
    details: Raw | UnsetType = UNSET


class ValueLine(_Tagged, tag="value"):
    """A ``value`` record; a set has a ``value``, which is for the reader to check."""

    op: Literal["set", "delete"]
    seq: _Seq
    namespace: _Name
    key: _Key
    value: Raw | UnsetType = UNSET
    scope_id: str | UnsetType = UNSET


class ListLine(_Tagged, tag="list"):
    """A ``list`` record; an append has a ``value``, which is for the reader to check."""

    op: Literal["append", "delete"]
    seq: _Seq
    namespace: _Name
    key: _Key
    value: Raw | UnsetType = UNSET
    tag: _Name | None = None
    scope_id: str | UnsetType = UNSET


class RetireLine(_Tagged, tag="scope"):
    """A ``scope`` record."""

    op: Literal["retire"]
    seq: _Seq
    scope_id: str


class PlainEntry(_Tagged, tag="entry"):
    """A message or custom entry without fields of other tools, which nearly every entry is.

    :func:`entry_of` makes an :class:`EntryLine` of it.
    """

    id: _Name
    parent_id: _Name | None
    seq: _Seq
    timestamp: _Time
    type: Literal["message", "custom"]
    custom_type: _Name | UnsetType = UNSET
    message: Raw | UnsetType = UNSET
    terminate: Raw | UnsetType = UNSET
    data: Raw | UnsetType = UNSET


_Typed: TypeAlias = PlainEntry | UsageLine | ValueLine | ListLine | RetireLine

Line: TypeAlias = _Typed | EntryLine
"""One record of a transaction."""

_decode_typed: Final[Callable[[bytes], _Typed | list[_Typed]]] = msgspec.json.Decoder(
    _Typed | list[_Typed]
).decode
_decode_members: Final = msgspec.json.Decoder(dict[str, Raw]).decode
_decode_elements: Final = msgspec.json.Decoder(list[Raw]).decode


def decode_transaction(line: bytes, *, is_ascii: bool = False) -> Sequence[Line]:
    """The records of one line (without its newline), in order.

    ``is_ascii`` says that nothing beyond ASCII stands in it. Raises :class:`LineError` when it is
    no transaction. Texts and numbers keep their rules, U+0000 aside (:func:`check_no_nul`); how
    a record fits the ones before it is not checked here.
    """
    try:
        if not is_ascii:
            line.decode()  # msgspec does not look inside the slices
        found = _decode_typed(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _decode_by_member(line)
    return found if isinstance(found, list) else (found,)


def check_no_nul(*texts: str | None) -> None:
    """Raise :class:`LineError` when an id, an address or a tag contains U+0000."""
    for text in texts:
        if text is not None and "\0" in text:
            raise LineError(f"{text!r:.40} contains U+0000")


def entry_of(entry: PlainEntry) -> EntryLine:
    """The entry with its payload in one piece. Raises :class:`LineError` when it lacks something."""
    message, data, custom_type = entry.message, entry.data, None
    if entry.type == "message":
        if isinstance(message, UnsetType):
            raise LineError("message is missing")
        payload = b"".join((b'{"message":', message, b"}"))
        if payload[len(b'{"message":')] != ord("{"):
            raise LineError("message must be an object")
        if entry.terminate is not UNSET or data is not UNSET or entry.custom_type is not UNSET:
            payload = _join(
                message=message, terminate=entry.terminate, data=data, customType=entry.custom_type
            )
    else:
        if isinstance(entry.custom_type, UnsetType):
            raise LineError("customType is missing")
        custom_type = entry.custom_type
        payload = _join(data=data, message=message, terminate=entry.terminate)
    return EntryLine(entry.id, entry.parent_id, entry.seq, entry.timestamp, entry.type, custom_type, payload)


def _join(**members: Raw | str | UnsetType) -> bytes:
    return msgspec.json.encode({name: part for name, part in members.items() if part is not UNSET})


# -- member by member --------------------------------------------------------------------------


def split_members(text: str) -> dict[str, str]:
    """The members of a JSON object as the text they came in; :class:`LineError` if it is none."""
    try:
        return {name: str(part, "utf-8") for name, part in _decode_members(text).items()}
    except (msgspec.MsgspecError, RecursionError):
        pass  # lone surrogates, a deep stack
    try:
        return json_text.members(text)
    except ValueError as error:
        raise LineError(f"not a readable record: {error}") from None


def _split_elements(text: str) -> list[str]:
    try:
        return [str(part, "utf-8") for part in _decode_elements(text)]
    except (msgspec.MsgspecError, RecursionError):
        pass  # lone surrogates, a deep stack
    try:
        return json_text.elements(text)
    except ValueError as error:
        raise LineError(f"not a readable transaction: {error}") from None


def decode_text(line: bytes) -> str:
    """The text of a line; :class:`LineError` when it is not UTF-8."""
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise LineError(f"not UTF-8 at byte {error.start}") from None


def _decode_by_member(line: bytes) -> list[Line]:
    text = decode_text(line)
    records = _split_elements(text) if text.lstrip(" \t\r")[:1] == "[" else [text]
    return [_record_of(Members(split_members(record))) for record in records]


def _record_of(members: Members) -> Line:
    match members.get("kind", str):
        case "entry":
            return _entry_by_member(members)
        case "usage":
            return UsageLine(
                members.name("id"),
                members.seq(),
                Raw(members.text("usage", "{")),
                members.get("adjustment", bool, False),
                members.optional_name("entryId"),
                members.raw("details"),
            )
        case "value":
            op = members.get("op", str)
            if op not in ("set", "delete"):
                raise LineError(f"unknown op {op!r:.40} of a value record")
            return ValueLine(
                "delete" if op == "delete" else "set",
                members.seq(),
                members.name("namespace"),
                members.key(),
                UNSET if op == "delete" else Raw(members.text("value")),
                members.scope_id(),
            )
        case "list":
            op = members.get("op", str)
            if op not in ("append", "delete"):
                raise LineError(f"unknown op {op!r:.40} of a list record")
            return ListLine(
                "delete" if op == "delete" else "append",
                members.seq(),
                members.name("namespace"),
                members.key(),
                UNSET if op == "delete" else Raw(members.text("value")),
                members.optional_name("tag"),
                members.scope_id(),
            )
        case "scope":
            if members.get("op", str) != "retire":
                raise LineError(f"unknown op {members.get('op', str)!r:.40} of a scope record")
            return RetireLine("retire", members.seq(), members.get("scopeId", str))
        case kind:
            raise LineError(f"unknown kind {kind!r:.40}")


_ENTRY_HEAD: Final = ("kind", "id", "parentId", "seq", "timestamp", "type")
_ENTRY_BODY: Final[dict[EntryType, dict[str, str]]] = {
    "message": {"message": "{"},
    "compaction": {"summary": '"', "retainedTail": "[", "tokensBefore": "-0123456789", "fromHook": "tf"},
    "branch_summary": {"fromId": '"n', "summary": '"', "fromHook": "tf"},
    "custom": {},
}
"""The payload fields that a type must have, and how their text may begin."""


def _entry_by_member(members: Members) -> EntryLine:
    type_ = members.get("type", str)
    if type_ not in ENTRY_TYPES:
        raise LineError(f"unknown entry type {type_!r:.40}")
    custom_type = members.name("customType") if type_ == "custom" else None
    for name, begins in _ENTRY_BODY[type_].items():
        members.text(name, begins)
    return EntryLine(
        members.name("id"),
        members.optional_name("parentId", required=True),
        members.seq(),
        members.time(),
        type_,
        custom_type,
        json_text.join_members(
            members.without(*_ENTRY_HEAD, "customType" if type_ == "custom" else "kind")
        ).encode(),
    )


_TYPE_NAMES: Final = {str: "a string", int: "an integer", bool: "true or false"}


class Members:
    """The members of a JSON object as texts, read one by one as what they must be."""

    __slots__ = ("_texts",)

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def __contains__(self, name: str) -> bool:
        return name in self._texts

    def get(self, name: str, wanted: type[_T], default: _T | None = None) -> _T:
        """The decoded member; ``default`` where there is none. Raises :class:`LineError`."""
        text = self._texts.get(name)
        if text is None:
            if default is None:
                raise LineError(f"{name} is missing")
            return default
        found = self._decode(name, text)
        if type(found) is not wanted:
            raise LineError(f"{name} must be {_TYPE_NAMES[wanted]}")
        return found

    def optional(self, name: str, wanted: type[_T]) -> _T | None:
        """The decoded member, or None where it is null or absent."""
        return None if self._texts.get(name) in (None, "null") else self.get(name, wanted)

    def name(self, name: str) -> str:
        """The member as an id, namespace, tag or custom type."""
        return self._checked(name, check_text, NAMESPACE_LIMIT)

    def optional_name(self, name: str, *, required: bool = False) -> str | None:
        """The same, or None where it is null (or, unless ``required``, absent)."""
        if self._texts.get(name) == "null" or (name not in self._texts and not required):
            return None
        return self.name(name)

    def key(self) -> str:
        """``key``, which may be empty."""
        return self._checked("key", check_optional_text, KEY_LIMIT)

    def seq(self) -> int:
        """``seq``."""
        return self._within("seq", 1)

    def time(self) -> int:
        """``timestamp``."""
        return self._within("timestamp", -LARGEST_INTEGER)

    def text(self, name: str, begins: str | None = None) -> str:
        """The member as the text that it came in, which must begin with one of ``begins``."""
        text = self._texts.get(name)
        if text is None:
            raise LineError(f"{name} is missing")
        if begins is not None and text[0] not in begins:
            raise LineError(f"{name} is of the wrong type")
        return text

    def optional_text(self, name: str) -> str | None:
        """The member as the text that it came in, or None where there is none."""
        return self._texts.get(name)

    def raw(self, name: str) -> Raw | UnsetType:
        """The same as :meth:`optional_text` for the typed records."""
        text = self._texts.get(name)
        return UNSET if text is None else Raw(text)

    def scope_id(self) -> str | UnsetType:
        """``scopeId``, where a record has one."""
        return self.get("scopeId", str) if "scopeId" in self._texts else UNSET

    def is_text(self, name: str, wanted: str) -> bool:
        """Whether the member is exactly this string."""
        text = self._texts.get(name)
        return text is not None and text[0] == '"' and self._decode(name, text) == wanted

    def only(self, *names: str) -> dict[str, str]:
        """Those of these members that there are."""
        return {name: self._texts[name] for name in names if name in self._texts}

    def without(self, *names: str) -> dict[str, str]:
        """The other members, in the order in which they came."""
        return {name: text for name, text in self._texts.items() if name not in names}

    def _checked(self, name: str, check: Callable[..., str], limit: int) -> str:
        try:
            return check(self.get(name, str), name, limit=limit)
        except InvalidAddressError as error:
            raise LineError(str(error)) from None

    def _within(self, name: str, lowest: int) -> int:
        found = self.get(name, int)
        if not lowest <= found <= LARGEST_INTEGER:
            raise LineError(f"{name} {found if abs(found) < 2**64 else 'of many digits'} is out of range")
        return found

    def _decode(self, name: str, text: str) -> object:
        try:
            return json_text.decode(text)
        except ValueError as error:
            raise LineError(f"{name} is not readable: {error}") from None
