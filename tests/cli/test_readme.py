"""What the README shows is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sessionstore.cli.app import app

README = Path(__file__).parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("code", PYTHON, ids=[f"block{index}" for index in range(len(PYTHON))])
def test_python_blocks_run(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, str(README), "exec"), {"__name__": "readme"})


def test_it_begins_with_two_commands_of_one_line() -> None:
    demo, tests = re.findall(r"^```sh\n(.*?)\n```$", TEXT, re.DOTALL | re.MULTILINE)[:2]
    assert demo.startswith("python3 -m venv ")
    assert demo.endswith("sessionstore demo")
    assert tests.startswith("python3 -m venv ")
    assert tests.endswith("pytest -q -n auto")
    assert "\n" not in demo + tests


def test_the_server_example_is_short() -> None:
    lines = [line for line in PYTHON[0].split("\n") if line.strip() and not line.strip().startswith("#")]
    assert len(lines) <= 20


def test_the_table_of_commands_is_the_commands() -> None:
    named = set(re.findall(r"^\| `sessionstore ([a-z]+)", TEXT, re.MULTILINE))
    groups = {group.name for group in app.registered_groups}
    assert named == {command.name for command in app.registered_commands} | groups
