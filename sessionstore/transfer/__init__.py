"""Whole sessions in and out of stores: import, export, copy, and the proof that they are whole."""

from sessionstore.transfer.copying import CopyOutcome, copy_session, copy_sessions
from sessionstore.transfer.importing import ImportOutcome, Source, Status, find_sources, import_sources
from sessionstore.transfer.progress import Progress
from sessionstore.transfer.verifying import Verdict, compare_stores, verify_store

__all__ = [
    "CopyOutcome",
    "ImportOutcome",
    "Progress",
    "Source",
    "Status",
    "Verdict",
    "compare_stores",
    "copy_session",
    "copy_sessions",
    "find_sources",
    "import_sources",
    "verify_store",
]
