"""A process that commits to a session and stops at a point, there to be killed: ``python -m jsonl.victim``.

It prints ``ready`` when it has committed what comes before, and ``at the point`` when it has come
to the point; then it waits for its end.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from sessionstore import (
    NewMessageEntry,
    Session,
    append_list,
    ephemeral_scope,
    insert_entry,
    open_repository,
    retire_scope,
    set_value,
    value,
    value_list,
)

OP = ephemeral_scope("op")
N, SCOPED, FRAMES = value("app", "n"), value("app", "n", scope=OP), value_list("app", "f", scope=OP)


def stop() -> NoReturn:
    print("at the point", flush=True)
    threading.Event().wait()
    raise AssertionError


def commit_main(session: Session) -> None:
    parent = session.find_entry()
    new = NewMessageEntry("late", parent.id if parent else None, {"role": "user", "content": "late " * 50})
    session.commit([insert_entry(new), set_value(N, "late")])


def commit_scoped(session: Session) -> None:
    session.commit([set_value(SCOPED, "late"), append_list(FRAMES, "late " * 50)])


def retire(session: Session) -> None:
    session.commit([retire_scope(OP), set_value(N, "late")])


def instead(owner: Any, name: str, before: Callable[..., object] | None, after: bool) -> None:
    """Have a function do ``before`` first, or itself, and then stop."""
    done = getattr(owner, name)

    def replaced(*args: Any, **kwargs: Any) -> None:
        if before is not None:
            before(*args)
        elif after:
            done(*args, **kwargs)
        stop()

    setattr(owner, name, replaced)


def half(fd: int, data: bytes) -> None:
    write(fd, data[: len(data) // 2])


write = os.write

POINTS: dict[str, tuple[Callable[[Session], None], Any, str, Callable[..., object] | None, bool]] = {
    "line not yet written": (commit_main, os, "write", None, False),
    "line partly written": (commit_main, os, "write", half, False),
    "line written": (commit_main, os, "write", None, True),
    "scoped line partly written": (commit_scoped, os, "write", half, False),
    "scoped line written": (commit_scoped, os, "write", None, True),
    "sidecar partly in tmp": (commit_scoped, os, "write", half, False),
    "sidecar in tmp": (commit_scoped, os, "write", None, True),
    "sidecar not yet renamed": (commit_scoped, Path, "replace", None, False),
    "sidecar renamed": (commit_scoped, Path, "replace", None, True),
    "retirement partly written": (retire, os, "write", half, False),
    "retirement durable, not unlinked": (retire, Path, "unlink", None, False),
    "retired and unlinked": (retire, Path, "unlink", None, True),
    "v3 temp partly written": (commit_main, os, "write", half, False),
    "v3 temp written, not renamed": (commit_main, Path, "replace", None, False),
    "v3 renamed": (commit_main, Path, "replace", None, True),
    "v3 temp written, scoped": (commit_scoped, Path, "replace", None, False),
    "v3 upgraded, scoped line not written": (commit_scoped, Path, "mkdir", None, False),
}


def main(url: str, id: str, point: str) -> None:
    act, owner, name, before, after = POINTS[point]
    with open_repository(url) as repo, repo.open(id) as session:
        print("ready", flush=True)
        instead(owner, name, before, after)
        act(session)
    raise AssertionError(f"never came to {point!r}")


if __name__ == "__main__":
    main(*sys.argv[1:])
