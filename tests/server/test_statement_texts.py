"""The SQL of each statement for each dialect, without a server."""

from __future__ import annotations

import pytest
from server.statement_texts import DIALECTS, all_statements, golden_file, text_of


@pytest.mark.parametrize("name", DIALECTS)
def test_every_statement_is_as_its_golden_file_shows_it(name: str) -> None:
    assert text_of(DIALECTS[name]) == golden_file(name).read_text(encoding="utf-8"), (
        "write it anew with `python -m tests.server.statement_texts` when the change is meant"
    )


def test_every_dialect_has_the_same_statements() -> None:
    names = [
        [name for name, _ in all_statements(dialect) if not name.startswith("single write")]
        for dialect in DIALECTS.values()
    ]
    assert names[0] == names[1] == names[2]
    assert len(set(names[0])) == len(names[0])
