"""Rules over what is in sessions: transactions, reads, branches, mutations."""

from __future__ import annotations

from typing import Any

from agreement import material
from agreement.machine import AgreementMachine, Key, Side
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from sessionstore.session import Branch
from sessionstore.testing.material import figures, message
from sessionstore.writes import AppendList, DeleteList, DeleteValue, RetireScope, SetValue, Write

which = st.integers(0, 5)


def _open(machine: Any) -> bool:
    return bool(machine.model.sessions)


class ContentMachine(AgreementMachine):
    """What is read and written in open sessions."""

    # -- transactions ------------------------------------------------------------------------

    @precondition(_open)
    @rule(which=which, writes=material.transactions, below=st.booleans())
    def commit(self, which: int, writes: list[Write[Any]], below: bool) -> None:
        """A transaction, on the mutation line or below it."""
        key = self.an_open(which)
        given = material.built(writes, self.ids_of(key))
        if below:
            self.both(lambda side: side.sessions[key].storage.commit(given))
        else:
            self.both(lambda side: side.sessions[key].commit(given))
        self.check(key, material.places(given))

    @precondition(_open)
    @rule(which=which, write=material.single_writes)
    def write_one(self, which: int, write: Write[Any]) -> None:
        """One write through the method of its kind."""
        key = self.an_open(which)
        self.both(lambda side: _by_method(side, key, write))
        self.check(key, material.places([write]))

    @precondition(_open)
    @rule(
        which=which,
        address=material.lists,
        tags=st.lists(material.tags, min_size=2, max_size=6),
        options=material.list_options,
    )
    def append_many(self, which: int, address: Any, tags: list[str | None], options: dict[str, Any]) -> None:
        """A list long enough for several pages, and a page of it."""
        key = self.an_open(which)
        for index, tag in enumerate(tags):
            self.both(lambda side, index=index, tag=tag: side.sessions[key].append_list(address, index, tag))
        self.both(lambda side: side.sessions[key].read_list(address, **options))
        self.check(key, [(address.namespace, address.key, address.scope)])

    @precondition(_open)
    @rule(which=which)
    def read_all_places(self, which: int) -> None:
        """Everything that was ever written at any place of a session."""
        key = self.an_open(which)
        self.check(key, list(self.places[key]))

    # -- reads -------------------------------------------------------------------------------

    @precondition(_open)
    @rule(which=which, query=material.session_queries)
    def read_session(self, which: int, query: material.Query) -> None:
        """A read through the session, and through its mutation when one runs."""
        key = self.an_open(which)
        ids = self.ids_of(key)
        self.both(lambda side: query.ask(side.sessions[key], ids))
        if key in self.model.mutations:
            self.both(lambda side: query.ask(side.mutations[key], ids))

    @precondition(_open)
    @rule(which=which, query=material.store_queries)
    def read_store(self, which: int, query: material.Query) -> None:
        """A read through the store."""
        key = self.an_open(which)
        ids = self.ids_of(key)
        self.both(lambda side: query.ask(side.sessions[key].storage, ids))

    # -- mutations ---------------------------------------------------------------------------

    @precondition(_open)
    @rule(which=which)
    def begin_mutation(self, which: int) -> None:
        """The second one of a session from the same thread is refused."""
        key = self.an_open(which)

        def begin(side: Side) -> None:
            side.mutations[key] = side.sessions[key].begin_mutation()

        self.both(begin)

    @precondition(lambda machine: machine.model.mutations)
    @rule(which=which, writes=material.transactions, end=st.booleans())
    def commit_mutation(self, which: int, writes: list[Write[Any]], end: bool) -> None:
        """The commit of a mutation, its second one, or one that was overtaken."""
        keys = list(self.model.mutations)
        key = keys[which % len(keys)]
        given = material.built(writes, self.ids_of(key))
        self.both(lambda side: side.mutations[key].commit(given))
        if end:
            self.end_mutation(key)
        self.check(key, material.places(given))

    @precondition(lambda machine: machine.model.mutations)
    @rule(which=which)
    def end_one(self, which: int) -> None:
        """End a mutation that may not have committed."""
        keys = list(self.model.mutations)
        self.end_mutation(keys[which % len(keys)])

    def end_mutation(self, key: Key) -> None:
        """After its end a mutation gives nothing."""
        ended = self.model.mutations.get(key), self.subject.mutations.get(key)
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
        made = self.both(lambda side: side.sessions[key].create_branch(name, place))
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
            self.both(
                lambda side, text=text, usage=usage: _branch(side, key, name).append_message(
                    message(text), usage=usage
                )
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
        self.both(lambda side: side.sessions[key].set_name(name))
        self.both(lambda side: side.sessions[key].get_name())

    @precondition(_open)
    @rule(which=which, entry=material.existing, label=material.optional_names)
    def set_label(self, which: int, entry: material.Nth | str, label: str | None) -> None:
        """The label of an entry."""
        key = self.an_open(which)
        id = material.resolved(entry, self.ids_of(key))
        self.both(lambda side: side.sessions[key].set_label(id, label))
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
