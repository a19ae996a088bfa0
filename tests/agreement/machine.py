"""The agreement machine: a store beside the one in memory, the same random operations on both.

The store in memory is the model: it is a few dictionaries under the rules that all stores share.
After each step both have said the same, errors included, and hold the same records.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, ClassVar

from agreement.comparing import Address, check_same_session, everything, outcome
from hypothesis.stateful import RuleBasedStateMachine

from sessionstore.memory import MemorySessionRepo
from sessionstore.metadata import SessionMetadata
from sessionstore.mutation import SessionMutation
from sessionstore.repository import SessionRepo
from sessionstore.session import Session
from sessionstore.testing import ManualClock

HOME, AWAY = "home", "away"
"""Two containers of the same kind; sessions are forked and copied between them."""

LEAST_LIKELY = 5
"""A choice that means something rare."""

Key = tuple[str, str]
"""A session: its container and its id."""


class CountingIds:
    """An id generator that gives the same ids on both sides."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def next(self, timestamp_ms: int | None = None) -> str:
        """The next id, of whatever time."""
        return f"generated {next(self._numbers)} {timestamp_ms}"


OpenRepository = Callable[[str, ManualClock, CountingIds], SessionRepo]
"""Opens a repository on one of the two containers of the store that is tested."""


@dataclass
class Side:
    """One of the two stores: its repositories, and what is open in them."""

    repositories: dict[str, SessionRepo]
    sessions: dict[Key, Session] = field(default_factory=dict)
    mutations: dict[Key, SessionMutation] = field(default_factory=dict)
    closed: dict[Key, Session] = field(default_factory=dict)
    metadata: dict[Key, SessionMetadata] = field(default_factory=dict)

    def keep(self, key: Key, session: Session) -> Session:
        """Remember the open handle of a session."""
        self.sessions[key] = session
        self.metadata[key] = session.metadata
        return session

    def forget(self, key: Key) -> None:
        """The handle of a session was closed."""
        self.closed[key] = self.sessions.pop(key)

    def reference(self, key: Key, by_id: bool) -> Any:
        """A session as a caller names it: by id, or by the metadata that was seen last."""
        return key[1] if by_id or key not in self.metadata else self.metadata[key]

    def outcome(self, call: Callable[[Side], object], session_ids: Iterable[str]) -> str:
        """What a call on this side comes to."""
        containers = [repository.container for repository in self.repositories.values()]
        return outcome(lambda: call(self), containers, session_ids)

    def close(self) -> None:
        """Let go of everything."""
        for mutation in self.mutations.values():
            mutation.end()
        for repository in self.repositories.values():
            repository.close()


class AgreementMachine(RuleBasedStateMachine):
    """Every operation on both sides. A subclass says how the store under test is opened."""

    open_subject: ClassVar[OpenRepository]
    session_ids: ClassVar[tuple[str, ...]]
    two_handles: ClassVar[bool]
    """Whether two handles of a session may write, as two processes would."""
    operations: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.places: defaultdict[Key, dict[Address, None]] = defaultdict(dict)
        ids = CountingIds()
        self.subject_ids = CountingIds()
        self.model = Side({at: MemorySessionRepo(clock=self.clock, id_generator=ids) for at in (HOME, AWAY)})
        self.subject = Side({at: self._opened(at) for at in (HOME, AWAY)})

    def _opened(self, at: str) -> SessionRepo:
        return type(self).open_subject(at, self.clock, self.subject_ids)

    # -- both sides ----------------------------------------------------------------------------

    def both(self, call: Callable[[Side], object]) -> bool:
        """Whether ``call`` succeeded, which it has to do on both sides or on neither."""
        type(self).operations += 1
        expected = self.model.outcome(call, self.session_ids)
        actual = self.subject.outcome(call, self.session_ids)
        assert actual == expected, f"the store:  {actual}\nthe model: {expected}"
        return expected.startswith("gave")

    def check(self, key: Key, places: Iterable[Address] = ()) -> None:
        """A session is the same on both sides, read as a whole and through the reads of its store."""
        places = list(places)
        self.places[key].update(dict.fromkeys(places))
        at, id = key
        check_same_session(self.model.repositories[at], self.subject.repositories[at], id)
        if key in self.model.sessions:
            expected = list(everything(self.model.sessions[key].storage, places))
            actual = list(everything(self.subject.sessions[key].storage, places))
            for (what, mine), (_, theirs) in zip(expected, actual, strict=False):
                assert theirs == mine, f"{what}\nthe store:  {theirs}\nthe model: {mine}"

    def an_open(self, which: int) -> Key:
        """One of the open sessions."""
        keys = list(self.model.sessions)
        return keys[which % len(keys)]

    def a_known(self, which: int) -> Key:
        """One of the sessions that there are; rarely one that there once was."""
        there = {
            (at, metadata.id)
            for at, repository in self.model.repositories.items()
            for metadata in repository.list()
        }
        ever = list(self.model.metadata)
        keys = [key for key in ever if key in there]
        return ever[which % len(ever)] if not keys or which == LEAST_LIKELY else keys[which % len(keys)]

    def ids_of(self, key: Key) -> list[str]:
        """The ids of the entries that a session has."""
        return [entry.id for entry in self.model.sessions[key].storage.scan_entries()]

    def check_all(self) -> None:
        """Every session is the same on both sides."""
        for key in self.model.metadata:
            if self.both(lambda side, key=key: side.repositories[key[0]].get(key[1])):
                self.check(key, self.places[key])

    def teardown(self) -> None:
        """Check all once more, with everything opened anew; leave both containers empty."""
        try:
            for side in (self.model, self.subject):
                for mutation in side.mutations.values():
                    mutation.end()
                side.mutations.clear()
            self.check_all()
        finally:
            self.subject.close()
            self._empty()

    def _empty(self) -> None:
        for at in (HOME, AWAY):
            with self._opened(at) as repository:
                for metadata in repository.list():
                    repository.delete(metadata)
                assert repository.list() == []
