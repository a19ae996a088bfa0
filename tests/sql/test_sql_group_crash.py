"""A process that is killed while many of its threads commit to one SQLite container."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sql.group_victim import LOG, THREADS, entry_id

from sessionstore import open_repository
from sessionstore.transfer import verify_store

CRASHES = 20


def acknowledged_until_killed(url: str, count: int) -> list[tuple[str, int, int]]:
    """Let the victim make so many commits and kill it there: session, element and number of each."""
    tests = Path(__file__).parents[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "sql.group_victim", url],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tests,
        env={"PYTHONPATH": f"{tests.parent}:{tests}"},
    )
    assert process.stdout is not None
    with process:
        try:
            lines = [process.stdout.readline() for _ in range(count)]
        finally:
            process.kill()
        lines += process.stdout.readlines()
    told = [line.split() for line in lines if line.endswith("\n")]
    return [(id, int(element), int(seq)) for id, element, seq in told]


@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_any_of_twenty_crashes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/s.db"
    with open_repository(url) as repo:
        for number in range(THREADS):
            repo.create(id=f"s{number}").close()
    known: dict[tuple[str, int], int] = {}
    for crash in range(CRASHES):
        for id, element, seq in acknowledged_until_killed(url, 20 + 37 * crash % 211):
            assert known.setdefault((id, element), seq) == seq
        with open_repository(url) as repo:
            for number in range(THREADS):
                with repo.open(f"s{number}") as session:
                    log = session.read_list(LOG, limit=10_000)
                    entries = session.find_entries(order="asc")
                    next_seq = session.storage.next_seq()
                # Both writes of a commit or neither, one after the other, and no number twice.
                assert [element.value for element in log] == list(range(len(log)))
                assert [entry.id for entry in entries] == [entry_id(n) for n in range(len(log))]
                seqs = [entry.seq for entry in entries]
                assert [element.seq for element in log] == [seq + 1 for seq in seqs]
                assert sorted(set(seqs)) == seqs
                assert next_seq > max(seqs, default=0) + 1 or not seqs
                for element, seq in enumerate(seqs):
                    assert known.setdefault((f"s{number}", element), seq) == seq
                kept = sum(id == f"s{number}" for id, _ in known)
                assert kept == len(log), f"crash {crash}: an acknowledged commit is lost"
            assert [verdict.problems for verdict in verify_store(repo)] == [[]] * (THREADS + 1)
    assert len(known) > CRASHES * THREADS
