"""What goes to the terminal: results on standard output, the one clear line on standard error.

Text of sessions, file names and error messages comes from others. Nothing of it that could drive a
terminal, turn text around or break the encoding of the output is printed as it is.
"""

from __future__ import annotations

import io
import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any, Final, NoReturn

import typer
from rich.console import Console
from rich.text import Text

# C0 and C1 controls with DEL; invisible formatting and bidirectional controls, line and paragraph
# separators; lone surrogates; tag characters. The joiners U+200C and U+200D stay: scripts and
# emoji need them, and they drive nothing.
_UNSAFE: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f"
    "\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_SHORT_ESCAPES: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

stdout: Final = Console(highlight=False, markup=False, emoji=False)
stderr: Final = Console(stderr=True, highlight=False, markup=False, emoji=False)


def printable(text: str, keep: str = "") -> str:
    """``text`` with everything escaped that is no plain character, but for those in ``keep``."""
    return _UNSAFE.sub(lambda match: match[0] if match[0] in keep else _escape(match[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    short = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
    return _SHORT_ESCAPES.get(character) or (short if code < 0x10000 else f"\\U{code:08x}")


def say(text: str = "", style: str = "") -> None:
    """Print one line of a result, however long it is."""
    stdout.print(Text(printable(text, keep="\t"), style=style), soft_wrap=True)


def say_json(data: Any) -> None:
    """Print a result for machines: one JSON document in ASCII, so that any encoding carries it."""
    sys.stdout.write(json.dumps(data, ensure_ascii=True, indent=1).replace("\x7f", "\\u007f") + "\n")


def fail(message: str, code: int = 1) -> NoReturn:
    """Say in one line what went wrong, and end with ``code``."""
    stderr.print(Text(f"sessionstore: {printable(message)}"), soft_wrap=True)
    raise typer.Exit(code)


def time_of(unix_ms: int | None) -> str:
    """Unix ms as people read it, in UTC."""
    if unix_ms is None:
        return "-"
    try:
        return datetime.fromtimestamp(unix_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return f"{unix_ms} ms"


def count(number: int, one: str, many: str | None = None) -> str:
    """``1 file``, ``2 files``, ``1,000 entries``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def prepare_streams() -> None:
    """Let no encoding of a terminal or a pipe fail an output, and no log line drive a terminal."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if _log_lines not in _logger.handlers:
        _logger.addHandler(_log_lines)


class _LogLines(logging.Handler):
    """Log messages name files and sessions; they are escaped as everything else is."""

    def emit(self, record: logging.LogRecord) -> None:
        stderr.print(Text(f"sessionstore: {printable(self.format(record))}"), soft_wrap=True)


_logger: Final = logging.getLogger("sessionstore")
_log_lines: Final = _LogLines(logging.WARNING)
