"""Peak memory of a fork, in a process that does nothing else: ``python -m fork.measure …``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from sessionstore import ForkBranch, ForkTree, SessionMetadata, SessionRepo, SessionStats, open_repository
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.records import IDLE_LANE_STATE, EntryRecord, Record, ValueRecord

PAYLOAD = 500


def big_session(repo: SessionRepo, entries: int) -> SessionMetadata:
    """A session of one long branch, each tenth entry with an aside off the path."""
    header = ImageHeader(
        repo.id_generator.next(), 1_700_000_000_000, 2 * entries + 10, SessionStats(message_count=entries)
    )
    return repo.load(SessionImage(header, _records(repo, entries)))


def _records(repo: SessionRepo, entries: int) -> Iterator[Record]:
    payload = '{"message":{"role":"user","content":"' + "x" * PAYLOAD + '"}}'
    tip = None
    for number in range(1, entries + 1):
        id = repo.id_generator.next()
        yield EntryRecord(id, tip, 2 * number, 1_700_000_000_000 + number, "message", None, payload)
        if number % 10 == 0:
            aside = repo.id_generator.next()
            yield EntryRecord(aside, tip, 2 * number + 1, 1_700_000_000_000, "custom", "aside", "{}")
        tip = id
    last = 2 * entries + 2
    yield ValueRecord("", "pi.branch.tip", "main", last, f'"{tip}"')
    yield ValueRecord("", "pi.lane.config", "main", last + 1, "{}")
    yield ValueRecord("", "pi.lane.state", "main", last + 2, IDLE_LANE_STATE)


def peak() -> int:
    """The most bytes that this process has had resident, since its program was started."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/self/status has no VmHWM")


def main(source_url: str, id: str, to_url: str, kind: str) -> None:
    """Fork and print the peak, in bytes, before and after."""
    with open_repository(source_url) as source, open_repository(to_url) as there:
        before = peak()
        to = source if source_url == to_url else there
        fork = ForkTree() if kind == "tree" else ForkBranch()
        to.fork(id, fork, source_repository=source).close()
        print(before, peak())


if __name__ == "__main__":
    main(*sys.argv[1:])
