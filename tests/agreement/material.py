"""What the operations are made of: small pools of hostile names and values, so that they collide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from hypothesis import strategies as st

from sessionstore import builtin
from sessionstore.address import value, value_list
from sessionstore.entries import (
    ABSENT,
    ENTRY_TYPES,
    NewBranchSummaryEntry,
    NewCompactionEntry,
    NewCustomEntry,
    NewMessageEntry,
    NewUsageRow,
)
from sessionstore.scope import SESSION_SCOPE, ephemeral_scope
from sessionstore.testing.material import figures, message
from sessionstore.writes import (
    InsertEntry,
    Write,
    append_list,
    delete_list,
    delete_value,
    insert_entry,
    insert_usage,
    retire_scope,
    set_value,
)

NAMES: Final = ("a", "A", "a ", "\u00e1", "a\u0301", "\u2028", "😀", "b_%")
ENTRY_IDS: Final = (*NAMES, "e1", "e2", "e3", "E3", "1e5", "100000", "/", "\\")
BRANCHES: Final = ("main", "Main", "main ", "😀")
SESSION_IDS: Final = ("s", "s ", "\u00e1", "a\u0301", "😀/%", "\u2028//")
CASE_SENSITIVE_IDS: Final = (*SESSION_IDS, "S")
TAGS: Final = ("t", "T", "t ", "😀")
NAMESPACES: Final = ("app", "App", "app ", "app.😀")
KEYS: Final = ("k", "", "K", "k ", "k%", "k_x", "\uffee", "\U00010000", "k\u0301")
EPHEMERAL: Final = tuple(map(ephemeral_scope, ("op", "Op", "op ", "o\u0301/%")))
SCOPES: Final = (SESSION_SCOPE, *EPHEMERAL)

JSON: Final = (
    *(None, True, False, 0, 1, 1.0, -0.0, 1e-05, 1e308, 5e-324, 1e16, 0.1 + 0.2, 2**53 + 1, -(2**70)),
    *("", " ", "a", "A", "\0", "a\0b", "\ud800", "😀\ud83d", "\u2028\u0085", "\u00e1", "a\u0301"),
    *("\\u0000", '"\\', [], {}, [[]], {"b": 1, "a": {"": [None, 1e-05, "\udc00"]}}),
    *({"\0": {"\ud83d": "x"}}, [1, [2.0, [3]]], 10**60),
)
NOT_JSON: Final = (float("nan"), float("-inf"), b"bytes", {1: "x"}, {"in": [{1, 2}]})

json = st.sampled_from(JSON)
payloads = st.integers(0, 9).flatmap(lambda n: json if n else st.sampled_from(NOT_JSON))
names = st.sampled_from(NAMES)
tags = st.sampled_from((None, None, *TAGS))
branches = st.sampled_from(("main", "main", *BRANCHES))
optional_names = st.sampled_from((None, *NAMES))


@dataclass(frozen=True)
class Nth:
    """The id of an entry that the session has by then: the first is 0, and after the last the first."""

    number: int

    def of(self, ids: Sequence[str]) -> str:
        """The id; one that is unknown when there is none."""
        return ids[self.number % len(ids)] if ids else "unknown"


existing = st.integers(0, 30).map(lambda number: Nth(number) if number else "unknown")
"""An entry of the session, or rarely none."""


def resolved(given: Any, ids: Sequence[str]) -> Any:
    """What is meant by an :class:`Nth`, when it is one."""
    return given.of(ids) if isinstance(given, Nth) else given


# Writes: most at one place, where they meet --------------------------------------------------


def _mostly(pool: Sequence[Any]) -> st.SearchStrategy[Any]:
    """The first of a pool, or else any."""
    return st.integers(0, 2).flatmap(lambda n: st.just(pool[0]) if n else st.sampled_from(pool))


scopes = st.one_of(st.just(SESSION_SCOPE), _mostly(EPHEMERAL))
namespaces = _mostly(NAMESPACES)
keys = _mostly(KEYS)


def _addresses(make: Any, of_scopes: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(make, namespaces, keys, scope=of_scopes)


def state_writes(of_scopes: st.SearchStrategy[Any]) -> st.SearchStrategy[Write[Any]]:
    """Writes of values and lists in these scopes."""
    at_value, at_list = _addresses(value, of_scopes), _addresses(value_list, of_scopes)
    return st.one_of(
        st.builds(set_value, at_value, payloads),
        st.builds(set_value, at_value, json),
        st.builds(delete_value, at_value),
        st.builds(append_list, at_list, json, tags),
        st.builds(append_list, at_list, payloads, tags),
        st.builds(delete_list, at_list),
    )


values = _addresses(value, scopes)
lists = _addresses(value_list, scopes)

_figures = st.builds(
    lambda tokens, cost, more: figures(tokens, cost, **more),
    st.sampled_from((0, 1, 3, 0.1, 2**60, 2**70)),
    st.sampled_from((0, 0.1, 0.2, 1e-05, 1e16, 3)),
    st.sampled_from(({}, {}, {"reasoning": 2}, {"cacheWrite1h": 0.5}, {"other": "\ud800"})),
)
_any_figures = st.one_of(_figures, _figures, _figures, st.sampled_from(({}, {"input": "1"}, figures(1e308))))
_entry_ids = st.sampled_from(ENTRY_IDS)
_parents = st.one_of(st.none(), existing, existing, existing, _entry_ids)
_details = st.one_of(st.just(ABSENT), payloads)
_messages = st.builds(
    lambda role, content, more: message(content, role, **more),
    st.sampled_from(("user", "assistant")),
    payloads,
    st.sampled_from(({}, {}, {}, {}, {"stopReason": "stop"}, {"stopReason": "pending"})),
)
_new_entries = st.one_of(
    st.builds(NewMessageEntry, _entry_ids, _parents, _messages, st.sampled_from((None, True, False))),
    st.builds(NewMessageEntry, _entry_ids, _parents, _messages),
    st.builds(NewCustomEntry, _entry_ids, _parents, names, _details),
    st.builds(
        NewCompactionEntry,
        _entry_ids,
        _parents,
        names,
        st.lists(_messages, max_size=2),
        st.sampled_from((0, 1.5, 2**60)),
        st.booleans(),
        _details,
        st.one_of(st.none(), _figures),
    ),
    st.builds(
        NewBranchSummaryEntry,
        _entry_ids,
        _parents,
        st.one_of(st.none(), _entry_ids),
        names,
        st.booleans(),
        _details,
    ),
)
_entries = st.builds(insert_entry, _new_entries)
_usage = st.builds(
    insert_usage,
    st.builds(
        NewUsageRow, _entry_ids, _any_figures, st.booleans(), st.one_of(st.none(), _entry_ids), _details
    ),
)
retirements = st.builds(retire_scope, _mostly(EPHEMERAL))
_lane_values = st.builds(
    set_value,
    st.one_of(st.builds(builtin.lane_config, branches), st.builds(builtin.lane_state, branches)),
    json,
)
_unknown_builtin = st.sampled_from(
    (set_value(value("pi.unknown"), 1), delete_value(value("pi.unknown")), delete_value(value("pi.unknown")))
)
_in_session = st.one_of(
    *(_entries, _entries, _usage, retirements, _lane_values), state_writes(st.just(SESSION_SCOPE))
)
_anything = st.one_of(_entries, _usage, retirements, state_writes(scopes), _unknown_builtin)

transactions: Final[st.SearchStrategy[list[Write[Any]]]] = st.one_of(
    st.lists(_in_session, max_size=6),
    st.lists(_entries, min_size=1, max_size=4),
    st.sampled_from(EPHEMERAL).flatmap(
        lambda scope: st.lists(state_writes(st.just(scope)), min_size=1, max_size=5)
    ),
    st.lists(_anything, min_size=1, max_size=4),
)
"""Lists of writes; some mix scopes, repeat ids, miss parents or hold what is not JSON."""

single_writes = st.one_of(state_writes(scopes), retirements)


def lane(name: str) -> list[Write[Any]]:
    """What makes a branch one that can be forked."""
    return [
        set_value(builtin.lane_config(name), {"model": "m"}),
        set_value(builtin.lane_state(name), {"currentOperationId": "o"}),
    ]


def built(writes: Sequence[Write[Any]], ids: Sequence[str]) -> list[Write[Any]]:
    """A transaction for a session that has these entries."""
    return [
        insert_entry(msgspec.structs.replace(write.entry, parent_id=resolved(write.entry.parent_id, ids)))
        if isinstance(write, InsertEntry)
        else write
        for write in writes
    ]


def places(writes: Sequence[Any]) -> list[tuple[str, str, Any]]:
    """The places of values and lists that a transaction names."""
    addresses = (write.address for write in writes if hasattr(write, "address"))
    return [(address.namespace, address.key, address.scope) for address in addresses]


# Queries ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """A read, by the name of its method."""

    name: str
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)

    def ask(self, readers: Any, ids: Sequence[str]) -> object:
        """What the readers of a session with these entries give."""
        arguments = [resolved(argument, ids) for argument in self.arguments]
        return getattr(readers, self.name)(*arguments, **self.options)


_seqs = st.one_of(st.none(), st.integers(-1, 60))
_limits = st.one_of(st.none(), st.integers(1, 4), st.sampled_from((0, -1, 10_001, True)))
_types = st.sampled_from((None, None, *ENTRY_TYPES, "none such"))
_orders = st.sampled_from(("asc", "desc", "asc", "desc", "sideways"))
_filters = {"type": _types, "custom_type": st.sampled_from((None, *NAMES))}
_ranges = {"from_seq": _seqs, "to_seq": _seqs, "order": _orders, "limit": _limits}


def _options(options: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=options)


def _queries(
    name: str, options: dict[str, Any] | None = None, *arguments: st.SearchStrategy[Any]
) -> st.SearchStrategy[Query]:
    return st.builds(Query, st.just(name), st.tuples(*arguments), _options(options or {}))


_list_options = {"cursor": _seqs, "order": _orders, "limit": _limits, "stop_at_tag": st.sampled_from(TAGS)}
_branch_options = {
    **_filters,
    "stop_at_type": _types,
    "stop_at_id": _entry_ids,
    "order": st.sampled_from(("newest_first", "oldest_first", "asc", "desc")),
    "limit": _limits,
    "cursor": _seqs,
}
list_options = _options(_list_options)
branch_options = _options(_branch_options)

queries = st.one_of(
    _queries("read_list", _list_options, lists),
    _queries("scan_values", None, values),
    _queries("get_value", None, values),
    _queries("scan_branch", _branch_options, existing),
    _queries("scan_branch_structure", _branch_options, existing),
    _queries("scan_usage", _ranges),
    _queries("get_entries", None, st.lists(_entry_ids)),
)
"""Reads that sessions, mutations and stores have."""

session_queries = st.one_of(
    queries, _queries("find_entries", {**_filters, "order": _orders, "limit": _limits, "cursor": _seqs})
)
store_queries = st.one_of(queries, _queries("scan_entries", {**_filters, **_ranges}))
