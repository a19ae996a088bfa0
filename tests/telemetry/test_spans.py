"""Spans of commits (harness.md section 4)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from sessionstore import (
    DuplicateIdError,
    InvalidValueError,
    MixedScopeError,
    NewBranchSummaryEntry,
    NewCompactionEntry,
    NewCustomEntry,
    NewMessageEntry,
    NewUsageRow,
    Session,
    SessionStoreError,
    append_list,
    delete_list,
    delete_value,
    ephemeral_scope,
    insert_entry,
    insert_usage,
    open_repository,
    retire_scope,
    set_value,
    telemetry,
    value,
    value_list,
)
from sessionstore.aio import AsyncSessionRepo

SECRET = "s3cr3t-payload"
USAGE = {
    "input": 1,
    "output": 2,
    "cacheRead": 0,
    "cacheWrite": 0,
    "totalTokens": 3,
    "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0.5},
}


@pytest.fixture
def provider() -> TracerProvider:
    return TracerProvider()


@pytest.fixture
def exporter(provider: TracerProvider) -> Iterator[InMemorySpanExporter]:
    exporter = InMemorySpanExporter()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    telemetry.enable(provider)
    yield exporter
    telemetry.disable()


@pytest.fixture
def session(store_url: str) -> Iterator[Session]:
    with open_repository(store_url) as repo, repo.create() as session:
        yield session


def only_span(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    exporter.clear()
    return span


def test_each_commit_is_one_span(session: Session, exporter: InMemorySpanExporter) -> None:
    result = session.commit(
        [
            insert_entry(NewMessageEntry("m", None, {"role": "user"})),
            insert_usage(NewUsageRow("u", USAGE)),
            set_value(value("app.plan", "key"), 1),
            delete_value(value("app.old")),
            append_list(value_list("app.steps"), 1),
            delete_list(value_list("app.steps", "other")),
            retire_scope(ephemeral_scope("op")),
        ]
    )
    span = only_span(exporter)
    assert span.name == "pi.session.write"
    assert dict(span.attributes or {}) == {
        "pi.session.item_count": 7,
        "pi.session.item_kinds": ("entry", "list", "scope", "usage", "value"),
        "pi.session.namespaces": ("app.old", "app.plan", "app.steps"),
        "pi.session.first_seq": result.seqs[0],
        "pi.session.last_seq": result.seqs[-1],
    }
    assert span.status.status_code is trace.StatusCode.UNSET
    for write in (
        lambda: session.set_name("name"),
        lambda: session.create_branch("main"),
        lambda: session.storage.commit([]),
    ):
        write()
        only_span(exporter)


def test_an_empty_commit_has_no_numbers(session: Session, exporter: InMemorySpanExporter) -> None:
    session.commit([])
    assert dict(only_span(exporter).attributes or {}) == {
        "pi.session.item_count": 0,
        "pi.session.item_kinds": (),
        "pi.session.namespaces": (),
    }


def test_a_failed_commit_tells_the_kind_of_its_error(
    session: Session, exporter: InMemorySpanExporter
) -> None:
    with pytest.raises(MixedScopeError):
        session.storage.commit(
            [set_value(value("app.a"), 1), set_value(value("app.b", scope=ephemeral_scope("op")), 1)]
        )
    span = only_span(exporter)
    assert span.attributes is not None
    assert span.attributes["error.type"] == "MixedScopeError"
    assert span.attributes["pi.session.item_count"] == 2
    assert "pi.session.first_seq" not in span.attributes
    assert span.status.status_code is trace.StatusCode.ERROR


def test_a_dropped_or_read_only_mutation_is_no_commit(
    session: Session, exporter: InMemorySpanExporter
) -> None:
    session.mutate(lambda mutation: mutation.get_stats())
    session.get_value(value("app.plan"))
    assert exporter.get_finished_spans() == ()


def test_no_payload_appears_anywhere(session: Session, exporter: InMemorySpanExporter) -> None:
    scope = ephemeral_scope(SECRET)
    payload: Any = {SECRET: [SECRET]}
    good = [
        insert_entry(NewMessageEntry(f"{SECRET}-m", None, {"role": "user", "content": SECRET})),
        insert_entry(NewCustomEntry(f"{SECRET}-c", None, SECRET, payload)),
        insert_entry(NewCompactionEntry(f"{SECRET}-k", None, SECRET, [payload], 1, False, payload)),
        insert_entry(NewBranchSummaryEntry(f"{SECRET}-b", None, None, SECRET, False, payload)),
        insert_usage(NewUsageRow(f"{SECRET}-u", USAGE, details=payload)),
        set_value(value("app.plan", SECRET), payload),
        append_list(value_list("app.steps", SECRET), payload, SECRET),
        delete_value(value("app.plan", SECRET)),
        retire_scope(scope),
    ]
    session.commit(good)
    session.commit([set_value(value("app.plan", SECRET, scope=scope), payload)])
    session.set_name(SECRET)
    session.create_branch(SECRET).append_message({"role": "user", "content": SECRET})
    refused: list[tuple[type[SessionStoreError], Any]] = [
        (DuplicateIdError, good[:1]),
        (InvalidValueError, [set_value(value("app.plan", SECRET), {SECRET: {SECRET}})]),
        (InvalidValueError, [insert_entry(NewMessageEntry("p", None, {"role": [SECRET]}))]),
        (InvalidValueError, [SECRET]),
        (MixedScopeError, [set_value(value("app.plan"), SECRET), append_list(_scoped(), SECRET)]),
    ]
    for error, writes in refused:
        with pytest.raises(error):
            session.storage.commit(writes)
    spans = exporter.get_finished_spans()
    assert len(spans) == 5 + len(refused)
    for span in spans:
        assert SECRET not in span.to_json()
        assert not span.events


def _scoped() -> Any:
    return value_list("app.steps", scope=ephemeral_scope(SECRET))


def test_spans_belong_to_the_caller_s_span_in_a_loop_too(
    store_url: str, provider: TracerProvider, exporter: InMemorySpanExporter
) -> None:
    tracer = provider.get_tracer("test")

    async def request() -> None:
        async with AsyncSessionRepo(open_repository(store_url)) as repo, repo.create() as session:
            with tracer.start_as_current_span("request"):
                await session.set_value(value("app.plan"), 1)

    asyncio.run(request())
    write, parent = exporter.get_finished_spans()
    assert (write.name, parent.name) == ("pi.session.write", "request")
    assert write.parent is not None
    assert parent.context is not None
    assert write.parent.span_id == parent.context.span_id


def test_nothing_is_recorded_unless_it_is_switched_on(
    session: Session, exporter: InMemorySpanExporter
) -> None:
    telemetry.disable()
    session.set_value(value("app.plan"), 1)
    assert exporter.get_finished_spans() == ()


def test_the_global_provider_is_used_unless_one_is_given(session: Session) -> None:
    telemetry.enable()  # without a provider set up, the API records nothing
    try:
        session.set_value(value("app.plan"), 1)
    finally:
        telemetry.disable()
    found = session.get_value(value("app.plan"))
    assert found is not None
    assert found.value == 1


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


def test_nothing_is_imported_unless_it_is_switched_on() -> None:
    code = """
import sys
from sessionstore import open_repository, telemetry, value
import sessionstore.aio, sessionstore.harness
with open_repository("memory://") as repo, repo.create() as session:
    session.set_value(value("app.plan"), 1)
print([name for name in sys.modules if name.startswith("opentelemetry")])
"""
    assert _run(code) == "[]\n"


def test_without_opentelemetry_it_cannot_be_switched_on() -> None:
    code = """
import sys
sys.modules["opentelemetry"] = None
from sessionstore import MissingDriverError, open_repository, telemetry, value
try:
    telemetry.enable()
except MissingDriverError as error:
    print(error)
with open_repository("memory://") as repo, repo.create() as session:
    print(session.set_value(value("app.plan"), 1).seqs)
"""
    told, seqs, _ = _run(code).split("\n")
    assert "sessionstore[otel]" in told
    assert seqs.startswith("(")
