"""Make the golden database of revision 0001: python tests/sql/golden/make_0001.py [FILE].

The committed file is what releases of storage version 1 wrote; it is made once and stays. Every
figure is written out here, none is computed by the library, so that the file tells when the
library reads it differently.
"""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).with_name("0001.sqlite")
CREATED = 1_767_225_600_000

MAIN = "golden-main"
AWKWARD_ID = "é ./..?#100%'\U0001f600"
LONGEST_SCOPE = "s" * 180
LONGEST_NAMESPACE = "\U0001f4be" * 63 + "abc"
LONGEST_KEY = "é" * 512

# JSON text exactly as it was captured: escapes, number spellings and key order are part of it.
AWKWARD_JSON = (
    r'{"z":1,"a":-0.0,"big":1180591620717411303424,"huge":1e308,"nul":"\u0000","lone":"\ud800","pair":"😀",'
    r'"line":"a\nb\u2028c","empty":{},"null":null,"":[[[]]]}'
)

SESSIONS: list[tuple[Any, ...]] = [
    # id, created_at, modified_at, parent_session_id, storage_version, metadata, message_count,
    # usage, next_seq
    (
        MAIN,
        CREATED,
        CREATED + 9_000,
        None,
        1,
        '{"cwd":"/srv/agent"}',
        5,
        (
            '{"input":1110,"output":222,"cacheRead":3,"cacheWrite":4,"totalTokens":1339,"cost":{"input":0.1,'
            '"output":0.2,"cacheRead":0,"cacheWrite":0,"total":0.6000000000000001},"cacheWrite1h":2,"reasoning":7}'
        ),
        32,
    ),
    (
        AWKWARD_ID,
        CREATED,
        CREATED,
        MAIN,
        1,
        None,
        0,
        (
            '{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,'
            '"cacheRead":0,"cacheWrite":0,"total":0}}'
        ),
        1,
    ),
]

ENTRIES: list[tuple[Any, ...]] = [
    # id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth
    ("e1", None, 1, "message", None, CREATED + 1_000, '{"message":{"role":"user","content":"hi"}}', 1, 0),
    (
        "e2",
        "e1",
        2,
        "message",
        None,
        CREATED + 2_000,
        (
            '{"message":{"role":"assistant","stopReason":"stop","content":[{"type":"text",'
            '"text":"\\ud800 é 😀"}],"unknown":{"kept":true}},"terminate":true}'
        ),
        1,
        1,
    ),
    ("e3", "e2", 5, "custom", "note", CREATED + 3_000, '{"data":' + AWKWARD_JSON + "}", 1, 2),
    ("E3", "e3", 6, "custom", "note ", CREATED + 3_000, '{"data":null}', 1, 3),
    ("é3", "e3", 9, "custom", "e\u0301tat", CREATED + 4_000, "{}", 9, 3),
    (
        "e4",
        "e1",
        12,
        "message",
        None,
        CREATED + 5_000,
        '{"message":{"role":"user","content":"again"}}',
        12,
        1,
    ),
    (
        "e5",
        "e4",
        13,
        "compaction",
        None,
        CREATED + 5_000,
        (
            '{"summary":"so far","retainedTail":[{"role":"user","content":"again"}],"tokensBefore":1200,'
            '"details":{"by":"hook"},"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,'
            '"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"fromHook":true}'
        ),
        12,
        2,
    ),
    (
        "e6",
        "e4",
        14,
        "message",
        None,
        CREATED + 6_000,
        '{"message":{"role":"toolResult","content":[]}}',
        14,
        2,
    ),
    (
        "e7",
        "e6",
        18,
        "branch_summary",
        None,
        CREATED + 7_000,
        '{"fromId":"e5","summary":"left","fromHook":false}',
        14,
        3,
    ),
    (
        "r2",
        None,
        19,
        "message",
        None,
        CREATED + 8_000,
        '{"message":{"role":"user","content":"second root"}}',
        19,
        0,
    ),
]

VALUES: list[tuple[Any, ...]] = [
    # scope_id, namespace, key, seq, value
    ("", "pi.branch.tip", "main", 7, '"E3"'),
    ("", "pi.branch.tip", "Main", 15, '"e6"'),
    ("", "pi.branch.tip", "main ", 20, "null"),
    ("", "pi.session.name", "", 21, '"Grüße 😀"'),
    ("", "app", "k", 22, AWKWARD_JSON),
    ("op-1", "app", "k", 23, "1"),
    ("OP-1", "app", "k", 24, "2"),
    (LONGEST_SCOPE, LONGEST_NAMESPACE, LONGEST_KEY, 25, "[]"),
]

LISTS: list[tuple[Any, ...]] = [
    # scope_id, namespace, key, seq, value, tag
    ("", "app", "log", 26, '{"n":1}', None),
    ("", "app", "log", 27, '{"n":2}', "tag"),
    ("", "app", "log", 30, "null", "tag "),
    ("op-1", "app", "log", 28, '"frame"', None),
    (LONGEST_SCOPE, LONGEST_NAMESPACE, LONGEST_KEY, 31, "-0.0", LONGEST_NAMESPACE),
]

LEDGER: list[tuple[Any, ...]] = [
    # id, seq, entry_id, adjustment, usage, details
    (
        "u1",
        8,
        "e2",
        0,
        (
            '{"input":1000,"output":200,"cacheRead":3,"cacheWrite":4,"cacheWrite1h":2,"totalTokens":1207,'
            '"cost":{"input":0.1,"output":0.2,"cacheRead":0,"cacheWrite":0,"total":0.1}}'
        ),
        None,
    ),
    (
        "U1",
        16,
        None,
        0,
        (
            '{"input":100,"output":20,"cacheRead":0,"cacheWrite":0,"reasoning":7,"totalTokens":120,'
            '"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.2}}'
        ),
        "null",
    ),
    (
        "u2",
        17,
        "e6",
        1,
        (
            '{"input":10,"output":2,"cacheRead":0,"cacheWrite":0,"totalTokens":12,'
            '"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.3}}'
        ),
        '{"reason":"retry","at":1e308}',
    ),
]


def make(path: Path) -> None:
    """Write the golden database to ``path``, which must not exist."""
    subprocess.run(
        [sys.executable, "-m", "alembic", "-x", f"url=sqlite:///{path}", "upgrade", "0001"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    of_main = {
        "entries": (
            ENTRIES,
            "session_id, id, parent_id, seq, type, custom_type, timestamp, payload, segment_seq, depth",
        ),
        "scalar_values": (VALUES, "session_id, scope_id, namespace, key, seq, value"),
        "list_values": (LISTS, "session_id, scope_id, namespace, key, seq, value, tag"),
        "usage_ledger": (LEDGER, "session_id, id, seq, entry_id, adjustment, usage, details"),
    }
    with closing(sqlite3.connect(path)) as connection:
        with connection:
            connection.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", SESSIONS)
            for table, (rows, columns) in of_main.items():
                marks = ", ".join("?" for _ in columns.split(","))
                connection.executemany(
                    f"INSERT INTO {table} ({columns}) VALUES ({marks})", [(MAIN, *row) for row in rows]
                )
        connection.execute("VACUUM")


def _check() -> None:
    for rows, texts in ((VALUES, [4]), (LISTS, [4]), (LEDGER, [4]), (ENTRIES, [6])):
        for row in rows:
            for column in texts:
                json.loads(row[column])


if __name__ == "__main__":
    _check()
    make(Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else GOLDEN)
