"""The commands and what they share: exit codes, and one clear line for every failure."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sessionstore.cli import database, demo, looking, moving
from sessionstore.cli.output import fail, prepare_streams, say
from sessionstore.errors import InvalidUrlError, SessionStoreError


class _Commands(TyperGroup):
    """Turns errors into exit codes: 1 for what failed, 2 for a URL that is none."""

    def invoke(self, ctx: Any) -> Any:  # the context's class differs between releases of typer
        try:
            return super().invoke(ctx)
        except InvalidUrlError as error:
            fail(str(error), 2)
        except (SessionStoreError, OSError) as error:
            if isinstance(error, BrokenPipeError):
                raise  # whoever read our output has gone: click ends quietly
            fail(_one_line(error))
        except ExceptionGroup as errors:
            fail("; ".join(_one_line(error) for error in errors.exceptions))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _print_version(wanted: bool) -> None:
    if wanted:
        try:
            say(f"sessionstore {version('sessionstore')}")
        except PackageNotFoundError:
            say("sessionstore, run from files that are not installed")
        raise typer.Exit


app = typer.Typer(
    cls=_Commands,
    help="Look at, move and check the sessions of agent servers. Every command takes store URLs: "
    "sqlite:///FILE, sqlite+dir:FOLDER, jsonl:FOLDER, postgresql+psycopg://…, mariadb+pymysql://…",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def _options(  # pyright: ignore[reportUnusedFunction]  # registered by its decorator
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    prepare_streams()


app.command("demo")(demo.demo)
app.command("import")(moving.import_sessions)
app.command("export")(moving.export_session)
app.command("copy")(moving.copy)
app.command("fork")(moving.fork)
app.command("list")(looking.list_sessions)
app.command("show")(looking.show)
app.command("delete")(looking.delete)
app.command("verify")(looking.verify)
app.add_typer(database.app, name="db")


def run() -> None:
    """Run the command of the process's arguments."""
    app(prog_name="sessionstore")
