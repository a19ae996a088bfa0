"""The writing direction: records and steps of a plan -> the lines of a file (jsonl.md section 2).

Payloads go in as the text that they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from json.encoder import encode_basestring as _quote
from typing import Any, Final

from sessionstore.address import Place
from sessionstore.plan import ListDeletion, Retirement, Step, ValueDeletion
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord


def transaction_line(steps: Iterable[Step]) -> bytes:
    """One transaction as one complete line, its newline included."""
    texts = [_record_text(step) for step in steps]
    text = texts[0] if len(texts) == 1 else f"[{','.join(texts)}]"
    return text_line(text)


def text_line(text: str) -> bytes:
    """JSON text as one complete line, its newline included.

    A newline in JSON text can only stand between two tokens, where a space says the same.
    """
    if "\n" in text:
        text = text.replace("\n", " ")
    return f"{text}\n".encode()


def _record_text(step: Step) -> str:
    return _TEXTS[type(step)](step)


def _element_text(element: ElementRecord) -> str:
    tag = "" if element.tag is None else f',"tag":{_quote(element.tag)}'
    return (
        f'{{"kind":"list","op":"append","seq":{element.seq},"namespace":{_quote(element.namespace)},'
        f'"key":{_quote(element.key)},"value":{element.value}{_scope(element.scope_id)}{tag}}}'
    )


def _value_text(value: ValueRecord) -> str:
    return (
        f'{{"kind":"value","op":"set","seq":{value.seq},"namespace":{_quote(value.namespace)},'
        f'"key":{_quote(value.key)},"value":{value.value}{_scope(value.scope_id)}}}'
    )


def _usage_text(row: UsageRecord) -> str:
    entry = "" if row.entry_id is None else f',"entryId":{_quote(row.entry_id)}'
    details = "" if row.details is None else f',"details":{row.details}'
    adjustment = "true" if row.adjustment else "false"
    return (
        f'{{"kind":"usage","id":{_quote(row.id)}{entry},"adjustment":{adjustment},'
        f'"usage":{row.usage}{details},"seq":{row.seq}}}'
    )


def _entry_text(entry: EntryRecord) -> str:
    parent = "null" if entry.parent_id is None else _quote(entry.parent_id)
    custom_type = "" if entry.custom_type is None else f',"customType":{_quote(entry.custom_type)}'
    body = entry.payload.strip()[1:-1].strip()
    if body:
        body = f",{body}"
    return (
        f'{{"kind":"entry","id":{_quote(entry.id)},"parentId":{parent},"type":"{entry.type}"'
        f'{custom_type}{body},"seq":{entry.seq},"timestamp":{entry.timestamp}}}'
    )


def _value_deletion_text(step: ValueDeletion) -> str:
    return _deletion_text("value", step.place, step.seq)


def _list_deletion_text(step: ListDeletion) -> str:
    return _deletion_text("list", step.place, step.seq)


def _deletion_text(kind: str, place: Place, seq: int) -> str:
    scope_id, namespace, key = place
    return (
        f'{{"kind":"{kind}","op":"delete","seq":{seq},"namespace":{_quote(namespace)},'
        f'"key":{_quote(key)}{_scope(scope_id)}}}'
    )


def _retirement_text(step: Retirement) -> str:
    return f'{{"kind":"scope","op":"retire","seq":{step.seq},"scopeId":{_quote(step.scope_id)}}}'


def _scope(scope_id: str) -> str:
    return f',"scopeId":{_quote(scope_id)}' if scope_id else ""


_TEXTS: Final[dict[type[Step], Callable[[Any], str]]] = {
    EntryRecord: _entry_text,
    UsageRecord: _usage_text,
    ValueRecord: _value_text,
    ElementRecord: _element_text,
    ValueDeletion: _value_deletion_text,
    ListDeletion: _list_deletion_text,
    Retirement: _retirement_text,
}
