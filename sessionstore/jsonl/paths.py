"""Where the file of a session is (jsonl.md section 1)."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from sessionstore.jsonl.times import iso_time
from sessionstore.text import encode_uri_component

SUFFIX: Final = ".jsonl"
"""Ends the name of a session file."""

LONGEST_FOLDER: Final = 200
"""UTF-8 bytes of a folder name; a longer one is replaced by a hash."""

_SEPARATORS: Final = re.compile(r"[/\\:]")
_CANONICAL: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_(.+)\.jsonl")


def folder_name(cwd: str | None) -> str:
    """The folder of the sessions of a working directory. Lossy: the header's ``cwd`` is the truth."""
    path = cwd or ""
    relative = path[1:] if path.startswith(("/", "\\")) else path
    name = f"--{_SEPARATORS.sub('-', relative)}--"
    if len(name.encode()) <= LONGEST_FOLDER:
        return name
    return f"--~~{hashlib.sha256(path.encode()).hexdigest()}--"


def file_name(created_at: int, id: str) -> str:
    """The name of a session's file; ``created_at`` is Unix ms."""
    created = iso_time(created_at).replace(":", "-").replace(".", "-")
    return f"{created}_{encode_uri_component(id)}{SUFFIX}"


def encoded_id(name: str) -> str | None:
    """The percent-encoded id in the name of a session file; None where the name is another."""
    match = _CANONICAL.fullmatch(name)
    return None if match is None else match[1]
