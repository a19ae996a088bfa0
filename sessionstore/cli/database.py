"""``sessionstore db``: the schema of SQL stores.

SQLAlchemy is imported inside the functions: commands on files never load it.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from sessionstore.cli.options import Json
from sessionstore.cli.options import Url as UrlArgument
from sessionstore.cli.output import count, fail, say, say_json
from sessionstore.cli.stores import sqlite_file
from sessionstore.errors import InvalidUrlError
from sessionstore.opening import open_repository

if TYPE_CHECKING:
    from sqlalchemy import URL

app = typer.Typer(help="The schema of SQL stores.", no_args_is_help=True, rich_markup_mode=None)

_WITHOUT_SCHEMA: Final = frozenset({"memory", "jsonl"})


@app.command()
def upgrade(url: UrlArgument, json: Json = False) -> None:
    """Bring the schema of a store to this release's, or make it."""
    from sessionstore.sql import migrations

    done = {_name(target): migrations.upgrade(target) for target in _databases(url)}
    if json:
        say_json(done)
        return
    for name, revision in done.items():
        say(f"{name}: at revision {revision}")


@app.command()
def current(url: UrlArgument, json: Json = False) -> None:
    """Print the schema revision of a store."""
    from sessionstore.sql import migrations

    found = {_name(target): migrations.current(target) for target in _databases(url)}
    if json:
        say_json(found)
        return
    for name, revision in found.items():
        say(f"{name}: {revision or 'no revision'}")


@app.command()
def check(url: UrlArgument, json: Json = False) -> None:
    """Compare the schema of a store with this release's; fail when they differ."""
    from sessionstore.sql import migrations

    found = {_name(target): migrations.check(target) for target in _databases(url)}
    problems = sum(len(lines) for lines in found.values())
    if json:
        say_json(found)
    else:
        for name, lines in found.items():
            for line in lines or ["the schema of this release"]:
                say(line if line.startswith(name) else f"{name}: {line}")
    if problems:
        fail(f"{count(problems, 'difference')} found")


def schema_problems(url: str) -> list[str]:
    """What keeps the database of a store from having this release's schema; nothing where there is none.

    Files of a folder of SQLite files are left to the store, which looks at each as it reads it.
    """
    path = sqlite_file(url)
    if path is None and (url.partition(":")[0] in _WITHOUT_SCHEMA or url.startswith("sqlite+dir:")):
        return []

    from sessionstore.sql import migrations

    if path is not None:
        return migrations.check(path)
    target = migrations.database_url(url)
    is_file = target.get_backend_name() == "sqlite"
    if is_file and not (target.database and Path(target.database).is_file()):
        return []
    return migrations.check(target)


def _databases(url: str) -> Iterator[URL]:
    """The databases of a store: each file of a folder of SQLite files, else the one of the URL."""
    from sqlalchemy import URL

    from sessionstore.sql import migrations

    if url.startswith("sqlite+dir:"):
        for file in sorted(Path(open_repository(url).container).glob("*.sqlite")):
            yield URL.create("sqlite", database=str(file))
        return
    path = sqlite_file(url)
    if path is None and url.partition(":")[0] in _WITHOUT_SCHEMA:
        raise InvalidUrlError(f"{url!r} is no SQL store: there is no schema")
    yield migrations.database_url(url) if path is None else URL.create("sqlite", database=str(path))


def _name(target: URL) -> str:
    from sessionstore.sql.drivers import shown

    return shown(target)
