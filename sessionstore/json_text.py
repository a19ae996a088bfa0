"""The one JSON codec: captured text in, plain data out (model.md section 4, rule 9).

Payloads are captured once, as JSON text, and every store keeps that text as it is. The fast path
is msgspec with a proof: what it encoded is decoded again and compared with what was given, because
on its own it turns NaN into null, integer keys into text and sets into arrays without a word.
Whatever does not come back equal takes the slow path, which walks the value, names the place of
what is not JSON, and encodes with the standard library: that one keeps lone surrogates.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from json.decoder import scanstring  # type: ignore[attr-defined]  # public, absent from the stubs
from math import isfinite
from typing import Any, Final, TypeAlias, TypeGuard, TypeVar, cast

import msgspec

from sessionstore.errors import InvalidValueError

MAX_DEPTH: Final = 512
"""Levels of nested arrays and objects that are accepted."""

MAX_INTEGER_DIGITS: Final = 4300
"""Decimal digits of an integer that are accepted: CPython's own limit for reading one back."""

_SHALLOW: Final = 2 * MAX_DEPTH
"""Characters of JSON text that cannot nest deeper: each level takes an opening and a closing one."""

_PROVEN_TOGETHER: Final = 32
_LARGEST_PROOF: Final = 1 << 20
"""Values and bytes of JSON that are in memory twice while :func:`encode_together` compares them."""

_LARGEST_SHORT_INTEGER: Final = 10**MAX_INTEGER_DIGITS
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_WHITE_SPACE: Final = re.compile(r"[ \t\n\r]*")
_STRING_OR_BRACKET: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', re.DOTALL)

_scan_string: Final = cast("Callable[[str, int, bool], tuple[str, int]]", scanstring)
_fast_encode: Final = msgspec.json.Encoder().encode
_fast_decode: Final = msgspec.json.Decoder().decode
_fast_encode_lines: Final = msgspec.json.Encoder().encode_lines
_fast_decode_lines: Final = msgspec.json.Decoder().decode_lines

R = TypeVar("R")

_Container: TypeAlias = dict[Any, Any] | list[Any] | tuple[Any, ...]


def encode(value: object, what: object, *, around: int = 0) -> str:
    """The JSON text of ``value``, which is captured here: later changes to it change nothing.

    Tuples count as arrays, subclasses of ``str``, ``int`` and ``float`` by their value. Raises
    :class:`~sessionstore.errors.InvalidValueError`, naming ``what`` and the path inside the
    value, for everything that is not JSON, nested deeper than :data:`MAX_DEPTH` levels, or an
    integer of more than :data:`MAX_INTEGER_DIGITS` digits. ``what`` is spelled out for an error
    only. ``around`` is how many levels of ``value`` are ours and not the caller's; they do not
    count.
    """
    try:
        data = _fast_encode(value)
        again = _fast_decode(data)
        if again == value:
            text = data.decode()
            if _is_shallow(text) or _is_within(again, MAX_DEPTH + around):
                return text
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        pass  # the slow path accepts it or says what is wrong with it
    return _on_fresh_stack_if_deep(partial(_encode_slowly, value, what, MAX_DEPTH + around))


def encode_together(values: list[Any]) -> list[str] | None:
    """The texts that :func:`encode` gives for each of ``values``, proven a few at a time.

    None when that proof fails for one of them: what is wrong, or how it is written nevertheless,
    is then for :func:`encode` to say. None for large values too, which it takes no longer for.
    """
    texts: list[str] = []
    try:
        for start in range(0, len(values), _PROVEN_TOGETHER):
            some = values[start : start + _PROVEN_TOGETHER]
            lines = _fast_encode_lines(some)
            if len(lines) > _LARGEST_PROOF or _fast_decode_lines(lines) != some:
                return None
            texts += lines.decode().split("\n")
            texts.pop()  # what follows the last line
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        return None
    if max(map(len, texts), default=0) > _SHALLOW and not all(map(_is_shallow, texts)):
        return None
    return texts


def _is_shallow(text: str) -> bool:
    """Whether a look at ``text`` is enough to know that it keeps to :data:`MAX_DEPTH`."""
    return len(text) <= _SHALLOW or text.count("[") + text.count("{") <= MAX_DEPTH


def _is_within(value: object, levels: int) -> bool:
    """Whether plain ``value`` nests at most ``levels`` deep."""
    level = [value]
    for _ in range(levels):
        level = [
            item
            for container in level
            for item in (container.values() if isinstance(container, dict) else cast("list[Any]", container))
            if isinstance(item, (dict, list))
        ]
        if not level:
            return True
    return False


def decode(text: str | bytes) -> Any:
    """The plain data that JSON ``text`` stands for; a new object at each call.

    Raises ``ValueError`` for text that is not JSON.
    """
    try:
        return _fast_decode(text)
    except (msgspec.MsgspecError, RecursionError, ValueError):
        pass  # lone surrogates, numbers beyond a double, a deep stack
    plain = text if isinstance(text, str) else text.decode()
    return _on_fresh_stack_if_deep(lambda: _SCANNER.decode(plain))


def check(text: str, *, around: int = 0) -> str:
    """Return JSON ``text`` from outside when it keeps the limits that :func:`encode` keeps.

    Raises ``ValueError`` when it is not JSON, nested too deep, or has a number too long to read.
    """
    if text.count("[") + text.count("{") > MAX_DEPTH and depth(text) > MAX_DEPTH + around:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    decode(text)
    return text


def depth(text: str) -> int:
    """How many levels of arrays and objects JSON ``text`` nests, without decoding it."""
    level = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        mark = match.group()
        if mark in "[{":
            level += 1
            deepest = max(deepest, level)
        elif mark in "]}":
            level -= 1
    return deepest


def members(text: str) -> dict[str, str]:
    """The members of a JSON object as the text they came in, so that nothing is respelled.

    Of a name that comes twice the last counts. Raises ``ValueError`` when ``text`` is no object.
    """
    return _on_fresh_stack_if_deep(lambda: _split_members(text))


def elements(text: str) -> list[str]:
    """The elements of a JSON array as the text they came in.

    Raises ``ValueError`` when ``text`` is no array.
    """
    return _on_fresh_stack_if_deep(lambda: _split_elements(text))


def consecutive(text: str) -> list[str]:
    """JSON values that stand one after another, as the text they came in.

    Raises ``ValueError`` when ``text`` is anything else.
    """
    return _on_fresh_stack_if_deep(lambda: _split_consecutive(text))


def join_members(parts: dict[str, str]) -> str:
    """The JSON object whose members are given as texts: the inverse of :func:`members`."""
    return "{" + ",".join(f"{encode(name, 'member')}:{part}" for name, part in parts.items()) + "}"


def _split_members(text: str) -> dict[str, str]:
    skip = _WHITE_SPACE.match
    value_end = _SCANNER.raw_decode
    at = _end(skip(text, 0))
    if text[at : at + 1] != "{":
        raise ValueError("not a JSON object")
    found: dict[str, str] = {}
    at = _end(skip(text, at + 1))
    if text[at : at + 1] == "}":
        at = _end(skip(text, at + 1))
    else:
        while True:
            if text[at : at + 1] != '"':
                raise ValueError(f"a member name is expected at character {at}")
            name, at = _scan_string(text, at + 1, True)
            at = _end(skip(text, at))
            if text[at : at + 1] != ":":
                raise ValueError(f"':' is expected at character {at}")
            start = _end(skip(text, at + 1))
            _, at = value_end(text, start)
            found.pop(name, None)
            found[name] = text[start:at]
            at = _end(skip(text, at))
            mark = text[at : at + 1]
            at = _end(skip(text, at + 1))
            if mark == "}":
                break
            if mark != ",":
                raise ValueError(f"',' or '}}' is expected at character {at}")
    if at != len(text):
        raise ValueError(f"extra data after the object at character {at}")
    return found


def _split_elements(text: str) -> list[str]:
    skip = _WHITE_SPACE.match
    at = _end(skip(text, 0))
    if text[at : at + 1] != "[":
        raise ValueError("not a JSON array")
    found: list[str] = []
    at = _end(skip(text, at + 1))
    if text[at : at + 1] == "]":
        at = _end(skip(text, at + 1))
    else:
        while True:
            start = at
            _, at = _SCANNER.raw_decode(text, start)
            found.append(text[start:at])
            at = _end(skip(text, at))
            mark = text[at : at + 1]
            at = _end(skip(text, at + 1))
            if mark == "]":
                break
            if mark != ",":
                raise ValueError(f"',' or ']' is expected at character {at}")
    if at != len(text):
        raise ValueError(f"extra data after the array at character {at}")
    return found


def _split_consecutive(text: str) -> list[str]:
    found: list[str] = []
    at = _end(_WHITE_SPACE.match(text, 0))
    while at < len(text):
        start = at
        _, at = _SCANNER.raw_decode(text, start)
        found.append(text[start:at])
        at = _end(_WHITE_SPACE.match(text, at))
    return found


def _end(match: re.Match[str] | None) -> int:
    assert match is not None  # the pattern matches the empty string
    return match.end()


def _encode_slowly(value: object, what: object, max_depth: int) -> str:
    plain = _PlainCopy(what, max_depth).of(value)
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


class _Level:
    """One container that is being copied: what is left of it and where the copies go."""

    __slots__ = ("items", "key", "put", "source")

    def __init__(
        self,
        source: object,
        items: Iterator[tuple[object, object]],
        put: Callable[[Any, object], object],
    ) -> None:
        self.source = source
        self.items = items
        self.put = put
        self.key: object = None


class _PlainCopy:
    """Copies a value into plain data, or says where it is not JSON; needs no call stack."""

    def __init__(self, what: object, max_depth: int) -> None:
        self._what = what
        self._max_depth = max_depth
        self._levels: list[_Level] = []
        self._above: set[int] = set()

    def of(self, value: object) -> object:
        result: list[object] = []
        self._levels.append(_Level(None, iter([(None, value)]), lambda _, copy: result.append(copy)))
        while self._levels:
            self._advance(self._levels[-1])
        return result[0]

    def _advance(self, level: _Level) -> None:
        """Copy the items of ``level`` up to its end or to the next container inside it."""
        for key, item in level.items:
            level.key = key
            if _is_container(item):
                level.put(level.key, self._enter(item))
                return
            level.put(level.key, self._leaf(item))
        self._levels.pop()
        self._above.discard(id(level.source))

    def _enter(self, source: _Container) -> object:
        if len(self._levels) > self._max_depth:
            raise self._error(f"nested deeper than {MAX_DEPTH} levels")
        if id(source) in self._above:
            raise self._error("the value contains itself")
        self._above.add(id(source))
        if isinstance(source, dict):
            members: dict[str, object] = {}
            self._levels.append(_Level(source, self._named(source), members.__setitem__))
            return members
        elements: list[object] = []
        items = iter(enumerate(source))
        self._levels.append(_Level(source, items, lambda _, copy: elements.append(copy)))
        return elements

    def _named(self, source: dict[Any, Any]) -> Iterator[tuple[object, object]]:
        seen: set[str] = set()
        for key, item in source.items():
            if not isinstance(key, str):
                raise self._error(f"the key {key!r:.40} is a {type(key).__name__}, not a str", of_keys=True)
            name = _paired(str.__str__(key))
            if name in seen:
                raise self._error("two keys are the same in JSON", of_keys=True)
            seen.add(name)
            yield name, item

    def _leaf(self, value: object) -> object:
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            number = int.__int__(value)
            if abs(number) >= _LARGEST_SHORT_INTEGER:
                raise self._error(f"an integer of more than {MAX_INTEGER_DIGITS} digits")
            return number
        if isinstance(value, float):
            if not isfinite(value):
                raise self._error(f"{float.__float__(value)} is not JSON")
            return float.__float__(value)
        raise self._error(f"a {type(value).__name__} is not JSON")

    def _error(self, problem: str, *, of_keys: bool = False) -> InvalidValueError:
        """Names the item that is being copied, or with ``of_keys`` the object around it."""
        keys = [level.key for level in self._levels[1 : -1 if of_keys else None]]
        path = [f"[{key}]" if isinstance(key, int) else f".{key!a:.40}" for key in keys if key is not None]
        if len(path) > 12:
            path = [*path[:6], "…", *path[-5:]]
        place = f" (at ${''.join(path)})" if path else ""
        return InvalidValueError(f"{self._what}: {problem}{place}")


def _is_container(value: object) -> TypeGuard[_Container]:
    return isinstance(value, (dict, list, tuple))


def _paired(text: str) -> str:
    """Join the two halves of a surrogate pair, which JSON text cannot tell from the character."""
    if text.isascii() or not _LONE_SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError("a number beyond the range of a double")
    return number


_SCANNER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite)


def _on_fresh_stack_if_deep(work: Callable[[], R]) -> R:
    """Run recursive ``work``; where the caller's stack leaves no room, on a stack of its own.

    What was accepted on write must be readable from any stack depth.
    """
    try:
        return work()
    except RecursionError:
        return _on_fresh_stack(work)


def _on_fresh_stack(work: Callable[[], R]) -> R:
    outcome: list[R] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001  # raised again in the caller's thread
            failure.append(error)

    thread = threading.Thread(target=run, name="sessionstore-json")
    thread.start()
    thread.join()
    if failure:
        if isinstance(failure[0], RecursionError):
            limit = sys.getrecursionlimit()
            raise ValueError(f"nested deeper than a recursion limit of {limit} can read")
        raise failure[0]
    return outcome[0]
