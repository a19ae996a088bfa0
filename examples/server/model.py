"""A model that follows a script, so that every run of it says the same.

It is told what to do by the last prompt of the conversation:

- ``count 40`` is answered by forty frames, one number each;
- ``tool 5`` makes it call the tool ``counter`` first, which works in five steps;
- anything else is repeated, one frame for each word.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

LARGEST = 100_000
"""The largest number that ``count`` and ``tool`` take."""


@dataclass(frozen=True)
class ToolCall:
    """What the model wants to have done: ``steps`` steps of the tool ``name``."""

    name: str
    steps: int


@dataclass(frozen=True)
class Answer:
    """The frames of one response, and the tool that it calls at its end."""

    frames: Sequence[str]
    tool: ToolCall | None = None


class ScriptedModel:
    """Answers by the script, waiting ``pace`` seconds before each frame and each step of a tool."""

    def __init__(self, pace: float) -> None:
        self._pace = pace

    async def stream(self, answer: Answer, after: int) -> AsyncIterator[str]:
        """The frames of ``answer`` but the first ``after``, which somebody has already."""
        for frame in answer.frames[after:]:
            await asyncio.sleep(self._pace)
            yield frame

    async def work(self, steps: int, after: int) -> AsyncIterator[int]:
        """The steps of a tool but the first ``after``, which are done."""
        for step in range(after + 1, steps + 1):
            await asyncio.sleep(self._pace)
            yield step


def answer_to(conversation: Sequence[dict[str, Any]]) -> Answer:
    """What the script says after a conversation, oldest message first."""
    last = conversation[-1]
    if last["role"] == "toolResult":
        return Answer([f"The tool says: {last['content']}"])
    words = str(last["content"]).split()
    number = _number(words)
    if number is not None and words[0] == "count":
        return Answer([f"{n} " for n in range(1, number + 1)])
    if number is not None and words[0] == "tool":
        return Answer(["Let me ", "count."], ToolCall("counter", number))
    return Answer(["You said:", *(f" {word}" for word in words)])


def _number(words: Sequence[str]) -> int | None:
    if len(words) == 2 and words[1].isdecimal() and int(words[1]) <= LARGEST:
        return int(words[1])
    return None
