"""list, show, delete, verify and db, as people and scripts use them."""

from __future__ import annotations

import sqlite3
import unicodedata
from pathlib import Path

import pytest

from sessionstore import NewMessageEntry, SessionNotFoundError, insert_entry, open_repository, value
from sessionstore.cli.output import printable


def test_list(run, filled: str) -> None:
    out = run("list", filled).out
    lines = out.split("\n")
    assert len(lines) == 4
    assert {line.split()[0] for line in lines[:2]} == {"plain", "other"}
    assert "/work" in out
    assert "fork of plain" in out
    assert lines[2] == "2 sessions"


def test_list_pages_and_filters(run, filled: str) -> None:
    assert [item["id"] for item in run("list", filled, "--cwd", "/work", "--json").data] == ["plain"]
    assert len(run("list", filled, "--limit", "1", "--json").data) == 1


def test_list_for_machines(run, filled: str) -> None:
    by_id = {item["id"]: item for item in run("list", filled, "--json").data}
    assert by_id["plain"]["cwd"] == "/work"
    assert by_id["other"]["parentSessionId"] == "plain"
    assert by_id["other"]["createdAt"] > 1_600_000_000_000


def test_list_of_nothing_makes_nothing(run, url: str, tmp_path: Path) -> None:
    assert run("list", url).out == "0 sessions\n"
    assert list(tmp_path.iterdir()) == []


def test_a_path_of_an_existing_file_is_a_store_too(run, filled: str, tmp_path: Path) -> None:
    assert run("list", tmp_path / "sessions.db").out == run("list", filled).out
    assert "is a folder: write jsonl:" in run("list", tmp_path, code=2).err


def test_show_draws_the_tree_with_its_branches(run, filled: str) -> None:
    out = run("show", filled, "plain").out
    lines = out.split("\n")
    assert lines[0] == "session plain"
    assert "<- empty (empty)" in lines[1]
    assert "user [start]  hello [red]you[/red]" in lines[2]
    assert "custom note <- side" in lines[3]
    assert lines[3].startswith("│   └── ")  # it diverges from the first entry; main goes straight on
    assert "assistant <- main" in lines[4]
    assert lines[4].startswith("└── ")
    assert 'read({"path":"x"})' in lines[4]


def test_show_tells_values_lists_and_statistics(run, filled: str) -> None:
    out = run("show", filled, "plain").out
    assert "app.state/k = " in out
    assert "scope op: app.frames/r: 2 elements, #" in out
    assert "1 tagged" in out
    assert "statistics: 2 messages, 1 usage row" in out
    assert "tokens: 15 (input 10, output 5, cache read 0, cache write 0)" in out
    assert "cost:   0.3" in out
    assert "x" * 300 not in out
    assert "x" * 300 in run("show", filled, "plain", "--full").out


def test_show_gives_the_ids_of_entries_when_asked(run, filled: str) -> None:
    entry_ids = [entry["id"] for entry in run("show", filled, "plain", "--json").data["entries"]]
    assert len(entry_ids) == 3
    shown = run("show", filled, "plain", "--ids").out.partition("created")[0]
    assert all(id in shown for id in entry_ids)
    assert not any(id in run("show", filled, "plain").out.partition("created")[0] for id in entry_ids)


def test_show_for_machines(run, filled: str) -> None:
    data = run("show", filled, "plain", "--json").data
    assert data["metadata"]["id"] == "plain"
    assert [entry["type"] for entry in data["entries"]] == ["message", "message", "custom"]
    assert data["stats"]["usage"]["cost"]["total"] == 0.3
    assert {"scopeId": "op", "namespace": "app.frames", "key": "r"}.items() <= data["lists"][0].items()
    assert data["lists"][0]["tag"] == "full"
    state = next(found for found in data["values"] if found["namespace"] == "app.state")
    assert state["value"]["half"] == "\ud83d"
    assert data["nextSeq"] > data["lists"][-1]["seq"]


@pytest.mark.parametrize("options", [(), ("--full",), ("--json",)])
def test_nothing_that_drives_a_terminal_is_printed(run, filled: str, options: tuple[str, ...]) -> None:
    out = run("show", filled, "plain", *options).out
    bad = [char for char in out if char != "\n" and unicodedata.category(char) in {"Cc", "Cf", "Cs"}]
    assert bad == []
    if "--json" not in options:
        assert "\\x1b]0;title\\x07\\x9b31m\\u202ehi" in out


def test_printable_escapes_what_drives_a_terminal_and_nothing_else() -> None:
    plain = "naïve, 名前 🎈 👩\u200d💻 \\n"
    assert printable(plain) == plain
    bad = "\x00\x07\x1b\x7f\x85\x9b\u061c\u200e\u2028\u202e\u2066\ufeff\ud800\U000e0041"
    assert not set(printable(bad)) & set(bad)
    assert printable("a\nb\tc\rd") == "a\\nb\\tc\\rd"
    assert printable("a\nb", keep="\n") == "a\nb"


def test_show_of_a_long_conversation_is_flat(run, url: str) -> None:
    with open_repository(url) as repo, repo.create(id="long") as session:
        ids = [f"e{index}" for index in range(1200)]
        session.commit(
            [
                insert_entry(NewMessageEntry(id, parent, {"role": "user", "content": id}))
                for parent, id in zip([None, *ids], ids, strict=False)
            ]
        )
    lines = run("show", url, "long").out.split("\n")
    assert sum(line.startswith("├── #") for line in lines) == 1199


def test_delete(run, filled: str) -> None:
    assert run("delete", filled, "other").out == "deleted other\n"
    assert run("delete", filled, "other", code=1).err.startswith("sessionstore: no session 'other' in ")
    assert [item["id"] for item in run("list", filled, "--json").data] == ["plain"]


def test_a_working_directory_chooses(run, filled: str) -> None:
    assert (
        "no session 'plain' of the working directory '/x'"
        in run("delete", filled, "plain", "--cwd", "/x", code=1).err
    )
    run("show", filled, "plain", "--cwd", "/work")
    run("delete", filled, "plain", "--cwd", "/work")
    with open_repository(filled) as repo, pytest.raises(SessionNotFoundError):
        repo.get("plain")


def test_verify(run, filled: str) -> None:
    out = run("verify", filled).out
    assert "plain: ok (" in out
    assert "2 sessions" in out
    assert run("verify", filled, "--json").data["ok"] is True


def test_verify_finds_damage(run, filled: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        database.execute("UPDATE scalar_values SET value = 'x' WHERE namespace = 'app.state'")
        database.execute("UPDATE sessions SET message_count = 9 WHERE id = 'plain'")
    database.close()
    ran = run("verify", filled, code=1)
    assert "plain: value 'app.state' key 'k': the stored text is not JSON" in ran.out
    assert "plain: the statistics count 9 messages, there are 2" in ran.out
    assert ran.err == "sessionstore: 2 problems found\n"
    found = run("verify", filled, "--json", code=1).data
    assert found["ok"] is False
    assert [len(verdict["problems"]) for verdict in found["verdicts"] if verdict["problems"]] == [2]


def test_verify_of_two_stores(run, filled: str, tmp_path: Path) -> None:
    twin = f"sqlite:///{tmp_path}/twin.db"
    run("copy", filled, twin)
    assert run("verify", filled, twin).out == "other: ok\nplain: ok\n2 sessions\n"
    with open_repository(twin) as repo, repo.open("plain") as session:
        session.set_value(value("app.state", "k"), 1)
    ran = run("verify", filled, twin, code=1)
    assert "plain: next_seq differs" in ran.out
    assert "plain: the value with number" in ran.out
    assert "other: ok" in ran.out
    assert "--repair goes with one store" in run("verify", filled, twin, "--repair", code=2).err


def test_db_commands(run, url: str, filled: str, tmp_path: Path) -> None:
    assert run("db", "current", filled).out == f"{url}: 0001\n"
    assert run("db", "check", filled).out == f"{url}: the schema of this release\n"
    fresh = f"sqlite:///{tmp_path}/fresh.db"
    assert "fresh.db" in run("db", "current", fresh, code=1).err
    assert run("db", "upgrade", fresh).out == f"{fresh}: at revision 0001\n"
    assert run("db", "check", tmp_path / "fresh.db", "--json").data == {fresh: []}


def test_db_check_finds_a_difference(run, filled: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        database.execute("ALTER TABLE usage_ledger ADD COLUMN note TEXT")
    database.close()
    ran = run("db", "check", filled, code=1)
    assert "note" in ran.out
    assert ran.err == "sessionstore: 1 difference found\n"
    assert run("verify", filled, code=1).out.startswith("store: ")


def test_another_revision_is_refused_with_the_command_to_run(run, filled: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '0000'")
    database.close()
    for command in (("list",), ("verify",), ("delete", "plain")):
        assert "sessionstore db upgrade" in run(command[0], filled, *command[1:], code=1).err


def test_repair_rebuilds_the_branch_index_and_the_statistics(run, filled: str, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "sessions.db") as database:
        database.execute("UPDATE entries SET depth = depth + 7 WHERE session_id = 'plain' AND seq > 4")
        database.execute("UPDATE sessions SET message_count = 9 WHERE id = 'plain'")
    database.close()
    broken = run("verify", filled, code=1).out
    assert "plain: entry " in broken
    assert "the branch index says" in broken
    assert "other: ok" in broken
    mended = run("verify", filled, "--repair").out
    assert "plain: repaired: rebuilt the branch index" in mended
    assert "plain: repaired: rebuilt the statistics" in mended
    assert "repaired" not in run("verify", filled, "--repair").out


def test_db_commands_on_a_folder_of_files(run, tmp_path: Path) -> None:
    url = f"sqlite+dir:{tmp_path}/sessions"
    with open_repository(url) as repo:
        repo.create(id="a").close()
        repo.create(id="b").close()
    assert [line.rpartition(": ")[2] for line in run("db", "current", url).out.split("\n")[:-1]] == [
        "0001"
    ] * 2
    assert len(run("db", "check", url, "--json").data) == 2


@pytest.mark.parametrize("url", ["memory://", "jsonl:x"])
def test_db_commands_need_a_database(run, url: str) -> None:
    assert "there is no schema" in run("db", "current", url, code=2).err


def test_repair_sets_lines_of_files_aside(run, tmp_path: Path) -> None:
    url = f"jsonl:{tmp_path}/files"
    with open_repository(url) as repo, repo.create(id="s") as session:
        session.set_value(value("app", "k"), 1)
        path = Path(session.metadata.path or "")
    with path.open("ab") as file:
        file.write(b"broken \x1b[31m\n")
    ran = run("verify", url, code=1)
    assert f"s: {path}: line 3: " in ran.out
    assert ran.err == "sessionstore: 1 problem found\n"
    [first, second, _] = run("verify", url, "--repair").out.splitlines()
    assert first.startswith(f"s: repaired: set aside line 3 of {path} (13 bytes): ")
    assert second == "s: ok (1 record)"
    assert run("verify", url, "--repair").out.splitlines()[0] == "s: ok (1 record)"
