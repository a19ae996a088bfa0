"""A session drawn as a tree, with its values, lists and figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast

import msgspec
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from sessionstore import json_text
from sessionstore.builtin import BRANCH_TIP, ENTRY_LABEL
from sessionstore.cli.output import count, printable, say, stdout, time_of
from sessionstore.entries import CustomEntry, Entry, MessageEntry
from sessionstore.errors import SessionStoreError
from sessionstore.image import ImageHeader, SessionImage
from sessionstore.records import ElementRecord, EntryRecord, UsageRecord, ValueRecord, entry_of
from sessionstore.usage import SessionStats

PREVIEW: Final = 100
"""Characters of a message or value that are shown unless all of it is asked for."""

_NO_END: Final = 2**31
"""The width of what is no terminal."""

_ROLE_STYLES: Final = {"user": "bold cyan", "assistant": "green", "toolResult": "dim"}


class Node(msgspec.Struct):
    """An entry as it is drawn."""

    id: str
    seq: int
    kind: str
    text: str


class ListSummary(msgspec.Struct):
    """A list as it is shown: how many elements, and the numbers of the first and the last."""

    first_seq: int
    last_seq: int
    elements: int = 0
    tagged: int = 0


class SessionView:
    """What is shown of a session; keeps no payloads, only the beginnings of them unless ``full``."""

    def __init__(self, image: SessionImage, *, full: bool = False) -> None:
        self.header: Final[ImageHeader] = image.header
        self.children: Final[dict[str | None, list[Node]]] = {}
        self.parents: Final[dict[str, str | None]] = {}
        self.tips: Final[dict[str, str | None]] = {}
        self.labels: Final[dict[str, str]] = {}
        self.values: Final[list[tuple[ValueRecord, str]]] = []
        self.lists: Final[dict[tuple[str, str, str], ListSummary]] = {}
        self.usage_rows = 0
        self.full: Final = full
        for record in image.records:
            match record:
                case EntryRecord():
                    self._take_entry(record)
                case ValueRecord():
                    self._take_value(record)
                case ElementRecord():
                    self._take_element(record)
                case UsageRecord():
                    self.usage_rows += 1

    def _take_entry(self, record: EntryRecord) -> None:
        try:
            kind, text = describe(entry_of(record))
        except SessionStoreError as error:
            kind, text = record.type, f"(unreadable: {error})"
        self.parents[record.id] = record.parent_id
        node = Node(record.id, record.seq, kind, self._shown(text))
        self.children.setdefault(record.parent_id, []).append(node)

    def _take_value(self, record: ValueRecord) -> None:
        if not record.scope_id and record.namespace == BRANCH_TIP:
            self.tips[record.key] = json_text.decode(record.value)
        elif not record.scope_id and record.namespace == ENTRY_LABEL:
            self.labels[record.key] = str(json_text.decode(record.value))
        shown = msgspec.structs.replace(record, value="")
        self.values.append((shown, self._shown(record.value)))

    def _take_element(self, record: ElementRecord) -> None:
        place = (record.scope_id, record.namespace, record.key)
        summary = self.lists.setdefault(place, ListSummary(record.seq, record.seq))
        summary.last_seq = record.seq
        summary.elements += 1
        summary.tagged += record.tag is not None

    def _shown(self, text: str) -> str:
        if self.full:
            return text
        start = " ".join(text[: PREVIEW + 1].split())
        return start if len(text) <= PREVIEW else f"{start[:PREVIEW]}..."

    def branch_owner(self) -> dict[str, str]:
        """For each entry that a branch passes, the branch: ``main`` before the others."""
        owner: dict[str, str] = {}
        for branch in sorted(self.tips, key=lambda name: (name != "main", name)):
            id = self.tips[branch]
            while id is not None and id in self.parents and id not in owner:
                owner[id] = branch
                id = self.parents[id]
        return owner


def describe(entry: Entry) -> tuple[str, str]:
    """What an entry is, and its text."""
    match entry:
        case MessageEntry(message=message):
            return str(message.get("role", "message")), text_of_message(message)
        case CustomEntry(custom_type=custom_type, data=data):
            return f"custom {custom_type}", "" if not data and data is not None else _json(data)
        case _:
            return entry.type.replace("_", " "), entry.summary


def text_of_message(message: dict[str, Any]) -> str:
    """The readable parts of a message, whatever tool wrote it."""
    content = message.get("content")
    if content is None:
        return str(message.get("summary", ""))
    return " ".join(_parts(content))


def _parts(content: object) -> Iterator[str]:
    if not isinstance(content, list):
        yield content if isinstance(content, str) else _json(content)
        return
    for part in cast("list[object]", content):
        yield _part(cast("dict[str, Any]", part)) if isinstance(part, dict) else str(part)


def _part(part: dict[str, Any]) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "thinking", "thinking": str(text)}:
            return f"(thinking: {text})"
        case {"type": "toolCall", "name": name, **rest}:
            return f"{name}({_json(rest.get('arguments', {}))})"
        case _:
            return f"[{part.get('type', 'part')}]"


def _json(data: object) -> str:
    return json_text.encode(data, "a stored value")


def draw_tree(view: SessionView, title: str, *, ids: bool = False) -> Tree:
    """The conversation: a branch goes straight down, what diverges from it hangs one level deeper.

    Where several children follow, the one on the branch of its parent goes on straight. ``ids``
    adds the ids of the entries.
    """
    owner = view.branch_owner()
    marks: dict[str, list[str]] = {}
    for branch, tip in view.tips.items():
        if tip is not None:
            marks.setdefault(tip, []).append(branch)
    tree = Tree(Text(printable(title), style="bold"))
    for branch in sorted(name for name, tip in view.tips.items() if tip is None):
        tree.add(Text(f"<- {printable(branch)} (empty)", style="yellow"))
    pending = [(node, tree) for node in reversed(_roots(view))]
    while pending:
        node, above = pending.pop()
        while True:
            drawn = above.add(_label(node, marks.get(node.id, []), view.labels.get(node.id), ids))
            children = view.children.get(node.id)
            if not children:
                break
            onward = _straight(children, owner, owner.get(node.id))
            pending += [(child, drawn) for child in reversed(children) if child is not onward]
            node = onward
    return tree


def _roots(view: SessionView) -> list[Node]:
    """Entries without a parent that is there."""
    return [
        node
        for parent, nodes in view.children.items()
        if parent is None or parent not in view.parents
        for node in nodes
    ]


def _straight(children: list[Node], owner: dict[str, str], branch: str | None) -> Node:
    for child in children:
        if branch is not None and owner.get(child.id) == branch:
            return child
    return children[-1]


def _label(node: Node, branches: list[str], label: str | None, ids: bool) -> Text:
    text = Text()
    text.append(f"#{node.seq} ", style="dim")
    if ids:
        text.append(f"{printable(node.id)} ", style="dim")
    text.append(printable(node.kind), style=_ROLE_STYLES.get(node.kind, "magenta"))
    if label is not None:
        text.append(f" [{printable(label)}]", style="bold yellow")
    if branches:
        text.append(f" <- {printable(', '.join(sorted(branches)))}", style="bold yellow")
    text.append(f"  {printable(node.text, keep=chr(10))}")
    return text


def print_tree(view: SessionView, title: str, *, ids: bool = False) -> None:
    """Draw the conversation; a pipe or a file gets each entry as one line, however long."""
    tree = draw_tree(view, title, ids=ids)
    if not stdout.is_terminal:
        Console(width=_NO_END, highlight=False, emoji=False).print(tree)
    elif view.full:
        stdout.print(tree)
    else:
        stdout.print(tree, no_wrap=True, overflow="ellipsis")


def print_state(view: SessionView) -> None:
    """The values and lists of the session, and of each scope that is live."""
    say(f"values: {len(view.values):,}", "bold")
    for record, text in view.values:
        say(f"  #{record.seq} {_place(record.scope_id, record.namespace, record.key)} = {text}")
    say(f"lists: {len(view.lists):,}", "bold")
    for (scope_id, namespace, key), found in view.lists.items():
        tagged = f", {found.tagged:,} tagged" if found.tagged else ""
        say(
            f"  {_place(scope_id, namespace, key)}: {count(found.elements, 'element')}, "
            f"#{found.first_seq} to #{found.last_seq}{tagged}"
        )


def _place(scope_id: str, namespace: str, key: str) -> str:
    scope = f"scope {scope_id}: " if scope_id else ""
    return f"{scope}{namespace}/{key}" if key else f"{scope}{namespace}"


def print_stats(stats: SessionStats, usage_rows: int) -> None:
    """The statistics of a session."""
    usage = stats.usage
    say(f"statistics: {count(stats.message_count, 'message')}, {count(usage_rows, 'usage row')}", "bold")
    say(
        f"  tokens: {usage.total_tokens:,} (input {usage.input:,}, output {usage.output:,}, "
        f"cache read {usage.cache_read:,}, cache write {usage.cache_write:,})"
    )
    say(f"  cost:   {usage.cost.total:,}")


def print_header(header: ImageHeader) -> None:
    """When the session was made, and where it comes from."""
    say(f"created {time_of(header.created_at)} UTC, next number {header.next_seq:,}")
    if header.cwd is not None:
        say(f"working directory {header.cwd}")
    if header.parent_session_id is not None:
        say(f"fork of {header.parent_session_id}")
    elif header.legacy_parent_session_path is not None:
        say(f"fork of {header.legacy_parent_session_path}")
