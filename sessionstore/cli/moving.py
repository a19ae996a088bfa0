"""Commands that move sessions: import, export, copy."""

from __future__ import annotations

from typing import Annotated

import typer

from sessionstore.cli.options import Json
from sessionstore.cli.output import count, fail, say, say_json
from sessionstore.cli.progress import progress_of
from sessionstore.cli.stores import find_session, open_store
from sessionstore.transfer import CopyOutcome, copy_sessions


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
