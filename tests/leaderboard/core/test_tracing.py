"""Traces of a submission, in memory: the request, the message, our own spans; and what a trace must not have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection

from leaderboard import jobs
from leaderboard.core import tracing
from leaderboard.models import Run, State
from tests.conftest import ROOT
from tests.support.api_calls import client_of, send
from tests.support.rows.tiny_world import build, prediction_lines

WITHOUT = "needs the packages of requirements-otel.lock"


@pytest.fixture
def spans() -> Iterator[Any]:
    """The exporter of all spans of this process; instrumentation ends with the test."""
    pytest.importorskip("opentelemetry.sdk", reason=WITHOUT)
    pytest.importorskip("opentelemetry.instrumentation.psycopg", reason=WITHOUT)
    from opentelemetry.instrumentation.celery import CeleryInstrumentor
    from opentelemetry.instrumentation.django import DjangoInstrumentor
    from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    connection.close()  # psycopg's connections are traced from when they are opened
    tracing.instrument(provider)
    try:
        yield exporter
    finally:
        tracing._tracer = None
        for instrumentor in (DjangoInstrumentor, CeleryInstrumentor, PsycopgInstrumentor):
            instrumentor().uninstrument()


def test_a_submission_is_traced(
    spans: Any, transactional_db: None, sandbox: str, django_capture_on_commit_callbacks: Any
) -> None:
    world = build()
    answer = send(client_of(world.researcher), prediction_lines())
    assert answer.status_code == 201, answer.content
    run = Run.objects.get()
    jobs.app.tasks["leaderboard.jobs.score"].apply(args=[str(run.pk)])
    run.refresh_from_db()
    assert run.state == State.DONE
    by_name: dict[str, Any] = {span.name: span for span in spans.get_finished_spans()}
    (request,) = (span for name, span in by_name.items() if name.startswith("POST "))
    sent, worked = by_name["apply_async/leaderboard.jobs.score"], by_name["run/leaderboard.jobs.score"]
    for name, parent in (("validate", request), ("score", worked), ("publish", worked), ("rank", worked)):
        assert by_name[name].parent.span_id == parent.context.span_id, name
    assert sent.context.trace_id == request.context.trace_id
    ids = {"holdout.kind": "score", "holdout.id": str(run.pk), "holdout.submission": str(run.prediction.submission_id)}
    assert ids.items() <= dict(by_name["publish"].attributes).items()
    assert by_name["validate"].attributes["holdout.request_id"] == answer["X-Request-ID"]
    written = json.dumps([span.to_json() for span in spans.get_finished_spans()])
    assert world.researcher.email not in written and "predicted_label" not in written
    if connection.vendor == "postgresql":
        assert any("INSERT" in name for name in by_name)


def test_without_a_collector_nothing_is_imported_or_traced() -> None:
    code = "import django; django.setup(); import sys; print([name for name in sys.modules if 'opentelemetry' in name])"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    started = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert started.stdout.splitlines() == ["[]"], started.stderr


def test_without_the_packages_the_start_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tracing.ENDPOINT, "http://collector:4318")
    for name in ("opentelemetry", "opentelemetry.exporter.otlp.proto.http.trace_exporter"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(tracing.ImproperlyConfigured, match=r"pip install -r requirements-otel\.lock"):
        tracing.set_up()
