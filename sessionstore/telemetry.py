"""OpenTelemetry spans of commits (harness.md section 4), off until :func:`enable` is called.

Each commit is one span ``pi.session.write``. It tells how many writes of which kinds a commit had,
their first and last number, and the namespaces they went to; never a key, an id or a value.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from sessionstore.entries import CommitResult
from sessionstore.errors import MissingDriverError
from sessionstore.storage import observe_commits
from sessionstore.writes import (
    AppendList,
    DeleteList,
    DeleteValue,
    InsertEntry,
    InsertUsage,
    RetireScope,
    SetValue,
    Write,
)

if TYPE_CHECKING:
    from opentelemetry.trace import Span, TracerProvider

SPAN: Final = "pi.session.write"
ITEM_COUNT: Final = "pi.session.item_count"
ITEM_KINDS: Final = "pi.session.item_kinds"
NAMESPACES: Final = "pi.session.namespaces"
FIRST_SEQ: Final = "pi.session.first_seq"
LAST_SEQ: Final = "pi.session.last_seq"
ERROR_TYPE: Final = "error.type"

_KINDS: Final[dict[type[Write[Any]], str]] = {
    InsertEntry: "entry",
    InsertUsage: "usage",
    SetValue: "value",
    DeleteValue: "value",
    AppendList: "list",
    DeleteList: "list",
    RetireScope: "scope",
}


def enable(tracer_provider: TracerProvider | None = None) -> None:
    """Make a span of every commit of this process, by the global provider unless one is given.

    Raises :class:`~sessionstore.errors.MissingDriverError` without OpenTelemetry (extra ``otel``).
    """
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise MissingDriverError(
            "telemetry needs OpenTelemetry: install sessionstore[otel], or do not enable it"
        ) from error
    tracer = trace.get_tracer("sessionstore", tracer_provider=tracer_provider)

    def observe(
        writes: tuple[Write[Any], ...], commit: Callable[[tuple[Write[Any], ...]], CommitResult]
    ) -> CommitResult:
        # Not recorded by the tracer: a traceback shows more than what attributes may tell.
        with tracer.start_as_current_span(
            SPAN, record_exception=False, set_status_on_exception=False
        ) as span:
            _describe(span, writes)
            try:
                result = commit(writes)
            except BaseException as error:
                span.set_attribute(ERROR_TYPE, type(error).__name__)
                span.set_status(trace.StatusCode.ERROR, type(error).__name__)
                raise
            if result.seqs:
                span.set_attributes({FIRST_SEQ: result.seqs[0], LAST_SEQ: result.seqs[-1]})
            return result

    observe_commits(observe)


def disable() -> None:
    """Make no spans any more."""
    observe_commits(None)


def _describe(span: Span, writes: tuple[Write[Any], ...]) -> None:
    if not span.is_recording():
        return
    kinds = {_KINDS.get(type(write), "unknown") for write in writes}
    namespaces = {
        write.address.namespace
        for write in writes
        if isinstance(write, (SetValue, DeleteValue, AppendList, DeleteList))
    }
    span.set_attributes(
        {
            ITEM_COUNT: len(writes),
            ITEM_KINDS: sorted(kinds),
            NAMESPACES: sorted(namespaces),
        }
    )
