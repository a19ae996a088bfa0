"""The writes that a transaction consists of (model.md section 4).

An address is covariant in its scope, a write is invariant in it: that is what lets a type checker
refuse a transaction over two scopes. Values are captured at commit, not here.
"""

from __future__ import annotations

from typing import Any, Generic

import msgspec
from typing_extensions import TypeVar

from sessionstore.address import Value, ValueList
from sessionstore.entries import NewEntry, NewUsageRow
from sessionstore.scope import SESSION_SCOPE, EphemeralScope, Scope, SessionScope

T = TypeVar("T")
Sc = TypeVar("Sc", bound=Scope)


class Write(msgspec.Struct, Generic[Sc], frozen=True):
    """One step of a transaction in the scope ``Sc``."""

    scope: Sc


class InsertEntry(Write[SessionScope], frozen=True):
    """Insert an entry."""

    entry: NewEntry


class InsertUsage(Write[SessionScope], frozen=True):
    """Insert a row of the usage ledger."""

    row: NewUsageRow


class SetValue(Write[Sc], Generic[Sc], frozen=True):
    """Replace the value at an address."""

    address: Value[Any, Any]
    value: Any


class DeleteValue(Write[Sc], Generic[Sc], frozen=True):
    """Delete the value at an address, if any."""

    address: Value[Any, Any]


class AppendList(Write[Sc], Generic[Sc], frozen=True):
    """Append an element to the list at an address."""

    address: ValueList[Any, Any]
    element: Any
    tag: str | None


class DeleteList(Write[Sc], Generic[Sc], frozen=True):
    """Delete the whole list at an address, if any."""

    address: ValueList[Any, Any]


class RetireScope(Write[SessionScope], frozen=True):
    """End an ephemeral scope: everything in it up to this write's own number."""

    retired: EphemeralScope


def insert_entry(entry: NewEntry) -> Write[SessionScope]:
    """Insert an entry under its parent."""
    return InsertEntry(SESSION_SCOPE, entry)


def insert_usage(row: NewUsageRow) -> Write[SessionScope]:
    """Insert a row of the usage ledger."""
    return InsertUsage(SESSION_SCOPE, row)


def set_value(address: Value[T, Sc], next: T) -> Write[Sc]:
    """Replace the value at ``address`` by ``next``."""
    return SetValue(address.scope, address, next)


def delete_value(address: Value[Any, Sc]) -> Write[Sc]:
    """Delete the value at ``address``; legal when there is none."""
    return DeleteValue(address.scope, address)


def append_list(address: ValueList[T, Sc], element: T, tag: str | None = None) -> Write[Sc]:
    """Append ``element``, with an optional ``tag`` that reads can stop at."""
    return AppendList(address.scope, address, element, tag)


def delete_list(address: ValueList[Any, Sc]) -> Write[Sc]:
    """Delete the whole list at ``address``; legal when there is none."""
    return DeleteList(address.scope, address)


def retire_scope(scope: EphemeralScope) -> Write[SessionScope]:
    """End ``scope``. A session-scoped write: it commits together with entries and values."""
    return RetireScope(SESSION_SCOPE, scope)
