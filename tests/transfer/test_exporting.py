"""A session of any store becomes a format-4 file that says the same."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sessionstore import (
    MemorySessionRepo,
    Session,
    SessionExistsError,
    StorageError,
    ephemeral_scope,
    open_repository,
    value,
    value_list,
)
from sessionstore.image import WHOLE_SESSION, SessionSnapshot
from sessionstore.records import Record
from sessionstore.transfer import (
    Source,
    Status,
    compare_stores,
    export_session,
    find_sources,
    import_sources,
    verify_store,
)

VECTORS = Path(__file__).parents[1] / "vectors"
SCOPE = ephemeral_scope("op/1 %")


def fill(session: Session) -> None:
    main = session.create_branch("main")
    for index in range(3):
        session.append_list(value_list("app.frames", "r", scope=SCOPE), f"frame {index}", tag="t")
        main.append_message({"role": "user", "content": f"half \ud83d, \u2028, {index}"})
    session.set_value(value("app.state", scope=SCOPE), 1e-05)
    session.set_value(value("app.state"), [2**70, -0.0, "\0"])
    session.append_list(value_list("app.dead", scope=ephemeral_scope("dead")), 1)
    session.retire_scope(ephemeral_scope("dead"))
    session.set_label(main.tip_id() or "", "last")


def taken_in(file: Path) -> MemorySessionRepo:
    repo = MemorySessionRepo()
    [outcome] = import_sources([Source(file)], repo)
    assert outcome.status is Status.IMPORTED, outcome.problem
    return repo


def test_what_was_exported_is_the_session(store_url: str, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    with open_repository(store_url) as repo:
        with repo.create(id="s", cwd="/w", parent_session_id="p") as session:
            fill(session)
            next_seq = session.storage.next_seq()
            with repo.snapshot("s") as snapshot:  # of an open session
                exported = export_session(snapshot, file)
        [verdict] = compare_stores(repo, taken_in(file))
        assert verdict.problems == []
    assert (exported.path, exported.scopes) == (file, Path(f"{file}.scopes"))
    assert [path.name for path in exported.scopes.iterdir()] == ["scope-op%2F1%20%25.scope"]
    lines = file.read_bytes().split(b"\n")
    assert json.loads(lines[0])["nextSeq"] == next_seq
    seqs = [json.loads(line)["seq"] for line in lines[1:-1]]
    assert seqs == sorted(set(seqs))
    assert b"retire" not in b"".join(lines)  # what is retired is not in the file, nor is its end
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["out.jsonl"]


def test_there_is_no_folder_without_live_scopes(tmp_path: Path) -> None:
    repo = MemorySessionRepo()
    repo.create(id="s").close()
    with repo.snapshot("s") as snapshot:
        assert export_session(snapshot, tmp_path / "out").scopes is None
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("folder", ["v4", "scoped", "v3"])
def test_real_sessions_survive_a_round_trip(folder: str, tmp_path: Path) -> None:
    first = MemorySessionRepo()
    list(import_sources(find_sources([VECTORS / folder]), first))
    second = MemorySessionRepo()
    for number, metadata in enumerate(first.list()):
        file = tmp_path / f"{number}.jsonl"
        with first.snapshot(metadata) as snapshot:
            export_session(snapshot, file)
        list(import_sources([Source(file)], second))
    assert first.list()
    assert [verdict.problems for verdict in compare_stores(first, second)] == [[]] * len(first.list())
    assert not any(verdict.problems for verdict in verify_store(second))


def test_payloads_are_not_respelled(store_url: str, tmp_path: Path) -> None:
    spelled = '[1e-05, 0.00001, 1E5, -0.0,-0, 12345678901234567000, "\\u00e9", "\\ud83d"]'
    lines = [
        '{"v":4,"kind":"header","id":"s","storageVersion":1,"createdAt":1,"cwd":""}',
        '{"kind":"value","op":"set","seq":1,"namespace":"app","key":"","value":%s}',
        '{"kind":"list","op":"append","seq":2,"namespace":"app","key":"","value":%s}',
        '{"kind":"entry","id":"e","parentId":null,"type":"custom","customType":"x","data":%s,"seq":3,"timestamp":9}',
    ]
    source, target = tmp_path / "source.jsonl", tmp_path / "target.jsonl"
    source.write_text("".join(f"{line.replace('%s', spelled)}\n" for line in lines), encoding="utf-8")
    with open_repository(store_url) as repo:
        list(import_sources([Source(source)], repo))
        with repo.snapshot("s") as snapshot:
            export_session(snapshot, target)
    assert target.read_text(encoding="utf-8").count(spelled) == 3


@pytest.mark.parametrize("taken", ["out.jsonl", "out.jsonl.scopes"])
def test_nothing_is_written_over(taken: str, tmp_path: Path) -> None:
    (tmp_path / taken).write_text("mine", encoding="utf-8")
    repo = MemorySessionRepo()
    with repo.create(id="s") as session, repo.snapshot("s") as snapshot:
        fill(session)
        with pytest.raises(SessionExistsError, match="exists already"):
            export_session(snapshot, tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == [taken]
    assert (tmp_path / taken).read_text(encoding="utf-8") == "mine"


def test_an_export_that_fails_leaves_nothing(tmp_path: Path) -> None:
    class Breaking(MemorySessionRepo):
        @contextmanager
        def _snapshot(self, session: Any) -> Generator[SessionSnapshot, None, None]:
            with super()._snapshot(session) as snapshot:
                snapshot.records = broken(snapshot)  # type: ignore[misc]  # as a disk would
                yield snapshot

    def broken(snapshot: SessionSnapshot) -> Generator[Record, None, None]:
        for number, record in enumerate(snapshot.read(WHOLE_SESSION)):
            if number == 8:
                raise StorageError("cannot read")
            yield record

    repo = Breaking()
    with repo.create(id="s") as session:
        fill(session)
    with repo.snapshot("s") as snapshot, pytest.raises(StorageError, match="cannot read"):
        export_session(snapshot, tmp_path / "out.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    repo = MemorySessionRepo()
    repo.create(id="s").close()
    with repo.snapshot("s") as snapshot, pytest.raises(StorageError, match="No such file"):
        export_session(snapshot, tmp_path / "missing" / "out.jsonl")
