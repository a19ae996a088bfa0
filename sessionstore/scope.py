"""The lifetime that an address belongs to (model.md section 3)."""

from __future__ import annotations

from typing import ClassVar, Final, Literal, TypeAlias

import msgspec

from sessionstore.errors import InvalidScopeError
from sessionstore.text import check_encodable_id


class SessionScope(msgspec.Struct, frozen=True):
    """The lifetime of the session itself; it has no id."""

    kind: ClassVar[Literal["session"]] = "session"


class EphemeralScope(msgspec.Struct, frozen=True):
    """The lifetime of a running operation, ended by one committed ``retire_scope``.

    Equal ids are the same scope. An id is a reusable name: the first write after a retirement
    begins a new lifetime of which nothing older is visible.
    """

    id: str
    kind: ClassVar[Literal["ephemeral"]] = "ephemeral"

    def __post_init__(self) -> None:
        checked = check_encodable_id(self.id, "scope id", error=InvalidScopeError)
        msgspec.structs.force_setattr(self, "id", checked)


Scope: TypeAlias = SessionScope | EphemeralScope
"""Either lifetime."""

SESSION_SCOPE: Final = SessionScope()


def ephemeral_scope(id: str) -> EphemeralScope:
    """The scope named ``id``: non-empty, no U+0000, at most 180 characters percent-encoded.

    Raises :class:`~sessionstore.errors.InvalidScopeError` otherwise.
    """
    return EphemeralScope(id)


def scope_id(scope: Scope) -> str:
    """The id under which stores keep a scope: the empty string for session scope."""
    return scope.id if isinstance(scope, EphemeralScope) else ""
