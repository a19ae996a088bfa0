"""No registry of used scope ids is kept (model.md section 3), not in the memory of an open session either."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import cast

import pytest

from sessionstore import (
    EphemeralScope,
    Session,
    append_list,
    delete_list,
    delete_value,
    ephemeral_scope,
    open_repository,
    retire_scope,
    set_value,
    value,
    value_list,
)

MARK = "the-id-of-a-scope-that-is-over"


@pytest.fixture(params=["memory", "jsonl"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    """An open session of a store that keeps its state in memory."""
    url = "memory://" if request.param == "memory" else f"jsonl://{tmp_path}"
    with open_repository(url) as repository, repository.create() as made:
        yield made


def _texts_within(root: object) -> Iterator[str]:
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, (type, ModuleType, FunctionType)):
            continue
        seen.add(id(found))
        if isinstance(found, str):
            yield found
        if isinstance(found, dict):
            waiting.extend(cast("dict[object, object]", found))  # keys that are texts are no referents
        waiting.extend(gc.get_referents(found))


def _is_remembered(session: Session) -> bool:
    return any(MARK in text for text in _texts_within(session.storage))


def _fill(session: Session, scope: EphemeralScope) -> None:
    session.commit(
        [
            set_value(value("app", "memo", scope=scope), 1),
            append_list(value_list("app", "frames", scope=scope), 1),
        ]
    )


def test_a_live_scope_is_found_by_the_walk(session: Session) -> None:
    _fill(session, ephemeral_scope(MARK))
    assert _is_remembered(session)


def test_nothing_of_a_retired_scope_stays(session: Session) -> None:
    scope = ephemeral_scope(MARK)
    _fill(session, scope)
    session.commit([retire_scope(scope)])
    assert not _is_remembered(session)


def test_nothing_of_a_deleted_place_stays(session: Session) -> None:
    scope = ephemeral_scope("alive")
    session.commit([set_value(value("app", "kept", scope=scope), 1)])
    for deleted in (value("app", MARK, scope=scope), value(MARK, scope=scope)):
        session.commit([set_value(deleted, 1)])
        session.commit([delete_value(deleted)])
    frames = value_list("app", MARK, scope=scope)
    session.commit([append_list(frames, 1)])
    session.commit([delete_list(frames)])
    assert not _is_remembered(session)
