"""The numbered history that a killed process writes, and the proof that a session holds it.

A turn of a session is a number of frames in an ephemeral scope, one commit each, then one commit of
the turn itself, which retires the scope. A place in the history is the number of commits up to it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fork.owner import commit_turn, configure, turn_id, turns_in

from sessionstore import (
    EphemeralScope,
    ForkTree,
    Session,
    append_list,
    ephemeral_scope,
    retire_scope,
    set_value,
    value,
    value_list,
)

WHOLE = ForkTree(include_application_state=True)


def scope_of(turn: int) -> EphemeralScope:
    """The scope of a turn's frames."""
    return ephemeral_scope(f"operation-{turn}")


def frames_in(session: Session, turn: int) -> int:
    """The frames of a turn; fails when a commit of them is not whole."""
    scope = scope_of(turn)
    frames = session.read_list(value_list("app.frames", type=int, scope=scope))
    counted = session.get_value(value("app.frames", "count", type=int, scope=scope))
    count = 0 if counted is None else counted.value
    assert [frame.value for frame in frames] == list(range(1, count + 1)), f"a frame of turn {turn} is half"
    return count


def write_on(session: Session, frames: int, payload: str = "") -> Iterator[tuple[int, int, int]]:
    """Go on with the history for ever: after each commit its place, its first and its last number."""
    turn = int(session.get_name() or 0) + 1
    if turn == 1:
        configure(session)
    done = frames_in(session, turn)
    while True:
        scope = scope_of(turn)
        for frame in range(done + 1, frames + 1):
            elements = value_list("app.frames", type=int, scope=scope)
            count = value("app.frames", "count", type=int, scope=scope)
            seqs = session.commit([append_list(elements, frame), set_value(count, frame)]).seqs
            yield (turn - 1) * (frames + 1) + frame, seqs[0], seqs[-1]
        seqs = commit_turn(session, turn, payload, [retire_scope(scope)] if frames else []).seqs
        yield turn * (frames + 1), seqs[0], seqs[-1]
        turn, done = turn + 1, 0


@dataclass
class Known:
    """What was acknowledged of one session, and what was found in it after the last kill."""

    frames: int
    older: int = 0
    place: int = 0
    next_seq: int = 1
    first_seqs: dict[int, int] = field(default_factory=dict)

    def acknowledge(self, place: int, first: int, last: int) -> None:
        """Take in an acknowledged commit; they come in the order of the history."""
        assert place == self.place + 1, f"commit {place} was acknowledged after {self.place}"
        assert self.next_seq <= first <= last, f"commit {place} has the number {first}, used before"
        self.place, self.next_seq = place, last + 1
        self.first_seqs[place] = first

    def prove(self, session: Session) -> None:
        """Fail unless the session holds what was acknowledged, and at most the one commit under way."""
        turns = int(session.get_name() or 0)
        assert session.get_stats().message_count == self.older + turns
        if turns or not self.older:
            self._prove_turns(session, turns)
        frames = frames_in(session, turns + 1)
        for turn in range(max(1, turns - 3), turns + 1):
            assert frames_in(session, turn) == 0, f"the scope of turn {turn} outlived its retirement"
        place = turns * (self.frames + 1) + frames
        assert self.place <= place <= self.place + 1, f"{self.place} commits were acknowledged, {place} found"
        next_seq = session.storage.next_seq()
        assert next_seq >= self.next_seq, f"the next number is {next_seq} and was {self.next_seq}"
        self.place, self.next_seq = place, next_seq

    def _prove_turns(self, session: Session, turns: int) -> None:
        if session.branch("main") is None:  # killed before the commit that configures
            assert self.place == 0, f"{self.place} commits were acknowledged, none is there"
            return
        assert turns_in(session, WHOLE, older=self.older) == turns
        assert session.get_stats().usage.total_tokens == 3 * turns
        for entry in session.find_entries(type="message", order="asc")[self.older :]:
            place = int(entry.id.rpartition("-")[2]) * (self.frames + 1)
            assert entry.id == turn_id(place // (self.frames + 1))
            first = self.first_seqs.setdefault(place, entry.seq)
            assert entry.seq == first, f"{entry.id} has the number {entry.seq} and was told {first}"
