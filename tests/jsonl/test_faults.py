"""Every call of the operating system fails once, at each step of a session's life.

Whatever fails: an error of ours or none, the handle sees what the files hold, what was there before
is whole, the next process reads and writes, no number is used twice, and no descriptor is left.
"""

from __future__ import annotations

import errno
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from faults import CHANGING, Act, Calls, failing, failing_late, short, short_and_full
from jsonl.support import (
    USAGE,
    message,
    record,
    say,
    set_line,
    sidecar,
    v3_file,
    v4_file,
)

from sessionstore import (
    CorruptStorageError,
    ForkTree,
    Session,
    SessionNotFoundError,
    SessionStoreError,
    StorageError,
    append_list,
    ephemeral_scope,
    retire_scope,
    set_value,
    value,
    value_list,
)
from sessionstore.jsonl import JsonlSessionRepo
from sessionstore.jsonl.paths import file_name, folder_name
from sessionstore.testing.platform import open_descriptors

T = 1760000000000
OP, NEW = ephemeral_scope("op"), ephemeral_scope("new")
N, SCOPED, FRAMES = value("app", "n"), value("app", "n", scope=OP), value_list("app", "f", scope=OP)
FIRST = value("app", "n", scope=NEW)
PROBE = value("probe")

Seen = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """A part of a session's life. ``prepare`` gives the handle to act on, or None."""

    prepare: Callable[[JsonlSessionRepo], Session | None]
    act: Callable[[JsonlSessionRepo, Any], object]
    makes: str = ""
    """The session that it makes, which can be tried again where it failed."""


def filled(repo: JsonlSessionRepo) -> Session:
    session = repo.create(id="s", cwd="/srv")
    session.commit([say("a"), set_value(N, 1), say("b", "a")])
    session.commit([set_value(SCOPED, 1), append_list(FRAMES, "f")])
    return session


def closed(repo: JsonlSessionRepo) -> None:
    filled(repo).close()


def nothing(repo: JsonlSessionRepo) -> None:
    pass


def home(repo: JsonlSessionRepo) -> Path:
    folder = Path(repo.container) / folder_name("/srv")
    folder.mkdir(parents=True)
    return folder / file_name(T, "s")


def retired(repo: JsonlSessionRepo) -> Session:
    """The sidecar of the old lifetime could not be removed."""
    session = filled(repo)
    with Calls(("unlink",), 1, failing(errno.EIO))():
        session.retire_scope(OP)
    return session


def old(repo: JsonlSessionRepo) -> Session:
    v3_file(
        home(repo),
        message("a", None, "assistant", usage=USAGE),
        record("session_info", "i", "a", name="named"),
        message("b", "i"),
        id="s",
    )
    return repo.open("s")


def torn(repo: JsonlSessionRepo) -> None:
    path = v4_file(home(repo), set_line(1, 1, key="n"), "torn", end="")
    sidecar(path, "op", set_line(3, 1, key="n", scopeId="op"), "torn", end="")


def damaged(repo: JsonlSessionRepo) -> None:
    path = v4_file(home(repo), set_line(1, 1, key="n"), "broken", set_line(2, 2, key="m"))
    sidecar(path, "op", set_line(3, 1, key="n", scopeId="op"), "broken", set_line(5, 1, scopeId="op"))


def imported(repo: JsonlSessionRepo, _: None) -> None:
    with repo.snapshot("s") as image:
        there = JsonlSessionRepo(Path(repo.container) / "there", fsync=True, clock=lambda: T)
        with there:
            there.load(image)


def fork(repo: JsonlSessionRepo, _: object) -> None:
    repo.fork("s", ForkTree(), id="t").close()


STEPS: dict[str, Step] = {
    "create": Step(nothing, lambda repo, _: repo.create(id="s", cwd="/srv").close(), "r s"),
    "open": Step(closed, lambda repo, _: repo.open("s").close()),
    "open with torn tails": Step(torn, lambda repo, _: repo.open("s").close()),
    "append": Step(filled, lambda _, session: session.commit([say("c", "b"), set_value(N, 2)])),
    "append to a sidecar": Step(filled, lambda _, session: session.set_value(SCOPED, 2)),
    "the first write of a scope": Step(filled, lambda _, session: session.set_value(FIRST, 1)),
    "the first scope": Step(
        lambda repo: repo.create(id="s", cwd="/srv"), lambda _, session: session.set_value(FIRST, 1)
    ),
    "retire": Step(filled, lambda _, session: session.commit([retire_scope(OP), set_value(N, 2)])),
    "write again after a retirement": Step(retired, lambda _, session: session.set_value(SCOPED, 2)),
    "upgrade": Step(old, lambda _, session: session.commit([set_value(N, 2)])),
    "upgrade by a scope": Step(old, lambda _, session: session.set_value(FIRST, 1)),
    "fork": Step(filled, fork, "r t"),
    "fork of a closed session": Step(
        closed, lambda repo, _: repo.fork("s", ForkTree(), id="t").close(), "r t"
    ),
    "load": Step(closed, imported, "there s"),
    "close": Step(filled, lambda _, session: session.close()),
    "delete": Step(closed, lambda repo, _: repo.delete("s")),
    "repair": Step(damaged, lambda repo, _: repo.repair_session("s")),
}

FAULTS: dict[str, tuple[tuple[str, ...], Act]] = {
    "no space": (CHANGING, failing(errno.ENOSPC)),
    "input or output": (CHANGING, failing(errno.EIO)),
    "done, and an error": (("write", "fsync", "replace", "link", "unlink", "mkdir"), failing_late(errno.EIO)),
    "a short write": (("write",), short),
    "a short write, then no space": (("write",), short_and_full),
    "an error of close": (("close",), failing_late(errno.EIO)),
    "a device that is gone": (CHANGING, failing(errno.EIO)),
    "no answer": (("stat", "fstat", "scandir", "listdir", "lseek"), failing(errno.EIO)),
}


def seen(session: Session) -> Seen:
    """What can be seen of a session, without ids that are made anew and what an upgrade adds."""
    return {
        "entries": [
            (entry.seq, entry.timestamp, entry.message)
            for entry in session.storage.scan_entries(type="message")
        ],
        "values": [
            (place.key, found.value, found.seq)
            for place in (N, SCOPED, FIRST)
            if (found := session.get_value(place)) is not None
        ],
        "frames": [(element.seq, element.value) for element in session.read_list(FRAMES)],
        "stats": session.get_stats(),
    }


def stored(root: Path) -> dict[str, Seen]:
    """What the next process sees of every session; it writes to each, and reads that again."""
    found: dict[str, Seen] = {}
    for folder in (root, root / "there"):
        with JsonlSessionRepo(folder) as repo:
            for metadata in repo.list():
                name = f"{folder.name} {metadata.id}"
                if repo.check_session(metadata):
                    found[name] = {"damaged": True}
                    continue
                with repo.open(metadata) as session:
                    found[name] = seen(session)
                    number = session.storage.next_seq()
                    highest = max(_numbers(session), default=0)
                    assert number > highest
                    assert session.set_value(PROBE, "next").seqs == (number,)
                with repo.open(metadata) as session:
                    assert seen(session) == found[name]
    return found


def _numbers(session: Session) -> Iterator[int]:
    with session.storage.snapshot() as image:
        yield from (record.seq for record in image.records)


def run(root: Path, step: Step, calls: Calls) -> tuple[SessionStoreError | None, Seen | None, int]:
    """Do a step while its calls are counted, and one may fail; then write once more and close.

    Gives the error, what the handle saw after it unless it refused to write, and the highest number
    that a commit resolved to.
    """
    descriptors = open_descriptors()
    error = after = None
    refused = True
    used = 0
    with JsonlSessionRepo(root, fsync=True, clock=lambda: T) as repo:
        session = step.prepare(repo)
        if session is not None:
            used = session.storage.next_seq() - 1
        try:
            with calls():
                step.act(repo, session)
        except SessionStoreError as raised:
            error = raised
        if session is not None:
            with suppress(SessionStoreError):
                after = seen(session)
                used = session.set_value(PROBE, "here").first_seq
                refused = False
            with suppress(StorageError):  # the close was the step, and failed
                session.close()
    assert open_descriptors() == descriptors
    return error, None if refused else after, used


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", STEPS)
def test_a_call_that_fails_costs_one_step_at_most(tmp_path: Path, name: str, fault: str) -> None:
    step, (names, act) = STEPS[name], FAULTS[fault]
    counted = Calls(names)
    assert run(tmp_path / "whole", step, counted)[0] is None
    with JsonlSessionRepo(tmp_path / "before", fsync=True, clock=lambda: T) as repo:
        session = step.prepare(repo)
        if session is not None:
            session.close()
    before, whole = stored(tmp_path / "before"), stored(tmp_path / "whole")
    before = {key.replace("before", "r"): found for key, found in before.items()}
    whole = {key.replace("whole", "r"): found for key, found in whole.items()}
    root = tmp_path / "r"
    for at in range(1, counted.count + 1):
        calls = Calls(names, at, act, lasting=fault in LASTING)
        error, after, used = run(root, step, calls)
        where = f"{calls.hit}, call {at} of {counted.count}: {error!r}"
        last = last_number(root)
        assert used <= last, where
        if calls.hit not in REMOVING and fault not in LASTING:
            assert files(root) <= files(tmp_path / "before") | files(tmp_path / "whole"), where
        found = stored(root)
        assert found in (before, whole), where
        if after is not None:
            assert found["r s"] == after, where
        if error is None:
            assert found == whole, where
        elif step.makes:
            assert step.makes not in found or fault in LASTING, where
            if step.makes not in found:
                with JsonlSessionRepo(root, clock=lambda: T) as repo:
                    step.act(repo, None)
                assert step.makes in stored(root), where
        shutil.rmtree(root)


LASTING = ("a device that is gone",)
REMOVING = ("unlink", "rmdir")


def files(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def last_number(root: Path) -> int:
    """The highest number that was used in session ``s``; of one that is gone, any may have been."""
    with (
        JsonlSessionRepo(root) as repo,
        suppress(SessionNotFoundError, CorruptStorageError),
        repo.snapshot("s") as image,
    ):
        return image.header.next_seq - 1
    return 1 << 60
