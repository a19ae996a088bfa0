"""Rows of a SQLite database are proven to hold what their columns are declared to hold."""

from __future__ import annotations

import pytest
from sqlalchemy import literal_column, null, select, union_all

from sessionstore import CorruptStorageError
from sessionstore.sql.column_types import row_check
from sessionstore.sql.statements import ENTRIES, LEDGER, SESSIONS

ENTRY = select(*(ENTRIES.c[name] for name in ("id", "parent_id", "seq", "payload")))


@pytest.mark.parametrize("count", [1, 100], ids=["few", "many"])
@pytest.mark.parametrize(
    ("row", "fits"),
    [
        (("a", None, 1, "{}"), True),
        (("a", "b", 1, "{}"), True),
        ((None, "b", 1, "{}"), False),
        (("a", b"b", 1, "{}"), False),
        (("a", "b", "1", "{}"), False),
        (("a", "b", 1.0, "{}"), False),
        (("a", "b", None, "{}"), False),
        (("a", "b", 1, 7), False),
    ],
)
def test_a_value_of_another_type_is_damage(count: int, row: tuple[object, ...], fits: bool) -> None:
    check = row_check(ENTRY)
    assert check is not None
    rows = [("a", None, 1, "{}")] * (count - 1) + [row]
    if fits:
        check(rows)
        return
    with pytest.raises(CorruptStorageError, match="wrong type"):
        check(rows)


def test_an_arm_may_have_another_type_or_null() -> None:
    arms = union_all(
        select(ENTRIES.c.id, ENTRIES.c.seq, null()), select(LEDGER.c.seq, LEDGER.c.seq, LEDGER.c.id).limit(1)
    )
    check = row_check(arms)
    assert check is not None
    for count in (1, 100):
        check([("a", 1, None), (2, 3, "u")] * count)
        for row in (("a", "1", None), ("a", 1, 4.5)):
            with pytest.raises(CorruptStorageError):
                check([row] * count)


def test_a_boolean_is_a_number_there() -> None:
    check = row_check(select(LEDGER.c.adjustment, SESSIONS.c.metadata))
    assert check is not None
    check([(1, None)])
    with pytest.raises(CorruptStorageError):
        check([("yes", None)])


def test_statements_without_known_columns_cost_nothing() -> None:
    assert row_check(select(literal_column("1"))) is None
