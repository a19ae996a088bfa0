"""Rules over sessions as a whole: create, open, close, list, delete, fork, copy, reopen."""

from __future__ import annotations

from typing import Any

from agreement import material
from agreement.content import ContentMachine, which
from agreement.machine import AWAY, HOME, Key, Side
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from sessionstore.fork import Fork, ForkBranch, ForkTree
from sessionstore.transfer import copy_session

_containers = st.sampled_from((HOME, HOME, HOME, AWAY))


def _cwd_of(id: str) -> str | None:
    """The same for each id: some stores keep ids unique in a container, others in a cwd."""
    return (None, "/work", "/Work ")[len(id) % 3]


def _known(machine: Any) -> bool:
    return bool(machine.model.metadata)


class LifecycleMachine(ContentMachine):
    """All rules."""

    @initialize()
    def begin(self) -> None:
        """One session with a configured branch, since most rules need one."""
        self.create(HOME, 0)
        self.create_branch(0, "main", None, True)

    @rule(ticks=st.integers(1, 3))
    def wait(self, ticks: int) -> None:
        """Time goes on."""
        self.clock.now += ticks

    # -- one session -------------------------------------------------------------------------

    @rule(at=_containers, which=which)
    def create(self, at: str, which: int) -> None:
        """A session, under an id that may have been another's."""
        id = self.session_ids[which % len(self.session_ids)]
        key = at, id
        self.both(lambda side: side.keep(key, side.repositories[at].create(id=id, cwd=_cwd_of(id))))
        self.check_listed(at)

    @precondition(_known)
    @rule(which=which, by_id=st.booleans())
    def open(self, which: int, by_id: bool) -> None:
        """A session that may be open, or deleted, or another one by now."""
        key = self.a_known(which)
        at = key[0]
        opened = self.both(
            lambda side: side.keep(key, side.repositories[at].open(side.reference(key, by_id)))
        )
        if opened:
            self.check(key)

    @precondition(lambda machine: machine.model.sessions)
    @rule(which=which, again=st.booleans())
    def close(self, which: int, again: bool) -> None:
        """Close a handle, which then gives nothing; refused while its mutation runs."""
        key = self.an_open(which)

        def close(side: Side) -> None:
            session = side.sessions[key]
            session.close()
            side.forget(key)

        if self.on_line(key, close):
            self.both(lambda side: side.closed[key].get_stats())
            self.both(lambda side: side.closed[key].commit([]))
            self.both(lambda side: side.closed[key].close())
            self.check(key)
            if again:
                self.both(lambda side: side.keep(key, side.repositories[key[0]].open(key[1])))
                self.check(key)

    @precondition(_known)
    @rule(which=which, by_id=st.booleans())
    def delete(self, which: int, by_id: bool) -> None:
        """Delete a session; refused while it is open."""
        key = self.a_known(which)
        at = key[0]
        self.both(lambda side: side.repositories[at].delete(side.reference(key, by_id)))
        self.both(lambda side: side.repositories[at].get(key[1]))
        self.check_listed(at)

    @precondition(_known)
    @rule(at=_containers, limit=st.one_of(st.none(), st.integers(-1, 3)), before=st.one_of(st.none(), which))
    def list_page(self, at: str, limit: int | None, before: int | None) -> None:
        """A page of a container."""
        key = None if before is None else self.a_known(before)
        self.both(
            lambda side: side.repositories[at].list(
                limit=limit, before=None if key is None else side.metadata[key]
            )
        )

    def check_listed(self, at: str) -> None:
        """Both list the same sessions."""
        self.both(lambda side: side.repositories[at].list())
        self.both(lambda side: side.repositories[at].list(cwd="/work"))

    # -- several -----------------------------------------------------------------------------

    @precondition(_known)
    @rule(source=which, at=_containers, number=which, fork=st.data())
    def fork(self, source: int, at: str, number: int, fork: st.DataObject) -> None:
        """A branch or the tree of a session, open or closed, of this container or of the other."""
        origin = self.a_known(source)
        # A fork has the cwd of its source.
        ids = [id for id in self.session_ids if _cwd_of(id) == _cwd_of(origin[1])]
        key = at, ids[number % len(ids)]
        wanted = self._drawn_fork(fork, origin)

        def make(side: Side) -> object:
            session = side.repositories[at].fork(
                side.metadata[origin], wanted, id=key[1], source_repository=side.repositories[origin[0]]
            )
            return side.keep(key, session)

        if self.both(make):
            self.check(key)
        self.check_listed(at)

    def _drawn_fork(self, data: st.DataObject, origin: Key) -> Fork:
        include = data.draw(st.booleans())
        if data.draw(st.booleans()):
            return ForkTree(include_application_state=include)
        ids = self.ids_of(origin) if origin in self.model.sessions else []
        entry = data.draw(st.one_of(st.none(), st.none(), material.existing))
        return ForkBranch(
            data.draw(material.branches),
            entry_id=material.resolved(entry, ids),
            position=data.draw(st.sampled_from(("at", "before"))),
            include_application_state=include,
        )

    @precondition(_known)
    @rule(which=which)
    def copy(self, which: int) -> None:
        """A session to the other container, whole, where the id may be taken."""
        at, id = self.a_known(which)
        there = AWAY if at == HOME else HOME
        key = there, id

        def copy(side: Side) -> object:
            made = copy_session(side.repositories[at], side.repositories[there], id)
            side.metadata[key] = made
            return made

        if self.both(copy):
            self.check(key)

    @rule(at=_containers)
    def reopen(self, at: str) -> None:
        """Close a repository of the store under test and open the container again.

        What is in memory would be gone, so the model closes and opens its sessions only.
        """
        keys = [key for key in self.model.sessions if key[0] == at]
        for key in keys:
            if key in self.model.mutations:
                self.end_mutation(key)
        for key in keys:
            self.model.sessions[key].close()
            self.model.forget(key)
            self.subject.forget(key)
        self.subject.repositories[at].close()
        for key in keys:
            self.both(lambda side, key=key: side.closed[key].get_stats())
        self.subject.repositories[at] = self._opened(at)
        self.check_listed(at)
        for key in keys:
            self.both(lambda side, key=key: side.keep(key, side.repositories[at].open(key[1])))
            self.check(key)
