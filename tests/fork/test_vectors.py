"""Forks of real files: what another tool forked of a session, and sessions of format 3."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sessionstore import (
    ForkBranch,
    ForkError,
    ForkTree,
    SessionMetadata,
    SessionNotFoundError,
    SessionRepo,
    open_repository,
)
from sessionstore.fork import Fork
from sessionstore.jsonl import open_source
from sessionstore.records import Record

VECTORS = Path(__file__).parents[1] / "vectors"


@pytest.fixture
def repo(store_url: str) -> Iterator[SessionRepo]:
    with open_repository(store_url) as repo:
        yield repo


def records_in(path: Path) -> list[Record]:
    with open_source(path) as opened:
        return sorted(opened.image.records, key=lambda record: record.seq)


def metadata_of(path: Path) -> SessionMetadata:
    """The metadata of a file that belongs to no repository of the test."""
    with open_source(path) as opened:
        header = opened.image.header
    return SessionMetadata(
        id=header.id,
        created_at=header.created_at,
        container=str(path.parent),
        cwd=header.cwd,
        path=str(path),
    )


FORKED_ELSEWHERE = [
    ("fork-branch", ForkBranch("main")),
    ("fork-tree", ForkTree(include_application_state=True)),
]


@pytest.mark.parametrize("foreign", [True, False], ids=["foreign file", "own session"])
@pytest.mark.parametrize(("name", "fork"), FORKED_ELSEWHERE, ids=["branch", "tree"])
def test_a_fork_is_what_the_other_tool_made_of_the_same_session(
    repo: SessionRepo, name: str, fork: Fork, foreign: bool
) -> None:
    everything = VECTORS / "v4" / "everything.jsonl"
    theirs = VECTORS / "v4" / f"{name}.jsonl"
    if foreign:
        source = metadata_of(everything)
    else:
        with open_source(everything) as opened:
            source = repo.load(opened.image)
    with repo.fork(source, fork) as copy, open_source(theirs) as opened:
        with repo.snapshot(copy.metadata) as made:
            assert sorted(made.records, key=lambda record: record.seq) == records_in(theirs)
            assert made.header.next_seq == opened.image.header.next_seq
            assert made.header.parent_session_id == opened.image.header.parent_session_id
            assert made.header.cwd == opened.image.header.cwd
        stats = json.loads(theirs.with_suffix(".expect.json").read_text(encoding="utf-8"))["stats"]
        assert copy.get_stats().message_count == stats["messageCount"]
        assert copy.get_stats().usage.total_tokens == stats["usage"]["totalTokens"] == 0


# -- format 3 --------------------------------------------------------------------------------

FORMAT_3 = VECTORS / "v3" / "every-record-type.jsonl"


def old_records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FORMAT_3.read_text(encoding="utf-8").split("\n")[1:] if line]


def old_path() -> list[str]:
    """The old ids from the root to the last record, settings included."""
    by_id = {record["id"]: record for record in old_records()}
    record = old_records()[-1]
    path = [record["id"]]
    while record["parentId"] is not None:
        record = by_id[record["parentId"]]
        path.append(record["id"])
    return path[::-1]


SETTINGS = ("model_change", "thinking_level_change", "active_tools_change", "session_info", "label")


def kept(path: list[str]) -> list[str]:
    settings = {record["id"] for record in old_records() if record["type"] in SETTINGS}
    return [id for id in path if id not in settings]


def test_a_closed_file_of_format_3_is_forked_and_stays_as_it_is(repo: SessionRepo) -> None:
    before = FORMAT_3.read_bytes()
    with repo.fork(metadata_of(FORMAT_3), ForkBranch("main")) as copy:
        main = copy.branch("main")
        assert main is not None
        assert len(main.find_entries()) == len(kept(old_path())) > 0
        assert copy.scan_usage() == []
        assert copy.get_stats().usage.total_tokens == 0
        assert copy.get_stats().message_count == sum(entry.type == "message" for entry in copy.find_entries())
    assert FORMAT_3.read_bytes() == before


@pytest.mark.parametrize("position", ["at", "before"])
def test_entries_of_format_3_are_named_by_their_old_ids(repo: SessionRepo, position: Any) -> None:
    path = kept(old_path())
    for number, id in enumerate(path):
        length = number + (position == "at")
        with repo.fork(metadata_of(FORMAT_3), ForkBranch("main", entry_id=id, position=position)) as copy:
            main = copy.branch("main")
            assert main is not None
            found = main.find_entries()
            assert len(found) == length
            assert main.tip_id() == (found[0].id if found else None)


def test_what_is_no_entry_of_format_3_cannot_be_forked_at(repo: SessionRepo) -> None:
    on_path = set(old_path())
    others = [record["id"] for record in old_records() if record["id"] not in on_path]
    for id in (*others, "never"):
        with pytest.raises(ForkError, match=id):
            repo.fork(metadata_of(FORMAT_3), ForkBranch("main", entry_id=id))
    assert repo.list() == []


# -- exactly that path -----------------------------------------------------------------------


def test_a_foreign_file_is_known_by_its_path_and_its_id(repo: SessionRepo, tmp_path: Path) -> None:
    here, there = tmp_path / "a" / "one.jsonl", tmp_path / "b" / "one.jsonl"
    for path in (here, there):
        path.parent.mkdir()
    original = (VECTORS / "v4" / "everything.jsonl").read_text(encoding="utf-8")
    here.write_text(original, encoding="utf-8")
    there.write_text(original.replace('"hello"', '"other"'), encoding="utf-8")
    link = tmp_path / "link.jsonl"
    link.symlink_to(there)
    for path, expected in ((here, "hello"), (there, "other"), (link, "other")):
        with repo.fork(metadata_of(path), ForkBranch("main")) as copy:
            first = copy.get_entry("e1")
            assert first is not None
            assert expected in str(first)
    missing = metadata_of(here)
    here.unlink()
    with pytest.raises(SessionNotFoundError):
        repo.fork(missing, ForkBranch("main"))
    assert not here.exists()
