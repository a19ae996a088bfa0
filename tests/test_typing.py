"""The static rules of scopes and value types, as mypy and pyright see them in their strict modes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # two type checkers; nothing depends on the Python that runs them

ROOT = Path(__file__).parent.parent
FOLDER = Path(__file__).parent / "typing"
ACCEPTED = FOLDER / "accepted.py"
REFUSED = FOLDER / "refused.py"

# What each kind of refusal is called: by mypy, by pyright.
KINDS = {
    "transaction": ({"arg-type"}, {"reportCallIssue", "reportArgumentType"}),
    "unknown scope": ({"arg-type", "type-var"}, {"reportCallIssue", "reportArgumentType"}),
    "assignment": ({"assignment"}, {"reportAssignmentType"}),
    "value": ({"misc"}, {"reportArgumentType"}),
    "argument": ({"arg-type"}, {"reportArgumentType"}),
    "no sequence": ({"call-overload"}, {"reportCallIssue", "reportArgumentType"}),
    "no write": ({"list-item"}, {"reportCallIssue", "reportArgumentType"}),
    "absence": ({"union-attr"}, {"reportOptionalMemberAccess"}),
}

# The codes of the errors of each line of each file.
Errors = dict[Path, dict[int, set[str]]]


def _mypy_errors(output: str) -> Errors:
    errors: Errors = defaultdict(lambda: defaultdict(set))
    for line in filter(None, output.split("\n")):
        found = json.loads(line)
        if found["severity"] == "error":
            errors[ROOT / found["file"]][found["line"]].add(found["code"])
    return errors


def _pyright_errors(output: str) -> Errors:
    errors: Errors = defaultdict(lambda: defaultdict(set))
    for found in json.loads(output)["generalDiagnostics"]:
        if found["severity"] != "information":
            line = found["range"]["start"]["line"] + 1
            errors[Path(found["file"])][line].add(found.get("rule", found["message"]))
    return errors


CHECKERS = {
    "mypy": (
        ["-m", "mypy", "--strict", "--follow-imports=silent", "--output=json", str(ACCEPTED), str(REFUSED)],
        _mypy_errors,
    ),
    "pyright": (
        ["-m", "pyright", "-p", str(FOLDER), "--pythonpath", sys.executable, "--outputjson"],
        _pyright_errors,
    ),
}


@pytest.fixture(scope="module", params=CHECKERS)
def checked(request: pytest.FixtureRequest) -> tuple[str, Errors]:
    """The errors that one checker finds in both files, in one run."""
    arguments, read_errors = CHECKERS[request.param]
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=110,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr  # 1: errors found; others: the checker failed
    return request.param, read_errors(run.stdout)


def _marked(checker: str) -> dict[int, set[str]]:
    place = list(CHECKERS).index(checker)
    marks: dict[int, set[str]] = {}
    for number, line in enumerate(REFUSED.read_text(encoding="utf-8").split("\n"), 1):
        mark = re.search(r"# refused: (.+)$", line)
        if mark:
            marks[number] = KINDS[mark[1]][place]
    return marks


def test_what_the_rules_allow_is_accepted(checked: tuple[str, Errors]) -> None:
    _, errors = checked
    assert errors.get(ACCEPTED, {}) == {}


def test_what_the_rules_forbid_is_refused_and_nothing_else(checked: tuple[str, Errors]) -> None:
    checker, errors = checked
    assert dict(errors[REFUSED]) == _marked(checker)


def test_every_kind_of_refusal_is_tried() -> None:
    lines = REFUSED.read_text(encoding="utf-8").split("\n")
    assert {mark[1] for line in lines if (mark := re.search(r"# refused: (.+)$", line))} == KINDS.keys()
