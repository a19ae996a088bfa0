"""Settings of servers, databases and connections that must not change what a user sees."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from server.support import ask, contents, database_kind
from sqlalchemy import create_engine, make_url

from sessionstore import (
    ForkTree,
    InvalidAddressError,
    InvalidUrlError,
    NewMessageEntry,
    NewUsageRow,
    SchemaVersionError,
    append_list,
    delete_list,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    open_repository,
    retire_scope,
    set_value,
    value,
    value_list,
)
from sessionstore.entries import NewCustomEntry
from sessionstore.repository import SessionRepo
from sessionstore.sql.repo import SqlSessionRepo
from sessionstore.text import KEY_LIMIT, NAMESPACE_LIMIT

# What servers escape, pad, fold, cut or read as something else, unless they are kept from it.
AWKWARD = [
    "", " ", "'", '"', "\\", "\\'", "\\0", "%", "%s", "_", "`", "\n", "\r\n", "\x1a", "\x7f", "0", "00",
    "null", "a", "A", "a ", "á", "a\u0301", "ß", "ss", "ﬀ", "İ", "👍", "🎉", "\U0010ffff", "\uffff", "\u200b",
    "\u2028", "-- x", "'; DROP TABLE sessions; --",
]  # fmt: skip
PAYLOADS: list[Any] = [
    *AWKWARD, "\0", "a\0b", "\ud83d", "\udc4d\ud83d", 2**70, -(10**400), -0.0, 1e308, 5e-324, True, None, [],
    {}, {"b": 1, "a": 2}, {"": {"'": '"'}}, [[[[]]]],
]  # fmt: skip
USAGE = {
    "input": 1, "output": 2, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 3,
    "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0.0, "cacheWrite": 0.0, "total": 0.3},
}  # fmt: skip


def scenario(repo: SessionRepo) -> list[Any]:
    """Use everything with awkward texts; what was seen on the way."""
    seen: list[Any] = []
    longest = value("n" * NAMESPACE_LIMIT, "é" * (KEY_LIMIT // 2), scope=ephemeral_scope("s" * 180))
    frames = value_list("app.list", scope=ephemeral_scope("'\\"))
    for number, text in enumerate(text for text in AWKWARD[::4] if text):
        repo.create(id=text, cwd=text, parent_session_id=text).close()
        with repo.open(text) as session:
            seen.append((session.metadata.id, session.metadata.cwd, session.metadata.parent_session_id))
            session.append_list(frames, number, tag=text)
    session = repo.create(id="i" * 180)
    for text in AWKWARD:
        places = value_list("app.lists", text)
        session.commit(
            [set_value(value("app.values", text), text), *(append_list(places, text * n) for n in (1, 2))]
        )
    session.delete_list(value_list("app.lists", "a"))
    session.delete_value(value("app.values", "a"))
    for number, payload in enumerate(PAYLOADS):
        session.commit(
            [
                insert_entry(
                    NewCustomEntry(f"e{number}", f"e{number - 1}" if number else None, "note", payload)
                ),
                set_value(value("app.payloads", f"{number:03}"), payload),
                append_list(value_list("app.payloads"), payload),
                insert_usage(NewUsageRow(f"u{number}", USAGE, details=payload)),
            ]
        )
    session.commit([set_value(longest, {"k": "v" * 1_000_000})])
    for branch, text in enumerate(text for text in AWKWARD if text):
        message = NewMessageEntry(text, "e0", {"role": "user", "content": text})
        session.commit([insert_entry(message), set_value(value("app.branches", text), branch)])
    for refused in ("n" * (NAMESPACE_LIMIT + 1), "\0", "\ud800"):
        with pytest.raises(InvalidAddressError):
            session.set_value(value(refused), 1)
    fork = repo.fork(session.metadata, ForkTree(include_application_state=True), id="fork")
    for each in (session, fork):
        seen += [
            each.scan_values(value("app.values")),
            each.scan_values(value("app.payloads")),
            each.read_list(value_list("app.payloads")),
            [each.read_list(value_list("app.lists", text)) for text in AWKWARD],
            each.get_value(longest),
            each.scan_branch(f"e{len(PAYLOADS) - 1}"),
            [each.scan_branch(text) for text in AWKWARD if text],
            [entry.id for entry in each.find_entries()],
            each.scan_usage(),
            each.get_stats(),
        ]
    session.commit([retire_scope(ephemeral_scope("s" * 180)), delete_list(value_list("app.lists"))])
    seen += [session.get_value(longest), session.storage.next_seq()]
    fork.close()
    session.close()
    seen.append([metadata.id for metadata in repo.list()])
    for metadata in repo.list():
        repo.delete(metadata)
    assert repo.list() == []
    return seen


def clock() -> int:
    """Stands still, so that runs can be compared and lists are in the order of ids."""
    return 1_700_000_000_000


@pytest.fixture(scope="module")
def expected() -> list[Any]:
    """What the store that has no server shows."""
    with open_repository("memory://", clock=clock) as repo:
        return scenario(repo)


FEW_MODES = ["", "STRICT_ALL_TABLES"]
MODES = [
    *FEW_MODES, "TRADITIONAL", "ANSI", "ORACLE", "MSSQL", "NO_BACKSLASH_ESCAPES",
    "PAD_CHAR_TO_FULL_LENGTH", "HIGH_NOT_PRECEDENCE",
]  # fmt: skip


@pytest.mark.parametrize(
    "modes", [FEW_MODES, pytest.param(MODES, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_no_sql_mode_changes_what_is_seen(mariadb_url: str, expected: list[Any], modes: list[str]) -> None:
    ask(mariadb_url, "ALTER DATABASE CHARACTER SET latin1 COLLATE latin1_swedish_ci")
    for mode in modes:
        with open_repository(mariadb_url, clock=clock, connect_args={"sql_mode": mode}) as repo:
            assert scenario(repo) == expected, mode
        engine = create_engine(mariadb_url, connect_args={"sql_mode": mode})
        with SqlSessionRepo(engine, clock=clock) as repo:
            assert scenario(repo) == expected, mode
        engine.dispose()


FEW_SETTINGS = ["standard_conforming_strings=off"]
SETTINGS = [
    *FEW_SETTINGS,
    "bytea_output=escape",
    "enable_indexscan=off",
    "enable_seqscan=off",
    "plan_cache_mode=force_generic_plan",
    "transform_null_equals=on",
    "datestyle=German",
    "default_transaction_isolation=serializable",
    "jit_above_cost=0",
]


@pytest.mark.parametrize(
    "settings", [FEW_SETTINGS, pytest.param(SETTINGS, marks=pytest.mark.slow)], ids=["few", "all"]
)
def test_no_setting_of_postgresql_changes_what_is_seen(
    postgresql_url: str, expected: list[Any], settings: list[str]
) -> None:
    for setting in settings:
        options = {"options": f"-c {setting}"}
        with open_repository(postgresql_url, clock=clock, connect_args=options) as repo:
            assert scenario(repo) == expected, setting
    engine = create_engine(postgresql_url, isolation_level="SERIALIZABLE")
    with SqlSessionRepo(engine, clock=clock) as repo:
        assert scenario(repo) == expected
    engine.dispose()


# Encodings ----------------------------------------------------------------------------------


@pytest.mark.parametrize("charset", ["utf8", "utf8mb3", "latin1"])
def test_the_charset_of_a_url_loses_no_text(mariadb_url: str, charset: str) -> None:
    with open_repository(f"{mariadb_url}?charset={charset}", connect_args={"sql_mode": ""}) as repo:
        session = repo.create(id="👍")
        session.set_value(value("app", "👍"), "a👍z")
        found = session.get_value(value("app", "👍"))
        assert found is not None
        assert found.value == "a👍z"


def test_the_encoding_of_a_postgresql_url_loses_no_text(postgresql_url: str) -> None:
    with open_repository(f"{postgresql_url}?client_encoding=latin1") as repo:
        session = repo.create(id="👍")
        session.set_value(value("app", "👍"), "a👍z")
        found = session.get_value(value("app", "👍"))
        assert found is not None
        assert found.value == "a👍z"


@pytest.mark.needs("server")
@pytest.mark.parametrize("schema", ["there", "missing"])
def test_an_engine_that_cannot_carry_every_text_is_refused(store_url: str, schema: str) -> None:
    if schema == "there":
        with open_repository(store_url) as repo:
            repo.create(id="a").close()
    option = "client_encoding" if database_kind(store_url) == "postgresql" else "charset"
    engine = create_engine(make_url(store_url).update_query_dict({option: "latin1"}))
    before = contents(store_url) if schema == "there" else None
    with SqlSessionRepo(engine) as repo:
        calls = [lambda: repo.create(id="b"), lambda: repo.open("a"), lambda: repo.delete("a"), repo.list]
        for call in calls:
            with pytest.raises(InvalidUrlError, match=r"carry text as .*, which cannot carry every text"):
                call()
    engine.dispose()
    if before is not None:
        assert contents(store_url) == before
    else:
        with open_repository(store_url) as repo:
            assert repo.list() == []


def test_a_postgresql_database_in_another_encoding_is_refused(
    new_database_in: Callable[[str], str],
) -> None:
    url = new_database_in("LATIN1")
    with open_repository(url) as repo:
        calls = [lambda: repo.create(id="b"), lambda: repo.open("a"), lambda: repo.delete("a"), repo.list]
        for call in calls:
            with pytest.raises(SchemaVersionError, match=r"keeps text as LATIN1.*encoding UTF8"):
                call()
    assert ask(url, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(0,)]


@pytest.fixture
def new_database_in(postgresql_server_url: str) -> Iterator[Callable[[str], str]]:
    """Make a PostgreSQL database in an encoding."""
    with ExitStack() as dropping:

        def make(encoding: str) -> str:
            name = f"sessionstore_test_{secrets.token_hex(8)}"
            collation = "LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
            ask(postgresql_server_url, f"CREATE DATABASE {name} ENCODING '{encoding}' {collation}")
            dropping.callback(ask, postgresql_server_url, f"DROP DATABASE {name} WITH (FORCE)")
            return make_url(postgresql_server_url).set(database=name).render_as_string(hide_password=False)

        yield make


# Exact comparison, and the order of code points ----------------------------------------------

ALIKE = [
    "README", "readme", "a", "a ", " a", "á", "á", "👍", "🎉", "ß", "ss", "ẞ", "I", "i", "\u0131", "İ", "ﬁ",
    "­", "‍", "a­", "Ω", "Ω", "0", "\u0660", "￿", "𐀀", "", "􏿿",
]  # fmt: skip


@pytest.mark.needs("sql")
def test_texts_that_look_alike_are_different_everywhere(store_url: str) -> None:
    with open_repository(store_url, clock=clock) as repo:
        for id in ALIKE:
            with repo.create(id=id) as made:
                made.set_value(value("app", "own"), id)
        assert [metadata.id for metadata in repo.list()] == sorted(ALIKE)
        for id in ALIKE:
            with repo.open(id) as opened:
                found = opened.get_value(value("app", "own"))
                assert found is not None
                assert found.value == id

        session = repo.create(id="all")
        for text in ALIKE:
            scope = ephemeral_scope(text)
            session.commit(
                [
                    insert_entry(NewCustomEntry(text, None, text, text)),
                    set_value(value("app", text), text),
                    set_value(value(text), text),
                ]
            )
            session.commit([set_value(value("app", "k", scope=scope), text)])
            session.append_list(value_list("app", "tags"), text, tag=text)
        keys = [stored.address.key for stored in session.scan_values(value("app"))]
        assert keys == sorted(ALIKE)
        for text in ALIKE:
            entry = session.get_entry(text)
            assert entry is not None
            assert (entry.id, entry.type, entry.data) == (text, "custom", text)
            assert [found.id for found in session.find_entries(custom_type=text)] == [text]
            for address in (value("app", text), value(text), value("app", "k", scope=ephemeral_scope(text))):
                stored = session.get_value(address)
                assert stored is not None
                assert stored.value == text
            page = session.read_list(value_list("app", "tags"), stop_at_tag=text)
            assert page[-1].tag == text
            assert len(page) == ALIKE.index(text) + 1
            starting = {stored.address.key for stored in session.scan_values(value("app", text))}
            assert starting == {other for other in ALIKE if other.startswith(text)}
        session.retire_scope(ephemeral_scope("a"))
        for text in ALIKE:
            left = session.get_value(value("app", "k", scope=ephemeral_scope(text)))
            assert (left is None) is (text == "a")
        session.delete_value(value("app", "a"))
        assert len(session.scan_values(value("app"))) == len(ALIKE) - 1
