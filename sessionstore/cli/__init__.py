"""The command line; needs the extra ``cli``."""

from __future__ import annotations

import sys
from typing import Final

_EXTRA: Final = frozenset({"typer", "rich", "click"})


def main() -> None:
    """Run the command that the arguments name; the entry point of ``sessionstore``.

    Ends the process: 0 done, 1 failed with one line on standard error, 2 wrong usage.
    """
    try:
        from sessionstore.cli.app import run
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRA:
            raise
        sys.stderr.write(
            f"sessionstore: the command line needs {error.name}: pip install 'sessionstore[cli]'\n"
        )
        raise SystemExit(1) from None
    run()
