"""What is left behind in the files of a session that is whole: for ``sessionstore verify``."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from sessionstore.ids import IdGenerator
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.headers import FORMAT, FileHeader
from sessionstore.jsonl.legacy import LegacySnapshot
from sessionstore.jsonl.publish import TEMPORARY_SUFFIX
from sessionstore.jsonl.sidecars import list_sidecars
from sessionstore.jsonl.snapshot import FileSnapshot


def check_files(source: SourceFile, header: FileHeader, ids: IdGenerator) -> list[str]:
    """Torn tails, sidecars without a live record, files that were never published; a line each.

    Raises ``CorruptStorageError`` when the session cannot be read.
    """
    problems = _torn(source)
    if header.format < FORMAT:
        LegacySnapshot(source, header, ids)
        return problems
    with closing(FileSnapshot(source, header)) as snapshot:
        for sidecar in snapshot.sidecars():
            problems += _torn(sidecar.source)
            if not sidecar.is_ours:
                problems.append(f"{sidecar.source.path}: its header is damaged; what follows it is dead")
            elif not sidecar.retained.lasts:
                problems.append(f"{sidecar.source.path}: is left of a scope that was retired")
    left = [Path(source.path + TEMPORARY_SUFFIX), *list_sidecars(source.path).leftovers]
    problems += [f"{path}: was being written when its writer stopped" for path in left if path.exists()]
    return problems


def _torn(source: SourceFile) -> list[str]:
    if not source.is_torn:
        return []
    return [f"{source.path}: ends in {source.size - source.end} bytes of a transaction that never happened"]
