"""Initial schema: storage version 1.

What is here stays as it is: later revisions change the schema from this one, and the models may
move on without it. Where DDL is not transactional (MariaDB, MySQL) an upgrade that was cut off
can be run again.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import context, op
from sqlalchemy.dialects import mysql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MYSQL_FAMILY = ("mysql", "mariadb")
MYSQL_OPTIONS = {"engine": "InnoDB", "row_format": "DYNAMIC", "charset": "utf8mb4", "collate": "utf8mb4_bin"}
OPTIONS: dict[str, Any] = {
    "sqlite_with_rowid": False,
    **{
        f"{dialect}_{option}": setting
        for dialect in MYSQL_FAMILY
        for option, setting in MYSQL_OPTIONS.items()
    },
}
DUPLICATE_KEY_NAME = 1061

SESSION_ID = SCOPE_ID = 180
NAME = 255
KEY = 1024
TYPE = 32


def upgrade() -> None:
    create_table(
        "sessions",
        exact("id", SESSION_ID),
        number("created_at"),
        number("modified_at"),
        exact("parent_session_id", SESSION_ID, nullable=True),
        sa.Column("storage_version", sa.Integer(), nullable=False),
        json_text("metadata", nullable=True),
        number("message_count"),
        json_text("usage"),
        number("next_seq"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
    )
    create_index("ix_sessions_created_at_id", "sessions", "created_at", "id")
    create_table(
        "entries",
        exact("session_id", SESSION_ID),
        exact("id", NAME),
        exact("parent_id", NAME, nullable=True),
        number("seq"),
        exact("type", TYPE),
        exact("custom_type", NAME, nullable=True),
        number("timestamp"),
        json_text("payload"),
        number("segment_seq"),
        number("depth"),
        sa.PrimaryKeyConstraint("session_id", "id", name=op.f("pk_entries")),
        sa.UniqueConstraint("session_id", "seq", name=op.f("uq_entries_session_id_seq")),
        of_session("entries"),
    )
    create_index("ix_entries_session_id_segment_seq_seq", "entries", "session_id", "segment_seq", "seq")
    create_table(
        "scalar_values",
        exact("session_id", SESSION_ID),
        exact("scope_id", SCOPE_ID),
        exact("namespace", NAME),
        exact("key", KEY),
        number("seq"),
        json_text("value"),
        sa.PrimaryKeyConstraint("session_id", "scope_id", "namespace", "key", name=op.f("pk_scalar_values")),
        of_session("scalar_values"),
    )
    create_table(
        "list_values",
        exact("session_id", SESSION_ID),
        exact("scope_id", SCOPE_ID),
        exact("namespace", NAME),
        exact("key", KEY),
        number("seq"),
        json_text("value"),
        exact("tag", NAME, nullable=True),
        sa.PrimaryKeyConstraint(
            "session_id", "scope_id", "namespace", "key", "seq", name=op.f("pk_list_values")
        ),
        of_session("list_values"),
    )
    create_table(
        "usage_ledger",
        exact("session_id", SESSION_ID),
        exact("id", NAME),
        number("seq"),
        exact("entry_id", NAME, nullable=True),
        sa.Column("adjustment", sa.Boolean(), nullable=False),
        json_text("usage"),
        json_text("details", nullable=True),
        sa.PrimaryKeyConstraint("session_id", "id", name=op.f("pk_usage_ledger")),
        sa.UniqueConstraint("session_id", "seq", name=op.f("uq_usage_ledger_session_id_seq")),
        of_session("usage_ledger"),
    )


def downgrade() -> None:
    for name in ("usage_ledger", "list_values", "scalar_values", "entries", "sessions"):
        op.drop_table(name, if_exists=may_be_half_done())


def exact(name: str, bytes_limit: int, *, nullable: bool = False) -> sa.Column[Any]:
    """Text that sorts by code point and equals only itself."""
    type_ = (
        sa.Text()
        .with_variant(sa.Text(collation="C"), "postgresql")
        .with_variant(mysql.VARBINARY(bytes_limit), *MYSQL_FAMILY)
    )
    return sa.Column(name, type_, nullable=nullable)


def json_text(name: str, *, nullable: bool = False) -> sa.Column[Any]:
    """JSON text, kept as it is."""
    long_text = mysql.LONGTEXT(charset="utf8mb4", collation="utf8mb4_bin")
    return sa.Column(name, sa.Text().with_variant(long_text, *MYSQL_FAMILY), nullable=nullable)


def number(name: str) -> sa.Column[Any]:
    """A sequence number, a count, or a time in Unix ms."""
    return sa.Column(name, sa.BigInteger(), nullable=False)


def of_session(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["session_id"], ["sessions.id"], name=op.f(f"fk_{table}_session_id_sessions")
    )


def create_table(name: str, *items: Any) -> None:
    """Create a table; after a cut-off upgrade accept the one that is there, when it is this one."""
    if may_be_half_done() and not context.is_offline_mode():
        inspector = sa.inspect(op.get_bind())
        if inspector.has_table(name):
            found = [column["name"] for column in inspector.get_columns(name)]
            if found != [item.name for item in items if isinstance(item, sa.Column)]:
                raise RuntimeError(f"the database has another application's table {name!r}")
            return
    op.create_table(name, *items, if_not_exists=may_be_half_done(), **OPTIONS)


def create_index(name: str, table: str, *columns: str) -> None:
    """Create an index; MySQL has no "if not exists" for that, so its error says that it exists."""
    try:
        op.create_index(op.f(name), table, columns)
    except sa.exc.DBAPIError as error:
        if not (may_be_half_done() and getattr(error.orig, "args", ())[:1] == (DUPLICATE_KEY_NAME,)):
            raise


def may_be_half_done() -> bool:
    return op.get_context().dialect.name in MYSQL_FAMILY
