"""Repositories: ids, metadata, create, open, get, delete, reservations (repository.md section 2)."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import msgspec

from sessionstore.address import value, value_list
from sessionstore.errors import (
    ForeignSessionError,
    InvalidAddressError,
    SessionAlreadyOpenError,
    SessionExistsError,
    SessionNotFoundError,
    SessionStoreError,
)
from sessionstore.fork import ForkTree
from sessionstore.metadata import SessionMetadata
from sessionstore.repository import SessionRepo
from sessionstore.scope import ephemeral_scope
from sessionstore.testing.cases import RepositoryFactory, RepositoryGroup, trying
from sessionstore.testing.checks import NOTHING, calling, check, equal, refuses, values_of
from sessionstore.testing.material import fresh_id, say, spend
from sessionstore.testing.suite.texts import HOSTILE, SIMILAR
from sessionstore.usage import SessionStats
from sessionstore.writes import append_list, set_value

group = RepositoryGroup("repositories")

_N = value("app", "n")


def _value(repo: SessionRepo, id: str) -> object:
    with trying(repo.open(id)) as session:
        return getattr(session.get_value(_N), "value", None)


# -- ids and metadata ------------------------------------------------------------------------


@group.case()
def a_session_without_a_given_id_gets_a_uuid7(factory: RepositoryFactory) -> None:
    """An id is given, or a UUIDv7 that carries the time of creation."""
    with trying(factory.open()) as repo:
        ids: list[str] = []
        for _ in range(3):
            with trying(repo.create()) as session:
                ids.append(session.metadata.id)
        equal(len(set(ids)), 3, "different ids")
        for id in ids:
            made = uuid.UUID(id)
            equal((made.version, str(made)), (7, id))
            equal(made.int >> 80, factory.clock.now, "the milliseconds in the id")


@group.case()
def metadata_tells_what_was_given(factory: RepositoryFactory) -> None:
    """Metadata has id, created_at, container, parent and cwd, the same in session, get and list."""
    factory.clock.now += 1234
    created_at = factory.clock.now
    id, parent, cwd = fresh_id("é/x"), fresh_id("parent"), f"/srv/{uuid.uuid4()} é"
    with trying(factory.open()) as repo:
        with trying(repo.create(id=id, parent_session_id=parent, cwd=cwd)) as session:
            metadata = session.metadata
            equal((metadata.id, metadata.created_at), (id, created_at))
            equal((metadata.parent_session_id, metadata.cwd), (parent, cwd))
            equal(metadata.container, repo.container)
            check(metadata.storage_version > 0, "the storage version should be told")
        with trying(repo.open(id)) as session:
            opened = session.metadata
        for found in (repo.get(id), repo.list(cwd=cwd)[0], opened):
            equal(
                (found.id, found.created_at, found.parent_session_id, found.cwd, found.container, found.path),
                (id, created_at, parent, cwd, repo.container, metadata.path),
            )


@group.case()
def parent_and_cwd_are_optional(factory: RepositoryFactory) -> None:
    """Without parent and cwd both are None."""
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        equal((session.metadata.parent_session_id, session.metadata.cwd), (None, None))
        found = repo.get(session.metadata.id)
        equal((found.parent_session_id, found.cwd), (None, None))


@group.case("commit_times")
def modified_at_is_the_time_of_the_last_commit(factory: RepositoryFactory) -> None:
    """``modified_at`` is the time of the last commit, in ms."""
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        factory.clock.now += 10_000
        session.set_value(_N, 1)
        factory.clock.now += 10_000
        session.storage.commit([set_value(_N, 2)])
        expected = factory.clock.now
        factory.clock.now += 10_000
        equal(repo.get(session.metadata.id).modified_at, expected)


@group.case("commit_times")
def new_sessions_have_a_modified_at(factory: RepositoryFactory) -> None:
    """``modified_at`` of a session without commits, created or forked, is the time of its making."""
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        equal(session.metadata.modified_at, session.metadata.created_at)
        equal(repo.get(session.metadata.id), session.metadata)
        with trying(repo.fork(session.metadata, ForkTree())) as forked:
            equal(forked.metadata.modified_at, factory.clock.now)
            equal(repo.get(forked.metadata.id), forked.metadata)


@group.case()
def ids_are_names_and_not_paths(factory: RepositoryFactory) -> None:
    """Any well-formed text within the limit is an id, whatever it means elsewhere."""
    with trying(factory.open_other()) as repo:
        ids = [text for text in HOSTILE if len(text.encode()) <= 60] + [
            "x" * 180,
            "é" * 30,
            "😀" * 15,
            "~",
            " ",
        ]
        for n, id in enumerate(ids):
            with trying(repo.create(id=id)) as session:
                equal(session.metadata.id, id)
                session.set_value(_N, n)
        equal([_value(repo, id) for id in ids], list(range(len(ids))))
        equal(sorted(metadata.id for metadata in repo.list()), sorted(ids))
        for id in ids:
            repo.delete(id)
        equal(repo.list(), [])


@group.case("case_sensitive_ids")
def ids_that_look_alike_are_different(factory: RepositoryFactory) -> None:
    """Ids that a collation or a normalisation takes for equal are different sessions."""
    with trying(factory.open_other()) as repo:
        for n, id in enumerate(SIMILAR):
            with trying(repo.create(id=id)) as session:
                session.set_value(_N, n)
        equal([_value(repo, id) for id in SIMILAR], list(range(len(SIMILAR))))
        equal({metadata.id for metadata in repo.list()}, set(SIMILAR))
        equal([repo.get(id).id for id in SIMILAR], list(SIMILAR))
        for id in SIMILAR[::2]:
            repo.delete(id)
        equal({metadata.id for metadata in repo.list()}, set(SIMILAR[1::2]))


@group.case()
def ids_beyond_the_rules_are_refused(factory: RepositoryFactory) -> None:
    """Empty ids, U+0000, lone surrogates and more than 180 encoded characters are refused everywhere."""
    bad: list[Any] = ["", "\0", "a\0", "\ud800", "x" * 181, "é" * 31, "%" * 61, 5, b"x"]
    with trying(factory.open_other()) as repo:
        for id in bad:
            refuses(InvalidAddressError, calling(lambda id: repo.create(id=id), id))
            refuses(InvalidAddressError, calling(repo.open, id))
            refuses(InvalidAddressError, calling(repo.get, id))
            refuses(InvalidAddressError, calling(repo.delete, id))
            refuses(InvalidAddressError, calling(lambda id: repo.create(parent_session_id=id), id))
        for cwd in ("\0", "a\0b", "\ud800", 5):
            wrong: Any = cwd
            refuses(InvalidAddressError, calling(lambda wrong: repo.create(cwd=wrong), wrong))
        equal(repo.list(), [])


@group.case("container_wide_ids")
def an_id_is_unique_in_a_container(factory: RepositoryFactory) -> None:
    """A second create of an id fails, open or closed, in any cwd, and changes nothing."""
    id = fresh_id()
    with trying(factory.open()) as repo:
        with trying(repo.create(id=id, cwd="/a")) as session:
            session.set_value(_N, "kept")
            refuses(SessionExistsError, lambda: repo.create(id=id), id)
        refuses(SessionExistsError, lambda: repo.create(id=id), id)
        refuses(SessionExistsError, lambda: repo.create(id=id, cwd="/b"), id)
        equal((_value(repo, id), repo.get(id).cwd), ("kept", "/a"))


@group.case("cwd_wide_ids")
def an_id_is_unique_in_a_cwd(factory: RepositoryFactory) -> None:
    """An id may be used once in each cwd; by bare id such a session is an error."""
    id = fresh_id()
    one, two = f"/a/{uuid.uuid4()}", f"/b/{uuid.uuid4()}"
    with trying(factory.open()) as repo:
        repo.create(id=id, cwd=one).close()
        equal(repo.get(id).cwd, one, "the cwd of the only session of the id")
        with trying(repo.create(id=id, cwd=two)) as session:
            session.set_value(_N, 2)
        refuses(SessionExistsError, lambda: repo.create(id=id, cwd=one), id)
        for call in (repo.get, repo.open, repo.delete):
            refuses(SessionStoreError, calling(lambda call: call(id), call), id)
        [metadata] = repo.list(cwd=two)
        with trying(repo.open(metadata)) as session:
            equal(getattr(session.get_value(_N), "value", None), 2)
        repo.delete(metadata)
        equal(repo.get(id).cwd, one)


# -- opening and deleting --------------------------------------------------------------------


@group.case()
def created_sessions_are_open(factory: RepositoryFactory) -> None:
    """A created session is returned open; another open fails until it is closed."""
    with trying(factory.open()) as repo:
        session = repo.create()
        metadata = session.metadata
        refuses(SessionAlreadyOpenError, lambda: repo.open(metadata), metadata.id)
        refuses(SessionAlreadyOpenError, lambda: repo.open(metadata.id), metadata.id)
        session.set_value(_N, 1)
        session.close()
        again = repo.open(metadata)
        check(again is not session, "open should give a handle of its own")
        equal(getattr(again.get_value(_N), "value", None), 1)
        refuses(SessionAlreadyOpenError, lambda: repo.open(metadata))
        again.close()
        repo.open(metadata.id).close()


@group.case()
def what_is_open_is_named_as_python_writes_it(factory: RepositoryFactory) -> None:
    """The errors about an open session name its id once quoted, characters that need an escape too."""
    id = fresh_id("\u2028\\ ")
    with trying(factory.open()) as repo, trying(repo.create(id=id, cwd="/work")):
        refuses(SessionAlreadyOpenError, lambda: repo.open(id), repr(id))
        refuses(SessionAlreadyOpenError, lambda: repo.delete(id), repr(id))
        refuses(SessionExistsError, lambda: repo.create(id=id, cwd="/work"), repr(id))


@group.case()
def opening_by_id_and_by_metadata_is_the_same(factory: RepositoryFactory) -> None:
    """``open`` and ``delete`` take an id, or metadata of get and of list."""
    cwd = f"/{uuid.uuid4()}"
    with trying(factory.open()) as repo:
        for n in range(4):
            repo.create(id=fresh_id(str(n)), cwd=cwd).close()
        listed = repo.list(cwd=cwd)
        for reference in (listed[0], listed[1].id, repo.get(listed[2].id), listed[3]):
            with trying(repo.open(reference)) as session:
                session.set_value(_N, 1)
            repo.delete(reference)
        equal(repo.list(cwd=cwd), [])


@group.case()
def what_is_missing_is_not_found(factory: RepositoryFactory) -> None:
    """Open, get and delete of what is missing, or was deleted, are ``SessionNotFoundError``."""
    with trying(factory.open()) as repo:
        with trying(repo.create()) as session:
            metadata = session.metadata
        repo.delete(metadata)
        for call in (
            lambda: repo.open(metadata),
            lambda: repo.open(metadata.id),
            lambda: repo.get(metadata.id),
            lambda: repo.delete(metadata),
            lambda: repo.delete(metadata.id),
        ):
            refuses(SessionNotFoundError, call, metadata.id)


@group.case()
def an_open_session_is_not_deleted(factory: RepositoryFactory) -> None:
    """Delete of an open session is ``SessionAlreadyOpenError``, and the session goes on."""
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        refuses(SessionAlreadyOpenError, lambda: repo.delete(session.metadata), session.metadata.id)
        refuses(SessionAlreadyOpenError, lambda: repo.delete(session.metadata.id))
        session.set_value(_N, 1)
        equal(getattr(session.get_value(_N), "value", None), 1)


@group.case()
def a_session_created_again_shows_nothing_old(factory: RepositoryFactory) -> None:
    """Delete a session and create the same id again: nothing old is visible."""
    id = fresh_id()
    scope = ephemeral_scope("op")
    scoped, log = value("app", "n", scope=scope), value_list("app", "log")
    with trying(factory.open()) as repo:
        for round_ in range(3):
            factory.clock.now += 1
            with trying(repo.create(id=id)) as session:
                equal(session.find_entries(), [], f"entries in round {round_}")
                equal(session.scan_usage(), [])
                equal(session.get_stats(), SessionStats())
                equal((session.get_value(_N), session.get_value(scoped)), (None, None))
                equal((session.read_list(log), session.scan_values(value("app"))), (NOTHING, NOTHING))
                equal(
                    (session.get_name(), session.branch("main"), session.get_label("e")), (None, None, None)
                )
                session.commit([say("e"), spend("u", 5), set_value(_N, 1), append_list(log, 1)])
                session.set_value(scoped, 1)
                session.create_branch("main", "e")
                session.set_name("old")
                session.set_label("e", "old")
            repo.delete(id)


@group.case()
def metadata_of_a_deleted_session_is_not_its_successor(factory: RepositoryFactory) -> None:
    """Metadata of a deleted session does not open or delete the one that was created after it."""
    id = fresh_id()
    with trying(factory.open()) as repo:
        with trying(repo.create(id=id)) as session:
            old = session.metadata
        repo.delete(id)
        factory.clock.now += 1000
        with trying(repo.create(id=id)) as session:
            session.set_value(_N, "new")
        refuses(SessionNotFoundError, lambda: repo.open(old), id)
        refuses(SessionNotFoundError, lambda: repo.delete(old), id)
        refuses(SessionNotFoundError, lambda: repo.snapshot(old).__enter__(), id)
        equal(_value(repo, id), "new")


@group.case()
def foreign_metadata_is_refused(factory: RepositoryFactory) -> None:
    """Metadata of another container is refused, and nothing is touched or created."""
    id = fresh_id()
    with trying(factory.open()) as repo, trying(factory.open_other()) as other:
        with trying(repo.create(id=id)) as session:
            session.set_value(_N, "here")
            metadata = session.metadata
        check(repo.container != other.container, "two containers should have two names")
        for call in (
            lambda: other.open(metadata),
            lambda: other.delete(metadata),
            lambda: other.list(before=metadata),
            lambda: other.snapshot(metadata).__enter__(),
        ):
            refuses(ForeignSessionError, call, id)
        equal(other.list(), [], "sessions of the other container")
        refuses(SessionNotFoundError, lambda: other.get(id))
        with trying(other.create(id=id)) as session:
            session.set_value(_N, "there")
        refuses(ForeignSessionError, lambda: other.open(metadata))
        refuses(ForeignSessionError, lambda: other.delete(metadata))
        equal((_value(repo, id), _value(other, id)), ("here", "there"))


@group.case("session_file")
def metadata_of_another_path_is_refused(factory: RepositoryFactory) -> None:
    """Where a session has a file of its own, metadata whose path is not the id's is refused."""
    with trying(factory.open()) as repo:
        with trying(repo.create()) as session:
            metadata = session.metadata
        with trying(repo.create()) as session:
            session.set_value(_N, "victim")
            victim = session.metadata
        assert metadata.path is not None
        assert victim.path is not None
        check(metadata.path != victim.path, "two sessions should have two files")
        check(Path(metadata.path).exists(), "metadata.path should name the session's file")
        crossed = [
            msgspec.structs.replace(metadata, path=victim.path),
            msgspec.structs.replace(metadata, path=f"{metadata.path}.copy"),
            msgspec.structs.replace(metadata, path="/etc/passwd"),
            msgspec.structs.replace(metadata, path="../x"),
        ]
        for foreign in crossed:
            refuses(ForeignSessionError, calling(repo.open, foreign))
            refuses(ForeignSessionError, calling(repo.delete, foreign))
        equal(_value(repo, victim.id), "victim")
        check(not Path(f"{metadata.path}.copy").exists(), "nothing should have been created")


@group.case("session_file")
def deleting_removes_the_file(factory: RepositoryFactory) -> None:
    """Delete removes the session's file and what lies beside it."""
    with trying(factory.open_other()) as repo:
        with trying(repo.create()) as session:
            session.set_value(value("app", scope=ephemeral_scope("op")), 1)
            metadata = session.metadata
        assert metadata.path is not None
        file = Path(metadata.path)
        check(file.exists(), "metadata.path should name the session's file")
        repo.delete(metadata)
        left = [path.name for path in file.parent.glob("*") if file.name.split(".")[0] in path.name]
        equal(left, [], "files left of a deleted session")


# -- nothing but create makes anything -------------------------------------------------------


@group.case()
def a_container_that_was_never_used_is_empty(factory: RepositoryFactory) -> None:
    """Of a container that nothing has made: list is empty, everything else is not found."""
    with trying(factory.open_other()) as repo:
        equal(repo.list(), [])
        equal(repo.list(cwd="/x", limit=5), [])
        for call in (lambda: repo.get("x"), lambda: repo.open("x"), lambda: repo.delete("x")):
            refuses(SessionNotFoundError, call, "'x'")
        refuses(SessionNotFoundError, lambda: repo.snapshot("x").__enter__(), "'x'")
        equal(repo.list(), [])


@group.case("path_container")
def only_create_makes_a_container(factory: RepositoryFactory) -> None:
    """Constructors, list, get, open, delete and close leave no file behind; create makes one."""
    with trying(factory.open_other()) as repo:
        container = Path(repo.container)
        before = sorted(container.parent.iterdir()) if container.parent.is_dir() else None
        repo.list()
        for call in (repo.get, repo.open, repo.delete):
            refuses(SessionNotFoundError, calling(lambda call: call("x"), call))
    check(not container.exists(), f"{container} should not have been made")
    equal(sorted(container.parent.iterdir()) if before is not None else None, before, "files beside it")
    with trying(factory.open_other()) as repo:
        container = Path(repo.container)
        repo.create().close()
        check(container.exists(), f"{container} should have been made")


@group.case("path_container")
def the_name_of_a_path_container_is_its_real_path(factory: RepositoryFactory) -> None:
    """The container is named by its real path: absolute, without links."""
    with trying(factory.open_other()) as repo, trying(repo.create()) as session:
        container = Path(session.metadata.container)
        check(container.is_absolute(), f"{container} should be absolute")
        equal(container, container.resolve(), "the real path")


@group.case()
def a_create_that_fails_leaves_nothing(factory: RepositoryFactory) -> None:
    """A refused create leaves no session and no reservation behind."""
    id = fresh_id()
    wrong: Any = ["not a cwd"]
    with trying(factory.open_other()) as repo:
        refuses(InvalidAddressError, lambda: repo.create(id=id, cwd=wrong))
        refuses(InvalidAddressError, lambda: repo.create(id=id, parent_session_id=""))
        equal(repo.list(), [])
        refuses(SessionNotFoundError, lambda: repo.open(id))
        with repo.create(id=id):
            refuses(SessionExistsError, lambda: repo.create(id=id))
        equal(len(repo.list()), 1)
        repo.open(id).close()


@group.case()
def list_gives_metadata_that_opens(factory: RepositoryFactory) -> None:
    """Metadata is a plain value: equal to what get gives, and enough to open."""
    cwd = f"/{uuid.uuid4()}"
    with trying(factory.open()) as repo:
        repo.create(cwd=cwd).close()
        [listed] = repo.list(cwd=cwd)
        check(isinstance(listed, SessionMetadata), "list should give metadata")
        equal(repo.get(listed.id), listed)
        with trying(repo.open(listed)) as session:
            equal(session.metadata.id, listed.id)
            equal(values_of(session.read_list(value_list("app"))), [])
