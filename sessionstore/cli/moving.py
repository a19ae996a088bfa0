"""Commands that move sessions: import, export, copy, fork."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from sessionstore import transfer
from sessionstore.cli.options import Cwd, Json, SessionId, Url
from sessionstore.cli.output import count, fail, say, say_json
from sessionstore.cli.progress import progress_of
from sessionstore.cli.stores import as_text, find_session, open_store
from sessionstore.fork import ForkBranch, ForkTree
from sessionstore.transfer import (
    CopyOutcome,
    ImportOutcome,
    Status,
    copy_sessions,
    find_sources,
    import_sources,
)
from sessionstore.wire import metadata_to_json

_NEWEST_FORMAT: Final = 4


def import_sessions(
    paths: Annotated[
        list[Path], typer.Argument(metavar="FILE|FOLDER...", help="Session files, or folders of them.")
    ],
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The store to bring them into.")],
    lenient: Annotated[
        bool,
        typer.Option("--lenient", help="Convert formats 1 and 2 and forgive damage, naming each mercy."),
    ] = False,
    json: Json = False,
) -> None:
    """Bring session files into a store; what is already there is left alone."""
    sources = find_sources(paths)
    outcomes: list[ImportOutcome] = []
    with open_store(to) as target, progress_of("importing", len(sources)) as progress:
        for outcome in import_sources(sources, target, lenient=lenient, progress=progress):
            outcomes.append(outcome)
            if not json:
                _tell_import(outcome)
    if json:
        say_json({"files": [_import_to_json(outcome) for outcome in outcomes], **_summary(outcomes)})
    else:
        _tell_summary(outcomes)
    refused = sum(outcome.status is Status.REFUSED for outcome in outcomes)
    if refused:
        fail(f"{count(refused, 'file was', 'files were')} not imported")


def _tell_import(outcome: ImportOutcome) -> None:
    if outcome.status is Status.REFUSED:
        say(f"{outcome.path}: refused: {outcome.problem}", "red")
    elif outcome.status is Status.THERE:
        by = "" if outcome.same_as is None else f" (from {outcome.same_as})"
        say(f"{outcome.path}: already there: {outcome.session_id}{by}")
    else:
        converted = "" if outcome.format == _NEWEST_FORMAT else f", from format {outcome.format}"
        entries = _entries(outcome.entries)
        say(f"{outcome.path}: imported {outcome.session_id} ({entries}{converted})")
    for mercy in outcome.mercies:
        say(f"  forgiven: {mercy}", "yellow")


def _entries(number: int) -> str:
    return count(number, "entry", "entries")


def _summary(outcomes: list[ImportOutcome]) -> dict[str, int]:
    statuses = [outcome.status for outcome in outcomes]
    return {
        "sessions": statuses.count(Status.IMPORTED),
        "entries": sum(outcome.entries for outcome in outcomes),
        "alreadyThere": statuses.count(Status.THERE),
        "refused": statuses.count(Status.REFUSED),
    }


def _tell_summary(outcomes: list[ImportOutcome]) -> None:
    done = _summary(outcomes)
    mercies = sum(len(outcome.mercies) for outcome in outcomes)
    parts = [
        count(len(outcomes), "file"),
        f"{count(done['sessions'], 'session')} with {_entries(done['entries'])} imported",
        f"{done['alreadyThere']:,} already there",
        f"{done['refused']:,} refused",
    ]
    if mercies:
        parts.append(f"{count(mercies, 'thing')} forgiven")
    say(", ".join(parts), "bold")
    for outcome in outcomes:
        if outcome.status is Status.REFUSED:
            say(f"  skipped {outcome.path}: {outcome.problem}", "red")


def _import_to_json(outcome: ImportOutcome) -> dict[str, Any]:
    return {
        "path": str(outcome.path),
        "status": outcome.status.value,
        "sessionId": outcome.session_id,
        "format": outcome.format,
        "entries": outcome.entries,
        "mercies": [
            {"line": mercy.line, "kind": mercy.kind, "detail": mercy.detail} for mercy in outcome.mercies
        ],
        "problem": outcome.problem,
        "line": outcome.line,
    }


def export_session(
    url: Url,
    session: SessionId,
    to: Annotated[Path, typer.Option("--to", metavar="FILE", help="The file to write; it must not exist.")],
    *,
    cwd: Cwd = None,
    json: Json = False,
) -> None:
    """Write a session as a format-4 file, with its live scopes beside it in FILE.scopes."""
    with open_store(url) as repo, progress_of("exporting", 1) as progress:
        metadata = find_session(repo, session, cwd)
        progress.begin(metadata.id)
        with repo.snapshot(metadata) as snapshot:
            done = transfer.export_session(snapshot, to, progress)
    if json:
        scopes = None if done.scopes is None else str(done.scopes)
        say_json({"sessionId": metadata.id, "path": str(to), "records": done.records, "scopes": scopes})
    else:
        beside = "" if done.scopes is None else f", live scopes in {done.scopes}"
        say(f"{to}: exported {metadata.id} ({count(done.records, 'record')}{beside})")


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
        with target.fork(
            metadata, wanted, id=None if id is None else as_text(id), source_repository=source
        ) as made:
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
