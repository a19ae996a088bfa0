"""Statements of a commit, counted where the store calls the driver's cursors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.context import Context
from benchmarks.places import file_places, server_places
from benchmarks.recording import Log
from benchmarks.report import Figures
from benchmarks.twins import recorded_repository
from benchmarks.work import BATCH, FRAMES, TIP, USAGE, Conversation, Writes, frame
from sessionstore import (
    NewCustomEntry,
    NewUsageRow,
    SessionRepo,
    append_list,
    delete_list,
    delete_value,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    retire_scope,
    set_value,
    value,
    value_list,
)
from sessionstore.plan import plan_commit


@dataclass(frozen=True)
class Mix:
    """Writes of one transaction."""

    name: str
    writes: Writes


def run(context: Context) -> None:
    """Every mix on every database, beside the budget of k + 5."""
    databases = [place for place in file_places(context) if place.name == "sqlite"]
    for place in [*databases, *server_places(context)]:
        with recorded_repository(place) as (repo, log):
            context.show(_count(place.name, repo, log, context.quick))


def _count(name: str, repo: SessionRepo, log: Log, quick: bool) -> Figures:
    table = Figures(
        f"Statements of one commit on {name}, counted at the cursor, BEGIN and COMMIT included",
        ("commit", "writes", "k", "budget k + 5", "sent", "which"),
    )
    with repo.create() as session:
        for mix in _mixes(quick):
            log.take()
            session.commit(mix.writes)
            sent = log.take()
            tables = table_pairs(mix.writes)
            kinds = ", ".join(
                kind if count == 1 else f"{count} {kind}" for kind, count in sent.kinds().items()
            )
            table.add(mix.name, len(mix.writes), tables, tables + 5, len(sent.statements), kinds)
    return table


def table_pairs(writes: Writes) -> int:
    """The (table, insert or delete) pairs that a transaction needs: k of the budget."""
    plan = plan_commit(writes)
    return sum(
        bool(needed)
        for needed in (
            plan.entries,
            plan.usage_rows,
            plan.value_sets,
            plan.appends,
            plan.value_deletes or plan.retired,
            plan.list_deletes or plan.retired,
        )
    )


def _mixes(quick: bool) -> Iterator[Mix]:
    talk = Conversation()
    yield Mix("one list append", frame())
    yield Mix(f"{BATCH} list appends", [write for _ in range(BATCH) for write in frame()])
    yield Mix("1 entry", talk.batch(1))
    yield Mix("mixed append: entry, tip, usage", talk.turn())
    old = talk.tip
    batch = talk.batch()
    olds = [write.entry.id for write in batch]
    yield Mix(f"{BATCH} entries", batch)
    if not quick:
        yield Mix("10,000 entries", talk.batch(10_000))
    yield Mix("1 entry at the tip", talk.batch(1))
    yield Mix("1 entry at an old entry (divergence)", Conversation(old).batch(1))
    yield Mix("the same once more", Conversation(old).batch(1))
    yield Mix("50 divergences at old entries", _divergences(olds[:50]))
    yield Mix("one value set", [set_value(TIP, talk.tip)])
    yield Mix("100 values set", _sets(100))
    yield Mix("50 set, 50 deleted", [*_sets(50, 100), *_deletes(50)])
    yield Mix("300 deleted", _deletes(300))
    yield Mix("list deleted and begun anew", [delete_list(_LOG), append_list(_LOG, 1)])
    yield Mix("one scope retired", [retire_scope(FRAMES.scope)])
    yield Mix("turn settled: entry, tip, usage, scope retired", [*talk.turn(), retire_scope(FRAMES.scope)])
    yield Mix("300 scopes retired, 300 values deleted", [*_retirements(300), *_deletes(300)])
    yield Mix("1,000 scopes retired", _retirements(1000))
    yield Mix("everything at once", _everything(talk))


_LOG = value_list("app.log")


def _sets(count: int, start: int = 0) -> Writes:
    return [set_value(value("app.state", str(number)), number) for number in range(start, start + count)]


def _deletes(count: int) -> Writes:
    return [delete_value(value("app.state", str(number))) for number in range(count)]


def _retirements(count: int) -> Writes:
    return [retire_scope(ephemeral_scope(f"operation-{number}")) for number in range(count)]


def _divergences(parents: list[str]) -> Writes:
    return [insert_entry(NewCustomEntry(f"aside-{id}", id, "app.aside")) for id in parents]


def _everything(talk: Conversation) -> Writes:
    return [
        *talk.turn(),
        insert_usage(NewUsageRow("adjustment-1", USAGE, adjustment=True)),
        *_sets(5),
        *_deletes(2),
        delete_list(_LOG),
        append_list(_LOG, 1),
        *_retirements(2),
    ]
