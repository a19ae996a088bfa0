"""Commands that look at sessions: list, show, verify; and delete."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import chain
from typing import Annotated, Any

import typer

from sessionstore import json_text
from sessionstore.cli.database import schema_problems
from sessionstore.cli.options import Cwd, Json, SessionId, Url
from sessionstore.cli.output import count, fail, printable, say, say_json, time_of
from sessionstore.cli.progress import progress_of
from sessionstore.cli.stores import find_session, open_store
from sessionstore.cli.view import SessionView, print_header, print_state, print_stats, print_tree
from sessionstore.image import SessionImage
from sessionstore.metadata import SessionMetadata
from sessionstore.records import (
    ElementRecord,
    EntryRecord,
    UsageRecord,
    ValueRecord,
    entry_of,
    usage_row_of,
)
from sessionstore.transfer import Verdict, compare_stores, verify_store
from sessionstore.wire import entry_to_json, metadata_to_json, stats_to_json, usage_row_to_json


def list_sessions(
    url: Url,
    cwd: Annotated[str | None, typer.Option("--cwd", help="Only sessions of this working directory.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=0, help="At most so many.")] = None,
    json: Json = False,
) -> None:
    """List the sessions of a store, newest first."""
    with open_store(url) as repo:
        sessions = repo.list(cwd=cwd, limit=limit)
    if json:
        say_json([metadata_to_json(session) for session in sessions])
        return
    for line in _columns([_row(session) for session in sessions]):
        say(line)
    say(count(len(sessions), "session"), "dim")


def _row(session: SessionMetadata) -> tuple[str, ...]:
    return (
        session.id,
        f"created {time_of(session.created_at)}",
        f"changed {time_of(session.modified_at)}",
        session.cwd or "",
        f"fork of {session.parent_session_id}" if session.parent_session_id else "",
    )


def _columns(rows: list[tuple[str, ...]]) -> Iterable[str]:
    shown = [[printable(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def show(
    url: Url,
    session: SessionId,
    *,
    cwd: Cwd = None,
    full: Annotated[bool, typer.Option("--full", help="Show messages and values whole.")] = False,
    ids: Annotated[bool, typer.Option("--ids", help="Show the ids of entries.")] = False,
    json: Json = False,
) -> None:
    """Show a session: its tree with the branches marked, values, lists and statistics."""
    with open_store(url) as repo:
        metadata = find_session(repo, session, cwd)
        with repo.snapshot(metadata) as image:
            if json:
                say_json(_session_to_json(metadata, image))
                return
            view = SessionView(image, full=full)
    print_tree(view, f"session {metadata.id}", ids=ids)
    print_header(view.header)
    print_state(view)
    print_stats(view.header.stats, view.usage_rows)


def _session_to_json(metadata: SessionMetadata, image: SessionImage) -> dict[str, Any]:
    found: dict[str, list[dict[str, Any]]] = {"entries": [], "usage": [], "values": [], "lists": []}
    for record in image.records:
        match record:
            case EntryRecord():
                found["entries"].append(entry_to_json(entry_of(record)))
            case UsageRecord():
                found["usage"].append(usage_row_to_json(usage_row_of(record)))
            case ValueRecord():
                found["values"].append(_state_to_json(record))
            case ElementRecord():
                tag = {} if record.tag is None else {"tag": record.tag}
                found["lists"].append(_state_to_json(record) | tag)
    header = image.header
    return {
        "metadata": metadata_to_json(metadata),
        "nextSeq": header.next_seq,
        "stats": stats_to_json(header.stats),
        **found,
    }


def _state_to_json(record: ValueRecord | ElementRecord) -> dict[str, Any]:
    scope = {"scopeId": record.scope_id} if record.scope_id else {}
    return {
        **scope,
        "namespace": record.namespace,
        "key": record.key,
        "seq": record.seq,
        "value": json_text.decode(record.value),
    }


def delete(url: Url, session: SessionId, cwd: Cwd = None, json: Json = False) -> None:
    """Delete a session and everything in it, at once and for good."""
    with open_store(url) as repo:
        metadata = find_session(repo, session, cwd)
        repo.delete(metadata)
    if json:
        say_json({"deleted": metadata_to_json(metadata)})
    else:
        say(f"deleted {metadata.id}")


def verify(
    url: Url,
    other: Annotated[
        str | None, typer.Argument(metavar="[URL2]", help="A second store: prove that both are equal.")
    ] = None,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair",
            help="Rebuild what is derived, set aside what is unreadable, remove what is half made.",
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Prove that the sessions of a store are whole, or that two stores hold equal sessions."""
    if other is not None and repair:
        raise typer.BadParameter("--repair goes with one store")
    if other is None:
        schema = Verdict(None, problems=schema_problems(url))
        with open_store(url) as repo, progress_of("verifying", None) as progress:
            found = chain([schema], verify_store(repo, repair=repair, progress=progress))
            verdicts = [*_told(found, json)]
    else:
        with (
            open_store(url) as repo,
            open_store(other) as second,
            progress_of("comparing", None) as progress,
        ):
            verdicts = [*_told(compare_stores(repo, second, progress), json)]
    _conclude(verdicts, json)


def _told(verdicts: Iterable[Verdict], json: bool) -> Iterable[Verdict]:
    for verdict in verdicts:
        if not json:
            _tell(verdict)
        yield verdict


def _tell(verdict: Verdict) -> None:
    name = "store" if verdict.session_id is None else verdict.session_id
    for repair in verdict.repairs:
        say(f"{name}: repaired: {repair}", "yellow")
    for problem in verdict.problems:
        say(f"{name}: {problem}", "red")
    if verdict.session_id is not None and not verdict.problems:
        say(f"{name}: ok" + (f" ({count(verdict.records, 'record')})" if verdict.records else ""))


def _conclude(verdicts: list[Verdict], json: bool) -> None:
    sessions = [verdict for verdict in verdicts if verdict.session_id is not None]
    bad = sum(bool(verdict.problems) for verdict in verdicts)
    if json:
        say_json({"ok": not bad, "verdicts": [_verdict_to_json(verdict) for verdict in verdicts]})
    else:
        say(count(len(sessions), "session"), "dim")
    if bad:
        sys.stdout.flush()
        problems = sum(len(verdict.problems) for verdict in verdicts)
        fail(f"{count(problems, 'problem')} found")


def _verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    return {
        "sessionId": verdict.session_id,
        "cwd": verdict.cwd,
        "records": verdict.records,
        "problems": verdict.problems,
        "repairs": verdict.repairs,
    }
