"""Session files made by hand, and what is read from them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sessionstore import NewMessageEntry, Session, Write, insert_entry, json_text
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.jsonl import ImportReport, open_source
from sessionstore.records import (
    ElementRecord,
    EntryRecord,
    Record,
    UsageRecord,
    ValueRecord,
    entry_of,
    usage_row_of,
)
from sessionstore.scope import SessionScope
from sessionstore.wire import entry_to_json, stats_to_json, usage_row_to_json

T0 = 1760000000000
"""Unix ms of the header of every file made here."""

COST = {"input": 0.1, "output": 0.2, "cacheRead": 0.01, "cacheWrite": 0.02, "total": 0.33}

USAGE = {
    "input": 10,
    "output": 5,
    "cacheRead": 1,
    "cacheWrite": 2,
    "totalTokens": 18,
    "cost": COST,
}


def text_of(data: Any) -> str:
    """Text as it is; of anything else the JSON text, with lone surrogates escaped."""
    if isinstance(data, str):
        return data
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match.group()):04x}", text)


def write_lines(path: Path, lines: Iterable[Any], *, end: str = "\n") -> Path:
    """One line for each of ``lines``: JSON data, or text as it is."""
    path.write_bytes(("\n".join(map(text_of, lines)) + end).encode("utf-8", "surrogatepass"))
    return path


def say(id: str, parent: str | None = None) -> Write[SessionScope]:
    """A message to insert."""
    return insert_entry(NewMessageEntry(id, parent, {"role": "user", "content": id}))


# -- format 4 ------------------------------------------------------------------------------------


def v4_header(**change: Any) -> dict[str, Any]:
    header = {"v": 4, "kind": "header", "id": "s", "storageVersion": 1, "createdAt": T0, "cwd": "/srv"}
    return {name: item for name, item in {**header, **change}.items() if item is not ...}


def v4_file(path: Path, *lines: Any, end: str = "\n", **change: Any) -> Path:
    return write_lines(path, [v4_header(**change), *lines], end=end)


def entry(seq: int, id: str, parent: str | None = None, **change: Any) -> dict[str, Any]:
    found = {
        "kind": "entry",
        "id": id,
        "parentId": parent,
        "type": "message",
        "message": {"role": "user", "content": id},
        "seq": seq,
        "timestamp": T0 + seq,
        **change,
    }
    return {name: item for name, item in found.items() if item is not ...}


def set_line(seq: int, value: Any, namespace: str = "app", key: str = "", **change: Any) -> dict[str, Any]:
    return {
        "kind": "value",
        "op": "set",
        "seq": seq,
        "namespace": namespace,
        "key": key,
        "value": value,
        **change,
    }


def append_line(seq: int, value: Any, namespace: str = "app", key: str = "", **change: Any) -> dict[str, Any]:
    return {**set_line(seq, value, namespace, key), "kind": "list", "op": "append", **change}


def usage_line(seq: int, id: str, usage: Any = USAGE, **change: Any) -> dict[str, Any]:
    return {"kind": "usage", "id": id, "seq": seq, "usage": usage, "adjustment": False, **change}


def retire_line(seq: int, scope_id: str) -> dict[str, Any]:
    return {"kind": "scope", "op": "retire", "seq": seq, "scopeId": scope_id}


def sidecar(path: Path, scope_id: str, *lines: Any, end: str = "\n", **change: Any) -> Path:
    """A sidecar beside the main file ``path``; its name is spelled out for ids without special characters."""
    directory = Path(f"{path}.scopes")
    directory.mkdir(exist_ok=True)
    header = {
        "v": 4,
        "kind": "scope_header",
        "sessionId": "s",
        "scopeId": scope_id,
        "storageVersion": 1,
        **change,
    }
    return write_lines(directory / f"scope-{scope_id}.scope", [header, *lines], end=end)


# -- format 3 ------------------------------------------------------------------------------------


def v3_header(**change: Any) -> dict[str, Any]:
    header = {
        "type": "session",
        "version": 3,
        "id": "old",
        "timestamp": "2025-10-09T08:53:20.000Z",
        "cwd": "/srv",
    }
    return {name: item for name, item in {**header, **change}.items() if item is not ...}


def v3_file(path: Path, *records: Any, end: str = "\n", **change: Any) -> Path:
    return write_lines(path, [v3_header(**change), *records], end=end)


def record(type: str, id: str | None, parent: str | None, **fields: Any) -> dict[str, Any]:
    """A record of format 2 or 3; an id of None leaves ids out, as format 1 does."""
    found = {"type": type, "id": id, "parentId": parent, "timestamp": "2025-10-09T08:53:21.500Z", **fields}
    if id is None:
        del found["id"], found["parentId"]
    return {name: item for name, item in found.items() if item is not ...}


def message(id: str | None, parent: str | None, role: str = "user", **fields: Any) -> dict[str, Any]:
    return record("message", id, parent, message={"role": role, "content": id, **fields})


# -- reading -------------------------------------------------------------------------------------


@dataclass
class Loaded:
    """An image, read whole."""

    header: ImageHeader
    entries: list[EntryRecord] = field(default_factory=list)
    usage_rows: list[UsageRecord] = field(default_factory=list)
    values: list[ValueRecord] = field(default_factory=list)
    elements: list[ElementRecord] = field(default_factory=list)
    report: ImportReport = field(default_factory=ImportReport)
    format: int = 4

    def payload(self, index: int) -> Any:
        return json.loads(self.entries[index].payload)

    def value(self, namespace: str, key: str = "") -> Any:
        [found] = [record for record in self.values if (record.namespace, record.key) == (namespace, key)]
        return json_text.decode(found.value)

    def tree(self) -> list[tuple[int, int | None]]:
        """The number of each entry and of its parent."""
        seqs: dict[str | None, int | None] = {record.id: record.seq for record in self.entries}
        seqs[None] = None
        return [(record.seq, seqs[record.parent_id]) for record in self.entries]

    def mercies(self) -> list[tuple[int, str]]:
        return [(mercy.line, mercy.kind) for mercy in self.report.mercies]


def read_image(image: SessionImage) -> Loaded:
    loaded = Loaded(image.header)
    kinds: dict[type[Record], list[Any]] = {
        EntryRecord: loaded.entries,
        UsageRecord: loaded.usage_rows,
        ValueRecord: loaded.values,
        ElementRecord: loaded.elements,
    }
    for item in image.records:
        kinds[type(item)].append(item)
    return loaded


def load(path: Path, *, lenient: bool = False) -> Loaded:
    with open_source(path, lenient=lenient) as session:
        loaded = read_image(session.image)
        loaded.report, loaded.format = session.report, session.format
        return loaded


def stored(session: Session, place: Any) -> Any:
    """The value at a place, or None."""
    found = session.get_value(place)
    return None if found is None else found.value


# -- vectors -------------------------------------------------------------------------------------

VECTORS = Path(__file__).parent.parent / "vectors"


def expectation(loaded: Loaded) -> dict[str, Any]:
    """What the vectors' expectations say of a session: entry ids are ``#seq``."""
    names = {record.id: f"#{record.seq}" for record in loaded.entries}

    def renamed(data: Any) -> Any:
        match data:
            case str():
                return names.get(data, data)
            case list():
                return [renamed(item) for item in data]
            case dict():
                return {name: renamed(item) for name, item in data.items()}
            case _:
                return data

    header = loaded.header
    metadata = {
        "id": header.id,
        "createdAt": header.created_at,
        "cwd": header.cwd,
        "storageVersion": 1,
        "parentSessionId": header.parent_session_id,
        "legacyParentSessionPath": header.legacy_parent_session_path,
    }
    values: dict[str, list[Any]] = {}
    for value in sorted(loaded.values, key=lambda value: (value.namespace, value.key)):
        data = renamed(json_text.decode(value.value))
        values.setdefault(value.namespace, []).append(
            {"key": renamed(value.key), "seq": value.seq, "value": data}
        )
    lists: dict[str, list[Any]] = {}
    for element in loaded.elements:
        item = {"seq": element.seq, "value": json_text.decode(element.value), "tag": element.tag}
        lists.setdefault(f"{element.namespace}|{element.key}", []).append(
            {name: part for name, part in item.items() if part is not None}
        )
    return {
        "metadata": {name: item for name, item in metadata.items() if item is not None},
        "entries": [renamed(entry_to_json(entry_of(record))) for record in loaded.entries],
        "values": values,
        "lists": lists,
        "stats": stats_to_json(header.stats),
        "usage": [renamed(usage_row_to_json(usage_row_of(row))) for row in loaded.usage_rows],
    }
