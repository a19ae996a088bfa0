"""The page of the example server in a headless Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from example.browser import Browser, find_chromium
from example.process import ServerProcess

CHROMIUM = find_chromium()

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium is installed"),
    pytest.mark.slow,
]

ENTRIES = "[...document.querySelectorAll('#tree .entry')]"
LIVE = "document.getElementById('live').textContent"


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[Browser]:
    assert CHROMIUM is not None
    with Browser(CHROMIUM, tmp_path / "profile") as browser:
        yield browser


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/chat.db"


def begin(browser: Browser, server: ServerProcess) -> None:
    """Open the page, make a session, and remember every text that the live line ever shows."""
    browser.open(server.url)
    browser.run("document.getElementById('new').click()")
    browser.wait("document.getElementById('branch').options.length === 1")
    browser.run(
        "window.seen = []; new MutationObserver(() => window.seen.push(" + LIVE + "))"
        ".observe(document.getElementById('live'), {childList: true, characterData: true, subtree: true})"
    )


def say(browser: Browser, text: str) -> None:
    browser.run(f"document.querySelector('#say input').value = {text!r}")
    browser.run("document.getElementById('say').requestSubmit()")


def entries(browser: Browser) -> list[str]:
    found: list[str] = browser.run(f"{ENTRIES}.map((entry) => entry.textContent)")
    return found


def test_an_answer_streams_live_and_joins_the_tree(browser: Browser, url: str) -> None:
    with ServerProcess(url, pace_ms=25) as server:
        begin(browser, server)
        say(browser, "count 30")
        # The prompt is in the tree while the answer is streamed.
        browser.wait(f"{LIVE}.length > 10 && {ENTRIES}.length === 1")
        browser.wait(f"{ENTRIES}.length === 2")
        seen = [text for text in browser.run("window.seen") if text]
        full = "".join(f"{n} " for n in range(1, 31))
        assert len(set(seen)) > 10
        assert all(full.startswith(text) for text in seen)
        assert seen == sorted(seen, key=len)
        assert entries(browser) == ["usercount 30", f"assistant{full}main"]
        browser.wait(f"{LIVE} === ''")
        # A tool's progress is shown as well.
        say(browser, "tool 4")
        browser.wait(f"{ENTRIES}.length === 6")
        assert "counter: 4 of 4" in browser.run("window.seen")
        assert browser.run("document.querySelectorAll('#tree ul').length") == 1  # one path, one list
        assert "6 messages" in browser.run("document.getElementById('usage').textContent")
        # It is all there when the page is loaded again.
        before = entries(browser)
        browser.command("Page.reload")
        browser.wait(f"{ENTRIES}.length === 6")
        assert entries(browser) == before


def test_what_was_said_is_shown_as_text(browser: Browser, url: str) -> None:
    with ServerProcess(url) as server:
        begin(browser, server)
        hostile = "<img src=x onerror=alert(1)><b>bold</b>"
        say(browser, hostile)
        browser.wait(f"{ENTRIES}.length === 2")
        assert entries(browser)[0] == f"user{hostile}"
        assert browser.run("document.querySelectorAll('#tree img, #tree b, #live img').length") == 0


def test_an_interrupted_answer_is_shown_and_resumed(browser: Browser, url: str) -> None:
    with ServerProcess(url, pace_ms=25) as server:
        begin(browser, server)
        say(browser, "count 60")
        browser.wait(f"{LIVE}.length > 20")
        port = server.port
        server.kill()
        shown = browser.run(LIVE)
    with ServerProcess(url, pace_ms=5, port=port) as server:
        browser.command("Page.reload")
        browser.wait("!document.getElementById('resume').hidden")
        assert browser.run(LIVE).startswith(shown)
        browser.run("document.getElementById('resume').click()")
        browser.wait(f"{ENTRIES}.length === 2")
        full = "".join(f"{n} " for n in range(1, 61))
        assert entries(browser)[1] == f"assistant{full[:200]}main"


def test_a_branch_starts_at_an_entry_and_a_fork_is_a_new_session(browser: Browser, url: str) -> None:
    with ServerProcess(url) as server:
        begin(browser, server)
        say(browser, "one")
        browser.wait(f"{ENTRIES}.length === 2")
        browser.run("window.prompt = () => 'other'")
        browser.run(f"{ENTRIES}[0].click()")
        browser.wait("document.getElementById('branch').value === 'other'")
        say(browser, "two")
        browser.wait(f"{ENTRIES}.length === 4")
        # Where the path divides, each continuation is a list of its own.
        continuations = browser.run(
            f"[...{ENTRIES}[0].parentNode.querySelectorAll(':scope > ul')].map((ul) => ul.children.length)"
        )
        assert continuations == [1, 2]
        browser.run("document.getElementById('fork').click()")
        browser.wait("document.querySelectorAll('#sessions button').length === 2")
        browser.wait(f"{ENTRIES}.length === 3")
        assert [text[:6] for text in entries(browser)] == ["userone"[:6], "usertw", "assist"]
