"""A proxy on the loopback address that counts round trips, whatever the protocol."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import Self

from sqlalchemy import URL


class CountingProxy:
    """Passes bytes on. A round trip begins when the client speaks after the server has spoken."""

    def __init__(self, server: URL) -> None:
        self._server = (server.host or "127.0.0.1", server.port or 0)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = server.set(host="127.0.0.1", port=self._listener.getsockname()[1]).render_as_string(
            hide_password=False
        )
        self.round_trips = 0
        self._server_spoke = True

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):  # the listener is closed in the end
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                for end in (client, server):
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for one, other, asks in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass_on, args=[one, other, asks], daemon=True).start()

    def _pass_on(self, one: socket.socket, other: socket.socket, asks: bool) -> None:
        with suppress(OSError), one, other:
            while data := one.recv(1 << 16):
                self.round_trips += asks and self._server_spoke
                self._server_spoke = not asks
                other.sendall(data)
