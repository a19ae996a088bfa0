"""Numbers end at the same one on every store: beyond it some store or tool could not read them."""

from __future__ import annotations

import pytest

from sessionstore import (
    StorageError,
    append_list,
    ephemeral_scope,
    open_repository,
    set_value,
    value,
    value_list,
)
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.records import LARGEST_INTEGER
from sessionstore.usage import SessionStats

N, L = value("app", "n"), value_list("app", "l")


def test_a_session_without_numbers_left_takes_no_writes_and_stays_whole(store_url: str) -> None:
    with open_repository(store_url) as repo:
        header = ImageHeader("s", 1, LARGEST_INTEGER - 4, SessionStats())
        metadata = repo.load(SessionImage(header, iter(())))
        with repo.open(metadata) as session:
            assert session.commit([set_value(N, 1), append_list(L, 1)]).first_seq == LARGEST_INTEGER - 4
            for writes in ([set_value(N, 2)] * 3, [append_list(L, 2)] * 3):
                with pytest.raises(StorageError, match="no numbers left"):
                    session.commit(writes)
            assert session.set_value(N, 3).seqs == (LARGEST_INTEGER - 2,)
            assert session.append_list(L, 3).seqs == (LARGEST_INTEGER - 1,)
            for write in (lambda: session.set_value(N, 4), lambda: session.append_list(L, 4)):
                with pytest.raises(StorageError, match="no numbers left"):
                    write()
            with pytest.raises(StorageError, match="no numbers left"):
                session.set_value(value("app", scope=ephemeral_scope("op")), 1)
        with repo.open(metadata) as session:
            assert session.storage.next_seq() == LARGEST_INTEGER
            assert [element.value for element in session.read_list(L)] == [1, 3]
        assert repo.check_session(metadata) == []
