"""Where long work is, drawn on standard error when that is a terminal."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from sessionstore.cli.output import printable, stderr
from sessionstore.transfer import Progress

_RECORDS_A_STEP: Final = 500


@contextmanager
def progress_of(work: str, total: int | None) -> Generator[Progress, None, None]:
    """Progress through ``total`` files or sessions (None: not known), gone at the end."""
    if not stderr.is_terminal:
        yield Progress()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[records]:,} records"),
        TextColumn("{task.fields[name]}", markup=False),
        TimeElapsedColumn(),
    )
    with Bars(*columns, console=stderr, transient=True) as bars:
        yield _Drawn(bars, bars.add_task(work, total=total, records=0, name=""))


class _Drawn(Progress):
    """A bar that counts what was begun, and the records read so far."""

    def __init__(self, bars: Bars, task: TaskID) -> None:
        self._bars = bars
        self._task = task
        self._begun = 0
        self._records = 0

    def begin(self, name: str) -> None:
        self._bars.update(
            self._task, completed=self._begun, records=self._records, name=printable(name)[-40:]
        )
        self._begun += 1

    def advance(self) -> None:
        self._records += 1
        if self._records % _RECORDS_A_STEP == 0:
            self._bars.update(self._task, records=self._records)
