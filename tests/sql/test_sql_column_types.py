"""Rows are held against the types of their columns, few of them and many in different ways."""

from __future__ import annotations

import pytest
from sqlalchemy import null, select, union_all

from sessionstore import CorruptStorageError
from sessionstore.sql.column_types import row_check
from sessionstore.sql.statements import ENTRIES


@pytest.mark.parametrize("rows", [1, 100])
def test_a_null_in_words_lets_anything_into_its_column_and_nothing_into_others(rows: int) -> None:
    check = row_check(
        union_all(select(ENTRIES.c.id, ENTRIES.c.parent_id), select(ENTRIES.c.id, null().label("parent_id")))
    )
    assert check is not None
    check([("e", None)] * rows)
    check([("e", "root")] * rows)
    with pytest.raises(CorruptStorageError):
        check([(1, None)] * rows)
