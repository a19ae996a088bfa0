"""Conformance: what a fork copies, and what cannot be forked (repository.md section 4)."""

from __future__ import annotations

from typing import Any, Final

from sessionstore.address import value, value_list
from sessionstore.builtin import (
    branch_tip,
    lane_config,
    lane_state,
)
from sessionstore.errors import (
    ForkError,
    InvalidBranchError,
    InvalidQueryError,
    SessionStoreError,
    UnknownBranchError,
    UnknownEntryError,
)
from sessionstore.fork import ForkBranch, ForkTree
from sessionstore.testing.cases import Case, RepositoryFactory, RepositoryGroup
from sessionstore.testing.checks import equal, ids_of, refuses
from sessionstore.testing.fork_source import (
    LOG,
    NAME,
    OP,
    PLAN,
    application_state,
    check_forked,
    configured,
    entries_of,
    fill,
    holds,
    lane_of,
    picked,
    records_of,
    refused,
    values_at,
    with_tip,
)
from sessionstore.testing.material import note
from sessionstore.writes import (
    append_list,
    delete_list,
    delete_value,
    set_value,
)

_group: Final = RepositoryGroup("fork policy")

FORK_POLICY_CASES: Final[list[Case[RepositoryFactory]]] = _group.cases


# -- what is copied --------------------------------------------------------------------------


@_group.case()
def a_branch_fork_copies_the_path_of_the_tip(factory: RepositoryFactory) -> None:
    """Path, tip, configuration, idle state, name and labels of copied entries; nothing else."""
    check_forked(
        factory,
        ForkBranch("main"),
        lambda source: picked(
            source,
            entries_of("abcde"),
            values_at(*lane_of("main"), NAME, ("pi.entry.label", "b"), ("pi.entry.label", "e")),
        ),
    )


@_group.case()
def ancestry_decides_not_numbers(factory: RepositoryFactory) -> None:
    """Entries of another branch stay away although their numbers lie between those of the path."""
    check_forked(
        factory,
        ForkBranch("side"),
        lambda source: picked(
            source,
            entries_of("abxy"),
            values_at(*lane_of("side"), NAME, ("pi.entry.label", "b"), ("pi.entry.label", "x")),
        ),
    )


@_group.case()
def the_default_branch_is_main(factory: RepositoryFactory) -> None:
    """``ForkBranch()`` forks ``main`` at its tip."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        with repo.fork(source.metadata, ForkBranch()) as copy:
            equal(ids_of(copy.find_entries(order="asc")), list("abcde"))


@_group.case()
def a_branch_fork_at_an_entry_moves_the_tip_there(factory: RepositoryFactory) -> None:
    """``entry_id`` cuts the path there, inclusive; the tip's value keeps its number."""
    check_forked(
        factory,
        ForkBranch("main", entry_id="c"),
        lambda source: with_tip(
            picked(source, entries_of("abc"), values_at(*lane_of("main"), NAME, ("pi.entry.label", "b"))),
            "main",
            '"c"',
        ),
    )


@_group.case()
def a_branch_fork_before_an_entry_stops_at_its_parent(factory: RepositoryFactory) -> None:
    """``position="before"`` leaves the entry itself out."""
    check_forked(
        factory,
        ForkBranch("main", entry_id="c", position="before"),
        lambda source: with_tip(
            picked(source, entries_of("ab"), values_at(*lane_of("main"), NAME, ("pi.entry.label", "b"))),
            "main",
            '"b"',
        ),
    )


@_group.case()
def a_branch_fork_before_the_tip(factory: RepositoryFactory) -> None:
    """Without ``entry_id``, ``position="before"`` leaves the tip's entry out."""
    check_forked(
        factory,
        ForkBranch("main", position="before"),
        lambda source: with_tip(
            picked(source, entries_of("abcd"), values_at(*lane_of("main"), NAME, ("pi.entry.label", "b"))),
            "main",
            '"d"',
        ),
    )


@_group.case()
def a_branch_fork_before_the_root_is_empty(factory: RepositoryFactory) -> None:
    """``position="before"`` a root gives a branch with a null tip and no entries."""
    check_forked(
        factory,
        ForkBranch("main", entry_id="a", position="before"),
        lambda source: with_tip(picked(source, values_at(*lane_of("main"), NAME)), "main", "null"),
    )


@_group.case()
def a_branch_fork_of_a_null_tip_is_empty(factory: RepositoryFactory) -> None:
    """A branch whose tip is null is forked with its null tip, before it as well as at it."""
    for position in ("at", "before"):
        check_forked(
            factory,
            ForkBranch("empty", position=position),
            lambda source: picked(source, values_at(*lane_of("empty"), NAME)),
        )


@_group.case()
def a_tree_fork_copies_everything_but_operations(factory: RepositoryFactory) -> None:
    """All entries, tips and lanes, the name, and labels whose entry exists."""
    check_forked(
        factory,
        ForkTree(),
        lambda source: picked(
            source,
            entries_of("abcdexy"),
            values_at(*lane_of("main"), *lane_of("side"), *lane_of("data"), *lane_of("empty"), NAME),
            values_at(*(("pi.entry.label", id) for id in "bex")),
        ),
    )


@_group.case()
def application_state_is_copied_when_asked_for(factory: RepositoryFactory) -> None:
    """``include_application_state`` adds the application's values and lists, numbers and tags kept."""
    check_forked(
        factory,
        ForkBranch("side", include_application_state=True),
        lambda source: picked(
            source,
            entries_of("abxy"),
            values_at(*lane_of("side"), NAME, ("pi.entry.label", "b"), ("pi.entry.label", "x")),
            application_state,
        ),
    )
    check_forked(
        factory,
        ForkTree(include_application_state=True),
        lambda source: picked(
            source,
            entries_of("abcdexy"),
            values_at(*lane_of("main"), *lane_of("side"), *lane_of("data"), *lane_of("empty"), NAME),
            values_at(*(("pi.entry.label", id) for id in "bex")),
            application_state,
        ),
    )


@_group.case()
def copied_lists_page_by_their_numbers_and_tags(factory: RepositoryFactory) -> None:
    """Elements keep number and tag, and what is appended in the fork comes after them."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        before = source.read_list(LOG)
        with repo.fork(source.metadata, ForkTree(include_application_state=True)) as copy:
            equal(copy.read_list(LOG), before)
            equal(copy.read_list(LOG, order="desc", stop_at_tag="full"), before[::-1])
            copy.append_list(LOG, "three")
            equal([element.value for element in copy.read_list(LOG)], ["one", "two", "three"])
        equal(source.read_list(LOG), before, "the list of the source")


@_group.case()
def a_fork_of_an_empty_session(factory: RepositoryFactory) -> None:
    """A tree fork of a session without anything is a session without anything."""
    with factory.open() as repo, repo.create() as source:
        with repo.fork(source.metadata, ForkTree()) as copy:
            holds(repo, copy, [])
        refuses(UnknownBranchError, lambda: repo.fork(source.metadata, ForkBranch()))


@_group.case()
def payloads_arrive_unchanged(factory: RepositoryFactory) -> None:
    """U+0000, lone surrogates, big numbers and key order survive a fork."""
    awkward = {"z": 2**70, "a": -0.0, "text": "\0\ud800\u2028", "deep": [[{"k": 1e308}]]}
    with factory.open() as repo, repo.create() as source:
        source.commit([note("n", data=awkward), *configured("main", "n"), set_value(PLAN, awkward)])
        before = records_of(repo, source.metadata)
        with repo.fork(source.metadata, ForkTree(include_application_state=True)) as copy:
            equal(records_of(repo, copy.metadata), picked(before, lambda _: True))


# -- what is refused -------------------------------------------------------------------------


@_group.case()
def an_unknown_branch_cannot_be_forked(factory: RepositoryFactory) -> None:
    """The error names the branch; the destination id is free again."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        refused(repo, source.metadata, ForkBranch("nope"), UnknownBranchError, "nope")
        refused(repo, source.metadata, ForkBranch("nope"), ForkError)


@_group.case()
def a_branch_without_a_lane_cannot_be_forked_alone(factory: RepositoryFactory) -> None:
    """Configuration and state have both to be there."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        refused(repo, source.metadata, ForkBranch("data"), InvalidBranchError, "data")
        source.set_value(lane_config("data"), {})
        refused(repo, source.metadata, ForkBranch("data"), ForkError, "pi.lane.state")
        source.set_value(lane_state("data"), None)
        source.delete_value(lane_config("data"))
        refused(repo, source.metadata, ForkBranch("data"), ForkError, "pi.lane.config")
        source.set_value(lane_config("data"), None)
        with repo.fork(source.metadata, ForkBranch("data")) as copy:
            equal(ids_of(copy.find_entries()), list("cba"))


@_group.case()
def an_entry_off_the_path_cannot_be_forked_at(factory: RepositoryFactory) -> None:
    """An entry of another branch, one below the tip, an unknown one, any one at a null tip."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        source.set_value(branch_tip("main"), "d")
        for branch, entry in (("main", "x"), ("main", "e"), ("main", "none"), ("empty", "a"), ("side", "u1")):
            refused(repo, source.metadata, ForkBranch(branch, entry_id=entry), UnknownEntryError, entry)
            before = ForkBranch(branch, entry_id=entry, position="before")
            refused(repo, source.metadata, before, ForkError, entry)


@_group.case()
def a_tip_of_no_entry_cannot_be_forked(factory: RepositoryFactory) -> None:
    """A branch fork needs its tip; a tree fork carries whatever a tip says."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        source.set_value(branch_tip("main"), "missing")
        refused(repo, source.metadata, ForkBranch("main"), ForkError, "missing")
        with repo.fork(source.metadata, ForkTree()) as copy:
            stored = copy.get_value(branch_tip("main"))
            equal(stored and stored.value, "missing")


@_group.case()
def a_malformed_lane_elsewhere_fails_nothing(factory: RepositoryFactory) -> None:
    """Nobody audits lanes that a fork does not need."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        source.set_value(value("pi.branch.tip", "side"), {"not": "a tip"})
        source.set_value(lane_state("side"), "not a state")
        source.set_value(lane_config("lonely"), 7)
        with repo.fork(source.metadata, ForkBranch("main")) as copy:
            equal(ids_of(copy.find_entries()), list("edcba"))
        with repo.fork(source.metadata, ForkTree()) as copy:
            stored = copy.get_value(value("pi.branch.tip", "side"))
            equal(stored and stored.value, {"not": "a tip"})
            lonely = copy.get_value(lane_config("lonely"))
            equal(lonely and lonely.value, 7)
        refused(repo, source.metadata, ForkBranch("side"), SessionStoreError)


@_group.case()
def an_unknown_built_in_namespace_fails_every_fork(factory: RepositoryFactory) -> None:
    """A session-scoped value or list in an unknown ``pi`` or ``pi.*`` is neither copied nor lost."""
    for namespace in (
        "pi",
        "pi.",
        "pi.future",
        "pi.branch",
        "pi.branch.tips",
        "pi.results",
        "pi.op",
        "pi.pending",
    ):
        with factory.open() as repo, repo.create() as source:
            fill(source)
            unknown, unknown_list = value(namespace, "key"), value_list(namespace, "key")
            source.set_value(unknown, 1)
            for fork in (ForkBranch(), ForkTree(), ForkTree(include_application_state=True)):
                refused(repo, source.metadata, fork, ForkError, repr(namespace), "key")
            source.commit([delete_value(unknown), append_list(unknown_list, 1)])
            for fork in (ForkBranch(), ForkTree()):
                refused(repo, source.metadata, fork, ForkError, repr(namespace))
            source.commit([delete_list(unknown_list)])
            with repo.fork(source.metadata, ForkBranch()) as copy:
                equal(ids_of(copy.find_entries()), list("edcba"))


@_group.case()
def operations_and_ephemeral_state_never_fail_a_fork(factory: RepositoryFactory) -> None:
    """Everything below ``pi.op`` and ``pi.pending`` stays behind; so does any ephemeral namespace."""
    with factory.open() as repo, repo.create() as source:
        fill(source)
        source.commit(
            [
                set_value(value("pi.op.later", "k"), 1),
                append_list(value_list("pi.pending.later", "k"), 1),
                append_list(value_list("pi.result", "k"), 1),
            ]
        )
        source.commit(
            [
                set_value(value("pi.future", scope=OP), 1),
                append_list(value_list("pi.future", scope=OP), 1),
            ]
        )
        with repo.fork(source.metadata, ForkTree(include_application_state=True)) as copy:
            for place in (value("pi.op.later", "k"), value("pi.future", scope=OP)):
                equal(copy.get_value(place), None)
            equal(copy.read_list(value_list("pi.pending.later", "k")), [])


@_group.case()
def a_fork_request_is_checked(factory: RepositoryFactory) -> None:
    """Wrong options are refused when they are given."""
    refuses(InvalidBranchError, lambda: ForkBranch(""))
    refuses(InvalidBranchError, lambda: ForkBranch("a\0b"))
    refuses(InvalidQueryError, lambda: ForkBranch(position="after"), "after")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    refuses(ValueError, lambda: ForkBranch(entry_id=""))
    refuses(InvalidQueryError, lambda: ForkTree(include_application_state=1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with factory.open() as repo, repo.create() as source:
        wrong: Any = "main"
        refuses(InvalidQueryError, lambda: repo.fork(source.metadata, wrong), "ForkBranch")
