"""An interrupt inside the connection pool, which is not written with interrupts in mind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy.pool import QueuePool

from sessionstore import Session, open_repository, set_value, value

pytestmark = [
    pytest.mark.needs("server"),
    # A driver complains of a connection that is dropped, which is what the interrupt does.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

N = value("app", "n", type=int)


def after(call: Callable[..., Any]) -> Callable[..., Any]:
    def interrupted(*arguments: Any) -> None:
        call(*arguments)
        raise KeyboardInterrupt

    return interrupted


def before(_: Callable[..., Any]) -> Callable[..., Any]:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    return interrupted


WORK: dict[str, Callable[[Session], object]] = {
    "read": lambda session: session.get_value(N),
    "write": lambda session: session.set_value(N, 2),
    "mutation": lambda session: session.mutate(lambda mutation: mutation.commit([set_value(N, 3)])),
}


@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize(
    ("name", "when"),
    [("_do_get", before), ("_do_get", after), ("_do_return_conn", before), ("_do_return_conn", after)],
)
def test_an_interrupt_uses_up_no_connection(
    store_url: str, monkeypatch: pytest.MonkeyPatch, name: str, when: Callable[..., Any], work: str
) -> None:
    with (
        open_repository(store_url, pool_size=1, max_overflow=0, pool_timeout=0.1) as repo,
        repo.create() as session,
    ):
        session.set_value(N, 1)
        for _ in range(3):
            with monkeypatch.context() as patched:
                patched.setattr(QueuePool, name, when(getattr(QueuePool, name)))
                with pytest.raises(KeyboardInterrupt):
                    WORK[work](session)
            session.set_value(N, 1)
            assert session.get_value(N) is not None
