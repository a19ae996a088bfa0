"""Format 3 as the format-4 state that it stands for: each rule of jsonl.md section 4."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from jsonl.support import USAGE, Loaded, entry, load, message, record, text_of, v3_file, v3_header, v4_file

from sessionstore.errors import CorruptStorageError, SessionStoreError, UnsupportedStorageVersionError
from sessionstore.jsonl import open_source
from sessionstore.records import EntryRecord, ValueRecord

TIME = 1760000001500
"""Unix ms of every record that is made without a time of its own."""


def tip(loaded: Loaded) -> Any:
    return loaded.value("pi.branch.tip", "main")


def refused(path: Path, line: int) -> CorruptStorageError:
    before = path.read_bytes()
    with pytest.raises(CorruptStorageError) as raised:
        load(path)
    assert (raised.value.path, raised.value.line) == (str(path), line)
    assert path.read_bytes() == before
    return raised.value


# -- entries -----------------------------------------------------------------------------------------


def test_messages_and_custom_records_become_entries(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        message("m", None, unknown={"n": 1}),
        record("custom", "c", "m", customType="t", data=None),
        record("custom", "d", "m", customType="t"),
    )
    loaded = load(path)
    assert loaded.format == 3
    assert [(item.type, item.custom_type) for item in loaded.entries] == [
        ("message", None),
        ("custom", "t"),
        ("custom", "t"),
    ]
    assert [loaded.payload(index) for index in range(3)] == [
        {"message": {"role": "user", "content": "m", "unknown": {"n": 1}}},
        {"data": None},
        {},
    ]
    assert loaded.tree() == [(1, None), (2, 1), (3, 1)]


def test_a_custom_message_becomes_a_message_entry(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        record("custom_message", "a", None, customType="t", content="c", display=False, details=[1]),
        record("custom_message", "b", "a", customType="t", content=[], display=True),
    )
    loaded = load(path)
    head = {"role": "custom", "customType": "t"}
    assert loaded.payload(0)["message"] == {
        **head,
        "content": "c",
        "details": [1],
        "display": False,
        "timestamp": TIME,
    }
    assert loaded.payload(1)["message"] == {**head, "content": [], "display": True, "timestamp": TIME}
    assert loaded.header.stats.message_count == 2
    assert loaded.entries[0].custom_type is None


def test_children_of_dropped_records_hang_under_the_nearest_kept_ancestor(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        record("model_change", "s1", None, provider="p", modelId="m"),
        record("thinking_level_change", "s2", "s1", thinkingLevel="low"),
        message("m1", "s2"),
        record("active_tools_change", "s3", "m1", activeToolNames=[]),
        record("session_info", "s4", "s3", name="n"),
        record("label", "s5", "s4", targetId="m1", label="l"),
        message("m2", "s5"),
        message("m3", "s1"),
    )
    loaded = load(path)
    assert loaded.tree() == [(1, None), (2, 1), (3, None)]


def test_ids_are_new_uuids_that_carry_the_time_of_the_record(tmp_path: Path) -> None:
    times = ["2025-10-09T08:53:21.500Z", "1999-12-31T23:59:59.999Z", "2025-10-09T08:53:21.500Z"]
    path = v3_file(
        tmp_path / "a",
        *(message(f"m{index}", None) | {"timestamp": time} for index, time in enumerate(times)),
    )
    loaded = load(path)
    ids = [uuid.UUID(item.id) for item in loaded.entries]
    assert [id.version for id in ids] == [7, 7, 7]
    assert (
        [id.int >> 80 for id in ids]
        == [item.timestamp for item in loaded.entries]
        == [TIME, 946684799999, TIME]
    )
    assert len(set(ids)) == 3


def test_ids_stay_the_same_for_as_long_as_the_file_is_open(tmp_path: Path) -> None:
    path = v3_file(tmp_path / "a", message("m", None), record("label", "l", "m", targetId="m", label="x"))
    with open_source(path) as session:
        records = list(session.image.records)
        [label] = [item for item in records if getattr(item, "namespace", None) == "pi.entry.label"]
        assert isinstance(label, ValueRecord)
        assert isinstance(records[0], EntryRecord)
        assert label.key == records[0].id


def test_ids_come_from_the_given_generator_even_when_they_are_no_uuids(tmp_path: Path) -> None:
    class Counting:
        def __init__(self) -> None:
            self.times: list[int | None] = []

        def next(self, timestamp_ms: int | None = None) -> str:
            self.times.append(timestamp_ms)
            return f"id-{len(self.times)}"

    ids = Counting()
    path = v3_file(tmp_path / "a", message("m", None), message("n", "m"))
    with open_source(path, id_generator=ids) as session:
        found = list(session.image.records)
    assert [item.id for item in found if hasattr(item, "parent_id")] == ["id-1", "id-2"]
    assert ids.times == [TIME, TIME, None]


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("2025-10-09T08:53:20.000Z", 1760000000000),
        ("2025-10-09T08:53:20Z", 1760000000000),
        ("2025-10-09T08:53Z", 1759999980000),
        ("2025-10-09", 1759968000000),
        ("2025-10-09T08:53:20.1239Z", 1760000000123),
        ("2025-10-09T10:53:20.5+02:00", 1760000000500),
        ("2025-10-09T06:23:20.000-0230", 1760000000000),
        ("1969-12-31T23:59:59.999Z", -1),
    ],
)
def test_times_are_read_to_the_millisecond(tmp_path: Path, text: str, ms: int) -> None:
    assert load(v3_file(tmp_path / "a", message("m", None) | {"timestamp": text})).entries[0].timestamp == ms


def test_a_branch_summary_names_the_new_id(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        message("m", None),
        record("session_info", "s", "m", name=""),
        record("branch_summary", "b1", "m", fromId="m", summary="x", details={"d": 1}, fromHook=True),
        record("branch_summary", "b2", "m", fromId="root", summary="x", usage=USAGE),
        record("branch_summary", "b3", "m", fromId="s", summary="x", fromHook=None),
        record("branch_summary", "b4", "m", fromId="later", summary="x", fromHook=False),
        record("branch_summary", "b5", "m", fromId=None, summary="x"),
        message("later", "m"),
    )
    loaded = load(path)
    first, later = loaded.entries[0].id, loaded.entries[-1].id
    assert [loaded.payload(index)["fromId"] for index in range(1, 6)] == [first, None, first, later, None]
    assert [loaded.payload(index)["fromHook"] for index in range(1, 6)] == [True, False, False, False, False]
    assert loaded.payload(1)["details"] == {"d": 1}
    assert loaded.payload(2)["usage"] == USAGE


def test_fields_of_other_tools_stay(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        message("m", None) | {"zeta": 1e-05, "seq": 99, "kind": "x"},
        record("custom", "c", "m", customType="t", data=1, note=["n"]),
        record("custom_message", "d", "m", customType="t", content="c", display=True, note=1),
    )
    loaded = load(path)
    assert set(loaded.payload(0)) == {"message", "zeta"}
    assert loaded.payload(1) == {"data": 1, "note": ["n"]}
    assert loaded.payload(2)["note"] == 1
    assert loaded.entries[0].seq == 1


def test_messages_keep_their_spelling(tmp_path: Path) -> None:
    spelled = '{"role": "user", "n": [1e-05, 0.00001, 1E2], "t": "\\ud83d\\u0000\\/", "e": "é\u2028"}'
    path = v3_file(
        tmp_path / "a",
        text_of(message("m", None)).replace(text_of(message("m", None)["message"]), spelled),
        record("compaction", "c", "m", summary="s", firstKeptEntryId="m", tokensBefore=1),
    )
    loaded = load(path)
    assert loaded.entries[0].payload == f'{{"message":{spelled}}}'
    assert f'"retainedTail":[{spelled}]' in loaded.entries[1].payload


# -- what follows the entries -------------------------------------------------------------------------


def test_values_are_numbered_on_from_the_entries(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        message("m", None),
        record("model_change", "s1", "m", provider="p", modelId="x"),
        record("thinking_level_change", "s2", "s1", thinkingLevel="max"),
        record("label", "s3", "s2", targetId="m", label="l"),
        record("session_info", "s4", "s3", name="n"),
    )
    loaded = load(path)
    assert [(value.seq, value.namespace, value.key) for value in loaded.values] == [
        (2, "pi.session.name", ""),
        (3, "pi.entry.label", loaded.entries[0].id),
        (4, "pi.branch.tip", "main"),
        (5, "pi.lane.config", "main"),
        (6, "pi.lane.state", "main"),
    ]
    assert loaded.value("pi.lane.state", "main") == {
        "currentOperationId": None,
        "lastOperationId": None,
        "inbox": [],
    }
    assert loaded.usage_rows[0].seq == 7
    assert loaded.header.next_seq == 8


def test_an_empty_file_has_a_tip_that_is_null(tmp_path: Path) -> None:
    loaded = load(v3_file(tmp_path / "a"))
    assert [(value.seq, value.namespace, value.value) for value in loaded.values] == [
        (1, "pi.branch.tip", "null")
    ]


@pytest.mark.parametrize(
    ("names", "name"),
    [(["a", "b"], "b"), (["a", ""], None), (["a", None], None), (["a", ...], None), ([7], None), ([], None)],
    ids=str,
)
def test_the_last_session_info_names_the_session(tmp_path: Path, names: list[Any], name: str | None) -> None:
    records = [record("session_info", f"s{index}", None, name=item) for index, item in enumerate(names)]
    loaded = load(v3_file(tmp_path / "a", *records))
    found = [json.loads(value.value) for value in loaded.values if value.namespace == "pi.session.name"]
    assert found == ([] if name is None else [name])


def test_the_tip_is_what_the_last_record_folds_to(tmp_path: Path) -> None:
    records = [message("a", None), message("b", "a"), record("label", "l", "a", targetId="b", label="x")]
    loaded = load(v3_file(tmp_path / "a", *records))
    assert tip(loaded) == loaded.entries[0].id
    assert tip(load(v3_file(tmp_path / "b", record("session_info", "s", None, name="n")))) is None


def labels(path: Path) -> list[tuple[int, Any]]:
    loaded = load(path)
    seqs = {item.id: item.seq for item in loaded.entries}
    return [
        (seqs[value.key], json.loads(value.value))
        for value in loaded.values
        if value.namespace == "pi.entry.label"
    ]


def label(id: str, target: str | None, text: Any) -> dict[str, Any]:
    return record("label", id, None, targetId=target, label=text)


def test_labels_last_wins_by_target_in_the_order_of_the_first_set(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        *(message(id, None) for id in "abcd"),
        label("l1", "c", "c1"),
        label("l2", "b", "b1"),
        label("l3", "a", "a1"),
        label("l4", "c", "c2"),
        label("l5", "b", ""),
        label("l6", "d", "d1"),
        label("l7", "d", None),
        label("l8", "b", "b2"),
    )
    assert labels(path) == [(3, "c2"), (1, "a1"), (2, "b2")]


def test_labels_follow_folding(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        record("session_info", "nothing", None, name=""),
        label("l1", "nothing", "folds to nothing"),
        label("l2", "later", "comes later"),
        message("m", "nothing"),
        record("session_info", "s", "m", name=""),
        label("l3", "m", "own"),
        label("l4", "s", "folded"),
        message("later", "m"),
    )
    assert labels(path) == [(2, "comes later"), (1, "folded")]


@pytest.mark.parametrize("target", ["nobody", None, 7])
def test_a_label_of_an_unknown_target_is_an_error(tmp_path: Path, target: Any) -> None:
    refused(v3_file(tmp_path / "a", message("m", None), label("l", target, "x")), 3)


def test_a_branch_summary_of_an_unknown_entry_is_an_error(tmp_path: Path) -> None:
    refused(v3_file(tmp_path / "a", record("branch_summary", "b", None, fromId="nobody", summary="")), 2)


# -- the lane configuration ----------------------------------------------------------------------------

MODEL = record("model_change", "model", None, provider="p", modelId="m")
THINKING = record("thinking_level_change", "think", "model", thinkingLevel="high")


def lane_of(path: Path) -> Any:
    loaded = load(path)
    namespaces = {value.namespace for value in loaded.values}
    assert ("pi.lane.config" in namespaces) == ("pi.lane.state" in namespaces)
    return loaded.value("pi.lane.config", "main") if "pi.lane.config" in namespaces else None


def test_model_and_thinking_level_make_a_lane(tmp_path: Path) -> None:
    assert lane_of(v3_file(tmp_path / "a", MODEL, THINKING)) == {
        "model": {"provider": "p", "modelId": "m"},
        "thinkingLevel": "high",
        "activeToolNames": [],
    }
    assert lane_of(v3_file(tmp_path / "b", MODEL)) is None
    assert lane_of(v3_file(tmp_path / "c", {**THINKING, "parentId": None})) is None


@pytest.mark.parametrize(
    ("names", "tools"),
    [(["read", "bash"], ["read", "bash"]), (["read", 7], []), ("read", []), (None, []), (..., []), ([], [])],
    ids=str,
)
def test_tools_are_an_array_of_strings_else_as_if_absent(
    tmp_path: Path, names: Any, tools: list[str]
) -> None:
    change = record("active_tools_change", "tools", "think", activeToolNames=names)
    assert lane_of(v3_file(tmp_path / "a", MODEL, THINKING, change))["activeToolNames"] == tools


@pytest.mark.parametrize("level", ["off", "minimal", "low", "medium", "high", "xhigh", "max"])
def test_thinking_levels(tmp_path: Path, level: str) -> None:
    assert (
        lane_of(v3_file(tmp_path / "a", MODEL, {**THINKING, "thinkingLevel": level}))["thinkingLevel"]
        == level
    )


@pytest.mark.parametrize(
    "unusable",
    [
        record("thinking_level_change", "x", "think", thinkingLevel="huge"),
        record("thinking_level_change", "x", "think", thinkingLevel=None),
        record("thinking_level_change", "x", "think"),
        text_of(record("thinking_level_change", "x", "think", thinkingLevel=1)).replace(":1", ":1e999"),
        record("model_change", "x", "think", provider="", modelId="m"),
        record("model_change", "x", "think", provider="p", modelId=""),
        record("model_change", "x", "think", provider="p"),
        record("model_change", "x", "think", provider=1, modelId="m"),
    ],
    ids=text_of,
)
def test_the_nearest_change_counts_even_when_it_is_unusable(tmp_path: Path, unusable: Any) -> None:
    assert lane_of(v3_file(tmp_path / "a", MODEL, THINKING, unusable)) is None


def test_unusable_tools_hide_older_ones(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        MODEL,
        THINKING,
        record("active_tools_change", "t1", "think", activeToolNames=["read"]),
        record("active_tools_change", "t2", "t1", activeToolNames=[1]),
    )
    assert lane_of(path)["activeToolNames"] == []


def test_changes_on_other_branches_do_not_count(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        MODEL,
        THINKING,
        message("m", "think"),
        record("model_change", "other", "m", provider="other", modelId="other"),
        message("n", "m"),
    )
    assert lane_of(path)["model"] == {"provider": "p", "modelId": "m"}


# -- compactions -----------------------------------------------------------------------------------------


def compaction(id: str, parent: str | None, kept: Any, **fields: Any) -> dict[str, Any]:
    fields = {"summary": f"sum {id}", "tokensBefore": 9, "firstKeptEntryId": kept, **fields}
    return record("compaction", id, parent, **fields)


def test_the_retained_tail_is_rebuilt_oldest_first(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        message("m0", None),
        record("session_info", "s", "m0", name=""),
        message("m1", "s"),
        record("custom", "c", "m1", customType="t"),
        record("custom_message", "cm", "c", customType="t", content="x", display=True),
        record("branch_summary", "b1", "cm", fromId="m0", summary="kept"),
        record("branch_summary", "b2", "b1", fromId="m0", summary=""),
        compaction("k1", "b2", "m1"),
        message("m2", "k1"),
        message("aside", "m1"),
        compaction("k2", "m2", "s"),
    )
    loaded = load(path)
    tail = [
        {"role": "user", "content": "m1"},
        {"role": "custom", "customType": "t", "content": "x", "display": True, "timestamp": TIME},
        {"role": "branchSummary", "summary": "kept", "fromId": loaded.entries[0].id, "timestamp": TIME},
    ]
    assert loaded.payload(6)["retainedTail"] == tail
    assert loaded.payload(9)["retainedTail"] == [
        *tail,
        {"role": "compactionSummary", "summary": "sum k1", "tokensBefore": 9, "timestamp": TIME},
        {"role": "user", "content": "m2"},
    ]


def test_the_fields_of_a_compaction(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        message("m", None),
        compaction("k", "m", "m", details=None, usage=USAGE, fromHook=True, zeta=1),
        compaction("l", "k", "k", tokensBefore=1.5),
    )
    loaded = load(path)
    assert loaded.payload(1) == {
        "summary": "sum k",
        "retainedTail": [{"role": "user", "content": "m"}],
        "tokensBefore": 9,
        "details": None,
        "usage": USAGE,
        "zeta": 1,
        "fromHook": True,
    }
    assert loaded.payload(2)["fromHook"] is False
    assert len(loaded.payload(2)["retainedTail"]) == 1


@pytest.mark.parametrize("kept", ["aside", "nobody", "k", "later", None, 7], ids=str)
def test_a_kept_id_that_is_not_on_the_path_is_an_error(tmp_path: Path, kept: Any) -> None:
    path = v3_file(
        tmp_path / "a",
        message("m", None),
        message("aside", None),
        compaction("k", "m", kept),
        message("later", "k"),
    )
    refused(path, 4)


# -- statistics -------------------------------------------------------------------------------------------


def test_usage_of_the_whole_file_is_added_up(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        message("a", None, "assistant", usage=USAGE),
        message("b", None, "toolResult", usage={**USAGE, "reasoning": 3}),
        message("c", None, "user", usage=USAGE),
        compaction("d", "a", "a", usage=USAGE),
        record("branch_summary", "e", "a", fromId="a", summary="", usage=USAGE),
        record("custom", "f", "a", customType="t", usage=USAGE),
        message("g", "a", "assistant", usage=None),
        message("h", "a", "assistant", content="\ud83d", usage=USAGE),
    )
    stats = load(path).header.stats
    assert stats.message_count == 5
    assert stats.usage.input == 50
    assert stats.usage.reasoning == 3
    assert stats.usage.cost.total == 0.33 + 0.33 + 0.33 + 0.33 + 0.33


def test_figures_that_older_messages_lack_count_as_zero(tmp_path: Path) -> None:
    usages: list[Any] = [
        {"input": 3},
        {"input": 1, "cost": {"total": 0.5, "input": None}, "reasoning": 2},
        [],
        "x",
    ]
    path = v3_file(
        tmp_path / "a",
        *(message(str(index), None, "assistant", usage=usage) for index, usage in enumerate(usages)),
    )
    loaded = load(path)
    assert loaded.header.stats.usage.input == 4
    assert loaded.header.stats.usage.cost.total == 0.5
    assert loaded.header.stats.usage.reasoning == 2
    assert loaded.payload(0)["message"]["usage"] == {"input": 3}  # the message itself is as it was


# -- the header --------------------------------------------------------------------------------------------


def test_the_header(tmp_path: Path) -> None:
    header = load(v3_file(tmp_path / "a", cwd="Z:\\temp", other=1)).header
    assert (header.id, header.created_at, header.cwd) == ("old", 1760000000000, "Z:\\temp")
    assert load(v3_file(tmp_path / "b", cwd="")).header.cwd is None


@pytest.mark.parametrize("relative", [False, True])
def test_a_parent_path_becomes_the_id_in_its_header(tmp_path: Path, relative: bool) -> None:
    for name, parent in (
        ("p3", v3_file(tmp_path / "p3", id="id3")),
        ("p4", v4_file(tmp_path / "p4", entry(1, "e"), id="id4")),
    ):
        header = load(v3_file(tmp_path / "a", parentSession=name if relative else str(parent))).header
        assert header.parent_session_id == f"id{name[1]}"
        assert header.legacy_parent_session_path is None


def test_a_parent_path_that_cannot_be_read_stays_a_path(tmp_path: Path) -> None:
    (tmp_path / "broken").write_text("{}\n")
    (tmp_path / "future").write_text('{"v":9,"kind":"header"}\n')
    for parent in (tmp_path / "none", tmp_path / "broken", tmp_path / "future", tmp_path):
        header = load(v3_file(tmp_path / "a", parentSession=str(parent))).header
        assert header.parent_session_id is None
        assert header.legacy_parent_session_path == str(parent)


@pytest.mark.parametrize(("version", "format"), [(..., "1"), (1, "1"), (2, "2")], ids=str)
def test_formats_1_and_2_are_refused_by_name(tmp_path: Path, version: Any, format: str) -> None:
    path = v3_file(tmp_path / "a", message("m", None), version=version)
    with pytest.raises(UnsupportedStorageVersionError, match=rf"format {format}.*--lenient"):
        load(path)


@pytest.mark.parametrize("version", [4, 99])
def test_a_future_version_is_refused(tmp_path: Path, version: int) -> None:
    with pytest.raises(UnsupportedStorageVersionError, match=f"format {version}"):
        load(v3_file(tmp_path / "a", version=version))


@pytest.mark.parametrize(
    "change",
    [
        {"version": "3"},
        {"version": 3.0},
        {"version": None},
        {"version": -3},
        {"id": ...},
        {"id": "\0"},
        {"timestamp": "yesterday"},
        {"timestamp": 1760000000000},
        {"timestamp": ...},
        {"cwd": 7},
        {"parentSession": 7},
        {"type": "sessions"},
    ],
    ids=str,
)
def test_a_broken_header_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    refused(v3_file(tmp_path / "a", message("m", None), **change), 1)


# -- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize("tail", ['{"type":"mess', text_of(message("n", "m")), "\ud83d"], ids=repr)
def test_only_a_final_line_without_its_newline_is_ignored(tmp_path: Path, tail: str) -> None:
    loaded = load(v3_file(tmp_path / "a", message("m", None), tail, end=""))
    assert len(loaded.entries) == 1
    assert tip(loaded) == loaded.entries[0].id


BAD: dict[str, Any] = {
    "invalid JSON": '{"type":"message","id":"x","paren',
    "an empty line": "",
    "a blank line": "  ",
    "an array": [message("x", "m")],
    "welded records": text_of(message("x", "m")) + text_of(message("y", "m")),
    "a duplicate id": message("m", "m"),
    "the id of a dropped record": message("s", "m"),
    "a missing parent": message("x", "nobody"),
    "a parent that comes later": message("x", "later"),
    "an own parent": message("x", "x"),
    "the header as parent": message("x", "old"),
    "no parentId": {name: item for name, item in message("x", "m").items() if name != "parentId"},
    "a parentId that is a number": message("x", "m") | {"parentId": 1},
    "a dropped record with a missing parent": record("session_info", "x", "nobody", name="n"),
    "a kept record without an id": message("x", "m") | {"id": None},
    "a kept record with an id that is a number": message("x", "m") | {"id": 7},
    "no time": {name: item for name, item in message("x", "m").items() if name != "timestamp"},
    "a time that is none": message("x", "m") | {"timestamp": "soon"},
    "a time that is a number": message("x", "m") | {"timestamp": TIME},
    "a day that is none": message("x", "m") | {"timestamp": "2025-02-30T00:00:00Z"},
    "an offset that is none": message("x", "m") | {"timestamp": "2025-02-20T00:00:00+99:00"},
    "an unknown type": record("hologram", "x", "m"),
    "no type": {"id": "x", "parentId": "m"},
    "another header": v3_header(),
    "a record of format 4": entry(1, "x"),
    "no message": record("message", "x", "m"),
    "a message that is a text": record("message", "x", "m", message="hi"),
    "a message without a role": record("message", "x", "m", message={}),
    "a custom record without its type": record("custom", "x", "m"),
    "a custom message without its type": record("custom_message", "x", "m"),
    "a compaction without a summary": record("compaction", "x", "m", firstKeptEntryId="m", tokensBefore=1),
    "a compaction without tokensBefore": record("compaction", "x", "m", firstKeptEntryId="m", summary=""),
    "a compaction with half a usage": compaction("x", "m", "m", usage={"input": 1}),
    "a summary that is a number": record("branch_summary", "x", "m", fromId="m", summary=1),
    "a fromHook that is a text": record("branch_summary", "x", "m", fromId="m", summary="", fromHook="no"),
    "nested too deep to read": "[" * 100_000,
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_bad_record_is_refused_with_its_line(tmp_path: Path, line: Any) -> None:
    good = [message("m", None), record("session_info", "s", "m", name="n")]
    assert len(load(v3_file(tmp_path / "a", *good, message("later", "m"))).entries) == 2
    refused(v3_file(tmp_path / "a", *good, line, message("later", "m")), 4)


def test_invalid_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = v3_file(tmp_path / "a", message("m", None), message("é", "m"))
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xe9"))
    refused(path, 3)


def test_dropped_records_may_lack_an_id_and_a_time(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        {"type": "session_info", "parentId": None, "name": "n"},
        {"type": "session_info", "parentId": None, "name": "n"},
        message("m", None),
    )
    assert load(path).tree() == [(1, None)]


def test_an_import_refuses_a_pending_assistant_message(tmp_path: Path) -> None:
    with pytest.raises(SessionStoreError, match="pending"):
        load(v3_file(tmp_path / "a", message("m", None, "assistant", stopReason="pending")))


def test_line_ends_are_newlines_only(tmp_path: Path) -> None:
    path = v3_file(tmp_path / "a", message("m", None, x="a\u2028b\u0085c"), message("n", "m"))
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    loaded = load(path)
    assert loaded.payload(0)["message"]["x"] == "a\u2028b\u0085c"
    assert len(loaded.entries) == 2
