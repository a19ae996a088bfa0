"""import, copy and fork, as people and scripts use them."""

from __future__ import annotations

from pathlib import Path

from sessionstore import ephemeral_scope, open_repository, value_list
from sessionstore.builtin import lane_config, lane_state

VECTORS = Path(__file__).parents[1] / "vectors"


def test_import_tells_one_line_a_file_and_a_summary(run, url: str) -> None:
    ran = run("import", VECTORS / "v4", VECTORS / "v3" / "bad-middle.jsonl", "--to", url, code=1)
    lines = ran.out.split("\n")
    assert lines[0] == f"{VECTORS}/v4/everything.jsonl: imported everything (8 entries)"
    assert lines[3].startswith(f"{VECTORS}/v3/bad-middle.jsonl: refused: line 2: ")
    assert lines[4] == "4 files, 3 sessions with 22 entries imported, 0 already there, 1 refused"
    assert lines[5].startswith(f"  skipped {VECTORS}/v3/bad-middle.jsonl: line 2: ")
    assert ran.err == "sessionstore: 1 file was not imported\n"


def test_a_second_import_says_so_and_changes_nothing(run, url: str, tmp_path: Path) -> None:
    run("import", VECTORS / "v4", "--to", url)
    before = (tmp_path / "sessions.db").read_bytes()
    out = run("import", VECTORS / "v4", "--to", url).out
    assert out.count(": already there: ") == 3
    assert "3 files, 0 sessions with 0 entries imported, 3 already there, 0 refused" in out
    assert (tmp_path / "sessions.db").read_bytes() == before


def test_import_for_machines(run, url: str) -> None:
    found = run("import", VECTORS / "v3" / "text.jsonl", "--to", url, "--json").data
    assert (found["sessions"], found["entries"], found["refused"]) == (1, 2, 0)
    assert found["files"][0]["status"] == "imported"
    assert found["files"][0]["format"] == 3


def test_lenient_import_names_every_mercy(run, url: str, tmp_path: Path) -> None:
    file = tmp_path / "torn.jsonl"
    text = (VECTORS / "v3" / "bad-middle.jsonl").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    out = run("import", file, "--to", url, "--lenient").out
    assert "  forgiven: line 2: " in out
    assert "2 things forgiven" in out  # the line, and the parent that its child names
    assert run("verify", url).code == 0


def test_export_and_import_give_the_same_session(run, filled: str, tmp_path: Path) -> None:
    file = tmp_path / "plain.jsonl"
    assert run("export", filled, "plain", "--to", file).out.startswith(f"{file}: exported plain (")
    assert (tmp_path / "plain.jsonl.scopes" / "scope-op.scope").is_file()
    assert "exists already" in run("export", filled, "plain", "--to", file, code=1).err
    twin = f"sqlite:///{tmp_path}/twin.db"
    run("import", file, "--to", twin)
    run("delete", filled, "other")
    run("verify", filled, twin)
    found = run("export", filled, "plain", "--to", tmp_path / "again.jsonl", "--json").data
    assert found["scopes"] == f"{tmp_path}/again.jsonl.scopes"
    assert (tmp_path / "again.jsonl").read_bytes() == file.read_bytes()
    assert "no session 'other'" in run("export", filled, "other", "--to", tmp_path / "x", code=1).err


def test_copy_between_kinds_of_stores_keeps_everything(run, filled: str, tmp_path: Path) -> None:
    folder = f"sqlite+dir:{tmp_path}/folder"
    out = run("copy", filled, folder).out
    assert "plain: copied (" in out
    assert "2 sessions copied" in out
    run("verify", filled, folder)
    with open_repository(folder) as repo, repo.open("plain") as session:
        page = session.read_list(value_list("app.frames", "r", scope=ephemeral_scope("op")))
        assert [(element.value, element.tag) for element in page] == [("A", "full"), ("B", None)]


def test_copy_of_some_sessions_and_of_what_is_there(run, filled: str, tmp_path: Path) -> None:
    twin = f"sqlite:///{tmp_path}/twin.db"
    run("copy", filled, twin, "--session", "plain")
    assert [item["id"] for item in run("list", twin, "--json").data] == ["plain"]
    ran = run("copy", filled, twin, code=1)
    assert "plain: refused: session 'plain' exists" in ran.out
    assert "other: copied" in ran.out
    assert ran.err == "sessionstore: 1 session was not copied\n"
    found = run("copy", filled, twin, "--json", code=1).data
    assert all(item["problem"] for item in found["sessions"])


def test_fork(run, filled: str, tmp_path: Path) -> None:
    with open_repository(filled) as repo, repo.open("plain") as session:
        config = {"model": {"provider": "p", "modelId": "m"}, "thinkingLevel": "off", "activeToolNames": []}
        session.set_value(lane_config("main"), config)
        session.set_value(
            lane_state("main"), {"currentOperationId": None, "lastOperationId": None, "inbox": []}
        )
    assert run("fork", filled, "plain", "--id", "copy").out == "copy: forked from plain\n"
    made = run("show", filled, "copy", "--json").data
    assert [entry["type"] for entry in made["entries"]] == ["message", "message"]
    assert made["metadata"]["parentSessionId"] == "plain"
    root = made["entries"][0]["id"]

    elsewhere = f"sqlite:///{tmp_path}/elsewhere.db"
    run("fork", filled, "plain", "--entry", root, "--to", elsewhere, "--id", "root")
    assert len(run("show", elsewhere, "root", "--json").data["entries"]) == 1
    run("fork", filled, "plain", "--entry", root, "--before", "--to", elsewhere, "--id", "none")
    assert run("show", elsewhere, "none", "--json").data["entries"] == []
    run("fork", filled, "plain", "--tree", "--to", elsewhere, "--id", "tree")
    assert len(run("show", elsewhere, "tree", "--json").data["entries"]) == 3

    assert "side" in run("fork", filled, "plain", "--branch", "side", code=1).err
    assert run("fork", filled, "plain", "--id", "copy", code=1).err.startswith(
        "sessionstore: session 'copy' exi"
    )
    assert "--tree takes all branches" in run("fork", filled, "plain", "--tree", "--before", code=2).err
    found = run("fork", filled, "plain", "--application-state", "--json").data
    assert found["parentSessionId"] == "plain"
