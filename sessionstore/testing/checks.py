"""Assertions of the conformance cases, with messages that say what was expected."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar, TypeVarTuple, Unpack, cast

from sessionstore.address import Value, ValueList
from sessionstore.storage import Readers

_E = TypeVar("_E", bound=BaseException)
_R = TypeVar("_R")
_Ts = TypeVarTuple("_Ts")

NOTHING: Final[list[Any]] = []
"""An empty page, to compare with inside a tuple, where a checker cannot tell what ``[]`` is of."""


def check(condition: object, expected: str) -> None:
    """Raise ``AssertionError`` unless ``condition`` holds; ``expected`` says what should be."""
    if not condition:
        raise AssertionError(expected)


def equal(actual: object, expected: object, what: str = "result") -> None:
    """Raise ``AssertionError`` unless the two are equal."""
    if actual != expected:
        raise AssertionError(f"{what}: expected {_short(expected)}, got {_short(actual)}")


def calling(call: Callable[[Unpack[_Ts]], _R], *args: *_Ts) -> Callable[[], _R]:
    """``call`` with its arguments bound now, for what is called later or in a loop."""
    return lambda: call(*args)


def refuses(error: type[_E], call: Callable[[], object], *mentions: str) -> _E:
    """Run ``call``, which has to raise this kind of error, and return the error.

    Each of ``mentions`` has to be in its message.
    """
    try:
        outcome = call()
    except error as raised:
        missing = [text for text in mentions if text not in str(raised)]
        check(not missing, f"the message of {error.__name__} should name {missing}; it is {str(raised)!r}")
        return raised
    except Exception as raised:
        raise AssertionError(f"expected {error.__name__}, got {type(raised).__name__}: {raised}") from raised
    raise AssertionError(f"expected {error.__name__}, but the call gave {_short(outcome)}")


def identical_json(actual: object, expected: object, what: str = "value") -> None:
    """Raise ``AssertionError`` unless both are the same JSON, spelling of numbers and key order included.

    Tuples count as arrays. Needs no call stack, so that depth is no limit.
    """
    pairs: list[tuple[str, Any, Any]] = [("$", actual, expected)]
    while pairs:
        path, left, right = pairs.pop()
        if isinstance(right, dict):
            check(type(left) is dict, f"{what} at {path}: expected an object, got a {type(left).__name__}")
            members = cast("dict[str, Any]", right)
            equal(list(left), list(members), f"keys of {what} at {path}")
            pairs.extend((f"{path}.{key!a}", left[key], item) for key, item in members.items())
        elif isinstance(right, (list, tuple)):
            check(type(left) is list, f"{what} at {path}: expected an array, got a {type(left).__name__}")
            elements = cast("Sequence[Any]", right)
            equal(len(left), len(elements), f"length of {what} at {path}")
            pairs.extend((f"{path}[{index}]", left[index], item) for index, item in enumerate(elements))
        else:
            check(
                type(left) is type(right) and repr(left) == repr(right),
                f"{what} at {path[-80:]}: expected {_short(right)}, got {_short(left)}",
            )


def picture(readers: Readers, *places: Value[Any, Any] | ValueList[Any, Any]) -> list[object]:
    """Everything that the session-wide reads give, and what is at ``places``."""
    seen: list[object] = [readers.scan_entries(), readers.scan_usage(), readers.get_stats()]
    for place in places:
        if isinstance(place, Value):
            stored = readers.get_value(place)
            seen.append(None if stored is None else (stored.value, stored.seq))
        else:
            seen.append(readers.read_list(place, limit=10_000))
    return seen


@contextmanager
def unchanged(
    readers: Readers, *places: Value[Any, Any] | ValueList[Any, Any]
) -> Generator[None, None, None]:
    """Check that the block leaves the session and ``places`` as they were."""
    before = picture(readers, *places)
    yield
    for part, was in zip(picture(readers, *places), before, strict=True):
        equal(part, was, "what should not have changed")


def values_of(elements: Iterable[Any]) -> list[Any]:
    """The values of stored values or list elements."""
    return [element.value for element in elements]


def ids_of(entries: Iterable[Any]) -> list[str]:
    """The ids of entries, structures or ledger rows."""
    return [entry.id for entry in entries]


def _short(thing: object) -> str:
    text = repr(thing)
    return text if len(text) <= 400 else f"{text[:300]}… ({len(text)} characters)"
