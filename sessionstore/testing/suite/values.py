"""Values: set, delete, scan, and the identity of addresses (model.md sections 2 and 5)."""

from __future__ import annotations

import datetime as dt
from typing import Any

from sessionstore.address import Value, value, value_list
from sessionstore.errors import InvalidAddressError, InvalidValueError
from sessionstore.scope import ephemeral_scope
from sessionstore.storage import Storage
from sessionstore.testing.cases import StorageGroup
from sessionstore.testing.checks import calling, check, equal, refuses, unchanged, values_of
from sessionstore.writes import append_list, delete_value, set_value

group = StorageGroup("values")

_A = value("app", "a")


def _keys(store: Storage, prefix: Value[Any, Any]) -> list[str]:
    return [found.address.key for found in store.scan_values(prefix)]


@group.case
def a_value_reads_back_with_the_seq_of_its_last_set(store: Storage) -> None:
    """``get_value`` gives the stored value with the number of its last set, or None."""
    equal(store.get_value(_A), None, "a value that was never set")
    store.commit([set_value(_A, "first")])
    result = store.commit([set_value(value("app", "b"), 0), set_value(_A, {"n": [1]})])
    stored = store.get_value(_A)
    assert stored is not None
    equal((stored.value, stored.seq), ({"n": [1]}, result.seqs[1]))
    equal(stored.address, _A, "its address")


@group.case
def null_is_a_value(store: Storage) -> None:
    """JSON null is a value; it is not absence."""
    store.commit([set_value(_A, None)])
    stored = store.get_value(_A)
    check(stored is not None, "a value that is null should exist")
    assert stored is not None
    equal(stored.value, None)
    equal(len(store.scan_values(value("app"))), 1, "values in the namespace")


@group.case
def a_deleted_value_is_gone(store: Storage) -> None:
    """Deleting a value removes it from reads and scans; deleting an absent one is legal."""
    store.commit([set_value(_A, 1), set_value(value("app", "b"), 2)])
    store.commit([delete_value(_A)])
    equal(store.get_value(_A), None)
    equal(_keys(store, value("app")), ["b"])
    store.commit([delete_value(_A)])
    equal(_keys(store, value("app")), ["b"])


@group.case
def the_empty_key_is_a_key(store: Storage) -> None:
    """The empty key is legal, and is a place of its own."""
    store.commit([set_value(value("app"), "empty"), set_value(value("app", " "), "space")])
    stored = store.get_value(value("app", ""))
    assert stored is not None
    equal(stored.value, "empty")
    equal(_keys(store, value("app")), ["", " "])


@group.case
def equal_addresses_are_the_same_place(store: Storage) -> None:
    """Object identity means nothing: equal kind, namespace, key and scope is the same place."""
    store.commit([set_value(value("app", "x", type=int), 7)])
    stored = store.get_value(value("a" + "pp", "x"))
    assert stored is not None
    equal(stored.value, 7)


@group.case
def a_value_and_a_list_are_two_places(store: Storage) -> None:
    """The kind is part of the identity of an address."""
    store.commit([set_value(_A, "value"), append_list(value_list("app", "a"), "element")])
    store.commit([delete_value(_A)])
    equal(store.get_value(_A), None)
    equal(values_of(store.read_list(value_list("app", "a"))), ["element"])


@group.case
def namespace_and_key_do_not_run_together(store: Storage) -> None:
    """Namespaces and keys with separators in them are different places."""
    places = [
        value("a", "b.c"),
        value("a.b", "c"),
        value("a", "b/c"),
        value("a/b", "c"),
        value("a", "b:c"),
        value("a:b", "c"),
        value("a", "b\tc"),
        value("a\tb", "c"),
        value("a\x1fb", "c"),
        value("a", "b\x1fc"),
    ]
    store.commit([set_value(place, index) for index, place in enumerate(places)])
    equal([getattr(store.get_value(place), "value", None) for place in places], list(range(len(places))))


@group.case
def the_type_is_no_part_of_the_identity(store: Storage) -> None:
    """A value is read through an address of another type when it fits."""
    store.commit([set_value(value("app", "n", type=int), 3)])
    stored = store.get_value(value("app", "n", type=float))
    assert stored is not None
    equal(stored.value, 3.0)
    check(type(stored.value) is float, "a value should have the type of the address")


@group.case
def typed_writes_are_validated_strictly(store: Storage) -> None:
    """Writes validate strictly against the type of the address, and name the address."""
    number = value("app.count", "k", type=int)
    store.commit([set_value(number, 1)])
    wrong: list[Any] = ["2", 2.0, True, None, [2]]
    for given in wrong:
        with unchanged(store, number):
            refuses(
                InvalidValueError,
                calling(lambda given: store.commit([set_value(number, given)]), given),
                "app.count",
                "'k'",
            )


@group.case
def a_stored_value_that_does_not_fit_is_an_error(store: Storage) -> None:
    """A stored value that does not fit the type raises ``InvalidValueError`` with the address."""
    store.commit([set_value(value("app.odd", "k"), {"x": "text"})])
    refuses(
        InvalidValueError,
        lambda: store.get_value(value("app.odd", "k", type=dict[str, int])),
        "app.odd",
        "'k'",
    )
    refuses(
        InvalidValueError,
        lambda: store.scan_values(value("app.odd", type=dict[str, int])),
        "app.odd",
        "'k'",
    )


@group.case
def typed_reads_return_the_type(store: Storage) -> None:
    """Reads return the Python type of the address."""
    moment = dt.datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=dt.UTC)
    when = value("app.when", type=dt.datetime)
    numbers = value("app.numbers", type=dict[int, tuple[int, ...]])
    table_given: dict[int, tuple[int, ...]] = {1: (2, 3)}
    store.commit([set_value(when, moment), set_value(numbers, table_given)])
    read = store.get_value(when)
    table = store.get_value(numbers)
    assert read is not None
    assert table is not None
    equal(read.value, moment)
    equal(table.value, {1: (2, 3)})


@group.case
def scans_are_of_one_namespace(store: Storage) -> None:
    """``scan_values`` gives values of exactly the namespace, not of longer or shorter ones."""
    for namespace in ("app", "app.", "app.x", "ap", "App", "app "):
        store.commit([set_value(value(namespace, "k"), namespace)])
    for namespace in ("app", "app.", "app.x", "ap", "App", "app "):
        equal(values_of(store.scan_values(value(namespace))), [namespace])
    equal(store.scan_values(value("ap.x")), [], "a namespace that has nothing")


@group.case
def scans_start_with_the_bound_key(store: Storage) -> None:
    """``scan_values`` gives the keys that start with the bound key, the key itself included."""
    keys = ["", "a", "a:", "a:1", "a:1:x", "a:10", "a;", "aa", "A:1", "b", "á", "a\u0301"]
    store.commit([set_value(value("app", key), key) for key in keys])
    for prefix in ("", "a", "a:", "a:1", "b", "á", "a\u0301", "zz"):
        expected = sorted(key for key in keys if key.startswith(prefix))
        equal(_keys(store, value("app", prefix)), expected, f"keys that start with {prefix!r}")


@group.case
def a_prefix_is_taken_literally(store: Storage) -> None:
    """Wildcards of query languages mean nothing in a prefix."""
    keys = ["%", "%x", "_", "_x", "ax", "[a]", "*", "?", "\\", "\\%", "'", '"', "a%b", "a_b", "axb"]
    store.commit([set_value(value("app", key), key) for key in keys])
    for prefix in ("%", "_", "[", "*", "?", "\\", "\\%", "'", '"', "a%", "a_"):
        expected = sorted(key for key in keys if key.startswith(prefix))
        equal(_keys(store, value("app", prefix)), expected, f"keys that start with {prefix!r}")


@group.case
def scans_are_in_code_point_order(store: Storage) -> None:
    """Scans ascend by Unicode code points: no locale, no case folding, no UTF-16."""
    keys = [
        "😀",
        "\uffff",
        "\ufffd",
        "ﬀ",
        "ff",
        "z",
        "Z",
        "a",
        "é",
        "e\u0301",
        "ß",
        "ss",
        "10",
        "9",
        "~",
        "-",
    ]
    store.commit([set_value(value("app", key), key) for key in keys])
    equal(_keys(store, value("app")), sorted(keys))
    equal(_keys(store, value("app"))[-3:], ["\ufffd", "\uffff", "😀"], "beyond the basic plane comes last")


@group.case
def prefixes_at_the_end_of_the_code_points(store: Storage) -> None:
    """A prefix that ends in the highest code points finds what starts with it."""
    highest = "\U0010ffff"
    keys = [
        highest,
        highest + "a",
        highest * 2,
        "a" + highest,
        "a" + highest + "b",
        "\ud7ff",
        "\ud7ffx",
        "\ue000",
    ]
    store.commit([set_value(value("app", key), key) for key in keys])
    for prefix in (highest, highest * 2, "a" + highest, "\ud7ff", "\ue000", "a"):
        expected = sorted(key for key in keys if key.startswith(prefix))
        equal(_keys(store, value("app", prefix)), expected, f"keys that start with {prefix!a}")


@group.case
def scans_carry_seq_and_address(store: Storage) -> None:
    """Scanned values carry the address of their key and the number of their last set."""
    result = store.commit([set_value(value("app", "k:2"), 2), set_value(value("app", "k:1"), 1)])
    found = store.scan_values(value("app", "k:", type=int))
    equal([(one.address, one.value, one.seq) for one in found], [
        (value("app", "k:1"), 1, result.seqs[1]),
        (value("app", "k:2"), 2, result.seqs[0]),
    ])  # fmt: skip


@group.case
def a_large_scan_is_whole(store: Storage) -> None:
    """A scan has no limit."""
    store.commit([set_value(value("app", f"{n:05}"), n) for n in range(3000)])
    equal(values_of(store.scan_values(value("app"))), list(range(3000)))


@group.case
def keys_and_namespaces_at_their_limits(store: Storage) -> None:
    """A namespace has up to 255 UTF-8 bytes and a key up to 1,024, on every backend."""
    scope = ephemeral_scope("é" * 30)  # 180 characters percent-encoded
    places = [
        value("n" * 255, "k" * 1024, scope=scope),
        value("é" * 127 + "n", "é" * 512, scope=scope),
        value("😀" * 63 + "abc", "😀" * 256, scope=scope),
        value("ￊ" * 85, "ￊ" * 341 + "x", scope=scope),
        value("n" * 255, "k" * 1023 + "l", scope=scope),
    ]
    store.commit([set_value(place, index) for index, place in enumerate(places)])
    equal([getattr(store.get_value(place), "value", None) for place in places], list(range(len(places))))
    equal(_keys(store, value("n" * 255, "k" * 1023, scope=scope)), ["k" * 1024, "k" * 1023 + "l"])
    for namespace, key in (("n" * 256, ""), ("é" * 128, ""), ("n", "k" * 1025), ("n", "é" * 513), ("", "k")):
        refuses(InvalidAddressError, calling(value, namespace, key))


@group.case
def a_value_may_be_set_many_times(store: Storage) -> None:
    """The last set counts, and nothing of the earlier ones remains in a scan."""
    for number in range(30):
        store.commit([set_value(_A, number)])
    equal(values_of(store.scan_values(value("app"))), [29])


@group.case
def readers_take_the_right_kind(store: Storage) -> None:
    """A reader of values refuses the address of a list, and the reverse."""
    wrong: Any = value_list("app", "a")
    refuses(ValueError, lambda: store.get_value(wrong))
    refuses(ValueError, lambda: store.scan_values(wrong))
    other: Any = _A
    refuses(ValueError, lambda: store.read_list(other))
    refuses(ValueError, lambda: store.commit([set_value(wrong, 1)]))
    refuses(ValueError, lambda: store.commit([append_list(other, 1)]))
