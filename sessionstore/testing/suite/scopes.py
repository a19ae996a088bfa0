"""Scopes: places of their own, retirement, reuse, one scope a transaction (model.md section 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from sessionstore.address import value, value_list
from sessionstore.errors import InvalidScopeError, MixedScopeError
from sessionstore.scope import SESSION_SCOPE, EphemeralScope, ephemeral_scope
from sessionstore.storage import Storage
from sessionstore.testing.cases import StorageGroup
from sessionstore.testing.checks import calling, check, equal, ids_of, refuses, unchanged, values_of
from sessionstore.testing.material import say, spend
from sessionstore.writes import (
    Write,
    append_list,
    delete_list,
    delete_value,
    retire_scope,
    set_value,
)

group = StorageGroup("scopes")

_S1, _S2 = ephemeral_scope("op-1"), ephemeral_scope("op-2")
_SESSION, _LIST = value("app", "k"), value_list("app", "k")
_V1, _V2 = value("app", "k", scope=_S1), value("app", "k", scope=_S2)
_L1, _L2 = value_list("app", "k", scope=_S1), value_list("app", "k", scope=_S2)
_EVERYWHERE = (_SESSION, _V1, _V2, _LIST, _L1, _L2)


def _write_everywhere(store: Storage) -> None:
    store.commit([set_value(_SESSION, "s"), append_list(_LIST, "s")])
    store.commit([set_value(_V1, "1"), append_list(_L1, "1")])
    store.commit([set_value(_V2, "2"), append_list(_L2, "2")])


def _seen(store: Storage) -> list[Any]:
    values = [getattr(store.get_value(place), "value", None) for place in (_SESSION, _V1, _V2)]
    return values + [values_of(store.read_list(place)) for place in (_LIST, _L1, _L2)]


@group.case
def one_name_in_three_scopes_is_three_places(store: Storage) -> None:
    """The same namespace and key in session scope and two ephemeral scopes is three places."""
    _write_everywhere(store)
    equal(_seen(store), ["s", "1", "2", ["s"], ["1"], ["2"]])
    store.commit([delete_value(_V1), delete_list(_L1)])
    equal(_seen(store), ["s", None, "2", ["s"], [], ["2"]])
    store.commit([delete_value(_SESSION), delete_list(_LIST)])
    equal(_seen(store), [None, None, "2", [], [], ["2"]])


@group.case
def scans_are_of_one_scope(store: Storage) -> None:
    """``scan_values`` gives values of exactly the scope of the address."""
    _write_everywhere(store)
    store.commit([set_value(value("app", "k2", scope=_S1), "1b")])
    equal(values_of(store.scan_values(value("app"))), ["s"])
    equal(values_of(store.scan_values(value("app", scope=_S1))), ["1", "1b"])
    equal(values_of(store.scan_values(value("app", "k2", scope=_S2))), [])
    store.commit([set_value(value("app.session"), 1)])
    store.commit([set_value(value("app.scoped", scope=_S1), 1)])
    equal(store.scan_values(value("app.session", scope=_S1)), [], "values of the session in a scope")
    equal(store.scan_values(value("app.scoped")), [], "values of a scope in the session")
    equal(store.get_value(value("app.session", scope=_S1)), None)
    equal(store.get_value(value("app.scoped")), None)


@group.case
def the_first_write_makes_a_scope(store: Storage) -> None:
    """There is no create or open; a scope that nothing was written in reads as empty."""
    unused = ephemeral_scope("unused")
    equal(store.get_value(value("app", scope=unused)), None)
    equal(store.scan_values(value("app", scope=unused)), [])
    equal(store.read_list(value_list("app", scope=unused)), [])


@group.case
def equal_ids_are_the_same_scope(store: Storage) -> None:
    """Two scope objects with the same id are the same scope."""
    store.commit([set_value(_V1, 1)])
    store.commit([set_value(value("app", "x", scope=ephemeral_scope("op-" + "1")), 2)])
    equal(values_of(store.scan_values(value("app", scope=_S1))), [1, 2])


@group.case
def retirement_ends_everything_in_the_scope(store: Storage) -> None:
    """``retire_scope`` ends values and lists of the scope, and nothing else."""
    _write_everywhere(store)
    store.commit([append_list(value_list("app.more", scope=_S1), n) for n in range(20)])
    store.commit([set_value(value("app.more", str(n), scope=_S1), n) for n in range(20)])
    store.commit([retire_scope(_S1)])
    equal(_seen(store), ["s", None, "2", ["s"], [], ["2"]])
    equal(store.read_list(value_list("app.more", scope=_S1)), [])
    equal(store.scan_values(value("app.more", scope=_S1)), [])


@group.case
def retirement_spares_scopes_of_similar_ids(store: Storage) -> None:
    """Only the scope of exactly that id ends."""
    ids = ["a", "A", "a ", " a", "ab", "a:", "á", "a\u0301", "a%", "%", "_", "👍", "🎉"]
    for id in ids:
        store.commit([set_value(value("app", scope=ephemeral_scope(id)), id)])
    for index, id in enumerate(ids):
        store.commit([retire_scope(ephemeral_scope(id))])
        left = [other for other in ids if store.get_value(value("app", scope=ephemeral_scope(other)))]
        equal(left, ids[index + 1 :], f"scopes left after the retirement of {id!r}")


@group.case
def a_write_after_retirement_begins_a_new_lifetime(store: Storage) -> None:
    """Under a retired id a write begins a lifetime in which nothing older is visible."""
    store.commit([set_value(_V1, "old"), append_list(_L1, "old", "mark")])
    store.commit([set_value(value("app", "other", scope=_S1), "old")])
    store.commit([retire_scope(_S1)])
    store.commit([append_list(_L1, "new")])
    equal(values_of(store.read_list(_L1)), ["new"])
    equal(values_of(store.read_list(_L1, order="desc", stop_at_tag="mark")), ["new"])
    equal(store.get_value(_V1), None)
    equal(store.scan_values(value("app", scope=_S1)), [])
    store.commit([retire_scope(_S1)])
    equal(store.read_list(_L1), [])
    store.commit([set_value(_V1, "third")])
    equal(values_of(store.scan_values(value("app", scope=_S1))), ["third"])


@group.case
def retiring_nothing_is_legal(store: Storage) -> None:
    """Retiring a scope that has nothing takes its sequence number like any write."""
    before = store.commit([retire_scope(_S1)])
    equal(len(before.seqs), 1)
    after = store.commit([retire_scope(_S1), retire_scope(_S2), retire_scope(_S1)])
    equal(len(after.seqs), 3, "numbers of a transaction with a scope retired twice")
    check(after.seqs[0] > before.seqs[0], "a retirement should take a number")
    check(store.next_seq() > after.seqs[2], "the next number should be beyond the retirement's")


@group.case
def a_scope_may_be_retired_twice(store: Storage) -> None:
    """Retiring again changes nothing and takes a number."""
    store.commit([set_value(_V1, 1)])
    store.commit([retire_scope(_S1)])
    with unchanged(store, *_EVERYWHERE):
        store.commit([retire_scope(_S1)])


@group.case
def retirements_commit_with_session_writes(store: Storage) -> None:
    """A session transaction may hold entries, usage, values, lists and any number of retirements."""
    _write_everywhere(store)
    result = store.commit(
        [
            retire_scope(_S1),
            say("e"),
            set_value(_SESSION, "new"),
            retire_scope(_S2),
            append_list(_LIST, "new"),
            spend("u", 3),
        ]
    )
    equal(len(result.seqs), 6)
    equal(_seen(store), ["new", None, None, ["s", "new"], [], []])
    equal(ids_of(store.scan_entries()), ["e"])
    equal(store.get_stats().usage.input, 3)


@group.case
def a_failed_transaction_retires_nothing(store: Storage) -> None:
    """Only a committed retirement ends a scope."""
    _write_everywhere(store)
    with unchanged(store, *_EVERYWHERE):
        refuses(LookupError, lambda: store.commit([retire_scope(_S1), say("x", "missing")]))


@group.case
def deletes_in_a_scope_are_legal(store: Storage) -> None:
    """Deleting in an ephemeral transaction is legal, of what exists and of what does not."""
    store.commit([set_value(_V1, 1), append_list(_L1, 1)])
    store.commit([delete_value(_V1), delete_list(_L1), set_value(_V1, 2), append_list(_L1, 2)])
    equal(_seen(store), [None, 2, None, [], [2], []])
    store.commit([delete_value(_V2), delete_list(_L2)])
    equal(store.get_value(_V2), None)


@group.case
def a_mixed_transaction_is_refused(store: Storage) -> None:
    """One scope each: a mixed transaction is refused at run time and changes nothing."""
    _write_everywhere(store)
    session: list[Write[Any]] = [set_value(_SESSION, "x")]
    one: list[Write[Any]] = [set_value(_V1, "x"), append_list(_L1, "x")]
    two: list[Write[Any]] = [append_list(_L2, "x")]
    mixed: list[list[Write[Any]]] = [
        session + one,
        one + session,
        one + two,
        two + one,
        [*one, retire_scope(_S1)],
        [*one, retire_scope(_S2)],
        [retire_scope(_S1), *one],
        [*one, say("e")],
        [*one, spend("u")],
        [delete_value(_V1), delete_value(_SESSION)],
        [delete_list(_L1), delete_list(_L2)],
    ]
    for writes in mixed:
        with unchanged(store, *_EVERYWHERE):
            refuses(MixedScopeError, calling(store.commit, writes))


@group.case
def only_ephemeral_scopes_are_retired(store: Storage) -> None:
    """The session's own scope cannot be retired."""
    for wrong in (SESSION_SCOPE, "op-1", None):
        given: Any = wrong
        with unchanged(store):
            refuses(InvalidScopeError, calling(lambda given: store.commit([retire_scope(given)]), given))


@group.case
def scope_ids_are_free_text(store: Storage) -> None:
    """Scope ids are names, not paths: every well-formed text within the limit is one."""
    ids = [
        "../../x", "..", ".", "CON", "a?b=c", "100%", "#x", "é", "a/b", "a\\b", "a:b", "~", "%2e%2e",
        " ", "a\nb", "\u2028", "\x7f", "'; --", "x" * 180, "é" * 30, "😀" * 15, "\U0010ffff",
    ]  # fmt: skip
    for id in ids:
        scope = ephemeral_scope(id)
        store.commit(
            [set_value(value("app", scope=scope), id), append_list(value_list("app", scope=scope), id)]
        )
    for id in ids:
        scope = ephemeral_scope(id)
        stored = store.get_value(value("app", scope=scope))
        equal(None if stored is None else stored.value, id, f"the value in scope {id!r}")
        equal(values_of(store.read_list(value_list("app", scope=scope))), [id])
    for id in ids:
        store.commit([retire_scope(ephemeral_scope(id))])
        equal(store.get_value(value("app", scope=ephemeral_scope(id))), None)


@group.case
def scope_ids_beyond_the_rules_are_refused(store: Storage) -> None:
    """Empty ids, U+0000, lone surrogates and more than 180 encoded characters are refused."""
    bad: list[Any] = ["", "\0", "a\0", "\ud800", "x" * 181, "é" * 31, "%" * 61, 5, None]
    for id in bad:
        refuses(InvalidScopeError, calling(EphemeralScope, id))
    make = cast("Callable[..., object]", value)
    refuses(InvalidScopeError, lambda: make("app", scope="op-1"))
    refuses(InvalidScopeError, lambda: ephemeral_scope(""))
    equal(store.scan_entries(), [])


@group.case
def many_scopes_live_side_by_side(store: Storage) -> None:
    """Dozens of scopes, retired in any order."""
    scopes = [ephemeral_scope(f"op-{n}") for n in range(40)]
    for n, scope in enumerate(scopes):
        store.commit([append_list(value_list("app", scope=scope), n)])
    store.commit([retire_scope(scope) for scope in scopes[::2]])
    live = [n for n, scope in enumerate(scopes) if store.read_list(value_list("app", scope=scope))]
    equal(live, list(range(1, 40, 2)))


@group.case
def an_unfenced_write_recreates_a_scope(store: Storage) -> None:
    """A write that comes after the retirement begins a lifetime: storage allows it."""
    store.commit([append_list(_L1, "progress")])
    store.commit([retire_scope(_S1)])
    store.commit([append_list(_L1, "late")])
    equal(values_of(store.read_list(_L1)), ["late"])


@group.case
def scope_and_session_share_the_sequence(store: Storage) -> None:
    """There is no per-scope counter: numbers run through the whole session."""
    numbers = [
        store.commit([set_value(_SESSION, 1)]).seqs,
        store.commit([set_value(_V1, 1), append_list(_L1, 1)]).seqs,
        store.commit([append_list(_L2, 1)]).seqs,
        store.commit([retire_scope(_S1)]).seqs,
        store.commit([set_value(_V1, 2)]).seqs,
        store.commit([say("e")]).seqs,
    ]
    flat = [seq for seqs in numbers for seq in seqs]
    equal(flat, sorted(set(flat)), "numbers in the order of admission")
