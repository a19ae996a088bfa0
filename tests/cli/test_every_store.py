"""Every command on every kind of store that outlives a process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

VECTORS = Path(__file__).parents[1] / "vectors"


@pytest.mark.needs("persistent")
def test_a_session_comes_in_moves_and_goes(run, new_store_url: Callable[[], str], tmp_path: Path) -> None:
    url, other = new_store_url(), new_store_url()
    live = VECTORS / "scoped" / "live.jsonl"
    assert "2 sessions" in run("import", VECTORS / "v4" / "everything.jsonl", live, "--to", url).out
    assert {item["id"] for item in run("list", url, "--json").data} == {"everything", "scoped"}
    assert "assistant [first answer]" in run("show", url, "everything").out
    assert "scope op-1: app.frames/r: 2 elements, #2 to #4, 1 tagged" in run("show", url, "scoped").out
    assert run("verify", url).out.endswith("2 sessions\n")

    run("copy", url, other)
    run("verify", url, other)
    run("export", other, "scoped", "--to", tmp_path / "out.jsonl")
    run("delete", other, "scoped")
    assert run("verify", url, other, code=1).out.startswith("everything: ok\nscoped: is only in the first")
    run("import", tmp_path / "out.jsonl", "--to", other)
    run("verify", url, other)

    assert run("fork", url, "everything", "--id", "forked").out == "forked: forked from everything\n"
    assert run("show", url, "forked", "--json").data["metadata"]["parentSessionId"] == "everything"
    assert run("verify", url, "--repair").out.endswith("3 sessions\n")


@pytest.mark.needs("multi_process")
def test_the_demo_runs(run, store_url: str) -> None:
    found = run("demo", "--to", store_url, "--json").data
    assert found["survivingFrames"] >= found["acknowledgedFrames"] == 17
    assert found["framesLeft"] == 0
    run("verify", store_url)
