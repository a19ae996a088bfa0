"""The writing direction: records and steps of a plan -> the lines of a file (jsonl.md section 2).

Payloads go in as the text that they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from json.encoder import encode_basestring as _quote
from typing import assert_never

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
    match step:
        case EntryRecord():
            return _entry_text(step)
        case ElementRecord():
            tag = "" if step.tag is None else f',"tag":{_quote(step.tag)}'
            return (
                f'{{"kind":"list","op":"append","seq":{step.seq},"namespace":{_quote(step.namespace)},'
                f'"key":{_quote(step.key)},"value":{step.value}{_scope(step.scope_id)}{tag}}}'
            )
        case ValueRecord():
            return (
                f'{{"kind":"value","op":"set","seq":{step.seq},"namespace":{_quote(step.namespace)},'
                f'"key":{_quote(step.key)},"value":{step.value}{_scope(step.scope_id)}}}'
            )
        case UsageRecord():
            entry = "" if step.entry_id is None else f',"entryId":{_quote(step.entry_id)}'
            details = "" if step.details is None else f',"details":{step.details}'
            adjustment = "true" if step.adjustment else "false"
            return (
                f'{{"kind":"usage","id":{_quote(step.id)}{entry},"adjustment":{adjustment},'
                f'"usage":{step.usage}{details},"seq":{step.seq}}}'
            )
        case ValueDeletion():
            return _deletion_text("value", step)
        case ListDeletion():
            return _deletion_text("list", step)
        case Retirement():
            return f'{{"kind":"scope","op":"retire","seq":{step.seq},"scopeId":{_quote(step.scope_id)}}}'
        case _:
            assert_never(step)


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


def _deletion_text(kind: str, step: ValueDeletion | ListDeletion) -> str:
    scope_id, namespace, key = step.place
    return (
        f'{{"kind":"{kind}","op":"delete","seq":{step.seq},"namespace":{_quote(namespace)},'
        f'"key":{_quote(key)}{_scope(scope_id)}}}'
    )


def _scope(scope_id: str) -> str:
    return f',"scopeId":{_quote(scope_id)}' if scope_id else ""
