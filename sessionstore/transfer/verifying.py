"""Prove that stored sessions are whole, that what is derived fits them, or that two stores agree."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from sessionstore.errors import SessionStoreError
from sessionstore.metadata import SessionMetadata
from sessionstore.repository import SessionRepo
from sessionstore.transfer.checking import check_image
from sessionstore.transfer.comparing import differences
from sessionstore.transfer.progress import Progress


class Verdict(msgspec.Struct, frozen=True):
    """What was found of one session (``session_id`` None: of the container itself).

    ``problems`` are what is wrong now, ``repairs`` what was mended, and what that cost. ``cwd``
    tells sessions of one id apart where ids are unique in a working directory only.
    """

    session_id: str | None
    cwd: str | None = None
    records: int = 0
    problems: list[str] = []
    repairs: list[str] = []


def verify_store(
    repo: SessionRepo, *, repair: bool = False, progress: Progress | None = None
) -> Iterator[Verdict]:
    """Check the container, then each of its sessions, one verdict each.

    Proven are what :func:`~sessionstore.transfer.checking.check_image` says and what the store
    derives from its records (the branch index of SQL, sidecars against retirements of JSONL).
    With ``repair`` what is derived is rebuilt and what cannot be read is set aside, as far as the
    store can; a session that is open is left alone. What killed processes left half made goes. A live
    scope is never a problem, whoever began it.
    """
    repairs = repo.repair_container() if repair else []
    yield Verdict(None, problems=repo.check_container(), repairs=repairs)
    for session in repo.list():
        (progress or Progress()).begin(session.id)
        yield _verify_session(repo, session, repair, progress or Progress())


def _verify_session(repo: SessionRepo, session: SessionMetadata, repair: bool, progress: Progress) -> Verdict:
    records, problems = _problems(repo, session, progress)
    repairs: list[str] = []
    if problems and repair:
        try:
            repairs = repo.repair_session(session)
        except SessionStoreError as error:
            problems.append(f"cannot be repaired: {error}")
        if repairs:
            records, problems = _problems(repo, session, progress)
    return Verdict(session.id, session.cwd, records, problems, repairs)


def _problems(repo: SessionRepo, session: SessionMetadata, progress: Progress) -> tuple[int, list[str]]:
    try:
        with repo.snapshot(session) as image:
            records, problems = check_image(image, progress.advance)
        return records, problems + repo.check_session(session)
    except SessionStoreError as error:  # damaged so that it cannot be read to the end
        return 0, [str(error), *_more_damage(repo, session, str(error))]


def _more_damage(repo: SessionRepo, session: SessionMetadata, told: str) -> list[str]:
    """What the store finds beside the damage at which reading ended."""
    try:
        return [problem for problem in repo.check_session(session) if problem != told]
    except SessionStoreError:
        return []


def compare_stores(
    first: SessionRepo, second: SessionRepo, progress: Progress | None = None
) -> Iterator[Verdict]:
    """Whether two stores hold equal sessions: one verdict for each session of either.

    Equal are id, times, parent, cwd, next number, statistics, and every record with its number,
    its tag and the text of its payload.
    """
    told = progress or Progress()
    mine, theirs = _by_name(first), _by_name(second)
    for name in sorted(mine.keys() | theirs.keys()):
        id, cwd = name
        told.begin(id)
        if name not in theirs:
            problems = ["is only in the first store"]
        elif name not in mine:
            problems = ["is only in the second store"]
        else:
            problems = _compare(first, mine[name], second, theirs[name], told)
        yield Verdict(id, cwd or None, problems=problems)


def _by_name(repo: SessionRepo) -> dict[tuple[str, str], SessionMetadata]:
    return {(session.id, session.cwd or ""): session for session in repo.list()}


def _compare(
    first: SessionRepo,
    mine: SessionMetadata,
    second: SessionRepo,
    theirs: SessionMetadata,
    progress: Progress,
) -> list[str]:
    try:
        with first.snapshot(mine) as left, second.snapshot(theirs) as right:
            return differences(left, right, progress.advance)
    except SessionStoreError as error:
        return [str(error)]
