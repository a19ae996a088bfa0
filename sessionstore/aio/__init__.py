"""sessionstore for asyncio: the same names and arguments, awaited.

The facade holds the sync repository and delegates, so every rule is written once. Each call costs
one hand-over to a thread and the loop never blocks::

    async with open_repository("sqlite:///chat.db") as repo:
        async with repo.create() as session:
            branch = await session.create_branch("main")
            await branch.append_message({"role": "user", "content": "hi"})
"""

from sessionstore.aio.pending import Opening
from sessionstore.aio.readers import AsyncReaders
from sessionstore.aio.repository import AsyncSessionRepo, open_repository
from sessionstore.aio.session import AsyncBranch, AsyncSession, AsyncSessionMutation
from sessionstore.aio.storage import AsyncStorage

__all__ = [
    "AsyncBranch",
    "AsyncReaders",
    "AsyncSession",
    "AsyncSessionMutation",
    "AsyncSessionRepo",
    "AsyncStorage",
    "Opening",
    "open_repository",
]
