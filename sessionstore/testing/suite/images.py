"""Whole sessions as streams: snapshots and loading, which copies and forks are made of."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from sessionstore.address import value, value_list
from sessionstore.entries import NewUsageRow
from sessionstore.errors import SessionAlreadyOpenError, SessionExistsError
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.records import ElementRecord, EntryRecord, Record, UsageRecord, ValueRecord
from sessionstore.repository import SessionRepo
from sessionstore.scope import ephemeral_scope
from sessionstore.session import Session
from sessionstore.testing.cases import RepositoryFactory, RepositoryGroup, trying
from sessionstore.testing.checks import check, equal, ids_of, refuses, values_of
from sessionstore.testing.material import figures, note, say, stopping_type
from sessionstore.testing.threads import Stop, Worker
from sessionstore.usage import SessionStats
from sessionstore.writes import append_list, insert_usage, retire_scope, set_value

group = RepositoryGroup("images")

_N, _LOG = value("app", "n"), value_list("app", "log")
_SCOPE = ephemeral_scope("op")


def _fill(session: Session) -> None:
    session.commit([say("a"), note("b", "a", data={"x": "\ud800\0"}), set_value(_N, {"z": 1e-5, "a": 2**70})])
    session.commit([append_list(_LOG, n, "mark" if n == 2 else None) for n in range(4)])
    session.commit([insert_usage(NewUsageRow("u", figures(1, 0.1), True, "a", [None])), say("c", "a")])
    session.commit([set_value(value("app", "old", scope=_SCOPE), "gone")])
    session.retire_scope(_SCOPE)
    session.commit(
        [append_list(value_list("app", scope=_SCOPE), "live"), set_value(value("app", scope=_SCOPE), 1)]
    )
    session.create_branch("main", "b")


def _records(repo: SessionRepo, session: Session) -> tuple[ImageHeader, list[Record]]:
    with repo.snapshot(session.metadata) as image:
        return image.header, list(image.records)


@group.case()
def a_snapshot_is_the_whole_session(factory: RepositoryFactory) -> None:
    """A snapshot has every record with its number, live scopes included, and nothing retired."""
    with trying(factory.open()) as repo, trying(repo.create(parent_session_id="p", cwd="/x")) as session:
        _fill(session)
        header, records = _records(repo, session)
        equal((header.id, header.parent_session_id, header.cwd), (session.metadata.id, "p", "/x"))
        equal((header.next_seq, header.stats), (session.storage.next_seq(), session.get_stats()))
        entries = [r for r in records if isinstance(r, EntryRecord)]
        values = [r for r in records if isinstance(r, ValueRecord)]
        elements = [r for r in records if isinstance(r, ElementRecord)]
        usage = [r for r in records if isinstance(r, UsageRecord)]
        equal([(r.id, r.parent_id) for r in entries], [("a", None), ("b", "a"), ("c", "a")])
        equal([(r.scope_id, r.namespace, r.key) for r in values], [
            ("", "app", "n"), ("op", "app", ""), ("", "pi.branch.tip", "main"),
        ])  # fmt: skip
        equal(
            [(r.scope_id, r.tag) for r in elements],
            [("", None), ("", None), ("", "mark"), ("", None), ("op", None)],
        )
        equal([(r.id, r.entry_id, r.adjustment, r.details) for r in usage], [("u", "a", True, "[null]")])
        for kind in (entries, values, elements, usage):
            seqs = [record.seq for record in kind]
            equal(seqs, sorted(seqs), "numbers of one kind of record")


@group.case()
def a_snapshot_stays_at_its_boundary(factory: RepositoryFactory) -> None:
    """While a snapshot is open the session goes on, and the snapshot does not change."""
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        _fill(session)
        header, before = _records(repo, session)
        with repo.snapshot(session.metadata) as image:
            read = [next(image.records)]
            session.commit(
                [note("later", "c"), set_value(_N, "later"), append_list(_LOG, "later"), retire_scope(_SCOPE)]
            )
            session.delete_list(_LOG)
            read.extend(image.records)
            equal(read, before, "the records at the boundary")
            equal(image.header, header)
        equal(session.read_list(_LOG), [])


@group.case()
def a_snapshot_sees_commits_wholly_or_not_at_all(factory: RepositoryFactory) -> None:
    """The boundary of an open session is on its commit line: after the commits admitted before."""
    with trying(factory.open()) as repo, trying(repo.create()) as session, Stop() as stop:
        slow = value("app", "slow", type=stopping_type(stop))
        committing = Worker(lambda: session.storage.commit([note("x"), set_value(slow, "x")]))
        stop.wait_reached()
        reading = Worker(lambda: _records(repo, session)).wait_queued()
        stop.release()
        committing.result()
        header, records = reading.result()
        equal(len(records), 2, "records of the commit that was admitted before")
        equal(header.next_seq, session.storage.next_seq())


@group.case()
def a_closed_session_has_the_same_snapshot(factory: RepositoryFactory) -> None:
    """The snapshot of a closed session is that of the open one; it reserves nothing."""
    with trying(factory.open()) as repo:
        with trying(repo.create()) as session:
            _fill(session)
            expected = _records(repo, session)
        equal(_records(repo, session), expected)
        with repo.snapshot(session.metadata) as image, trying(repo.open(session.metadata)) as again:
            again.set_value(_N, "while it is read")
            equal(list(image.records), expected[1])


@group.case()
def an_image_becomes_a_session(factory: RepositoryFactory) -> None:
    """A loaded image is the session that it was taken of, numbers, tags and scopes included."""
    id = f"copy {uuid.uuid4()}"
    with (
        trying(factory.open()) as source,
        trying(factory.open_other()) as target,
        trying(source.create(id=id, cwd="/x")) as session,
    ):
        _fill(session)
        expected = _records(source, session)
        with source.snapshot(session.metadata) as image:
            metadata = target.load(image)
        equal((metadata.id, metadata.cwd, metadata.created_at), (id, "/x", session.metadata.created_at))
        equal(metadata.container, target.container)
        with trying(target.open(metadata)) as copy:
            equal(_records(target, copy), expected, "the image of the copy")
            equal(copy.get_stats(), session.get_stats())
            equal(ids_of(copy.scan_branch("b")), ["b", "a"])
            equal(values_of(copy.read_list(_LOG, stop_at_tag="mark", order="desc")), [3, 2])
            equal(values_of(copy.read_list(value_list("app", scope=_SCOPE))), ["live"])
            result = copy.commit([note("new", "c"), retire_scope(_SCOPE)])
            equal(result.first_seq, expected[0].next_seq, "the number after the last one")
            equal(copy.read_list(value_list("app", scope=_SCOPE)), [])
        equal(len(session.find_entries()), 3, "entries of the source")


@group.case()
def loading_a_taken_id_is_refused(factory: RepositoryFactory) -> None:
    """A load under an id that is taken fails and changes nothing."""
    with trying(factory.open()) as repo:
        with trying(repo.create()) as session:
            session.set_value(_N, "kept")
            image = SessionImage(_header(session.metadata.id), iter(()))
            refuses(SessionExistsError, lambda: repo.load(image), session.metadata.id)
        refuses(SessionExistsError, lambda: repo.load(image), session.metadata.id)
        with trying(repo.open(session.metadata)) as again:
            equal(getattr(again.get_value(_N), "value", None), "kept")


def _header(id: str) -> ImageHeader:
    return ImageHeader(id, 5, 100, SessionStats())


@group.case()
def the_next_number_of_an_image_is_kept(factory: RepositoryFactory) -> None:
    """The header's next number is kept although no record has come near it."""
    id = f"image {uuid.uuid4()}"
    with trying(factory.open()) as repo:
        metadata = repo.load(SessionImage(_header(id), iter(())))
        equal((metadata.id, metadata.created_at), (id, 5))
        with trying(repo.open(metadata)) as session:
            equal(session.storage.next_seq(), 100)
            equal(session.set_value(_N, 1).first_seq, 100)


@group.case()
def a_large_image_is_loaded_whole(factory: RepositoryFactory) -> None:
    """Thousands of records of every kind, more than any batch."""
    id = f"large {uuid.uuid4()}"
    count = 3000

    def records() -> Iterator[Record]:
        for n in range(count):
            parent = f"e{n - 1}" if n else None
            yield EntryRecord(f"e{n}", parent, n + 1, n, "custom", "x", f'{{"data":{n}}}')
        for n in range(count):
            yield ValueRecord("", "app", f"{n:05}", count + n + 1, str(n))
        for n in range(count):
            yield ElementRecord("op" if n % 2 else "", "app", "l", 2 * count + n + 1, str(n), None)

    header = ImageHeader(id, 5, 3 * count + 1, SessionStats())
    with trying(factory.open()) as repo:
        with trying(repo.open(repo.load(SessionImage(header, records())))) as session:
            equal(len(session.scan_branch_structure(f"e{count - 1}")), count)
            equal(len(session.scan_values(value("app"))), count)
            half = values_of(session.read_list(value_list("app", "l", scope=_SCOPE), limit=10_000))
            equal(half, list(range(1, count, 2)))
            session.commit([note("after", f"e{count // 2}")])
            equal(len(session.scan_branch("after")), count // 2 + 2)
        refuses(SessionExistsError, lambda: repo.load(SessionImage(header, records())))


@group.case()
def a_snapshot_of_an_open_session_needs_no_reservation(factory: RepositoryFactory) -> None:
    """The source side takes no reservation and consults none."""
    with trying(factory.open()) as repo, trying(repo.create()) as session:
        _fill(session)
        with session.begin_mutation() as mutation:
            equal(len(_records(repo, session)[1]), 12, "records read during a mutation")
            mutation.commit([set_value(_N, 1)])
        with repo.snapshot(session.metadata) as image:
            refuses(SessionAlreadyOpenError, lambda: repo.open(session.metadata))
            check(image.header.id == session.metadata.id, "the snapshot should be of the session")
