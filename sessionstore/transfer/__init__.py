"""Whole sessions in and out of stores: import, export, copy, and the proof that they are whole."""

from sessionstore.transfer.copying import CopyOutcome, copy_session, copy_sessions
from sessionstore.transfer.exporting import Exported, export_session
from sessionstore.transfer.importing import ImportOutcome, Source, Status, find_sources, import_sources
from sessionstore.transfer.progress import Progress
from sessionstore.transfer.verifying import Verdict, compare_stores, verify_store

__all__ = [
    "CopyOutcome",
    "Exported",
    "ImportOutcome",
    "Progress",
    "Source",
    "Status",
    "Verdict",
    "compare_stores",
    "copy_session",
    "copy_sessions",
    "export_session",
    "find_sources",
    "import_sources",
    "verify_store",
]
