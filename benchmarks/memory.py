"""Commits in memory: what the rules themselves cost, without any store below them."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from benchmarks.context import Context
from benchmarks.timing import Sample, Stopwatch, Work
from benchmarks.work import MESSAGE, Conversation, Writes, frame
from sessionstore import Session, open_repository


def run(context: Context) -> None:
    """One turn, one frame and one batch, beside encoding, decoding and comparing one message."""
    if context.urls and not any(url.startswith("memory:") for url in context.urls):
        return
    times = context.times("Commits in memory, beside encoding, decoding and comparing one message (msgspec)")
    rounds = context.rounds(5000, 2000)
    with open_repository("memory://") as repo, repo.create() as session:
        talk = Conversation()
        for name, make, aim in (
            ("one turn", talk.turn, "35 µs"),
            ("one frame", frame, ""),
            ("250 entries", talk.batch, ""),
        ):
            ours, yard = _beside_codec(session, make, rounds if name != "250 entries" else rounds // 50)
            times.add(name, ours, "one message through the codec", yard, aim=aim)
    context.show(times)


def _beside_codec(session: Session, make: Callable[[], Writes], rounds: int) -> tuple[Sample, Sample]:
    encode, decode = msgspec.json.Encoder().encode, msgspec.json.Decoder().decode
    ours, yard = Stopwatch(), Stopwatch()

    def commit(writes: Writes) -> Work:
        return lambda: session.commit(writes)

    for number in range(rounds + 50):
        work = commit(make())
        if number < 50:
            work()
            continue
        ours.time(work)
        yard.time(lambda: decode(encode(MESSAGE)) == MESSAGE)
    return ours.sample(), yard.sample()
