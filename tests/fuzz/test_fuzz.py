"""A few seconds of hostile files, the same ones in each run; ``python -m tests.fuzz`` takes longer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.campaign import campaign, run_one
from tests.fuzz.targets import TARGETS, Target

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the memory of a process is read from /proc"
)


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_our_errors_comes_of_hostile_files(tmp_path: Path, name: str) -> None:
    outcome = campaign(6, 0, tmp_path / "kept", [name], most=1)
    assert [failure.trace for failure in outcome.failures] == []
    assert outcome.inputs[name] > 10


class Broken(Target):
    """Does what no reader may do."""

    def __init__(self, how: str) -> None:
        self._how = how

    def prepare(self, folder: Path) -> int:
        folder.mkdir(parents=True)
        (folder / "input").write_bytes(b"x")
        return 1

    def run(self, folder: Path) -> None:
        match self._how:
            case "error":
                raise KeyError("x")
            case "memory":
                assert len(b"x" * (64 << 20)) == 64 << 20


@pytest.mark.parametrize(("how", "found"), [("error", "KeyError"), ("memory", "TooLargeError"), ("", "")])
def test_what_may_not_happen_is_found(tmp_path: Path, how: str, found: str) -> None:
    trace = run_one(Broken(how), tmp_path / "input", is_measured=True)
    assert found in trace
    assert bool(trace) == bool(found)
