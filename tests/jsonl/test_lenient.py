"""What a lenient import adds, mercy by mercy (jsonl.md section 5), and what it still refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonl.support import (
    USAGE,
    entry,
    load,
    message,
    record,
    text_of,
    v3_file,
    v3_header,
    v4_file,
    write_lines,
)

from sessionstore.errors import CorruptStorageError, SessionStoreError, UnsupportedStorageVersionError
from sessionstore.jsonl import open_source

SKIPPED = "unreadable line skipped"
WELDED = "records welded on one line taken apart"
UNKNOWN = "record of an unknown type dropped"
ROOTED = "record without a known parent made a root"
BLANK = "blank line passed over"
TAILLESS = "compaction whose kept id is unknown has an empty tail"
FOREIGN = "foreign line before the header passed over"
MARKED = "byte-order mark passed over"
TEXTUAL = "version that is a text taken for a number"


def test_a_good_file_needs_no_mercy(tmp_path: Path) -> None:
    loaded = load(v3_file(tmp_path / "a", message("m", None), message("n", "m")), lenient=True)
    assert loaded.mercies() == []
    assert loaded.tree() == [(1, None), (2, 1)]


# -- formats 1 and 2 --------------------------------------------------------------------------------


def v1_file(path: Path, *records: Any, **change: Any) -> Path:
    return v3_file(path, *records, version=..., **change)


def test_format_1_is_a_chain_in_file_order(tmp_path: Path) -> None:
    path = v1_file(
        tmp_path / "a",
        message(None, None),
        record("thinking_level_change", None, None, thinkingLevel="low"),
        record("custom", None, None, customType="t", data=1),
        message(None, None, "assistant", usage=USAGE),
    )
    loaded = load(path, lenient=True)
    assert loaded.format == 1
    assert loaded.mercies() == [(1, "format 1 converted")]
    assert loaded.tree() == [(1, None), (2, 1), (3, 2)]
    assert loaded.value("pi.branch.tip", "main") == loaded.entries[2].id
    assert loaded.header.stats.usage.input == 10
    assert loaded.usage_rows[0].details == '{"source":"v3-import"}'


def test_version_1_may_be_spelled_out(tmp_path: Path) -> None:
    assert load(v3_file(tmp_path / "a", message(None, None), version=1), lenient=True).format == 1


def compaction_1(index: Any) -> dict[str, Any]:
    return record("compaction", None, None, summary="s", tokensBefore=1, firstKeptEntryIndex=index)


@pytest.mark.parametrize(
    ("index", "tail"),
    [
        (1, ["a", "b", "c"]),
        (2, ["b", "c"]),  # a settings record, from which the tail goes on
        (3, ["b", "c"]),
        (4, ["c"]),
        *((unknown, None) for unknown in (0, 5, 9, -1, "4", 1.5, ..., 10**30)),
    ],
    ids=str,
)
def test_the_kept_index_counts_the_parsed_lines(tmp_path: Path, index: Any, tail: list[str] | None) -> None:
    path = v1_file(
        tmp_path / "a",
        message(None, None, content="a"),
        "broken",
        record("session_info", None, None, name=""),
        "",
        message(None, None, content="b"),
        message(None, None, content="c"),
        compaction_1(index),
    )
    loaded = load(path, lenient=True)
    assert [item["content"] for item in loaded.payload(3)["retainedTail"]] == (tail or [])
    assert ((8, TAILLESS) in loaded.mercies()) == (tail is None)
    assert "firstKeptEntryIndex" not in loaded.payload(3)


def lane_config(loaded: Any) -> Any:
    return loaded.value("pi.lane.config", "main")


def test_a_format_1_header_carries_the_configuration_until_a_record_changes_it(tmp_path: Path) -> None:
    header = {"provider": "p", "modelId": "m", "thinkingLevel": "low"}
    assert lane_config(load(v1_file(tmp_path / "a", message(None, None), **header), lenient=True)) == {
        "model": {"provider": "p", "modelId": "m"},
        "thinkingLevel": "low",
        "activeToolNames": [],
    }
    change = record("model_change", None, None, provider="q", modelId="n")
    loaded = load(v1_file(tmp_path / "b", change, message(None, None), **header), lenient=True)
    assert lane_config(loaded)["model"] == {"provider": "q", "modelId": "n"}
    assert lane_config(loaded)["thinkingLevel"] == "low"
    broken = record("thinking_level_change", None, None, thinkingLevel="huge")
    loaded = load(v1_file(tmp_path / "c", broken, **header), lenient=True)
    assert "pi.lane.config" not in {value.namespace for value in loaded.values}


def test_a_format_3_header_carries_no_configuration(tmp_path: Path) -> None:
    header = {"provider": "p", "modelId": "m", "thinkingLevel": "low"}
    loaded = load(v3_file(tmp_path / "a", message("m", None), **header), lenient=True)
    assert "pi.lane.config" not in {value.namespace for value in loaded.values}


def test_branched_from_is_the_parent_of_a_format_1_session(tmp_path: Path) -> None:
    parent = v3_file(tmp_path / "p", id="parent")
    header = load(v1_file(tmp_path / "a", branchedFrom=str(parent)), lenient=True).header
    assert header.parent_session_id == "parent"
    header = load(v1_file(tmp_path / "b", branchedFrom="/gone"), lenient=True).header
    assert header.legacy_parent_session_path == "/gone"


def test_hook_messages_of_older_formats_are_custom_messages(tmp_path: Path) -> None:
    hook = message("m", None, "hookMessage", n=0)
    spelled = text_of(hook).replace('"n":0', '"n":1e-05')
    kept = record("compaction", "k", "m", summary="s", tokensBefore=1, firstKeptEntryId="m")
    loaded = load(v3_file(tmp_path / "a", spelled, kept, version=2), lenient=True)
    assert loaded.format == 2
    assert loaded.payload(0)["message"] == {"role": "custom", "content": "m", "n": 1e-05}
    assert "1e-05" in loaded.entries[0].payload
    assert loaded.payload(1)["retainedTail"][0]["role"] == "custom"
    loaded = load(v3_file(tmp_path / "b", hook), lenient=True)
    assert loaded.payload(0)["message"]["role"] == "hookMessage"  # in format 3 it is what it says


# -- the header -------------------------------------------------------------------------------------


def test_a_version_that_is_a_text(tmp_path: Path) -> None:
    loaded = load(v3_file(tmp_path / "a", message("m", None), version="3"), lenient=True)
    assert loaded.format == 3
    assert loaded.mercies() == [(1, TEXTUAL)]


@pytest.mark.parametrize("version", ["three", "", "3.0", "-3", "٣"])
def test_a_version_that_is_another_text_is_refused(tmp_path: Path, version: str) -> None:
    with pytest.raises(CorruptStorageError):
        load(v3_file(tmp_path / "a", message("m", None), version=version), lenient=True)


def test_keys_of_the_header_in_any_order(tmp_path: Path) -> None:
    header = dict(reversed(v3_header().items()))
    loaded = load(write_lines(tmp_path / "a", [header, message("m", None)]), lenient=True)
    assert loaded.mercies() == []


def test_a_byte_order_mark(tmp_path: Path) -> None:
    path = v3_file(tmp_path / "a", message("m", None))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    loaded = load(path, lenient=True)
    assert loaded.mercies() == [(1, MARKED)]
    assert len(loaded.entries) == 1


FOREIGN_LINES: list[Any] = ["$ pi --resume", "", {"type": "note"}, "\ufeff", message("x", None)]


@pytest.mark.parametrize("count", [1, 5])
def test_up_to_five_foreign_lines_before_the_header(tmp_path: Path, count: int) -> None:
    lines = [*FOREIGN_LINES[:count], v3_header(), message("m", None), "broken", message("n", "m")]
    path = write_lines(tmp_path / "a", lines)
    loaded = load(path, lenient=True)
    assert loaded.mercies() == [
        *((line, FOREIGN) for line in range(1, count + 1)),
        (count + 3, SKIPPED),
    ]
    assert loaded.tree() == [(1, None), (2, 1)]
    with pytest.raises(CorruptStorageError) as raised:
        load(path)
    assert raised.value.line == 1


def test_six_foreign_lines_are_too_many(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a", [*FOREIGN_LINES, "sixth", v3_header()])
    with pytest.raises(CorruptStorageError) as raised:
        load(path, lenient=True)
    assert raised.value.line == 1


def test_foreign_lines_before_a_format_4_header(tmp_path: Path) -> None:
    path = v4_file(tmp_path / "a", entry(1, "e"))
    path.write_text("> log\n" + path.read_text())
    loaded = load(path, lenient=True)
    assert loaded.mercies() == [(1, FOREIGN)]
    assert len(loaded.entries) == 1


# -- lines --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "broken",
        '{"type":"message","id":"x","par',
        "7",
        "[1]",
        '{"a":1} trailing',
        '{"a":1}{"b":',
        "[" * 100_000,
    ],
    ids=lambda line: line[:12],
)
def test_an_unreadable_line_is_skipped(tmp_path: Path, line: str) -> None:
    loaded = load(v3_file(tmp_path / "a", message("m", None), line, message("n", "m")), lenient=True)
    assert loaded.mercies() == [(3, SKIPPED)]
    assert loaded.tree() == [(1, None), (2, 1)]


def test_a_line_that_is_not_utf_8_is_skipped(tmp_path: Path) -> None:
    path = v3_file(tmp_path / "a", message("m", None), message("é", "m"))
    path.write_bytes(path.read_bytes().replace("é".encode(), b"\xe9"))
    assert load(path, lenient=True).mercies() == [(3, SKIPPED)]


@pytest.mark.parametrize("between", ["", " ", "\t"])
def test_two_records_welded_on_one_line_are_both_taken(tmp_path: Path, between: str) -> None:
    first = message("é👩‍🚀", "m", n=1)
    kept = record("compaction", "k", "é👩‍🚀", summary="s", tokensBefore=1, firstKeptEntryId="é👩‍🚀")
    welded = between.join([text_of(first), text_of(kept)])
    path = v3_file(tmp_path / "a", message("m", None), welded, message("n", "k"))
    loaded = load(path, lenient=True)
    assert loaded.mercies() == [(3, WELDED)]
    assert loaded.tree() == [(1, None), (2, 1), (3, 2), (4, 3)]
    assert loaded.payload(2)["retainedTail"] == [first["message"]]


@pytest.mark.parametrize("line", ["", "   ", "\t", "\r"], ids=repr)
def test_a_blank_line_is_passed_over(tmp_path: Path, line: str) -> None:
    loaded = load(v3_file(tmp_path / "a", message("m", None), line, message("n", "m")), lenient=True)
    assert loaded.mercies() == [(3, BLANK)]
    assert loaded.tree() == [(1, None), (2, 1)]


@pytest.mark.parametrize("type", ["hologram", None, 7], ids=str)
def test_an_unknown_record_type_is_dropped_so_that_its_children_fold(tmp_path: Path, type: Any) -> None:
    path = v3_file(
        tmp_path / "a", message("m", None), record("x", "h", "m") | {"type": type}, message("n", "h")
    )
    loaded = load(path, lenient=True)
    assert loaded.mercies() == [(3, UNKNOWN)]
    assert loaded.tree() == [(1, None), (2, 1)]


@pytest.mark.parametrize("parent", ["old", "nobody", "later", ..., 7], ids=str)
def test_an_unknown_parent_makes_a_root(tmp_path: Path, parent: Any) -> None:
    record = {
        name: item for name, item in {**message("n", None), "parentId": parent}.items() if item is not ...
    }
    path = v3_file(tmp_path / "a", message("m", None), record, message("later", "n"))
    loaded = load(path, lenient=True)
    assert loaded.mercies() == [(3, ROOTED)]
    assert loaded.tree() == [(1, None), (2, None), (3, 2)]


@pytest.mark.parametrize("kept", ["nobody", None, "aside"], ids=str)
def test_a_compaction_whose_kept_id_is_unknown_gets_an_empty_tail(tmp_path: Path, kept: Any) -> None:
    compaction = record("compaction", "k", "m", summary="s", tokensBefore=1, firstKeptEntryId=kept)
    path = v3_file(tmp_path / "a", message("m", None), message("aside", None), compaction)
    loaded = load(path, lenient=True)
    assert loaded.mercies() == [(4, TAILLESS)]
    assert loaded.payload(2)["retainedTail"] == []


def test_labels_and_summaries_of_records_that_were_skipped(tmp_path: Path) -> None:
    path = v3_file(
        tmp_path / "a",
        "broken",
        message("m", "lost"),
        record("label", "l", "m", targetId="lost", label="x"),
        record("branch_summary", "b", "m", fromId="lost", summary="s"),
    )
    loaded = load(path, lenient=True)
    assert [kind for _, kind in loaded.mercies()] == [
        SKIPPED,
        ROOTED,
        "label of an unknown record taken for one of none",
        "branch summary of an unknown record taken for one of none",
    ]
    assert {value.namespace for value in loaded.values} == {"pi.branch.tip"}
    assert loaded.payload(1)["fromId"] is None


def test_a_record_that_lacks_what_an_entry_needs_is_dropped(tmp_path: Path) -> None:
    broken = record("message", "x", "m", message="hi")
    loaded = load(v3_file(tmp_path / "a", message("m", None), broken, message("n", "x")), lenient=True)
    assert loaded.mercies() == [(3, "unreadable record dropped")]
    assert loaded.tree() == [(1, None), (2, 1)]


def test_the_report_counts_and_names_each_mercy(tmp_path: Path) -> None:
    path = v3_file(tmp_path / "a", "broken", message("m", None), "", "broken too", version="3")
    with open_source(path, lenient=True) as session:
        report = session.report
        list(session.image.records)
        list(session.image.records)
    assert report.counts() == {TEXTUAL: 1, SKIPPED: 2, BLANK: 1}
    assert str(report.mercies[1]).startswith("line 2: unreadable line skipped (")


def test_messages_are_never_changed(tmp_path: Path) -> None:
    spelled = '{"role" : "user","n":[1e-05,1E2],"t":"\\ud83d\\u0000"}'
    line = text_of(message("m", "nobody")).replace(text_of(message("m", None)["message"]), spelled)
    loaded = load(v3_file(tmp_path / "a", line + text_of(message("n", "m"))), lenient=True)
    assert loaded.entries[0].payload == f'{{"message":{spelled}}}'


# -- what is refused all the same ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (message("m", "m"), "used twice"),
        (message("x", "m") | {"id": None}, "id is missing"),
        (message("x", "m") | {"timestamp": "soon"}, "timestamp"),
    ],
    ids=["duplicate id", "no id", "no time"],
)
def test_what_section_5_does_not_name_is_refused(tmp_path: Path, line: Any, problem: str) -> None:
    with pytest.raises(CorruptStorageError, match=problem) as raised:
        load(v3_file(tmp_path / "a", message("m", None), line), lenient=True)
    assert raised.value.line == 3


@pytest.mark.parametrize("content", [b"", b"\0\0\0", b"hello\n", b"{}\n" * 20], ids=repr)
def test_what_cannot_be_read_at_all_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    with pytest.raises(CorruptStorageError, match="header") as raised:
        load(path, lenient=True)
    assert raised.value.path == str(path)


def test_a_future_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedStorageVersionError):
        load(v3_file(tmp_path / "a", version=5), lenient=True)


def test_damage_in_format_4_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorruptStorageError) as raised:
        load(v4_file(tmp_path / "a", entry(1, "e"), "broken"), lenient=True)
    assert raised.value.line == 3


def test_a_pending_message_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SessionStoreError, match="pending"):
        load(v3_file(tmp_path / "a", message("m", None, "assistant", stopReason="pending")), lenient=True)


def test_nothing_changes_on_disk(tmp_path: Path) -> None:
    path = v1_file(tmp_path / "a", "broken", message(None, None), "", end="torn")
    before = path.read_bytes()
    load(path, lenient=True)
    assert path.read_bytes() == before
    assert json.loads(before.split(b"\n")[0])["id"] == "old"
    assert [child.name for child in tmp_path.iterdir()] == ["a"]
