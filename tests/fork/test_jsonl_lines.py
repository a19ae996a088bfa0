"""Forks from one JSONL file to another: what is taken as it stands, and what is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sessionstore import (
    CorruptStorageError,
    ForkBranch,
    ForkError,
    ForkTree,
    SessionMetadata,
    open_repository,
)
from sessionstore.jsonl.repo import JsonlSessionRepo

HEADER = '{"v":4,"kind":"header","id":"source","storageVersion":1,"createdAt":1700000000000,"cwd":"/w"}'


def entry(number: int, parent: int | None, extra: str = "", content: str = '"x"') -> str:
    parent_id = "null" if parent is None else f'"e{parent}"'
    return (
        f'{{"kind":"entry","id":"e{number}","parentId":{parent_id},"type":"message",'
        f'"message":{{"role":"user","content":{content}}}{extra},"seq":{number},"timestamp":17}}'
    )


def tip(seq: int, number: int) -> str:
    return (
        f'{{"kind":"value","op":"set","seq":{seq},"namespace":"pi.branch.tip","key":"main",'
        f'"value":"e{number}"}}'
    )


LANE = (
    '[{"kind":"value","op":"set","seq":90,"namespace":"pi.lane.config","key":"main","value":{}},'
    '{"kind":"value","op":"set","seq":91,"namespace":"pi.lane.state","key":"main","value":{"busy":1}}]'
)
IDLE = (
    '{"kind":"value","op":"set","seq":91,"namespace":"pi.lane.state","key":"main",'
    '"value":{"currentOperationId":null,"lastOperationId":null,"inbox":[]}}'
)
CONFIG = '{"kind":"value","op":"set","seq":90,"namespace":"pi.lane.config","key":"main","value":{}}'


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[JsonlSessionRepo]:
    with JsonlSessionRepo(tmp_path / "root") as repo:
        yield repo


@pytest.fixture
def source_of(tmp_path: Path) -> Callable[..., SessionMetadata]:
    def make(*lines: str, tail: str = "\n") -> SessionMetadata:
        path = tmp_path / "source.jsonl"
        path.write_text("\n".join((HEADER, *lines)) + tail, encoding="utf-8", errors="surrogatepass")
        return SessionMetadata(
            id="source", created_at=1700000000000, container=str(tmp_path), cwd="/w", path=str(path)
        )

    return make


def lines_of_fork(repo: JsonlSessionRepo, source: SessionMetadata, fork: Any) -> list[str]:
    with repo.fork(source, fork) as copy:
        assert copy.metadata.path is not None
        text = Path(copy.metadata.path).read_bytes().decode()
        assert repo.check_session(copy.metadata) == []
    assert text.endswith("\n")
    header, *lines = text.split("\n")[:-1]
    assert json.loads(header)["parentSessionId"] == "source"
    return lines


def test_a_line_that_is_one_entry_is_taken_byte_for_byte(
    repo: JsonlSessionRepo, source_of: Callable[..., SessionMetadata]
) -> None:
    odd = entry(2, 1, extra=' , "of another tool" : [1E2,1e+2]', content='"\\u00e9 \u2028 \\ud800"')
    source = source_of(entry(1, None), odd, entry(3, 1), tip(4, 2), LANE)
    assert lines_of_fork(repo, source, ForkBranch()) == [entry(1, None), odd, tip(4, 2), CONFIG, IDLE]


@pytest.mark.parametrize("last", [1, 2, 3, 4])
def test_entries_are_taken_out_of_transactions(
    repo: JsonlSessionRepo, source_of: Callable[..., SessionMetadata], last: int
) -> None:
    usage = (
        '{"kind":"usage","id":"u","adjustment":false,"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,'
        '"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"seq":5}'
    )
    extra = entry(4, 3, extra=',"z":1.50')
    source = source_of(
        f"[{entry(1, None)},{entry(2, 1)}]", f"[{entry(3, 2)}, {extra},{usage}]", tip(6, last), LANE
    )
    entries = [entry(1, None), entry(2, 1), entry(3, 2), extra][:last]
    assert lines_of_fork(repo, source, ForkBranch()) == [*entries, tip(6, last), CONFIG, IDLE]


def test_a_transaction_that_begins_otherwise(
    repo: JsonlSessionRepo, source_of: Callable[..., SessionMetadata]
) -> None:
    """Keys in another order, spaces, a value before the entry: decoded, and written anew."""
    turned = (
        '{ "seq":3,"id":"e3","parentId":"e1","timestamp":17,"type":"message",'
        '"message":{"role":"user","content":"x"}, "kind":"entry"}'
    )
    source = source_of(entry(1, None), f"[{tip(2, 1)},{turned}]", tip(4, 3), LANE)
    assert lines_of_fork(repo, source, ForkBranch()) == [entry(1, None), entry(3, 1), tip(4, 3), CONFIG, IDLE]


def test_a_value_in_the_line_of_an_entry(
    repo: JsonlSessionRepo, source_of: Callable[..., SessionMetadata]
) -> None:
    source = source_of(f"[{entry(1, None)},{tip(2, 1)}]", f"[{entry(3, 1)},{tip(4, 3)}]", LANE)
    assert lines_of_fork(repo, source, ForkBranch()) == [entry(1, None), entry(3, 1), tip(4, 3), CONFIG, IDLE]
    at_first = [entry(1, None), tip(4, 1), CONFIG, IDLE]
    assert lines_of_fork(repo, source, ForkBranch(entry_id="e1")) == at_first


def test_lists_and_values_that_ended_stay_away(
    repo: JsonlSessionRepo, source_of: Callable[..., SessionMetadata]
) -> None:
    def element(seq: int) -> str:
        return f'{{"kind":"list","op":"append","seq":{seq},"namespace":"app.l","key":"","value":{seq}}}'

    def setting(seq: int) -> str:
        return f'{{"kind":"value","op":"set","seq":{seq},"namespace":"app.v","key":"","value":{seq}}}'

    gone = '{"kind":"list","op":"delete","seq":4,"namespace":"app.l","key":""}'
    retired = '{"kind":"scope","op":"retire","seq":9,"scopeId":"op"}'
    source = source_of(
        setting(1), element(2), f"[{element(3)},{gone},{element(5)}]", setting(6), element(7), retired
    )
    kept = [element(5), setting(6), element(7)]
    assert lines_of_fork(repo, source, ForkTree(include_application_state=True)) == kept
    assert lines_of_fork(repo, source, ForkTree()) == []


def test_a_torn_transaction_is_not_in_a_fork(
    repo: JsonlSessionRepo, source_of: Callable[..., SessionMetadata]
) -> None:
    source = source_of(entry(1, None), tip(2, 1), LANE, f"[{entry(92, 1)},", tail="")
    assert source.path is not None
    before = Path(source.path).read_bytes()
    assert lines_of_fork(repo, source, ForkBranch()) == [entry(1, None), tip(2, 1), CONFIG, IDLE]
    assert Path(source.path).read_bytes() == before


@pytest.mark.parametrize(
    ("line", "number"),
    [(entry(5, 77), 3), (entry(1, None), 3), ('{"kind":"novel","seq":5}', 3), ("{", 3)],
)
def test_a_damaged_source_is_named_with_its_line(
    repo: JsonlSessionRepo, source_of: Callable[..., SessionMetadata], line: str, number: int
) -> None:
    source = source_of(entry(1, None), line, tip(80, 1), LANE)
    with pytest.raises(CorruptStorageError) as raised:
        repo.fork(source, ForkBranch())
    assert (raised.value.path, raised.value.line) == (source.path, number)
    assert repo.list() == []


def test_a_ledger_row_is_no_parent(repo: JsonlSessionRepo, source_of: Callable[..., SessionMetadata]) -> None:
    usage = (
        '{"kind":"usage","id":"e2","adjustment":false,"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,'
        '"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"seq":2}'
    )
    source = source_of(entry(1, None), usage, entry(3, 2), tip(4, 3), LANE)
    with pytest.raises(CorruptStorageError, match="e2"):
        repo.fork(source, ForkBranch())
    source = source_of(entry(1, None), usage, tip(4, 2), LANE)
    with pytest.raises(ForkError, match="e2"):
        repo.fork(source, ForkBranch())


# -- format 3 --------------------------------------------------------------------------------


def test_an_open_session_of_format_3_has_to_be_written_or_closed_first(tmp_path: Path) -> None:
    old = Path(__file__).parents[1] / "vectors" / "v3" / "every-record-type.jsonl"
    with JsonlSessionRepo(tmp_path / "root") as repo:
        folder = tmp_path / "root" / "--work-pi-demo--"
        folder.mkdir(parents=True)
        placed = folder / "2026-05-08T02-00-00-000Z_11111111-2222-4333-8444-555555555555.jsonl"
        placed.write_bytes(old.read_bytes())
        (metadata,) = repo.list()
        with repo.fork(metadata, ForkBranch("main", entry_id="pi-user-1")) as copy:
            assert copy.get_stats().message_count == 1
        assert placed.read_bytes() == old.read_bytes()
        with repo.open(metadata) as session:
            with pytest.raises(ForkError, match="format 3"):
                repo.fork(metadata, ForkBranch("main"), id="wanted")
            assert placed.read_bytes() == old.read_bytes()
            session.set_name("upgraded")
            with repo.fork(metadata, ForkBranch("main"), id="wanted") as copy:
                assert copy.get_name() == "upgraded"
                assert copy.scan_usage() == []
        with open_repository("memory://") as memory, memory.fork(metadata, ForkBranch("main")) as copy:
            assert copy.get_name() == "upgraded"
