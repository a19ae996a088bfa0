"""Text that somebody else chose, in every place that takes text, on every store and in every command.

Path tricks leave the store's folder nowhere, SQL is text, and nothing that drives a terminal comes
out of a command.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessionstore import (
    NewMessageEntry,
    Session,
    append_list,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    open_repository,
    set_value,
    value,
    value_list,
)
from sessionstore.cli.output import printable
from sessionstore.entries import NewCustomEntry, NewUsageRow
from sessionstore.usage import Usage

TEXTS = {
    "parent folder": "../../../escaped",
    "absolute path": "/etc/passwd",
    "windows path": "..\\..\\C:\\x",
    "dots": "..",
    "device": "CON",
    "suffix": "x.jsonl",
    "option": "--repair",
    "sql": "'; DROP TABLE sessions; --",
    "sql comment": 'x" OR 1=1 /* ? %s %(id)s :id */',
    "like": "%_\\%",
    "json": '","id":"forged","x":"',
    "terminal": "\x1b]0;owned\x07\x1b[31m\x9b2J\r\x08",
    "lines": "a\nsessionstore: b\u2028c\x85d",
    "bidi": "\u202etxt.exe\u2066\u200b\U000e0041",
    "markup": "[red]x[/red] :skull: {0}",
}


def fill(session: Session, text: str) -> None:
    scope = ephemeral_scope(text)
    session.commit(
        [
            insert_entry(NewMessageEntry(text, None, {"role": text, "content": text, text: text})),
            insert_entry(NewCustomEntry(f"{text}2", text, text, {text: text})),
            insert_usage(NewUsageRow(f"{text}3", Usage(input=1), entry_id=text, details={text: text})),
            set_value(value(text, text), {text: text}),
            append_list(value_list(text, text), text, tag=text),
        ]
    )
    session.commit(
        [
            set_value(value(text, text, scope=scope), text),
            append_list(value_list(text, text, scope=scope), text),
        ]
    )
    session.create_branch(text, at=text).append_message({"role": "user", "content": text})
    session.set_name(text)
    session.set_label(text, text)


def seen(session: Session, text: str) -> list[Any]:
    scope = ephemeral_scope(text)
    branch = session.branch(text)
    assert branch is not None
    found = [session.get_value(value(text, text)), session.get_value(value(text, text, scope=scope))]
    return [
        [(entry.id, entry.parent_id, entry.type) for entry in session.storage.scan_entries()][:2],
        [(row.id, row.entry_id, row.details) for row in session.scan_usage()],
        [item and item.value for item in found],
        [(e.value, e.tag) for e in session.read_list(value_list(text, text))],
        [e.value for e in session.read_list(value_list(text, text, scope=scope))],
        session.get_name(),
        session.get_label(text),
    ]


def expected(text: str) -> list[Any]:
    return [
        [(text, None, "message"), (f"{text}2", text, "custom")],
        [(f"{text}3", text, {text: text})],
        [{text: text}, text],
        [(text, text)],
        [text],
        text,
        text,
    ]


@pytest.mark.needs("persistent")
def test_hostile_text_is_kept_and_does_nothing(run, new_store_url: Callable[[], str], tmp_path: Path) -> None:
    url, twin = new_store_url(), new_store_url()
    everybody = {"bystander": None, **{text: text for text in TEXTS.values()}}
    with open_repository(url) as repo:
        repo.create(id="bystander").close()
        for text in TEXTS.values():
            with repo.create(id=text, cwd=text) as session:
                fill(session, text)
    check(url, everybody)

    def shown(*arguments: str | Path, code: int = 0) -> None:
        ran = run(*arguments, code=code)
        for line in (ran.out + ran.err).split("\n"):
            assert printable(line) == line, line

    for text in TEXTS.values():
        shown("show", "--full", "--ids", url, "--", text)
        shown("show", "--json", url, "--", f"missing{text}", code=1)
    shown("list", url)
    shown("verify", url)
    shown("copy", url, twin)
    shown("verify", url, twin)
    out = tmp_path / "out"
    out.mkdir()
    for number, text in enumerate(TEXTS.values()):
        shown("export", "--to", f"{out}/{number}.jsonl", twin, "--", text)
        shown("delete", twin, "--", text)
    check(twin, {"bystander": None})
    shown("import", out, "--to", twin)
    check(twin, everybody)
    assert {path.name for path in tmp_path.iterdir()} == {"store-1", "store-2", "out"}
    assert not list(tmp_path.parent.glob("escaped*"))


def check(url: str, everybody: dict[str, str | None]) -> None:
    """A store has exactly these sessions, with everything in them."""
    with open_repository(url) as repo:
        assert {found.id: found.cwd for found in repo.list()} == everybody
        for text in everybody.keys() - {"bystander"}:
            with repo.open(text) as session:
                assert seen(session, text) == expected(text)
