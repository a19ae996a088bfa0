"""Token and cost figures: one usage, the sum of a ledger, the statistics of a session."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, Final, TypeAlias, cast

import msgspec

from sessionstore import json_text
from sessionstore.errors import InvalidValueError

Number: TypeAlias = int | float


class UsageCost(msgspec.Struct, frozen=True, gc=False):
    """Cost by kind of token, in the currency that the host counts in."""

    input: Number = 0
    output: Number = 0
    cache_read: Number = 0
    cache_write: Number = 0
    total: Number = 0


class Usage(msgspec.Struct, frozen=True):
    """Tokens and cost of one settled call, or a sum of such.

    ``cache_write_1h`` and ``reasoning`` are optional; in a sum they are present once any row had
    them. ``extra`` holds fields of other tools by their JSON names; sums leave them out.
    """

    input: Number = 0
    output: Number = 0
    cache_read: Number = 0
    cache_write: Number = 0
    total_tokens: Number = 0
    cost: UsageCost = UsageCost()
    cache_write_1h: Number | None = None
    reasoning: Number | None = None
    extra: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])


class SessionStats(msgspec.Struct, frozen=True):
    """``message_count`` counts message entries only; ``usage`` sums the whole ledger."""

    message_count: int = 0
    usage: Usage = Usage()


_COST_NAMES: Final = {
    "input": "input",
    "output": "output",
    "cacheRead": "cache_read",
    "cacheWrite": "cache_write",
    "total": "total",
}
_REQUIRED_NAMES: Final = {
    "input": "input",
    "output": "output",
    "cacheRead": "cache_read",
    "cacheWrite": "cache_write",
    "totalTokens": "total_tokens",
}
_OPTIONAL_NAMES: Final = {"cacheWrite1h": "cache_write_1h", "reasoning": "reasoning"}
_FIGURE_NAMES: Final = {**_REQUIRED_NAMES, **_OPTIONAL_NAMES}
_USAGE_NAMES: Final = {*_FIGURE_NAMES, "cost"}


def usage_from_json(data: object, what: str) -> Usage:
    """The usage that JSON ``data`` stands for.

    Raises :class:`~sessionstore.errors.InvalidValueError`, naming ``what`` and the field, when a
    figure is missing or no finite number.
    """
    given = _object(data, what)
    cost = _object(given.get("cost"), f"{what}.cost")
    figures = {field: _number(given.get(name), what, name) for name, field in _REQUIRED_NAMES.items()}
    for name, field in _OPTIONAL_NAMES.items():
        if given.get(name) is not None:
            figures[field] = _number(given[name], what, name)
    return Usage(
        **figures,
        cost=UsageCost(
            **{field: _number(cost.get(name), f"{what}.cost", name) for name, field in _COST_NAMES.items()}
        ),
        extra={name: item for name, item in given.items() if name not in _USAGE_NAMES},
    )


def _object(data: object, what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise InvalidValueError(f"{what}: must be an object, not a {type(data).__name__}")
    return cast("Mapping[str, Any]", data)


def usage_to_json(usage: Usage) -> dict[str, Any]:
    """The JSON form, in the names and the order that the files use."""
    data: dict[str, Any] = {name: getattr(usage, field) for name, field in _REQUIRED_NAMES.items()}
    data["cost"] = {name: getattr(usage.cost, field) for name, field in _COST_NAMES.items()}
    for name, field in _OPTIONAL_NAMES.items():
        if getattr(usage, field) is not None:
            data[name] = getattr(usage, field)
    data.update(usage.extra)
    return data


def capture_usage(given: Usage | Mapping[str, Any], what: str) -> tuple[str, Usage]:
    """The JSON text of a usage as given by a caller (a mapping stays as it is), and its figures."""
    data: dict[str, Any]
    if isinstance(given, dict):
        data = given
    elif isinstance(given, Usage):
        data = usage_to_json(given)
    elif isinstance(given, Mapping):
        data = dict(given)
    else:
        raise InvalidValueError(f"{what}: must be a Usage or a mapping, not a {type(given).__name__}")
    text = json_text.encode(data, what)
    return text, usage_figures(text, what)


def usage_figures(text: str, what: str) -> Usage:
    """The figures in the JSON text of a usage, without ``extra``.

    Raises :class:`~sessionstore.errors.InvalidValueError`, naming ``what`` and the field, when
    one is missing or no finite number.
    """
    try:
        figures = _decode_figures(text)
    except (msgspec.MsgspecError, ValueError):
        return usage_from_json(json_text.decode(text), what)  # accepts it, or names the field
    cost = figures.cost
    return Usage(
        figures.input,
        figures.output,
        figures.cache_read,
        figures.cache_write,
        figures.total_tokens,
        UsageCost(cost.input, cost.output, cost.cache_read, cost.cache_write, cost.total),
        figures.cache_write_1h,
        figures.reasoning,
    )


class _CostFigures(msgspec.Struct, rename="camel", gc=False):
    input: Number
    output: Number
    cache_read: Number
    cache_write: Number
    total: Number


class _UsageFigures(
    msgspec.Struct,
    rename={field: name for name, field in _FIGURE_NAMES.items()},
    gc=False,
    omit_defaults=True,  # the optional figures
):
    """What every usage must have; :class:`Usage` has defaults, text may not rely on them."""

    input: Number
    output: Number
    cache_read: Number
    cache_write: Number
    total_tokens: Number
    cost: _CostFigures
    cache_write_1h: Number | None = None
    reasoning: Number | None = None


_decode_figures: Final = msgspec.json.Decoder(_UsageFigures).decode
_encode_figures: Final = msgspec.json.Encoder().encode


def sum_text(total: Usage) -> str:
    """The JSON text of a sum, which has no ``extra``: that of :func:`usage_to_json`.

    Raises :class:`~sessionstore.errors.InvalidValueError` when a figure is not finite.
    """
    cost = total.cost
    figures = _UsageFigures(
        total.input,
        total.output,
        total.cache_read,
        total.cache_write,
        total.total_tokens,
        _CostFigures(cost.input, cost.output, cost.cache_read, cost.cache_write, cost.total),
        total.cache_write_1h,
        total.reasoning,
    )
    try:
        text = _encode_figures(figures).decode()
    except (OverflowError, msgspec.MsgspecError):
        text = "null"
    # What is not finite comes out as null, integers beyond 64 bits not at all.
    return json_text.encode(usage_to_json(total), "usage") if "null" in text else text


def add_usage(total: Usage, row: Usage) -> Usage:
    """One step of the left fold over a ledger; floats are added in exactly this order.

    Raises :class:`~sessionstore.errors.InvalidValueError` when a sum leaves the range of a
    double: it could be neither stored nor added to.
    """
    cost, row_cost = total.cost, row.cost
    try:
        sums = (
            total.input + row.input,
            total.output + row.output,
            total.cache_read + row.cache_read,
            total.cache_write + row.cache_write,
            total.total_tokens + row.total_tokens,
            cost.input + row_cost.input,
            cost.output + row_cost.output,
            cost.cache_read + row_cost.cache_read,
            cost.cache_write + row_cost.cache_write,
            cost.total + row_cost.total,
        )
        if not all(map(isfinite, sums)):
            raise _out_of_range()
    except OverflowError:  # an integer beyond a double, which no float can be added to
        raise _out_of_range() from None
    return Usage(
        *sums[:5],
        UsageCost(*sums[5:]),
        _add_optional(total.cache_write_1h, row.cache_write_1h),
        _add_optional(total.reasoning, row.reasoning),
    )


class UsageFold:
    """The left fold of :func:`add_usage` over texts, without a new object for each row.

    For those who read a whole ledger at once.
    """

    def __init__(self, start: Usage | None = None) -> None:
        start = start or Usage()
        self._input = start.input
        self._output = start.output
        self._cache_read = start.cache_read
        self._cache_write = start.cache_write
        self._total_tokens = start.total_tokens
        self._cost_input = start.cost.input
        self._cost_output = start.cost.output
        self._cost_cache_read = start.cost.cache_read
        self._cost_cache_write = start.cost.cache_write
        self._cost_total = start.cost.total
        self._cache_write_1h = start.cache_write_1h
        self._reasoning = start.reasoning

    def add(self, text: str | bytes | msgspec.Raw, what: str) -> None:
        """Add the figures of one row. Errors as for :func:`usage_figures`."""
        row: _UsageFigures | Usage
        try:
            row = _decode_figures(text)
        except (msgspec.MsgspecError, ValueError):
            row = usage_figures(text if isinstance(text, str) else str(text, "utf-8"), what)
        try:
            self._add(row)
        except OverflowError:
            raise _out_of_range() from None

    def _add(self, row: _UsageFigures | Usage) -> None:
        cost = row.cost
        self._input += row.input
        self._output += row.output
        self._cache_read += row.cache_read
        self._cache_write += row.cache_write
        self._total_tokens += row.total_tokens
        self._cost_input += cost.input
        self._cost_output += cost.output
        self._cost_cache_read += cost.cache_read
        self._cost_cache_write += cost.cache_write
        self._cost_total += cost.total
        if row.cache_write_1h is not None:
            self._cache_write_1h = _add_optional(self._cache_write_1h, row.cache_write_1h)
        if row.reasoning is not None:
            self._reasoning = _add_optional(self._reasoning, row.reasoning)

    def total(self) -> Usage:
        """The sum so far. Raises ``InvalidValueError`` when it left the range of a double."""
        total = Usage(
            self._input,
            self._output,
            self._cache_read,
            self._cache_write,
            self._total_tokens,
            UsageCost(
                self._cost_input,
                self._cost_output,
                self._cost_cache_read,
                self._cost_cache_write,
                self._cost_total,
            ),
            self._cache_write_1h,
            self._reasoning,
        )
        cost = total.cost
        figures = (total.input, total.output, total.cache_read, total.cache_write, total.total_tokens)
        costs = (cost.input, cost.output, cost.cache_read, cost.cache_write, cost.total)
        try:
            if not all(map(isfinite, (*figures, *costs, total.cache_write_1h or 0, total.reasoning or 0))):
                raise _out_of_range()
        except OverflowError:
            raise _out_of_range() from None
        return total


def _add_optional(total: Number | None, figure: Number | None) -> Number | None:
    if figure is None:
        return total
    try:
        added = (0 if total is None else total) + figure
        if isfinite(added):
            return added
    except OverflowError:
        pass
    raise _out_of_range()


def _out_of_range() -> InvalidValueError:
    return InvalidValueError("the sum of the usage ledger would leave the range of a double")


def _number(figure: object, what: str, name: str) -> Number:
    if isinstance(figure, bool) or not isinstance(figure, (int, float)):
        raise InvalidValueError(f"{what}.{name}: must be a number, not a {type(figure).__name__}")
    if isinstance(figure, float):
        if not isfinite(figure):
            raise InvalidValueError(f"{what}.{name}: must be finite")
        return float.__float__(figure)
    return int.__int__(figure)
