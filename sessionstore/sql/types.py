"""Column types that mean the same on every database (sql.md section 1)."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import String, Text
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

MYSQL_CHARSET: Final = "utf8mb4"
MYSQL_COLLATION: Final = "utf8mb4_bin"

_MYSQL_FAMILY: Final = frozenset({"mysql", "mariadb"})


def is_mysql_family(dialect: Dialect) -> bool:
    """Whether the database is MariaDB or MySQL."""
    return dialect.name in _MYSQL_FAMILY


class ExactText(TypeDecorator[str]):
    """Text that sorts by code point and equals only itself: no case, accent or padding rule.

    SQLite compares UTF-8 bytes by itself. PostgreSQL does under the collation ``"C"``. MariaDB
    and MySQL do on binary columns only (every text collation there is padded or folded, or too
    wide for the keys), so there the column holds the UTF-8 bytes and this type converts.

    ``bytes_limit`` is the longest text in UTF-8 bytes; longer text is refused long before, by the
    rules of :mod:`sessionstore.text`.
    """

    impl = String
    cache_ok = True

    def __init__(self, bytes_limit: int) -> None:
        super().__init__(bytes_limit)
        self.bytes_limit = bytes_limit

    def __repr__(self) -> str:
        return f"ExactText({self.bytes_limit})"

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The column type of this database."""
        if is_mysql_family(dialect):
            return mysql.VARBINARY(self.bytes_limit)
        if dialect.name == "postgresql":
            return postgresql.TEXT(collation="C")
        return Text()

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """UTF-8 bytes for a binary column, the text itself elsewhere."""
        if value is not None and is_mysql_family(dialect):
            return value.encode()
        return value

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """The text again."""
        if isinstance(value, bytes | bytearray):
            return value.decode()
        return value  # type: ignore[no-any-return]  # the driver gives str or None here


class JsonText(TypeDecorator[str]):
    """JSON as the text in which it was captured; no database parses or respells it.

    A JSON column type would reorder keys, change numbers and refuse U+0000.
    """

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """The column type of this database: without a length below 4 GB."""
        if is_mysql_family(dialect):
            return mysql.LONGTEXT(charset=MYSQL_CHARSET, collation=MYSQL_COLLATION)
        return Text()
