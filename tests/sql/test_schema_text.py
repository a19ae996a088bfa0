"""Text in the tables: exact comparison, code point order and full length on every database."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from legs import STORE_KINDS
from sqlalchemy import Engine, NullPool, create_engine, event, func, insert, select
from sqlalchemy.exc import IntegrityError

from sessionstore.sql.models import Base, EntryRow, ListValueRow, ScalarValueRow, SessionRow, UsageLedgerRow
from sessionstore.sql.schema import ensure_schema
from sessionstore.text import ENCODED_ID_LIMIT, KEY_LIMIT, NAMESPACE_LIMIT

DATABASES = [
    kind for kind in STORE_KINDS if "sql" in kind.capabilities and "session_file" not in kind.capabilities
]
each_database = pytest.mark.parametrize("store_kind", DATABASES, indirect=True, ids=lambda kind: kind.name)

SESSION = {
    "created_at": 1,
    "modified_at": 2**53 + 1,
    "storage_version": 1,
    "message_count": 0,
    "usage": "{}",
    "next_seq": 2**62,
}
ENTRY = {"seq": 1, "type": "message", "timestamp": 3, "payload": "{}", "segment_seq": 1, "depth": 0}

# Pairs that some collation takes for equal, and neighbours that UTF-16 or a locale orders otherwise.
TEXTS = [
    *("a", "A", "á", "a\u0301", "Á", "a ", "a  ", " a", "a\t", "a\u00a0", "a.", "aa", "aA", "Aa", "B", "b"),
    *("ß", "ss", "ẞ", "SS", "ﬀ", "ff", "æ", "ae", "İ", "i", "I", "\u0131", "K", "\u212a", "é", "e\u0301"),
    *("😀", "😁", "\uffff", "\ue000", "\U00010000", "\U0010ffff", "\ufeffa", "a\u200b", "\u0001", "\u007f"),
    *("1", "10", "2", "02", "\u0661", "²", "%", "_", "a%", "a_", "\\", "a\\", "'", '"', "`", "\n", "\u2028"),
]


@pytest.fixture
def engine(store_url: str) -> Iterator[Engine]:
    engine = create_engine(store_url, poolclass=NullPool)
    ensure_schema(engine)
    with engine.begin() as connection:
        connection.execute(insert(SessionRow), {"id": "s", **SESSION})
    yield engine
    engine.dispose()


def shuffled(texts: list[str]) -> list[str]:
    copy = list(texts)
    random.Random(1).shuffle(copy)
    return copy


@each_database
def test_keys_sort_by_code_point_and_equal_only_themselves(engine: Engine) -> None:
    assert len(set(TEXTS)) == len(TEXTS)
    texts = ["", *TEXTS]
    place = {"session_id": "s", "scope_id": "", "namespace": "n"}
    with engine.begin() as connection:
        connection.execute(
            insert(ScalarValueRow),
            [{**place, "key": key, "seq": seq, "value": "1"} for seq, key in enumerate(shuffled(texts))],
        )
        key = ScalarValueRow.key
        assert list(connection.scalars(select(key).order_by(key))) == sorted(texts)
        for text in texts:
            assert list(connection.scalars(select(key).where(key == text))) == [text]
            after = select(key).where(key >= text).order_by(key)
            assert list(connection.scalars(after)) == [other for other in sorted(texts) if other >= text]


@each_database
@pytest.mark.parametrize(
    ("model", "column", "rest"),
    [
        (SessionRow, "id", SESSION),
        (EntryRow, "id", {**ENTRY, "session_id": "s"}),
        (ListValueRow, "scope_id", {"session_id": "s", "namespace": "n", "key": "", "seq": 1, "value": "1"}),
        (ListValueRow, "namespace", {"session_id": "s", "scope_id": "", "key": "", "seq": 1, "value": "1"}),
        (
            ListValueRow,
            "key",
            {"session_id": "s", "scope_id": "", "namespace": "n", "seq": 1, "value": "1"},
        ),
        (UsageLedgerRow, "id", {"session_id": "s", "seq": 1, "adjustment": False, "usage": "{}"}),
    ],
    ids=lambda item: item if isinstance(item, str) else getattr(item, "__name__", "row"),
)
def test_every_text_of_a_key_is_exact(
    engine: Engine, model: type[Base], column: str, rest: dict[str, object]
) -> None:
    rows = [{**rest, column: text} for text in TEXTS]
    if model in (EntryRow, UsageLedgerRow):
        rows = [{**row, "seq": seq} for seq, row in enumerate(rows)]
    attribute = getattr(model, column)
    with engine.begin() as connection:
        connection.execute(insert(model), rows)
        found = list(connection.scalars(select(attribute).where(attribute != "s").order_by(attribute)))
        assert found == sorted(TEXTS)
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(insert(model), {**rows[7], **({"seq": 999} if "segment_seq" in rest else {})})


@each_database
def test_texts_beside_the_keys_are_exact_too(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(
            insert(EntryRow),
            [
                {
                    **ENTRY,
                    "session_id": "s",
                    "id": f"e{seq}",
                    "seq": seq,
                    "type": "custom",
                    "custom_type": text,
                }
                for seq, text in enumerate(TEXTS)
            ],
        )
        connection.execute(
            insert(ListValueRow),
            [
                {"session_id": "s", "scope_id": "", "namespace": "n", "key": "k", "seq": seq, "value": "1",
                 "tag": text}
                for seq, text in enumerate(TEXTS)
            ],
        )  # fmt: skip
        for column in (EntryRow.custom_type, ListValueRow.tag):
            for text in TEXTS:
                assert list(connection.scalars(select(column).where(column == text))) == [text]


def incompressible(limit: int, seed: int) -> str:
    """A text of exactly ``limit`` UTF-8 bytes without repetitions that an index could pack away."""
    source = random.Random(seed)
    text = ""
    while (left := limit - len(text.encode())) >= 4:
        text += chr(source.randrange(0x10000, 0x10FFFF))
    return text + "xyz"[:left]


@each_database
def test_keys_of_full_length_fit(engine: Engine) -> None:
    session, scope, parent = (incompressible(ENCODED_ID_LIMIT, seed) for seed in range(3))
    namespace, entry, usage, tag, custom = (incompressible(NAMESPACE_LIMIT, seed) for seed in range(3, 8))
    place = {"session_id": session, "scope_id": scope, "namespace": namespace}
    key = incompressible(KEY_LIMIT, 8)
    rows: list[tuple[type[Base], dict[str, object]]] = [
        (SessionRow, {**SESSION, "id": session, "parent_session_id": parent}),
        (
            EntryRow,
            {**ENTRY, "session_id": session, "id": entry, "parent_id": entry[:-3] + "xyw",
             "type": "branch_summary", "custom_type": custom},
        ),
        (ScalarValueRow, {**place, "key": key, "seq": 2, "value": "1"}),
        (ListValueRow, {**place, "key": key, "seq": 2**62, "value": "1", "tag": tag}),
        (UsageLedgerRow, {"session_id": session, "id": usage, "seq": 4, "entry_id": entry, "adjustment": True,
                          "usage": "{}"}),
    ]  # fmt: skip
    with engine.begin() as connection:
        for model, row in rows:
            connection.execute(insert(model), row)
            columns = [getattr(model, name) for name in row]
            owner = model.__mapper__.primary_key[0]  # every table leads with the session's id
            found = connection.execute(select(*columns).where(owner == session)).one()
            assert list(found) == list(row.values())


JSON_TEXTS = [
    r'{"z":1,"a":-0.0,"big":1180591620717411303424,"huge":1e308,"nul":"\u0000","lone":"\ud800"}',
    '{ "spaced" :  1.00 , "dup":1,"dup":2}',
    "[" * 512 + "]" * 512,
    '"\u007f\u0080\u2028\uffff\U0010ffff \\n\t\r\n"',
    '"' + "😀é" * 300_000 + '"',
    "null",
]


@each_database
def test_json_text_comes_back_as_it_was_written(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(
            insert(EntryRow),
            [
                {**ENTRY, "session_id": "s", "id": f"e{seq}", "seq": seq, "payload": text}
                for seq, text in enumerate(JSON_TEXTS)
            ],
        )
        payloads = select(EntryRow.payload).order_by(EntryRow.session_id, EntryRow.seq)
        assert list(connection.scalars(payloads)) == JSON_TEXTS


@pytest.mark.parametrize("charset", ["latin1", "utf8mb3", "utf8mb4"])
@pytest.mark.parametrize("mode", ["", "STRICT_ALL_TABLES", "PAD_CHAR_TO_FULL_LENGTH", "ANSI"])
def test_charset_and_mode_of_a_mariadb_do_not_matter(mariadb_url: str, charset: str, mode: str) -> None:
    engine = create_engine(mariadb_url, poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def _set_mode(raw: object, _record: object) -> None:
        cursor = raw.cursor()  # type: ignore[attr-defined]  # a driver's connection
        cursor.execute(f"SET SESSION sql_mode = '{mode}'")

    with engine.begin() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE CHARACTER SET {charset}")
    ensure_schema(engine)
    with engine.begin() as connection:
        connection.execute(insert(SessionRow), [{"id": text, **SESSION} for text in TEXTS])
        assert list(connection.scalars(select(SessionRow.id).order_by(SessionRow.id))) == sorted(TEXTS)
        connection.execute(
            insert(EntryRow),
            [
                {**ENTRY, "session_id": "a", "id": f"e{seq}", "seq": seq, "payload": text}
                for seq, text in enumerate(JSON_TEXTS)
            ],
        )
        payloads = select(EntryRow.payload).order_by(EntryRow.seq)
        assert list(connection.scalars(payloads)) == JSON_TEXTS


@each_database
def test_numbers_of_a_session_are_unique_and_rows_belong_to_one(engine: Engine) -> None:
    row = {**ENTRY, "session_id": "s", "id": "e1"}
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA foreign_keys = ON")
        connection.execute(insert(EntryRow), row)
        connection.commit()
        for wrong in ({"id": "e2"}, {"id": "e2", "seq": 2, "session_id": "nobody"}):
            with pytest.raises(IntegrityError):
                connection.execute(insert(EntryRow), {**row, **wrong})
            connection.rollback()
        assert connection.scalar(select(func.count()).select_from(EntryRow)) == 1
