"""Payloads of many megabytes: stored whole, or refused clearly where the server takes no such packet."""

from __future__ import annotations

import pytest
from server.processes import MARKS
from server.proxy import proxy_to
from server.support import Attempts, ask, contents, database_kind

from sessionstore import (
    NewMessageEntry,
    StorageError,
    TransactionConflictError,
    append_list,
    insert_entry,
    open_repository,
    set_value,
    value,
)

MEGABYTE = 1 << 20
TEXT = value("app.text", type=str)


def limit_of(url: str) -> int | None:
    """The largest statement that the server takes, in bytes; None where there is no such limit."""
    if database_kind(url) != "mariadb":
        return None
    limit: int = ask(url, "SELECT @@max_allowed_packet")[0][0]
    return limit


@pytest.mark.needs("server")
def test_thirty_megabytes_are_stored_or_refused(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts = Attempts(monkeypatch, store_url)
    text = "é" * (15 * MEGABYTE)
    writes = [
        append_list(MARKS, "first"),
        insert_entry(NewMessageEntry("large", None, {"role": "user", "content": text})),
        append_list(MARKS, "last"),
    ]
    with open_repository(store_url) as repo, repo.create(id="a") as session:
        attempts.count = 0
        limit = limit_of(store_url)
        if limit is None or limit > 2 * len(text) + MEGABYTE:
            session.commit(writes)
            entry = session.get_entry("large")
            assert entry is not None
            assert entry.type == "message"
            assert entry.message["content"] == text
        else:
            before = contents(store_url)
            with pytest.raises(StorageError, match="larger than max_allowed_packet of the server") as refused:
                session.commit(writes)
            assert type(refused.value) is StorageError
            assert attempts.count == 1
            assert contents(store_url) == before
            assert session.append_list(MARKS, "next").first_seq == 1


@pytest.mark.needs("server")
def test_what_fits_a_packet_is_not_taken_for_too_large(store_url: str) -> None:
    text = "x" * (10 * MEGABYTE)
    with proxy_to(store_url) as (proxy, url), open_repository(url) as repo:
        session = repo.create(id="a")
        proxy.cut_at("INSERT INTO list_values", "before")  # whatever it was that broke the connection
        session.commit([append_list(MARKS, text)])
        assert proxy.cuts == 1
        assert [mark.value for mark in session.read_list(MARKS)] == [text]


@pytest.mark.needs("server")
def test_many_writes_that_fit_are_more_than_a_packet_together(store_url: str) -> None:
    text = "x" * (3 * MEGABYTE)
    with open_repository(store_url) as repo, repo.create(id="a") as session:
        session.commit([append_list(MARKS, f"{number}{text}") for number in range(8)])
        assert [mark.value[0] for mark in session.read_list(MARKS)] == list("01234567")


def test_what_grows_by_its_escapes_is_refused_too(mariadb_url: str) -> None:
    limit = limit_of(mariadb_url)
    assert limit is not None
    with open_repository(mariadb_url) as repo, repo.create(id="a") as session:
        # As JSON a quote takes two bytes, in a statement four.
        with pytest.raises(StorageError, match="larger than max_allowed_packet"):
            session.commit([set_value(TEXT, '"' * (limit // 4 + 1))])
        assert session.get_value(TEXT) is None
        assert session.commit([set_value(TEXT, '"' * (limit // 8))]).seqs == (1,)


def test_a_copy_that_does_not_fit_leaves_nothing(mariadb_url: str) -> None:
    limit = limit_of(mariadb_url)
    assert limit is not None
    with open_repository("memory://") as source, open_repository(mariadb_url) as repo:
        session = source.create(id="a")
        session.append_list(MARKS, "small")
        session.append_list(MARKS, "x" * (limit + 1))
        with source.snapshot("a") as image:
            with pytest.raises(StorageError, match="larger than max_allowed_packet") as refused:
                repo.load(image)
            assert not isinstance(refused.value, TransactionConflictError)
        assert repo.list() == []
        assert not any(contents(mariadb_url).values())
        repo.create(id="a").close()
