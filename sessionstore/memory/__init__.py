"""Sessions in the memory of one process: the model that the other backends are held against."""

from sessionstore.memory.repo import MemorySessionRepo

__all__ = ["MemorySessionRepo"]
