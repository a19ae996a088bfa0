"""The configuration that records of the older formats change (jsonl.md section 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from sessionstore import json_text
from sessionstore.jsonl.legacy_records import LegacyRecord

THINKING_LEVELS: Final = ("off", "minimal", "low", "medium", "high", "xhigh", "max")

MODEL: Final = "model_change"
THINKING: Final = "thinking_level_change"
TOOLS: Final = "active_tools_change"


class Setting(msgspec.Struct, frozen=True):
    """A change of one kind. ``text`` is the value as JSON text, None where it is unusable."""

    kind: str
    text: str | None


def read_setting(record: LegacyRecord) -> Setting | None:
    """The change that a record makes, if it is of a kind that does."""
    members = record.members
    match record.type:
        case "model_change":
            return Setting(MODEL, _model(members.only("provider", "modelId")))
        case "thinking_level_change":
            return Setting(THINKING, _thinking_level(members.optional_text("thinkingLevel")))
        case "active_tools_change":
            return Setting(TOOLS, _tools(members.optional_text("activeToolNames")))
        case _:
            return None


def header_settings(texts: Mapping[str, str]) -> list[Setting]:
    """The configuration that a format-1 header carries, until a record changes it."""
    found: list[Setting] = []
    if "provider" in texts or "modelId" in texts:
        found.append(Setting(MODEL, _model(texts)))
    if "thinkingLevel" in texts:
        found.append(Setting(THINKING, _thinking_level(texts["thinkingLevel"])))
    return found


def lane_config(changes: Iterable[Setting]) -> str | None:
    """The JSON text of the lane configuration that changes, the nearest first, add up to.

    Of each kind the nearest counts, even when its value is unusable. None without a usable model
    and thinking level.
    """
    nearest: dict[str, str | None] = {}
    for change in changes:
        nearest.setdefault(change.kind, change.text)
        if len(nearest) == 3:
            break
    model, thinking_level = nearest.get(MODEL), nearest.get(THINKING)
    if model is None or thinking_level is None:
        return None
    tools = nearest.get(TOOLS) or "[]"
    return f'{{"model":{model},"thinkingLevel":{thinking_level},"activeToolNames":{tools}}}'


def _model(texts: Mapping[str, str]) -> str | None:
    provider, model_id = texts.get("provider"), texts.get("modelId")
    if provider is None or model_id is None or not (_is_text(provider) and _is_text(model_id)):
        return None
    return f'{{"provider":{provider},"modelId":{model_id}}}'


def _is_text(text: str) -> bool:
    """Whether JSON text is a string that is not empty."""
    return text[0] == '"' and json_text.decode(text) != ""


def _thinking_level(text: str | None) -> str | None:
    return text if text is not None and text[0] == '"' and json_text.decode(text) in THINKING_LEVELS else None


def _tools(text: str | None) -> str | None:
    if text is None or text[0] != "[":
        return None
    try:
        names: list[object] = json_text.decode(text)
    except ValueError:  # a number that no double holds
        return None
    return text if all(isinstance(name, str) for name in names) else None
