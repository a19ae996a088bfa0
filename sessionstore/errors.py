"""Every error that sessionstore raises, in one tree.

All of them are :class:`SessionStoreError`. Where a builtin says the same thing, an error is
that builtin too, so ``except LookupError`` and ``except ValueError`` work as people expect.
Messages name the thing that is wrong and what to do; none shows a payload or a password.
"""

from __future__ import annotations

from os import PathLike, fspath


class SessionStoreError(Exception):
    """Base of every error that this library raises on purpose."""


class InvalidAddressError(SessionStoreError, ValueError):
    """A namespace, key, tag, id or custom type breaks the text rules or a length limit."""


class InvalidScopeError(SessionStoreError, ValueError):
    """A scope id is empty, malformed or too long."""


class InvalidQueryError(SessionStoreError, ValueError):
    """A limit, cursor, order or type of a read is not one that the contract allows."""


class InvalidValueError(SessionStoreError, ValueError):
    """A value is not JSON, does not fit its type, or is a message that is still pending."""


class MixedScopeError(SessionStoreError, ValueError):
    """One transaction holds writes of more than one scope."""


class DuplicateIdError(SessionStoreError, ValueError):
    """An entry or usage id is already taken in this session, by an entry or by a usage row."""


class MissingParentError(SessionStoreError, LookupError):
    """An entry names a parent that does not exist in this session."""


class UnknownEntryError(SessionStoreError, LookupError):
    """An entry id that a read or a branch names does not exist in this session."""


class BranchExistsError(SessionStoreError, ValueError):
    """A branch of this name exists already."""


class InvalidBranchError(SessionStoreError, ValueError):
    """A branch name is empty or malformed, or the branch is not configured as needed."""


class UnknownBranchError(SessionStoreError, LookupError):
    """No branch of this name exists."""


class SessionNotFoundError(SessionStoreError, LookupError):
    """No session of this id exists in the container (or it was deleted)."""


class SessionExistsError(SessionStoreError, ValueError):
    """The id is taken, or reserved by a create, open, fork or delete that is under way."""


class SessionAlreadyOpenError(SessionStoreError, RuntimeError):
    """The repository has the session open, or works on its id right now."""


class SessionClosedError(SessionStoreError, RuntimeError):
    """The session handle was closed (or came through ``os.fork()``)."""


class RepositoryClosedError(SessionStoreError, RuntimeError):
    """The repository was closed."""


class MutationError(SessionStoreError, RuntimeError):
    """A mutation capability is used twice, after its end, or from within itself."""


class ForeignSessionError(SessionStoreError, ValueError):
    """Metadata belongs to another container, or to another path than its id encodes to."""


class ForkError(SessionStoreError, ValueError):
    """The requested part of the source cannot be forked."""


class CorruptStorageError(SessionStoreError):
    """Stored data is damaged. ``path`` and ``line`` (1-based) say where, when known."""

    def __init__(
        self, message: str, *, path: str | PathLike[str] | None = None, line: int | None = None
    ) -> None:
        self.path = None if path is None else fspath(path)
        self.line = line
        where = "" if self.path is None else f"{self.path}: "
        if line is not None:
            where += f"line {line}: "
        super().__init__(where + message)


class UnsupportedStorageVersionError(SessionStoreError):
    """A session was written by a storage version that this release does not read."""


class SchemaVersionError(SessionStoreError):
    """The database schema is older or newer than this release."""


class StorageBusyError(SessionStoreError, TimeoutError):
    """The database stayed locked for the whole busy timeout. Nothing was written."""


class TransactionConflictError(SessionStoreError):
    """Somebody else committed first. Nothing of this transaction was written."""


class StorageError(SessionStoreError, OSError):
    """The store itself failed: input or output, the disk, the connection."""


class CommitOutcomeUnknownError(StorageError):
    """The connection broke during COMMIT: the transaction may or may not have happened.

    Nothing is replayed. Read the session before you write again.
    """


class MissingDriverError(SessionStoreError, ImportError):
    """A database driver or optional dependency is not installed."""


class InvalidUrlError(SessionStoreError, ValueError):
    """A store URL is not one that :func:`sessionstore.open_repository` knows."""
