"""Exit codes, wrong usage, encodings, a missing extra: the command as a process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def process(*arguments: str | Path, code: str = "", **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own, after ``code``."""
    script = f"{code}\nimport sys\nsys.argv[0] = 'sessionstore'\nfrom sessionstore.cli import main\nmain()"
    return subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("list",),
        ("list", "nope://x"),
        ("list", "/no/such/file.db"),
        ("list", "memory://", "--limit", "-1"),
        ("list", "memory://", "--nonsense"),
        ("show", "memory://"),
        ("copy", "memory://"),
        ("db", "nonsense"),
        ("demo", "--to", "memory://"),
    ],
)
def test_wrong_usage_is_2(run, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments, code=2)
    assert ran.out == ""
    assert ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("show", "memory://", "x"), "no session 'x'"),
        (("show", "memory://", "x\x1b[31m"), "no session 'x\\x1b[31m'"),
        (("delete", "memory://", "a\0b"), "session id must not contain U+0000"),
        (("copy", "memory://", "memory://", "--session", "x"), "no session 'x'"),
        (("show", "sqlite:////no/such/folder/x.db", "x"), "x.db"),
    ],
)
def test_what_fails_is_1_with_one_line(run, arguments: tuple[str, ...], told: str) -> None:
    ran = run(*arguments, code=1)
    assert told in ran.err
    assert ran.out == ""


def test_no_arguments_and_help_show_the_commands(run) -> None:
    out = run("--help").out
    for name in ("demo", "import", "export", "copy", "list", "show", "delete", "verify", "db"):
        assert f"\n  {name} " in out


def test_version(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sessionstore.cli.app.version", lambda name: f"1.2.3 of {name}")
    assert run("--version").out == "sessionstore 1.2.3 of sessionstore\n"


def test_a_missing_extra_is_named() -> None:
    ran = process("list", "memory://", code="import sys; sys.modules['typer'] = None")
    assert ran.returncode == 1
    assert ran.stderr == b"sessionstore: the command line needs typer: pip install 'sessionstore[cli]'\n"


def test_another_missing_module_is_not_blamed_on_the_extra() -> None:
    ran = process("list", "memory://", code="import sys; sys.modules['sessionstore.cli.moving'] = None")
    assert ran.returncode == 1
    assert b"sessionstore[cli]" not in ran.stderr


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
        {"PYTHONIOENCODING": "ascii:strict"},
    ],
    ids=["C", "latin-1", "ascii"],
)
def test_no_encoding_fails_an_output(filled: str, environment: dict[str, str]) -> None:
    shown = process("show", filled, "plain", "--full", **environment)
    assert (shown.returncode, shown.stderr) == (0, b"")
    assert b"\x1b" not in shown.stdout
    assert b"session plain" in shown.stdout


def test_an_id_is_what_was_typed_whatever_the_locale() -> None:
    ran = process("show", "memory://", "名前", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert ran.returncode == 1
    assert ran.stderr.startswith(b"sessionstore: no session '\\u540d\\u524d' in ")


def test_a_reader_that_goes_away_is_no_traceback(filled: str) -> None:
    ran = subprocess.run(
        f'"{sys.executable}" -m sessionstore.cli show "{filled}" plain --full --json | head -c 1',
        shell=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert ran.stderr == b""


def test_progress_is_drawn_on_a_terminal_and_only_there(url: str, tmp_path: Path) -> None:
    file = tmp_path / "[red]\x1b[31m.jsonl"
    shutil.copy(ROOT / "tests" / "vectors" / "v3" / "real-coding.jsonl", file)
    terminal, end = os.openpty()
    with os.fdopen(terminal, "rb") as drawn:
        try:
            ran = subprocess.run(
                [sys.executable, "-m", "sessionstore.cli", "import", str(file), "--to", url],
                env={**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "150"},
                stdout=subprocess.PIPE,
                stderr=end,
                timeout=60,
                check=False,
            )
        finally:
            os.close(end)
        shown = drawn.read1()
    assert ran.returncode == 0
    assert b"importing" in shown
    assert b"[red]\\x1b[31m.jsonl" in shown
    assert b"importing" not in ran.stdout
    assert b"\x1b" not in ran.stdout
