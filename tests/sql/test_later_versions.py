"""A session of a later storage version is left alone by every way to it, in both SQLite layouts."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sessionstore import ForkTree, UnsupportedStorageVersionError, open_repository


@pytest.mark.parametrize("by_id", [True, False], ids=["id", "metadata"])
@pytest.mark.parametrize(
    ("url", "file"),
    [("sqlite:///{}/sessions.db", "sessions.db"), ("sqlite+dir:{}", "s.sqlite")],
    ids=["container", "directory"],
)
def test_a_session_of_a_later_version_is_refused_and_kept(
    tmp_path: Path, url: str, file: str, by_id: bool
) -> None:
    with open_repository(url.format(tmp_path)) as repo:
        with repo.create(id="s") as session:
            session.create_branch("main").append_message({"role": "user"})
            ref = "s" if by_id else session.metadata
        with closing(sqlite3.connect(tmp_path / file)) as database:
            database.execute("update sessions set storage_version = 2")
            database.commit()

            for call in (repo.open, repo.delete):
                with pytest.raises(UnsupportedStorageVersionError, match="version 2"):
                    call(ref)
            with pytest.raises(UnsupportedStorageVersionError, match="version 2"):
                repo.fork(ref, ForkTree(), id="fork")

            database.execute("update sessions set storage_version = 1")
            database.commit()
        with repo.open("s") as session:
            assert session.get_stats().message_count == 1
