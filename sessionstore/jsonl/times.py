"""Times as the files spell them: ISO 8601 in format 3 and in file names, Unix ms in format 4."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

LARGEST_TIME: Final = 253_402_300_799_999
"""The last millisecond of the year 9999, the last that ISO 8601 spells with four digits."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_ISO: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:Z|([+-])(\d\d):?(\d\d))?)?",
    re.ASCII,
)


_USUAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
_MILLISECOND: Final = timedelta(milliseconds=1)


def parse_time(text: str) -> int:
    """Unix ms of an ISO 8601 time; without an offset it is UTC. Digits after the ms are cut off.

    Raises ``ValueError`` when ``text`` is no such time.
    """
    if _USUAL.fullmatch(text):
        return (datetime.fromisoformat(text) - _EPOCH) // _MILLISECOND
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r:.40} is not an ISO 8601 time")
    year, month, day, hour, minute, second, fraction, sign, offset_hours, offset_minutes = match.groups("0")
    moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    if int(offset_hours) > 23 or int(offset_minutes) > 59:
        raise ValueError(f"{text!r:.40} has no such offset from UTC")
    offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes))
    since = moment - _EPOCH - (-offset if sign == "-" else offset)
    return since // _MILLISECOND + int(fraction[:3].ljust(3, "0"))


def iso_time(timestamp: int) -> str:
    """The ISO 8601 UTC time with milliseconds of Unix ms, as ``Date.toISOString`` spells it."""
    moment = _EPOCH + timedelta(milliseconds=timestamp)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z"
