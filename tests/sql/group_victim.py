"""A process whose threads commit to one container until it is killed: ``python -m sql.group_victim URL``.

It prints a line for each commit that was acknowledged: the session, what was appended, its number.
"""

from __future__ import annotations

import os
import sys
import threading

from sessionstore import NewMessageEntry, Session, append_list, insert_entry, open_repository, value_list

LOG = value_list("app", "log", type=int)
THREADS = 16


def entry_id(number: int) -> str:
    return f"entry-{number}"


def write_on(session: Session) -> None:
    last = session.read_list(LOG, order="desc", limit=1)
    number = last[0].value + 1 if last else 0
    while True:
        entry = NewMessageEntry(entry_id(number), None, {"role": "user", "content": "x" * 200})
        seqs = session.commit([insert_entry(entry), append_list(LOG, number)]).seqs
        os.write(1, f"{session.metadata.id} {number} {seqs[0]}\n".encode())
        number += 1


def main() -> None:
    repo = open_repository(sys.argv[1])
    for number in range(THREADS):
        threading.Thread(target=write_on, args=[repo.open(f"s{number}")], daemon=True).start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
