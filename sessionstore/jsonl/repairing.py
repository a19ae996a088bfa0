"""Setting aside what cannot be read, so that the rest of a session can (jsonl.md section 2).

Nothing is deleted: the lines go, as they are, into a file beside the one that they were in. Each
file is replaced in one step, the main file first, since its header keeps the high-water mark. A
crash leaves every file as it was or as it is to be, and the next repair goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Final

import msgspec

from sessionstore.errors import CorruptStorageError, StorageError
from sessionstore.json_text import join_members
from sessionstore.jsonl.codec import LineError, decode_text, split_members
from sessionstore.jsonl.encoding import text_line, transaction_line
from sessionstore.jsonl.files import SourceFile
from sessionstore.jsonl.headers import (
    BYTE_ORDER_MARK,
    FileHeader,
    ScopeHeader,
    read_scope_header,
    scope_header_line,
)
from sessionstore.jsonl.log import LogFile
from sessionstore.jsonl.paths import encoded_id
from sessionstore.jsonl.publish import TEMPORARY_SUFFIX, NewFile, exists, remove, sync_directory
from sessionstore.jsonl.sidecars import list_sidecars
from sessionstore.jsonl.spans import Spans, lines_of
from sessionstore.jsonl.surveying import (
    LostLine,
    MainSurvey,
    ScopeSurvey,
    Taken,
    survey_main,
    survey_sidecar,
)
from sessionstore.plan import Retirement
from sessionstore.text import encode_uri_component

SET_ASIDE_SUFFIX: Final = ".set-aside"
"""Ends the name of the file of the lines that were set aside; no reader takes it for anything."""

_PIECE: Final = 1 << 20
_NAMED: Final = 20


class _Sidecar(msgspec.Struct):
    """A sidecar and what stays of it. ``head`` is None where it is set aside whole."""

    scope_id: str
    source: SourceFile
    head: bytes | None
    survey: ScopeSurvey
    claimed_by: str | None = None
    """The session that a sidecar of somebody else names."""


class Damage:
    """What of a format-4 session cannot be read. A context manager: it holds the sidecars open."""

    def __init__(self, source: SourceFile, header: FileHeader, opening: ExitStack) -> None:
        """``source`` is the main file, whose header was read. Changes nothing.

        Raises ``StorageError`` when a file cannot be read at all, and
        ``UnsupportedStorageVersionError``.
        """
        self._source = source
        self._header = header
        self._main: MainSurvey = survey_main(source)
        taken = Taken(self._main.transactions)
        self._sidecars = [
            self._read_sidecar(opening.enter_context(SourceFile(str(path))), scope_id, taken)
            for scope_id, path in list_sidecars(source.path).scopes.items()
        ]

    def _read_sidecar(self, source: SourceFile, scope_id: str, taken: Taken) -> _Sidecar:
        line = source.first_line()
        ours = ScopeHeader(self._header.id, scope_id)
        lost: list[LostLine] = []
        try:
            found = read_scope_header(line or b"", source.path)
            head = (line or b"") + b"\n"
            if found != ours:
                of = f"the session {found.session_id!r:.200} and the scope {found.scope_id!r:.200}"
                # Its numbers count: it may be ours all the same, with damage in its header.
                survey = ScopeSurvey([_whole(source, f"the sidecar belongs to {of}")], Spans(source).mark())
                return _Sidecar(scope_id, source, None, survey, found.session_id)
        except LineError as error:
            # Where the file stands says whose it is.
            head = text_line(scope_header_line(ours))
            lost.append(LostLine(1, len(line or b""), str(error)))
        survey = survey_sidecar(source, scope_id, self._main.retirements.get(scope_id, 0), taken)
        survey.lost[:0] = lost
        if lost and not survey.first_live:
            survey.lost = [_whole(source, lost[0].reason)]
            return _Sidecar(scope_id, source, None, survey)
        return _Sidecar(scope_id, source, head, survey)

    def problems(self) -> list[str]:
        """Each line that cannot be read, and why."""
        return [
            f"{source.path}: line {line.number}: {line.reason}"
            for source, lost in self._lost()
            for line in lost
        ]

    def _lost(self) -> Iterator[tuple[SourceFile, list[LostLine]]]:
        yield self._source, self._main.lost
        for sidecar in self._sidecars:
            yield sidecar.source, sidecar.survey.lost

    def repair(self) -> list[str]:
        """Set aside what cannot be read; a line for each thing that was done, and what it cost.

        Raises ``CorruptStorageError`` when a lost line may have retired a scope that would come
        alive by it, or when the sidecars and the name of the main file say that its header names
        the wrong session, and ``TransactionConflictError`` when a file was changed meanwhile.
        """
        if not any(lost for _, lost in self._lost()):
            return []
        self._check_identity()
        self._check_doubts()
        self._rewrite_main()
        for sidecar in self._sidecars:
            if sidecar.survey.lost:
                _rewrite_sidecar(sidecar)
        return list(self._told())

    def _check_identity(self) -> None:
        """That it is not the header of the main file which is damaged, and the sidecars are whole."""
        named = encoded_id(Path(self._source.path).name)
        for sidecar in self._sidecars:
            claimed = sidecar.claimed_by or self._header.id
            if claimed != self._header.id and encode_uri_component(claimed) == named:
                raise CorruptStorageError(
                    f"this header names the session {self._header.id!r}, but the file is called after "
                    f"{claimed!r}, and {sidecar.source.path} belongs to that. Nothing was changed; correct "
                    "the id in the header, or move the sidecar away, and repair again",
                    path=self._source.path,
                    line=1,
                )

    def _check_doubts(self) -> None:
        for doubt in self._main.doubts:
            for sidecar in self._sidecars:
                live = sidecar.survey.first_live
                if doubt.scope_id in (None, sidecar.scope_id) and 0 < live < doubt.highest:
                    raise CorruptStorageError(
                        f"this line may have retired the scope {sidecar.scope_id!r}, which would come "
                        f"alive without it. Nothing was changed; when the scope has ended, move "
                        f"{sidecar.source.path} away and repair again",
                        path=self._source.path,
                        line=doubt.line,
                    )

    def _rewrite_main(self) -> None:
        line = self._source.first_line() or b""
        members = split_members(decode_text(line.removeprefix(BYTE_ORDER_MARK)))
        seen = max(self._main.mark, *(sidecar.survey.mark for sidecar in self._sidecars), 0)
        members["nextSeq"] = str(max(self._header.next_seq, seen + 1))
        head = (BYTE_ORDER_MARK if line.startswith(BYTE_ORDER_MARK) else b"") + text_line(
            join_members(members)
        )
        if self._main.lost:
            _set_aside(self._source, self._main.lost)
        _rewrite(self._source, head, self._main.lost)

    def _told(self) -> Iterator[str]:
        for source, lost in self._lost():
            for first, last, size, reason in _runs(lost):
                lines = f"line {first}" if first == last else f"lines {first} to {last}"
                what = lines if first else "all"
                yield f"set aside {what} of {source.path} ({size} bytes): {reason}"
        for line in self._main.lost:
            for record in line.kept:
                yield f"kept the retirement of the scope {record.scope_id!r} that stood in line {line.number}"
        ids = self._main.lost_ids
        if ids:
            named = ", ".join(map(repr, ids[:_NAMED]))
            if len(ids) > _NAMED:
                named += f" and {len(ids) - _NAMED} more"
            yield f"entries and ledger rows in these lines: {named}"
        for branch, entry in self._main.dangling.items():
            yield f"the branch {branch!r} stands at the entry {entry!r}, which is not there any more"


def _whole(source: SourceFile, reason: str) -> LostLine:
    return LostLine(0, source.size, reason)


def _runs(lost: Sequence[LostLine]) -> Iterator[tuple[int, int, int, str]]:
    """Consecutive lost lines: first, last, bytes with the newlines, why the first cannot be read."""
    run: list[LostLine] = []
    for line in [*lost, None]:
        if run and (line is None or line.number != run[-1].number + 1):
            size = sum(lost.size + bool(lost.number) for lost in run)
            yield run[0].number, run[-1].number, size, run[0].reason
            run = []
        if line is not None:
            run.append(line)


def _rewrite_sidecar(sidecar: _Sidecar) -> None:
    source = sidecar.source
    _set_aside(source, sidecar.survey.lost)
    if sidecar.head is not None:
        _rewrite(source, sidecar.head, sidecar.survey.lost)
        return
    LogFile.of_source(source, fsync=True).check()
    if not remove(Path(source.path)):
        raise StorageError(f"cannot remove {source.path}; what is in it was set aside")


def _rewrite(source: SourceFile, head: bytes, lost: Iterable[LostLine]) -> None:
    """Replace a file by what can stay of it."""
    by_number = {line.number: line for line in lost}

    def lines() -> Iterator[bytes]:
        yield head
        for number, line, _ in lines_of(source):
            gone = by_number.get(number)
            if gone is None:
                yield line + b"\n"
            elif gone.kept:
                yield transaction_line(Retirement(record.scope_id, record.seq) for record in gone.kept)

    LogFile.of_source(source, fsync=True).check()
    _replace(Path(source.path), lines(), like=source)


def _set_aside(source: SourceFile, lost: Sequence[LostLine]) -> None:
    """Add lines to what was set aside of a file before: where they stood and why, then as they are.

    A repair that was killed right after this has done it already.
    """
    path = Path(source.path + SET_ASIDE_SUFFIX)
    if not exists(path):
        _replace(path, _told_and_lost(source, lost), like=source)
        return
    with SourceFile(str(path)) as before:
        if not _ends_with(before, lambda: _told_and_lost(source, lost)):
            _replace(path, chain(_bytes_of(before), _told_and_lost(source, lost)), like=source)


def _told_and_lost(source: SourceFile, lost: Sequence[LostLine]) -> Iterator[bytes]:
    by_number = {line.number for line in lost}
    told = {"kind": "set_aside", "lines": [[line.number, line.size, line.reason] for line in lost]}
    yield (json.dumps(told) + "\n").encode()
    if by_number == {0}:
        yield from _bytes_of(source)
        yield b"\n"
        return
    if 1 in by_number:
        yield (source.first_line() or b"") + b"\n"
    yield from (line + b"\n" for number, line, _ in lines_of(source) if number in by_number)


def _ends_with(file: SourceFile, pieces: Callable[[], Iterator[bytes]]) -> bool:
    at = file.size - sum(map(len, pieces()))
    if at < 0:
        return False
    for piece in pieces():
        if file.read(at, len(piece)) != piece:
            return False
        at += len(piece)
    return True


def _bytes_of(source: SourceFile) -> Iterator[bytes]:
    for offset in range(0, source.size, _PIECE):
        yield source.read(offset, min(_PIECE, source.size - offset))


def _replace(path: Path, pieces: Iterable[bytes], *, like: SourceFile) -> None:
    file = NewFile(path.with_name(path.name + TEMPORARY_SUFFIX))
    try:
        file.take_mode(Path(like.path))
        file.write_lines(pieces)
        file.sync()
        file.replace(path)
    except BaseException:
        file.discard()
        raise
    file.close()
    sync_directory(path.parent)
