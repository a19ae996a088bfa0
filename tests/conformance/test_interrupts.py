"""``KeyboardInterrupt`` at every point of what a session and a repository do, on every kind of store."""

from __future__ import annotations

import gc
import os
import warnings
from collections.abc import Callable, Iterator

import pytest
from conformance.factories import FactoryOf, factory_of
from legs import STORE_KINDS, StoreKind

from sessionstore.address import value, value_list
from sessionstore.errors import SessionAlreadyOpenError, SessionNotFoundError
from sessionstore.mutation import SessionMutation
from sessionstore.opening import open_repository
from sessionstore.repository import SessionRepo
from sessionstore.scope import ephemeral_scope
from sessionstore.session import Session
from sessionstore.testing import UrlRepositories
from sessionstore.testing.checks import check
from sessionstore.testing.interrupts import interrupt
from sessionstore.testing.material import say, spend
from sessionstore.testing.platform import open_descriptors, platform_capabilities
from sessionstore.testing.threads import Worker
from sessionstore.writes import append_list, retire_scope, set_value

__all__ = ["factory_of"]  # pytest finds the fixture here

N, LOG = value("app", "n", type=int), value_list("app", "log")
PROBE = value("app", "probe")

EVERY_POINT = "SESSIONSTORE_EVERY_POINT"
"""Environment: every point is tried on every kind, which takes minutes."""


def stride_of(kind: StoreKind) -> int:
    """Every how many points an interrupt is tried, where there are hundreds or thousands."""
    if "persistent" not in kind.capabilities or os.environ.get(EVERY_POINT):
        return 1
    return 29 if "server" in kind.capabilities else 7


on_each_kind = pytest.mark.parametrize("store_kind", STORE_KINDS, ids=lambda kind: kind.name)


@pytest.fixture(autouse=True)
def collected() -> Iterator[None]:
    """What an interrupt drops, Python closes, and complains that nobody else did."""
    counts = "descriptors" in platform_capabilities()
    gc.collect()
    before = open_descriptors() if counts else 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()
    assert not counts or open_descriptors() <= before


@pytest.fixture
def factory(store_kind: StoreKind, factory_of: FactoryOf) -> UrlRepositories:
    return factory_of(store_kind)


@pytest.fixture
def stride(store_kind: StoreKind) -> int:
    return stride_of(store_kind)


@pytest.fixture
def repo(factory: UrlRepositories) -> Iterator[SessionRepo]:
    with factory.open_other() as repo:  # a container of its own: lists are interrupted too
        yield repo


@pytest.fixture
def session(repo: SessionRepo) -> Iterator[Session]:
    with repo.create() as session:
        yield session


def every_point(call: Callable[[], object], settle: Callable[[int], None], stride: int) -> int:
    """Interrupt ``call`` at one point after another, settling after each; how many there were."""
    point = 1
    while interrupt(call, point):
        settle(point)
        point += stride
    settle(point)
    return point


def number(session: Session) -> int:
    stored = session.get_value(N)
    return 0 if stored is None else stored.value


def increment(mutation: SessionMutation) -> None:
    stored = mutation.get_value(N)
    n = 1 if stored is None else stored.value + 1
    mutation.commit([set_value(N, n), append_list(LOG, n)])


@on_each_kind
def test_a_mutation(session: Session, stride: int) -> None:
    before = 0

    def settle(point: int) -> None:
        nonlocal before
        after = number(session)
        assert after in (before, before + 1), f"point {point}"
        assert [element.value for element in session.read_list(LOG, order="desc", limit=1)] == [after][:after]
        before = after
        Worker(lambda: session.set_name(str(point))).result()

    assert every_point(lambda: session.mutate(increment), settle, stride) > 50


SCOPED = value_list("app", "log", scope=ephemeral_scope("op"))
COMMITS: dict[str, Callable[[Session, int], object]] = {
    "in the session": lambda session, n: session.commit([append_list(LOG, n), set_value(N, n)]),
    "in a scope": lambda session, n: session.commit([append_list(SCOPED, n)]),
    "that retires": lambda session, n: session.commit([append_list(LOG, n), retire_scope(SCOPED.scope)]),
}


@pytest.mark.slow
@on_each_kind
@pytest.mark.parametrize("kind", COMMITS)
def test_what_is_stored_is_what_the_handle_says(
    repo: SessionRepo, store_kind: StoreKind, stride: int, kind: str
) -> None:
    """Whatever an interrupt kept a commit from noticing, no number is used twice after it."""
    point = 1
    interrupted = True
    while interrupted:
        with repo.create() as session:
            session.commit([append_list(LOG, 0)])
            if kind == "that retires":
                session.append_list(SCOPED, 0)
            interrupted = interrupt(lambda session=session: COMMITS[kind](session, 1), point)
            # The first to use the handle afterwards is once a writer and once a reader.
            if point % 2:
                session.commit([append_list(LOG, 2)])
            session.read_list(LOG)
            session.append_list(SCOPED, 3)
            session.set_name(str(point))
            told = session.read_list(LOG), session.read_list(SCOPED), session.storage.next_seq()
            metadata = session.metadata
        with repo.open(metadata) as session:
            stored = session.read_list(LOG), session.read_list(SCOPED), session.storage.next_seq()
        assert stored == told, f"point {point}"
        repo.delete(metadata)
        point += stride if "server" in store_kind.capabilities else 1


@on_each_kind
def test_beginning_and_ending(session: Session, stride: int) -> None:
    def begin_and_end() -> None:
        mutation = session.begin_mutation()
        mutation.end()

    every_point(
        begin_and_end, lambda point: Worker(lambda: session.set_name(str(point))).result() or None, stride
    )


@on_each_kind
def test_convenience_writers(session: Session, stride: int) -> None:
    session.commit([say("e")])
    branch = session.create_branch("main", "e")

    def settle(point: int) -> None:
        tip = branch.tip_id()
        assert tip is not None
        entries = session.scan_branch(tip)
        assert len(entries) == len(session.find_entries()), f"point {point}: an entry without its tip"
        assert session.get_stats().usage.input == len(entries) - 1
        session.set_name(str(point))

    usage = {
        "input": 1, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 1,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0},
    }  # fmt: skip
    every_point(lambda: branch.append_message({"role": "user"}, usage=usage), settle, stride)


@on_each_kind
def test_reads(session: Session, stride: int) -> None:
    session.commit([say("a"), say("b", "a"), set_value(N, 1), append_list(LOG, 1), spend("u", 1)])

    def read() -> None:
        session.get_value(N)
        session.scan_values(value("app"))
        session.read_list(LOG)
        session.get_entries(["a", "b"])
        session.scan_branch("b")
        session.find_entries()
        session.scan_usage()
        session.get_stats()

    every_point(read, lambda point: session.set_name(str(point)), stride)
    session.close()


@on_each_kind
def test_creating(factory: UrlRepositories, stride: int) -> None:
    """The session is there whole, or its id is free. A handle may have been lost on the way."""
    id, cwd = "created", "/interrupted"
    point = 1
    interrupted = True
    while interrupted:
        with factory.open() as repo:
            interrupted = interrupt(lambda repo=repo: repo.create(id=id, cwd=cwd).close(), point)
            found = repo.list(cwd=cwd)
            assert len(found) <= 1
            try:
                handle = repo.open(found[0]) if found else repo.create(id=id, cwd=cwd)
            except SessionAlreadyOpenError as error:
                check("is open" in str(error), f"point {point}: {error}")
            else:
                assert handle.find_entries() == [], f"point {point}: a session half made"
                handle.set_value(N, point)
            repo.create(cwd="/another").close()
        with factory.open() as repo:
            for metadata in [*repo.list(cwd=cwd), *repo.list(cwd="/another")]:
                repo.delete(metadata)
        point += stride


@on_each_kind
def test_opening(factory: UrlRepositories, stride: int) -> None:
    point = 1
    interrupted = True
    while interrupted:
        with factory.open() as repo:
            with repo.create() as session:
                metadata = session.metadata
            interrupted = interrupt(lambda repo=repo, metadata=metadata: repo.open(metadata).close(), point)
            try:
                handle = repo.open(metadata)
            except SessionAlreadyOpenError as error:
                check("is open" in str(error), f"point {point}: {error}")
            else:
                handle.set_value(N, point)
                handle.close()
                repo.delete(metadata)
        point += stride


@on_each_kind
def test_deleting(repo: SessionRepo, stride: int) -> None:
    id = "deleted"

    def settle(point: int) -> None:
        try:
            with repo.open(id) as session:
                assert number(session) == 1, f"point {point}: a session half deleted"
        except SessionNotFoundError:
            with repo.create(id=id) as session:
                assert session.find_entries() == [], f"point {point}: something old is visible"
                session.commit([say("e"), set_value(N, 1)])

    settle(0)
    every_point(lambda: repo.delete(id), settle, stride)


@on_each_kind
def test_closing(factory: UrlRepositories, stride: int) -> None:
    point = 1
    interrupted = True
    while interrupted:
        repo = factory.open()
        session = repo.create()
        session.set_value(N, 1)
        interrupted = interrupt(session.close, point)
        Worker(session.close).result()
        Worker(repo.close).result()
        point += stride


@on_each_kind
def test_listing(repo: SessionRepo, stride: int) -> None:
    cwd = "/interrupted"
    repo.create(cwd=cwd).close()

    def settle(point: int) -> None:
        assert len(repo.list(cwd=cwd)) == 1, f"point {point}"

    every_point(lambda: repo.list(cwd=cwd, limit=5), settle, stride)


def test_an_interrupt_of_a_read_or_a_write_does_not_lose_a_database_in_memory() -> None:
    with open_repository("sqlite://") as repo, repo.create(id="s") as session:
        session.set_value(N, 1)
        point = 1
        while interrupt(lambda: (session.get_value(N), session.set_value(PROBE, 0)), point):
            session.set_value(PROBE, point)
            found = session.get_value(N)
            assert found is not None
            assert found.value == 1
            point += 1
