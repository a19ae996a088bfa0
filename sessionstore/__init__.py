"""sessionstore keeps the sessions of agent servers.

A session is an immutable conversation tree, mutable typed values and lists, and a usage ledger,
written in atomic transactions under one sequence. Open a repository with :func:`open_repository`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sessionstore.address import Value, ValueList, value, value_list
from sessionstore.entries import (
    ABSENT,
    Absent,
    BranchSummaryEntry,
    CommitResult,
    CompactionEntry,
    CustomEntry,
    Entry,
    EntryStructure,
    ListElement,
    MessageEntry,
    NewBranchSummaryEntry,
    NewCompactionEntry,
    NewCustomEntry,
    NewEntry,
    NewMessageEntry,
    NewUsageRow,
    StoredValue,
    UsageRow,
)
from sessionstore.errors import (
    BranchExistsError,
    CommitOutcomeUnknownError,
    CorruptStorageError,
    DuplicateIdError,
    ForeignSessionError,
    ForkError,
    InvalidAddressError,
    InvalidBranchError,
    InvalidQueryError,
    InvalidScopeError,
    InvalidUrlError,
    InvalidValueError,
    MissingDriverError,
    MissingParentError,
    MixedScopeError,
    MutationError,
    RepositoryClosedError,
    SchemaVersionError,
    SessionAlreadyOpenError,
    SessionClosedError,
    SessionExistsError,
    SessionNotFoundError,
    SessionStoreError,
    StorageBusyError,
    StorageError,
    TransactionConflictError,
    UnknownBranchError,
    UnknownEntryError,
    UnsupportedStorageVersionError,
)
from sessionstore.fork import ForkBranch, ForkTree
from sessionstore.ids import IdGenerator
from sessionstore.memory import MemorySessionRepo
from sessionstore.metadata import SessionMetadata
from sessionstore.mutation import SessionMutation
from sessionstore.opening import open_repository
from sessionstore.repository import SessionRepo
from sessionstore.scope import EphemeralScope, Scope, SessionScope, ephemeral_scope
from sessionstore.session import Branch, Session
from sessionstore.storage import Storage
from sessionstore.usage import SessionStats, Usage, UsageCost
from sessionstore.writes import (
    Write,
    append_list,
    delete_list,
    delete_value,
    insert_entry,
    insert_usage,
    retire_scope,
    set_value,
)

if TYPE_CHECKING:
    from sessionstore.jsonl import JsonlSessionRepo
    from sessionstore.sql.directory import SqliteDirectorySessionRepo
    from sessionstore.sql.repo import SqlSessionRepo

# Imported when they are asked for: a server that keeps files does not load SQLAlchemy.
_LAZY = {
    "JsonlSessionRepo": "sessionstore.jsonl",
    "SqlSessionRepo": "sessionstore.sql.repo",
    "SqliteDirectorySessionRepo": "sessionstore.sql.directory",
}

__all__ = [
    "ABSENT",
    "Absent",
    "Branch",
    "BranchExistsError",
    "BranchSummaryEntry",
    "CommitOutcomeUnknownError",
    "CommitResult",
    "CompactionEntry",
    "CorruptStorageError",
    "CustomEntry",
    "DuplicateIdError",
    "Entry",
    "EntryStructure",
    "EphemeralScope",
    "ForeignSessionError",
    "ForkBranch",
    "ForkError",
    "ForkTree",
    "IdGenerator",
    "InvalidAddressError",
    "InvalidBranchError",
    "InvalidQueryError",
    "InvalidScopeError",
    "InvalidUrlError",
    "InvalidValueError",
    "JsonlSessionRepo",
    "ListElement",
    "MemorySessionRepo",
    "MessageEntry",
    "MissingDriverError",
    "MissingParentError",
    "MixedScopeError",
    "MutationError",
    "NewBranchSummaryEntry",
    "NewCompactionEntry",
    "NewCustomEntry",
    "NewEntry",
    "NewMessageEntry",
    "NewUsageRow",
    "RepositoryClosedError",
    "SchemaVersionError",
    "Scope",
    "Session",
    "SessionAlreadyOpenError",
    "SessionClosedError",
    "SessionExistsError",
    "SessionMetadata",
    "SessionMutation",
    "SessionNotFoundError",
    "SessionRepo",
    "SessionScope",
    "SessionStats",
    "SessionStoreError",
    "SqlSessionRepo",
    "SqliteDirectorySessionRepo",
    "Storage",
    "StorageBusyError",
    "StorageError",
    "StoredValue",
    "TransactionConflictError",
    "UnknownBranchError",
    "UnknownEntryError",
    "UnsupportedStorageVersionError",
    "Usage",
    "UsageCost",
    "UsageRow",
    "Value",
    "ValueList",
    "Write",
    "append_list",
    "delete_list",
    "delete_value",
    "ephemeral_scope",
    "insert_entry",
    "insert_usage",
    "open_repository",
    "retire_scope",
    "set_value",
    "value",
    "value_list",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
