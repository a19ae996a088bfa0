"""Children that are killed at each point of a commit: exactly the committed transactions come back."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonl.support import message, v3_file
from jsonl.victim import FRAMES, OP, POINTS, SCOPED, N

from sessionstore import Session, append_list, set_value
from sessionstore.jsonl import JsonlSessionRepo
from sessionstore.jsonl.paths import file_name, folder_name
from sessionstore.wire import entry_to_json


def kill_at(point: str, root: Path, id: str) -> None:
    """Run the victim up to a point and kill it there."""
    tests = Path(__file__).parents[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "jsonl.victim", f"jsonl:{root}", id, point],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tests,
        env={"PYTHONPATH": f"{tests.parent}:{tests}"},
    )
    assert process.stdout is not None
    with process:
        try:
            assert process.stdout.readline() == "ready\n"
            assert process.stdout.readline() == "at the point\n"
        finally:
            process.kill()


def everything(session: Session) -> dict[str, Any]:
    """All that can be seen of a session."""
    return {
        "entries": session.find_entries(order="asc"),
        "usage": session.scan_usage(),
        "n": _stored(session, N),
        "scoped": _stored(session, SCOPED),
        "frames": [(element.seq, element.value) for element in session.read_list(FRAMES)],
        "stats": session.get_stats(),
    }


def _stored(session: Session, place: Any) -> Any:
    found = session.get_value(place)
    return None if found is None else (found.seq, found.value)


def check_goes_on(repo: JsonlSessionRepo, id: str, used: int) -> None:
    """The session takes writes, whose numbers were never used, and keeps them."""
    with repo.open(id) as session:
        first = session.storage.next_seq()
        assert first > used
        assert session.commit([set_value(N, "after")]).seqs == (first,)
        assert (
            session.commit([set_value(SCOPED, "after"), append_list(FRAMES, "after")]).first_seq == first + 1
        )
        seen = everything(session)
    with repo.open(id) as session:
        assert everything(session) == seen
        assert seen["n"] == (first, "after")
        assert seen["scoped"] == (first + 1, "after")
        assert repo.check_session(session.metadata) == []


HAPPENED: dict[str, dict[str, Any]] = {
    "line written": {"n": (5, "late"), "messages": 1},
    "scoped line written": {"scoped": (4, "late"), "frames": 2},
    "sidecar renamed": {"scoped": (2, "late"), "frames": 1},
    "retirement durable, not unlinked": {"n": (5, "late"), "scoped": None, "frames": 0},
    "retired and unlinked": {"n": (5, "late"), "scoped": None, "frames": 0},
}
"""What is seen after the points at which the transaction is durable."""

SIDECAR_FIRST = [point for point in POINTS if point.startswith("sidecar")]
ON_FORMAT_4 = [point for point in POINTS if not point.startswith("v3")]


@pytest.mark.parametrize("point", ON_FORMAT_4)
def test_a_commit_killed_at_a_point_happened_wholly_or_not_at_all(tmp_path: Path, point: str) -> None:
    with JsonlSessionRepo(tmp_path) as repo:
        with repo.create(id="s", cwd="/srv") as session:
            session.commit([set_value(N, "early")])
            used = 1
            if point not in SIDECAR_FIRST:
                session.commit([set_value(SCOPED, "early"), append_list(FRAMES, "early")])
                used = 3
            before = everything(session)
            metadata = session.metadata
        kill_at(point, tmp_path, "s")
        assert [found.id for found in repo.list()] == ["s"]
        with repo.open("s") as session:
            after = everything(session)
            highest = session.storage.next_seq() - 1
        if point in HAPPENED:
            expected = HAPPENED[point]
            seen = {"n": after["n"], "scoped": after["scoped"], "frames": len(after["frames"])}
            seen["messages"] = after["stats"].message_count
            assert {name: seen[name] for name in expected} == expected
        else:
            assert after == before
            assert highest == used
        left = [path.name for path in Path(str(metadata.path)).parent.rglob("*") if path.suffix == ".tmp"]
        assert left == []
        check_goes_on(repo, "s", highest)


def upgraded_state(repo: JsonlSessionRepo, path: Path) -> Callable[[], dict[str, Any]]:
    def read() -> dict[str, Any]:
        with repo.open("old") as session:
            seen = everything(session)
            return {
                "texts": [entry_to_json(entry)["message"]["content"] for entry in seen["entries"]],
                "rows": len(seen["usage"]),
                "n": seen["n"],
                "scoped": seen["scoped"],
                "next": session.storage.next_seq(),
                "format": 3 if path.read_bytes().startswith(b'{"type"') else 4,
            }

    return read


OLD = {"texts": ["a", "b"], "rows": 0, "n": None, "scoped": None, "next": 5, "format": 3}
UPGRADES = {
    "v3 temp partly written": OLD,
    "v3 temp written, not renamed": OLD,
    "v3 temp written, scoped": OLD,
    "v3 renamed": {
        **OLD,
        "texts": ["a", "b", "late " * 50],
        "rows": 1,
        "n": (6, "late"),
        "next": 7,
        "format": 4,
    },
    "v3 upgraded, scoped line not written": {**OLD, "rows": 1, "format": 4},
}


@pytest.mark.parametrize("point", UPGRADES)
def test_an_upgrade_killed_at_a_point_leaves_the_old_file_or_the_new(tmp_path: Path, point: str) -> None:
    folder = tmp_path / folder_name("/srv")
    folder.mkdir()
    path = v3_file(folder / file_name(1760000000000, "old"), message("a", None), message("b", "a"))
    before = path.read_bytes()
    with JsonlSessionRepo(tmp_path) as repo:
        kill_at(point, tmp_path, "old")
        assert [found.id for found in repo.list()] == ["old"]
        expected = UPGRADES[point]
        assert upgraded_state(repo, path)() == expected
        if expected["format"] == 3:
            assert path.read_bytes() == before
        check_goes_on(repo, "old", int(str(expected["next"])) - 1)


def test_every_point_is_tried() -> None:
    assert {*ON_FORMAT_4, *UPGRADES} == set(POINTS)
    assert OP.id == "op"
