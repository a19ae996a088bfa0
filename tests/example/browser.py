"""A headless Chromium, driven over the pipe of its debugging protocol."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any, Self

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """The path of an installed Chromium."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One page in a browser of its own."""

    def __init__(self, program: str, profile: Path) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        command = [
            program,
            "--headless=new",
            "--no-sandbox",  # the tests may run as root in a container
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--no-proxy-server",
            f"--user-data-dir={profile}",
            "--remote-debugging-pipe",
            "about:blank",
        ]
        # The protocol is spoken on descriptors 3 and 4.
        shell = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, *command],
            pass_fds=(theirs_in, theirs_out),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._out = os.fdopen(ours_out, "wb", buffering=0)
        self._in = os.fdopen(ours_in, "rb")
        self._number = 0
        self._session: str | None = None
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        attached = self.command("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        self.command("Page.enable")

    def command(self, method: str, **params: Any) -> Any:
        """Run a command of the protocol and return its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session is not None:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _receive(self) -> Any:
        read = bytearray()
        while (byte := self._in.read(1)) not in (b"\0", b""):
            read += byte
        assert byte, "the browser ended"
        return json.loads(read)

    def open(self, url: str) -> None:
        """Load a page."""
        self.command("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.protocol === 'http:'")

    def run(self, script: str) -> Any:
        """Evaluate an expression in the page, awaiting it if it is a promise."""
        answer = self.command(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, condition: str, seconds: float = 30) -> Any:
        """Wait until an expression is true in the page, and return it."""
        deadline = f"performance.now() + {seconds * 1000}"
        found = self.run(
            "new Promise((resolve) => { const end = " + deadline + ";"
            "const look = () => { let found; try { found = (" + condition + "); } catch { found = false; }"
            "if (found || performance.now() > end) resolve(found); else setTimeout(look, 10); }; look(); })"
        )
        assert found, f"this did not come true: {condition}"
        return found

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()
        self._out.close()
        self._in.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
