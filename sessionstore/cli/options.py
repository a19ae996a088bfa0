"""Arguments and options that several commands take."""

from __future__ import annotations

from typing import Annotated

import typer

Url = Annotated[str, typer.Argument(metavar="URL", help="A store URL, or the path of a SQLite file.")]
SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="The id of a session.")]
Cwd = Annotated[
    str | None,
    typer.Option("--cwd", help="The session's working directory, where several have the same id."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document for machines.")]
