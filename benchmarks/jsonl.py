"""The JSONL store: appends, opening, listing, the upgrade of older files, the bytes of scopes."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.children import in_child
from benchmarks.context import Context
from benchmarks.places import Place, file_places
from benchmarks.report import Figures, size
from benchmarks.timing import Sample, Work, in_turn, prepared_in_turn
from benchmarks.work import MESSAGE, USAGE, Conversation, Writes, frame
from sessionstore import (
    NewUsageRow,
    Session,
    append_list,
    ephemeral_scope,
    insert_usage,
    open_repository,
    retire_scope,
    set_value,
    value,
    value_list,
)


def run(context: Context) -> None:
    """All of it, when files are to be measured."""
    for place in file_places(context):
        if place.name == "jsonl":
            _appends(context, place)
            _opens(context, place)
            _lists(context, place)
            _first_write(context, place)
            _scopes(context, place)


def _appends(context: Context, place: Place) -> None:
    times = context.times(
        "Appends to JSONL: beside the memory store, and with fsync beside bare write + fsync"
    )
    with ExitStack() as stack:
        urls = [stack.enter_context(place.fresh()) for _ in range(2)]
        memory, quick, synced = [
            stack.enter_context(stack.enter_context(open_repository(url, **options)).create())
            for url, options in (("memory://", {}), (urls[0], {}), (urls[1], {"fsync": True}))
        ]
        for name, make in (("one turn", Conversation().turn), ("one frame", frame)):
            ours, theirs = _same_writes([quick, memory], make, context.rounds(3000, 1000))
            extra = (ours.median - theirs.median) * 1e6
            times.add(name, ours, "memory store", theirs, aim="+20 µs", note=f"{extra:+.1f} µs")
        for name, make in (("one turn, fsync", Conversation().turn), ("one frame, fsync", frame)):
            ours, bare = _synced(synced, make, stack, context.rounds(300, 100))
            times.add(name, ours, "bare write + fsync", bare, aim="1.3")
    context.show(times)


def _same_writes(sessions: list[Session], make: Callable[[], Writes], rounds: int) -> list[Sample]:
    """Commits of the same writes to each session."""
    given: list[Writes] = []

    def maker(number: int, session: Session) -> Callable[[], Work]:
        def prepare() -> Work:
            if number == 0:
                given[:] = [make()]
            return lambda: session.commit(given[0])

        return prepare

    return prepared_in_turn([maker(*numbered) for numbered in enumerate(sessions)], rounds, warm_up=50)


def _synced(
    session: Session, make: Callable[[], Writes], stack: ExitStack, rounds: int
) -> tuple[Sample, Sample]:
    """Ours with fsync, and writing and syncing the same line to a file beside it."""
    folder = Path(session.metadata.path or "").parent
    other = os.open(folder / "bare.lines", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    stack.callback(os.close, other)
    known: dict[Path, int] = {}

    def ours() -> Work:
        writes = make()
        return lambda: session.commit(writes)

    def bare() -> Work:
        line = b"x" * (_grown_by(session, known) - 1) + b"\n"

        def write() -> None:
            os.write(other, line)
            os.fsync(other)

        return write

    first, second = prepared_in_turn([ours, bare], rounds, warm_up=10)
    return first, second


def _grown_by(session: Session, known: dict[Path, int]) -> int:
    """Bytes of the line that the session wrote last, to whichever of its files."""
    now = {file: file.stat().st_size for file in Path(session.metadata.path or "").parent.rglob("*.jsonl")}
    grown = max((length - known.get(file, 0) for file, length in now.items() if file in known), default=100)
    known.update(now)
    return max(grown, 2)


def _opens(context: Context, place: Place) -> None:
    times = context.times("Opening JSONL files, beside plain msgspec.json.decode of their lines")
    with place.fresh() as url, open_repository(url) as repo:
        with repo.create() as session:
            for writes in _eight_thousand_records():
                session.commit(writes)
            metadata = session.metadata
        lines = Path(metadata.path or "").read_bytes().splitlines()

        def opened() -> None:
            with repo.open(metadata.id) as session:
                session.get_stats()

        decode = msgspec.json.Decoder().decode
        ours, plain = in_turn([opened, lambda: [decode(line) for line in lines]], context.rounds(30, 8))
        note = f"{len(lines):,} lines, {size(sum(map(len, lines)))}"
        times.add("open, 8,000 records", ours, "msgspec.json.decode", plain, aim="1.2", note=note)
    context.show(times)
    with place.fresh() as url:
        _large_file(context, url, 40 if context.quick else 200)


def _eight_thousand_records() -> Iterator[Writes]:
    """2,000 times entry + value + usage, and 2,000 list appends."""
    talk = Conversation()
    log = value_list("app.log")
    for number in range(2000):
        entry, _, usage = talk.turn()
        yield [entry, set_value(value("app.state"), number), usage]
        yield [append_list(log, {"n": number, "text": "an element of a list"})]


def _large_file(context: Context, url: str, megabytes: int) -> None:
    with open_repository(url) as repo, repo.create() as session:
        metadata = session.metadata
        talk = Conversation()
        path = Path(metadata.path or "")
        while path.stat().st_size < megabytes * 1_000_000:
            for _ in range(20):
                session.commit(talk.batch(500))
    table = Figures(
        "A large JSONL file, opened in a process of its own",
        ("file", "seconds", "plain decode of the lines, seconds", "memory", "times the file"),
    )
    ours = in_child(
        "import sessionstore.jsonl",
        f"repo = open_repository({url!r}); repo.open({metadata.id!r}).get_stats()",
    )
    plain = in_child(
        "import msgspec",
        f"decode = msgspec.json.Decoder().decode\nfor line in open({str(path)!r}, 'rb'): decode(line)",
    )
    length = path.stat().st_size
    table.add(
        size(length),
        f"{ours.seconds:.2f}",
        f"{plain.seconds:.2f}",
        size(ours.grown),
        f"{ours.grown / length:.2f}",
    )
    context.show(table)


def _lists(context: Context, place: Place) -> None:
    times = context.times("Listing JSONL, beside reading each first line")
    with place.fresh() as url, open_repository(url) as repo:
        for number in range(1000):
            with repo.create(cwd=f"/home/user/project-{number % 5}") as session:
                if number % 10 == 0:
                    session.commit(Conversation().batch(20))
        root = Path(url.removeprefix("jsonl:"))

        def first_lines() -> None:
            for folder in os.scandir(root):
                for file in os.scandir(folder.path):
                    if file.name.endswith(".jsonl"):
                        with Path(file.path).open("rb") as opened:
                            opened.readline()

        ours, bare = in_turn([repo.list, first_lines], context.rounds(20, 6), warm_up=2)
        times.add("list 1,000 sessions", ours, "readline of each", bare, aim="2")
    context.show(times)


def _first_write(context: Context, place: Place) -> None:
    times = context.times(
        "The first write to a format-3 file of 4 MB, which rewrites it, beside read + write + fsync"
    )
    text = _format_3(4_000_000)
    with place.fresh() as url, open_repository(url) as repo:
        folder = Path(url.removeprefix("jsonl:")) / "----"
        folder.mkdir(parents=True)
        numbers = iter(range(10**6))

        def ours() -> Work:
            id = f"old-{next(numbers)}"
            path = folder / f"2025-10-09T08-53-20-000Z_{id}.jsonl"
            path.write_text(text.replace("THE-ID", id, 1), encoding="utf-8")
            session = repo.open(id)
            session.get_stats()

            def write() -> None:
                session.commit([set_value(value("app.state"), 1)])
                session.close()

            return write

        def bare() -> Work:
            source, target = folder / "copy.source", folder / "copy.target"
            source.write_text(text, encoding="utf-8")

            def copy() -> None:
                with source.open("rb") as read, target.open("wb") as write:
                    write.write(read.read())
                    write.flush()
                    os.fsync(write.fileno())

            return copy

        first, second = prepared_in_turn([ours, bare], context.rounds(10, 4), warm_up=1)
        times.add("first write", first, "copying the file", second, note=size(len(text)))
    context.show(times)


def _format_3(length: int) -> str:
    lines = ['{"type":"session","version":3,"id":"THE-ID","timestamp":"2025-10-09T08:53:20.000Z","cwd":""}']
    total, parent = 0, None
    while total < length:
        id = f"{len(lines):08x}"
        message = {**MESSAGE, "usage": USAGE}
        entry = {"type": "message", "id": id, "parentId": parent, "timestamp": "2025-10-09T08:53:21.000Z"}
        lines.append(json.dumps({**entry, "message": message}, separators=(",", ":")))
        total += len(lines[-1]) + 1
        parent = id
    return "\n".join(lines) + "\n"


def _scopes(context: Context, place: Place) -> None:
    """20 operations, each of 400 frames and two tools with 60 checkpoints of 50 KB."""
    table = Figures(
        "The workload that scopes are for",
        ("kept in", "main file", "sidecars at their peak", "share of unscoped"),
    )
    operations = 5 if context.quick else 20
    scoped = _operations(place, operations, scoped=True)
    plain = _operations(place, operations, scoped=False)
    table.add(
        "a scope of its own for each operation",
        size(scoped[0]),
        size(scoped[1]),
        f"{scoped[0] / plain[0]:.3%}",
    )
    table.add("session scope", size(plain[0]), size(plain[1]), "100 %")
    context.show(table)


def _operations(place: Place, operations: int, *, scoped: bool) -> tuple[int, int]:
    """Bytes of the main file in the end, and of the sidecars at their peak."""
    checkpoint = {"output": "x" * 50_000}
    peak = 0
    with place.fresh() as url, open_repository(url) as repo, repo.create() as session:
        path = Path(session.metadata.path or "")
        talk = Conversation()
        for number in range(operations):
            scope = ephemeral_scope(f"operation-{number}") if scoped else None
            frames: Any = value_list("pi.pending.assistant_frame", f"operation-{number}", scope=scope)  # type: ignore[call-overload]  # either scope
            for _ in range(400):
                session.append_list(frames, {"type": "text_delta", "delta": "some more words of the answer "})
            for tool in range(2):
                output: Any = value("pi.pending.tool_output", f"{number}/{tool}", scope=scope)  # type: ignore[call-overload]
                for _ in range(60):
                    session.set_value(output, checkpoint)
            peak = max(peak, _sidecars(path))
            end: Writes = [*talk.turn(), insert_usage(NewUsageRow(f"cost-{number}", USAGE))]
            session.commit([*end, retire_scope(scope)] if scope is not None else end)
        return path.stat().st_size, peak


def _sidecars(path: Path) -> int:
    others = (file for file in path.parent.rglob("*") if file.is_file() and file != path)
    return sum(file.stat().st_size for file in others)
