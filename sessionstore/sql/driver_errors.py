"""What an error of a driver means, in our own errors.

Nothing of a driver's message is repeated unless it is known to hold no data: servers quote keys
and whole rows in theirs.
"""

from __future__ import annotations

import sqlite3
from enum import Enum
from typing import Any, Final

import msgspec

from sessionstore.errors import (
    CorruptStorageError,
    MissingDriverError,
    SessionStoreError,
    StorageBusyError,
    StorageError,
)


class Kind(Enum):
    """What can be done about a failure."""

    CONFLICT = "the server undid the transaction; the whole of it may be run again"
    LOST = "the connection is gone"
    DUPLICATE = "a key is taken"
    FAILED = "it stays as it is"


class Failure(msgspec.Struct, frozen=True):
    """A driver's error, understood."""

    kind: Kind
    error: SessionStoreError


# SQLite ---------------------------------------------------------------------------------------

_SQLITE_PRIMARY: Final = 0xFF
_SQLITE_CANNOT_OPEN: Final = 14


def sqlite_failure(error: Exception, where: str) -> Failure:
    """``where`` is the database's path; SQLite's messages hold names and places, no data."""
    if isinstance(error, UnicodeDecodeError):
        return Failure(Kind.FAILED, CorruptStorageError("a text in the database is not UTF-8", path=where))
    if isinstance(error, OverflowError):
        return Failure(Kind.FAILED, CorruptStorageError("a number in the database is too high", path=where))
    code = getattr(error, "sqlite_errorcode", None)
    primary = None if code is None else code & _SQLITE_PRIMARY
    text = str(error)
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Failure(
            Kind.FAILED,
            StorageBusyError(
                f"{where}: the database stayed locked by another writer for the whole busy timeout. "
                "Nothing was written; try again"
            ),
        )
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return Failure(Kind.FAILED, CorruptStorageError(text, path=where))
    if primary == sqlite3.SQLITE_FULL:
        text = "the disk is full; nothing was written"
    elif primary == sqlite3.SQLITE_READONLY:
        text = "the database may not be written"
    elif primary == _SQLITE_CANNOT_OPEN:
        text = "the database file cannot be opened: check the path and its permissions"
    elif primary == sqlite3.SQLITE_CONSTRAINT:
        extended = getattr(error, "sqlite_errorname", "")
        kind = Kind.DUPLICATE if extended.endswith(("PRIMARYKEY", "UNIQUE")) else Kind.FAILED
        return Failure(kind, StorageError(f"{where}: {text}"))
    return Failure(Kind.FAILED, StorageError(f"{where}: {text}"))


# PostgreSQL -----------------------------------------------------------------------------------

# 55P03 is the lock timeout: what 1205 is on MariaDB.
_POSTGRESQL_CONFLICTS: Final = frozenset({"40001", "40P01", "55P03"})
_POSTGRESQL_LOST: Final = frozenset({"57P01", "57P02", "57P03", "57P05", "25P03", "40003"})
_POSTGRESQL_DUPLICATE: Final = "23505"
# Classes whose messages name objects, settings and roles of the server and never hold data.
_POSTGRESQL_TELLING: Final = frozenset(
    {"08", "25", "28", "3D", "3F", "40", "42", "53", "54", "55", "57", "58"}
)


def postgresql_failure(error: Any, where: str, *, connected: bool) -> Failure:
    """``connected`` tells whether the connection still stands after ``error``."""
    state = getattr(error, "sqlstate", None)
    if state in _POSTGRESQL_CONFLICTS:
        return Failure(Kind.CONFLICT, StorageError(f"{where}: the server undid the transaction ({state})"))
    if state is None:
        return _without_code(error, where, connected)
    kind = Kind.FAILED
    if state == _POSTGRESQL_DUPLICATE:
        kind = Kind.DUPLICATE
    elif state in _POSTGRESQL_LOST or state.startswith("08"):
        kind = Kind.LOST
    text = f"{where}: the database reported {state}"
    if state[:2] in _POSTGRESQL_TELLING:
        text += f": {getattr(error.diag, 'message_primary', None) or type(error).__name__}"
    return Failure(kind, StorageError(text))


def unreachable(error: Exception, where: str) -> Failure:
    """A connection that could not be made; what is said of that names the place and the account only."""
    reason = str(error).strip().partition("\n")[0]
    return Failure(Kind.LOST, StorageError(f"{where}: no connection to the database: {reason}"))


def _without_code(error: Exception, where: str, connected: bool) -> Failure:
    """An error that the driver raised itself: a connection that broke, or wrong use."""
    if not connected:
        return Failure(Kind.LOST, StorageError(f"{where}: the connection to the database broke"))
    return Failure(Kind.FAILED, StorageError(f"{where}: the driver failed with {type(error).__name__}"))


# MariaDB and MySQL ----------------------------------------------------------------------------

_MARIADB_CONFLICTS: Final = frozenset({1213, 1205, 1020, 3572})
# 1180 comes from COMMIT, where a node of a cluster lost its peers on the way: nobody knows what they have.
_MARIADB_LOST: Final = frozenset(
    {0, 1053, 1077, 1079, 1180, 1184, 1927, 2002, 2003, 2006, 2013, 2014, 2055, 4031}
)
_MARIADB_DUPLICATE: Final = 1062
_MARIADB_TOO_LARGE: Final = frozenset({1153, 1301})
# Codes whose messages name objects, settings and accounts of the server and never hold data.
_MARIADB_TELLING: Final = frozenset(
    {1021, 1036, 1040, 1041, 1044, 1045, 1046, 1047, 1049, 1054, 1114, 1129, 1130, 1142, 1146, 1158, 1159}
    | {1160, 1161, 1203, 1226, 1227, 1290, 1317, 1665, 1698, 1792, 1836, 2002, 2003}
)


def mariadb_failure(error: Exception, where: str, *, connected: bool) -> Failure:
    """``connected`` tells whether the connection still stands after ``error``."""
    code = error.args[0] if error.args and isinstance(error.args[0], int) else None
    if code is None:
        return _without_code(error, where, connected)
    if code in _MARIADB_CONFLICTS:
        return Failure(Kind.CONFLICT, StorageError(f"{where}: the server undid the transaction ({code})"))
    if code in _MARIADB_TOO_LARGE:
        return Failure(Kind.FAILED, too_large(where))
    if code == _MARIADB_DUPLICATE:
        return Failure(Kind.DUPLICATE, StorageError(f"{where}: a key is taken"))
    lost = code in _MARIADB_LOST or not connected
    text = f"{where}: the database reported {code}"
    if code in _MARIADB_TELLING:
        text += f": {error.args[1]}"
    elif code in _MARIADB_LOST:
        text = f"{where}: the connection to the database broke ({code})"
    return Failure(Kind.LOST if lost else Kind.FAILED, StorageError(text))


def too_large(where: str) -> StorageError:
    """The error for a write that the server does not take in one packet."""
    return StorageError(
        f"{where}: a write is larger than max_allowed_packet of the server. Nothing was written; "
        "raise the setting, or store less in one value"
    )


# Drivers --------------------------------------------------------------------------------------


def missing_driver(driver: str, extra: str) -> MissingDriverError:
    """The error for a driver that is not installed; ``extra`` is ours that brings it."""
    return MissingDriverError(f"the driver {driver} is not installed: pip install 'sessionstore[{extra}]'")
