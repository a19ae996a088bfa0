"""Usage figures: their JSON, their checks, and the left fold."""

from __future__ import annotations

import json
import math
from functools import reduce
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessionstore.errors import InvalidValueError
from sessionstore.testing.material import figures
from sessionstore.usage import (
    SessionStats,
    Usage,
    UsageCost,
    add_usage,
    capture_usage,
    usage_figures,
    usage_from_json,
    usage_to_json,
)

FULL: dict[str, Any] = {
    "input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "totalTokens": 10,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0.3, "cacheWrite": 0.4, "total": 1.0},
    "cacheWrite1h": 5, "reasoning": 6,
}  # fmt: skip
EVERY = Usage(1, 2, 3, 4, 10, UsageCost(0.1, 0.2, 0.3, 0.4, 1.0), 5, 6)


def test_json_names() -> None:
    assert usage_from_json(FULL, "it") == EVERY
    assert usage_to_json(EVERY) == FULL
    assert list(usage_to_json(EVERY)) == list(FULL)
    assert "reasoning" not in usage_to_json(Usage())


def test_figures_are_read_the_same_by_both_ways() -> None:
    """A fast path reads what stores keep; every field has to be in it."""
    for data in (FULL, figures(2**70, 10**300), figures(1.5, reasoning=0), figures(0, cacheWrite1h=2**64)):
        assert usage_figures(json.dumps(data), "it") == usage_from_json(data, "it")


@given(
    st.fixed_dictionaries(
        {
            name: st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)
            for name in ("input", "output", "cacheRead", "cacheWrite", "totalTokens")
        },
        optional={name: st.integers() | st.none() for name in ("cacheWrite1h", "reasoning")},
    )
)
def test_any_figures_are_read_the_same_by_both_ways(data: dict[str, Any]) -> None:
    data = {**data, "cost": FULL["cost"]}
    read = usage_figures(json.dumps(data), "it")
    assert read == usage_from_json(data, "it")
    assert repr(read) == repr(usage_from_json(data, "it"))


def test_unknown_figures_are_kept_and_not_added() -> None:
    usage = usage_from_json({**FULL, "provider": {"tier": "x"}}, "it")
    assert usage.extra == {"provider": {"tier": "x"}}
    assert usage_to_json(usage)["provider"] == {"tier": "x"}
    assert add_usage(usage, usage).extra == {}


def test_a_mapping_is_captured_as_it_is() -> None:
    text, read = capture_usage(
        {"cost": FULL["cost"], **{k: v for k, v in FULL.items() if k != "cost"}, "z": 1}, "it"
    )
    assert next(iter(json.loads(text))) == "cost"
    assert json.loads(text)["z"] == 1
    assert read == EVERY
    assert json.loads(capture_usage(MappingProxyType(FULL), "it")[0]) == FULL
    text, read = capture_usage(EVERY, "it")
    assert json.loads(text) == FULL
    assert read == EVERY


@pytest.mark.parametrize("field", ["input", "output", "cacheRead", "cacheWrite", "totalTokens"])
@pytest.mark.parametrize("figure", [None, True, "1", [1], math.nan, math.inf])
def test_a_figure_that_is_no_number(field: str, figure: Any) -> None:
    with pytest.raises(InvalidValueError, match=field):
        capture_usage({**FULL, field: figure}, "usage 'u'")
    with pytest.raises(InvalidValueError, match=field):
        capture_usage({name: item for name, item in FULL.items() if name != field}, "usage 'u'")


@pytest.mark.parametrize("field", ["input", "output", "cacheRead", "cacheWrite", "total"])
def test_a_cost_that_is_no_number(field: str) -> None:
    for cost in ({**FULL["cost"], field: "1"}, {k: v for k, v in FULL["cost"].items() if k != field}):
        with pytest.raises(InvalidValueError, match=rf"usage 'u'\.cost\.{field}"):
            capture_usage({**FULL, "cost": cost}, "usage 'u'")


@pytest.mark.parametrize("given_", [None, [], "x", 5, {}, {"cost": 1}])
def test_what_is_no_usage(given_: Any) -> None:
    with pytest.raises(InvalidValueError, match="usage 'u'"):
        capture_usage(given_, "usage 'u'")


@pytest.mark.parametrize("name", ["cacheWrite1h", "reasoning"])
def test_optional_figures_may_be_null(name: str) -> None:
    usage = usage_from_json({**FULL, name: None}, "it")
    assert (usage.cache_write_1h, usage.reasoning).count(None) == 1


# -- the fold --------------------------------------------------------------------------------

numbers = st.integers(-(10**9), 10**9) | st.floats(-1e15, 1e15)
usages = st.builds(
    Usage,
    numbers, numbers, numbers, numbers, numbers,
    st.builds(UsageCost, numbers, numbers, numbers, numbers, numbers),
    st.none() | numbers,
    st.none() | numbers,
)  # fmt: skip


def plain_fold(numbers_: list[Any]) -> Any:
    total: Any = 0
    for number in numbers_:
        total += number
    return total


@given(st.lists(usages, max_size=8))
def test_every_field_is_a_left_fold(ledger: list[Usage]) -> None:
    total = reduce(add_usage, ledger, Usage())
    for name in ("input", "output", "cache_read", "cache_write", "total_tokens"):
        assert repr(getattr(total, name)) == repr(plain_fold([getattr(usage, name) for usage in ledger]))
    for name in ("input", "output", "cache_read", "cache_write", "total"):
        expected = plain_fold([getattr(usage.cost, name) for usage in ledger])
        assert repr(getattr(total.cost, name)) == repr(expected)
    for name in ("cache_write_1h", "reasoning"):
        given_ = [getattr(usage, name) for usage in ledger if getattr(usage, name) is not None]
        assert repr(getattr(total, name)) == repr(plain_fold(given_) if given_ else None)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        (Usage(cost=UsageCost(total=1e308)), Usage(cost=UsageCost(total=1e308))),
        (Usage(input=10**308), Usage(input=10**309)),
        (Usage(), Usage(input=10**400)),
        (Usage(reasoning=-1e308), Usage(reasoning=-1e308)),
        (Usage(), Usage(cache_write_1h=10**400)),
    ],
    ids=range(5),
)
def test_a_sum_beyond_a_double_is_refused(one: Usage, two: Usage) -> None:
    with pytest.raises(InvalidValueError, match="double"):
        add_usage(one, two)


def test_statistics_of_nothing() -> None:
    assert SessionStats() == SessionStats(0, Usage())
    assert reduce(add_usage, [], Usage()) == Usage()
