"""Accounts with a password, which never shows; and with no more rights than a store needs."""

from __future__ import annotations

import logging
import secrets
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from server.processes import COUNTER, MARKS, write_turn
from server.support import ask, database_kind, kill_connections
from servers import administration
from sqlalchemy import create_engine, make_url
from typer.testing import CliRunner

from sessionstore import ForkTree, SessionNotFoundError, SessionStoreError, StorageError, open_repository
from sessionstore.cli.app import app
from sessionstore.sql import migrations
from sessionstore.sql.repo import SqlSessionRepo

pytestmark = pytest.mark.needs("server")

VECTORS = Path(__file__).parents[1] / "vectors"
PASSWORD = "s3cr3t/@:% ?#'"  # every character that means something in a URL
TABLES = ("sessions", "entries", "scalar_values", "list_values", "usage_ledger")


class Account:
    """An account of the server under test."""

    def __init__(self, url: str, may_create: bool) -> None:
        self._root = url
        self._name = f"sessionstore_{secrets.token_hex(6)}"
        self._kind = database_kind(url)
        parsed = make_url(url).set(username=self._name, password=PASSWORD)
        self.url = parsed.render_as_string(hide_password=False)
        self.wrong_url = parsed.set(password=f"{PASSWORD}wrong").render_as_string(hide_password=False)
        database = parsed.database
        literal = PASSWORD.replace("'", "''").replace("%", "%%")
        if self._kind == "postgresql":
            self._begin = [
                f"CREATE ROLE {self._name} LOGIN PASSWORD '{literal}'",
                *([f'GRANT CREATE ON DATABASE "{database}" TO {self._name}'] if may_create else []),
                *([f"GRANT CREATE ON SCHEMA public TO {self._name}"] if may_create else []),
            ]
            self._end = [f"DROP OWNED BY {self._name}", f"DROP ROLE {self._name}"]
        else:
            rights = "ALL" if may_create else "SELECT"
            self._begin = [
                f"CREATE USER {self._name} IDENTIFIED BY '{literal}'",
                f"GRANT {rights} ON {database}.* TO {self._name}",
            ]
            self._end = [f"DROP USER {self._name}"]

    def grant_data(self) -> None:
        """Let the account read and write the rows of the store's tables."""
        with administration(self._root) as execute:
            for table in TABLES:
                execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {self._name}")
            execute(f"GRANT SELECT ON alembic_version TO {self._name}")

    def __enter__(self) -> Account:
        with administration(self._root) as execute:
            for statement in self._begin:
                execute(statement)
        return self

    def __exit__(self, *_: object) -> None:
        kill_connections(self._root)
        with administration(self._root) as execute:
            for statement in self._end:
                execute(statement)


@pytest.fixture
def account(store_url: str) -> Iterator[Account]:
    """An account that owns what it makes in the store's database."""
    with Account(store_url, may_create=True) as account:
        yield account


def shows(text: str) -> bool:
    """Whether a text shows the password, in whatever spelling."""
    return any(spelt in text for spelt in ("s3cr3t", PASSWORD, quote(PASSWORD), quote_plus(PASSWORD)))


@pytest.fixture(autouse=True)
def logs(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Everything that anybody logs, looked through at the end."""
    caplog.set_level(logging.DEBUG)
    yield
    assert not shows(caplog.text)


def run(*arguments: object, code: int = 0) -> str:
    """Run a command in this process; what it printed."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert result.exit_code == code, result.output
    assert not shows(result.output), result.output
    return result.output


def test_commands_work_on_a_url_with_a_password_and_do_not_show_it(account: Account, tmp_path: Path) -> None:
    url, copy = account.url, f"sqlite:///{tmp_path}/copy.db"
    assert "no revision" in run("db", "current", url)
    run("db", "check", url, code=1)
    assert "revision" in run("db", "upgrade", url)
    assert "the schema of this release" in run("db", "check", url)
    assert "imported everything" in run("import", VECTORS / "v4" / "everything.jsonl", "--to", url)
    assert "already there" in run("import", VECTORS / "v4" / "everything.jsonl", "--to", url)
    assert "everything" in run("list", url)
    assert "session everything" in run("show", url, "everything")
    run("copy", url, copy)
    run("verify", url)
    run("verify", url, copy)
    assert run("export", url, "everything", "--to", tmp_path / "out.jsonl")
    run("fork", url, "everything", "--tree")
    run("delete", url, "everything")
    run("copy", copy, url)
    run("verify", url, "--repair")
    for command in ("list", "verify", "db current", "db check"):
        run(*command.split(), url, "--json")
    run("show", url, "everything", "--json")


def test_failures_are_told_without_the_password(
    account: Account, store_url: str, capfd: pytest.CaptureFixture[str]
) -> None:
    url = account.url
    unreachable = make_url(url).set(port=1).render_as_string(hide_password=False)
    missing = make_url(url).set(database="nowhere").render_as_string(hide_password=False)
    unknown = make_url(url).set(drivername="oracle").render_as_string(hide_password=False)
    assert "refused" in run("list", unreachable, code=1)
    # MariaDB does not tell whether a database exists to who may not use it.
    assert "does not exist" in (said := run("list", missing, code=1)) or "Access denied" in said
    for broken in (unreachable, missing):
        for command in ("list", "verify", "db upgrade", "db current", "db check"):
            run(*command.split(), broken, code=1)
        run("show", broken, "a", code=1)
        run("delete", broken, "a", code=1)
        run("import", VECTORS / "v4" / "everything.jsonl", "--to", broken, code=1)
        run("copy", broken, store_url, code=1)
        run("copy", store_url, broken)
    run("show", url, "nobody", code=1)
    run("delete", url, "nobody", code=1)
    run("list", unknown, code=2)
    captured = capfd.readouterr()
    assert not shows(captured.out + captured.err)


def test_errors_and_metadata_of_the_library_hold_no_password(account: Account, store_url: str) -> None:
    texts: list[str] = []

    def fails(call: Callable[[], object], error: type[Exception]) -> None:
        with pytest.raises(error) as raised:
            call()
        texts.extend(["".join(traceback.format_exception(raised.value)), repr(raised.value)])

    with open_repository(account.url) as repo:
        with repo.create(id="a") as session:
            write_turn(session, 0)
            texts += [repr(session), repr(session.metadata), repr(session.storage)]
        texts += [repo.container, repr(repo), *map(repr, repo.list())]
        fails(lambda: repo.open("b"), SessionNotFoundError)
        session = repo.open("a")
        ask(store_url, "DROP TABLE scalar_values")
        fails(lambda: session.get_value(COUNTER), StorageError)
        fails(lambda: session.set_value(COUNTER, 1), StorageError)
    for url in (account.wrong_url, make_url(account.url).set(port=1).render_as_string(hide_password=False)):
        with open_repository(url) as repo:
            for call in (repo.list, lambda: repo.create(id="c"), lambda: repo.fork("a", ForkTree())):
                # A server may trust whoever comes from its own machine; then the table is missed.
                fails(call, SessionStoreError)
    assert not [text for text in texts if shows(text)]
    with open_repository(store_url) as repo:
        assert repo.container == texts[3]


def test_a_store_needs_no_right_to_change_the_schema(store_url: str) -> None:
    migrations.upgrade(store_url)
    with Account(store_url, may_create=False) as account:
        account.grant_data()
        with open_repository(account.url, create_schema=False) as repo:
            session = repo.create(id="a")
            assert write_turn(session, 0)
            assert session.append_list(MARKS, "more").first_seq == 9
            repo.fork("a", ForkTree(), id="b").close()
            assert {metadata.id for metadata in repo.list()} == {"a", "b"}
            assert repo.check_session("a") == []
            assert repo.repair_session("b") == []
            repo.delete("b")


def test_a_store_that_may_not_create_its_schema_says_so(store_url: str) -> None:
    with Account(store_url, may_create=False) as account, open_repository(account.url) as repo:
        assert repo.list() == []
        with pytest.raises(StorageError) as refused:
            repo.create(id="a")
        assert not shows(str(refused.value))


def test_a_password_given_as_a_parameter_is_hidden_too(account: Account) -> None:
    given = make_url(account.url).set(password=None).update_query_dict({"password": PASSWORD})
    url = given.render_as_string(hide_password=False)
    run("db", "upgrade", url)
    run("db", "check", url)
    run("list", url)
    with open_repository(url) as repo:
        assert not shows(repo.container)


def test_an_engine_of_the_users_shows_no_password_either(account: Account) -> None:
    engine = create_engine(account.url)
    with SqlSessionRepo(engine) as repo:
        repo.create(id="a").close()
        assert not shows(repo.container + repr(repo.list()))
    engine.dispose()
