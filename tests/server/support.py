"""What tests of servers do to a database behind the store's back, and how they watch it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest
from servers import administration
from sqlalchemy import URL, Connection, NullPool, QueuePool, create_engine, make_url, select, update

from sessionstore.address import Value
from sessionstore.repository import SessionRepo
from sessionstore.sql.dialects import dialect_of
from sessionstore.sql.engine_container import EngineContainer
from sessionstore.sql.models import Base
from sessionstore.sql.repo import SqlSessionRepo

DEADLINE = 30.0
"""Seconds until something that has to happen on a server is taken for missing."""

T = TypeVar("T")

_CONNECTIONS = {
    "postgresql": (
        "SELECT pid FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
    ),
    "mariadb": (
        "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()"
    ),
}
_KILL = {"postgresql": "SELECT pg_terminate_backend({})", "mariadb": "KILL {}"}


def database_kind(url: URL | str) -> str:
    """The name of our dialect for a URL."""
    return make_url(url).get_backend_name().replace("mysql", "mariadb")


def wait_until(happened: Callable[[], T], what: str) -> T:
    """Ask until the answer is true; what other processes and servers do cannot be waited for otherwise."""
    deadline = time.monotonic() + DEADLINE
    while True:
        answer = happened()
        if answer:
            return answer
        if time.monotonic() > deadline:
            pytest.fail(f"waited for {DEADLINE:g} s: {what}", pytrace=False)
        time.sleep(0.01)


def ask(url: URL | str, statement: str) -> list[Any]:
    """Run one statement on a connection of its own, committed by itself."""
    with administration(url) as execute:
        return execute(statement)


def wait_until_blocked(url: URL | str, count: int = 1) -> None:
    """Wait until ``count`` transactions of the database wait for the locks of others."""
    with administration(url) as execute:
        blocked = _BLOCKED[database_kind(url)]
        wait_until(lambda: blocked(execute) == count, f"{count} transactions wait for a lock")


def _blocked_postgresql(execute: Callable[[str], list[Any]]) -> int:
    return execute(
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )[0][0]


def _blocked_mariadb(execute: Callable[[str], list[Any]]) -> int:
    # From the monitor's text: innodb_trx answers from a cache as long as somebody keeps asking.
    text: str = execute("SHOW ENGINE INNODB STATUS")[0][2]
    waiting = [part for part in text.split("---TRANSACTION ") if "LOCK WAIT" in part.partition("------")[0]]
    threads = {int(found) for part in waiting for found in re.findall(r"MariaDB thread id (\d+)", part)}
    own = {id for (id,) in execute("SELECT id FROM information_schema.processlist WHERE db = DATABASE()")}
    return len(threads & own)


_BLOCKED = {"postgresql": _blocked_postgresql, "mariadb": _blocked_mariadb}


def kill_connections(url: URL | str) -> int:
    """End every connection to a database from the server's side; how many there were."""
    kind = database_kind(url)
    with administration(url) as execute:
        ids = {id for (id,) in execute(_CONNECTIONS[kind])}
        for id in ids:
            execute(_KILL[kind].format(id))
        wait_until(lambda: ids.isdisjoint(id for (id,) in execute(_CONNECTIONS[kind])), "the connections end")
    return len(ids)


@contextmanager
def rival(url: URL | str, **options: Any) -> Iterator[Connection]:
    """A connection of somebody else, whose transaction begins with its first statement."""
    engine = create_engine(url, poolclass=NullPool, **options)
    with engine.connect() as connection:
        yield connection


def lock_session(connection: Connection, id: str) -> None:
    """Lock a session's row until the transaction of ``connection`` ends."""
    table = Base.metadata.tables["sessions"]
    assert connection.execute(select(table.c.id).where(table.c.id == id).with_for_update()).all()


def hasty_options(url: URL | str) -> dict[str, Any]:
    """Options of a repository whose connections do not wait for a lock."""
    if database_kind(url) == "postgresql":
        return {"connect_args": {"options": "-c lock_timeout=1ms"}}
    return {"connect_args": {"init_command": "SET SESSION innodb_lock_wait_timeout = 0"}}


def patient_options(url: URL | str) -> dict[str, Any]:
    """Options that change nothing: connections wait for a lock as long as they would without."""
    if database_kind(url) == "postgresql":
        return {"connect_args": {"options": "-c lock_timeout=0"}}
    return {"connect_args": {"init_command": "SET SESSION innodb_lock_wait_timeout = 50"}}


def change_session(connection: Connection, id: str) -> None:
    """Write a session's row as it is, which also locks it until the transaction ends."""
    table = Base.metadata.tables["sessions"]
    same = {"modified_at": table.c.modified_at}
    assert connection.execute(update(table).where(table.c.id == id).values(same)).rowcount == 1


def lock_value(connection: Connection, session_id: str, address: Value[Any, Any]) -> None:
    """Lock the row of a value until the transaction of ``connection`` ends."""
    table = Base.metadata.tables["scalar_values"]
    primary_key = zip(
        ("session_id", "scope_id", "namespace", "key"), (session_id, *address.place), strict=True
    )
    here = [table.c[name] == part for name, part in primary_key]
    assert connection.execute(select(table.c.seq).where(*here).with_for_update()).all()


def contents(url: URL | str) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of the store."""
    engine = create_engine(url, poolclass=NullPool)
    with engine.connect() as connection:
        return {
            table.name: sorted((tuple(row) for row in connection.execute(select(table))), key=repr)
            for table in Base.metadata.sorted_tables
        }


class Attempts:
    """Counts the write transactions that containers begin, and calls back before each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, url: URL | str) -> None:
        self.count = 0
        self.before: Callable[[int], object] = lambda _number: None
        dialect = type(dialect_of(create_engine(url)))
        begin_write, is_fresh = dialect.begin_write, dialect.is_fresh

        def begin(itself: Any, raw: Any) -> None:
            self._begin()
            begin_write(itself, raw)

        def begin_at_once(itself: Any, raw: Any) -> bool:
            if not is_fresh(itself, raw):
                return False
            self._begin()
            return True

        monkeypatch.setattr(dialect, "begin_write", begin)
        monkeypatch.setattr(dialect, "is_fresh", begin_at_once)

    def _begin(self) -> None:
        self.count += 1
        self.before(self.count)


def pool_of(repo: SessionRepo) -> QueuePool:
    """The pool of a server's repository."""
    assert isinstance(repo, SqlSessionRepo)
    assert isinstance(repo._sql, EngineContainer)
    pool = repo._sql.engine.pool
    assert isinstance(pool, QueuePool)
    return pool


@contextmanager
def returns_every_connection(repo: SessionRepo) -> Iterator[None]:
    """Check that the block leaves no connection in use, and opens none that it does not keep."""
    pool = pool_of(repo)
    before = pool.checkedin()
    yield
    assert pool.checkedout() == 0
    assert pool.checkedin() <= max(before, 1)
