"""The demo: a real process, a real SIGKILL, and the half answer that survives."""

from __future__ import annotations

import signal
from pathlib import Path

from sessionstore import open_repository
from sessionstore.cli import demo as demo_command
from sessionstore.cli import demo_agent


def test_the_demo_tells_its_story(run) -> None:
    out = run("demo").out
    assert "SIGKILL" in out
    assert f"exit status {-signal.SIGKILL}" in out
    assert "frames survived" in out
    assert "assistant <- main" in out
    assert "statistics: 4 messages, 2 usage rows" in out
    assert "bytes on disk" in out


def test_the_result_is_kept_where_it_is_wanted(run, url: str, tmp_path: Path) -> None:
    found = run("demo", "--to", url, "--json").data
    assert found["survivingFrames"] >= found["acknowledgedFrames"] == 17
    assert found["framesLeft"] == 0
    assert found["bytes"] == sum(file.stat().st_size for file in tmp_path.iterdir())
    with open_repository(url) as repo, repo.open(found["sessionId"]) as session:
        main = session.branch("main")
        assert main is not None
        last = main.find_entry()
        assert last is not None
        assert last.message["stopReason"] == "aborted"
        assert last.message["content"][0]["text"] == found["partialAnswer"]
        assert demo_agent.interrupted(session) is None
    assert run("verify", url).code == 0


def test_nothing_is_left_without_a_place_to_keep_it(run, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(demo_command.tempfile, "tempdir", str(tmp_path))
    run("demo")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_cannot_start_is_told(run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    assert (
        "the server of the demo ended" in run("demo", "--to", f"sqlite:///{tmp_path}/file/x.db", code=1).err
    )
