"""Commands that move sessions: import, export, copy, fork."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Annotated

import typer

from sessionstore.cli.options import Cwd, Json, SessionId, Url
from sessionstore.cli.output import count, fail, say, say_json
from sessionstore.cli.progress import progress_of
from sessionstore.cli.stores import find_session, open_store
from sessionstore.fork import ForkBranch, ForkTree
from sessionstore.transfer import CopyOutcome, copy_sessions
from sessionstore.wire import metadata_to_json


def fork(
    url: Url,
    session: SessionId,
    *,
    branch: Annotated[str, typer.Option("--branch", help="The branch to take.")] = "main",
    entry: Annotated[
        str | None, typer.Option("--entry", metavar="ID", help="The entry to end at; default: the tip.")
    ] = None,
    before: Annotated[bool, typer.Option("--before", help="End before that entry.")] = False,
    tree: Annotated[bool, typer.Option("--tree", help="Take the whole tree and every branch.")] = False,
    state: Annotated[
        bool, typer.Option("--application-state", help="Take the application's values and lists too.")
    ] = False,
    id: Annotated[str | None, typer.Option("--id", help="The id of the new session.")] = None,
    to: Annotated[str | None, typer.Option("--to", metavar="URL", help="The store to fork into.")] = None,
    cwd: Cwd = None,
    json: Json = False,
) -> None:
    """Make a new session of a branch, or of the whole tree, of another."""
    if tree and (entry is not None or before or branch != "main"):
        raise typer.BadParameter("--tree takes all branches; it does not go with --branch, --entry, --before")
    wanted = (
        ForkTree(include_application_state=state)
        if tree
        else ForkBranch(
            branch,
            entry_id=entry,
            position="before" if before else "at",
            include_application_state=state,
        )
    )
    with open_store(url) as source, nullcontext(source) if to is None else open_store(to) as target:
        metadata = find_session(source, session, cwd)
        with target.fork(metadata, wanted, id=id, source_repository=source) as made:
            found = made.metadata
    if json:
        say_json(metadata_to_json(found))
    else:
        say(f"{found.id}: forked from {metadata.id}")


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", help="The store to copy from.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="The store to copy to.")],
    session: Annotated[
        list[str] | None, typer.Option("--session", metavar="ID", help="Only this session; may be repeated.")
    ] = None,
    json: Json = False,
) -> None:
    """Copy whole sessions between any two stores; an id that is taken is refused."""
    outcomes: list[CopyOutcome] = []
    with open_store(source) as first, open_store(target) as second:
        chosen = [find_session(first, id, None) for id in session] if session else first.list()
        with progress_of("copying", len(chosen)) as progress:
            for outcome in copy_sessions(first, second, chosen, progress):
                outcomes.append(outcome)
                if not json:
                    _tell_copy(outcome)
    refused = sum(outcome.problem is not None for outcome in outcomes)
    copied = len(outcomes) - refused
    records = sum(outcome.records for outcome in outcomes)
    if json:
        say_json(
            {
                "sessions": [
                    {"sessionId": outcome.session_id, "records": outcome.records, "problem": outcome.problem}
                    for outcome in outcomes
                ]
            }
        )
    else:
        say(f"{count(copied, 'session')} copied, {count(records, 'record')}", "bold")
    if refused:
        fail(f"{count(refused, 'session was', 'sessions were')} not copied")


def _tell_copy(outcome: CopyOutcome) -> None:
    if outcome.problem is None:
        say(f"{outcome.session_id}: copied ({count(outcome.records, 'record')})")
    else:
        say(f"{outcome.session_id}: refused: {outcome.problem}", "red")
