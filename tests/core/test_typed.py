"""Typed addresses: strict on write, the same again on read, errors by address."""

from __future__ import annotations

import datetime as dt
import math
import uuid
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Annotated, Any, Literal, NotRequired

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from sessionstore import json_text
from sessionstore.address import value, value_list
from sessionstore.errors import CorruptStorageError, InvalidValueError
from sessionstore.typed import PLAIN, codec_for


class Point(BaseModel):
    x: int
    y: float = 0.5


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    at: dt.datetime
    tags: frozenset[str] = frozenset()


class Aliased(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    tool_name: str = Field(alias="toolName")


class Node(BaseModel):
    name: str
    children: list[Node] = []


@dataclass
class Size:
    width: int
    height: int | None = None
    parts: list[Point] = field(default_factory=list)


class Movie(TypedDict):
    title: str
    year: NotRequired[int]


class Color(Enum):
    RED = "red"
    DEEP = 3


class Level(IntEnum):
    LOW = 1


class Word(StrEnum):
    HI = "hi"


class Cat(BaseModel):
    kind: Literal["cat"] = "cat"
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"] = "dog"
    good: bool


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]
UTC = dt.UTC

FITTING: list[tuple[Any, Any]] = [
    (str, "é\u2028"),
    (str, ""),
    (int, 2**70),
    (int, -5),
    (float, -0.0),
    (float, 1e308),
    (bool, True),
    (type(None), None),
    (int | str, 5),
    (int | str, "5"),
    (str | None, None),
    (float | int, 5),
    (bool | int, 1),
    (list[int], [1, 2]),
    (tuple[int, str], (1, "a")),
    (tuple[int, ...], ()),
    (dict[str, list[int]], {"b": [1], "a": []}),
    (dict[int, str], {1: "a", -2: "b"}),
    (dict[uuid.UUID, int], {uuid.UUID(int=7): 1}),
    (set[int], {1, 2, 3}),
    (frozenset[str], frozenset({"a"})),
    (bytes, b"text"),
    (dt.datetime, dt.datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC)),
    (dt.datetime, dt.datetime(2026, 2, 3)),
    (dt.date, dt.date(2026, 2, 3)),
    (dt.time, dt.time(1, 2, 3)),
    (dt.timedelta, dt.timedelta(days=1, microseconds=5)),
    (Decimal, Decimal("1.50")),
    (uuid.UUID, uuid.UUID(int=1)),
    (Color, Color.RED),
    (Color, Color.DEEP),
    (Level, Level.LOW),
    (Word, Word.HI),
    (Literal["a", 1], 1),
    (Point, Point(x=1)),
    (Strict, Strict(at=dt.datetime(2026, 1, 1, tzinfo=UTC), tags=frozenset({"x"}))),
    (Aliased, Aliased(tool_name="grep")),
    (Node, Node(name="a", children=[Node(name="b", children=[Node(name="c")])])),
    (Size, Size(1, None, [Point(x=2, y=3)])),
    (Movie, {"title": "x"}),
    (Movie, {"title": "x", "year": 1999}),
    (Pet, Dog(good=True)),
    (list[Pet], [Cat(lives=9), Dog(good=False)]),
    (Point | Size, Size(1)),
    (dict[str, Point | None], {"a": None, "b": Point(x=1)}),
    (Annotated[int, Field(ge=0)], 0),
    (dict[str, Any], {"a": [1, {"b": None}], "c": 2**70}),
    (list[Any], [1.5, "x", {"y": -0.0}]),
    (object, {"any": [1]}),
]


@pytest.mark.parametrize(("type_", "given_"), FITTING, ids=range(len(FITTING)))
def test_what_fits_is_read_as_it_was_written(type_: Any, given_: Any) -> None:
    address = value("app", "k", type=type_)
    text = address.encode(given_)
    assert json_text.check(text) == text
    read = address.decode(text)
    assert read == given_
    assert type(read) is type(given_)
    assert address.encode(read) == text


MISFITS: list[tuple[Any, Any, str]] = [
    (int, "5", "integer"),
    (int, 5.0, "integer"),
    (int, True, "integer"),
    (str, 5, "string"),
    (str, b"x", "string"),
    (float, "1.5", "number"),
    (bool, 1, "boolean"),
    (list[int], (1, 2), "list"),
    (list[int], [1, "2"], r"\$\.1"),
    (tuple[int, str], (1, 2), r"\$\.1"),
    (dict[str, int], {"a": {"b": 1}}, r"\$\.a"),
    (dt.datetime, "2026-01-01T00:00:00Z", "datetime"),
    (Color, "red", "Color"),
    (Literal["a"], "b", "'a'"),
    (Point, [1], "Point"),
    (Movie, {"year": 1}, r"\$\.title"),
    (Size, {"width": 1}, "Size"),
    (Annotated[int, Field(ge=0)], -1, "greater"),
    (int | str, None, "int"),
    (type(None), 0, "None"),
]


@pytest.mark.parametrize(("type_", "given_", "said"), MISFITS, ids=range(len(MISFITS)))
def test_what_does_not_fit_is_refused_on_write(type_: Any, given_: Any, said: str) -> None:
    for address in (value("app.x", "the key", type=type_), value_list("app.x", "the key", type=type_)):
        with pytest.raises(InvalidValueError, match=said) as raised:
            address.encode(given_)
        assert str(raised.value).startswith(f"{address.kind} 'app.x' key 'the key': ")


@pytest.mark.parametrize(
    "make", [lambda n: n, lambda n: [n], lambda n: {"k": n}], ids=["bare", "list", "dict"]
)
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_nan_inside_is_refused(make: Any, number: float) -> None:
    for type_ in (Any, object, float | list[float] | dict[str, float]):
        with pytest.raises(InvalidValueError, match=r"nan|inf"):
            value("app", type=type_).encode(make(number))


@pytest.mark.parametrize(
    ("type_", "given_"),
    [
        (Point, Point(x=1, y=math.nan)),
        (Size, Size(1, parts=[Point(x=1, y=math.inf)])),
        (dict[int, float], {1: math.nan}),
        (set[float], {math.inf}),
        (Decimal, Decimal("NaN")),
        (bytes, b"\xff"),
        (object, object()),
        (dict[str, object], {"k": {1}}),
        (list[Any], [[[dt.date(2026, 1, 1)]]]),
    ],
    ids=range(9),
)
def test_what_has_no_json_form_is_refused(type_: Any, given_: Any) -> None:
    with pytest.raises(InvalidValueError, match=r"'app\.y'"):
        value("app.y", type=type_).encode(given_)


@pytest.mark.parametrize(
    ("type_", "text"),
    [
        (int, '"5"'),
        (int, "5.5"),
        (str, "5"),
        (Point, "[]"),
        (Point, '{"x":"1"}'),
        (Color, '"blue"'),
        (Movie, "{}"),
    ],
)
def test_a_stored_value_that_does_not_fit(type_: Any, text: str) -> None:
    with pytest.raises(InvalidValueError, match=r"'app\.z' key 'k'"):
        value("app.z", "k", type=type_).decode(text)


@pytest.mark.parametrize("type_", [Any, int, Point, list[int]])
def test_stored_text_that_is_no_json(type_: Any) -> None:
    with pytest.raises(CorruptStorageError, match=r"'app\.z' key 'k'"):
        value("app.z", "k", type=type_).decode('{"x": ')


@pytest.mark.parametrize(
    ("type_", "given_"),
    [
        (dict[str, Any], {"a": "\ud800", "b": [2**70, 10**4299, -0.0]}),
        (list[Any], [["\udfff\ud800"], {"\ud83d": 1}]),
        (Any, "\ud800"),
        (int, 10**4299),
        (list[int], [10**4299, 1]),
    ],
    ids=range(5),
)
def test_awkward_json_passes_through_types(type_: Any, given_: Any) -> None:
    address = value("app", type=type_)
    assert address.decode(address.encode(given_)) == given_


def test_deep_json_passes_through_types() -> None:
    deep: Any = 0
    for _ in range(510):
        deep = [deep]
    address = value("app", type=dict[str, Any])
    assert address.decode(address.encode({"k": deep})) == {"k": deep}


@given(st.dictionaries(st.integers(), st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False))))
def test_any_table_of_a_type_survives(table: dict[int, list[float | None]]) -> None:
    address = value("app", type=dict[int, list[float | None]])
    assert repr(address.decode(address.encode(table))) == repr(table)


def test_the_type_is_kept_and_not_the_object() -> None:
    address = value("app", type=Node)
    node = Node(name="a", children=[Node(name="b")])
    text = address.encode(node)
    node.children.clear()
    assert [child.name for child in address.decode(text).children] == ["b"]


def test_any_is_plain_json_without_validation() -> None:
    assert codec_for(Any) is PLAIN
    assert value("app").encode((1, 2)) == "[1,2]"
    with pytest.raises(InvalidValueError, match="Point"):
        value("app").encode(Point(x=1))


def test_codecs_are_shared_and_types_without_a_hash_work() -> None:
    assert codec_for(dict[str, int]) is codec_for(dict[str, int])
    unhashable: Any = Annotated[int, {"unhashable": 1}]
    assert value("app", type=unhashable).encode(1) == "1"


class Foreign:
    pass


@pytest.mark.parametrize("type_", [Foreign, list[Foreign], "Undefined"], ids=range(3))
def test_types_that_pydantic_does_not_know(type_: Any) -> None:
    with pytest.raises(InvalidValueError, match="schema"):
        value("app", type=type_)


def test_a_standard_typed_dict_tells_what_to_do() -> None:
    import sys
    import typing

    standard: Any = typing.TypedDict("standard", {"a": int})
    if sys.version_info >= (3, 12):
        assert value("app", type=standard).encode({"a": 1}) == '{"a":1}'
    else:
        with pytest.raises(InvalidValueError, match="typing_extensions"):
            value("app", type=standard)


@pytest.mark.parametrize(
    ("type_", "bad"),
    [
        (Point, Point.model_construct(x="one")),
        (list[Point], [Point.model_construct(x="one")]),
        (Size, Size("wide")),  # type: ignore[arg-type] # what is tested
        (Point | None, Point.model_construct(y=1.0)),
    ],
    ids=range(4),
)
@pytest.mark.filterwarnings("error")
def test_an_instance_whose_fields_do_not_fit_is_refused_on_write(type_: Any, bad: Any) -> None:
    """An instance is taken as valid by its class; what could not be read back is refused all the same."""
    for address in (value("app", "k", type=type_), value_list("app", "k", type=type_)):
        with pytest.raises(InvalidValueError, match="'app' key 'k': does not fit"):
            address.encode(bad)
