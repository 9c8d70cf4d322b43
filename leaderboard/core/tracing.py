"""OpenTelemetry traces of requests, Celery messages, database queries and `span` blocks.

They are on if the environment variable ENDPOINT names a collector. The packages are those of requirements-otel.lock.
OpenTelemetry's other variables apply. Queries are traced without their parameters.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from structlog.contextvars import get_contextvars

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_tracer: Any = None
"""OpenTelemetry's tracer for `span`; None if tracing is off."""
IDS = ("request_id", "submission", "kind", "id")
"""Names of log keys that our spans have as attributes."""


def set_up() -> None:
    """Begin to trace this process, if ENDPOINT is set.

    Raises ImproperlyConfigured if OpenTelemetry's packages are not installed.
    """
    if not os.environ.get(ENDPOINT):
        return
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise ImproperlyConfigured(
            f"{ENDPOINT} is set, and {error.name} is not installed; run: pip install -r requirements-otel.lock"
        ) from error
    # Variables of OpenTelemetry take precedence over this name.
    provider = TracerProvider(resource=Resource({"service.name": "holdout"}).merge(Resource.create()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    instrument(provider)


def instrument(provider: Any) -> None:
    """Trace Django, Celery, psycopg and the blocks in `span`. Call this before Django loads its middleware.

    provider: OpenTelemetry's TracerProvider.
    """
    global _tracer  # noqa: PLW0603  one a process, like OpenTelemetry's own
    from opentelemetry import trace
    from opentelemetry.instrumentation.celery import CeleryInstrumentor
    from opentelemetry.instrumentation.django import DjangoInstrumentor
    from opentelemetry.instrumentation.psycopg import PsycopgInstrumentor

    trace.set_tracer_provider(provider)
    for instrumentor in (DjangoInstrumentor, CeleryInstrumentor, PsycopgInstrumentor):
        instrumentor().instrument(tracer_provider=provider)
    _tracer = provider.get_tracer("holdout")


@contextmanager
def span(name: str) -> Iterator[None]:
    """Trace the `with` block as an OpenTelemetry span called `name`; do nothing if tracing is off.

    The span has the ids (IDS) of the current request or background work as attributes.
    """
    if _tracer is None:
        yield
        return
    context = get_contextvars()
    attributes = {f"holdout.{key}": context[key] for key in IDS if key in context}
    # An exception's text may quote a hidden file: only the status is recorded.
    with _tracer.start_as_current_span(
        name, attributes=attributes, record_exception=False, set_status_on_exception=False
    ):
        yield
