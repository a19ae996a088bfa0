"""Walking folders, refusing without stopping, and what a lenient import tells."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from sessionstore import (
    MemorySessionRepo,
    SchemaVersionError,
    StorageBusyError,
)
from sessionstore.image import SessionImage
from sessionstore.metadata import SessionMetadata
from sessionstore.transfer import (
    ImportOutcome,
    Progress,
    Status,
    find_sources,
    import_sources,
)

VECTORS = Path(__file__).parents[1] / "vectors"
GOOD = VECTORS / "v4" / "everything.jsonl"
BAD = VECTORS / "v3" / "bad-middle.jsonl"
OLD = (
    '{"type":"session","id":"old","timestamp":"2025-01-01T00:00:00.000Z","cwd":"/w"}\n'
    '{"type":"message","timestamp":"2025-01-01T00:00:01.000Z","message":{"role":"user","content":"a"}}\n'
    "\n"
    '{"type":"message","timestamp":"2025-01-01T00:00:02.000Z","message":{"role":"user","content":"b"}}\n'
)


def imported(*paths: Path, lenient: bool = False) -> list[ImportOutcome]:
    return list(import_sources(find_sources(paths), MemorySessionRepo(), lenient=lenient))


def test_folders_are_walked_in_order_and_sidecars_left_to_their_files(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "b/1.jsonl", "a.jsonl", "a.jsonl.scopes/x.jsonl", "a.txt", "c/.hidden.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "folder.jsonl").mkdir()
    found = [source.path.relative_to(tmp_path).as_posix() for source in find_sources([tmp_path])]
    assert found == ["a.jsonl", "b/1.jsonl", "b/2.jsonl", "c/.hidden.jsonl"]


def test_named_files_need_no_suffix_and_keep_their_order(tmp_path: Path) -> None:
    second = tmp_path / "session"
    shutil.copy(GOOD, second)
    assert [source.path for source in find_sources([second, GOOD])] == [second, GOOD]


def test_bad_files_do_not_stop_the_good_ones(tmp_path: Path) -> None:
    missing = tmp_path / "missing.jsonl"
    empty = tmp_path / "empty.jsonl"
    empty.touch()
    bad, gone, nothing, good = imported(BAD, missing, empty, GOOD)
    assert (bad.status, bad.line) == (Status.REFUSED, 2)
    assert str(bad.problem).startswith("line 2: ")
    assert gone.status is Status.REFUSED
    assert nothing.status is Status.REFUSED
    assert (good.status, good.session_id, good.entries) == (Status.IMPORTED, "everything", 8)


def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    [outcome] = imported(pipe)
    assert outcome.problem == "is no regular file"
    assert imported(tmp_path) == []


def test_a_folder_that_cannot_be_looked_into_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(GOOD, tmp_path)
    closed = tmp_path / "closed"
    closed.mkdir()
    scandir = os.scandir

    def refusing(path: str) -> object:  # as for anyone but root
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr("sessionstore.transfer.importing.os.scandir", refusing)
    refused, good = sorted(imported(tmp_path), key=lambda outcome: outcome.path)
    assert (refused.path, refused.problem) == (closed, "Permission denied")
    assert good.status is Status.IMPORTED


def test_the_same_session_twice_in_one_run_is_told(tmp_path: Path) -> None:
    twin = tmp_path / "twin.jsonl"
    shutil.copy(GOOD, twin)
    first, second = imported(GOOD, twin)
    assert (first.status, second.status) == (Status.IMPORTED, Status.THERE)
    assert second.same_as == GOOD


def test_old_formats_and_damage_need_leave(tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    old.write_text(OLD, encoding="utf-8")
    [refused] = imported(old)
    assert refused.status is Status.REFUSED
    assert "--lenient" in str(refused.problem)
    [taken] = imported(old, lenient=True)
    assert (taken.status, taken.format, taken.entries) == (Status.IMPORTED, 1, 2)
    assert [(mercy.line, mercy.kind) for mercy in taken.mercies][-1][0] == 3
    assert old.read_text(encoding="utf-8") == OLD


def test_an_error_while_loading_refuses_the_file_and_not_the_rest() -> None:
    class Failing(MemorySessionRepo):
        def _load(self, metadata: SessionMetadata, image: SessionImage) -> SessionMetadata:
            if metadata.id == "everything":
                next(image.records)
                raise StorageBusyError("locked")
            return super()._load(metadata, image)

    other = VECTORS / "v4" / "fork-tree.jsonl"
    first, second = import_sources(find_sources([GOOD, other]), Failing())
    assert (first.status, first.problem, first.entries) == (Status.REFUSED, "locked", 0)
    assert second.status is Status.IMPORTED


def test_a_target_of_another_schema_ends_the_run() -> None:
    class Older(MemorySessionRepo):
        def _get(self, id: str) -> SessionMetadata:
            raise SchemaVersionError("run db upgrade")

    with pytest.raises(SchemaVersionError):
        list(import_sources(find_sources([GOOD]), Older()))


def test_progress_is_told_of_files_and_records() -> None:
    class Counting(Progress):
        def __init__(self) -> None:
            self.begun: list[str] = []
            self.records = 0

        def begin(self, name: str) -> None:
            self.begun.append(name)

        def advance(self) -> None:
            self.records += 1

    progress = Counting()
    [outcome] = import_sources(find_sources([GOOD]), MemorySessionRepo(), progress=progress)
    assert progress.begun == ["everything.jsonl"]
    assert progress.records == outcome.records > outcome.entries
