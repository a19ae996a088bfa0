"""The test legs themselves: what they report, and that a private server comes and goes."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from legs import CAPABILITIES, STORE_KINDS, Legs, lacking, required_legs
from servers import FAMILIES, Family, Server, UnavailableError, administration, find_server
from sqlalchemy.exc import OperationalError

HERE = Path(__file__).parent


@pytest.mark.parametrize("kind", STORE_KINDS, ids=lambda kind: kind.name)
def test_a_kind_lacks_what_it_does_not_declare(kind):
    assert lacking(kind, kind.capabilities) == []
    assert lacking(kind, CAPABILITIES) == sorted(CAPABILITIES - kind.capabilities)
    with pytest.raises(ValueError, match="unknown capabilities"):
        lacking(kind, ["telepathy"])


def test_required_legs_are_known(monkeypatch):
    monkeypatch.setenv("SESSIONSTORE_REQUIRE", " mariadb ,postgresql,")
    assert required_legs() == {"mariadb", "postgresql"}
    monkeypatch.setenv("SESSIONSTORE_REQUIRE", "oracle")
    with pytest.raises(ValueError, match=r"\['oracle'\]; the legs are \['galera', 'mariadb', 'postgresql'\]"):
        required_legs()


def test_the_report_is_one_line_with_reasons():
    legs = Legs(frozenset({"mariadb"}))
    assert legs.missing() == ["mariadb"]
    legs.outcomes["mariadb"] = "nothing listens"
    legs.outcomes["postgresql"] = Server("postgresql://", "a private server")
    legs.tests["postgresql"] = 3
    assert legs.report() == (
        "database legs: mariadb: not run, but SESSIONSTORE_REQUIRE names it (nothing listens);"
        " postgresql: 3 tests on a private server"
    )


SCENARIO = """
import pytest

@pytest.mark.needs("{needs}")
def test_it(store_url):
    assert store_url
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("needs", "required", "code", "said"),
    [
        pytest.param("server", "", 0, ["need server", "database legs: mariadb: not run ("], id="not-run"),
        pytest.param("server", "mariadb", 1, ["mariadb is required and not available"], id="required"),
        pytest.param("files", "mariadb", 1, ["need files", "no test asked for it"], id="unasked"),
    ],
)
def test_a_run_without_servers(tmp_path, monkeypatch, needs, required, code, said):
    (tmp_path / "pyproject.toml").write_text('[tool.pytest]\nmarkers = ["needs"]\n')
    (tmp_path / "test_it.py").write_text(SCENARIO.format(needs=needs))
    for family in FAMILIES.values():
        monkeypatch.delenv(family.variable, raising=False)
    monkeypatch.setenv("SESSIONSTORE_REQUIRE", required)
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    # Nothing on this machine is a server for the run: no port to listen on, no program to start.
    hide = (
        "import sys, pytest, servers\n"
        "def none(*_): raise servers.UnavailableError('hidden')\n"
        "servers._listening = servers._private = servers._container = none\n"
        "sys.exit(pytest.main(['-q', '-p', 'conftest', '-p', 'no:cacheprovider']))\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", hide], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == code, run.stdout + run.stderr
    assert [text for text in said if text not in run.stdout] == []


def test_a_configured_server_that_does_not_answer_is_an_error(monkeypatch):
    family = FAMILIES["postgresql"]
    monkeypatch.setenv(family.variable, "postgresql://nobody:secret@127.0.0.1:1/none")
    with ExitStack() as stack, pytest.raises(OperationalError):
        find_server(family, stack)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_private_server_comes_and_goes(family: Family, tmp_path_factory):
    folder = tmp_path_factory.mktemp("server")
    for parent in [folder, *folder.parents][:3]:
        parent.chmod(0o711)  # the server runs under an account of its own
    with ExitStack() as stack:
        try:
            url = family.start_private(folder, stack).render_as_string(hide_password=False)
        except UnavailableError as reason:
            pytest.skip(f"no private server here: {reason}")
        family.create_database(url, "first")
        family.drop_database(url, "first")
    with pytest.raises(OperationalError), administration(url) as execute:
        execute("SELECT 1")


@pytest.mark.parametrize("leg", FAMILIES)
def test_a_database_is_dropped_while_somebody_is_connected(leg, request):
    url = request.getfixturevalue(f"{leg}_server_url")
    legs = Legs(frozenset())
    server = Server(url, "here")
    database = legs.create_database(leg, server)
    with ExitStack() as stack:
        execute = stack.enter_context(administration(database))
        execute("CREATE TABLE t (a int)")
        execute("BEGIN")
        execute("INSERT INTO t VALUES (1)")
        legs.drop_database(leg, server, database)
        with pytest.raises(OperationalError), administration(database):
            pass
        with pytest.raises(OperationalError):
            execute("SELECT 1")
