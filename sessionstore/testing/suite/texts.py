"""Text that sloppy stores confuse: four different things stay four (model.md sections 2 to 4)."""

from __future__ import annotations

from typing import Any

from sessionstore.address import value, value_list
from sessionstore.entries import CustomEntry, NewMessageEntry
from sessionstore.scope import ephemeral_scope
from sessionstore.storage import Storage
from sessionstore.testing.cases import StorageGroup
from sessionstore.testing.checks import equal, ids_of, values_of
from sessionstore.testing.material import message, note, spend
from sessionstore.writes import Write, append_list, delete_list, delete_value, insert_entry, set_value

group = StorageGroup("texts")

SIMILAR = (
    "README", "readme", "Readme",
    "a", "a ", " a", "a\t", "a\n", "A", "á", "a\u0301", "à", "å",
    "👍", "🎉", "👍🏽", "\ufffd", "ss", "ß", "ﬀ", "ff", "i", "I", "İ", "\u0131",
    "1", "01", "1.0", "null", "a\u200b", "a\u00ad", "\uff41",
)  # fmt: skip
"""Texts of which a collation, a file system or a normalisation takes some for the same."""

HOSTILE = (
    "../../x", "..", "CON", "a?b=c", "100%", "#x", "é", "a/b", "a\\b", "%s", "{0}", "$1", "`id`",
    "'; DROP TABLE entries; --", '"', "\\", "\\0", "--", "/*", "\x1b[31m", "\u202e", "\u2028", "\x85",
    "x" * 255, "é" * 127,
)  # fmt: skip
"""Texts that mean something to a path, a URL, a query, a format or a terminal."""


@group.case
def keys_that_look_alike_are_different(store: Storage) -> None:
    """Keys, namespaces and tags that a collation takes for equal are different."""
    texts = [*SIMILAR, *HOSTILE]
    store.commit([set_value(value("app", text), text) for text in texts])
    store.commit([set_value(value(text, "k"), text) for text in texts])
    store.commit([append_list(value_list("app", text), text) for text in texts])
    for text in texts:
        for place in (value("app", text), value(text, "k")):
            stored = store.get_value(place)
            equal(None if stored is None else stored.value, text, f"the value at {place}")
        equal(values_of(store.read_list(value_list("app", text))), [text])
    equal(values_of(store.scan_values(value("app"))), sorted(texts))
    for text in texts[::2]:
        store.commit([delete_value(value("app", text)), delete_list(value_list("app", text))])
    equal(values_of(store.scan_values(value("app"))), sorted(texts[1::2]))
    for index, text in enumerate(texts):
        found = store.get_value(value("app", text)) is not None
        equal(found, index % 2 == 1, f"whether the key {text!r} has a value")
        equal(values_of(store.read_list(value_list("app", text))), [text] if index % 2 else [])


@group.case
def entry_ids_that_look_alike_are_different(store: Storage) -> None:
    """Entry ids and usage ids that a collation takes for equal are different."""
    texts = [*SIMILAR, *HOSTILE]
    writes: list[Write[Any]] = []
    for index, text in enumerate(texts):
        writes.append(note(text, texts[index - 1] if index else None, data=text))
    store.commit(writes)
    found = store.get_entries(texts)
    equal([entry.data for entry in found.values() if isinstance(entry, CustomEntry)], texts)
    equal(ids_of(store.scan_branch(texts[-1], order="asc")), texts)
    rows = [f"{text}!"[-255:] for text in texts if len(text.encode()) < 255]
    store.commit([spend(row) for row in rows])
    equal(ids_of(store.scan_usage()), rows)


@group.case
def custom_types_that_look_alike_are_different(store: Storage) -> None:
    """Custom types are compared exactly."""
    texts = [*SIMILAR, *HOSTILE]
    store.commit(
        [note(f"e{n}", f"e{n - 1}" if n else None, custom_type=text) for n, text in enumerate(texts)]
    )
    for n, text in enumerate(texts):
        equal(ids_of(store.scan_entries(custom_type=text)), [f"e{n}"], f"entries of custom type {text!r}")
        equal(ids_of(store.scan_branch(f"e{len(texts) - 1}", custom_type=text)), [f"e{n}"])


@group.case
def scope_ids_that_look_alike_are_different(store: Storage) -> None:
    """Scope ids that a collation or a file system takes for equal are different."""
    for text in SIMILAR:
        scope = ephemeral_scope(text)
        store.commit(
            [set_value(value("app", scope=scope), text), append_list(value_list("app", scope=scope), text)]
        )
    for text in SIMILAR:
        scope = ephemeral_scope(text)
        equal(values_of(store.scan_values(value("app", scope=scope))), [text])
        equal(values_of(store.read_list(value_list("app", scope=scope))), [text])


@group.case
def payload_text_means_nothing(store: Storage) -> None:
    """Text inside payloads is never taken for a query, a format or a place holder."""
    for text in HOSTILE:
        store.commit([set_value(value("app", "k"), {text: text}), append_list(value_list("app"), text)])
        stored = store.get_value(value("app", "k"))
        equal(None if stored is None else stored.value, {text: text})
    store.commit([insert_entry(NewMessageEntry("m", None, message(text=str(HOSTILE), more=list(HOSTILE))))])
    equal(values_of(store.read_list(value_list("app"))), list(HOSTILE))
    entry = store.get_entries(["m"])["m"]
    equal(getattr(entry, "message", {}).get("more"), list(HOSTILE))
