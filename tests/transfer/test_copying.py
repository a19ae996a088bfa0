"""Whole sessions from one store to another, and the proof that they arrived whole."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sessionstore import (
    CorruptStorageError,
    MemorySessionRepo,
    Session,
    ephemeral_scope,
    open_repository,
    value,
    value_list,
)
from sessionstore.image import SessionImage
from sessionstore.metadata import SessionMetadata
from sessionstore.transfer import (
    compare_stores,
    copy_session,
    copy_sessions,
    find_sources,
    import_sources,
)

VECTORS = Path(__file__).parents[1] / "vectors"
FRAMES = value_list("app.frames", "r", scope=ephemeral_scope("op/1 %"))


def fill(session: Session) -> None:
    main = session.create_branch("main")
    for index in range(5):
        main.append_message({"role": "user", "content": f"half \ud83d, {index}"})
        session.append_list(FRAMES, index, tag=None if index else "full")
        session.append_list(value_list("app.log"), [index, 2**70, -0.0])
    session.set_value(value("app.state", scope=ephemeral_scope("ended")), 1)
    session.retire_scope(ephemeral_scope("ended"))
    session.set_value(value("app.gone"), 1)
    session.delete_value(value("app.gone"))


def test_a_copy_is_equal_and_goes_on_with_the_next_number(
    new_store_url: Callable[[], str], tmp_path: Path
) -> None:
    """From a store of each kind to JSONL files, and from those to another store of the kind."""
    with (
        open_repository(new_store_url()) as source,
        open_repository(f"jsonl:{tmp_path}/between") as between,
        open_repository(new_store_url()) as target,
    ):
        with source.create(id="s", cwd="/w", parent_session_id="p") as session:
            fill(session)
        source.create(id="empty").close()
        for first, second in ((source, between), (between, target)):
            outcomes = list(copy_sessions(first, second, first.list()))
            assert [outcome.problem for outcome in outcomes] == [None, None]
        assert [verdict.problems for verdict in compare_stores(source, target)] == [[], []]
        with source.open("s") as one, target.open("s") as other:
            assert one.read_list(FRAMES) == other.read_list(FRAMES)
            assert one.append_list(FRAMES, "next").first_seq == other.append_list(FRAMES, "next").first_seq
        assert [verdict.problems for verdict in compare_stores(source, target)] == [[], []]


@pytest.fixture
def old_files(tmp_path: Path) -> str:
    """A folder of format-3 files that nothing has upgraded."""
    folder = tmp_path / "old" / "--w--"
    folder.mkdir(parents=True)
    for file in (VECTORS / "v3").glob("*.jsonl"):
        if not file.name.startswith("bad-"):
            shutil.copy(file, folder)
    return f"jsonl:{tmp_path}/old"


def test_files_of_format_3_are_copied_as_their_upgrade_would_be(store_url: str, old_files: str) -> None:
    """Each reading mints other ids; what is equal is told by number."""
    with open_repository(old_files) as source, open_repository(store_url) as target:
        outcomes = list(copy_sessions(source, target, source.list()))
        assert len(outcomes) == 10
        assert [outcome.problem for outcome in outcomes] == [None] * 10
        for one, other in ((source, target), (target, source)):
            assert [verdict.problems for verdict in compare_stores(one, other)] == [[]] * 10
        with target.open("folding-session") as session:
            session.set_label(session.find_entries(limit=1)[0].id, "other")
        found = {verdict.session_id: verdict.problems for verdict in compare_stores(source, target)}
        assert found.pop("folding-session")
        assert not any(found.values())


def test_importing_files_and_copying_their_folder_are_the_same(old_files: str) -> None:
    imported, copied = MemorySessionRepo(), MemorySessionRepo()
    list(import_sources(find_sources([Path(old_files.removeprefix("jsonl:"))]), imported))
    with open_repository(old_files) as source:
        list(copy_sessions(source, copied, source.list()))
        for repo in (imported, copied):
            assert [verdict.problems for verdict in compare_stores(source, repo)] == [[]] * 10


def test_copy_refuses_ids_that_are_taken_and_goes_on() -> None:
    source, target = MemorySessionRepo(), MemorySessionRepo()
    for id in ("a", "b"):
        with source.create(id=id, cwd="/w") as session:
            session.set_value(value("app.of"), id)
    target.create(id="a").close()
    outcomes = {outcome.session_id: outcome for outcome in copy_sessions(source, target, source.list())}
    assert "session 'a' exists" in str(outcomes["a"].problem)
    assert (outcomes["b"].problem, outcomes["b"].records) == (None, 1)
    assert {session.id for session in target.list()} == {"a", "b"}
    with target.open("a") as session:
        assert session.get_value(value("app.of")) is None


def test_copy_of_an_open_session_takes_what_is_committed() -> None:
    source, target = MemorySessionRepo(), MemorySessionRepo()
    with source.create(id="a", cwd="/w") as session:
        session.set_value(value("app.of"), 1)
        metadata = copy_session(source, target, "a")
        session.set_value(value("app.of"), 2)
    assert (metadata.id, metadata.cwd, metadata.container) == ("a", "/w", target.container)
    with target.open("a") as session:
        stored = session.get_value(value("app.of"))
        assert stored is not None
        assert (stored.seq, stored.value) == (1, 1)
        assert session.set_value(value("app.of"), 3).first_seq == 2


def test_a_source_that_breaks_off_leaves_nothing_in_the_target() -> None:
    source = MemorySessionRepo()
    source.create(id="a").close()

    class Unreadable(MemorySessionRepo):
        def _load(self, metadata: SessionMetadata, image: SessionImage) -> SessionMetadata:
            raise CorruptStorageError("no JSON", path="/x", line=3)

    target = Unreadable()
    [outcome] = copy_sessions(source, target, ["a"])
    assert outcome.problem == "/x: line 3: no JSON"
    assert target.list() == []
