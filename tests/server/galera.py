"""A real Galera cluster: three private nodes on the loopback address, started from installed binaries."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from servers import UnavailableError, _binary, _free_port, _process_arguments, _run, administration
from sqlalchemy import URL, make_url
from sqlalchemy.exc import DBAPIError

NODES = 3
START_SECONDS = 60.0

_PROVIDER = "usr/lib*/galera*/libgalera_smm.so"


class Node:
    """One server of the cluster."""

    def __init__(self, cluster: GaleraCluster, number: int) -> None:
        self.number = number
        self._cluster = cluster
        self._folder = cluster.folder / f"node-{number}"
        (self._folder / "data").mkdir(parents=True)
        cluster.give(self._folder)
        self.port, self.group_port, transfer_port, snapshot_port = (_free_port() for _ in range(4))
        self.server_url = URL.create("mariadb+pymysql", "root", host="127.0.0.1", port=self.port)
        provider = {
            "gmcast.listen_addr": f"tcp://127.0.0.1:{self.group_port}",
            "ist.recv_addr": f"127.0.0.1:{transfer_port}",
            "gcache.size": "16M",
        }
        self._options = {
            "datadir": self._folder / "data",
            "tmpdir": self._folder,  # a server that starts removes what others have in a common one
            "socket": self._folder / "socket",
            "pid-file": self._folder / "pid",
            "port": self.port,
            "bind-address": "127.0.0.1",
            "binlog-format": "ROW",
            "innodb-autoinc-lock-mode": 2,
            "innodb-flush-log-at-trx-commit": 0,
            "innodb-buffer-pool-size": "32M",
            "innodb-log-file-size": "32M",
            "key-buffer-size": "1M",
            "performance-schema": "OFF",
            "wsrep-on": "ON",
            "wsrep-provider": cluster.provider,
            "wsrep-provider-options": ";".join(f"{name}={setting}" for name, setting in provider.items()),
            "wsrep-cluster-name": "sessionstore",
            "wsrep-node-name": f"node-{number}",
            "wsrep-node-address": f"127.0.0.1:{self.group_port}",
            "wsrep-sst-method": "rsync",
            "wsrep-sst-receive-address": f"127.0.0.1:{snapshot_port}",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def install(self) -> None:
        """Make the system tables; the other nodes get theirs from the first."""
        installer = _binary("mariadb-install-db")
        command = [
            installer,
            "--no-defaults",
            f"--datadir={self._folder / 'data'}",
            f"--tmpdir={self._folder}",
        ]
        _run(
            [*command, "--auth-root-authentication-method=normal", "--skip-test-db"], self._cluster.arguments
        )

    def start(self, *, first: bool = False) -> None:
        """Start the server; with ``first`` as the cluster's beginning."""
        peers = "" if first else ",".join(f"127.0.0.1:{node.group_port}" for node in self._cluster.nodes)
        options = {**self._options, "wsrep-cluster-address": f"gcomm://{peers}"}
        given = [f"--{name}={setting}" for name, setting in options.items()]
        command = [_binary("mariadbd"), "--no-defaults", *given]
        with (self._folder / "log").open("ab") as log:
            # A session of its own, so that the helpers of a state transfer end with it.
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **self._cluster.arguments,
            )

    def wait(self) -> None:
        """Wait until the node takes part in the cluster."""
        deadline = time.monotonic() + START_SECONDS
        while self.status("wsrep_local_state_comment") != "Synced" or self.status("wsrep_ready") != "ON":
            ended = self._process is None or self._process.poll() is not None
            if ended or time.monotonic() > deadline:
                tail = (self._folder / "log").read_text(encoding="utf-8", errors="replace")[-500:]
                raise UnavailableError(f"node {self.number} of the Galera cluster does not start: {tail}")
            time.sleep(0.1)  # a server's start cannot be waited for in another way

    def status(self, name: str) -> str | None:
        """A status variable; None while nobody answers."""
        try:
            with administration(self.server_url) as execute:
                value: str = execute(f"SHOW STATUS LIKE '{name}'")[0][1]
                return value
        except DBAPIError:
            return None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the server."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """End the server and everything that it started, at once."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def url(self, database: str) -> str:
        """The URL of a database through this node."""
        return self.server_url.set(database=database).render_as_string(hide_password=False)


class GaleraCluster:
    """Three nodes that hold the same data."""

    def __init__(self, stack: ExitStack) -> None:
        """Start them; ``stack`` ends them. Raises ``UnavailableError`` where they cannot run."""
        self.provider = _provider()
        _binary("rsync")  # by which a node gets the data of another
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="galera-")))
        self.arguments: dict[str, Any] = _process_arguments(self.folder, "mysql")
        self.nodes: list[Node] = []
        for number in range(NODES):
            self.nodes.append(Node(self, number))
            stack.callback(self.nodes[-1].kill)
        beginning, *others = self.nodes
        beginning.install()
        beginning.start(first=True)
        beginning.wait()
        for node in others:
            node.start()
        for node in others:
            node.wait()

    def give(self, folder: Path) -> None:
        """Let the servers' account write a folder."""
        owner = self.arguments.get("user")
        if owner is not None:
            for path in (folder, folder / "data"):
                os.chown(path, owner, self.arguments["group"])


def _provider() -> Path:
    for found in sorted(Path("/").glob(_PROVIDER)):
        return found
    raise UnavailableError("the Galera provider is not installed (Debian: galera-4)")


def database_of(url: str) -> str:
    """The name of the database in a URL."""
    name = make_url(url).database
    assert name
    return name
