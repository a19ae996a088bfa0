"""Files that were tampered with at random: read, or refused by one of our errors; never anything else."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from jsonl.support import USAGE, VECTORS, load, message, record, set_line, sidecar, v3_file, v4_file

from sessionstore import Session, SessionStoreError
from sessionstore.jsonl import JsonlSessionRepo
from sessionstore.jsonl.paths import file_name, folder_name

TOKENS = [
    *(bytes([mark]) for mark in b'\n\r\0\xff"\\{}[],: '),
    *(b"\xef\xbb\xbf", b"null", b"true", b"-1", b"1e999", b"NaN", b"9" * 400, b"\\ud83d", b'"\\u0000"'),
    *(b"[" * 2000, b'{"a":' * 600, "é".encode(), b'"seq":1', b'"kind":"scope"', b'"scopeId":"op"'),
    *(b'"parentId":"a"', b'"type":"compaction"'),
]
SPOTS = st.integers(0, 10_000)
CHANGES = st.lists(
    st.tuples(SPOTS, st.integers(0, 40), st.sampled_from(TOKENS) | st.binary(max_size=3)),
    min_size=1,
    max_size=4,
)
"""Where, how many bytes go, and what comes instead."""


def changed(data: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    for spot, count, new in changes:
        at = spot % (len(data) + 1)
        data = data[:at] + new + data[at + count :]
    return data


def places(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Sessions where a repository finds them, each with one of its files to tamper with."""
    srv = folder / folder_name("/srv")
    srv.mkdir()
    old = v3_file(
        srv / file_name(1760000000000, "old"),
        message("a", None, "assistant", usage=USAGE),
        record("session_info", "s", "a", name="n"),
        record("compaction", "k", "s", summary="s", tokensBefore=1, firstKeptEntryId="a"),
        record("label", "l", "k", targetId="a", label="x"),
        record("branch_summary", "b", "l", fromId="a", summary="s"),
    )
    yield old, old
    everything = srv / file_name(1700000000000, "everything")
    everything.write_bytes((VECTORS / "v4" / "everything.jsonl").read_bytes())
    yield everything, everything
    scoped = v4_file(srv / file_name(1760000000000, "s"), set_line(1, 1), set_line(5, 1, key="k"))
    yield (
        scoped,
        sidecar(
            scoped,
            "op",
            set_line(2, 1, scopeId="op"),
            [set_line(3, 1, scopeId="op"), set_line(4, 1, scopeId="op")],
        ),
    )


@settings(max_examples=150, deadline=None)
@given(CHANGES)
def test_only_our_errors_come_of_damage(changes: list[tuple[int, int, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder, JsonlSessionRepo(folder) as repo:
        for session, file in places(Path(folder)):
            file.write_bytes(changed(file.read_bytes(), changes))
            for lenient in (False, True):
                with suppress(SessionStoreError):
                    load(session, lenient=lenient)
            repo.check_container()
        for metadata in repo.list():
            with suppress(SessionStoreError), repo.open(metadata) as opened:
                _read(repo, opened)
                opened.set_name("changed")
            with suppress(SessionStoreError):
                repo.check_session(metadata)


def _read(repo: JsonlSessionRepo, session: Session) -> None:
    with repo.snapshot(session.metadata) as image:
        for _ in image.records:
            pass
    for read in (session.find_entries, session.scan_usage, session.get_stats):
        with suppress(SessionStoreError):
            read()


@settings(max_examples=60, deadline=None)
@given(CHANGES)
def test_what_was_opened_once_opens_again_the_same(changes: list[tuple[int, int, bytes]]) -> None:
    """Whatever an open repairs, it does not change what is seen."""
    with tempfile.TemporaryDirectory() as folder, JsonlSessionRepo(folder) as repo:
        *_, (session, file) = places(Path(folder))
        file.write_bytes(changed(file.read_bytes(), changes))
        seen: list[object] = []
        for _ in range(2):
            with (
                suppress(SessionStoreError),
                repo.open("s") as opened,
                repo.snapshot(opened.metadata) as image,
            ):
                seen.append((image.header, list(image.records)))
        assert len(seen) in (0, 2)
        assert seen[:1] == seen[1:]
        assert session.exists()
