"""JSON that is legal but awkward survives; what is not JSON is refused (model.md section 4, rule 9)."""

from __future__ import annotations

import datetime as dt
import decimal
import enum
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from sessionstore.address import value, value_list
from sessionstore.entries import NewBranchSummaryEntry, NewCompactionEntry, NewMessageEntry, NewUsageRow
from sessionstore.errors import InvalidValueError
from sessionstore.storage import Storage
from sessionstore.testing.cases import StorageGroup
from sessionstore.testing.checks import calling, check, equal, identical_json, refuses, unchanged
from sessionstore.testing.material import figures, message, nested, note
from sessionstore.testing.threads import Worker
from sessionstore.writes import Write, append_list, insert_entry, insert_usage, set_value

group = StorageGroup("json")

_V = value("app.json", "k")
_L = value_list("app.json", "k")


def _survives(store: Storage, given: Any) -> None:
    """Write ``given`` at every place that takes JSON and check what comes back."""
    store.commit(
        [
            set_value(_V, given),
            append_list(_L, given),
            insert_entry(NewMessageEntry("m", None, {"role": "user", "content": given})),
            note("c", "m", data=given),
            insert_entry(
                NewCompactionEntry("z", "c", "", [{"role": "user", "x": given}], 0, False, details=given)
            ),
            insert_entry(NewBranchSummaryEntry("b", "z", "c", "", False, details=given)),
            insert_usage(NewUsageRow("u", figures(1, extra=given), details=given)),
        ]
    )
    stored = store.get_value(_V)
    assert stored is not None
    identical_json(stored.value, given, "value")
    identical_json(store.scan_values(value("app.json"))[0].value, given, "scanned value")
    identical_json(store.read_list(_L)[0].value, given, "element")
    entries: dict[str, Any] = dict(store.get_entries(["m", "c", "z", "b"]))
    identical_json(entries["m"].message["content"], given, "message")
    identical_json(entries["c"].data, given, "data")
    identical_json(entries["z"].details, given, "details of a compaction")
    identical_json(entries["z"].retained_tail[0]["x"], given, "retained tail")
    identical_json(entries["b"].details, given, "details of a branch summary")
    row = store.scan_usage()[0]
    identical_json(row.details, given, "details of a usage row")
    identical_json(row.usage.extra["extra"], given, "unknown field of a usage")


@group.case
def plain_json_survives(store: Storage) -> None:
    """null, true, false, numbers, strings, arrays and objects, empty ones too."""
    _survives(store, [None, True, False, 0, -1, 1.5, "", "text", [], {}, [[]], {"": {}}, [1, [2, [3]]]])


@group.case
def integers_beyond_doubles_survive(store: Storage) -> None:
    """Integers beyond 2**53, beyond 2**64, beyond doubles, and of up to 4,300 digits."""
    powers = [53, 63, 64, 70, 128]
    given = [sign * (2**power + step) for power in powers for step in (-1, 0, 1) for sign in (1, -1)]
    _survives(store, [*given, 10**400, -(10**400), 10**4299, -(10**4299), 10**4300 - 1])


@group.case
def floats_keep_every_bit(store: Storage) -> None:
    """-0.0, 1e308, the smallest and the odd doubles; integral floats stay floats."""
    given = [-0.0, 0.0, 1e308, -1e308, 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308]
    _survives(store, [*given, 0.1, 0.1 + 0.2, 1.0, 1e16, 1e22, 1e23, 123456789.123456789, 2.0**53, 1e-5])


@group.case
def control_characters_and_nulls_survive(store: Storage) -> None:
    """U+0000, every control character, U+2028, U+0085, and the six characters of an escape."""
    text = "".join(map(chr, range(0x20))) + "\x7f\x80\x85\u2028\u2029\ufeff\ufffe\uffff"
    _survives(
        store, [text, "\0", "a\0b", "\\u0000", '"\\', "/", "\r\n", {"\0": "\0", "\\u0000": 1, "\u2028": 2}]
    )


@group.case
def lone_surrogates_survive(store: Storage) -> None:
    """Halves of surrogate pairs inside strings and keys."""
    _survives(
        store, ["\ud800", "\udfff", "a\udc00b", "\ude00\ud83d", "😀\ud83d", {"\ud83d": "\ude00", "ok": 1}]
    )


@group.case
def unicode_is_not_normalised(store: Storage) -> None:
    """Composed and decomposed text, and characters outside the basic plane, come back as given."""
    _survives(
        store,
        ["á", "a\u0301", "ﬀ", "İ", "👍🏽", "👩‍👩‍👧", "\U0010ffff", {"á": 1, "a\u0301": 2, "A": 3, "a": 4}],
    )


@group.case
def key_order_survives(store: Storage) -> None:
    """Members of objects come back in the order given."""
    _survives(store, {"z": 1, "a": 2, "10": 3, "9": 4, "": 5, "m": {"y": 1, "x": 2}, "B": 6, "b": 7})


@group.case
def deep_nesting_survives(store: Storage) -> None:
    """512 levels of nesting, counted over all that a payload holds."""
    _survives(store, nested(505))
    for levels in (200, 255, 256, 400, 511, 512):
        given = nested(levels)
        store.commit([set_value(_V, given), append_list(_L, given)])
        stored = store.get_value(_V)
        assert stored is not None
        identical_json(stored.value, given, f"{levels} levels")
        identical_json(store.read_list(_L, order="desc", limit=1)[0].value, given, f"{levels} levels")


@group.case
def levels_are_counted_in_what_the_caller_gave(store: Storage) -> None:
    """Messages, data, details and retained messages of exactly 512 levels are accepted, 513 refused."""
    for levels, accepted in ((512, True), (513, False)):
        given = nested(levels - 1)
        inserts: list[Write[Any]] = [
            insert_entry(NewMessageEntry(f"m{levels}", None, {"role": "user", "x": given})),
            note(f"n{levels}", data=[given]),
            insert_entry(NewCompactionEntry(f"z{levels}", None, "", [given], 0, False)),
            insert_entry(NewCompactionEntry(f"y{levels}", None, "", [], 0, False, details=[given])),
            insert_usage(NewUsageRow(f"u{levels}", figures(), details=[given])),
        ]
        for insert in inserts:
            if accepted:
                store.commit([insert])
            else:
                refuses(
                    InvalidValueError, calling(lambda insert: store.commit([insert]), insert), "512 levels"
                )
    data: Any = store.get_entries(["n512"])["n512"]
    identical_json(data.data, [nested(511)], "data of 512 levels")


@group.case
def deep_values_are_read_from_deep_stacks(store: Storage) -> None:
    """What was accepted is readable from any stack depth."""
    given = nested(512)
    store.commit([set_value(_V, given)])

    def read(frames: int) -> Any:
        return read(frames - 1) if frames else store.get_value(_V)

    stored = Worker(lambda: read(700)).result()
    identical_json(stored.value, given, "a value read from deep inside")


@group.case
def wide_values_survive(store: Storage) -> None:
    """Tens of thousands of elements and members, shallow."""
    _survives(store, {"list": list(range(20_000)), "objects": [{"n": n} for n in range(2000)]})


@group.case
def large_strings_survive(store: Storage) -> None:
    """Strings of several megabytes, of one byte and of four bytes a character."""
    for text in ("x" * 4_000_000, "😀" * 1_000_000, "a\0\ud800é" * 50_000):
        store.commit([set_value(_V, text)])
        stored = store.get_value(_V)
        assert stored is not None
        check(stored.value == text, f"a string of {len(text)} characters should come back as given")


@group.case
def tuples_count_as_arrays(store: Storage) -> None:
    """Tuples are arrays; subclasses of str, int, float, list and dict count by their value."""

    class Text(str):
        __slots__ = ()

    class Number(int):
        pass

    class Real(float):
        pass

    class Color(enum.IntEnum):
        RED = 3

    class Word(enum.StrEnum):
        HI = "hi"

    ordered: dict[str, Any] = OrderedDict(b=1, a=())
    given: Any = {Text("k"): (Text("v"), Number(7), Real(0.5), Color.RED, Word.HI), "o": ordered}
    store.commit([set_value(_V, given)])
    stored = store.get_value(_V)
    assert stored is not None
    identical_json(stored.value, {"k": ["v", 7, 0.5, 3, "hi"], "o": {"b": 1, "a": []}})


def _cycle() -> list[Any]:
    inner: list[Any] = []
    inner.append({"again": inner})
    return inner


_NOT_JSON: list[tuple[str, Callable[[], Any]]] = [
    ("NaN", lambda: float("nan")),
    ("infinity", lambda: float("inf")),
    ("minus infinity", lambda: float("-inf")),
    ("bytes", lambda: b"bytes"),
    ("a bytearray", lambda: bytearray(b"x")),
    ("a set", lambda: {1}),
    ("a frozenset", frozenset),
    ("a datetime", lambda: dt.datetime(2026, 1, 1)),
    ("a date", lambda: dt.date(2026, 1, 1)),
    ("a Decimal", lambda: decimal.Decimal("1.5")),
    ("a UUID", lambda: uuid.UUID(int=1)),
    ("a complex number", lambda: 1j),
    ("an object", object),
    ("a class", lambda: int),
    ("a generator", lambda: (n for n in [1])),
    ("an enum", lambda: enum.Enum("Shade", {"DARK": "dark"}).DARK),  # type: ignore[attr-defined]
    ("an integer key", lambda: {1: "x"}),
    ("an integer key beside its text", lambda: {"1": "a", 1: "b"}),
    ("a None key", lambda: {None: 1}),
    ("a bool key", lambda: {True: 1}),
    ("a tuple key", lambda: {(1, 2): 1}),
    ("a bytes key", lambda: {b"k": 1}),
    ("a cycle", _cycle),
    ("513 levels", lambda: nested(513)),
    ("5,000 levels", lambda: nested(5000)),
    ("an integer of 4,301 digits", lambda: 10**4300),
    ("an integer of 5,001 digits", lambda: -(10**5000)),
]


@group.case
def what_is_not_json_is_refused_as_a_value(store: Storage) -> None:
    """A value that is not JSON is refused with its address, and nothing changes."""
    store.commit([set_value(_V, "kept"), append_list(_L, "kept")])
    for name, make in _NOT_JSON:
        for write in (set_value(_V, make()), append_list(_L, make())):
            with unchanged(store, _V, _L):
                _refused(store, [write], name, "app.json", "'k'")


@group.case
def the_refusal_names_the_path_inside(store: Storage) -> None:
    """The error of what is not JSON names the path inside the value."""
    for name, make in _NOT_JSON:
        if "levels" in name:
            continue  # deeper than what is told of a path
        given = {"outer": [0, {"inner": make()}]}
        _refused(store, [set_value(_V, given)], name, "app.json", "outer", "[1]", "inner")
        _refused(store, [note("n", data=given)], name, "'n'", "outer", "[1]", "inner")
    equal(store.get_value(_V), None)


@group.case
def what_is_not_json_is_refused_in_every_payload(store: Storage) -> None:
    """The same holds for messages, data, details, usage and retained messages."""
    for name, make in _NOT_JSON:
        bad = make()
        writes: list[tuple[str, Write[Any]]] = [
            ("'m'", insert_entry(NewMessageEntry("m", None, message(x=bad)))),
            ("'n'", note("n", data=bad)),
            ("'z'", insert_entry(NewCompactionEntry("z", None, "", [message(x=bad)], 0, False))),
            ("'z'", insert_entry(NewCompactionEntry("z", None, "", [], 0, False, details=bad))),
            ("'b'", insert_entry(NewBranchSummaryEntry("b", None, None, "", False, details=bad))),
            ("'u'", insert_usage(NewUsageRow("u", figures(), details=bad))),
            ("'u'", insert_usage(NewUsageRow("u", figures(extra=bad)))),
        ]
        for named, write in writes:
            with unchanged(store, _V):
                _refused(store, [set_value(_V, 1), write], name, named)


def _refused(store: Storage, writes: list[Write[Any]], name: str, *mentions: str) -> None:
    try:
        refuses(InvalidValueError, lambda: store.commit(writes), *mentions)
    except AssertionError as failure:
        raise AssertionError(f"{name}: {failure}") from failure
