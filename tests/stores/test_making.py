"""Makers of the same files take turns, and none removes what another has made."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sessionstore import (
    SessionExistsError,
    StorageBusyError,
    StorageError,
    ephemeral_scope,
    folders,
    open_repository,
    value,
)
from sessionstore.jsonl import making
from sessionstore.transfer import copy_session, verify_store

fcntl = pytest.importorskip("fcntl", reason="folders cannot be locked here")

SCOPED = value("app", "n", scope=ephemeral_scope("op"))


def test_the_second_to_copy_a_session_leaves_the_scopes_of_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_sidecars = making._make_sidecars
    first, second = open_repository(f"jsonl:{tmp_path}"), open_repository(f"jsonl:{tmp_path}")
    with open_repository("memory://") as source, first, second:
        with source.create(id="s") as session:
            session.set_value(SCOPED, 1)

        def overtaken(*args: Any, **options: Any) -> None:
            monkeypatch.setattr(making, "_make_sidecars", make_sidecars)
            copy_session(source, first, "s")
            make_sidecars(*args, **options)

        monkeypatch.setattr(making, "_make_sidecars", overtaken)
        with pytest.raises(SessionExistsError):
            copy_session(source, second, "s")
        with first.open("s") as loaded:
            assert getattr(loaded.get_value(SCOPED), "value", None) == 1
        assert first.check_session("s") == []
    assert [path for path in tmp_path.rglob("*") if ".tmp" in path.name] == []


@pytest.mark.parametrize("url", ["jsonl:{}/s", "sqlite+dir:{}/s", "sqlite:///{}/s/sessions.db"])
def test_a_locked_folder_is_busy_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setattr(folders, "PATIENCE", 0.05)
    with open_repository(url.format(tmp_path)) as repo:
        folder = tmp_path / "s"
        if not url.startswith("sqlite:"):
            repo.create(id="first").close()
            (folder,) = {path.parent for path in folder.rglob("*") if path.suffix in (".jsonl", ".sqlite")}
        folder.mkdir(exist_ok=True)
        before = sorted(tmp_path.rglob("*"))
        with locked(folder):
            with pytest.raises(StorageBusyError, match="locked"):
                repo.create(id="second")
            if repo.list():
                with pytest.raises(StorageBusyError, match="locked"):
                    repo.delete("first")
            assert sorted(tmp_path.rglob("*")) == before
        repo.create(id="second").close()
        assert repo.list(limit=1)[0].id == "second"
        for found in repo.list():
            repo.delete(found)
        assert repo.list() == []


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    held = os.open(folder, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(held)


@pytest.mark.parametrize("url", ["jsonl:{}", "sqlite+dir:{}", "sqlite:///{}/sessions.db"])
def test_a_file_is_not_moved_over_what_nobody_is_kept_from_making(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    """Neither links nor locks: a rename could replace a file that others have written to by now."""

    def unsupported(*_: object) -> None:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))

    monkeypatch.setattr(os, "link", unsupported)
    monkeypatch.setattr(fcntl, "flock", unsupported)
    with open_repository(url.format(tmp_path)) as repo, pytest.raises(StorageError):
        repo.create(id="s")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


FOLDER_STORES = ["jsonl:{}/s", "sqlite+dir:{}/s", "sqlite:///{}/s/sessions.db"]


def folders_cannot_be_synced(monkeypatch: pytest.MonkeyPatch, reason: int) -> None:
    fsync = os.fsync

    def failing(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(reason, os.strerror(reason))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", failing)


@pytest.mark.parametrize("url", FOLDER_STORES)
@pytest.mark.parametrize("reason", [errno.EINVAL, errno.ENOTSUP])
def test_a_file_system_whose_folders_cannot_be_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, reason: int
) -> None:
    folders_cannot_be_synced(monkeypatch, reason)
    options = {"fsync": True} if url.startswith("jsonl:") else {}
    with open_repository(url.format(tmp_path), **options) as repo:
        with repo.create(id="a") as session:
            session.set_value(SCOPED, 1)
        assert [found.id for found in repo.list()] == ["a"]
        repo.delete("a")
        assert repo.list() == []


@pytest.mark.parametrize("url", FOLDER_STORES[1:])
def test_a_database_that_may_not_last_is_said_to_be_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    with open_repository(url.format(tmp_path)) as repo:
        with monkeypatch.context() as broken:
            folders_cannot_be_synced(broken, errno.EIO)
            with pytest.raises(StorageError, match="was created, but may not outlive a loss of power"):
                repo.create(id="a")
        assert [found.id for found in repo.list()] == ["a"]
        assert [path for path in tmp_path.rglob("*") if path.suffix == ".new"] == []


def test_a_file_whose_name_may_not_last_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_repository(f"jsonl:{tmp_path}", fsync=True) as repo:
        repo.create(id="a").close()
        with monkeypatch.context() as broken:
            folders_cannot_be_synced(broken, errno.EIO)
            with pytest.raises(StorageError, match="cannot write"):
                repo.create(id="b")
        assert [found.id for found in repo.list()] == ["a"]
        repo.create(id="b").close()


KILLED_MAKER = """
import os, signal, sys
from sessionstore import ephemeral_scope, open_repository, value
from sessionstore.jsonl import making
from sessionstore.sql import sqlite_building
from sessionstore.transfer import copy_session

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

making._move = sqlite_building._publish = die
with open_repository("memory://") as source, open_repository(sys.argv[1]) as repo:
    with source.create(id="s") as session:
        session.set_value(value("app", "n", scope=ephemeral_scope("op")), 1)
    copy_session(source, repo, "s")
"""


@pytest.mark.parametrize("url", FOLDER_STORES)
def test_what_a_killed_maker_left_goes_once_it_is_old(tmp_path: Path, url: str) -> None:
    place = url.format(tmp_path)
    killed = subprocess.run([sys.executable, "-c", KILLED_MAKER, place], check=False)
    assert killed.returncode == -signal.SIGKILL
    left = [path for path in tmp_path.rglob("*") if path.name.endswith((".new", ".tmp", ".tmp.scopes"))]
    assert left
    mine = [path.with_name(name) for path in left[:1] for name in ("notes.tmp", ".new", "s.jsonl.tmp")]
    for path in mine:
        path.write_text("of somebody else")
    with open_repository(place) as repo:
        repo.create(id="other").close()
        assert [found.id for found in repo.list()] == ["other"]
        assert repo.repair_container() == []  # whoever makes it may still be alive
        old = time.time() - 2 * 86_400
        for path in [*mine, *left, *(file for found in left if found.is_dir() for file in found.iterdir())]:
            os.utime(path, (old, old))
        assert all(not verdict.problems and not verdict.repairs for verdict in verify_store(repo))
        store, *sessions = verify_store(repo, repair=True)
        assert len(store.repairs) == len([path for path in left if path.parent not in left])
        assert [verdict.session_id for verdict in sessions] == ["other"]
        assert repo.repair_container() == []
    assert not any(path.exists() for path in left)
    assert all(path.read_text() == "of somebody else" for path in mine)
