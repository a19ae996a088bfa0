"""Reading format 4: each rule of jsonl.md section 2 (sidecars: test_sidecars.py)."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonl.support import (
    COST,
    T0,
    USAGE,
    append_line,
    entry,
    load,
    retire_line,
    set_line,
    text_of,
    usage_line,
    v4_file,
    v4_header,
    write_lines,
)

from sessionstore.errors import (
    CorruptStorageError,
    SessionStoreError,
    StorageError,
    UnsupportedStorageVersionError,
)
from sessionstore.jsonl import open_source
from sessionstore.jsonl.codec import LineError, PlainEntry, decode_transaction
from sessionstore.jsonl.encoding import transaction_line
from sessionstore.records import EntryRecord


def refused(path: Path) -> CorruptStorageError:
    """Reading fails with path and line, and leaves the file as it is."""
    before = path.read_bytes()
    with pytest.raises(CorruptStorageError) as raised:
        load(path)
    assert raised.value.path == str(path)
    assert path.read_bytes() == before
    return raised.value


# -- the header --------------------------------------------------------------------------------


def test_header_fields(tmp_path: Path) -> None:
    path = v4_file(
        tmp_path / "a",
        id="é/#",
        parentSessionId="p",
        legacyParentSessionPath="/old",
        nextSeq=9,
        other={"tool": 1},
    )
    header = load(path).header
    assert header.id == "é/#"
    assert header.created_at == T0
    assert header.cwd == "/srv"
    assert header.parent_session_id == "p"
    assert header.legacy_parent_session_path == "/old"
    assert header.next_seq == 9


@pytest.mark.parametrize("cwd", ["", None, ...])
def test_no_cwd_is_stored_as_the_empty_string(tmp_path: Path, cwd: Any) -> None:
    assert load(v4_file(tmp_path / "a", cwd=cwd)).header.cwd is None


def test_a_byte_order_mark_before_the_header_is_accepted(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", entry(1, "e"))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(load(path).entries) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"id": 1},
        {"id": ""},
        {"id": "a\0b"},
        {"id": "x" * 181},
        {"id": ...},
        {"createdAt": "today"},
        {"createdAt": -1},
        {"createdAt": 1.5},
        {"createdAt": 10**15},
        {"cwd": 1},
        {"parentSessionId": 1},
        {"nextSeq": 0},
        {"nextSeq": 2**53},
        {"storageVersion": "1"},
        {"v": ...},
        {"kind": "headline"},
        {"kind": ...},
    ],
    ids=str,
)
def test_a_header_that_cannot_be_read_is_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    assert refused(v4_file(tmp_path / "a", entry(1, "e"), **change)).line == 1


@pytest.mark.parametrize("change", [{"v": 5}, {"storageVersion": 2}, {"v": 3}], ids=str)
def test_other_versions_are_refused_by_name(tmp_path: Path, change: dict[str, Any]) -> None:
    path = v4_file(tmp_path / "a", {"something": "new"}, **change)
    before = path.read_bytes()
    with pytest.raises(UnsupportedStorageVersionError, match=str(*change.values())):
        load(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"{}", b'{"v":4', b"\xff\xfe\n", b"[]\n", b"\0" * 5000 + b"\n", b"x" * (1 << 21) + b"\n"],
    ids=lambda content: repr(content[:8]),
)
def test_a_file_without_a_header_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    assert refused(path).line == 1


def test_a_header_without_its_newline_is_no_header(tmp_path: Path) -> None:
    assert refused(v4_file(tmp_path / "a", end="")).line == 1


def test_what_is_no_file_is_a_failure_of_the_store(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="missing"):
        load(tmp_path / "missing")
    with pytest.raises(StorageError, match=r"cannot read"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="not a file"):
        load(tmp_path / "pipe")  # does not wait for a writer


# -- records -----------------------------------------------------------------------------------


def test_a_transaction_is_an_object_or_an_array(tmp_path: Path) -> None:
    path = v4_file(
        tmp_path / "a",
        set_line(1, 1),
        [set_line(2, 2), append_line(3, "x"), usage_line(4, "u")],
        [set_line(5, 5)],
        [],
    )
    loaded = load(path)
    assert [value.value for value in loaded.values] == ["5"]
    assert [row.id for row in loaded.usage_rows] == ["u"]
    assert loaded.header.next_seq == 6


def test_every_entry_type(tmp_path: Path) -> None:
    path = v4_file(
        tmp_path / "a",
        entry(1, "m", terminate=True),
        entry(2, "c", "m", type="custom", customType="note", message=...),
        entry(3, "d", "c", type="custom", customType="note", message=..., data=None),
        entry(
            4,
            "k",
            "d",
            type="compaction",
            message=...,
            summary="s",
            retainedTail=[],
            tokensBefore=1.5,
            fromHook=False,
            details=0,
        ),
        entry(
            5,
            "b",
            "k",
            type="branch_summary",
            message=...,
            fromId=None,
            summary="",
            fromHook=True,
            usage=USAGE,
        ),
    )
    loaded = load(path)
    assert [record.type for record in loaded.entries] == [
        "message",
        "custom",
        "custom",
        "compaction",
        "branch_summary",
    ]
    assert loaded.tree() == [(1, None), (2, 1), (3, 2), (4, 3), (5, 4)]
    assert loaded.payload(0) == {"message": {"role": "user", "content": "m"}, "terminate": True}
    assert loaded.payload(1) == {}
    assert loaded.payload(2) == {"data": None}
    assert loaded.payload(3) == {
        "summary": "s",
        "retainedTail": [],
        "tokensBefore": 1.5,
        "fromHook": False,
        "details": 0,
    }
    assert loaded.payload(4) == {"fromId": None, "summary": "", "fromHook": True, "usage": USAGE}
    assert loaded.header.stats.message_count == 1


def test_sets_deletes_and_lists_apply_in_order(tmp_path: Path) -> None:
    path = v4_file(
        tmp_path / "a",
        set_line(1, 1, key="a"),
        set_line(2, 2, key="b"),
        {"kind": "value", "op": "delete", "seq": 3, "namespace": "app", "key": "a"},
        append_line(4, "old"),
        [
            {"kind": "list", "op": "delete", "seq": 5, "namespace": "app", "key": ""},
            append_line(6, "new", tag="full"),
            {"kind": "list", "op": "delete", "seq": 7, "namespace": "app", "key": "none"},
            {"kind": "value", "op": "delete", "seq": 8, "namespace": "app", "key": "none"},
        ],
        set_line(9, None, key="a"),
    )
    loaded = load(path)
    assert [(value.key, value.seq, value.value) for value in loaded.values] == [
        ("b", 2, "2"),
        ("a", 9, "null"),
    ]
    assert [(item.seq, item.value, item.tag) for item in loaded.elements] == [(6, '"new"', "full")]


def test_statistics_are_a_left_fold_over_the_ledger(tmp_path: Path) -> None:
    usages = [
        {**USAGE, "cost": {**COST, "total": 0.1}},
        {**USAGE, "cost": {**COST, "total": 0.2}, "reasoning": 4},
        {**USAGE, "cost": {**COST, "total": 0.3}, "cacheWrite1h": 0},
    ]
    path = v4_file(
        tmp_path / "a", *(usage_line(seq, f"u{seq}", usage) for seq, usage in enumerate(usages, 1))
    )
    usage = load(path).header.stats.usage
    assert usage.cost.total == 0.1 + 0.2 + 0.3 != 0.1 + (0.2 + 0.3)
    assert usage.input == 30
    assert usage.reasoning == 4
    assert usage.cache_write_1h == 0


@pytest.mark.parametrize("seqs", [(1, 5, 7), (3, 4)])
def test_gaps_are_legal_and_the_next_number_is_above_all(tmp_path: Path, seqs: tuple[int, ...]) -> None:
    path = v4_file(tmp_path / "a", *(set_line(seq, seq) for seq in seqs))
    assert load(path).header.next_seq == seqs[-1] + 1


def test_the_next_number_is_not_below_the_mark_of_the_header(tmp_path: Path) -> None:
    assert load(v4_file(tmp_path / "a", set_line(3, 1), nextSeq=90)).header.next_seq == 90
    assert load(v4_file(tmp_path / "b", set_line(3, 1), nextSeq=2)).header.next_seq == 4


# -- torn and damaged lines -----------------------------------------------------------------------


@pytest.mark.parametrize("tail", ['{"kind":"va', text_of(set_line(2, 2)), "[", "\ud83d", " "], ids=repr)
def test_a_final_line_without_its_newline_is_dropped_whole(tmp_path: Path, tail: str) -> None:
    path = v4_file(tmp_path / "a", set_line(1, 1), tail, end="")
    before = path.read_bytes()
    loaded = load(path)
    assert [value.value for value in loaded.values] == ["1"]
    assert loaded.header.next_seq == 2
    assert path.read_bytes() == before


DEEP, DEEP_END = "[" * 100_000, "]" * 100_000
BAD_LINES: dict[str, Any] = {
    "no JSON": "not json",
    "empty": "",
    "two records": '{"kind":"value"}{"kind":"value"}',
    "a number": "7",
    "a text": '"x"',
    "null": "null",
    "an array of numbers": "[1]",
    "an array in an array": "[[]]",
    "truncated": '{"kind":"value","op":"set","seq":3',
    "a comma too many": text_of(set_line(3, 1)).replace("}", ",}"),
    "NaN": '{"kind":"value","op":"set","seq":3,"namespace":"a","key":"","value":NaN}',
    "a control character": '{"kind":"value","op":"set","seq":3,"namespace":"a","key":"","value":"\x01"}',
    "no kind": {"seq": 3},
    "unknown kind": {**set_line(3, 1), "kind": "hologram"},
    "a kind that is no text": {**set_line(3, 1), "kind": 4},
    "unknown op": {**set_line(3, 1), "op": "add"},
    "unknown list op": {**append_line(3, 1), "op": "set"},
    "unknown scope op": {**retire_line(3, "s"), "op": "begin"},
    "a set without a value": {name: item for name, item in set_line(3, 1).items() if name != "value"},
    "an append without a value": {name: item for name, item in append_line(3, 1).items() if name != "value"},
    "no seq": {**set_line(3, 1), "seq": None},
    "a seq that is a float": {**set_line(3, 1), "seq": 3.0},
    "a seq that is true": {**set_line(3, 1), "seq": True},
    "seq 0": set_line(0, 1),
    "a seq that goes back": set_line(2, 1),
    "a seq beyond what JavaScript counts": set_line(2**53, 1),
    "a seq of many digits": text_of(set_line(3, 1)).replace('"seq":3', f'"seq":{"9" * 5000}'),
    "a seq that goes back inside": [set_line(4, 1), set_line(3, 1)],
    "a seq twice": [set_line(3, 1), set_line(3, 1)],
    "an empty namespace": set_line(3, 1, namespace=""),
    "a namespace with U+0000": set_line(3, 1, namespace="a\0"),
    "a namespace with a lone surrogate": set_line(3, 1, namespace="\ud83d"),
    "a namespace of 256 bytes": set_line(3, 1, namespace="é" * 128),
    "a key with U+0000": append_line(3, 1, key="\0"),
    "a key of 1025 bytes": set_line(3, 1, key="k" * 1025),
    "a key that is no text": {**set_line(3, 1), "key": 1},
    "a value with a scope": set_line(3, 1, scopeId="op"),
    "an element with a scope": append_line(3, 1, scopeId="op"),
    "a value with a null scope": set_line(3, 1, scopeId=None),
    "an empty tag": append_line(3, 1, tag=""),
    "a tag with U+0000": append_line(3, 1, tag="a\0"),
    "a tag that is no text": append_line(3, 1, tag=1),
    "an empty scope id": retire_line(3, ""),
    "a scope id that is too long": retire_line(3, "x" * 181),
    "an unknown entry type": entry(3, "x", type="hologram"),
    "an entry without a type": entry(3, "x", type=...),
    "an entry without an id": {**entry(3, "x"), "id": None},
    "an entry with an empty id": entry(3, ""),
    "an entry whose id has U+0000": entry(3, "\0"),
    "an entry whose id is too long": entry(3, "x" * 256),
    "an id used twice": entry(3, "first"),
    "an id used by the ledger": entry(3, "row"),
    "an id used twice in a line": [entry(3, "x"), entry(4, "x")],
    "a missing parent": entry(3, "x", "nobody"),
    "a parent that comes later": [entry(3, "x", "y"), entry(4, "y")],
    "a parent that is a ledger row": entry(3, "x", "row"),
    "an own parent": entry(3, "x", "x"),
    "no parentId": entry(3, "x", parentId=...),
    "a parentId that is no text": entry(3, "x", parentId=1),
    "no timestamp": entry(3, "x", timestamp=...),
    "a timestamp that is a float": entry(3, "x", timestamp=1.5),
    "a timestamp that is a text": entry(3, "x", timestamp="2025-10-09T08:53:20.000Z"),
    "a timestamp beyond what JavaScript counts": entry(3, "x", timestamp=2**53),
    "no message": entry(3, "x", message=...),
    "a message that is a text": entry(3, "x", message="x"),
    "a message that is null": entry(3, "x", message=None),
    "a custom entry without its type": entry(3, "x", type="custom", message=...),
    "a custom entry with an empty type": entry(3, "x", type="custom", message=..., customType=""),
    "a custom type with U+0000": entry(3, "x", type="custom", message=..., customType="\0"),
    "a compaction without a tail": entry(
        3, "x", type="compaction", summary="", tokensBefore=1, fromHook=True
    ),
    "a summary that is no text": entry(3, "x", type="branch_summary", summary=1, fromId=None, fromHook=True),
    "a summary without fromHook": entry(3, "x", type="branch_summary", summary="", fromId=None),
    "a usage without figures": usage_line(3, "u", {}),
    "a usage that is no object": usage_line(3, "u", [1]),
    "a usage figure that is a text": usage_line(3, "u", {**USAGE, "input": "1"}),
    "a usage figure beyond a double": text_of(usage_line(3, "u")).replace('"input":10', '"input":1e999'),
    "a usage row without an id": {**usage_line(3, "u"), "id": None},
    "a usage row with U+0000 in its id": usage_line(3, "u\0"),
    "a usage row with the id of an entry": usage_line(3, "first"),
    "a usage row with an id used twice": usage_line(3, "row"),
    "an adjustment that is a number": usage_line(3, "u", adjustment=1),
    "nested too deep to read": DEEP,
    "a value nested too deep to read": text_of(set_line(3, 0)).replace(
        ":0", ":" + "[" * 100_000 + "]" * 100_000
    ),
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=BAD_LINES)
def test_a_bad_line_is_refused_with_its_number(tmp_path: Path, line: Any) -> None:
    good = [entry(1, "first"), usage_line(2, "row")]
    assert len(load(v4_file(tmp_path / "a", good, set_line(90, 1))).entries) == 1
    assert refused(v4_file(tmp_path / "a", good, line, set_line(90, 1))).line == 3


def test_invalid_utf_8_is_refused_inside_a_payload_too(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", entry(1, "e", message={"role": "user", "content": "§"}))
    path.write_bytes(path.read_bytes().replace("§".encode(), b"\xff"))
    assert refused(path).line == 2


def test_the_line_number_holds_across_blocks(tmp_path: Path) -> None:
    big = "x" * (1 << 20)
    lines = [set_line(seq, big if seq % 3 == 0 else seq, key=str(seq)) for seq in range(1, 8)]
    path = v4_file(tmp_path / "a", *lines, "broken", set_line(9, 9))
    assert refused(path).line == 9
    write_lines(path, [v4_header(), *lines])
    loaded = load(path)
    assert [value.seq for value in loaded.values] == list(range(1, 8))
    assert json.loads(loaded.values[2].value) == big


# -- text and spelling -------------------------------------------------------------------------------


def test_only_a_newline_ends_a_line(tmp_path: Path) -> None:
    text = "a\u2028b\u2029c\u0085d\x0be\x0cf\x1cg\rh"
    raw = "".join(mark if mark > "\x1f" else f"\\u{ord(mark):04x}" for mark in text)
    path = v4_file(tmp_path / "a", text_of(set_line(1, "§")).replace("§", raw), set_line(2, "z", key="z"))
    loaded = load(path)
    assert json.loads(loaded.values[0].value) == text
    assert loaded.values[1].value == '"z"'


def test_a_carriage_return_before_the_newline_is_white_space(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", set_line(1, 1), [append_line(2, 2), entry(3, "e")])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    loaded = load(path)
    assert (loaded.values[0].value, loaded.elements[0].value, len(loaded.entries)) == ("1", "2", 1)


PAYLOADS = [
    "1e-05",
    "0.00001",
    "1E5",
    "-0.0",
    "1e308",
    "1180591620717411303424",
    '"\\ud83d lone"',
    '"\\u0000 nul \\/ \\u00e9 é 👩‍🚀"',
    '{"b":1,"aa":{"z":[],"a":null}}',
    '[ 1 , {"a" : 2} ]',
    "[" * 500 + "]" * 500,
]


@pytest.mark.parametrize("text", PAYLOADS, ids=lambda text: text[:20])
@pytest.mark.parametrize("in_array", [False, True])
def test_payloads_keep_their_spelling(tmp_path: Path, text: str, in_array: bool) -> None:
    lines = [
        text_of(record).replace('"§"', text)
        for record in (
            set_line(1, "§"),
            append_line(2, "§"),
            entry(3, "e", message={"role": "user", "content": "§"}),
            entry(4, "c", type="custom", customType="x", message=..., data="§"),
            usage_line(5, "u", {**USAGE, "more": "§"}, details="§"),
        )
    ]
    loaded = load(v4_file(tmp_path / "a", *([f"[{','.join(lines)}]"] if in_array else lines)))
    assert loaded.values[0].value == text
    assert loaded.elements[0].value == text
    assert loaded.entries[0].payload == f'{{"message":{{"role":"user","content":{text}}}}}'
    assert loaded.entries[1].payload == f'{{"data":{text}}}'
    assert loaded.usage_rows[0].details == text
    assert f'"more":{text}' in loaded.usage_rows[0].usage


def test_fields_of_other_tools_stay_in_an_entry(tmp_path: Path) -> None:
    path = v4_file(
        tmp_path / "a",
        entry(1, "a", zeta={"n": 1}, alpha=None),
        entry(2, "b", data=[1], customType="of no meaning here"),
        entry(3, "c", type="custom", customType="t"),
        {**set_line(4, 1), "other": True},
        {**usage_line(5, "u"), "other": True},
        {**append_line(6, 1), "other": True},
        {"kind": "value", "op": "delete", "seq": 7, "namespace": "app", "key": "", "value": 1},
    )
    loaded = load(path)
    assert loaded.payload(0) == {"message": {"role": "user", "content": "a"}, "zeta": {"n": 1}, "alpha": None}
    assert loaded.payload(1)["data"] == [1]
    assert loaded.payload(2) == {"message": {"role": "user", "content": "c"}}
    assert loaded.values == []
    assert len(loaded.usage_rows) == len(loaded.elements) == 1


def test_texts_at_their_limits_are_accepted(tmp_path: Path) -> None:
    longest, key = "é" * 127 + "x", "k" * 1024
    path = v4_file(
        tmp_path / "a",
        set_line(1, 1, namespace=longest, key=key),
        append_line(2, 1, namespace=longest, key=key, tag=longest),
        entry(3, longest, type="custom", customType=longest),
        entry(4, "child", longest),
        usage_line(5, "x" * 255, entryId=longest),
    )
    loaded = load(path)
    assert loaded.values[0].key == key
    assert loaded.elements[0].tag == longest
    assert loaded.entries[1].parent_id == loaded.entries[0].id == longest
    assert loaded.usage_rows[0].entry_id == longest


def test_members_in_any_order_and_names_that_come_twice(tmp_path: Path) -> None:
    line = '{"value":1,"key":"k","value":2,"namespace":"n","seq":1,"op":"set","kind":"value"}'
    loaded = load(v4_file(tmp_path / "a", line))
    assert (loaded.values[0].key, loaded.values[0].value) == ("k", "2")


def test_optional_fields_may_be_null(tmp_path: Path) -> None:
    loaded = load(v4_file(tmp_path / "a", append_line(1, 1, tag=None), usage_line(2, "u", entryId=None)))
    assert loaded.elements[0].tag is None
    assert loaded.usage_rows[0].entry_id is None


def test_retirements_take_a_number_and_are_no_records(tmp_path: Path) -> None:
    loaded = load(v4_file(tmp_path / "a", retire_line(1, "op"), [retire_line(2, "op"), set_line(3, 1)]))
    assert loaded.header.next_seq == 4
    assert [value.seq for value in loaded.values] == [3]


# -- what an import refuses beyond that ------------------------------------------------------------------


def test_an_import_refuses_a_pending_assistant_message(tmp_path: Path) -> None:
    pending = {"role": "assistant", "content": [], "stopReason": "pending"}
    path = v4_file(tmp_path / "a", entry(1, "e", message=pending))
    with pytest.raises(SessionStoreError, match=r"'e'.*pending"):
        load(path)


@pytest.mark.parametrize("text", ["1e999", "9" * 5000, "[" * 600 + "]" * 600], ids=lambda text: text[:5])
def test_an_import_refuses_what_could_not_be_read_back(tmp_path: Path, text: str) -> None:
    for line in (
        set_line(1, "§"),
        append_line(1, "§"),
        entry(1, "e", message={"role": "user", "content": "§"}),
        usage_line(1, "u", details="§"),
    ):
        with pytest.raises(CorruptStorageError):
            load(v4_file(tmp_path / "a", text_of(line).replace('"§"', text)))


def test_an_import_reads_what_was_there_when_it_began(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", entry(1, "a"), entry(2, "b"))
    with open_source(path) as session:
        with path.open("ab") as file:
            file.write(text_of(entry(3, "c")).encode() + b"\n")
        path.rename(tmp_path / "moved")
        assert [record.seq for record in session.image.records] == [1, 2]
        assert session.image.header.next_seq == 3


# -- writing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", ['{"message":{"a":1e-05}}', "{}", '{ "data" : "é\u2028" }'])
def test_a_written_entry_reads_back(payload: str) -> None:
    type = "message" if "message" in payload else "custom"
    record = EntryRecord('id"\\é', "p", 3, T0, type, None if type == "message" else "t\u2029", payload)
    line = transaction_line([record])
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    [found] = decode_transaction(line[:-1])
    assert isinstance(found, PlainEntry)
    assert (found.id, found.parent_id, found.seq, found.timestamp) == ('id"\\é', "p", 3, T0)


def test_a_newline_between_tokens_does_not_end_a_line() -> None:
    record = EntryRecord("e", None, 1, T0, "custom", "t", '{\n "data":\n [1,\n 2]\n}')
    line = transaction_line([record, record])
    assert line.count(b"\n") == 1
    assert msgspec.json.decode(line)[1]["data"] == [1, 2]


def test_an_empty_line_is_no_transaction() -> None:
    with pytest.raises(LineError):
        decode_transaction(b"")
