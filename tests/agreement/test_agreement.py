"""Every store agrees with the one in memory on random operations.

The normal run draws the same few sequences each time. A long one draws others at every run, so
many of them for each store. It makes what fails small, and tells how many operations it made::

    SESSIONSTORE_AGREEMENT=1000 python -m pytest tests/agreement -rP -o faulthandler_timeout=0
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from agreement.lifecycle import LifecycleMachine
from agreement.machine import AWAY, HOME, CountingIds
from agreement.material import CASE_SENSITIVE_IDS, SESSION_IDS
from conformance.factories import capabilities_of
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from legs import StoreKind

from sessionstore.opening import open_repository
from sessionstore.repository import SessionRepo
from sessionstore.testing import ManualClock

LONG = int(os.environ.get("SESSIONSTORE_AGREEMENT", "0"))

SETTINGS = settings(
    max_examples=LONG or 7,
    stateful_step_count=50 if LONG else 30,
    derandomize=not LONG,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    # A failure of the usual run is told as it is: making it small can take minutes.
    phases=[Phase.generate, Phase.shrink] if LONG else [Phase.generate],
    report_multiple_bugs=False,
    print_blob=bool(LONG),
)


@pytest.mark.slow
@pytest.mark.timeout(0 if LONG else 110)
@pytest.mark.needs("persistent")
def test_a_store_agrees_with_the_one_in_memory(
    store_kind: StoreKind, new_store_url: Callable[[], str]
) -> None:
    urls = {HOME: new_store_url(), AWAY: new_store_url()}
    capabilities = capabilities_of(store_kind)

    def open_subject(at: str, clock: ManualClock, ids: CountingIds) -> SessionRepo:
        return open_repository(urls[at], clock=clock, id_generator=ids)

    class Machine(LifecycleMachine):
        session_ids = CASE_SENSITIVE_IDS if "case_sensitive_ids" in capabilities else SESSION_IDS
        two_handles = "visible_across_handles" in capabilities

    Machine.open_subject = staticmethod(open_subject)
    run_state_machine_as_test(Machine, settings=SETTINGS)
    print(f"{Machine.operations} operations on {store_kind.name}")
    assert Machine.operations
