"""Between a value of a Python type and the JSON text that stores keep."""

from __future__ import annotations

from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Generic, TypeVar, get_args

from pydantic import PydanticUndefinedAnnotation, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from sessionstore import json_text
from sessionstore.errors import CorruptStorageError, InvalidValueError

T = TypeVar("T")


class Codec(Generic[T]):
    """Captures and restores values of one address type."""

    def encode(self, value: T, what: object) -> str:
        """JSON text of ``value``; :class:`InvalidValueError`, naming ``what``, if it does not fit."""
        raise NotImplementedError

    def decode(self, text: str, what: object) -> T:
        """The value that ``text`` stands for; :class:`InvalidValueError` if it does not fit."""
        raise NotImplementedError


class _PlainJson(Codec[Any]):
    """Plain JSON data, which goes through no validation."""

    def encode(self, value: Any, what: object) -> str:
        return json_text.encode(value, what)

    def decode(self, text: str, what: object) -> Any:
        try:
            return json_text.decode(text)
        except ValueError as error:
            raise CorruptStorageError(f"{what}: the stored text is not JSON: {error}") from error


_SCALARS: Final = (str, int, float, bool, NoneType)
"""What is JSON as it stands once it is valid: there is nothing to serialize or to prove."""


def _is_scalar(type_: Any) -> bool:
    return all(part in _SCALARS for part in (get_args(type_) if isinstance(type_, UnionType) else (type_,)))


class _Typed(Codec[Any]):
    """Values of a type that pydantic knows: strict on write, the same again on read."""

    def __init__(self, type_: Any) -> None:
        self._is_scalar = _is_scalar(type_)
        self._name = getattr(type_, "__name__", None) or str(type_)
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(type_)
            self._adapter.rebuild(raise_errors=True)  # what it names has to be known by now
        except (PydanticUserError, PydanticUndefinedAnnotation) as error:
            reason = str(error).splitlines()[0]
            raise InvalidValueError(f"pydantic has no schema for the type {self._name}: {reason}") from error

    def encode(self, value: Any, what: object) -> str:
        try:
            valid = self._adapter.validate_python(value, strict=True)
        except ValidationError as error:
            raise self._misfit(what, error) from None
        if self._is_scalar:
            return json_text.encode(valid, what)
        # An instance counts as valid whatever was assigned to its fields since: what is read back
        # from the text decides, so the serializer need not warn.
        try:
            text = json_text.encode(self._adapter.dump_python(valid, by_alias=True, warnings=False), what)
        except InvalidValueError as error:
            return self._encode_rich(valid, what, error)
        self.decode(text, what)
        return text

    def decode(self, text: str, what: object) -> Any:
        try:
            return self._adapter.validate_json(text, strict=True)
        except ValidationError as error:
            if error.errors(include_input=False)[0]["type"] != "json_invalid":
                raise self._misfit(what, error) from None
        return self._decode_awkward(text, what)

    def _encode_rich(self, valid: Any, what: object, refusal: InvalidValueError) -> str:
        """Dates, enums and the like have a JSON form; it counts when it reads back equal.

        Otherwise (NaN becomes null, say) the first refusal says best what is wrong.
        """
        try:
            text = json_text.encode(
                self._adapter.dump_python(valid, mode="json", by_alias=True, warnings=False), what
            )
            same = self.decode(text, what) == valid
        except (InvalidValueError, PydanticSerializationError, UnicodeDecodeError):
            raise refusal from None
        if not same:
            raise refusal
        return text

    def _decode_awkward(self, text: str, what: object) -> Any:
        """JSON that pydantic's own parser refuses: lone surrogates, deep nesting, huge integers."""
        plain = PLAIN.decode(text, what)
        try:
            return self._adapter.validate_python(plain, strict=True)
        except ValidationError:
            pass
        try:
            return self._adapter.validate_python(plain)
        except ValidationError as error:
            raise self._misfit(what, error) from None

    def _misfit(self, what: object, error: ValidationError) -> InvalidValueError:
        first = error.errors(include_input=False, include_url=False, include_context=False)[0]
        place = "".join(f".{part}" for part in first["loc"])
        return InvalidValueError(
            f"{what}: does not fit the type {self._name}: {first['msg']}"
            + (f" (at ${place})" if place else "")
        )


PLAIN: Final[Codec[Any]] = _PlainJson()
_cached_typed = lru_cache(maxsize=1024)(_Typed)


def codec_for(type_: Any) -> Codec[Any]:
    """The codec of an address type; ``Any`` stands for plain JSON data."""
    if type_ is Any:
        return PLAIN
    try:
        hash(type_)
    except TypeError:  # an Annotated type with unhashable metadata
        return _Typed(type_)
    return _cached_typed(type_)
