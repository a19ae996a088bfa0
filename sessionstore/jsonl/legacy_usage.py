"""The statistics of a file of the older formats, which has no ledger (jsonl.md section 4)."""

from __future__ import annotations

from typing import Any, Final, cast

import msgspec

from sessionstore import json_text
from sessionstore.jsonl.legacy_records import LegacyRecord
from sessionstore.usage import Usage, UsageFold, usage_to_json


class _Costly(msgspec.Struct):
    """What matters of a message."""

    role: str
    usage: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


_decode_costly = msgspec.json.Decoder(_Costly).decode


class LegacyUsage:
    """Adds up the usage of assistant and tool-result messages, compactions and branch summaries.

    Older messages lack figures that came later; such a figure counts as zero.
    """

    def __init__(self) -> None:
        self._fold = UsageFold()

    def take(self, record: LegacyRecord) -> None:
        """Add what a kept record cost."""
        text = record.members.optional_text("usage")
        if record.type == "message":
            text = _message_usage(record.members.text("message"))
        elif record.type not in ("compaction", "branch_summary"):
            text = None
        if text is None or text[0] != "{":
            return
        try:
            self._fold.add(text, "usage")
        except ValueError:
            self._fold.add(_completed(text), "usage")

    def total(self) -> Usage:
        """The sum. Raises ``InvalidValueError`` when it left the range of a double."""
        return self._fold.total()


def _message_usage(text: str) -> str | None:
    try:
        message = _decode_costly(text)
    except (msgspec.MsgspecError, RecursionError):
        members = json_text.members(text)  # lone surrogates, a deep stack
        role, usage = json_text.decode(members["role"]), members.get("usage")
    else:
        role = message.role
        usage = None if isinstance(message.usage, msgspec.UnsetType) else str(message.usage, "utf-8")
    return usage if role in ("assistant", "toolResult") else None


def _completed(text: str) -> str:
    """The known figures of a usage, each a number."""
    try:
        given: dict[str, Any] = json_text.decode(text)
    except ValueError:  # a number that no double holds
        given = {}
    costs: Any = given.get("cost")
    if not isinstance(costs, dict):
        costs = {}
    known = usage_to_json(Usage(cache_write_1h=0, reasoning=0))
    completed: dict[str, Any] = {
        name: _figure(given.get(name)) for name in known if name in given or name not in _OPTIONAL
    }
    completed["cost"] = {name: _figure(cast("dict[str, Any]", costs).get(name)) for name in known["cost"]}
    return json_text.encode(completed, "usage")


_OPTIONAL: Final = ("cacheWrite1h", "reasoning")


def _figure(given: object) -> int | float:
    return given if isinstance(given, (int, float)) and not isinstance(given, bool) else 0
