"""Text rules, scope ids and addresses: limits to the byte, and the encoding of encodeURIComponent."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionstore.address import Place, value, value_list
from sessionstore.builtin import branch_tip, is_builtin
from sessionstore.errors import InvalidAddressError, InvalidBranchError, InvalidScopeError
from sessionstore.metadata import check_session_id
from sessionstore.scope import SESSION_SCOPE, EphemeralScope, SessionScope, ephemeral_scope
from sessionstore.text import check_optional_text, check_text, encode_uri_component

# What JavaScript gives for each of U+0000 to U+007F, in order.
ASCII = (
    "%00|%01|%02|%03|%04|%05|%06|%07|%08|%09|%0A|%0B|%0C|%0D|%0E|%0F|"
    "%10|%11|%12|%13|%14|%15|%16|%17|%18|%19|%1A|%1B|%1C|%1D|%1E|%1F|"
    "%20|!|%22|%23|%24|%25|%26|'|(|)|*|%2B|%2C|-|.|%2F|"
    "0|1|2|3|4|5|6|7|8|9|%3A|%3B|%3C|%3D|%3E|%3F|"
    "%40|A|B|C|D|E|F|G|H|I|J|K|L|M|N|O|P|Q|R|S|T|U|V|W|X|Y|Z|%5B|%5C|%5D|%5E|_|"
    "%60|a|b|c|d|e|f|g|h|i|j|k|l|m|n|o|p|q|r|s|t|u|v|w|x|y|z|%7B|%7C|%7D|~|%7F"
)

BEYOND = [
    ("é", "%C3%A9"),
    ("a\u0301", "a%CC%81"),
    ("ﬀ", "%EF%AC%80"),
    ("😀", "%F0%9F%98%80"),
    ("👍🏽", "%F0%9F%91%8D%F0%9F%8F%BD"),
    ("\u2028", "%E2%80%A8"),
    ("\x85", "%C2%85"),
    ("\ufffd", "%EF%BF%BD"),
    ("\U0010ffff", "%F4%8F%BF%BF"),
    ("a b/c?d=e&f#g%h", "a%20b%2Fc%3Fd%3De%26f%23g%25h"),
    ("../../x", "..%2F..%2Fx"),
    ("CON", "CON"),
    ("100%", "100%25"),
    ("~!*'()-_.", "~!*'()-_."),
    ("İ", "%C4%B0"),
    ("日本語", "%E6%97%A5%E6%9C%AC%E8%AA%9E"),
]


def test_ascii_is_encoded_as_in_javascript() -> None:
    assert [encode_uri_component(chr(code)) for code in range(128)] == ASCII.split("|")


@pytest.mark.parametrize(("text", "encoded"), BEYOND)
def test_everything_else_is_encoded_over_utf8(text: str, encoded: str) -> None:
    assert encode_uri_component(text) == encoded


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_different_texts_are_encoded_differently(one: str, two: str) -> None:
    assert (encode_uri_component(one) == encode_uri_component(two)) is (one == two)
    assert set(encode_uri_component(one)) <= set(ASCII)


# 180 characters, by what one character takes: 1, 3, 6, 9, 12.
@pytest.mark.parametrize(("character", "most"), [("x", 180), ("%", 60), ("é", 30), ("ﬀ", 20), ("😀", 15)])
def test_ids_of_scopes_and_sessions_have_180_encoded_characters(character: str, most: int) -> None:
    fits, too_long = character * most, character * most + "x"
    assert ephemeral_scope(fits).id == fits
    assert check_session_id(fits) == fits
    with pytest.raises(InvalidScopeError, match="181"):
        ephemeral_scope(too_long)
    with pytest.raises(InvalidAddressError, match="181"):
        check_session_id(too_long)


@pytest.mark.parametrize(("character", "size"), [("x", 1), ("é", 2), ("ﬀ", 3), ("😀", 4)])
@pytest.mark.parametrize("limit", [255, 1024])
def test_limits_are_bytes_of_utf8(character: str, size: int, limit: int) -> None:
    fits = character * (limit // size) + "x" * (limit % size)
    assert check_text(fits, "it", limit=limit) == fits
    with pytest.raises(InvalidAddressError, match=f"it has {limit + 1} UTF-8 bytes; at most {limit}"):
        check_text(fits + "x", "it", limit=limit)
    assert check_text(fits * 10, "it", limit=None) == fits * 10


@pytest.mark.parametrize(
    "text", ["\0", "a\0b", "x" * 200 + "\0", "é\0", "\ud800", "a\udfff", "😀\ud83d", "x" * 200 + "\udc00"]
)
def test_malformed_texts(text: str) -> None:
    for check in (check_text, check_optional_text):
        with pytest.raises(InvalidAddressError, match=r"U\+0000|surrogate"):
            check(text, "it", limit=1024)
    for make in (ephemeral_scope, EphemeralScope):
        with pytest.raises(InvalidScopeError, match=r"U\+0000|surrogate"):
            make(text)
    with pytest.raises(InvalidAddressError, match=r"U\+0000|surrogate"):
        check_session_id(text)


@pytest.mark.parametrize("text", [None, 5, b"x", ["x"], object()])
def test_what_is_no_text(text: Any) -> None:
    with pytest.raises(InvalidAddressError, match="must be a str"):
        check_text(text, "it", limit=255)
    with pytest.raises(InvalidScopeError, match="must be a str"):
        ephemeral_scope(text)


def test_empty_text_is_legal_where_it_says_so() -> None:
    assert check_optional_text("", "it", limit=5) == ""
    with pytest.raises(InvalidAddressError, match="it must not be empty"):
        check_text("", "it", limit=5)


def test_subclasses_of_text_become_plain() -> None:
    class Text(str):
        __slots__ = ()

    for checked in (
        check_text(Text("a"), "it", limit=9),
        check_optional_text(Text("é"), "it", limit=9),
        value(Text("n"), Text("k")).key,
        value(Text("n"), Text("k")).namespace,
        ephemeral_scope(Text("s")).id,
        check_session_id(Text("s")),
    ):
        assert type(checked) is str


# -- scopes ----------------------------------------------------------------------------------


def test_scopes_are_frozen_values() -> None:
    scope = ephemeral_scope("op")
    assert scope == EphemeralScope("op")
    assert hash(scope) == hash(EphemeralScope("op"))
    assert scope != ephemeral_scope("OP")
    assert scope != SESSION_SCOPE
    assert SessionScope() == SESSION_SCOPE
    assert (scope.kind, SESSION_SCOPE.kind) == ("ephemeral", "session")
    with pytest.raises(AttributeError):
        scope.id = "other"  # type: ignore[misc]


# -- addresses -------------------------------------------------------------------------------


def test_an_address_is_its_kind_and_place() -> None:
    scope = ephemeral_scope("op")
    assert value("n", "k") == value("n", "k", type=int)
    assert len({value("n", "k"), value("n", "k", type=int), value("n", "k", scope=SESSION_SCOPE)}) == 1  # type: ignore[call-overload]
    different = [
        value("n", "k"),
        value("n"),
        value("m", "k"),
        value("n", "k", scope=scope),
        value_list("n", "k"),
    ]
    assert len(set(different)) == len(different)
    assert value("n", "k").place == Place("", "n", "k")
    assert value("n", "k", scope=scope).place == Place("op", "n", "k")
    assert value("n", "k") != "n"


def test_addresses_tell_what_they_are() -> None:
    assert str(value("app", "k")) == "value 'app' key 'k'"
    assert repr(value_list("app", scope=ephemeral_scope("op"))) == "<list 'app' key '' in scope 'op'>"


def test_namespaces_and_keys_at_their_limits() -> None:
    value("n" * 255, "k" * 1024)
    value_list("é" * 127 + "n", "😀" * 256)
    for namespace, key in (
        ("n" * 256, ""),
        ("é" * 128, ""),
        ("n", "k" * 1025),
        ("n", "😀" * 256 + "x"),
        ("", "k"),
    ):
        for make in (value, value_list):
            with pytest.raises(InvalidAddressError, match=r"namespace|key"):
                make(namespace, key)


def test_a_scope_is_made_by_its_constructor() -> None:
    for wrong in ("op", 5, object()):
        given_: Any = wrong
        with pytest.raises(InvalidScopeError, match="ephemeral_scope"):
            value("n", scope=given_)


def test_built_in_namespaces() -> None:
    assert [is_builtin(name) for name in ("pi", "pi.x", "pi.", "pi2", "pi2.x", "Pi", "p", "xpi.x")] == [
        True, True, True, False, False, False, False, False,
    ]  # fmt: skip
    value("pi.anything", "constructors police nothing")
    with pytest.raises(InvalidBranchError, match="branch name"):
        branch_tip("")
