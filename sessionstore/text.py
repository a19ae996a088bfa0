"""The text rules that ids, namespaces, keys, tags and names share (model.md sections 2 to 5)."""

from __future__ import annotations

from urllib.parse import quote

from sessionstore.errors import InvalidAddressError

NAMESPACE_LIMIT = 255
"""UTF-8 bytes of a namespace, tag, entry id, usage id or custom type."""

KEY_LIMIT = 1024
"""UTF-8 bytes of a key."""

ENCODED_ID_LIMIT = 180
"""Characters of a scope or session id in percent-encoded form."""

_SHORT = 128
"""Characters that no limit refuses."""

_UNRESERVED = "-_.!~*'()"


def check_text(
    text: object, what: str, *, limit: int | None, error: type[ValueError] = InvalidAddressError
) -> str:
    """Return ``text`` when it is non-empty, well formed and at most ``limit`` UTF-8 bytes.

    Raises ``error``, naming ``what``, otherwise.
    """
    if type(text) is str and text.isascii() and 0 < len(text) < _SHORT and "\0" not in text:
        return text  # nearly every id
    checked = check_optional_text(text, what, limit=limit, error=error)
    if not checked:
        raise error(f"{what} must not be empty")
    return checked


def check_optional_text(
    text: object, what: str, *, limit: int | None, error: type[ValueError] = InvalidAddressError
) -> str:
    """The same as :func:`check_text` for text that may be empty, such as a key."""
    if not isinstance(text, str):
        raise error(f"{what} must be a str, not {type(text).__name__}")
    plain = text if type(text) is str else str.__str__(text)
    if "\0" in plain:
        raise error(f"{what} must not contain U+0000")
    if plain.isascii():
        size = len(plain)
    else:
        try:
            size = len(plain.encode())
        except UnicodeEncodeError:
            raise error(f"{what} must not contain a lone surrogate") from None
    if limit is not None and size > limit:
        raise error(f"{what} has {size} UTF-8 bytes; at most {limit} are allowed")
    return plain


def encode_uri_component(text: str) -> str:
    """Percent-encode as JavaScript's ``encodeURIComponent``: over UTF-8, RFC 2396 marks kept."""
    return quote(text, safe=_UNRESERVED)


def check_encodable_id(text: object, what: str, *, error: type[ValueError]) -> str:
    """Return an id whose percent-encoded form is a file name on every system (180 characters)."""
    checked = check_text(text, what, limit=None, error=error)
    size = len(checked) if checked.isalnum() and checked.isascii() else len(encode_uri_component(checked))
    if size > ENCODED_ID_LIMIT:
        raise error(
            f"{what} has {size} characters when percent-encoded; at most {ENCODED_ID_LIMIT} are allowed"
        )
    return checked
