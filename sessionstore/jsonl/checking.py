"""Whether the files of a session can be read to the end: for ``sessionstore verify``.

What a stopped writer leaves behind is no damage, and the next open settles it: a torn transaction,
the sidecar of a scope that was retired, a file that was never published.
"""

from __future__ import annotations

from contextlib import ExitStack

from sessionstore.ids import IdGenerator
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.headers import FORMAT, FileHeader
from sessionstore.jsonl.legacy import LegacySnapshot
from sessionstore.jsonl.repairing import Damage


def check_files(source: SourceFile, header: FileHeader, ids: IdGenerator) -> list[str]:
    """What cannot be read, a line each.

    Raises ``CorruptStorageError`` when a file of an older format cannot be read.
    """
    if header.format < FORMAT:
        LegacySnapshot(source, header, ids)
        return []
    with ExitStack() as opening:
        return Damage(source, header, opening).problems()


def repair_files(source: SourceFile, header: FileHeader, ids: IdGenerator) -> list[str]:
    """Set aside what cannot be read, and tell what that cost, a line each.

    Raises as :meth:`Damage.repair`; ``CorruptStorageError`` for a file of an older format, which
    an import may be able to read.
    """
    if header.format < FORMAT:
        LegacySnapshot(source, header, ids)
        return []
    with ExitStack() as opening:
        return Damage(source, header, opening).repair()
