"""A stretch of network between the store and its server, which can be cut at a chosen moment."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal, NamedTuple, TypeAlias

from server.support import database_kind
from sqlalchemy import URL, make_url

When: TypeAlias = Literal["before", "after"]
"""Before a statement reaches the server; or after the server has done it, before its answer arrives."""

_CHUNK = 1 << 16
# What commits, and what is in the server's answer once it has done that: in a pipeline the answers to
# the statements before come first. COMMIT is meant as a whole statement, not READ COMMITTED.
_COMMITS = {
    "postgresql": {b"COMMIT\0": b"COMMIT\0", b"WITH taken AS": b"SELECT 1\0"},
    "mariadb": {b"\x03COMMIT": b""},
}


class _Cut(NamedTuple):
    answers: dict[bytes, bytes]
    """By the word that is looked for."""
    when: When
    times: int

    def answer(self, data: bytes) -> bytes | None:
        """What to wait for in the answer to ``data``; None if none of the words is in it."""
        return next((answer for word, answer in self.answers.items() if word in data), None)


class Proxy:
    """Passes bytes on, until it is told to cut."""

    def __init__(self, server: tuple[str, int], kind: str) -> None:
        self._server = server
        self._kind = kind
        self.begin = {"postgresql": "BEGIN", "mariadb": "START TRANSACTION"}[kind]
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._guard = threading.Lock()
        self._open: set[_Wire] = set()
        self._cut: _Cut | None = None
        self.cuts = 0
        self.refusing = False
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_at(self, word: str, when: When, times: int = 1) -> None:
        """Cut the next ``times`` connections on which ``word`` goes to the server."""
        self._cut = _Cut({word.encode(): b""}, when, times)

    def cut_at_commit(self, when: When) -> None:
        """Cut the next connection that commits."""
        self._cut = _Cut(_COMMITS[self._kind], when, 1)

    def cut_all(self) -> None:
        """Cut every connection that there is."""
        for wire in list(self._open):
            wire.close()

    def close(self) -> None:
        """Cut everything and stop listening."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut_all()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refusing:
                client.close()
                continue
            wire = _Wire(self, client, socket.create_connection(self._server))
            self._open.add(wire)
            wire.start()

    def cut(self, data: bytes) -> _Cut | None:
        """The cut to make now that ``data`` is on its way to the server."""
        with self._guard:
            cut = self._cut
            if cut is None or cut.answer(data) is None:
                return None
            self._cut = cut._replace(times=cut.times - 1) if cut.times > 1 else None
            self.cuts += 1
            return cut

    def gone(self, wire: _Wire) -> None:
        """Forget a connection."""
        self._open.discard(wire)


class _Wire:
    """One connection through the proxy."""

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy = proxy
        self._client = client
        self._server = server
        self._awaited: bytes | None = None

    def start(self) -> None:
        for pump in (self._to_server, self._to_client):
            threading.Thread(target=pump, daemon=True).start()

    def close(self) -> None:
        for end in (self._client, self._server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
        self._proxy.gone(self)

    def _to_server(self) -> None:
        with suppress(OSError):
            while data := self._client.recv(_CHUNK):
                cut = self._proxy.cut(data)
                if cut is not None and cut.when == "before":
                    break
                if cut is not None:
                    self._awaited = cut.answer(data)
                self._server.sendall(data)
        self.close()

    def _to_client(self) -> None:
        with suppress(OSError):
            while data := self._server.recv(_CHUNK):
                awaited = self._awaited
                if awaited is None:
                    self._client.sendall(data)
                elif awaited in data:
                    break
        self.close()


@contextmanager
def proxy_to(url: str) -> Iterator[tuple[Proxy, str]]:
    """A proxy to the server of ``url``, and the URL that leads through it."""
    kind = database_kind(url)
    parsed = make_url(url)
    assert parsed.host
    proxy = Proxy((parsed.host, parsed.port or {"postgresql": 5432, "mariadb": 3306}[kind]), kind)
    through = parsed.set(host="127.0.0.1", port=proxy.port)
    if kind == "postgresql":
        through = through.update_query_dict({"sslmode": "disable", "gssencmode": "disable"})
    try:
        yield proxy, _text(through)
    finally:
        proxy.close()


def _text(url: URL) -> str:
    return url.render_as_string(hide_password=False)
