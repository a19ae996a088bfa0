"""A few kills of each leg; ``PYTHONPATH=.:tests python -m crash --kills 2000`` makes many."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from crash.legs import FILE_LEGS, SERVER_LEGS, Leg
from crash.running import Victims, run_leg
from servers import UnavailableError

KILLS = 4
SERVER_KILLS = 1


@pytest.fixture(scope="module")
def victims(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victims]:
    with Victims(tmp_path_factory.mktemp("victims") / "errors") as victims:
        yield victims


@pytest.mark.slow
@pytest.mark.parametrize("leg", FILE_LEGS, ids=lambda leg: leg.name)
def test_what_was_acknowledged_survives_kills_of_the_writer(
    leg: Leg, victims: Victims, tmp_path: Path
) -> None:
    report = run_leg(leg, KILLS, random.Random(leg.name), tmp_path, victims)
    assert report.findings == []
    assert report.kills == KILLS
    assert report.commits > 0


@pytest.mark.slow
@pytest.mark.server
@pytest.mark.parametrize("leg", SERVER_LEGS, ids=lambda leg: leg.name)
def test_what_was_acknowledged_survives_kills_of_the_server(leg: Leg, victims: Victims) -> None:
    # Not below pytest's folders, which the servers' accounts may not enter.
    with TemporaryDirectory(prefix="crash-") as folder:
        Path(folder).chmod(0o755)
        try:
            report = run_leg(leg, SERVER_KILLS, random.Random(leg.name), Path(folder), victims)
        except UnavailableError as reason:
            pytest.skip(str(reason))
    assert report.findings == []
    assert report.commits > 0
