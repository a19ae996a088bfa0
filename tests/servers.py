"""Database servers for the tests: found where the machine offers one, else a reason why not.

The order: a URL in the environment; a server that already listens on the standard local port and
lets its default local account in; a private cluster started from installed binaries; a container.
"""

from __future__ import annotations

import getpass
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from sqlalchemy import URL, NullPool, create_engine, make_url
from sqlalchemy.exc import DBAPIError

READY_SECONDS = 60.0
COMMAND_SECONDS = 120.0


class UnavailableError(Exception):
    """Why one way of getting a server is not open here."""


@dataclass(frozen=True)
class Server:
    """A server that answers; ``url`` may create and drop databases."""

    url: str
    origin: str


@contextmanager
def administration(url: URL | str) -> Iterator[Callable[[str], list[Any]]]:
    """Run single statements on a connection of its own, each committed by itself."""
    engine = create_engine(
        url, isolation_level="AUTOCOMMIT", poolclass=NullPool, connect_args={"connect_timeout": 5}
    )

    def execute(statement: str) -> list[Any]:
        result = connection.exec_driver_sql(statement)
        return list(result) if result.returns_rows else []

    with engine.connect() as connection:
        yield execute


@dataclass
class PrivateServer:
    """A server on data of its own, that can be killed and started again."""

    command: list[Any]
    url: URL
    arguments: Mapping[str, Any]
    stop_signal: signal.Signals
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers. Raises ``UnavailableError`` when it does not."""
        log: Path = self.arguments["cwd"] / "log"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [str(part) for part in self.command],
                stdout=output,
                stderr=subprocess.STDOUT,
                **self.arguments,
            )
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                _check_answers(self.url)
                return
            except ImportError as error:
                raise UnavailableError(_first_line(error)) from error
            except DBAPIError as error:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    name = Path(self.command[0]).name
                    tail = log.read_text(encoding="utf-8", errors="replace").strip()[-300:]
                    raise UnavailableError(f"{name} does not answer: {tail}") from error
            time.sleep(0.1)  # the server's start cannot be waited for in another way

    def stop(self) -> None:
        """End it in good order, if it runs."""
        if self._process is None:
            return
        self._process.send_signal(self.stop_signal)
        try:
            self._process.wait(READY_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it and every process that it started, at once."""
        assert self._process is not None
        pid = self._process.pid
        children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
        for one in (pid, *children):
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        self._process.wait()
        # The next server waits for the memory that they share.
        while any(Path(f"/proc/{child}").exists() for child in children):
            time.sleep(0.01)
        self._process = None


class Family(ABC):
    """One kind of server: how to find it, start it, and make databases on it."""

    name: ClassVar[str]
    variable: ClassVar[str]
    drivername: ClassVar[str]
    port: ClassVar[int]

    @abstractmethod
    def local_accounts(self) -> Iterable[URL]:
        """The default accounts of a server on the standard local port."""

    @abstractmethod
    def install_private(self, folder: Path, *, durable: bool = False) -> PrivateServer:
        """A server on data in ``folder``, not yet started; only a durable one may be killed."""

    def start_private(self, folder: Path, stack: ExitStack) -> URL:
        """Start a server on data in ``folder``; ``stack`` stops it."""
        server = self.install_private(folder)
        stack.callback(server.stop)
        server.start()
        return server.url

    @abstractmethod
    def start_container(self, stack: ExitStack) -> URL:
        """Start a container; ``stack`` stops it."""

    @abstractmethod
    def create_database(self, server_url: str, name: str) -> None:
        """Create an empty database, by default as hostile to sloppy comparisons as it can be."""

    @abstractmethod
    def drop_database(self, server_url: str, name: str) -> None:
        """Drop a database even if somebody is still connected."""

    def local_url(self, user: str, port: int, database: str | None = None) -> URL:
        """The URL of an account without a password on the loopback address."""
        return URL.create(self.drivername, user, host="127.0.0.1", port=port, database=database)


class PostgreSql(Family):
    """PostgreSQL through psycopg 3."""

    name = "postgresql"
    variable = "SESSIONSTORE_TEST_POSTGRES_URL"
    drivername = "postgresql+psycopg"
    port = 5432

    def local_accounts(self) -> Iterable[URL]:
        users = dict.fromkeys(["postgres", getpass.getuser()])
        return [self.local_url(user, self.port, "postgres") for user in users]

    def install_private(self, folder: Path, *, durable: bool = False) -> PrivateServer:
        binaries = _folder_with(
            ("initdb", "postgres"),
            "/usr/lib/postgresql/*/bin",
            "/usr/pgsql-*/bin",
            "/opt/homebrew/opt/postgresql*/bin",
        )
        process = _process_arguments(folder, "postgres")
        data, port = folder / "data", _free_port()
        _run(
            [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"],
            process,
        )
        options = {
            "listen_addresses": "127.0.0.1",
            "unix_socket_directories": folder,
            "fsync": "on" if durable else "off",
        }
        command = [binaries / "postgres", "-D", data, "-p", port]
        for option, setting in options.items():
            command += ["-c", f"{option}={setting}"]
        return PrivateServer(command, self.local_url("postgres", port, "postgres"), process, signal.SIGINT)

    def start_container(self, stack: ExitStack) -> URL:
        from testcontainers.community.postgres import PostgresContainer

        container = stack.enter_context(PostgresContainer("postgres:17-alpine", driver="psycopg"))
        return make_url(container.get_connection_url())

    def create_database(self, server_url: str, name: str) -> None:
        with administration(server_url) as execute:
            [(version,)] = execute("SELECT current_setting('server_version_num')::int")
            [(has_icu,)] = execute("SELECT EXISTS (SELECT 1 FROM pg_collation WHERE collprovider = 'i')")
            # A linguistic default order shows at once where code relies on the default.
            order = "LOCALE_PROVIDER icu ICU_LOCALE 'en-US'" if has_icu and version >= 150000 else ""
            execute(f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'UTF8' {order}")

    def drop_database(self, server_url: str, name: str) -> None:
        with administration(server_url) as execute:
            execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


class MariaDb(Family):
    """MariaDB through PyMySQL."""

    name = "mariadb"
    variable = "SESSIONSTORE_TEST_MARIADB_URL"
    drivername = "mariadb+pymysql"
    port = 3306

    def local_accounts(self) -> Iterable[URL]:
        return [self.local_url("root", self.port)]

    def install_private(self, folder: Path, *, durable: bool = False) -> PrivateServer:
        server = _binary("mariadbd")
        installer = _binary("mariadb-install-db")
        process = _process_arguments(folder, "mysql")
        data, port = folder / "data", _free_port()
        # A server that starts removes what others have in a folder for temporary tables.
        own = [f"--datadir={data}", f"--tmpdir={folder}"]
        _run(
            [
                installer,
                "--no-defaults",
                *own,
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
            ],
            process,
        )
        command = [
            server,
            "--no-defaults",
            *own,
            f"--socket={folder / 'socket'}",
            f"--port={port}",
            "--bind-address=127.0.0.1",
            f"--innodb-flush-log-at-trx-commit={1 if durable else 0}",
        ]
        return PrivateServer(command, self.local_url("root", port), process, signal.SIGTERM)

    def start_container(self, stack: ExitStack) -> URL:
        from testcontainers.community.mysql import MySqlContainer

        container = stack.enter_context(
            MySqlContainer("mariadb:11.4", dialect="pymysql", username="root", password=secrets.token_hex(8))
        )
        return make_url(container.get_connection_url()).set(drivername=self.drivername)

    def create_database(self, server_url: str, name: str) -> None:
        with administration(server_url) as execute:
            execute(f"CREATE DATABASE `{name}` CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")

    def drop_database(self, server_url: str, name: str) -> None:
        with administration(server_url) as execute:
            # An open transaction holds a metadata lock that would block the drop for ever.
            for (connection,) in execute(
                f"SELECT id FROM information_schema.processlist WHERE db = '{name}'"
            ):
                _kill_connection(execute, connection)
            execute(f"DROP DATABASE IF EXISTS `{name}`")


FAMILIES: Mapping[str, Family] = {family.name: family for family in (PostgreSql(), MariaDb())}


def find_server(family: Family, stack: ExitStack) -> Server:
    """The first server that the machine offers; ``UnavailableError`` with every reason when there is none.

    A URL in the environment is an order: when it does not answer, that is an error, and nothing
    else is tried. ``stack`` stops what this function starts.
    """
    configured = os.environ.get(family.variable)
    if configured:
        url = make_url(configured).set(drivername=family.drivername)
        _check_answers(url)
        return Server(url.render_as_string(hide_password=False), f"the server of {family.variable}")
    reasons = [f"{family.variable} is not set"]
    for attempt in (_listening, _private, _container):
        try:
            return attempt(family, stack)
        except UnavailableError as reason:
            reasons.append(str(reason))
    raise UnavailableError("; ".join(reasons))


def _listening(family: Family, stack: ExitStack) -> Server:
    place = f"127.0.0.1:{family.port}"
    try:
        socket.create_connection(("127.0.0.1", family.port), timeout=2).close()
    except OSError as error:
        raise UnavailableError(f"nothing listens on {place}") from error
    refused = []
    for url in family.local_accounts():
        try:
            _check_answers(url)
        except (DBAPIError, ImportError) as error:
            refused.append(f"{url.username}: {_first_line(error)}")
        else:
            return Server(url.render_as_string(), f"the server listening on {place}")
    raise UnavailableError(f"the server on {place} lets no default account in ({', '.join(refused)})")


def _private(family: Family, stack: ExitStack) -> Server:
    with ExitStack() as started:
        folder = Path(started.enter_context(tempfile.TemporaryDirectory(prefix=f"{family.name}-")))
        url = family.start_private(folder, started)
        stack.push(started.pop_all())
    return Server(url.render_as_string(), "a private server")


def _container(family: Family, stack: ExitStack) -> Server:
    docker = _binary("docker")
    answer = subprocess.run(
        [docker, "info"], capture_output=True, timeout=COMMAND_SECONDS, stdin=subprocess.DEVNULL, check=False
    )
    if answer.returncode:
        raise UnavailableError("no Docker daemon answers")
    return Server(family.start_container(stack).render_as_string(hide_password=False), "a container")


def _check_answers(url: URL) -> None:
    with administration(url) as execute:
        execute("SELECT 1")


def _kill_connection(execute: Callable[[str], list[Any]], connection: int) -> None:
    try:
        execute(f"KILL {connection}")
    except DBAPIError as error:
        if "1094" not in str(error.orig):  # unknown thread: it left by itself
            raise


def _binary(name: str) -> Path:
    # The folders of administrators are not on everybody's PATH.
    found = shutil.which(
        name, path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    )
    if found is None:
        raise UnavailableError(f"{name} is not installed")
    return Path(found)


def _folder_with(names: tuple[str, ...], *patterns: str) -> Path:
    """The folder that holds all of these programs: the one on PATH, else the newest that matches."""
    on_path = shutil.which(names[0])
    candidates = [Path(on_path).resolve().parent] if on_path else []
    for pattern in patterns:
        candidates += sorted(Path("/").glob(pattern.lstrip("/")), reverse=True)
    for folder in candidates:
        if all((folder / name).is_file() for name in names):
            return folder
    raise UnavailableError(f"{' and '.join(names)} are not installed")


def _unprivileged(preferred: str) -> pwd.struct_passwd | None:
    """The account for a server, which refuses to run as root; None when we are not root."""
    if os.geteuid() != 0:
        return None
    for name in (preferred, "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise UnavailableError("no unprivileged account to run a server as")


def _process_arguments(folder: Path, account: str) -> dict[str, Any]:
    """Arguments of a process that works in ``folder``, as ``account`` when we are root."""
    arguments: dict[str, Any] = {
        "cwd": folder,
        "stdin": subprocess.DEVNULL,
        "env": {"PATH": os.environ.get("PATH", ""), "HOME": str(folder), "LC_ALL": "C.UTF-8"},
    }
    owner = _unprivileged(account)
    if owner is not None:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        arguments |= {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
    return arguments


def _run(command: list[Any], process: Mapping[str, Any]) -> None:
    done = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=COMMAND_SECONDS,
        check=False,
        **process,
    )
    if done.returncode:
        raise UnavailableError(
            f"{Path(command[0]).name} failed: {(done.stderr or done.stdout).strip()[-300:]}"
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _first_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().split("\n", 1)[0]
