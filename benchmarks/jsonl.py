"""The JSONL store: appends, opening, listing, the upgrade, and what scopes keep out of the main file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.context import Context
from benchmarks.report import Figures, pretty, size
from benchmarks.timing import Work, alone, in_turn, prepared
from benchmarks.work import FRAME, FRAMES, MESSAGE, Conversation
from sessionstore import (
    EphemeralScope,
    Session,
    append_list,
    ephemeral_scope,
    open_repository,
    retire_scope,
    set_value,
    value,
    value_list,
)
from sessionstore.jsonl import JsonlSessionRepo
from sessionstore.jsonl.encoding import transaction_line
from sessionstore.jsonl.paths import file_name, folder_name
from sessionstore.plan import plan_commit

EVENTS = value_list("app.events")
CREATED_AT = 1_700_000_000_000


def run(context: Context) -> None:
    """All of it."""
    _appends(context)
    _synced_appends(context)
    _opening(context)
    _large_file(context)
    _listing(context)
    _first_write(context)
    _scopes(context)


# -- appends -----------------------------------------------------------------------------------------


def _appends(context: Context) -> None:
    """Beside the memory store's commit of the same writes in the same run."""
    times = context.times("JSONL: steady appends (aim: CPU at most +25 µs)")
    with (
        context.folder() as folder,
        open_repository("memory://") as memory,
        JsonlSessionRepo(folder) as files,
        memory.create() as peer,
        files.create(cwd="/srv") as session,
    ):
        works: dict[str, Callable[[Session], Work]] = {
            "one list element": _element,
            "entry + tip + usage": _turn,
            "one scoped list element": _frame,
        }
        for name, make in works.items():
            ours, theirs = in_turn([make(session), make(peer)], context.rounds(4000), 50)
            times.add(
                name, ours, "memory", theirs, aim="+25 µs", note=f"{_more(ours.quick - theirs.quick)} quick"
            )
    context.show(times)


def _more(seconds: float) -> str:
    return f"{'-' if seconds < 0 else '+'}{pretty(abs(seconds))}"


def _element(session: Session) -> Work:
    return lambda: session.commit([append_list(EVENTS, FRAME)])


def _frame(session: Session) -> Work:
    return lambda: session.commit([append_list(FRAMES, FRAME)])


def _turn(session: Session) -> Work:
    conversation = Conversation()
    return lambda: session.commit(conversation.turn())


def _synced_appends(context: Context) -> None:
    """Beside a bare write and fsync of the same line."""
    times = context.times("JSONL: appends with fsync=True")
    with (
        context.folder() as folder,
        JsonlSessionRepo(folder, fsync=True) as repo,
        repo.create(cwd="/srv") as session,
        (folder / "bare").open("ab", buffering=0) as file,
    ):
        plans: dict[str, tuple[Work, Any]] = {
            "one list element": (_element(session), [append_list(EVENTS, FRAME)]),
            "entry + tip + usage": (_turn(session), Conversation().turn()),
        }
        for name, (work, writes) in plans.items():
            line = transaction_line(plan_commit(writes).numbered(1, CREATED_AT).steps)

            def bare(line: bytes = line) -> None:
                os.write(file.fileno(), line)
                os.fsync(file.fileno())

            ours, theirs = in_turn([work, bare], context.rounds(1500), 20)
            times.add(name, ours, "write + fsync", theirs, aim="1.3")
    context.show(times)


# -- opening -------------------------------------------------------------------------------------------


def _opening(context: Context) -> None:
    """4,000 transactions with 8,000 records, beside plain decoding of the same lines."""
    times = context.times("JSONL: open of 4,000 transactions, 8,000 records")
    with context.folder() as folder, JsonlSessionRepo(folder) as repo:
        path = _session_file(folder, _many_transactions(2_000))
        lines = path.read_bytes().split(b"\n")[:-1]
        metadata = repo.get("bench")

        def opened() -> None:
            repo.open(metadata).close()

        def decoded() -> None:
            for line in lines:
                msgspec.json.decode(line)

        ours, theirs = in_turn([opened, decoded], context.rounds(60, 15))
        times.add(size(path.stat().st_size), ours, "msgspec.json.decode", theirs, aim="2")
    context.show(times)


def _session_file(folder: Path, lines: Iterator[str], created_at: int = CREATED_AT) -> Path:
    path = folder / folder_name("/srv") / file_name(created_at, "bench")
    path.parent.mkdir(exist_ok=True)
    header = {
        "v": 4,
        "kind": "header",
        "id": "bench",
        "storageVersion": 1,
        "createdAt": created_at,
        "cwd": "/srv",
    }
    with path.open("w", encoding="utf-8") as file:
        file.write(json.dumps(header) + "\n")
        file.writelines(f"{line}\n" for line in lines)
    return path


def _many_transactions(turns: int, message: dict[str, Any] = MESSAGE) -> Iterator[str]:
    """``turns`` times entry + value + usage, each followed by a list element."""
    conversation, numbers = Conversation(), count(1)
    small = {**message, "content": message["content"][0]["text"][:60]} if message is MESSAGE else message
    for _ in range(turns):
        for writes in (conversation.turn(), [append_list(EVENTS, FRAME)]):
            plan = plan_commit(writes)
            first = next(numbers)
            steps = plan.numbered(first, CREATED_AT).steps
            for _ in steps[1:]:
                next(numbers)
            text = transaction_line(steps).decode().rstrip("\n")
            yield text.replace(
                json.dumps(MESSAGE["content"], separators=(",", ":")), json.dumps(small["content"])
            )


def _large_file(context: Context) -> None:
    """In a process of its own, whose peak is what the file costs in memory."""
    megabytes = 40 if context.quick else 200
    figures = Figures(
        f"JSONL: open of a file of {megabytes} MB (aim: at most 3 times the file in memory)",
        ("what", "file", "seconds", "memory", "times the file"),
    )
    with context.folder() as folder:
        for name, text in (
            ("messages of 1 kB", "x" * 1000),
            ("messages of 200 B", "x" * 200),
            ("with emoji", "x" * 999 + "🎈"),
        ):
            message = {"role": "user", "content": [{"type": "text", "text": text}]}
            turns = megabytes * 1_000_000 // (900 + len(text))
            path = _session_file(folder, _many_transactions(turns, message))
            ran = subprocess.run(
                [sys.executable, "-m", "benchmarks.jsonl", str(folder)],
                check=True,
                capture_output=True,
                text=True,
            )
            seconds, peak = map(float, ran.stdout.split())
            bytes_ = path.stat().st_size
            figures.add(name, size(bytes_), f"{seconds:.2f}", size(peak), f"{peak / bytes_:.2f}")
    context.show(figures)


def _open_once(folder: str) -> None:
    from time import perf_counter

    with JsonlSessionRepo(folder) as repo:
        before = _peak()
        start = perf_counter()
        session = repo.open("bench")
        seconds = perf_counter() - start
        print(seconds, _peak() - before)
        session.close()


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# -- listing, upgrading -------------------------------------------------------------------------------


def _listing(context: Context) -> None:
    times = context.times("JSONL: list of 1,000 sessions")
    with context.folder() as folder, JsonlSessionRepo(folder) as repo:
        for number in range(1000):
            with repo.create(cwd=f"/srv/{number % 20}") as session:
                session.set_value(value("app.state"), "x" * 100)
        times.add("all", alone(repo.list, context.rounds(30)))
        times.add("one cwd of 20", alone(partial(repo.list, cwd="/srv/3"), context.rounds(30)))
        id = repo.list()[500].id
        times.add("get by id", alone(partial(repo.get, id), context.rounds(30)))
    context.show(times)


def _first_write(context: Context) -> None:
    """After opening a format-3 file of 4 MB."""
    times = context.times("JSONL: a format-3 file of 4 MB")
    with context.folder() as folder:
        text = _format_3(3_500)
        numbers = count()

        def placed() -> JsonlSessionRepo:
            root = folder / str(next(numbers))
            path = root / folder_name("/srv") / file_name(CREATED_AT, "old")
            path.parent.mkdir(parents=True)
            path.write_text(text)
            return JsonlSessionRepo(root)

        def opening() -> Work:
            repo = placed()
            return lambda: repo.open("old").close()

        def writing() -> Work:
            session = placed().open("old")
            return lambda: session.set_value(value("app.state"), 1)

        times.add("open", prepared(opening, context.rounds(15)), note=size(len(text)))
        times.add("first write", prepared(writing, context.rounds(15)))
    context.show(times)


def _format_3(records: int) -> str:
    stamp = "2023-11-14T22:13:20.000Z"
    lines: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": "old", "timestamp": stamp, "cwd": "/srv"}
    ]
    parent = None
    for number in range(records):
        message = {**MESSAGE, "content": [{"type": "text", "text": "x" * 900}]}
        id = f"{number:08x}"
        lines.append(
            {"type": "message", "id": id, "parentId": parent, "timestamp": stamp, "message": message}
        )
        parent = id
    return "".join(json.dumps(line) + "\n" for line in lines)


# -- what scopes are for ---------------------------------------------------------------------------------


def _scopes(context: Context) -> None:
    """20 operations, each of 400 frames and two tools with 60 checkpoints of 50 kB."""
    figures = Figures(
        "JSONL: 20 operations with 400 frames and twice 60 checkpoints of 50 kB",
        ("what", "main file", "peak of sidecars", "share of the unscoped file"),
    )
    with context.folder() as folder:
        unscoped, _ = _operations(folder / "unscoped", scoped=False)
        scoped, sidecars = _operations(folder / "scoped", scoped=True)
        figures.add("without scopes", size(unscoped), "-", "100 %")
        figures.add(
            "with scopes", size(scoped), size(sidecars), f"{100 * scoped / unscoped:.3f} % (aim: 0.2)"
        )
    context.show(figures)


def _operations(root: Path, *, scoped: bool) -> tuple[int, int]:
    peak = 0
    with JsonlSessionRepo(root) as repo, repo.create(cwd="/srv") as session:
        path = Path(str(session.metadata.path))
        for number in range(20):
            peak = max(peak, _operation(session, path, number, scoped=scoped))
        return path.stat().st_size, peak


def _operation(session: Session, path: Path, number: int, *, scoped: bool) -> int:
    scope = ephemeral_scope(f"op-{number}")
    place: dict[str, EphemeralScope | None] = {"scope": scope if scoped else None}
    frames: Any = value_list("app.frames", f"op-{number}", **place)  # type: ignore[call-overload]
    for frame in range(400):
        session.commit([append_list(frames, {**FRAME, "n": frame})])
    for tool in range(2):
        output: Any = value("app.output", f"op-{number}:{tool}", **place)  # type: ignore[call-overload]
        for checkpoint in range(60):
            session.commit([set_value(output, f"{checkpoint:050000}")])
    sidecars = sum(file.stat().st_size for file in Path(f"{path}.scopes").glob("*")) if scoped else 0
    ending: list[Any] = [retire_scope(scope)] if scoped else []
    session.commit([*Conversation().turn(), *ending])
    return sidecars


if __name__ == "__main__":
    _open_once(*sys.argv[1:])
