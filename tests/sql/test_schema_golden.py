"""Databases that older releases wrote: read by the models, and brought to head without a change."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sql.golden import make_0001
from sqlalchemy import Engine, NullPool, create_engine, select
from sqlalchemy.orm import Session

from sessionstore.sql import migrations
from sessionstore.sql.models import Base, EntryRow, ListValueRow, ScalarValueRow, SessionRow, UsageLedgerRow
from sessionstore.sql.schema import HEAD_REVISION, ensure_schema
from sessionstore.usage import Usage, add_usage, usage_from_json

GOLDEN = sorted(Path(__file__).parent.glob("golden/*.sqlite"))


@pytest.fixture(params=GOLDEN, ids=lambda path: path.stem)
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(request.param, tmp_path))


@pytest.fixture
def engine(golden: Path) -> Iterator[Engine]:
    engine = create_engine(f"sqlite:///{golden}", poolclass=NullPool)
    migrations.upgrade(engine)
    yield engine
    engine.dispose()


def dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_there_is_a_golden_database_for_the_head() -> None:
    assert HEAD_REVISION in [path.stem for path in GOLDEN]


def test_the_head_s_golden_database_is_as_this_release_makes_it(tmp_path: Path) -> None:
    assert ensure_schema(create_engine(f"sqlite:///{tmp_path}/new.db", poolclass=NullPool))
    schemas = []
    for path in (Path(__file__).parent / "golden" / f"{HEAD_REVISION}.sqlite", tmp_path / "new.db"):
        with closing(sqlite3.connect(path)) as connection:
            schemas.append(connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall())
    assert schemas[0] == schemas[1]


def test_the_script_still_makes_the_golden_database(tmp_path: Path) -> None:
    made = tmp_path / "made.sqlite"
    make_0001.make(made)
    assert dump(made) == dump(make_0001.GOLDEN)


def test_a_golden_database_comes_to_head_with_its_data_as_it_was(golden: Path) -> None:
    rows = [line for line in dump(golden) if line.startswith("INSERT") and "alembic_version" not in line]
    engine = create_engine(f"sqlite:///{golden}", poolclass=NullPool)
    assert migrations.upgrade(engine) == HEAD_REVISION
    assert migrations.check(engine) == []
    assert not ensure_schema(engine)
    assert [
        line for line in dump(golden) if line.startswith("INSERT") and "alembic_version" not in line
    ] == rows


@pytest.mark.parametrize(
    ("model", "rows"),
    [
        (SessionRow, make_0001.SESSIONS),
        (EntryRow, [(make_0001.MAIN, *row) for row in make_0001.ENTRIES]),
        (ScalarValueRow, [(make_0001.MAIN, *row) for row in make_0001.VALUES]),
        (ListValueRow, [(make_0001.MAIN, *row) for row in make_0001.LISTS]),
        (UsageLedgerRow, [(make_0001.MAIN, *row) for row in make_0001.LEDGER]),
    ],
    ids=lambda item: getattr(item, "__name__", "rows"),
)
def test_the_models_read_what_was_written(
    engine: Engine, model: type[Base], rows: list[tuple[object, ...]]
) -> None:
    names = {
        EntryRow: ["session_id", "id", "parent_id", "seq", "type", "custom_type", "timestamp", "payload",
                   "segment_seq", "depth"],
    }.get(model, [attribute.key for attribute in model.__mapper__.column_attrs])  # fmt: skip
    with Session(engine) as session:
        found = [tuple(getattr(row, name) for name in names) for row in session.scalars(select(model))]
    assert sorted(found, key=repr) == sorted(rows, key=repr)


def test_the_derived_figures_follow_from_the_rest(engine: Engine) -> None:
    with Session(engine) as session:
        for row in session.scalars(select(SessionRow)):
            ledger = select(UsageLedgerRow.usage).where(UsageLedgerRow.session_id == row.id)
            total = Usage()
            for usage in session.scalars(ledger.order_by(UsageLedgerRow.seq)):
                total = add_usage(total, usage_from_json(json.loads(usage), "usage"))
            assert usage_from_json(json.loads(row.usage), "total") == total
            entries = session.scalars(
                select(EntryRow).where(EntryRow.session_id == row.id).order_by(EntryRow.seq)
            ).all()
            assert row.message_count == sum(entry.type == "message" for entry in entries)
            assert {entry.id: (entry.segment_seq, entry.depth) for entry in entries} == branch_index(entries)


def branch_index(entries: object) -> dict[str, tuple[int, int]]:
    """The index, worked out from the parents alone: a segment goes on from its last entry only."""
    place: dict[str, tuple[int, int]] = {}
    last_of_segment: dict[int, str] = {}
    for entry in entries:  # type: ignore[attr-defined]  # a list of EntryRow
        segment, depth = entry.seq, 0
        if entry.parent_id is not None:
            parent_segment, parent_depth = place[entry.parent_id]
            depth = parent_depth + 1
            if last_of_segment[parent_segment] == entry.parent_id:
                segment = parent_segment
        place[entry.id] = (segment, depth)
        last_of_segment[segment] = entry.id
    return place
