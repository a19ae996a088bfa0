"""The SQL of every statement for every dialect, as text: see it change when the store changes.

Write the golden files anew with ``python -m tests.server.statement_texts``; no server is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from sessionstore.sql.branch_statements import BranchStatements
from sessionstore.sql.dialects import MariadbDialect, PostgresqlDialect, SqlDialect, SqliteDialect
from sessionstore.sql.prepared import BySize, Prepared
from sessionstore.sql.schema import schema_statements
from sessionstore.sql.single_write import SingleWriteStatements
from sessionstore.sql.statements import ListStatement, Statements

GOLDEN = Path(__file__).parent / "golden"

DIALECTS: dict[str, SqlDialect] = {
    dialect.name: dialect for dialect in (SqliteDialect(), PostgresqlDialect(), MariadbDialect())
}

ORDERS = ("asc", "desc")
FLAGS = (False, True)


def text_of(dialect: SqlDialect) -> str:
    """Every statement of a dialect, each under its name."""
    parts = []
    for name, statement in all_statements(dialect):
        lines = [line.rstrip() for line in statement.strip().split("\n")]
        parts.append("\n".join([f"-- {name}", *lines]) + ";\n")
    return "\n".join(parts)


def all_statements(dialect: SqlDialect) -> Iterator[tuple[str, str]]:
    """Names and texts: the schema, transactions, then the statements in the order of their names."""
    for number, statement in enumerate(schema_statements(dialect.compiler), start=1):
        yield f"schema {number}", statement
    yield from transactions(dialect)
    statements, branch = Statements(dialect), BranchStatements(dialect)
    named = {**properties(statements), **properties(branch.copying)}
    if dialect.commits_at_once:
        single = properties(SingleWriteStatements(dialect))
        named |= {f"single write: {name}": statement for name, statement in single.items()}
    for after, limited in product(FLAGS, FLAGS):
        named[f"list_sessions(after={after}, limited={limited})"] = statements.list_sessions(
            after=after, limited=limited
        )
    for order, by_type, by_custom_type in product(ORDERS, FLAGS, FLAGS):
        named[f"scan_entries({order}, by_type={by_type}, by_custom_type={by_custom_type})"] = (
            statements.scan_entries(order, by_type=by_type, by_custom_type=by_custom_type)
        )
    for order in ORDERS:
        named[f"scan_usage({order})"] = statements.scan_usage(order)
        named[f"read_list({order})"] = statements.read_list(order)
    for bounded in FLAGS:
        named[f"scan_values(bounded={bounded})"] = statements.scan_values(bounded=bounded)
    for what, (places, scopes) in product(("values", "lists"), ((2, 0), (0, 1), (2, 1))):
        named[f"delete_places({what}, places={places}, scopes={scopes})"] = statements.delete_places(
            what, places, scopes
        )[0]
    for order, payload, stops, filtered in product(ORDERS, FLAGS, FLAGS, FLAGS):
        named[f"branch head({order}, payload={payload}, stops={stops}, filtered={filtered})"] = branch.head(
            order, payload=payload, stops=stops, filtered=filtered
        )
    for order, payload, filtered in product(ORDERS, FLAGS, FLAGS):
        named[f"branch arms({order}, payload={payload}, filtered={filtered})"] = branch.arms(
            order, payload=payload, filtered=filtered
        )
    for name, statement in named.items():
        if name == "take_numbers" and not dialect.update_returns:
            yield name, "-- lock_session and advance_session instead"
        else:
            yield from texts(name, statement)


def properties(owner: object) -> dict[str, Any]:
    """The statements that an object has as properties, by name."""
    found = [name for name, member in vars(type(owner)).items() if isinstance(member, cached_property)]
    return {name: getattr(owner, name) for name in sorted(found)}


def texts(name: str, statement: object) -> Iterator[tuple[str, str]]:
    """A statement's text; those of a group or of a size one by one."""
    match statement:
        case Prepared():
            yield name, statement.sql
        case ListStatement():
            yield f"{name}, two items", statement.of(("session",), ["one", "two"])[0].sql
        case BySize():
            for size in (1, 2):
                yield f"{name}, size {size}", statement.at_least(size)[0].sql
        case dict():
            for key, part in statement.items():
                yield from texts(f"{name}[{key}]", part)
        case tuple():
            for number, part in enumerate(statement):
                yield from texts(f"{name}[{number}]", part)
        case _:
            raise TypeError(f"{name} is no statement: {statement!r}")


class Recorder:
    """Stands for a driver's connection in autocommit mode and keeps what it is told."""

    autocommit = True
    in_transaction = True

    def __init__(self) -> None:
        self.told: list[str] = []

    def get_autocommit(self) -> bool:
        return True

    def execute(self, statement: str) -> None:
        self.told.append(statement)

    def cursor(self) -> Recorder:
        return self

    def close(self) -> None:
        pass

    def commit(self) -> None:
        self.told.append("COMMIT")

    def rollback(self) -> None:
        self.told.append("ROLLBACK")


def transactions(dialect: SqlDialect) -> Iterator[tuple[str, str]]:
    """How transactions begin and end."""
    for name in ("begin_write", "begin_snapshot", "commit", "rollback"):
        raw = Recorder()
        done: tuple[list[Any], ...] = ([],) if name == "commit" else ()
        getattr(dialect, name)(raw, *done)
        yield name, ";\n".join(raw.told)


def golden_file(name: str) -> Path:
    """The golden file of a dialect."""
    return GOLDEN / f"{name}.sql"


if __name__ == "__main__":
    for own_name, own_dialect in DIALECTS.items():
        golden_file(own_name).write_text(text_of(own_dialect), encoding="utf-8")
