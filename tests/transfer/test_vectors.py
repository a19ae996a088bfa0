"""Every vector of formats 3 and 4, imported into each kind of store, reads as its expectation says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sessionstore import Scope, Session, ephemeral_scope, open_repository, value, value_list
from sessionstore.image import WHOLE_SESSION
from sessionstore.records import ElementRecord, ValueRecord
from sessionstore.transfer import Source, Status, import_sources, verify_store
from sessionstore.wire import entry_to_json, metadata_to_json, stats_to_json, usage_row_to_json

VECTORS = Path(__file__).parents[1] / "vectors"
FILES = sorted([*VECTORS.glob("v3/*.jsonl"), *VECTORS.glob("v4/*.jsonl")])
EXPECTED = {file: json.loads(file.with_suffix(".expect.json").read_bytes()) for file in FILES}
GOOD = [file for file in FILES if "error" not in EXPECTED[file]]
BAD = [file for file in FILES if "error" in EXPECTED[file]]
HEADER = {"id", "createdAt", "cwd", "storageVersion", "parentSessionId", "legacyParentSessionPath"}
SCOPED = sorted(VECTORS.glob("scoped/*.jsonl"))


def name_of(file: Path) -> str:
    return f"{file.parent.name}-{file.stem}"


def with_numbers(data: Any, numbers: dict[str, str]) -> Any:
    """The same data with each entry id replaced by ``#seq``."""
    if isinstance(data, dict):
        return {name: with_numbers(item, numbers) for name, item in data.items()}
    if isinstance(data, list):
        return [with_numbers(item, numbers) for item in data]
    return numbers.get(data, data) if isinstance(data, str) else data


def read(session: Session) -> dict[str, Any]:
    """Everything of a session through its readers, in the form of the expectations."""
    entries = session.find_entries(order="asc")
    numbers = {entry.id: f"#{entry.seq}" for entry in entries}
    found: dict[str, Any] = {
        "metadata": {
            name: item for name, item in metadata_to_json(session.metadata).items() if name in HEADER
        },
        "entries": [entry_to_json(entry) for entry in entries],
        "values": {},
        "lists": {},
        "stats": stats_to_json(session.get_stats()),
        "usage": [usage_row_to_json(row) for row in session.scan_usage()],
    }
    for namespace in namespaces(session, ValueRecord):
        found["values"][namespace] = [
            {
                "key": numbers.get(stored.address.key, stored.address.key),
                "seq": stored.seq,
                "value": stored.value,
            }
            for stored in session.scan_values(value(namespace))
        ]
    for place in namespaces(session, ElementRecord):
        namespace, _, key = place.partition("|")
        found["lists"][place] = [
            {"seq": element.seq, "value": element.value}
            | ({} if element.tag is None else {"tag": element.tag})
            for element in session.read_list(value_list(namespace, key))
        ]
    return with_numbers(found, numbers)


def namespaces(session: Session, kind: type) -> list[str]:
    """Namespaces of values, or ``namespace|key`` of lists, as the store's snapshot has them."""
    with session.storage.snapshot() as snapshot:
        records = [record for record in snapshot.read(WHOLE_SESSION) if isinstance(record, kind)]
    assert not any(record.scope_id for record in records)
    if kind is ValueRecord:
        return sorted({record.namespace for record in records})
    return sorted({f"{record.namespace}|{record.key}" for record in records})


@pytest.mark.parametrize("file", GOOD, ids=name_of)
def test_a_good_vector_reads_as_expected(file: Path, store_url: str) -> None:
    expected = EXPECTED[file]
    with open_repository(store_url) as repo:
        [outcome] = import_sources([Source(file)], repo)
        assert outcome.status is Status.IMPORTED, outcome.problem
        assert outcome.entries == len(expected["entries"])
        assert outcome.session_id == expected["metadata"]["id"]
        with repo.open(outcome.session_id) as session:
            found = read(session)
            next_seq = session.storage.next_seq()
        [_, verdict] = verify_store(repo)
        assert verdict.problems == []
    usage, ledger = found.pop("usage"), expected["usage"]
    assert found == {name: expected[name] for name in found}
    if outcome.format == 3:
        [row] = usage
        assert row["adjustment"] is True
        assert row["details"] == {"source": "v3-import"}
        assert row["usage"] == expected["stats"]["usage"]
        assert row["seq"] == next_seq - 1
    else:
        assert usage == ledger


def test_numbers_keep_their_types_and_text_its_characters(store_url: str) -> None:
    """``==`` does not tell 1 from 1.0 or True; the JSON text does."""
    with open_repository(store_url) as repo:
        for file in GOOD:
            [outcome] = import_sources([Source(file)], repo)
            assert outcome.session_id is not None
            with repo.open(outcome.session_id) as session:
                found = read(session)
            for name in ("entries", "values", "lists"):
                assert json.dumps(found[name], sort_keys=True) == json.dumps(
                    EXPECTED[file][name], sort_keys=True
                )


def test_bad_vectors_are_refused_with_the_line_and_leave_nothing(store_url: str) -> None:
    assert BAD
    with open_repository(store_url) as repo:
        for outcome in import_sources([Source(file) for file in BAD], repo):
            assert outcome.status is Status.REFUSED, outcome
            assert outcome.line is not None
            assert f"line {outcome.line}: " in str(outcome.problem)
        assert repo.list() == []


def test_a_second_run_changes_nothing(store_url: str) -> None:
    def contents() -> dict[str, tuple[Any, int | None]]:
        found = {}
        for metadata in repo.list():
            with repo.snapshot(metadata) as snapshot:
                found[metadata.id] = (list(snapshot.read(WHOLE_SESSION)), metadata.modified_at)
        return found

    sources = [Source(file) for file in FILES]
    with open_repository(store_url) as repo:
        first = list(import_sources(sources, repo))
        before = contents()
        second = list(import_sources(sources, repo))
        assert contents() == before
    assert [outcome.status for outcome in first].count(Status.IMPORTED) == len(GOOD)
    assert [outcome.status for outcome in second].count(Status.THERE) == len(GOOD)
    assert [outcome.status for outcome in second].count(Status.REFUSED) == len(BAD)
    assert sum(outcome.entries for outcome in second) == 0


def read_scope(session: Session, expected: dict[str, Any], scope: Scope | None) -> dict[str, Any]:
    """The places that an expectation names, read back from the session or from a scope."""
    found: dict[str, Any] = {"values": {}, "lists": {}}
    for place in expected["values"]:
        namespace, _, key = place.partition("|")
        stored = session.get_value(value(namespace, key, scope=scope))
        found["values"][place] = None if stored is None else [stored.seq, stored.value]
    for place in expected["lists"]:
        namespace, _, key = place.partition("|")
        page = session.read_list(value_list(namespace, key, scope=scope))
        found["lists"][place] = [[element.seq, element.value, element.tag] for element in page]
    return found


@pytest.mark.parametrize("file", SCOPED, ids=name_of)
def test_live_scopes_come_with_their_main_file(file: Path, store_url: str) -> None:
    """The source is only read: torn tails and dead sidecars stay as they are."""
    expected = json.loads(file.with_suffix(".expect.json").read_bytes())
    with open_repository(store_url) as repo:
        [outcome] = import_sources([Source(file)], repo)
        if "error" in expected:
            assert outcome.status is Status.REFUSED
            assert repo.list() == []
            return
        assert outcome.session_id is not None, outcome.problem
        with repo.open(outcome.session_id) as session:
            assert session.storage.next_seq() == expected["next_seq"]
            assert read_scope(session, expected["session"], None) == expected["session"]
            for id, scope in expected["scopes"].items():
                assert read_scope(session, scope, ephemeral_scope(id)) == scope
