"""The JSON codec: what goes in comes out, agrees with the standard library, or is refused by name."""

from __future__ import annotations

import json
import math
import sys
import threading
from collections import OrderedDict
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sessionstore import json_text
from sessionstore.errors import InvalidValueError
from sessionstore.testing.checks import identical_json
from sessionstore.testing.material import nested

# -- strategies ------------------------------------------------------------------------------

characters = st.characters()  # any code point, lone surrogates included
texts = st.text(characters, max_size=20) | st.sampled_from(
    ["", "\0", "\ud800", "\udfff\ud800", "\\u0000", "😀"]
)
integers = st.integers() | st.sampled_from([2**53 + 1, 2**63, -(2**63) - 1, 2**64, 2**70, 10**4299, 10**30])
floats = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-0.0, 1e308, 5e-324, 1e16, 1e22])
leaves = st.none() | st.booleans() | integers | floats | texts


def paired(text: str) -> bool:
    """Whether a text has the halves of a pair side by side, which JSON takes for the character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass") != text


keys = texts.filter(lambda text: not paired(text))
values = st.recursive(
    leaves.filter(lambda leaf: not (isinstance(leaf, str) and paired(leaf))),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(keys, inner, max_size=5),
    max_leaves=30,
)


# -- properties ------------------------------------------------------------------------------


@given(values)
def test_what_goes_in_comes_out(value: Any) -> None:
    identical_json(json_text.decode(json_text.encode(value, "it")), value)


@given(values)
def test_the_text_means_the_same_to_the_standard_library(value: Any) -> None:
    text = json_text.encode(value, "it")
    identical_json(json.loads(text), value)
    assert text.encode()  # can be written to a file: lone surrogates are escaped


@given(values)
def test_what_the_standard_library_writes_is_read(value: Any) -> None:
    for ensure_ascii in (True, False):
        text = json.dumps(value, ensure_ascii=ensure_ascii, indent=1)
        identical_json(json_text.decode(text), value)


@given(st.text(st.sampled_from('[]{}",:0123456789.eE+-truefalsn \n\\u\ud8aa'), max_size=25))
@settings(max_examples=400)
def test_texts_are_taken_or_refused_as_by_the_standard_library(text: str) -> None:
    def strict(constant: str) -> Any:
        raise ValueError(constant)

    def finite(number: str) -> float:
        if not math.isfinite(float(number)):
            raise ValueError(number)
        return float(number)

    try:
        expected = json.loads(text, parse_constant=strict, parse_float=finite)
    except ValueError:
        with pytest.raises(ValueError):  # noqa: PT011  # any of them: that is the contract
            json_text.decode(text)
    else:
        identical_json(json_text.decode(text), expected)


@given(values)
def test_depth_counts_levels(value: Any) -> None:
    def levels(item: Any) -> int:
        if isinstance(item, dict):
            return 1 + max(map(levels, item.values()), default=0)
        return 1 + max(map(levels, item), default=0) if isinstance(item, list) else 0

    assert json_text.depth(json_text.encode(value, "it")) == levels(value)


@given(st.dictionaries(keys, values, max_size=6))
def test_members_come_apart_and_together_unchanged(value: dict[str, Any]) -> None:
    text = json_text.encode(value, "it")
    parts = json_text.members(text)
    assert list(parts) == list(value)
    for name, part in parts.items():
        identical_json(json_text.decode(part), value[name])
    identical_json(json_text.decode(json_text.join_members(parts)), value)


@given(st.lists(values, max_size=6))
def test_elements_and_consecutive_values_come_apart(value: list[Any]) -> None:
    text = json_text.encode(value, "it")
    for part, element in zip(json_text.elements(text), value, strict=True):
        identical_json(json_text.decode(part), element)
    lines = "\n".join(json_text.encode(one, "it") for one in value)
    for part, element in zip(json_text.consecutive(lines), value, strict=True):
        identical_json(json_text.decode(part), element)


# -- spelling --------------------------------------------------------------------------------


def test_members_keep_their_spelling() -> None:
    text = ' { "a" : 1e-05 , "b":0.00001,"c": [1.0, 1E2 ] ,"\\u0064": -0, "a": 1.50 } '
    assert json_text.members(text) == {"b": "0.00001", "c": "[1.0, 1E2 ]", "d": "-0", "a": "1.50"}
    assert json_text.members("{}") == {}
    assert json_text.members(" { } ") == {}


@pytest.mark.parametrize(
    "text", ["", "[]", "1", "{", '{"a"}', '{"a":}', '{"a":1,}', '{"a":1} x', "{a:1}", '{"a":1 "b":2}', "null"]
)
def test_members_of_what_is_no_object(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the message says what was expected
        json_text.members(text)


@pytest.mark.parametrize("text", ["", "{}", "1", "[", "[1", "[1,]", "[1 2]", "[] x", "[,]"])
def test_elements_of_what_is_no_array(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # the message says what was expected
        json_text.elements(text)


def test_text_is_compact_and_not_escaped_without_need() -> None:
    assert json_text.encode({"a": [1, "é😀\u2028"], "b": {}}, "it") == '{"a":[1,"é😀\u2028"],"b":{}}'
    assert json_text.encode("\ud800é", "it") == '"\\ud800é"'
    assert json_text.encode("\ud83d\ude00", "it") == json_text.encode("😀", "it").replace(
        "😀", "\\ud83d\\ude00"
    )
    assert json_text.decode('"\\ud83d\\ude00"') == "😀"


def test_a_new_object_at_each_decoding() -> None:
    text = json_text.encode({"a": [1]}, "it")
    json_text.decode(text)["a"].append(2)
    assert json_text.decode(text) == {"a": [1]}


def test_bytes_are_read_too() -> None:
    assert json_text.decode(b'{"a":"\xc3\xa9"}') == {"a": "é"}
    assert json_text.decode(b'["\\ud800"]') == ["\ud800"]
    with pytest.raises(ValueError, match="utf-8"):
        json_text.decode(b'"\xff"')


# -- what counts by its value ----------------------------------------------------------------


class Shade(Enum):
    DARK = "dark"


class Text(str):
    __slots__ = ()


class Whole(int):
    pass


class Real(float):
    pass


class Rows(list[Any]):
    pass


class Table(dict[str, Any]):
    pass


class Color(IntEnum):
    RED = 2


class Word(StrEnum):
    HI = "hi"


@pytest.mark.parametrize(
    ("given_", "plain"),
    [
        ((1, (2, [3])), [1, [2, [3]]]),
        (Text("é"), "é"),
        (Whole(2**70), 2**70),
        (Real(0.5), 0.5),
        (Rows([1]), [1]),
        (Table(a=1), {"a": 1}),
        (OrderedDict(z=1, a=2), {"z": 1, "a": 2}),
        ([Color.RED, Word.HI], [2, "hi"]),
        ({Text("k"): 1, Word.HI: 2}, {"k": 1, "hi": 2}),
        (Text("\ud800"), "\ud800"),
    ],
    ids=repr,
)
def test_subclasses_count_by_their_value(given_: Any, plain: Any) -> None:
    identical_json(json_text.decode(json_text.encode(given_, "it")), plain)


# -- many values -----------------------------------------------------------------------------


@given(st.lists(values, max_size=4), st.integers(0, 20))
def test_many_values_have_the_texts_that_each_has(some: list[Any], times: int) -> None:
    given_ = some * times
    together = json_text.encode_together(given_)
    assert together is None or together == [json_text.encode(value, "it") for value in given_]


def test_plain_values_are_captured_together() -> None:
    plain: list[Any] = [{"n": n, "text": f"{n}\n\u2028\u0085\r\0é😀"} for n in range(100)]
    together = json_text.encode_together(plain)
    assert together == [json_text.encode(value, "it") for value in plain]
    assert json_text.encode_together([]) == []
    assert json_text.encode_together(["x" * 500_000, "y" * 600_000]) is None  # not twice in memory


@pytest.mark.parametrize("place", [0, 31, 32, 99])
@pytest.mark.parametrize(
    "odd",
    [math.nan, {1}, (1,), {1: 2}, b"x", "\ud800", 10**4300, Shade.DARK, nested(513), nested(2000)],
    ids=range(10),
)
def test_one_that_needs_a_look_is_not_captured_with_others(odd: Any, place: int) -> None:
    mixed: list[Any] = [{"n": n} for n in range(100)]
    mixed[place] = odd
    assert json_text.encode_together(mixed) is None


# -- what is refused -------------------------------------------------------------------------


def cycle() -> Any:
    inner: dict[str, Any] = {}
    inner["self"] = [inner]
    return inner


REFUSED: list[tuple[Any, str]] = [
    (lambda: math.nan, "nan"),
    (lambda: math.inf, "inf"),
    (lambda: Real("nan"), "nan"),
    (lambda: b"x", "bytes"),
    (lambda: {1}, "set"),
    (lambda: Decimal(1), "Decimal"),
    (lambda: Shade.DARK, "Shade"),
    (lambda: object(), "object"),  # noqa: PLW0108  # a new one
    (lambda: {1: 2}, "key 1 is a int"),
    (lambda: {"1": 1, 1: 2}, "key 1 is a int"),
    (lambda: {None: 1}, "NoneType"),
    (lambda: {True: 1}, "bool"),
    (lambda: {1.5: 1}, "float"),
    (cycle, "contains itself"),
    (lambda: 10**4300, "4300 digits"),
    (lambda: -(10**5000), "4300 digits"),
    (lambda: nested(513), "512 levels"),
    (lambda: nested(100_000), "512 levels"),
    (lambda: {"\ud83d\ude00": 1, "😀": 2}, "the same in JSON"),
]


@pytest.mark.parametrize(("make", "problem"), REFUSED, ids=range(len(REFUSED)))
def test_what_is_not_json_is_refused(make: Any, problem: str) -> None:
    for value in (make(), [make()], {"k": (make(),)}):
        with pytest.raises(InvalidValueError, match=problem) as raised:
            json_text.encode(value, "the place")
        assert str(raised.value).startswith("the place: ")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"a": {1, 2}}, "$.'a'"),
        ({"a": [0, {"b c": {1}}]}, "$.'a'[1].'b c'"),
        ([[], [[math.nan]]], "$[1][0][0]"),
        ({"ok": 1, "bad": {2: 3}}, "$.'bad'"),
        ({"é": b""}, r"$.'\\xe9'".replace("\\\\", "\\")),
        ([{"a": 1, 2: 3}], "$[0]"),
    ],
    ids=str,
)
def test_the_path_is_named(value: Any, path: str) -> None:
    with pytest.raises(InvalidValueError) as raised:
        json_text.encode(value, "it")
    assert str(raised.value).endswith(f"(at {path})")


def test_a_bad_key_of_the_whole_value_has_no_path() -> None:
    with pytest.raises(InvalidValueError) as raised:
        json_text.encode({"fine": 1, 2: 3}, "it")
    assert str(raised.value) == "it: the key 2 is a int, not a str"


def test_a_long_path_is_shortened_and_a_payload_is_not_shown() -> None:
    value: Any = b"secret"
    for _ in range(100):
        value = [value]
    with pytest.raises(InvalidValueError) as raised:
        json_text.encode({"x" * 1000: value}, "it")
    assert "…" in str(raised.value)
    assert len(str(raised.value)) < 200
    assert "secret" not in str(raised.value)


# -- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [1, 254, 255, 256, 511, 512])
def test_levels_up_to_the_limit(levels: int) -> None:
    for value in (nested(levels), nested(levels, "\ud800"), nested(levels, 2**70)):
        text = json_text.encode(value, "it")
        identical_json(json_text.decode(text), value)
        assert json_text.check(text) == text


def test_levels_around_the_value_do_not_count() -> None:
    json_text.encode({"message": nested(512)}, "it", around=1)
    with pytest.raises(InvalidValueError, match="levels"):
        json_text.encode({"message": nested(513)}, "it", around=1)
    text = json.dumps(nested(300))
    deep = f'{{"a":{"[" * 600 + "]" * 600}}}'
    assert json_text.check(text, around=1) == text
    with pytest.raises(ValueError, match="512 levels"):
        json_text.check(deep, around=1)


@pytest.mark.parametrize("wide", [600, 20_000])
def test_width_is_no_depth(wide: int) -> None:
    value = {"rows": [{"n": [n]} for n in range(wide)]}
    identical_json(json_text.decode(json_text.encode(value, "it")), value)


def test_brackets_inside_strings_are_no_depth() -> None:
    value = {"text": "[{" * 2000, "more": ['"[' * 900, "\\[" * 900]}
    text = json_text.encode(value, "it")
    identical_json(json_text.decode(text), value)
    assert json_text.depth(text) == 2
    assert json_text.check(text) == text


def test_deep_values_pass_from_deep_stacks() -> None:
    value = nested(512, "\ud800")
    text = json_text.encode(value, "it")

    def at_depth(frames: int, call: Any) -> Any:
        return at_depth(frames - 1, call) if frames else call()

    def deep_inside() -> None:
        room = sys.getrecursionlimit() - 120
        for frames in range(0, room, 97):
            assert at_depth(frames, lambda: json_text.encode(value, "it")) == text
            identical_json(at_depth(frames, lambda: json_text.decode(text)), value)

    failures: list[BaseException] = []

    def run() -> None:
        try:
            deep_inside()
        except BaseException as error:  # noqa: BLE001  # told below
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert failures == []


def test_integers_up_to_the_limit() -> None:
    for number in (10**4299, 10**4300 - 1, -(10**4300) + 1):
        assert json_text.decode(json_text.encode(number, "it")) == number


@pytest.mark.parametrize(
    "text", ["1e400", "[-1e999]", "NaN", "[Infinity]", "-Infinity", "1" * 4301, '{"a":1', '"\ud800"'[:-1]]
)
def test_texts_that_are_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # several messages, one type
        json_text.check(text)


def test_text_too_deep_for_any_stack_is_an_error() -> None:
    text = "[" * 100_000 + "]" * 100_000
    with pytest.raises(ValueError, match="deep"):
        json_text.decode(text)
    with pytest.raises(ValueError, match="512"):
        json_text.check(text)
