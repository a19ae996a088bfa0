"""Starts the chat server: ``python -m examples.server [--store URL] [--port N] [--pace MS]``."""

from __future__ import annotations

import argparse
import socket

import uvicorn
from fastapi import FastAPI

from examples.server.app import create_app


class _Server(uvicorn.Server):
    def __init__(self, app: FastAPI) -> None:
        super().__init__(uvicorn.Config(app, log_level="warning"))
        self._app = app

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # Streams end with their operations. Otherwise the server would wait for the answers to be
        # over before it tells the application to shut down.
        await self._app.state.chats.stop()
        await super().shutdown(sockets)


def main() -> None:
    """Serve until interrupted. The first line tells the address, also for ``--port 0``."""
    parser = argparse.ArgumentParser(prog="python -m examples.server", description=__doc__)
    parser.add_argument("--store", default="sqlite:///chat.db", help="a store URL (%(default)s)")
    parser.add_argument("--port", type=int, default=8000, help="0 takes a free one (%(default)s)")
    parser.add_argument("--pace", type=float, default=30, help="ms for each frame (%(default)s)")
    options = parser.parse_args()
    listening = socket.socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind(("127.0.0.1", options.port))
    listening.listen()  # so that whoever reads the line can connect
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/ on {options.store.partition(':')[0]}", flush=True)
    _Server(create_app(options.store, options.pace / 1000)).run(sockets=[listening])


main()
