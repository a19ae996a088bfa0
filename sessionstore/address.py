"""Bound typed addresses of values and lists (model.md section 2)."""

from __future__ import annotations

from typing import Any, ClassVar, Generic, Literal, NamedTuple, overload

from typing_extensions import TypeVar

from sessionstore.errors import InvalidScopeError
from sessionstore.scope import SESSION_SCOPE, EphemeralScope, Scope, SessionScope, scope_id
from sessionstore.text import KEY_LIMIT, NAMESPACE_LIMIT, check_optional_text, check_text
from sessionstore.typed import Codec, codec_for

T = TypeVar("T", default=Any)
Sc_co = TypeVar("Sc_co", bound=Scope, covariant=True, default=SessionScope)


class Place(NamedTuple):
    """The physical identity of an address, as stores key it; ``scope_id`` is ``""`` for session."""

    scope_id: str
    namespace: str
    key: str

    def __str__(self) -> str:
        scope = f" in scope {self.scope_id!r}" if self.scope_id else ""
        return f"{self.namespace!r} key {self.key!r}{scope}"


class Address(Generic[T, Sc_co]):
    """What values and lists have in common: a place, and the type of what is kept there.

    The type is no part of the identity: two addresses are equal when kind, namespace, key and
    scope are. ``T`` is invariant, the scope covariant: every reader takes an address of any scope.
    """

    __slots__ = ("_codec", "_place", "_scope")

    kind: ClassVar[Literal["value", "list"]]

    def __init__(self, place: Place, scope: Scope, codec: Codec[T]) -> None:
        self._place = place
        self._scope = scope
        self._codec = codec

    @property
    def namespace(self) -> str:
        """The namespace, at most 255 UTF-8 bytes."""
        return self._place.namespace

    @property
    def key(self) -> str:
        """The key, possibly empty, at most 1,024 UTF-8 bytes."""
        return self._place.key

    @property
    def scope(self) -> Sc_co:
        """The lifetime that the address belongs to."""
        return self._scope  # type: ignore[return-value]  # the constructors bind it to Sc_co

    @property
    def place(self) -> Place:
        """The physical identity beside the kind."""
        return self._place

    def encode(self, value: T) -> str:
        """Capture ``value`` as JSON text; ``InvalidValueError`` with this address if it does not fit."""
        return self._codec.encode(value, self)

    def decode(self, text: str) -> T:
        """The value of stored ``text``; ``InvalidValueError`` with this address if it does not fit."""
        return self._codec.decode(text, self)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._place == self._place

    def __hash__(self) -> int:
        return hash((self.kind, self._place))

    def __str__(self) -> str:
        return f"{self.kind} {self._place}"

    def __repr__(self) -> str:
        return f"<{self}>"


class Value(Address[T, Sc_co]):
    """The address of one replaceable value; made by :func:`value`."""

    __slots__ = ()
    kind = "value"

    def at_key(self, key: str) -> Value[T, Sc_co]:
        """The address of another key that a scan from this prefix found."""
        return Value(self._place._replace(key=key), self._scope, self._codec)


class ValueList(Address[T, Sc_co]):
    """The address of one append-only list; made by :func:`value_list`."""

    __slots__ = ()
    kind = "list"


@overload
def value(namespace: str, key: str = "", *, scope: None = None) -> Value[Any, SessionScope]: ...
@overload
def value(namespace: str, key: str = "", *, scope: EphemeralScope) -> Value[Any, EphemeralScope]: ...
@overload
def value(namespace: str, key: str = "", *, type: type[T], scope: None = None) -> Value[T, SessionScope]: ...
@overload
def value(
    namespace: str, key: str = "", *, type: type[T], scope: EphemeralScope
) -> Value[T, EphemeralScope]: ...
@overload
def value(namespace: str, key: str = "", *, type: Any, scope: None = None) -> Value[Any, SessionScope]: ...
@overload
def value(
    namespace: str, key: str = "", *, type: Any, scope: EphemeralScope
) -> Value[Any, EphemeralScope]: ...
def value(namespace: str, key: str = "", *, type: Any = Any, scope: Scope | None = None) -> Value[Any, Any]:
    """The address of the value ``namespace`` / ``key``, in session scope unless ``scope`` is given.

    ``type`` is anything that pydantic's ``TypeAdapter`` takes; the default is plain JSON data.
    Raises ``InvalidAddressError`` when a text is malformed or too long.
    """
    return Value(_place(namespace, key, scope), scope or SESSION_SCOPE, codec_for(type))


@overload
def value_list(namespace: str, key: str = "", *, scope: None = None) -> ValueList[Any, SessionScope]: ...
@overload
def value_list(namespace: str, key: str = "", *, scope: EphemeralScope) -> ValueList[Any, EphemeralScope]: ...
@overload
def value_list(
    namespace: str, key: str = "", *, type: type[T], scope: None = None
) -> ValueList[T, SessionScope]: ...
@overload
def value_list(
    namespace: str, key: str = "", *, type: type[T], scope: EphemeralScope
) -> ValueList[T, EphemeralScope]: ...
@overload
def value_list(
    namespace: str, key: str = "", *, type: Any, scope: None = None
) -> ValueList[Any, SessionScope]: ...
@overload
def value_list(
    namespace: str, key: str = "", *, type: Any, scope: EphemeralScope
) -> ValueList[Any, EphemeralScope]: ...
def value_list(
    namespace: str, key: str = "", *, type: Any = Any, scope: Scope | None = None
) -> ValueList[Any, Any]:
    """The address of the list ``namespace`` / ``key``; arguments and errors as for :func:`value`."""
    return ValueList(_place(namespace, key, scope), scope or SESSION_SCOPE, codec_for(type))


def _place(namespace: str, key: str, scope: Scope | None) -> Place:
    if scope is not None and not isinstance(scope, (SessionScope, EphemeralScope)):
        raise InvalidScopeError(f"scope must be made by ephemeral_scope(), not a {type(scope).__name__}")
    return Place(
        "" if scope is None else scope_id(scope),
        check_text(namespace, "namespace", limit=NAMESPACE_LIMIT),
        check_optional_text(key, "key", limit=KEY_LIMIT),
    )
