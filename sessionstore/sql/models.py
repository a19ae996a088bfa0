"""The schema as declarative models: public for reading.

Select from them in ORM sessions or Core statements of your own, join them with your tables, and
point Alembic's autogenerate at ``Base.metadata``. Writing goes through the repository only: it
keeps numbers, statistics, the branch index and the rules of a commit, which no constraint here
can keep alone.

Columns of JSON hold the text as it was captured; read them with ``json.loads``. Times are Unix
milliseconds.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

from sqlalchemy import BigInteger, Boolean, ForeignKey, Index, Integer, MetaData, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from sessionstore.entries import EntryType
from sessionstore.sql.types import MYSQL_CHARSET, MYSQL_COLLATION, ExactText, JsonText
from sessionstore.text import ENCODED_ID_LIMIT, KEY_LIMIT, NAMESPACE_LIMIT

NAMING_CONVENTION: Final = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

TYPE_LIMIT: Final = 32
"""Bytes of an entry's type: one of four names."""

TABLE_OPTIONS: Final[dict[str, Any]] = {
    "sqlite_with_rowid": False,
    **{
        f"{dialect}_{option}": setting
        for dialect in ("mysql", "mariadb")
        for option, setting in {
            "engine": "InnoDB",
            "row_format": "DYNAMIC",  # primary keys of up to 3,072 bytes
            "charset": MYSQL_CHARSET,  # whatever the database was created with
            "collate": MYSQL_COLLATION,
        }.items()
    },
}

# A percent-encoded id has at least one character for each UTF-8 byte, so 180 of them bound both.
SessionId = Annotated[str, mapped_column(ExactText(ENCODED_ID_LIMIT))]
ScopeId = Annotated[str, mapped_column(ExactText(ENCODED_ID_LIMIT))]
Name = Annotated[str, mapped_column(ExactText(NAMESPACE_LIMIT))]
Key = Annotated[str, mapped_column(ExactText(KEY_LIMIT))]
Json = Annotated[str, mapped_column(JsonText())]
Number = Annotated[int, mapped_column(BigInteger())]
OwnerId = Annotated[str, mapped_column(ExactText(ENCODED_ID_LIMIT), ForeignKey("sessions.id"))]


class Base(DeclarativeBase):
    """The declarative base of the store's tables, with its own metadata."""

    metadata = MetaData(naming_convention=NAMING_CONVENTION)


class SessionRow(Base):
    """One session of the container."""

    __tablename__ = "sessions"

    id: Mapped[SessionId] = mapped_column(primary_key=True)
    created_at: Mapped[Number]
    modified_at: Mapped[Number]
    """Time of the last commit."""
    parent_session_id: Mapped[SessionId | None]
    storage_version: Mapped[int] = mapped_column(Integer())
    extra_metadata: Mapped[Json | None] = mapped_column("metadata")
    """A JSON object of the metadata beyond the columns, such as ``cwd``; NULL when there is none."""
    message_count: Mapped[Number]
    usage: Mapped[Json]
    """The fold of the ledger, in the JSON form of a usage."""
    next_seq: Mapped[Number]
    """The number that the next write gets; its row lock is what serialises the writers."""

    __table_args__ = (Index(None, "created_at", "id"), TABLE_OPTIONS)


class EntryRow(Base):
    """One entry of a conversation tree: inserted once, never changed.

    ``segment_seq`` and ``depth`` are the branch index (sql.md section 3). A segment is a run in
    which each entry's parent is the one before; it is named by the ``seq`` of its first entry,
    and that entry's ``parent_id`` says where in an older segment it starts (NULL: a root).
    ``depth`` is the number of ancestors. Both follow from ``parent_id`` and can be rebuilt.
    """

    __tablename__ = "entries"

    session_id: Mapped[OwnerId] = mapped_column(primary_key=True)
    id: Mapped[Name] = mapped_column(primary_key=True)
    parent_id: Mapped[Name | None]
    seq: Mapped[Number]
    type: Mapped[EntryType] = mapped_column(ExactText(TYPE_LIMIT))
    custom_type: Mapped[Name | None]
    timestamp: Mapped[Number]
    payload: Mapped[Json]
    """A JSON object with the fields of the entry's type in their JSON names."""
    segment_seq: Mapped[Number]
    depth: Mapped[Number]

    __table_args__ = (
        UniqueConstraint("session_id", "seq"),
        Index(None, "session_id", "segment_seq", "seq"),
        TABLE_OPTIONS,
    )


class ScalarValueRow(Base):
    """The current value at an address; ``scope_id`` is the empty string in session scope."""

    __tablename__ = "scalar_values"

    session_id: Mapped[OwnerId] = mapped_column(primary_key=True)
    scope_id: Mapped[ScopeId] = mapped_column(primary_key=True)
    namespace: Mapped[Name] = mapped_column(primary_key=True)
    key: Mapped[Key] = mapped_column(primary_key=True)
    seq: Mapped[Number]
    value: Mapped[Json]

    __table_args__ = (TABLE_OPTIONS,)


class ListValueRow(Base):
    """One element of a list; ``scope_id`` is the empty string in session scope."""

    __tablename__ = "list_values"

    session_id: Mapped[OwnerId] = mapped_column(primary_key=True)
    scope_id: Mapped[ScopeId] = mapped_column(primary_key=True)
    namespace: Mapped[Name] = mapped_column(primary_key=True)
    key: Mapped[Key] = mapped_column(primary_key=True)
    seq: Mapped[Number] = mapped_column(primary_key=True)
    value: Mapped[Json]
    tag: Mapped[Name | None]

    __table_args__ = (TABLE_OPTIONS,)


class UsageLedgerRow(Base):
    """One settled cost: inserted once, never changed."""

    __tablename__ = "usage_ledger"

    session_id: Mapped[OwnerId] = mapped_column(primary_key=True)
    id: Mapped[Name] = mapped_column(primary_key=True)
    seq: Mapped[Number]
    entry_id: Mapped[Name | None]
    adjustment: Mapped[bool] = mapped_column(Boolean())
    usage: Mapped[Json]
    details: Mapped[Json | None]

    __table_args__ = (UniqueConstraint("session_id", "seq"), TABLE_OPTIONS)
