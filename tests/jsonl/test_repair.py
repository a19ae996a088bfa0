"""Damage of files is found and set aside; nothing is deleted, and what can be read is as before."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from faults import die_at_each_call
from hypothesis import given, settings
from jsonl.support import (
    append_line,
    entry,
    read_image,
    retire_line,
    set_line,
    sidecar,
    stored,
    text_of,
    usage_line,
    v4_file,
    v4_header,
)
from jsonl.test_hostile import CHANGES, changed

from sessionstore import (
    CorruptStorageError,
    SessionStoreError,
    UnsupportedStorageVersionError,
    ephemeral_scope,
    value,
)
from sessionstore.jsonl import JsonlSessionRepo
from sessionstore.jsonl.paths import file_name, folder_name
from sessionstore.transfer import Verdict, verify_store

TIP = {"namespace": "pi.branch.tip", "key": "main"}
MAIN: list[Any] = [
    entry(1, "a"),
    [entry(2, "b", "a"), set_line(3, "b", **TIP)],
    set_line(4, {"n": 1}, key="k"),
    usage_line(5, "u"),
    append_line(6, "first", key="l"),
    [entry(7, "c", "b"), set_line(8, "c", **TIP)],
    set_line(20, "last", key="z"),
]
"""Lines 2 to 8 of the main file."""

SCOPED: list[Any] = [
    set_line(9, "s", scopeId="op"),
    append_line(10, "t", scopeId="op"),
    set_line(11, "u", key="k", scopeId="op"),
]
"""Lines 2 to 4 of a sidecar."""


@pytest.fixture
def repo(tmp_path: Path) -> Iterator[JsonlSessionRepo]:
    with JsonlSessionRepo(tmp_path) as repo:
        yield repo


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return place(tmp_path)


def place(root: Path) -> Path:
    folder = root / folder_name("/srv")
    folder.mkdir()
    return folder / file_name(1760000000000, "s")


def aside(path: Path) -> Path:
    return path.with_name(path.name + ".set-aside")


def verify(repo: JsonlSessionRepo, *, repair: bool = False) -> Verdict:
    _, verdict = verify_store(repo, repair=repair)
    return verdict


def seqs(repo: JsonlSessionRepo) -> list[int]:
    """The number of every record that can be read."""
    with repo.snapshot("s") as image:
        loaded = read_image(image)
    every = [*loaded.entries, *loaded.usage_rows, *loaded.values, *loaded.elements]
    return sorted(record.seq for record in every)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def next_seq(repo: JsonlSessionRepo) -> int:
    with repo.open("s") as session:
        return session.storage.next_seq()


BROKEN: dict[str, tuple[Any, set[int]]] = {
    "not JSON": ("{broken", set()),
    "cut short": (text_of(MAIN[2])[:-9], set()),
    "empty": ("", set()),
    "zeros": ("\0" * 40, set()),
    "not a record": ("7", set()),
    "an unknown kind": ({"kind": "note", "seq": 4}, set()),
    "an unknown op": ({**MAIN[2], "op": "put"}, set()),
    "no number": ({**MAIN[2], "seq": None}, set()),
    "a number that goes back": ({**MAIN[2], "seq": 2}, set()),
    "a number that is far too high": ({**MAIN[2], "seq": 500}, set()),
    "numbers that go back within the line": ([set_line(5, 1), set_line(4, 1)], set()),
    "a record of a scope": (set_line(4, 1, scopeId="op"), set()),
    "an id that was used": (entry(4, "a"), set()),
    "a parent that is missing": (entry(4, "x", "nobody"), set()),
    "a row that is none": (usage_line(4, "x", {"input": "many"}), set()),
    "a row whose id was used": (usage_line(4, "a"), set()),
    "a transaction of which one record is damaged": ([set_line(4, 1), {"kind": "note", "seq": 5}], set()),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_damaged_line_is_found_and_set_aside(repo: JsonlSessionRepo, path: Path, kind: str) -> None:
    line = BROKEN[kind][0]
    v4_file(path, *MAIN[:2], line, *MAIN[3:])
    before = path.read_bytes()
    with pytest.raises(CorruptStorageError):
        repo.open("s")
    assert any(problem.startswith(f"{path}: line 4: ") for problem in verify(repo).problems)
    assert path.read_bytes() == before
    verdict = verify(repo, repair=True)
    size = len(text_of(line).encode()) + 1
    assert verdict.problems == []
    assert verdict.repairs[0].startswith(f"set aside line 4 of {path} ({size} bytes): ")
    assert seqs(repo) == [1, 2, 5, 6, 7, 8, 20]
    told, *lines = aside(path).read_bytes().splitlines()
    assert json.loads(told)["lines"][0][:2] == [4, size - 1]
    assert lines == [text_of(line).encode()]
    head, *kept = path.read_bytes().splitlines()
    assert kept == [line for at, line in enumerate(before.splitlines()[1:]) if at != 2]
    assert json.loads(head) == {**v4_header(), "nextSeq": 501 if "too high" in kind else 21}
    assert verify(repo, repair=True).repairs == []
    assert next_seq(repo) == (501 if "too high" in kind else 21)


def test_bytes_that_are_no_text_are_set_aside_as_they_are(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, *MAIN[:2], "@", *MAIN[3:])
    path.write_bytes(path.read_bytes().replace(b"@", b"\xff\xfe\r\x85"))
    assert verify(repo, repair=True).problems == []
    assert aside(path).read_bytes().endswith(b"\n\xff\xfe\r\x85\n")


def test_what_hangs_below_a_lost_entry_is_lost_with_it_and_nothing_else(
    repo: JsonlSessionRepo, path: Path
) -> None:
    v4_file(path, *MAIN[:1], "broken", *MAIN[2:], entry(21, "d", "a"))
    verdict = verify(repo, repair=True)
    first, second = verdict.repairs[:2]
    assert first.startswith("set aside line 3 of ")
    assert second.startswith("set aside line 7 of ")
    assert "the parent 'b' of entry 'c' is missing" in second
    assert verdict.repairs[2:] == ["entries and ledger rows in these lines: 'c'"]
    assert seqs(repo) == [1, 4, 5, 6, 20, 21]
    told, *lines = aside(path).read_bytes().splitlines()
    assert [line[0] for line in json.loads(told)["lines"]] == [3, 7]
    assert lines == [b"broken", text_of(MAIN[5]).encode()]


def test_a_branch_that_stands_at_a_lost_entry_is_told(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(
        path, entry(1, "a"), "broken", set_line(3, "b", **TIP), set_line(4, "a", TIP["namespace"], "other")
    )
    repairs = verify(repo, repair=True).repairs
    assert repairs[1:] == ["the branch 'main' stands at the entry 'b', which is not there any more"]


def test_lines_that_follow_each_other_are_told_together(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, MAIN[0], "one", "two", *MAIN[2:5])
    [told] = verify(repo, repair=True).repairs
    assert told.startswith(f"set aside lines 3 to 4 of {path} (8 bytes): ")


def test_a_number_that_was_damaged_costs_its_line_alone(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, set_line(900, 0, key="x"), *[set_line(seq, 0) for seq in range(2, 30)])
    assert len(verify(repo, repair=True).repairs) == 1
    assert next_seq(repo) == 901  # it may have been right


@pytest.mark.parametrize("line", ["x" * 4000, text_of(set_line(70, 1))[:-1], '{"seq":70'])
def test_numbers_of_a_last_line_that_is_lost_are_not_used_again(
    repo: JsonlSessionRepo, path: Path, line: str
) -> None:
    v4_file(path, *MAIN, line)
    assert verify(repo, repair=True).problems == []
    assert next_seq(repo) > (70 if "seq" in line else 20 + 4000 // 100)


def test_a_number_that_a_lost_line_says_is_not_used_again_wherever_it_stands(
    repo: JsonlSessionRepo, path: Path
) -> None:
    v4_file(path, *MAIN[:2], '{"kind":"value","seq":70,"op":', *MAIN[3:])
    assert verify(repo, repair=True).problems == []
    assert next_seq(repo) == 71


def test_the_mark_and_fields_of_other_tools_in_a_header_stay(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, *MAIN[:1], "broken", nextSeq=77, theirs={"a": [1]})
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    verify(repo, repair=True)
    assert path.read_bytes().startswith(b"\xef\xbb\xbf{")
    assert json.loads(path.read_bytes().splitlines()[0].decode("utf-8-sig")) == v4_header(
        nextSeq=77, theirs={"a": [1]}
    )


def test_a_second_repair_adds_to_what_was_set_aside(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, *MAIN[:1], "broken")
    verify(repo, repair=True)
    first = aside(path).read_bytes()
    with path.open("ab") as file:
        file.write(b"again\n")
    verify(repo, repair=True)
    assert aside(path).read_bytes().startswith(first)
    assert aside(path).read_bytes().endswith(b"\nagain\n")


def test_who_may_read_a_file_may_read_what_comes_of_it_and_nobody_else(
    repo: JsonlSessionRepo, path: Path
) -> None:
    v4_file(path, *MAIN[:1], "broken").chmod(0o600)
    verify(repo, repair=True)
    assert [file.stat().st_mode & 0o777 for file in (path, aside(path))] == [0o600, 0o600]


def test_what_was_set_aside_is_deleted_with_the_session(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, *MAIN[:1], "broken", set_line(2, 1))
    sidecar(path, "op", *SCOPED[:1], "broken")
    assert len(repo.repair_session("s")) == 2
    repo.delete("s")
    assert list(path.parents[1].iterdir()) == []


# -- what cannot be repaired ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    ["broken", text_of(v4_header(storageVersion=2)), text_of(v4_header(v=5)), ""],
)
def test_a_header_that_cannot_be_read_is_told_and_left_alone(
    repo: JsonlSessionRepo, path: Path, header: str
) -> None:
    path.write_bytes(header.encode() + b"\n" + text_of(MAIN[0]).encode() + b"\nbroken\n")
    before = contents(path.parent)
    [container] = verify_store(repo, repair=True)
    assert len(container.problems) == 1
    with pytest.raises((CorruptStorageError, UnsupportedStorageVersionError)):
        repo.repair_session("s")
    assert contents(path.parent) == before


@pytest.mark.parametrize(
    "line", ["broken", '[{"kind":"scope","op":"retire","seq":12,"scopeId":"op"},{"kind":"?"}]']
)
@pytest.mark.parametrize("last", [False, True])
def test_a_line_that_may_have_retired_a_live_scope_stays(
    repo: JsonlSessionRepo, path: Path, line: str, last: bool
) -> None:
    v4_file(path, *MAIN[:6], line, *([] if last else MAIN[6:]))
    side = sidecar(path, "op", *SCOPED)
    before = contents(path.parent)
    verdict = verify(repo, repair=True)
    assert "line 8: this line may have retired the scope 'op'" in verdict.problems[-1]
    assert verdict.repairs == []
    assert contents(path.parent) == before
    moved = path.with_name("away")
    side.rename(moved)  # the scope has ended, says who knows
    assert verify(repo, repair=True).problems == []
    if not last:
        moved.rename(side)  # or it has not
        assert seqs(repo) == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 20]


@pytest.mark.parametrize("at", [1, 2])
def test_a_line_that_cannot_have_retired_a_scope_is_set_aside(
    repo: JsonlSessionRepo, path: Path, at: int
) -> None:
    """Where its number lies below everything in the scope, or the numbers around it leave no room."""
    lines = [set_line(3, 1), set_line(8, 1), set_line(20, 1), set_line(21, 1)]
    lines.insert({1: 1, 2: 3}[at], "broken")
    v4_file(path, *lines)
    side = sidecar(path, "op", *SCOPED)
    before = side.read_bytes()
    assert verify(repo, repair=True).problems == []
    assert side.read_bytes() == before
    with repo.open("s") as session:
        assert stored(session, value("app", scope=ephemeral_scope("op"))) == "s"


def test_a_readable_retirement_in_a_lost_line_stays(repo: JsonlSessionRepo, path: Path) -> None:
    lost = [entry(12, "x", "nobody"), retire_line(13, "op"), set_line(14, 1, key="k")]
    v4_file(path, *MAIN[:6], lost, *MAIN[6:])
    sidecar(path, "op", *SCOPED)
    repairs = verify(repo, repair=True).repairs
    assert repairs[1] == "kept the retirement of the scope 'op' that stood in line 8"
    assert path.read_bytes().splitlines()[7] == text_of(retire_line(13, "op")).encode()
    assert aside(path).read_bytes().endswith(text_of(lost).encode() + b"\n")
    assert seqs(repo) == [1, 2, 4, 5, 6, 7, 8, 20]
    with repo.open("s") as session:
        assert stored(session, value("app", scope=ephemeral_scope("op"))) is None
        assert session.set_value(value("app", scope=ephemeral_scope("op")), 1).seqs == (21,)


def test_a_retirement_whose_number_does_not_fit_stays_while_it_counts(
    repo: JsonlSessionRepo, path: Path
) -> None:
    v4_file(path, *MAIN, retire_line(15, "op"))
    side = sidecar(path, "op", *SCOPED)
    before = path.read_bytes()
    assert "may have retired the scope 'op'" in verify(repo, repair=True).problems[-1]
    assert path.read_bytes() == before
    side.rename(side.with_name("scope-other.scope"))
    side.with_name("scope-other.scope").unlink()
    sidecar(path, "other", set_line(9, 1, scopeId="other"))
    assert verify(repo, repair=True).problems == []


# -- sidecars ------------------------------------------------------------------------------------

BROKEN_SCOPED: dict[str, tuple[Any, list[int]]] = {
    "not JSON": ("{broken", [9, 11]),
    "a number that goes back": (set_line(7, 1, scopeId="op"), [9, 11]),
    "another scope's record": (set_line(10, 1, scopeId="other"), [9, 11]),
    "a record of session scope": (set_line(10, 1), [9, 11]),
    "an entry": (entry(10, "x"), [9, 11]),
    "a retirement": (retire_line(10, "op"), [9, 11]),
    "a transaction around one of the main file": (
        [set_line(10, 1, scopeId="op"), set_line(21, 1, scopeId="op")],
        [9, 11],
    ),
}


@pytest.mark.parametrize("kind", BROKEN_SCOPED)
def test_a_damaged_line_of_a_sidecar_is_found_and_set_aside(
    repo: JsonlSessionRepo, path: Path, kind: str
) -> None:
    line, expected = BROKEN_SCOPED[kind]
    v4_file(path, *MAIN)
    lines = [SCOPED[0], line, SCOPED[2]]
    if "around" in kind:
        lines = [SCOPED[0], SCOPED[2], line]
    side = sidecar(path, "op", *lines)
    with pytest.raises(CorruptStorageError):
        repo.open("s")
    assert verify(repo).problems
    verdict = verify(repo, repair=True)
    assert verdict.problems == []
    assert len(verdict.repairs) == 1
    assert seqs(repo) == [1, 2, 4, 5, 6, 7, 8, *expected, 20]
    assert aside(side).read_bytes().endswith(b"\n" + text_of(line).encode() + b"\n")
    assert verify(repo, repair=True).repairs == []
    assert next_seq(repo) == (22 if "around" in kind else 21)


def test_numbers_of_a_sidecar_that_were_lost_are_not_used_again(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, *MAIN[:3])
    sidecar(path, "op", *SCOPED, text_of(set_line(12, 1, scopeId="op"))[:-1])
    verify(repo, repair=True)
    assert next_seq(repo) > 12


@pytest.mark.parametrize("header", ["broken", ""])
def test_a_sidecar_gets_its_header_back(repo: JsonlSessionRepo, path: Path, header: str) -> None:
    v4_file(path, *MAIN)
    side = sidecar(path, "op", *SCOPED)
    whole = side.read_bytes()
    side.write_bytes(header.encode() + b"\n" + whole.split(b"\n", 1)[1])
    verdict = verify(repo, repair=True)
    assert verdict.problems == []
    assert len(verdict.repairs) == 1
    assert json.loads(side.read_bytes().splitlines()[0]) == json.loads(whole.splitlines()[0])
    assert side.read_bytes().splitlines()[1:] == whole.splitlines()[1:]


@pytest.mark.parametrize("change", [{"sessionId": "other"}, {"scopeId": "other"}])
@pytest.mark.parametrize("dead", [False, True])
def test_a_sidecar_of_somebody_else_is_set_aside_whole(
    repo: JsonlSessionRepo, path: Path, change: dict[str, str], dead: bool
) -> None:
    v4_file(path, *MAIN, *([retire_line(21, "op")] if dead else []))
    side = sidecar(path, "op", *SCOPED, **change)
    whole = side.read_bytes()
    assert verify(repo).problems
    verdict = verify(repo, repair=True)
    assert verdict.problems == []
    assert verdict.repairs[0].startswith(f"set aside all of {side} ({len(whole)} bytes): ")
    assert not side.exists()
    assert whole in aside(side).read_bytes()
    assert seqs(repo) == [1, 2, 4, 5, 6, 7, 8, 20]


def test_numbers_of_a_sidecar_that_is_set_aside_whole_are_not_used_again(
    repo: JsonlSessionRepo, path: Path
) -> None:
    """Damage in its header can make a sidecar of the session look like somebody else's."""
    v4_file(path, *MAIN[:3])
    sidecar(path, "op", *SCOPED, sessionId="other")
    verify(repo, repair=True)
    assert next_seq(repo) == 12


def test_sidecars_stay_where_the_header_of_the_main_file_is_what_is_damaged(
    repo: JsonlSessionRepo, path: Path
) -> None:
    v4_file(path, *MAIN, id="t")
    sidecar(path, "op", *SCOPED)
    before = contents(path.parent)
    verdict = verify(repo, repair=True)
    assert verdict.repairs == []
    assert f"{path}: line 1: this header names the session 't'" in verdict.problems[-1]
    assert contents(path.parent) == before
    v4_file(path, *MAIN)  # as it was
    assert verify(repo, repair=True).problems == []
    assert seqs(repo) == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 20]


@pytest.mark.parametrize("content", [b"", b"\0" * 64, b"torn"])
def test_a_sidecar_with_nothing_in_it_is_set_aside_whole(
    repo: JsonlSessionRepo, path: Path, content: bytes
) -> None:
    v4_file(path, *MAIN)
    side = sidecar(path, "op")
    side.write_bytes(content)
    assert verify(repo).problems
    assert verify(repo, repair=True).problems == []
    assert not side.exists()
    assert content in aside(side).read_bytes()


def test_of_two_sidecars_with_one_number_the_second_gives_way(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, *MAIN)
    sidecar(path, "op", *SCOPED)
    sidecar(path, "other", set_line(10, "x", scopeId="other"), set_line(12, "y", scopeId="other"))
    assert verify(repo).problems
    assert verify(repo, repair=True).problems == []
    assert seqs(repo) == [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20]


def test_damage_that_lies_below_a_retirement_is_none(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, *MAIN, retire_line(21, "op"))
    side = sidecar(path, "op", SCOPED[0], "broken", SCOPED[2], set_line(22, "new", scopeId="op"))
    before = side.read_bytes()
    assert verify(repo, repair=True).repairs == []
    assert side.read_bytes() == before


def test_a_lost_line_proves_nothing_of_the_one_before_it(repo: JsonlSessionRepo, path: Path) -> None:
    v4_file(path, *MAIN, retire_line(21, "op"))
    sidecar(path, "op", "broken", entry(9, "x"), set_line(22, "new", scopeId="op"))
    verdict = verify(repo, repair=True)
    assert verdict.problems == []
    assert seqs(repo)[-1] == 22


def test_a_live_scope_is_never_a_problem(repo: JsonlSessionRepo, path: Path) -> None:
    """Whatever became of the operation that began it."""
    v4_file(path, *MAIN)
    side = sidecar(path, "op-that-nobody-knows", set_line(9, 1, scopeId="op-that-nobody-knows"))
    before = side.read_bytes()
    assert verify(repo, repair=True) == Verdict("s", "/srv", 9, [], [])
    assert side.read_bytes() == before


# -- what is no damage ---------------------------------------------------------------------------


@pytest.mark.parametrize("format", [3, 4])
def test_what_a_stopped_writer_leaves_is_no_damage(repo: JsonlSessionRepo, path: Path, format: int) -> None:
    if format == 4:
        v4_file(path, *MAIN, retire_line(21, "dead"), text_of(set_line(22, 1))[:-4], end="")
        sidecar(path, "op", *SCOPED, '{"kind":"val', end="")
        sidecar(path, "dead", set_line(10, 1, scopeId="dead"))
    else:
        header = {
            "type": "session",
            "version": 3,
            "id": "s",
            "timestamp": "2025-10-09T08:53:20.000Z",
            "cwd": "/srv",
        }
        path.write_text(text_of(header) + '\n{"type":"mess')
    if format == 4:
        (path.parent / f"{path.name}.scopes" / "scope-x.scope.tmp").write_text("half")
    before = contents(path.parent)
    verdict = verify(repo)
    assert (verdict.problems, verdict.repairs) == ([], [])
    assert contents(path.parent) == before


# -- crashes -------------------------------------------------------------------------------------


def damaged(root: Path) -> Path:
    path = v4_file(place(root), *MAIN[:2], "broken", *MAIN[3:], "last")
    sidecar(path, "late", set_line(1000, 1, scopeId="late"), "broken", set_line(1002, 2, scopeId="late"))
    # Above every number that a lost line can have had, were the main file to go on there:
    with path.open("ab") as file:
        file.write(text_of(set_line(900, "end", key="e")).encode() + b"\n")
    sidecar(path, "theirs", set_line(1001, 1, scopeId="theirs"), sessionId="other")
    return path


def test_a_repair_that_is_killed_leaves_each_file_old_or_new(tmp_path: Path) -> None:
    with JsonlSessionRepo(tmp_path / "whole") as repo:
        done = damaged(root_in(tmp_path, "whole"))
        old = contents(done.parent)
        repo.repair_session("s")
        new = contents(done.parent)
        aside = {name: data for name, data in new.items() if name.endswith(".set-aside")}
        expected = seqs(repo)
    root = tmp_path / "r"

    def repair() -> None:
        with JsonlSessionRepo(root) as repo:
            repo.repair_session("s")

    def begin() -> None:
        shutil.rmtree(root, ignore_errors=True)
        damaged(root_in(tmp_path, "r"))

    begin()
    deaths = 0
    for deaths in die_at_each_call(repair):  # noqa: B007 - counted
        [folder] = root.iterdir()
        found = contents(folder)
        for name, data in old.items():
            assert found.get(name) in (data, new.get(name)), name
        with JsonlSessionRepo(root) as repo:
            assert verify(repo, repair=True).problems == []
            assert seqs(repo) == expected
            assert next_seq(repo) == 1003
        found = contents(folder)
        assert {name: data for name, data in found.items() if name.endswith(".set-aside")} == aside
        kept = b"".join(found.values())
        assert all(line in kept for data in old.values() for line in data.splitlines()[1:])
        begin()
    assert deaths > 20


def root_in(folder: Path, name: str) -> Path:
    (folder / name).mkdir()
    return folder / name


# -- at random -----------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(CHANGES)
def test_whatever_the_damage_a_repair_keeps_every_line(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[int, int, bytes]]
) -> None:
    root = tmp_path_factory.mktemp("random")
    path = v4_file(place(root), *MAIN[:6], retire_line(18, "dead"), *MAIN[6:])
    side = sidecar(path, "op", *SCOPED)
    for file in (path, side):
        file.write_bytes(changed(file.read_bytes(), changes))
        repaired_once(root, path)
    shutil.rmtree(root)


def repaired_once(root: Path, path: Path) -> None:
    before = contents(path.parent)
    with JsonlSessionRepo(root) as repo:
        try:
            done = repo.repair_session("s")
        except SessionStoreError:
            assert contents(path.parent) == before
            return
        repo.open("s").close()
        assert repo.check_session("s") == []
        after = b"\n".join(contents(path.parent).values()).split(b"\n")
        if done:
            for name, data in before.items():
                if not name.endswith(".set-aside"):
                    complete = data.split(b"\n")[1:-1]
                    assert not [line for line in complete if line not in after], name
