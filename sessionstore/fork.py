"""What a fork takes of its source: one policy for every store (repository.md section 4).

The policy is a filter over a snapshot of the source. It is closed over the namespaces that this
library gives a meaning: one that it does not know makes a fork fail, rather than be copied or lost.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import KW_ONLY, dataclass
from typing import Final, Literal, TypeAlias

import msgspec

from sessionstore import builtin, json_text
from sessionstore.address import Place
from sessionstore.errors import (
    ForkError,
    InvalidBranchError,
    InvalidQueryError,
    UnknownBranchError,
    UnknownEntryError,
)
from sessionstore.image import ImageHeader, Selection, SessionImage, SessionSnapshot, Survey, settled_record
from sessionstore.records import IDLE_LANE_STATE, Record, ValueRecord, stored_value_of
from sessionstore.text import NAMESPACE_LIMIT, check_text
from sessionstore.usage import SessionStats


@dataclass(frozen=True, slots=True)
class ForkBranch:
    """Fork one path of a configured branch: from ``entry_id`` (default: the tip) to its root.

    ``position="before"`` stops at the parent of that entry. ``include_application_state`` copies
    the session-scoped values and lists of the application's own namespaces too.
    """

    branch: str = "main"
    _: KW_ONLY
    entry_id: str | None = None
    position: Literal["at", "before"] = "at"
    include_application_state: bool = False

    def __post_init__(self) -> None:
        builtin.check_branch_name(self.branch)
        if self.entry_id is not None:
            check_text(self.entry_id, "entry_id", limit=NAMESPACE_LIMIT)
        if self.position not in ("at", "before"):
            raise InvalidQueryError(f"position must be 'at' or 'before'; got {self.position!r}")
        _check_flag(self.include_application_state)


@dataclass(frozen=True, slots=True)
class ForkTree:
    """Fork the whole tree and every tip; ``include_application_state`` as for a branch."""

    _: KW_ONLY
    include_application_state: bool = False

    def __post_init__(self) -> None:
        _check_flag(self.include_application_state)


Fork: TypeAlias = ForkBranch | ForkTree
"""What is forked of a session."""


class UnknownForkBranchError(ForkError, UnknownBranchError):
    """The branch to fork does not exist."""


class UnconfiguredBranchError(ForkError, InvalidBranchError):
    """The branch to fork has no configuration or no state: it is data, not a lane."""


class ForkEntryError(ForkError, UnknownEntryError):
    """The entry to fork at does not exist, or is not on the path of the branch."""


class ForkImage(SessionImage):
    """The destination of a fork, read from a snapshot of the source while that is open.

    ``selection`` is what of ``source`` is taken. A store that copies entries in its own way takes
    the path or the tree that it names, and everything else from ``records`` (:meth:`without_entries`).
    """

    def __init__(
        self,
        header: ImageHeader,
        source: SessionSnapshot,
        selection: Selection,
        rewrite: Callable[[ValueRecord], ValueRecord],
    ) -> None:
        self._stream = self._taken(selection)
        super().__init__(header, self._stream)
        self.source: Final = source
        self.selection: Final = selection
        self.rewrite: Final = rewrite
        """Makes a value of the source the destination's."""

    def close(self) -> None:
        """End the reading of ``records``, wherever it stands; before the snapshot ends."""
        self._stream.close()

    def without_entries(self) -> Generator[Record, None, None]:
        """The values and list elements of the destination alone."""
        return self._taken(msgspec.structs.replace(self.selection, whole_tree=False, tip=None))

    def _taken(self, selection: Selection) -> Generator[Record, None, None]:
        for record in self.source.read(selection):
            yield self.rewrite(record) if isinstance(record, ValueRecord) else settled_record(record)


def check_fork(fork: object) -> Fork:
    """Return what is to be forked; ``InvalidQueryError`` when it is no fork request."""
    if not isinstance(fork, (ForkBranch, ForkTree)):
        raise InvalidQueryError(f"fork takes a ForkBranch or a ForkTree, not a {type(fork).__name__}")
    return fork


def fork_image(source: SessionSnapshot, fork: Fork, id: str, created_at: int) -> ForkImage:
    """The image of a fork named ``id``; ``created_at`` is in Unix ms.

    Reads structure and addresses only; payloads follow as the image is read. Raises ``ForkError``:
    the branch is unknown or not configured, the entry is not on its path, or the source holds
    session-scoped state in a built-in namespace that the policy does not know.
    """
    source.check_forkable()
    _refuse_unknown_namespaces(source)
    if isinstance(fork, ForkTree):
        return _tree_image(source, fork, id, created_at)
    return _branch_image(source, fork, id, created_at)


def _branch_image(source: SessionSnapshot, fork: ForkBranch, id: str, created_at: int) -> ForkImage:
    tip_place = builtin.branch_tip(fork.branch).place
    lane = {tip_place, builtin.lane_config(fork.branch).place, builtin.lane_state(fork.branch).place}
    tip = _cut(source, fork)
    survey = Survey(0, set()) if tip is None else source.survey(tip, _labelled(source))
    tip_text = json_text.encode(tip, str(tip_place))

    def rewrite(record: ValueRecord) -> ValueRecord:
        if record.namespace == builtin.BRANCH_TIP:
            return msgspec.structs.replace(record, value=tip_text)
        return _idle(record)

    selection = Selection(
        whole_tree=False,
        tip=tip,
        takes_value=_value_rule(fork, lambda place: place in lane, survey.found),
        takes_list=_list_rule(fork),
        usage_rows=False,
        ephemeral=False,
    )
    header = _header(source, id, created_at, survey.message_count)
    return ForkImage(header, source, selection, rewrite)


def _tree_image(source: SessionSnapshot, fork: ForkTree, id: str, created_at: int) -> ForkImage:
    labelled = _labelled(source)
    copied = source.survey(None, labelled).found if labelled else labelled
    selection = Selection(
        whole_tree=True,
        takes_value=_value_rule(fork, lambda _: True, copied),
        takes_list=_list_rule(fork),
        usage_rows=False,
        ephemeral=False,
    )
    header = _header(source, id, created_at, source.header.stats.message_count)
    return ForkImage(header, source, selection, _idle)


def _header(source: SessionSnapshot, id: str, created_at: int, message_count: int) -> ImageHeader:
    return ImageHeader(
        id=id,
        created_at=created_at,
        next_seq=source.header.next_seq,
        stats=SessionStats(message_count=message_count),
        parent_session_id=source.header.id,
        cwd=source.header.cwd,
    )


# -- where a branch is cut -------------------------------------------------------------------


def _cut(source: SessionSnapshot, fork: ForkBranch) -> str | None:
    """The entry that the destination's branch stands at, or None for an empty one."""
    tip = _tip(source, fork.branch)
    chosen = tip if fork.entry_id is None else _on_path(source, fork, tip, fork.entry_id)
    if chosen is None or fork.position == "at":
        return chosen
    return next(source.path(chosen)).parent_id


def _tip(source: SessionSnapshot, branch: str) -> str | None:
    """The tip of a branch, which has to be configured and to stand at an entry that exists."""
    address = builtin.branch_tip(branch)
    tip = source.value(address.place)
    if tip is None:
        raise UnknownForkBranchError(f"no branch {branch!r} in session {source.header.id!r}")
    for needed in (builtin.lane_config(branch), builtin.lane_state(branch)):
        if source.value(needed.place) is None:
            raise UnconfiguredBranchError(
                f"the branch {branch!r} has no {needed.namespace}: only a configured branch can be "
                "forked alone; fork the whole tree instead"
            )
    entry_id = stored_value_of(address, tip).value
    try:
        if entry_id is not None:
            source.path(entry_id)
    except UnknownEntryError:
        raise ForkEntryError(
            f"the branch {branch!r} stands at the entry {entry_id!r}, which does not exist"
        ) from None
    return entry_id


def _on_path(source: SessionSnapshot, fork: ForkBranch, tip: str | None, given: str) -> str:
    id = source.entry_id(given)
    if tip is None or id not in source.survey(tip, {id}).found:
        raise ForkEntryError(f"the entry {given!r} is not on the path of the branch {fork.branch!r}")
    return id


# -- which values and lists are taken --------------------------------------------------------

_LANE: Final = frozenset({builtin.BRANCH_TIP, builtin.LANE_CONFIG, builtin.LANE_STATE})
_KEPT: Final = frozenset({builtin.SESSION_NAME})
_LEFT: Final = frozenset({builtin.OPERATION_RESULT})
_LEFT_BELOW: Final = ("pi.op.", "pi.pending.")
_KNOWN_VALUES: Final = _LANE | _KEPT | _LEFT | {builtin.ENTRY_LABEL}


def _refuse_unknown_namespaces(source: SessionSnapshot) -> None:
    for place in source.value_places():
        _check_known(place, "value", _KNOWN_VALUES)
    for place in source.list_places():
        _check_known(place, "list", _LEFT)


def _check_known(place: Place, kind: str, known: frozenset[str]) -> None:
    namespace = place.namespace
    if builtin.is_builtin(namespace) and namespace not in known and not namespace.startswith(_LEFT_BELOW):
        raise ForkError(
            f"the session has a {kind} at {place}, a built-in namespace that this release has no "
            "copy rule for: fork it with the release that wrote it"
        )


def _labelled(source: SessionSnapshot) -> set[str]:
    """The ids that labels are kept for, of entries that may not exist."""
    return {place.key for place in source.value_places() if place.namespace == builtin.ENTRY_LABEL}


def _value_rule(fork: Fork, takes_lane: Callable[[Place], bool], copied: set[str]) -> Callable[[Place], bool]:
    def takes(place: Place) -> bool:
        if place.scope_id:
            return False
        namespace = place.namespace
        if namespace in _LANE:
            return takes_lane(place)
        if namespace == builtin.ENTRY_LABEL:
            return place.key in copied
        if builtin.is_builtin(namespace):
            return namespace in _KEPT
        return fork.include_application_state

    return takes


def _list_rule(fork: Fork) -> Callable[[Place], bool]:
    def takes(place: Place) -> bool:
        own = builtin.is_builtin(place.namespace)
        return fork.include_application_state and not place.scope_id and not own

    return takes


def _idle(record: ValueRecord) -> ValueRecord:
    if record.namespace == builtin.LANE_STATE:
        return msgspec.structs.replace(record, value=IDLE_LANE_STATE)
    return record


def _check_flag(flag: object) -> None:
    if not isinstance(flag, bool):
        raise InvalidQueryError(f"include_application_state must be a bool, not a {type(flag).__name__}")
