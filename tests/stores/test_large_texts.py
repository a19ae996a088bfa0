"""Texts of many megabytes come back whole; what servers take is in ``server/test_large_writes.py``."""

from __future__ import annotations

import pytest
from legs import STORE_KINDS, StoreKind

from sessionstore import (
    NewMessageEntry,
    Session,
    append_list,
    insert_entry,
    open_repository,
    set_value,
    value,
    value_list,
)

SIZE = 20_000_000
TEXT = value("app.text", type=str)
TEXTS = value_list("app.texts", type=str)

each_local = pytest.mark.parametrize(
    "store_kind",
    [kind for kind in STORE_KINDS if "server" not in kind.capabilities],
    indirect=True,
    ids=lambda kind: kind.name,
)


@pytest.mark.slow
@each_local
@pytest.mark.parametrize("piece", ["x", "é"], ids=ascii)
def test_twenty_megabytes_come_back_whole(store_kind: StoreKind, store_url: str, piece: str) -> None:
    text = piece * (SIZE // len(piece.encode()))
    with open_repository(store_url) as repo:
        with repo.create(id="a") as session:
            session.commit(
                [
                    set_value(TEXT, text),
                    append_list(TEXTS, text),
                    insert_entry(NewMessageEntry("e", None, {"role": "user", "content": text})),
                ]
            )
            if "persistent" not in store_kind.capabilities:
                check(session, text)
        if "persistent" in store_kind.capabilities:
            with repo.open("a") as session:
                check(session, text)


def check(session: Session, text: str) -> None:
    assert getattr(session.get_value(TEXT), "value", None) == text
    assert [element.value for element in session.read_list(TEXTS)] == [text]
    entry = session.get_entry("e")
    assert entry is not None
    assert entry.type == "message"
    assert entry.message["content"] == text
