"""Files that a store finds, and paths that it is given."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sessionstore import (
    ForkTree,
    SessionExistsError,
    SessionNotFoundError,
    SessionRepo,
    append_list,
    ephemeral_scope,
    open_repository,
    set_value,
    value,
    value_list,
)

N, LOG = value("app", "n"), value_list("app", "log")


def clock() -> int:
    return 1_700_000_000_000


def path_of(repo: SessionRepo, id: str) -> Path:
    path = repo.get(id).path
    assert path is not None
    return Path(path)


# Listing among what cannot be listed -------------------------------------------------------------


@contextmanager
def vanishing(path: Path) -> Iterator[None]:
    """Remove a file right after its folder was looked into."""
    scandir = os.scandir

    class Entries(list[Any]):
        def __enter__(self) -> Entries:
            return self

        def __exit__(self, *_: object) -> None:
            pass

    def look(*args: Any) -> Any:
        with scandir(*args) as found:
            entries = Entries(found)
        if any(entry.path == str(path) for entry in entries):
            path.unlink()
        return entries

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(os, "scandir", look)
        yield


def unreadable(path: Path) -> None:
    path.mkdir()  # cannot be read, whoever runs this


def looped(path: Path) -> None:
    path.symlink_to(path)


def dangling(path: Path) -> None:
    path.symlink_to(path.with_name("nowhere"))


def garbage(path: Path) -> None:
    path.write_bytes(b"\xff\0garbage\n" * 500)


def empty(path: Path) -> None:
    path.touch()


def pipe(path: Path) -> None:
    os.mkfifo(path)  # nobody writes into it: who waits for that, waits for ever


@pytest.mark.needs("session_file")
@pytest.mark.timeout(20)
def test_the_good_sessions_are_listed_among_what_is_none(
    store_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    others = [unreadable, looped, dangling, garbage, empty, pipe]
    with open_repository(store_url, clock=clock) as repo:
        for n in range(len(others) + 4):
            with repo.create(id=f"s{n}", cwd="/srv") as session:
                session.set_value(N, n)
        for n, make in enumerate(others, 3):
            path = path_of(repo, f"s{n}")
            path.unlink()
            make(path)
        gone = path_of(repo, "s2")
        with vanishing(gone), caplog.at_level(logging.WARNING, "sessionstore"):
            listed = repo.list()
        assert not gone.exists()
        good = ["s0", "s1", f"s{len(others) + 3}"]
        assert [metadata.id for metadata in listed] == good
        assert "s3" in caplog.text  # the unreadable one
        assert "s2" not in caplog.text
        for id in good:
            with repo.open(id) as session:
                assert getattr(session.get_value(N), "value", None) == int(id[1:])
        with pytest.raises(SessionNotFoundError):
            repo.open("s2")


# A file system that folds case -------------------------------------------------------------------


@pytest.mark.needs("session_file")
def test_where_two_ids_have_one_file_the_second_is_refused(store_url: str) -> None:
    """As on a file system that folds case: the path of `readme` leads to the file of `README`."""
    with open_repository(store_url, clock=clock) as repo:
        with repo.create(id="README", cwd="/srv") as session:
            session.set_value(N, "capital")
        with repo.create(id="readme", cwd="/srv") as other:
            folded = other.metadata
        assert folded.path is not None
        repo.delete(folded)
        Path(folded.path).symlink_to(path_of(repo, "README"))
        for refuse in (
            lambda: repo.create(id="readme", cwd="/srv"),
            lambda: repo.fork("README", ForkTree(), id="readme"),
        ):
            with pytest.raises(SessionExistsError):
                refuse()
        for call in (repo.get, repo.open, repo.delete):
            with pytest.raises(SessionNotFoundError):
                call("readme")
        assert [metadata.id for metadata in repo.list()] == ["README"]
        with repo.open("README") as session:
            assert getattr(session.get_value(N), "value", None) == "capital"


# Paths -------------------------------------------------------------------------------------------

NAMES = ["a b", "a%20b", "a?b=c", "a#b", "é日本👍", " a b%20c?d#e&f=é%", "a%2Fb%00", "a;b=1"]


def files_url(store_url: str, folder: Path) -> str | Path:
    """The same kind of store in another folder; a database in a file by its path, not by a URL."""
    scheme = store_url.partition(":")[0]
    return folder / "sessions é.db" if scheme == "sqlite" else f"{scheme}:{folder}/sessions é"


@pytest.mark.needs("files")
@pytest.mark.parametrize("name", NAMES)
def test_a_container_on_an_odd_path(store_url: str, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "odd" / name
    url = files_url(store_url, folder)
    scope = ephemeral_scope("op")
    with open_repository(url) as repo:
        assert repo.list() == []
        with repo.create(id="s", cwd="/srv") as session:
            session.commit([set_value(N, 1), append_list(LOG, 1)])
            session.set_value(value("app", "n", scope=scope), 2)
            metadata = session.metadata
        repo.fork("s", ForkTree(include_application_state=True), id="t").close()
        assert repo.container.startswith(str(folder))
    with open_repository(url) as repo, repo.open(metadata) as session:
        assert sorted(metadata.id for metadata in repo.list()) == ["s", "t"]
        assert getattr(session.get_value(N), "value", None) == 1
        assert getattr(session.get_value(value("app", "n", scope=scope)), "value", None) == 2
        with repo.snapshot("t") as image:
            assert len(list(image.records)) == 2
        session.set_value(N, 3)
        repo.delete("t")
        assert repo.check_container() == []
    assert [path.name for path in folder.parent.iterdir()] == [name]
    assert [path.name for path in folder.iterdir()] == [Path(str(url)).name]


# Copies ------------------------------------------------------------------------------------------


@pytest.mark.needs("files", "sql")
def test_a_copied_database_is_complete_without_its_log(
    store_url: str, new_store_url: Callable[[], str], tmp_path: Path
) -> None:
    """After the close of who wrote last, whoever else read or wrote meanwhile."""
    with (
        open_repository(store_url) as reader,
        open_repository(store_url) as repo,
        repo.create(id="s") as session,
    ):
        for n in range(50):
            session.commit([set_value(N, n), append_list(LOG, n)])
        with reader.snapshot("s") as image, reader.open("s") as other:
            assert len(list(image.records)) == 51
            other.append_list(LOG, 50)
            session.append_list(LOG, 51)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.suffix for path in files] in ([".db"], [".sqlite"])
    copy_url = new_store_url()
    source, target = (Path("/" + url.partition("://")[2].lstrip("/")) for url in (store_url, copy_url))
    copied = target if target.suffix else target / files[0].name
    assert files[0].is_relative_to(source)
    copied.parent.mkdir(exist_ok=True)
    copied.write_bytes(files[0].read_bytes())
    with open_repository(copy_url) as repo, repo.open("s") as session:
        assert [element.value for element in session.read_list(LOG)] == list(range(52))
        assert getattr(session.get_value(N), "value", None) == 49
        assert repo.check_session("s") == []
        assert session.append_list(LOG, 52).first_seq == session.storage.next_seq() - 1
