"""Sessions in JSONL files that other tools read (jsonl.md)."""

from sessionstore.jsonl.repo import JsonlSessionRepo
from sessionstore.jsonl.report import ImportReport, Mercy
from sessionstore.jsonl.source import ImportedSession, open_source

__all__ = ["ImportReport", "ImportedSession", "JsonlSessionRepo", "Mercy", "open_source"]
