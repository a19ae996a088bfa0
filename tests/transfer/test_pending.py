"""A pending assistant message enters no session, whichever path it would come by (model.md section 1)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sessionstore import ForkBranch, ForkTree, InvalidValueError, SessionRepo, open_repository
from sessionstore.transfer import copy_session

HEADER = '{"v":4,"kind":"header","id":"s","storageVersion":1,"createdAt":1700000000000,"cwd":"/w"}'
OLD_HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2023-11-14T22:13:20.000Z","cwd":"/w"}'
NAME = "2023-11-14T22-13-20-000Z_s.jsonl"


def entry(message: str) -> str:
    return (
        f'{{"kind":"entry","id":"a","parentId":null,"type":"message","message":{message},'
        '"seq":1,"timestamp":5}'
    )


def value_line(seq: int, namespace: str, value: str) -> str:
    return f'{{"kind":"value","op":"set","seq":{seq},"namespace":"{namespace}","key":"main","value":{value}}}'


LANE = (
    value_line(2, "pi.branch.tip", '"a"'),
    value_line(3, "pi.lane.config", "{}"),
    value_line(4, "pi.lane.state", "{}"),
)
PENDING = '{"role":"assistant","stopReason":"pending"}'
ESCAPED = r'{"role":"assistant","stopReason":"p\u0065nding"}'
OLD = (
    '{"type":"message","id":"a","parentId":null,"timestamp":"2023-11-14T22:13:20.000Z",'
    f'"message":{PENDING}}}'
)
SOURCES = [
    (HEADER, entry(PENDING), *LANE),
    (HEADER, entry(ESCAPED), *LANE),
    (HEADER, f"[{','.join([entry(PENDING), *LANE])}]"),
    (OLD_HEADER, OLD),
]


@pytest.fixture(params=SOURCES, ids=["plain", "escaped", "one-line", "format-3"])
def source_root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A root with a session that another tool wrote, a pending message in it."""
    folder = tmp_path / "source" / "--w--"
    folder.mkdir(parents=True)
    (folder / NAME).write_text("".join(f"{line}\n" for line in request.param), encoding="utf-8")
    return folder.parent


def refuse_into(source: SessionRepo, target: SessionRepo) -> None:
    before = target.list()
    with pytest.raises(InvalidValueError, match="pending"):
        target.fork(source.get("s"), ForkTree(), id="fork", source_repository=source)
    assert target.list() == before
    target.create(id="fork").close()
    target.delete("fork")


def test_no_copy_takes_it(source_root: Path, new_store_url: Callable[[], str]) -> None:
    with open_repository(f"jsonl:{source_root}") as source, open_repository(new_store_url()) as target:
        with pytest.raises(InvalidValueError, match=r"entry '.*pending"):
            copy_session(source, target, "s")
        assert target.list() == []


def test_no_fork_into_another_store_takes_it(source_root: Path, new_store_url: Callable[[], str]) -> None:
    with open_repository(f"jsonl:{source_root}") as source, open_repository(new_store_url()) as target:
        refuse_into(source, target)


def test_no_fork_between_files_takes_it(source_root: Path) -> None:
    with open_repository(f"jsonl:{source_root}") as source:
        refuse_into(source, source)
        if "version" not in next((source_root / "--w--").iterdir()).read_text(encoding="utf-8"):
            with pytest.raises(InvalidValueError, match="pending"):
                source.fork("s", ForkBranch(), id="fork")
        with source.open("s") as session:  # it may be read: opening inserts nothing
            assert session.get_stats().message_count == 1


def test_messages_that_speak_of_it_are_copied(tmp_path: Path, new_store_url: Callable[[], str]) -> None:
    """The word alone refuses nothing, and neither do other roles."""
    messages = [
        {"role": "user", "stopReason": "pending"},
        {"role": "assistant", "stopReason": "stop", "content": "pending \x07"},
    ]
    with (
        open_repository(f"jsonl:{tmp_path}/root") as source,
        open_repository(new_store_url()) as target,
    ):
        with source.create(id="s") as session:
            branch = session.create_branch("main")
            ids = [branch.append_message(message) for message in messages]
        copy_session(source, target, "s")
        with target.open("s") as copied, source.fork("s", ForkTree()) as forked:
            for one in (copied, forked):
                assert [one.get_entry(id) is not None for id in ids] == [True, True]
