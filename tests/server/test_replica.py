"""Listing, reading and forking from a PostgreSQL replica, while the primary is written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT
from tempfile import TemporaryDirectory

import pytest
from server.processes import MARKS, assert_written, write_turn
from server.support import ask, wait_until
from servers import (
    FAMILIES,
    PrivateServer,
    UnavailableError,
    _folder_with,
    _free_port,
    _process_arguments,
    _run,
)
from sqlalchemy import make_url

from sessionstore import ForkBranch, ForkTree, StorageError, open_repository
from sessionstore.builtin import lane_config, lane_state
from sessionstore.repository import SessionRepo

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Pair:
    """A primary and a replica that follows it."""

    primary: str
    replica: str

    def caught_up(self) -> None:
        """Wait until the replica has replayed what the primary has written by now."""
        [(position,)] = ask(self.primary, "SELECT pg_current_wal_flush_lsn()")
        wait_until(
            lambda: ask(self.replica, f"SELECT pg_last_wal_replay_lsn() >= '{position}'")[0][0],
            "the replica follows",
        )


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    """Started from installed binaries; where there are none the tests are skipped with the reason."""
    with ExitStack() as stack:
        try:
            yield _start(stack)
        except UnavailableError as reason:
            pytest.skip(f"no replica: {reason}")


def _start(stack: ExitStack) -> Pair:
    folders = [
        Path(stack.enter_context(TemporaryDirectory(prefix=f"postgresql-{name}-")))
        for name in ("primary", "replica")
    ]
    primary = FAMILIES["postgresql"].start_private(folders[0], stack)
    process = _process_arguments(folders[1], "postgres")
    binaries = _folder_with(("pg_basebackup", "postgres"), "/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin")
    data, port = folders[1] / "data", _free_port()
    _run(
        [
            *(
                binaries / "pg_basebackup",
                "--host=127.0.0.1",
                f"--port={primary.port}",
                "--username=postgres",
            ),
            *(f"--pgdata={data}", "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"),
        ],
        process,
    )
    replica = primary.set(port=port)
    options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": folders[1], "fsync": "off"}
    command = [binaries / "postgres", "-D", data, "-p", port]
    for option, setting in options.items():
        command += ["-c", f"{option}={setting}"]
    server = PrivateServer(command, replica, process, SIGINT)
    stack.callback(server.stop)
    server.start()
    return Pair(*(url.render_as_string(hide_password=False) for url in (primary, replica)))


@pytest.fixture
def repos(pair: Pair, request: pytest.FixtureRequest) -> Iterator[tuple[SessionRepo, SessionRepo]]:
    """Repositories of a new database, on the primary and on the replica."""
    name = f"sessionstore_{abs(hash(request.node.nodeid)):x}"
    ask(pair.primary, f"CREATE DATABASE {name}")
    urls = [
        make_url(url).set(database=name).render_as_string(hide_password=False)
        for url in (pair.primary, pair.replica)
    ]
    pair.caught_up()
    with open_repository(urls[0]) as primary, open_repository(urls[1]) as replica:
        yield primary, replica


def test_a_replica_is_read_like_any_store(pair: Pair, repos: tuple[SessionRepo, SessionRepo]) -> None:
    primary, replica = repos
    assert replica.list() == []
    sessions = [primary.create(id=f"s{number}") for number in range(3)]
    for session in sessions:
        for turn in range(3):
            write_turn(session, turn)
    pair.caught_up()
    assert [metadata.id for metadata in replica.list()] == [metadata.id for metadata in primary.list()]
    assert replica.get("s1").created_at == primary.get("s1").created_at
    assert replica.check_session("s1") == []
    with replica.open("s1") as reader:
        assert_written(reader, 3)
        with pytest.raises(StorageError, match="read-only transaction"):
            reader.append_list(MARKS, "no")
    with pytest.raises(StorageError, match="read-only transaction"):
        replica.create(id="new")
    assert_written(sessions[1], 3)


def test_a_fork_reads_its_source_from_the_replica(pair: Pair, repos: tuple[SessionRepo, SessionRepo]) -> None:
    primary, replica = repos
    session = primary.create(id="a")
    session.create_branch("main")
    session.set_value(lane_config("main"), {"model": "m"})
    session.set_value(lane_state("main"), {"currentOperationId": None, "lastOperationId": None, "inbox": []})
    branch = session.branch("main")
    assert branch is not None
    for number in range(20):
        branch.append_message({"role": "user", "content": str(number)})
    pair.caught_up()
    with replica.snapshot("a") as snapshot:
        seen = snapshot.header.next_seq
        for number in range(20):  # the owner goes on
            branch.append_message({"role": "user", "content": f"later {number}"})
        assert sum(1 for _ in snapshot.records) > 20
    for fork in (ForkTree(), ForkBranch("main")):
        with primary.fork("a", fork, source_repository=replica) as forked:
            entries = forked.find_entries(order="asc")
            assert len(entries) >= 20
            assert entries == session.find_entries(order="asc")[: len(entries)]
            assert forked.storage.next_seq() >= seen
    assert len(session.find_entries()) == 40
