"""Conformance: the destination of a fork, whose source it is, and where that is cut."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from typing import Final

import msgspec

from sessionstore.address import value
from sessionstore.builtin import (
    branch_tip,
)
from sessionstore.errors import (
    ForeignSessionError,
    RepositoryClosedError,
    SessionAlreadyOpenError,
    SessionExistsError,
    SessionNotFoundError,
)
from sessionstore.fork import ForkBranch, ForkTree
from sessionstore.metadata import SessionMetadata
from sessionstore.repository import SessionRepo
from sessionstore.scope import SessionScope
from sessionstore.testing.cases import Case, RepositoryFactory, RepositoryGroup
from sessionstore.testing.checks import check, equal, ids_of, refuses
from sessionstore.testing.fork_policy_cases import FORK_POLICY_CASES
from sessionstore.testing.fork_source import (
    NAME,
    OP,
    PLAN,
    configured,
    entries_of,
    fill,
    holds,
    lane_of,
    picked,
    records_of,
    refused,
    values_at,
)
from sessionstore.testing.material import message, say, stopping_type
from sessionstore.testing.threads import Stop, Worker
from sessionstore.writes import (
    Write,
    retire_scope,
    set_value,
)

_group: Final = RepositoryGroup("forks")

FORK_CASES: Final[list[Case[RepositoryFactory]]] = [*FORK_POLICY_CASES]


# -- the destination -------------------------------------------------------------------------


@_group.case()
def a_fork_knows_its_parent(factory: RepositoryFactory) -> None:
    """``parent_session_id`` is the source's id; cwd is the source's; times are the fork's own."""
    with factory.open() as repo, repo.create(cwd="/work") as source:
        factory.clock.now += 5_000
        with repo.fork(source.metadata.id, ForkTree()) as copy:
            found = copy.metadata
        check(found.id != source.metadata.id, "a fork should have an id of its own")
        equal(found.parent_session_id, source.metadata.id)
        equal(found.cwd, "/work")
        equal(found.created_at, factory.clock.now)
        check(found.id in [other.id for other in repo.list()], "a fork should be listed")
        equal(repo.get(found.id).parent_session_id, source.metadata.id)


@_group.case()
def the_next_number_is_not_lower_than_the_source_s(factory: RepositoryFactory) -> None:
    """Numbers that the source used are not used again, those of what was not copied included."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        source.commit([set_value(value("app.scratch", scope=OP), "last")])
        source.commit([retire_scope(OP)])
        next_seq = source.commit([]).first_seq
        metadata = source.metadata
        with repo.fork(metadata, ForkBranch("main", entry_id="a")) as copy:
            check(copy.commit([]).first_seq >= next_seq, f"the next number should be {next_seq} or more")
            check(copy.set_value(PLAN, 1).first_seq >= next_seq, "and so should be the one given")
            forked = copy.metadata
        with repo.open(forked) as again:
            check(again.set_value(PLAN, 2).first_seq > next_seq, "it should stay so when opened again")


@_group.case()
def a_fork_goes_on_like_any_session(factory: RepositoryFactory) -> None:
    """Appends, divergences and new branches work in a fork and change nothing in its source."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        before = records_of(repo, source.metadata)
        with repo.fork(source.metadata, ForkBranch("main", entry_id="d")) as copy:
            main = copy.branch("main")
            check(main is not None, "the branch should exist in the fork")
            assert main is not None
            added = main.append_message(message("more"))
            equal(ids_of(main.find_entries()), [added, *"dcba"])
            other = copy.create_branch("other", "b")
            diverged = other.append_message(message("else"))
            equal(ids_of(other.find_entries(order="asc")), ["a", "b", diverged])
            equal(copy.get_stats().message_count, 4)
            forked = copy.metadata
        with repo.open(forked) as copy:
            equal(ids_of(copy.scan_branch(added)), [added, *"dcba"])
            equal(repo.check_session(forked), [])
        equal(records_of(repo, source.metadata), before, "records of the source")


@_group.case()
def a_fork_of_a_fork(factory: RepositoryFactory) -> None:
    """A fork is a source like any other; the parent is the session that was forked."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        with repo.fork(source.metadata, ForkTree(include_application_state=True)) as first:
            first.commit([say("f", "e"), set_value(branch_tip("main"), "f")])
            middle = records_of(repo, first.metadata)
            with repo.fork(first.metadata, ForkTree(include_application_state=True)) as second:
                holds(repo, second, middle)
                equal(second.metadata.parent_session_id, first.metadata.id)


@_group.case()
def the_parent_of_forks_can_be_deleted(factory: RepositoryFactory) -> None:
    """Forks share nothing with their source: each outlives the other."""
    with factory.open() as repo:
        with repo.create() as source:
            fill(source)
        with repo.fork(source.metadata, ForkBranch()) as kept, repo.fork(source.metadata, ForkTree()) as gone:
            expected = records_of(repo, kept.metadata)
        repo.delete(gone.metadata)
        with repo.open(source.metadata) as again:
            equal(ids_of(again.scan_branch("e")), list("edcba"), "the source after a fork was deleted")
        repo.delete(source.metadata)
        equal(records_of(repo, kept.metadata), expected, "the fork after its source was deleted")
        with repo.open(kept.metadata) as again:
            equal(ids_of(again.scan_branch("e")), list("edcba"))
            equal(again.metadata.parent_session_id, source.metadata.id)


# -- identity --------------------------------------------------------------------------------


@_group.case()
def a_taken_id_is_refused(factory: RepositoryFactory) -> None:
    """An id of a session, open or closed, of the source itself, or an id that is none."""
    with factory.open() as repo, repo.create() as source, repo.create() as other:
        fill(source)
        closed = repo.create()
        closed.close()
        for taken in (source.metadata.id, other.metadata.id, closed.metadata.id):
            refuses(SessionExistsError, partial(repo.fork, source.metadata, ForkTree(), id=taken), taken)
        for bad in ("", "a\0b", "x" * 181):
            refuses(ValueError, partial(repo.fork, source.metadata, ForkTree(), id=bad))
        equal(records_of(repo, closed.metadata), [], "the session whose id was wanted")


@_group.case()
def a_missing_source_is_not_found(factory: RepositoryFactory) -> None:
    """Nothing is made of it, and the destination id is free again."""
    with factory.open() as repo:
        with repo.create() as source:
            metadata = source.metadata
        repo.delete(metadata)
        refused(repo, metadata, ForkTree(), SessionNotFoundError, metadata.id)
        refused(repo, metadata.id, ForkTree(), SessionNotFoundError, metadata.id)
        factory.clock.now += 1
        with repo.create(id=metadata.id):
            refused(repo, metadata, ForkTree(), SessionNotFoundError, metadata.id)


@_group.case()
def a_fork_in_a_closed_repository_is_refused(factory: RepositoryFactory) -> None:
    """As every other call."""
    with factory.open() as repo, repo.create() as source:
        metadata = source.metadata
    refuses(RepositoryClosedError, lambda: repo.fork(metadata, ForkTree()))


@_group.case()
def a_source_of_another_container(factory: RepositoryFactory) -> None:
    """It is read through ``source_repository``, by metadata or by id, open there or closed."""
    with factory.open_other() as here, factory.open() as there:
        source = there.create()
        fill(source)
        expected = picked(
            records_of(there, source.metadata),
            entries_of("abcde"),
            values_at(*lane_of("main"), NAME, ("pi.entry.label", "b"), ("pi.entry.label", "e")),
        )
        for _ in ("open", "closed"):
            for reference in (source.metadata, source.metadata.id):
                with here.fork(reference, ForkBranch(), source_repository=there) as copy:
                    holds(here, copy, expected)
                    equal(copy.metadata.parent_session_id, source.metadata.id)
                    equal(copy.metadata.container, here.container)
            source.close()


@_group.case()
def a_foreign_source_needs_its_repository_or_a_file(factory: RepositoryFactory) -> None:
    """Without either nothing is read, and no session of the same id here is taken for it."""
    with factory.open_other() as here, factory.open() as there:
        with there.create() as source:
            metadata = source.metadata
        named = msgspec.structs.replace(metadata, path=None, container="elsewhere")
        with here.create(id=metadata.id):
            refuses(ForeignSessionError, lambda: here.fork(named, ForkTree()), "elsewhere")
            refuses(
                ForeignSessionError,
                lambda: here.fork(named, ForkTree(), source_repository=there),
                "elsewhere",
            )


@_group.case()
def the_same_id_in_another_container_is_another_session(factory: RepositoryFactory) -> None:
    """Metadata decides which one is meant; an id means the given repository's."""
    with ExitStack() as opened:
        here, there = opened.enter_context(factory.open_other()), opened.enter_context(factory.open())
        with there.create() as theirs, here.create(id=theirs.metadata.id) as ours:
            theirs.commit([say("theirs"), *configured("main", "theirs")])
            ours.commit([say("ours"), *configured("main", "ours")])
            id = ours.metadata.id
            sources: list[tuple[SessionMetadata | str, SessionRepo | None, str]] = [
                (ours.metadata, None, "ours"),
                (ours.metadata, there, "ours"),
                (id, None, "ours"),
                (id, there, "theirs"),
                (theirs.metadata, there, "theirs"),
            ]
            for reference, repository, wanted in sources:
                with here.fork(reference, ForkBranch(), source_repository=repository) as copy:
                    equal(ids_of(copy.find_entries()), [wanted], f"fork of {reference!r}")
            # The source side reserves nothing, so a fork may bear the foreign source's own id.
            third = opened.enter_context(factory.open_other())
            with third.fork(theirs.metadata, ForkTree(), id=id, source_repository=there) as copy:
                equal(ids_of(copy.find_entries()), ["theirs"])


@_group.case("session_file")
def a_foreign_file_is_read_from_its_path(factory: RepositoryFactory) -> None:
    """A session with a file of its own is forked from exactly the path that its metadata names."""
    with factory.open_other() as here, factory.open() as there:
        source = there.create()
        fill(source)
        expected = picked(
            records_of(there, source.metadata),
            entries_of("abcde"),
            values_at(*lane_of("main"), NAME, ("pi.entry.label", "b"), ("pi.entry.label", "e")),
        )
        for _ in ("open", "closed"):
            with here.fork(source.metadata, ForkBranch()) as copy:
                holds(here, copy, expected)
            source.close()
        before = [found.id for found in here.list()]
        other_id = msgspec.structs.replace(source.metadata, id="another")
        refuses(SessionNotFoundError, lambda: here.fork(other_id, ForkTree()), "another")
        moved = msgspec.structs.replace(source.metadata, path=f"{source.metadata.path}.moved")
        refuses(SessionNotFoundError, lambda: here.fork(moved, ForkTree()), source.metadata.id)
        equal([found.id for found in here.list()], before, "sessions after forks that failed")


# -- boundaries and reservations -------------------------------------------------------------


@_group.case()
def an_open_source_is_cut_on_its_commit_line(factory: RepositoryFactory) -> None:
    """Commits admitted before the fork are in it, wholly; those admitted after it are not."""
    with factory.open() as repo, repo.create() as source, Stop() as stop, ExitStack() as forks:
        source.commit([say("start"), *configured("main", "start")])
        slow = value("app.slow", type=stopping_type(stop))
        first = Worker(lambda: source.storage.commit([set_value(slow, "x"), *_step("1", "start")]))
        stop.wait_reached()
        second = Worker(lambda: source.storage.commit(_step("2", "1"))).wait_queued()
        fork = Worker(lambda: repo.fork(source.metadata, ForkBranch())).wait_queued()
        third = Worker(lambda: source.storage.commit(_step("3", "2"))).wait_queued()
        stop.release()
        copy = forks.enter_context(fork.result())
        for commit in (first, second, third):
            commit.result()
        equal(ids_of(copy.find_entries(order="asc")), ["start", "1", "2"])
        main = copy.branch("main")
        equal(main and main.tip_id(), "2")
        equal(copy.get_stats().message_count, 3)
        equal(source.get_stats().message_count, 4)


@_group.case()
def commits_of_an_open_source_go_on_while_it_is_read(factory: RepositoryFactory) -> None:
    """Only the boundary is taken on the commit line; what is committed after it is not seen."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        before = records_of(repo, source.metadata)
        with repo.snapshot(source.metadata) as snapshot:
            Worker(lambda: source.commit(_step("f", "e"))).result()
            with repo.fork(source.metadata, ForkBranch()) as copy:
                equal(ids_of(copy.find_entries()), list("fedcba"))
            equal(sorted(snapshot.records, key=lambda record: record.seq), before, "what the snapshot holds")


def _step(id: str, parent: str) -> list[Write[SessionScope]]:
    return [say(id, parent), set_value(branch_tip("main"), id)]


@_group.case()
def a_fork_inside_a_mutation_of_its_source(factory: RepositoryFactory) -> None:
    """The boundary is on the commit line, which a mutation holds only while it commits."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        with source.begin_mutation() as mutation:
            with repo.fork(source.metadata, ForkBranch()) as copy:
                equal(ids_of(copy.find_entries()), list("edcba"))
            mutation.commit([say("f", "e")])


@_group.case()
def the_destination_is_reserved_while_it_is_made(factory: RepositoryFactory) -> None:
    """Create, open, delete and another fork of its id fail at once; other ids are free."""
    with factory.open() as repo, repo.create() as source, Stop() as stop:
        fill(source)
        slow = value("app.slow", type=stopping_type(stop))
        commit = Worker(lambda: source.storage.commit([set_value(slow, "x")]))
        stop.wait_reached()
        id = repo.id_generator.next()
        fork = Worker(lambda: repo.fork(source.metadata, ForkTree(), id=id)).wait_queued()
        refuses(SessionExistsError, lambda: repo.create(id=id), id)
        refuses(SessionExistsError, lambda: repo.fork(source.metadata, ForkTree(), id=id), id)
        refuses(SessionAlreadyOpenError, lambda: repo.open(id), id)
        refuses(SessionAlreadyOpenError, lambda: repo.delete(id), id)
        check(id not in [found.id for found in repo.list()], "what is being forked should not be listed")
        repo.create().close()
        stop.release()
        commit.result()
        with fork.result() as copy:
            refuses(SessionExistsError, lambda: repo.fork(source.metadata, ForkTree(), id=id), id)
            refuses(SessionAlreadyOpenError, lambda: repo.open(copy.metadata), id)
        repo.open(id).close()


@_group.case()
def the_source_is_not_reserved(factory: RepositoryFactory) -> None:
    """A closed source can be opened, forked again and written while a fork of it is being read."""
    with factory.open() as repo:
        with repo.create() as source:
            fill(source)
        with repo.snapshot(source.metadata) as snapshot, repo.open(source.metadata) as again:
            again.commit(_step("f", "e"))
            with repo.fork(source.metadata, ForkBranch()) as copy:
                equal(ids_of(copy.find_entries()), list("fedcba"))
            check("f" not in [entry.id for entry in snapshot.structure()], "the snapshot should stand still")


@_group.case()
def a_source_that_closes_meanwhile_is_still_forked(factory: RepositoryFactory) -> None:
    """Close before the boundary, and close after it: the fork holds every commit admitted before."""
    with factory.open() as repo, Stop() as stop:
        source = repo.create()
        source.commit([say("start"), *configured("main", "start")])
        slow = value("app.slow", type=stopping_type(stop))
        commit = Worker(lambda: source.storage.commit([set_value(slow, "x"), *_step("1", "start")]))
        stop.wait_reached()
        close = Worker(source.close).wait_draining()
        fork = Worker(lambda: repo.fork(source.metadata, ForkBranch()))
        fork.wait_draining()
        stop.release()
        commit.result()
        close.result()
        with fork.result() as copy:
            equal(ids_of(copy.find_entries()), ["1", "start"])
        again = repo.open(source.metadata)
        with repo.snapshot(again.metadata) as snapshot:
            again.close()
            equal([entry.id for entry in snapshot.path("1")], ["1", "start"])


FORK_CASES.extend(_group.cases)
