"""Rules over what is in sessions: transactions, reads, branches, mutations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agreement import material
from agreement.machine import LEAST_LIKELY, AgreementMachine, Key, Side
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from sessionstore.session import Branch
from sessionstore.testing.material import figures, message
from sessionstore.writes import AppendList, DeleteList, DeleteValue, RetireScope, SetValue, Write

which = st.integers(0, LEAST_LIKELY)


def _open(machine: Any) -> bool:
    return bool(machine.model.sessions)


class ContentMachine(AgreementMachine):
    """What is read and written in open sessions."""

    # -- transactions ------------------------------------------------------------------------

    @precondition(_open)
    @rule(which=which, several=st.lists(material.transactions, min_size=1, max_size=3), below=st.booleans())
    def commit(self, which: int, several: list[list[Write[Any]]], below: bool) -> None:
        """Transactions, on the mutation line or below it."""
        key = self.an_open(which)
        for writes in several:
            given = material.built(writes, self.ids_of(key))
            if below:
                self.both(lambda side, given=given: side.sessions[key].storage.commit(given))
            else:
                self.on_line(key, lambda side, given=given: side.sessions[key].commit(given))
            self.check(key, material.places(given))

    @precondition(_open)
    @rule(which=which, writes=st.lists(material.single_writes, min_size=1, max_size=4))
    def write_single(self, which: int, writes: list[Write[Any]]) -> None:
        """Single writes through the methods of their kinds."""
        key = self.an_open(which)
        for write in writes:
            self.on_line(key, lambda side, write=write: _by_method(side, key, write))
            self.check(key, material.places([write]))

    @precondition(_open)
    @rule(
        which=which,
        address=material.lists,
        tags=st.lists(material.tags, min_size=2, max_size=6),
        pages=st.lists(material.list_options, min_size=1, max_size=3),
    )
    def append_many(
        self, which: int, address: Any, tags: list[str | None], pages: list[dict[str, Any]]
    ) -> None:
        """A list long enough for several pages, and some of them."""
        key = self.an_open(which)
        for index, tag in enumerate(tags):
            self.on_line(
                key, lambda side, index=index, tag=tag: side.sessions[key].append_list(address, index, tag)
            )
        for page in pages:
            self.both(lambda side, page=page: side.sessions[key].read_list(address, **page))
        self.check(key, [(address.namespace, address.key, address.scope)])

    def on_line(self, key: Key, call: Callable[[Side], object]) -> bool:
        """A write that a running mutation of this thread refuses; made once that has ended."""
        if key in self.model.mutations:
            self.both(call)
            self.end_mutation(key)
        return self.both(call)

    # -- reads -------------------------------------------------------------------------------

    @precondition(_open)
    @rule(which=which, queries=st.lists(material.session_queries, min_size=1, max_size=5))
    def read_session(self, which: int, queries: list[material.Query]) -> None:
        """Reads through the session, and through its mutation when one runs."""
        key = self.an_open(which)
        ids = self.ids_of(key)
        for query in queries:
            self.both(lambda side, query=query: query.ask(side.sessions[key], ids))
            if key in self.model.mutations:
                self.both(lambda side, query=query: query.ask(side.mutations[key], ids))

    @precondition(_open)
    @rule(which=which, queries=st.lists(material.store_queries, min_size=1, max_size=5))
    def read_store(self, which: int, queries: list[material.Query]) -> None:
        """Reads through the store, after everything that was ever written at any place."""
        key = self.an_open(which)
        self.check(key, list(self.places[key]))
        ids = self.ids_of(key)
        for query in queries:
            self.both(lambda side, query=query: query.ask(side.sessions[key].storage, ids))

    # -- mutations ---------------------------------------------------------------------------

    @precondition(_open)
    @rule(
        order=st.permutations(range(3)),
        attempts=st.lists(material.transactions, min_size=1, max_size=3),
        overtaking=st.one_of(st.none(), material.transactions),
        hold=st.booleans(),
    )
    def mutate(
        self,
        order: list[int],
        attempts: list[list[Write[Any]]],
        overtaking: list[Write[Any]] | None,
        hold: bool,
    ) -> None:
        """Mutations of several sessions at once; each commits once, unless it was overtaken.

        The last one may stay, and refuse what the rules after this one try.
        """
        keys = list(dict.fromkeys(map(self.an_open, order)))
        for key in keys:
            self._begin(key)
        for writes in attempts:
            for key in keys:
                if overtaking is not None:
                    given = material.built(overtaking, self.ids_of(key))
                    self.both(lambda side, key=key, given=given: self._commit_beside(side, key, given))
                given = material.built(writes, self.ids_of(key))
                self.both(lambda side, key=key, given=given: side.mutations[key].commit(given))
                self.check(key, material.places(given))
        for key in keys[hold:]:
            self.end_mutation(key)

    def _begin(self, key: Key) -> None:
        """The second mutation of a session from the same thread is refused."""

        def begin(side: Side) -> None:
            side.mutations[key] = side.sessions[key].begin_mutation()

        self.both(begin)

    def _commit_beside(self, side: Side, key: Key, given: list[Write[Any]]) -> object:
        """Commit past the session's mutation: through another handle, where a store allows two."""
        if side is self.model or not self.two_handles:
            return side.sessions[key].storage.commit(given)
        at, id = key
        with self._opened(at) as repository, repository.open(id) as session:
            return session.storage.commit(given)

    def end_mutation(self, key: Key) -> None:
        """After its end a mutation gives nothing."""
        ended = self.model.mutations[key], self.subject.mutations[key]
        self.both(lambda side: side.mutations[key].end())
        self.both(lambda side: ended[side is self.subject].get_stats())
        for side in (self.model, self.subject):
            del side.mutations[key]

    # -- branches, names, labels ---------------------------------------------------------------

    @precondition(_open)
    @rule(
        which=which,
        name=material.branches,
        at=st.one_of(st.none(), material.existing),
        configured=st.booleans(),
    )
    def create_branch(self, which: int, name: str, at: Any, configured: bool) -> None:
        """A branch at any entry, an old one too; configured so that it can be forked."""
        key = self.an_open(which)
        place = material.resolved(at, self.ids_of(key))
        made = self.on_line(key, lambda side: side.sessions[key].create_branch(name, place))
        if made and configured:
            self.both(lambda side: side.sessions[key].commit(material.lane(name)))
        self.check(key)

    @precondition(_open)
    @rule(which=which, name=material.branches, texts=st.lists(material.json, min_size=1, max_size=4))
    def append_messages(self, which: int, name: str, texts: list[Any]) -> None:
        """Messages under a branch's tip, some with usage."""
        key = self.an_open(which)
        for index, text in enumerate(texts):
            usage = figures(index, 0.1) if index % 2 else None
            self.on_line(
                key,
                lambda side, text=text, usage=usage: _branch(side, key, name).append_message(
                    message(text), usage=usage
                ),
            )
        self.both(lambda side: _branch(side, key, name).append_custom_entry("note", texts))
        self.check(key)

    @precondition(_open)
    @rule(which=which, name=material.branches, options=material.branch_options)
    def read_branch(self, which: int, name: str, options: dict[str, Any]) -> None:
        """A branch from its tip."""
        key = self.an_open(which)
        self.both(lambda side: side.sessions[key].branch(name))
        self.both(lambda side: _branch(side, key, name).tip_id())
        self.both(lambda side: _branch(side, key, name).find_entries(**options))

    @precondition(_open)
    @rule(which=which, name=material.optional_names)
    def set_name(self, which: int, name: str | None) -> None:
        """The name of a session."""
        key = self.an_open(which)
        self.on_line(key, lambda side: side.sessions[key].set_name(name))
        self.both(lambda side: side.sessions[key].get_name())

    @precondition(_open)
    @rule(which=which, entry=material.existing, label=material.optional_names)
    def set_label(self, which: int, entry: material.Nth | str, label: str | None) -> None:
        """The label of an entry."""
        key = self.an_open(which)
        id = material.resolved(entry, self.ids_of(key))
        self.on_line(key, lambda side: side.sessions[key].set_label(id, label))
        self.both(lambda side: side.sessions[key].get_label(id))


def _branch(side: Side, key: Key, name: str) -> Branch:
    return Branch(side.sessions[key], name)


def _by_method(side: Side, key: Key, write: Write[Any]) -> object:
    session = side.sessions[key]
    match write:
        case SetValue():
            return session.set_value(write.address, write.value)
        case DeleteValue():
            return session.delete_value(write.address)
        case AppendList():
            return session.append_list(write.address, write.element, write.tag)
        case DeleteList():
            return session.delete_list(write.address)
        case RetireScope():
            return session.retire_scope(write.retired)
    raise AssertionError(f"no method writes {write}")
